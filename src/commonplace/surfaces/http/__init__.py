"""Memory over HTTP: one application, guarded as a whole. `guard` lets in who may come in, `app` says what is where."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")  # the addresses that only this machine reaches
MCP = "/mcp"  # where the protocol is spoken
