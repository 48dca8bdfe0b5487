"""The MCP servers of a Computer: transports, sessions, lifecycle and supervision. Only this package imports `mcp`."""
