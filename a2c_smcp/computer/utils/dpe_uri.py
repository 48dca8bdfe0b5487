"""The contract's name for `a2c_smcp.uris.dpe`."""

from a2c_smcp.uris.dpe import ParsedDPEUri, build_dpe_uri, is_valid_dpe_uri, parse_dpe_uri

__all__ = ["ParsedDPEUri", "build_dpe_uri", "is_valid_dpe_uri", "parse_dpe_uri"]
