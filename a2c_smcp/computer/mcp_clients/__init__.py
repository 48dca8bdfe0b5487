"""The MCP servers of a Computer: how they are configured."""
