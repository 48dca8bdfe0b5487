"""What the page of a Computer's owner asks for, and what it may do."""

import json
from asyncio import get_running_loop
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from a2c_smcp import PROTOCOL_VERSION, __version__
from a2c_smcp.common.visible import exact, visible
from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.config.models import MCPServerInput
from a2c_smcp.computer.tools.catalogue import MCP_TOOL_ANNOTATION
from a2c_smcp.computer.tools.catalogue import Route as ToolRoute
from a2c_smcp.computer.tools.confirmation import ApprovalQueue, Decision, PendingApproval, StandingConsent
from a2c_smcp.console.calls import CallLog
from a2c_smcp.console.events import Broadcast, ServerSentEvents
from a2c_smcp.console.guard import ConsoleGuard, ConsoleSession
from a2c_smcp.console.http_endpoints import Handler, body_of, endpoint, number, plain_uri, text
from a2c_smcp.console.pages import boxes_of, image_of, page_view, readable, search
from a2c_smcp.errors import BadRequest, NotFound

STATIC: Final = Path(__file__).parent / "static"
ASSETS: Final = Path(__file__).parents[1] / "assets"
OWNER: Final = "console"
"""What the owner at the console is called in the history of calls."""

MAX_LIMIT: Final = 100
EVERYTHING: Final = 10_000_000
CALL_SECONDS: Final = 120
MAX_CALL_SECONDS: Final = 3_600


class Console:
    """The console of one Computer.

    Args:
        desk: Where calls wait for consent; while a page is open there is somebody to ask.
        log: What the Computer's observer writes.

    Attributes:
        app: The ASGI application, behind its guard.
    """

    def __init__(self, computer: Computer, desk: ApprovalQueue, log: CallLog) -> None:
        self._computer = computer
        self._desk = desk
        self._log = log
        self._news = Broadcast()
        self._own: set[str] = set()
        self._stack = ExitStack()
        log.changed = lambda: self._news.tell("calls")
        self._stack.callback(computer.on_change(self._news.tell))
        self.app = ConsoleGuard(self._routes())

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
            "config": self._config,
            "tools": self._tools,
            "desktop": self._desktop,
            "finder": self._finder,
            "types": self._types,
            "search": self._search,
            "document": self._document,
            "page": self._page,
            "boxes": self._boxes,
            "image": self._image,
            "calls": self._calls,
            "call": self._one_call,
            "approvals": self._approvals,
        }
        posts: dict[str, Handler] = {
            "run": self._run,
            "cancel": self._cancel,
            "approve": self._approve,
            "withdraw": self._withdraw,
            "accept": self._accept,
            "input": self._input,
            "server": self._server,
            "end_sessions": self._end_sessions,
        }
        return Starlette(
            routes=[
                Route("/", _index),
                Route("/api/events", self._events),
                *(Route(f"/api/{name}", endpoint(handler)) for name, handler in gets.items()),
                *(Route(f"/api/{name}", endpoint(handler), methods=["POST"]) for name, handler in posts.items()),
                Mount("/static/shared", StaticFiles(directory=ASSETS)),
                Mount("/static", StaticFiles(directory=STATIC)),
            ]
        )

    async def _events(self, request: Request) -> Any:
        session: ConsoleSession = request.scope["a2c.session"]
        return ServerSentEvents(self._news.stream(), self._present(session), session.over)

    @contextmanager
    def _present(self, session: ConsoleSession) -> Iterator[None]:
        # An open page is somebody who can be asked.
        with session.page(), self._desk.watch(lambda _: self._news.tell("approvals")):
            yield

    # What there is

    async def _state(self, _: Request) -> Any:
        waiting = sum(not self.is_own(question) for question in self._desk.pending())
        waiting += len(self._computer.missing_inputs())
        about = {"version": __version__, "protocol": PROTOCOL_VERSION, "approvals": waiting}
        return {**self._computer.status(), **about}

    async def _config(self, _: Request) -> Any:
        return {name: exact(server) for name, server in self._computer.config()["servers"].items()}

    async def _tools(self, _: Request) -> Any:
        tools = await self._computer.tools()
        routes = self._computer.tool_cache.catalogue.routes
        changed = {(one.server, one.tool) for one in self._computer.changed_tools()}
        return {
            "tools": [
                {
                    "name": tool["name"],
                    "server": tool["bundle_id"],
                    "description": tool["description"],
                    "schema": tool["params_schema"],
                    "annotations": _annotations(tool),
                    "asks": _asks(routes.get(tool["name"]), changed),
                }
                for tool in tools
            ]
        }

    async def _desktop(self, _: Request) -> Any:
        windows = (window.partition("\n\n") for window in await self._computer.desktop())
        return {"windows": [{"uri": uri, "text": text} for uri, _, text in windows]}

    async def _finder(self, request: Request) -> Any:
        asked = request.query_params
        words, limit = asked.get("q", "").split() or None, number(asked, "limit", 50, MAX_LIMIT)
        return await self._computer.finder(words, asked.get("type") or None, number(asked, "offset", 0), limit)

    async def _types(self, _: Request) -> Any:
        found = await self._computer.finder(limit=EVERYTHING)
        types = Counter(document.get("file_type") or "" for document in found["documents"])
        return {"types": dict(types.most_common()), "total": found["total_count"]}

    async def _search(self, request: Request) -> Any:
        return {"hits": await search(self._computer, text(request.query_params, "q"), MAX_LIMIT // 2)}

    async def _document(self, request: Request) -> Any:
        asked = request.query_params
        offset, limit = number(asked, "offset", 0), number(asked, "limit", 50, MAX_LIMIT)
        depth = f"pages&offset={offset}&limit={limit}" if limit else "metadata"
        return readable(await self._computer.read(f"{plain_uri(asked)}?depth={depth}"))

    async def _page(self, request: Request) -> Any:
        return page_view(readable(await self._computer.read(plain_uri(request.query_params))))

    async def _boxes(self, request: Request) -> Any:
        return {"boxes": await boxes_of(self._computer, plain_uri(request.query_params))}

    async def _image(self, request: Request) -> Any:
        asked = request.query_params
        try:
            server, dpi = text(asked, "server"), number(asked, "dpi", 110)
            mime, data = await image_of(self._computer, server, plain_uri(asked), dpi)
        except NotFound:
            return Response(status_code=204)  # nothing to show is no mistake
        return Response(data, media_type=mime, headers={"cache-control": "private, max-age=60"})

    async def _calls(self, _: Request) -> Any:
        return {"calls": self._log.latest()}

    async def _one_call(self, request: Request) -> Any:
        call = self._log.find(number(request.query_params, "id", 0))
        if call is None:
            raise NotFound("This call is not in the log any more")
        return call

    async def _approvals(self, _: Request) -> Any:
        waiting = [question for question in self._desk.pending() if not self.is_own(question)]
        return {
            "approvals": [_asked(question) for question in waiting],
            "inputs": [_wanted(one) for one in self._computer.missing_inputs()],
            "standing": [
                {**one._asdict(), "shown": {name: visible(value) for name, value in one._asdict().items()}}
                for one in self._computer.calls.consent.standing()
            ],
            "changed": [
                {
                    "name": one.listed,
                    "server": visible(one.server),
                    "digest": one.digest,
                    "changes": visible("\n".join(one.lines)),
                }
                for one in self._computer.changed_tools()
            ],
        }

    # What can be done

    async def _run(self, request: Request) -> Any:
        body = await body_of(request)
        params, req_id = body.get("params"), _req_id(body.get("id"))
        self._own.add(req_id)
        try:
            with self._desk.watch(self._consent):
                return await self._computer.call_tool(
                    {
                        "agent": OWNER,
                        "req_id": req_id,
                        "computer": self._computer.name,
                        "tool_name": text(body, "tool"),
                        "params": params if isinstance(params, dict) else {},
                        "timeout": _seconds(body.get("timeout")),
                    }
                )
        finally:
            self._own.discard(req_id)

    def _consent(self, question: PendingApproval | None) -> None:
        # To fill in the form and send it is to consent to it.
        if question is not None and self.is_own(question):
            self._desk.answer(question.number, Decision.ONCE)

    def is_own(self, question: PendingApproval) -> bool:
        """Whether the owner at this console makes the call, and has thereby consented to it."""
        # By its id, which nobody can guess: an Agent may well be called "console".
        return question.confirmation.req_id in self._own

    async def _cancel(self, request: Request) -> Any:
        body = await body_of(request)
        await self._computer.cancel(text(body, "agent"), text(body, "req_id"))
        return {"ok": True}

    async def _approve(self, request: Request) -> Any:
        body = await body_of(request)
        which, answer = body.get("number"), body.get("answer")
        if type(which) is not int or answer not in {one.value for one in Decision}:
            raise BadRequest("Send the number of a call that waits, and once, always or refuse as answer")
        if not self._desk.answer(which, Decision(answer)):
            raise NotFound("This call does not wait any more: it was answered, withdrawn, or it has expired")
        return {"ok": True}

    async def _withdraw(self, request: Request) -> Any:
        body = await body_of(request)
        wanted = StandingConsent(**{name: str(body.get(name)) for name in StandingConsent._fields})
        if wanted not in self._computer.calls.consent.standing():
            raise NotFound("This is not allowed any more")
        self._computer.calls.consent.withdraw(wanted)
        self._news.tell("approvals")
        return {"ok": True}

    async def _input(self, request: Request) -> Any:
        body = await body_of(request)
        value = body.get("value")
        if not isinstance(value, str):
            raise BadRequest("Send the value of the input as a text")
        await self._computer.set_input(text(body, "id"), value)
        return {"ok": True}

    async def _accept(self, request: Request) -> Any:
        body = await body_of(request)
        await self._computer.accept_tool(text(body, "tool"), text(body, "digest"))
        self._news.tell("approvals")
        return {"ok": True}

    async def _server(self, request: Request) -> Any:
        body = await body_of(request)
        name, action = text(body, "name"), body.get("action")
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

    async def _end_sessions(self, request: Request) -> Any:
        await body_of(request)
        self.app.end_all()
        return {"ok": True}


async def _index(_: Request) -> Response:
    return FileResponse(STATIC / "index.html")


def _wanted(wanted: MCPServerInput) -> dict[str, Any]:
    return {
        "id": wanted.id,
        "description": visible(wanted.description),
        "hidden": wanted.type == "promptString" and bool(wanted.password),
        "options": list(wanted.options) if wanted.type == "pickString" else [],
    }


def _asked(question: PendingApproval) -> dict[str, Any]:
    asked = question.confirmation
    return {
        "number": question.number,
        "agent": visible(asked.agent),
        "tool": visible(asked.listed_name),
        "own_name": visible(asked.tool),
        "server": visible(asked.server),
        "arguments": exact(asked.arguments),
        "description": visible(asked.description),
        "annotations": asked.annotations,
        "changes": visible("\n".join(asked.changes)),
        "seconds": asked.seconds,
        "seconds_left": max(round(question.until - get_running_loop().time(), 1), 0),
    }


def _asks(route: ToolRoute | None, changed: set[tuple[str, str]]) -> bool:
    return route is None or route.meta.auto_apply is not True or (route.server, route.tool) in changed


def _annotations(tool: Mapping[str, Any]) -> Any:
    return json.loads(tool["meta"].get(MCP_TOOL_ANNOTATION) or "{}")


def _req_id(given: object) -> str:
    try:
        return UUID(given).hex if isinstance(given, str) else uuid4().hex
    except ValueError:
        raise BadRequest("id must be a UUID") from None


def _seconds(given: object) -> int:
    return min(given, MAX_CALL_SECONDS) if isinstance(given, int) and given > 0 else CALL_SECONDS
