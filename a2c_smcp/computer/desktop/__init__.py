"""The Desktop: the windows of all MCP servers as one view."""

from a2c_smcp.computer.desktop.organize import Window, organize_desktop

__all__ = ["Window", "organize_desktop"]
