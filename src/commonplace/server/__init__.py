"""What the MCP and HTTP servers share: authentication, tokens and sessions."""
