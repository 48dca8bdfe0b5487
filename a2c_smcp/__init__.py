"""A2C-SMCP: tools, live context and documents of other people's machines, for AI agents."""

__version__ = "1.0.0.dev0"

PROTOCOL_VERSION = "0.2.0"
"""The revision of the A2C-SMCP contract that this package speaks."""

__all__ = ["PROTOCOL_VERSION", "__version__"]
