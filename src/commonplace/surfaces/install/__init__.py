"""How do other programs get to know this memory? Their configuration files, edited by the line, and their hooks."""
