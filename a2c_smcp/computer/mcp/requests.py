"""What a running MCP server can be asked, in JSON both ways."""

import asyncio
import json
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from mcp import MCPError
from mcp.types import (
    HEADER_MISMATCH,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    SERVER_INFO_META_KEY,
    PaginatedRequestParams,
    Request,
)
from pydantic import TypeAdapter, ValidationError

from a2c_smcp.common.durations import seconds_text
from a2c_smcp.common.pagination import Page, PageLimits, walk
from a2c_smcp.computer.config.secret_detection import ServerMask
from a2c_smcp.computer.mcp.server_run import ServerRun
from a2c_smcp.computer.ports import Json, ProgressCallback
from a2c_smcp.errors import BadRequest, DocumentError, RequestTimeout, SMCPError, ToolFailed, from_wire
from a2c_smcp.messages import passed_on
from a2c_smcp.types import SERVER_NAME

logger = logging.getLogger(__name__)

_KINDS: Final = {"tools": "tool", "resources": "resource", "resourceTemplates": "resource template"}

# The SDK has validated a result before it asks for its type; as JSON it need not be built into models and dumped again.
_RAW: Final[Any] = TypeAdapter(dict[str, Any])


class _Request(Request[dict[str, Any], str]):
    """Any request: the wire names are ours to give."""


class ServerRequests(ABC):
    """The requests of a session. Each raises `ToolFailed` when the server does not run or dies under it."""

    name: SERVER_NAME
    _mask: ServerMask
    _capabilities: Json
    _left_out: dict[tuple[str, str], str]
    """The entries of its lists that are not offered: what and which, and why."""

    @abstractmethod
    def _living(self) -> ServerRun:
        """Return the life to ask.

        Raises:
            ToolFailed: The server does not run.
        """

    async def list_tools(self) -> list[Json]:
        """All tools (every cursor), in MCP's JSON form; none if it offers none."""
        pages = walk(partial(self._page, "tools/list", "tools"), PageLimits(), self._list_cut)
        return [tool async for page in pages for tool in page]

    async def call_tool(
        self, name: str, arguments: Json, *, progress: ProgressCallback | None = None, meta: Json | None = None
    ) -> Json:
        """Run a tool; cancelling the awaiting task cancels it at the server. Returns the `CallToolResult` in JSON."""
        params = with_meta({"name": name, "arguments": arguments}, meta)
        try:
            return plain_result(await self._ask("tools/call", params, timed=False, progress=progress))
        except SMCPError as error:
            if error.code != HEADER_MISMATCH:
                raise
        # The newer era over HTTP: the server did not run the tool; it wants headers that follow from the tool's schema.
        await self._learn_headers(name)
        return plain_result(await self._ask("tools/call", params, timed=False, progress=progress))

    async def list_resources(self, cursor: str | None = None) -> tuple[list[Json], str | None]:
        """One page of resources and the next cursor."""
        return await self._page("resources/list", "resources", cursor)

    async def list_resource_templates(self, cursor: str | None = None) -> tuple[list[Json], str | None]:
        """One page of templates and the next cursor."""
        return await self._page("resources/templates/list", "resourceTemplates", cursor)

    async def read_resource(self, uri: str) -> list[Json]:
        """The contents of a resource."""
        contents: list[Json] = (await self.read(uri))["contents"]
        return contents

    async def read(self, uri: str, *, meta: Json | None = None) -> Json:
        """The contents of a resource as `contents`, and the `_meta` of the answer as `meta` where it has one."""
        answer = plain_result(await self._ask("resources/read", with_meta({"uri": uri}, meta)))
        found: Json = {"contents": answer.get("contents", [])}
        if isinstance(own := answer.get("_meta"), dict) and own:
            found["meta"] = own
        return found

    async def complete(
        self, ref: Json, argument: Json, context: Json | None = None, *, meta: Json | None = None
    ) -> Json:
        """The `completion` object of `completion/complete`."""
        params = {"ref": ref, "argument": argument} | ({} if context is None else {"context": context})
        completion: Json = (await self._ask("completion/complete", with_meta(params, meta)))["completion"]
        return completion

    async def _page(self, method: str, key: str, cursor: str | None) -> tuple[list[Json], str | None]:
        self._living()
        if method.partition("/")[0] not in self._capabilities:
            return [], None
        if cursor is None:
            kind = _KINDS[key]
            self._left_out = {entry: why for entry, why in self._left_out.items() if entry[0] != kind}
        try:
            raw = await self._ask(method, {} if cursor is None else {"cursor": cursor})
        except SMCPError as error:
            if error.code == METHOD_NOT_FOUND:
                return [], None
            raise
        after = raw.get("nextCursor")
        return raw.get(key, []), after if isinstance(after, str) and after else None

    async def _learn_headers(self, tool: str) -> None:
        life = self._living()

        async def names(cursor: str | None) -> Page[str]:
            try:
                page = await life.session.list_tools(params=PaginatedRequestParams(cursor=cursor))
            except (MCPError, ValidationError) as error:
                raise self._failed(life, error) from error
            return [listed.name for listed in page.tools], page.next_cursor

        async for page in walk(names, PageLimits(), self._list_cut):
            if tool in page:
                return

    def _list_cut(self, reason: str) -> None:
        logger.warning("tool list cut: %s mcp_server=%s", reason, self.name, extra={"server": self.name})

    async def _ask(
        self, method: str, params: Json, *, timed: bool = True, progress: ProgressCallback | None = None
    ) -> dict[str, Any]:
        life = self._living()
        token = life.begin()
        abandoned = True
        limit = life.timing.request if timed else None
        try:
            async with asyncio.timeout(limit):
                answer: dict[str, Any] = await life.session.send_request(
                    _Request(method=method, params=params), _RAW, progress_callback=self._heard(progress)
                )
            abandoned = False
        except (MCPError, ValidationError, RuntimeError) as error:
            abandoned = False
            raise self._failed(life, error) from error
        except ValueError as error:  # nested deeper than the SDK can write
            abandoned = False
            raise BadRequest(f"This cannot be sent to MCP server {self.name!r}: {error}") from error
        except TimeoutError as error:
            message = f"MCP server {self.name!r} did not answer {method} within {seconds_text(limit or 0)}"
            raise RequestTimeout(message) from error
        finally:
            life.end(token, abandoned=abandoned)
        if answer.get("resultType") == "input_required":
            raise ToolFailed(f"MCP server {self.name!r} asks for input that this Computer cannot give")
        return answer

    def _heard(self, progress: ProgressCallback | None) -> Any:
        if progress is None:
            return None

        async def told(done: float, total: float | None, message: str | None) -> None:
            progress(done, total, message if message is None else self._mask.hide(message))

        return told

    def _failed(self, life: ServerRun, error: Exception) -> SMCPError:
        """Return what a failed request means to whoever asked."""
        if not isinstance(error, MCPError):
            if life.over:
                return self._died(life)
            return ToolFailed(f"MCP server {self.name!r} answered with something that is not an MCP result")
        if error.code == PARSE_ERROR:
            return ToolFailed(f"MCP server {self.name!r} answered with something that is not an MCP message")
        if life.cut(error):
            return self._died(life)
        return error_of(error, self._mask)

    def _died(self, life: ServerRun) -> ToolFailed:
        failure = life.link.explain(running=True)
        # Its own words stay with the owner, who finds them in the status and the log.
        why = f": {failure.kind}" if failure is not None else ""
        return ToolFailed(
            f"MCP server {self.name!r} was lost while it worked on this{why}. It may or may not have been done, and is "
            "not tried again by itself"
        )


# The codes that belong to the contract although a server raises them. Libraries that cannot raise a code of their own
# put it into the data, or at the head of the text.
_DOCUMENT_CODES: Final = frozenset(kind.code for kind in DocumentError.__subclasses__())
_IN_TEXT: Final = re.compile(
    rf"(?:^|: |\[|\(|\bcode[ =:]+)(?P<code>{'|'.join(map(str, sorted(_DOCUMENT_CODES)))})(?=[:\])]| [-–—])"
)
_LONGEST_TEXT: Final = 20_000


def error_of(error: MCPError, mask: ServerMask) -> SMCPError:
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
