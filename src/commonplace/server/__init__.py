"""What the MCP and HTTP servers share: sessions, authentication, the audit log and notifications of changed pages."""
