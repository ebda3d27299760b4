"""WHAT MAY AN AGENT CALL? Tools, each written once: the signature is its schema, the docstring its description."""
