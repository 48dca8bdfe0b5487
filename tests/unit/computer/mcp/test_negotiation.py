"""The era of the protocol is found out once, whatever a server does with the question."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import ClientSession, MCPError
from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError, JSONRPCRequest, JSONRPCResponse

from a2c_smcp.computer.mcp.negotiation import NegotiationMemory, is_modern, negotiate

MODERN = "2026-07-28"
INFO = {"name": "a", "version": "1"}
INITIALIZED = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": INFO}


def discovered(*versions: str) -> dict[str, Any]:
    found = {"supportedVersions": list(versions), "capabilities": {}}
    return found | {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}


def insists(*versions: str) -> ErrorData:
    return ErrorData(code=-32022, message="Unsupported", data={"supported": list(versions), "requested": "x"})


UNKNOWN = ErrorData(code=-32601, message="Method not found")
Answer = dict[str, Any] | ErrorData | None
Server = Callable[[str, list[str]], Answer]


@asynccontextmanager
async def talking_to(server: Server, heard: list[str]) -> AsyncIterator[ClientSession]:
    """A session with a scripted server, which answers a method given what it heard before."""
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](10)
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage](10)

    async def serve() -> None:
        async for item in from_client:
            message = item.message
            if not isinstance(message, JSONRPCRequest):
                continue
            answer = server(message.method, list(heard))
            heard.append(message.method)
            if isinstance(answer, ErrorData):
                await to_client.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=message.id, error=answer)))
            elif answer is not None:
                await to_client.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=message.id, result=answer)))

    async with anyio.create_task_group() as tasks, to_client, from_client:
        tasks.start_soon(serve)
        async with ClientSession(from_server, to_server) as session:
            yield session
        tasks.cancel_scope.cancel()


def answers(discover: Answer, initialize: Answer = INITIALIZED) -> Server:
    return lambda method, _: {"server/discover": discover, "initialize": initialize}[method]


def late(method: str, heard: list[str]) -> Answer:
    # It took too long over the first question, and then holds the connection to it.
    if method == "initialize":
        return insists(MODERN)
    return discovered(MODERN) if heard else None


def picky(method: str, heard: list[str]) -> Answer:
    return discovered(MODERN) if heard else insists(MODERN)


@pytest.mark.parametrize(
    ("server", "modern", "heard"),
    [
        (answers(discovered(MODERN)), True, ["server/discover"]),
        (answers(UNKNOWN), False, ["server/discover", "initialize"]),
        (answers(None), False, ["server/discover", "initialize"]),
        (answers({"anything": "else"}), False, ["server/discover", "initialize"]),
        (answers(discovered("2025-11-25")), False, ["server/discover", "initialize"]),
        (answers(insists("2025-11-25")), False, ["server/discover", "initialize"]),
        (answers(ErrorData(code=-32022, message="", data="?")), False, ["server/discover", "initialize"]),
        (picky, True, ["server/discover", "server/discover"]),
        (answers(insists(MODERN)), False, ["server/discover", "server/discover", "initialize"]),
        (late, True, ["server/discover", "initialize", "server/discover"]),
    ],
    ids=["both", "older", "deaf", "odd", "advertises older", "insists on older", "garbled", "picky", "stuck", "late"],
)
async def test_the_era_is_that_of_the_server(server: Server, modern: bool, heard: list[str]) -> None:
    memory, methods = NegotiationMemory(), list[str]()

    async with talking_to(server, methods) as session:
        await negotiate(session, memory, patience=0.1)

        assert (is_modern(session), methods) == (modern, heard)
    assert memory == NegotiationMemory(older=not modern)


async def test_a_server_known_to_be_of_the_older_era_is_not_asked() -> None:
    methods: list[str] = []

    async with talking_to(answers(UNKNOWN), methods) as session:
        await negotiate(session, NegotiationMemory(older=True))

    assert methods == ["initialize"]


async def test_a_server_that_may_have_died_of_the_question_is_not_asked_the_next_time() -> None:
    methods: list[str] = []
    memory = NegotiationMemory(discovering=True)

    async with talking_to(answers(UNKNOWN), methods) as session:
        await negotiate(session, memory)

    assert (methods, memory) == (["initialize"], NegotiationMemory(older=True))


async def test_a_refused_handshake_leaves_the_question_open() -> None:
    memory = NegotiationMemory()
    refusal = ErrorData(code=-32000, message="No")

    async with talking_to(answers(UNKNOWN, refusal), []) as session:
        with pytest.raises(MCPError, match="No"):
            await negotiate(session, memory)

    assert memory == NegotiationMemory(discovering=True)


async def test_a_server_of_versions_unknown_to_us_is_refused() -> None:
    async with talking_to(answers(UNKNOWN, INITIALIZED | {"protocolVersion": "1999-01-01"}), []) as session:
        with pytest.raises(RuntimeError, match="Unsupported protocol version"):
            await negotiate(session, NegotiationMemory())
