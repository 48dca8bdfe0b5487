"""Header lines as people read them, whatever their writers did to them."""

import email.header
import email.utils
import re
from datetime import UTC
from email.message import Message
from typing import Final

from a2c_smcp.documents.formats.decoding import detect_encoding
from a2c_smcp.documents.web.parse import codec_of
from a2c_smcp.errors import DocumentError

SHOWN: Final = ("From", "Sender", "Reply-To", "To", "Cc", "Bcc", "Date", "Subject")
MAX_HEADER: Final = 4_000

_FOLD = re.compile(r"\r?\n[ \t]*|\t")
_WORDS_APART = re.compile(r"(\?=)\s+(=\?)")


def header(message: "Message[str, str]", name: str) -> str:
    """Return a header line decoded, on one line; empty where there is none."""
    raw = next((str(value) for key, value in message.raw_items() if key.lower() == name.lower()), "")
    text = _WORDS_APART.sub(r"\1\2", _FOLD.sub(" ", raw[:MAX_HEADER]))
    try:
        parts = email.header.decode_header(text)
    except (email.errors.HeaderParseError, ValueError):
        parts = [(text, None)]
    decoded = " ".join("".join(_decoded(part, charset) for part, charset in parts).split())
    return decoded or " ".join(text.split())


def date_of(message: "Message[str, str]") -> str:
    """Return the date of a message as ISO 8601, empty where it has none that can be read."""
    try:
        moment = email.utils.parsedate_to_datetime(header(message, "Date"))
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def text_of_bytes(data: bytes, charset: str = "") -> str:
    """Return text in the encoding it claims to be in, else the one it looks like."""
    named = codec_of(charset)
    # Nothing else looks like UTF-8, while many who write it declare the encoding of their grandparents.
    first = ("utf-8", named) if named == "cp1252" else (named, "utf-8")
    for encoding in filter(None, first):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    try:
        return data.decode(detect_encoding(data), errors="replace")
    except DocumentError:
        return data.decode(named or "utf-8", errors="replace")


def _decoded(part: bytes | str, charset: str | None) -> str:
    if isinstance(part, str):
        # Bytes that are no ASCII come as halves of surrogate pairs.
        return text_of_bytes(part.encode("ascii", "surrogateescape")) if not _is_clean(part) else part
    return text_of_bytes(part, charset if charset and charset != "unknown-8bit" else "")


def _is_clean(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
