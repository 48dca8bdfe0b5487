"""The Server: offices, routing and broadcast over Socket.IO."""
