"""Where the Server keeps who sits where: in memory, or in Redis for many nodes."""
