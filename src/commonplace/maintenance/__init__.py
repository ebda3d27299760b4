"""Maintenance of a memory: backup, doctor, forget, review, timeline and evaluation."""
