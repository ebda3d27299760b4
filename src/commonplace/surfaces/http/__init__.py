"""Memory over HTTP: the API under `/v1`, and the middleware in front of the whole application."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")  # the addresses that only this machine reaches
MCP_PATH = "/mcp"
SESSION_PATH = "/v1/session"
HOMES_PATH = "/v1/homes"
HEALTH_PATH = "/healthz"
READY_PATH = "/readyz"
METRICS_PATH = "/metrics"


def is_probe(path: str) -> bool:
    """Return whether a path is a health probe, which needs no token and no particular host name."""
    return path in (HEALTH_PATH, READY_PATH)
