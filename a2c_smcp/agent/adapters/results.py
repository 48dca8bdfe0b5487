"""Converts the result of a tool to what models accept: text and images. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from a2c_smcp.common.token_estimate import TokenCounter, cut, estimate_tokens
from a2c_smcp.errors import SMCPError
from a2c_smcp.smcp import CallToolResult

IMAGE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Image types that models accept; others are described in text."""

MAX_RESULT_TOKENS: Final = 20_000
"""Default maximum of tokens of a result."""


@dataclass(frozen=True, slots=True)
class ResultImage:
    """An image in base64."""

    mime_type: str
    data: str

    @property
    def url(self) -> str:
        """The image as a `data:` URL."""
        return f"data:{self.mime_type};base64,{self.data}"


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The reply to a tool call for a model.

    Attributes:
        text: Never empty; for a tool without output it says that the call is done.
        failed: Whether the call failed; then the text is the reason.
        result: The unchanged result, if there is one.
    """

    text: str
    pictures: tuple[ResultImage, ...] = ()
    failed: bool = False
    result: CallToolResult | None = None


def read_result(
    result: CallToolResult, budget: int = MAX_RESULT_TOKENS, count: TokenCounter = estimate_tokens
) -> ToolAnswer:
    """Return the reply for a model, with at most `budget` tokens of text."""
    texts: list[str] = []
    pictures: list[ResultImage] = []
    items = result.get("content") or []
    for item in items:
        picture = _picture(item)
        if picture is not None:
            pictures.append(picture)
        else:
            texts.append(_words(item))
    structured = result.get("structuredContent")
    if structured and not any(item.get("type") == "text" for item in items):
        texts.append(json.dumps(structured, ensure_ascii=False))
    failed = bool(result.get("isError"))
    text = "\n\n".join(filter(None, texts)) or _silence(failed, len(pictures))
    shown = cut(f"Error: {text}" if failed else text, budget, count)
    return ToolAnswer(shown, tuple(pictures), failed, result)


def read_error(error: SMCPError) -> ToolAnswer:
    """Return the reply to a call that failed without a result."""
    return ToolAnswer(f"Error {error.code}: {error.message}", failed=True)


def _silence(failed: bool, pictures: int) -> str:  # noqa: FBT001
    if failed:
        return "the tool failed and did not say why"
    return f"({pictures} {'picture' if pictures == 1 else 'pictures'})" if pictures else "(done, nothing to show)"


def _picture(item: Mapping[str, Any]) -> ResultImage | None:
    if item.get("type") == "resource":
        inner = item.get("resource")
        item = {**inner, "type": "image", "data": inner.get("blob")} if isinstance(inner, Mapping) else item
    mime_type, data = item.get("mimeType"), item.get("data")
    if item.get("type") == "image" and mime_type in IMAGE_TYPES and isinstance(data, str) and data:
        return ResultImage(mime_type, data)
    return None


def _words(item: Any) -> str:
    match item:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "resource", "resource": {"text": str(text), **rest}}:
            return f"{rest.get('uri', '')}\n\n{text}".strip()
        case {"type": "resource", "resource": {}}:
            return _unseen("file", item["resource"])
        case {"type": "resource_link", "uri": str(uri)}:
            about = ": ".join(str(item[key]) for key in ("title", "description") if item.get(key))
            return f"[{about or item.get('name') or 'resource'}]({uri})"
        case {"type": str(kind)}:
            return _unseen(kind, item)
        case _:
            return ""


def _unseen(kind: str, item: Mapping[str, Any]) -> str:
    data = item.get("data") or item.get("blob")
    size = f", {len(data) * 3 // 4} bytes" if isinstance(data, str) else ""
    place = f" {item['uri']}" if item.get("uri") else ""
    return f"[{kind}{place}, {item.get('mimeType') or 'unknown type'}{size}: not shown]"
