"""Looking after a memory: backup, doctor, forget, timeline and evaluation."""
