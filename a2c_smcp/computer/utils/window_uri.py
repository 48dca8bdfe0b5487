"""The contract's name for `a2c_smcp.uris.window`."""

from a2c_smcp.uris.window import ParsedWindowUri, build_window_uri, parse_window_uri

__all__ = ["ParsedWindowUri", "build_window_uri", "parse_window_uri"]
