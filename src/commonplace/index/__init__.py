"""The search index: derived from pages, disposable, and caught up before every search."""
