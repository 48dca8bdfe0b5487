"""What a server answers, as the Computer passes it on: plain JSON, and errors with the server's own code. Pure."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from mcp import MCPError
from mcp.types import SERVER_INFO_META_KEY

from a2c_smcp.computer.mcp_clients.masking import Mask
from a2c_smcp.computer.ports import Json
from a2c_smcp.errors import DocumentError, SMCPError, from_wire
from a2c_smcp.messages import passed_on

# The codes that belong to the contract although a server raises them. Libraries that cannot raise a code of their own
# put it into the data, or at the head of the text.
_DOCUMENT_CODES: Final = frozenset(kind.code for kind in DocumentError.__subclasses__())
_IN_TEXT: Final = re.compile(
    rf"(?:^|: |\[|\(|\bcode[ =:]+)(?P<code>{'|'.join(map(str, sorted(_DOCUMENT_CODES)))})(?=[:\])]| [-–—])"
)
_LONGEST_TEXT: Final = 20_000


def error_of(error: MCPError, mask: Mask) -> SMCPError:
    """Return the error a server answered with: its code, message and data, without configured values.

    A document error that came wrapped (in the data, or in the text of another error) is unwrapped.
    """
    code, message, data = error.code, error.message, error.data
    if code not in _DOCUMENT_CODES:
        for body in (data, _json_in(data), _json_in(message)):
            if (found := _unwrapped(body, message)) is not None:
                code, message, data = found
                break
        else:
            if match := _IN_TEXT.search(message):
                code = int(match["code"])
    body = {"code": code, "message": mask.hide(message), "details": mask.hide_in(_details(data))}
    return from_wire({"error": body})


def plain_result(raw: Json) -> Json:
    """Return a result without what only the newer era's envelope has, so that both eras look the same."""
    raw.pop("resultType", None)
    meta = raw.get("_meta")
    if isinstance(meta, dict) and meta.pop(SERVER_INFO_META_KEY, None) is not None and not meta:
        del raw["_meta"]
    return raw


def with_meta(params: Json, meta: Json | None) -> Json:
    """Return the params of a request with what of `meta` is for the server."""
    passed = passed_on(meta)
    return params | {"_meta": passed} if passed else params


def _details(data: Any) -> Mapping[str, Any] | None:
    if data is None or data == "":
        return None
    return data if isinstance(data, Mapping) else {"data": data}


def _unwrapped(body: Any, message: str) -> tuple[int, str, Any] | None:
    if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
        body = body["error"]
    if not isinstance(body, Mapping) or body.get("code") not in _DOCUMENT_CODES:
        return None
    rest = {key: value for key, value in body.items() if key not in ("code", "message", "details", "data")}
    details = body.get("details", body.get("data"))
    return body["code"], str(body.get("message", message)), details if details is not None else rest


def _json_in(text: Any) -> Any:
    if not isinstance(text, str) or len(text) > _LONGEST_TEXT:
        return None
    start = text.find("{")
    try:
        return json.loads(text[start : text.rfind("}") + 1]) if start >= 0 else None
    except (ValueError, RecursionError):
        return None
