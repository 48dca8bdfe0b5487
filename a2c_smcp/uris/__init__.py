"""The two URI schemes of the protocol: `dpe://` for documents and `window://` for desktop windows. Pure."""

from a2c_smcp.uris.dpe import ParsedDPEUri, build_dpe_uri, is_valid_dpe_uri, parse_dpe_uri
from a2c_smcp.uris.window import ParsedWindowUri, build_window_uri, parse_window_uri

__all__ = [
    "ParsedDPEUri",
    "ParsedWindowUri",
    "build_dpe_uri",
    "build_window_uri",
    "is_valid_dpe_uri",
    "parse_dpe_uri",
    "parse_window_uri",
]
