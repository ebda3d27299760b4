"""Search: lexical and dense retrieval, scoring, reranking, calibration, filters and dates."""
