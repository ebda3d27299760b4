"""Storage of pages: one protocol for a backend, and what is built on it: layout, records, skills, history."""
