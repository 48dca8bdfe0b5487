"""The parts of the Computer's benchmark: an MCP server, a bare computer, and whoever drives them."""
