"""What the page of a Computer's owner asks for, and what it may do."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.tools.confirmation import Answer
from a2c_smcp.computer.tools.desk import ApprovalDesk, Question
from a2c_smcp.console.calls import CallLog
from a2c_smcp.console.events import Broadcast, EventStream
from a2c_smcp.console.guard import Guard
from a2c_smcp.console.pages import element_view, image_of, page_view, readable
from a2c_smcp.errors import BadRequest, NotFound, SMCPError, to_wire

STATIC: Final = Path(__file__).parent / "static"
OWNER: Final = "console"
MAX_BODY: Final = 4 << 20
MAX_LIMIT: Final = 100
CALL_SECONDS: Final = 120

_STATUS: Final = {
    400: 400,
    401: 401,
    403: 403,
    404: 404,
    408: 504,
    4001: 404,
    4201: 404,
    4202: 404,
    4203: 404,
    4204: 400,
}

Handler = Callable[[Request], Awaitable[Any]]


class Console:
    """The console of one Computer.

    Args:
        desk: Where calls wait for consent; while a page is open there is somebody to ask.
        log: What the Computer's observer writes.

    Attributes:
        app: The ASGI application, behind its guard.
    """

    def __init__(self, computer: Computer, desk: ApprovalDesk, log: CallLog) -> None:
        self._computer = computer
        self._desk = desk
        self._log = log
        self._news = Broadcast()
        self._stack = ExitStack()
        log.changed = lambda: self._news.tell("calls")
        self._stack.callback(computer.on_change(self._news.tell))
        self.app = Guard(self._routes())

    def close(self) -> None:
        """Hear nothing any more, and end what open pages listen to."""
        self._stack.close()
        self._news.close()

    def connection_changed(self) -> None:
        """The Computer's connection is not as it was."""
        self._news.tell("connection")

    def _routes(self) -> Starlette:
        gets: dict[str, Handler] = {
            "state": self._state,
            "tools": self._tools,
            "desktop": self._desktop,
            "finder": self._finder,
            "document": self._document,
            "page": self._page,
            "element": self._element,
            "calls": self._calls,
            "approvals": self._approvals,
        }
        posts: dict[str, Handler] = {"call": self._call, "approve": self._approve, "server": self._server}
        return Starlette(
            routes=[
                Route("/", _index),
                Route("/api/events", self._events),
                Route("/api/image", self._image),
                *(Route(f"/api/{name}", _json(handler)) for name, handler in gets.items()),
                *(Route(f"/api/{name}", _json(handler), methods=["POST"]) for name, handler in posts.items()),
                Mount("/static", StaticFiles(directory=STATIC)),
            ]
        )

    # What there is

    async def _state(self, _: Request) -> Any:
        return {**self._computer.status(), "approvals": len(self._desk.pending())}

    async def _tools(self, _: Request) -> Any:
        return {"tools": await self._computer.tools()}

    async def _desktop(self, _: Request) -> Any:
        windows = await self._computer.desktop()
        shown = []
        for window in windows:
            uri, __, text = window.partition("\n\n")
            shown.append({"uri": uri, "text": text})
        return {"windows": shown}

    async def _finder(self, request: Request) -> Any:
        asked = request.query_params
        words = asked.get("q", "").split() or None
        limit = min(_number(asked, "limit", 50), MAX_LIMIT)
        return await self._computer.finder(words, asked.get("type") or None, _number(asked, "offset", 0), limit)

    async def _document(self, request: Request) -> Any:
        uri = _plain(_wanted(request.query_params, "uri"))
        asked = request.query_params
        offset, limit = _number(asked, "offset", 0), min(_number(asked, "limit", 50), MAX_LIMIT)
        return readable(await self._computer.read(f"{uri}?depth=pages&offset={offset}&limit={limit}"))

    async def _page(self, request: Request) -> Any:
        uri = _plain(_wanted(request.query_params, "uri"))
        return page_view(readable(await self._computer.read(uri)))

    async def _element(self, request: Request) -> Any:
        uri = _plain(_wanted(request.query_params, "uri"))
        return element_view(readable(await self._computer.read(uri)))

    async def _image(self, request: Request) -> Response:
        try:
            uri = _plain(_wanted(request.query_params, "uri"))
            server = _wanted(request.query_params, "server")
            mime, data = await image_of(self._computer, server, uri, _number(request.query_params, "dpi", 90))
        except SMCPError as error:
            return _failed(error)
        return Response(data, media_type=mime, headers={"cache-control": "private, max-age=60"})

    async def _calls(self, _: Request) -> Any:
        return {"calls": self._log.latest()}

    async def _approvals(self, _: Request) -> Any:
        return {"approvals": [_asked(question) for question in self._desk.pending()]}

    async def _events(self, _: Request) -> Any:
        # An open page is somebody who can be asked.
        return EventStream(self._news.stream(), self._desk.watch(lambda _: self._news.tell("approvals")))

    # What can be done

    async def _call(self, request: Request) -> Any:
        body = await _body(request)
        seconds, params = body.get("timeout", CALL_SECONDS), body.get("params")
        return await self._computer.call_tool(
            {
                "agent": OWNER,
                "req_id": uuid4().hex,
                "computer": self._computer.name,
                "tool_name": _wanted(body, "tool"),
                "params": params if isinstance(params, dict) else {},
                "timeout": seconds if isinstance(seconds, int) and 0 < seconds <= 3_600 else CALL_SECONDS,
            }
        )

    async def _approve(self, request: Request) -> Any:
        body = await _body(request)
        number, answer = body.get("number"), body.get("answer")
        if not isinstance(number, int) or answer not in {one.value for one in Answer}:
            raise BadRequest("Send the number of a call that waits, and once, always or refuse as answer")
        if not self._desk.answer(number, Answer(answer)):
            raise NotFound("This call does not wait any more: it was answered, withdrawn, or it has expired")
        return {"ok": True}

    async def _server(self, request: Request) -> Any:
        body = await _body(request)
        name, action = _wanted(body, "name"), body.get("action")
        match action:
            case "restart":
                await self._computer.servers.restart(name)
            case "enable":
                await self._computer.settings.enable(name)
            case "disable":
                await self._computer.settings.disable(name)
            case _:
                raise BadRequest("Send restart, enable or disable as action")
        return {"ok": True}


async def _index(_: Request) -> Response:
    return FileResponse(STATIC / "index.html")


def _json(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            value = await handler(request)
        except SMCPError as error:
            return _failed(error)
        return _Json(value)

    return answer


class _Json(JSONResponse):
    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")


def _failed(error: SMCPError) -> Response:
    return JSONResponse(to_wire(error), status_code=_STATUS.get(error.code, 409))


async def _body(request: Request) -> dict[str, Any]:
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > MAX_BODY:
            raise BadRequest("The request is too large")
    try:
        value = json.loads(content)
    except ValueError:
        raise BadRequest("The request is no JSON") from None
    if not isinstance(value, dict):
        raise BadRequest("The request must be a JSON object")
    return value


def _wanted(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value:
        raise BadRequest(f"{name} is missing")
    return value


def _number(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise BadRequest(f"{name} must be a whole number")
    return int(text)


def _plain(uri: str) -> str:
    return uri.partition("?")[0]


def _asked(question: Question) -> dict[str, Any]:
    left = question.until - asyncio.get_running_loop().time()
    return {"number": question.number, **asdict(question.confirmation), "seconds_left": max(round(left, 1), 0)}
