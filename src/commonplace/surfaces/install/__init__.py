"""Connects clients to this memory: edits their configuration files, and stores the transcripts of their sessions."""
