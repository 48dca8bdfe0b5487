"""The Desktop: the windows of all MCP servers as one view."""

from a2c_smcp.computer.desktop.organize import DesktopWindow, organize_desktop

__all__ = ["DesktopWindow", "organize_desktop"]
