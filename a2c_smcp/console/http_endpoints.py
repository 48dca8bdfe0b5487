"""Requests of the page, checked, and answers as JSON, errors included."""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from a2c_smcp.common.fastjson import FastJson
from a2c_smcp.errors import BadRequest, InternalError, SMCPError, to_wire

logger = logging.getLogger(__name__)

MAX_BODY: Final = 4 << 20
Handler: TypeAlias = Callable[[Request], Awaitable[Any]]
Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]

_STATUS: Final[Mapping[int, int]] = {
    400: 400,
    401: 401,
    403: 403,
    404: 404,
    408: 504,
    429: 429,
    500: 500,
    4001: 404,
    4201: 404,
    4202: 404,
    4203: 404,
    4204: 400,
}


def endpoint(handler: Handler) -> Endpoint:
    """Return what answers with the handler's value, or with its error in the form of an error ack."""

    async def answer(request: Request) -> Response:
        try:
            value = await handler(request)
        except SMCPError as error:
            return failed(error)
        except Exception:
            logger.exception("The console could not answer")
            return failed(InternalError("The console could not answer; the log of the Computer says why"))
        return value if isinstance(value, Response) else _Json(value)

    return answer


def failed(error: SMCPError) -> Response:
    """Return an error as an answer."""
    return JSONResponse(to_wire(error), status_code=_STATUS.get(error.code, 409))


async def body_of(request: Request) -> dict[str, Any]:
    """Return the JSON object that was sent.

    Raises:
        BadRequest: It is none, or too large.
    """
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise BadRequest("The request must be application/json")
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > MAX_BODY:
            raise BadRequest(f"The request is too large: at most {MAX_BODY} bytes")
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise BadRequest("The request is no JSON") from None
    if not isinstance(value, dict):
        raise BadRequest("The request must be a JSON object")
    return value


def text(given: Mapping[str, Any], name: str) -> str:
    """Return a text that must be given.

    Raises:
        BadRequest: It is not.
    """
    value = given.get(name)
    if not isinstance(value, str) or not value:
        raise BadRequest(f"{name} is missing")
    return value


def number(given: Mapping[str, str], name: str, default: int, most: int = 999_999_999) -> int:
    """Return a whole number, at most `most`.

    Raises:
        BadRequest: It is no number.
    """
    value = given.get(name, "")
    if not value:
        return default
    if not value.isascii() or not value.isdecimal() or len(value) > 9:
        raise BadRequest(f"{name} must be a whole number")
    return min(int(value), most)


def plain_uri(given: Mapping[str, str]) -> str:
    """Return the URI that is asked for, without parameters.

    Raises:
        BadRequest: There is none.
    """
    return text(given, "uri").partition("?")[0]


class _Json(JSONResponse):
    def render(self, content: Any) -> bytes:
        return FastJson.encode(content)
