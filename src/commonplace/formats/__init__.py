"""The formats of pages, parsed and rendered: pure text to values and back, without touching a file."""
