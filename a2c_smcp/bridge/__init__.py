"""The bridge: an office as a plain MCP server, so that any MCP client is an Agent."""

from a2c_smcp.bridge.http import HttpSettings, serve_http
from a2c_smcp.bridge.run import run, serve_stdio
from a2c_smcp.bridge.server import Bridge, BridgeSettings

__all__ = ["Bridge", "BridgeSettings", "HttpSettings", "run", "serve_http", "serve_stdio"]
