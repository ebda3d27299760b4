"""The tools an agent may call. Each is written once: the signature is its schema, the docstring its description."""
