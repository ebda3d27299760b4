"""Embedding models: one file a provider, model files verified by hash, and the reranker."""
