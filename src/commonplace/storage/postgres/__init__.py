"""The PostgreSQL backend: pages, history, locks, index and migrations. Only this package imports psycopg."""
