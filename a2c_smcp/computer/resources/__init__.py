"""The resources of all MCP servers: cached lists, reading, and the subscriptions of Agents."""
