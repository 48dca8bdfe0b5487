"""Renders the desktops of an office for a model's context: `render_context` and its blocking twin."""

from a2c_smcp.agent.desktops import render_context
from a2c_smcp.agent.packing import PackedWindow, pack, windows_of
from a2c_smcp.agent.sync_desktops import render_context as sync_render_context

__all__ = ["PackedWindow", "pack", "render_context", "sync_render_context", "windows_of"]
