"""The requests to a running MCP server, with plain JSON in and out.

Results look the same in both protocol eras. Errors keep the server's code, without configured values.
"""

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

# The SDK validates a result before it converts it to this type: plain JSON avoids building models and dumping them.
_RAW: Final[Any] = TypeAdapter(dict[str, Any])


class _Request(Request[dict[str, Any], str]):
    """Any request, by its wire name."""


class ServerRequests(ABC):
    """The requests of a session. Each raises `ToolFailed` if the server is not running or dies meanwhile."""

    name: SERVER_NAME
    _mask: ServerMask
    _capabilities: Json
    _rejected: dict[tuple[str, str], str]
    """The rejected entries of its lists: kind and name, and the reason."""

    @abstractmethod
    def _current_run(self) -> ServerRun:
        """Return the current run.

        Raises:
            ToolFailed: The server is not running.
        """

    async def list_tools(self) -> list[Json]:
        """Return all tools (every page) in MCP's JSON form."""
        pages = walk(partial(self._page, "tools/list", "tools"), PageLimits(), self._list_truncated)
        return [tool async for page in pages for tool in page]

    async def call_tool(
        self, name: str, arguments: Json, *, progress: ProgressCallback | None = None, meta: Json | None = None
    ) -> Json:
        """Run a tool and return its `CallToolResult` as JSON. Cancelling the task cancels the call at the server."""
        params = with_meta({"name": name, "arguments": arguments}, meta)
        try:
            return plain_result(await self._request("tools/call", params, timed=False, progress=progress))
        except SMCPError as error:
            if error.code != HEADER_MISMATCH:
                raise
        # Newer era over HTTP: the server requires headers that depend on the tool's schema, and did not run the tool.
        await self._learn_headers(name)
        return plain_result(await self._request("tools/call", params, timed=False, progress=progress))

    async def list_resources(self, cursor: str | None = None) -> tuple[list[Json], str | None]:
        """Return one page of resources and the next cursor."""
        return await self._page("resources/list", "resources", cursor)

    async def list_resource_templates(self, cursor: str | None = None) -> tuple[list[Json], str | None]:
        """Return one page of templates and the next cursor."""
        return await self._page("resources/templates/list", "resourceTemplates", cursor)

    async def read_resource(self, uri: str) -> list[Json]:
        """Return the contents of a resource."""
        contents: list[Json] = (await self.read(uri))["contents"]
        return contents

    async def read(self, uri: str, *, meta: Json | None = None) -> Json:
        """Return the `contents` of a resource, and the `_meta` of the reply as `meta` if it has one."""
        answer = plain_result(await self._request("resources/read", with_meta({"uri": uri}, meta)))
        found: Json = {"contents": answer.get("contents", [])}
        if isinstance(own := answer.get("_meta"), dict) and own:
            found["meta"] = own
        return found

    async def complete(
        self, ref: Json, argument: Json, context: Json | None = None, *, meta: Json | None = None
    ) -> Json:
        """Return the `completion` object of `completion/complete`."""
        params = {"ref": ref, "argument": argument} | ({} if context is None else {"context": context})
        completion: Json = (await self._request("completion/complete", with_meta(params, meta)))["completion"]
        return completion

    async def _page(self, method: str, key: str, cursor: str | None) -> tuple[list[Json], str | None]:
        self._current_run()
        if method.partition("/")[0] not in self._capabilities:
            return [], None
        if cursor is None:
            kind = _KINDS[key]
            self._rejected = {entry: why for entry, why in self._rejected.items() if entry[0] != kind}
        try:
            raw = await self._request(method, {} if cursor is None else {"cursor": cursor})
        except SMCPError as error:
            if error.code == METHOD_NOT_FOUND:
                return [], None
            raise
        after = raw.get("nextCursor")
        return raw.get(key, []), after if isinstance(after, str) and after else None

    async def _learn_headers(self, tool: str) -> None:
        run = self._current_run()

        async def names(cursor: str | None) -> Page[str]:
            try:
                page = await run.session.list_tools(params=PaginatedRequestParams(cursor=cursor))
            except (MCPError, ValidationError) as error:
                raise self._failed(run, error) from error
            return [listed.name for listed in page.tools], page.next_cursor

        async for page in walk(names, PageLimits(), self._list_truncated):
            if tool in page:
                return

    def _list_truncated(self, reason: str) -> None:
        logger.warning("tool list truncated: %s mcp_server=%s", reason, self.name, extra={"server": self.name})

    async def _request(
        self, method: str, params: Json, *, timed: bool = True, progress: ProgressCallback | None = None
    ) -> dict[str, Any]:
        run = self._current_run()
        token = run.begin_request()
        abandoned = True
        limit = run.timing.request if timed else None
        try:
            async with asyncio.timeout(limit):
                answer: dict[str, Any] = await run.session.send_request(
                    _Request(method=method, params=params), _RAW, progress_callback=self._progress_callback(progress)
                )
            abandoned = False
        except (MCPError, ValidationError, RuntimeError) as error:
            abandoned = False
            raise self._failed(run, error) from error
        except ValueError as error:  # nested deeper than the SDK can encode
            abandoned = False
            raise BadRequest(f"This cannot be sent to MCP server {self.name!r}: {error}") from error
        except TimeoutError as error:
            message = f"MCP server {self.name!r} did not answer {method} within {seconds_text(limit or 0)}"
            raise RequestTimeout(message) from error
        finally:
            run.end_request(token, abandoned=abandoned)
        if answer.get("resultType") == "input_required":
            raise ToolFailed(f"MCP server {self.name!r} requires user input, which this Computer does not support")
        return answer

    def _progress_callback(self, progress: ProgressCallback | None) -> Any:
        if progress is None:
            return None

        async def report(done: float, total: float | None, message: str | None) -> None:
            progress(done, total, message if message is None else self._mask.hide(message))

        return report

    def _failed(self, run: ServerRun, error: Exception) -> SMCPError:
        """Return the error for the caller of a failed request."""
        if not isinstance(error, MCPError):
            if run.over:
                return self._server_lost(run)
            return ToolFailed(f"MCP server {self.name!r} answered with something that is not an MCP result")
        if error.code == PARSE_ERROR:
            return ToolFailed(f"MCP server {self.name!r} answered with something that is not an MCP message")
        if run.is_transport_failure(error):
            return self._server_lost(run)
        return error_of(error, self._mask)

    def _server_lost(self, run: ServerRun) -> ToolFailed:
        failure = run.transport.explain(running=True)
        # The server's output is for the owner only, in the status and the log.
        why = f": {failure.kind}" if failure is not None else ""
        return ToolFailed(
            f"MCP server {self.name!r} was lost while it worked on this{why}. It may or may not have been done, and is "
            "not tried again by itself"
        )


# Codes of the contract that servers raise. Libraries that cannot set an error code put it into the data or at the
# beginning of the message.
_DOCUMENT_CODES: Final = frozenset(kind.code for kind in DocumentError.__subclasses__())
_IN_TEXT: Final = re.compile(
    rf"(?:^|: |\[|\(|\bcode[ =:]+)(?P<code>{'|'.join(map(str, sorted(_DOCUMENT_CODES)))})(?=[:\])]| [-–—])"
)
_LONGEST_TEXT: Final = 20_000


def error_of(error: MCPError, mask: ServerMask) -> SMCPError:
    """Return the error that a server replied with: its code, message and data, without configured values.

    A document error inside another error (in its data or its message) is unwrapped.
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
    """Return a result without the envelope fields of the newer era, so that both eras look the same."""
    raw.pop("resultType", None)
    meta = raw.get("_meta")
    if isinstance(meta, dict) and meta.pop(SERVER_INFO_META_KEY, None) is not None and not meta:
        del raw["_meta"]
    return raw


def with_meta(params: Json, meta: Json | None) -> Json:
    """Return the params of a request with the parts of `meta` that are for the server."""
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
