"""Embedding models: one file for each provider, model files verified by hash, and the reranker."""
