"""Replies too large for one message: the Computer cuts them into pieces, the Agent puts them together again."""

from a2c_smcp.chunks.collecting import collect
from a2c_smcp.chunks.pieces import LARGE, MAX_REPLY, PIECE, SMALLEST, Assembler, Parcel, is_chunked

__all__ = ["LARGE", "MAX_REPLY", "PIECE", "SMALLEST", "Assembler", "Parcel", "collect", "is_chunked"]
