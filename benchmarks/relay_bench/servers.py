"""The servers under test, each in a process of its own that answers questions about itself over a pipe."""

import gc
import multiprocessing
import os
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import socketio
import uvicorn

from a2c_smcp.server.app import create_app
from a2c_smcp.server.limits import ServerLimits
from a2c_smcp.server.offices import Identity
from a2c_smcp.server.server_process import ServerProcess
from a2c_smcp.smcp import JOIN_OFFICE_EVENT, SMCP_NAMESPACE, TOOL_CALL_EVENT

Kind = Literal["ours", "stock"]

# So high that the load is never refused; every check runs all the same.
PLENTY = ServerLimits(
    requests_per_second=1e9, office_requests_per_second=1e9, joins_per_second=1e9, connections_per_address=1_000_000
)
START_PATIENCE = 30.0


class Everybody:
    """Lets everybody in for an hour, so that the expiry of credentials is checked as well."""

    def authenticate(self, server: Any, environ: Mapping[str, Any], auth: Any, headers: Mapping[str, str]) -> Identity:
        return Identity(expires=time.time() + 3600)


@dataclass(frozen=True, slots=True)
class State:
    """What a server says of itself: seconds of CPU so far, bytes in memory, connections."""

    cpu: float
    memory: int
    connections: int


class Server:
    """A server under test, from outside."""

    def __init__(self, port: int, questions: Connection) -> None:
        self.port = port
        self._questions = questions

    def state(self, *, collected: bool = False) -> State:
        """What the server says of itself, after collecting its garbage if asked to."""
        self._questions.send(collected)
        answer: State = self._questions.recv()
        return answer


@contextmanager
def running(kind: Kind) -> Iterator[Server]:
    """A server on a free port of this machine, ended when the block ends."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=serve, args=(kind, there), daemon=True)
    process.start()
    there.close()
    try:
        if not here.poll(START_PATIENCE):
            raise TimeoutError(f"the {kind} server did not start")
        yield Server(here.recv(), here)
    finally:
        here.close()
        process.kill()
        process.join()


def serve(kind: Kind, questions: Connection) -> None:
    """Be a server under test until killed, or until whoever asks is gone."""
    raise_file_limit()
    if kind == "ours":
        _serve_ours(questions)
    else:
        _serve_stock(questions)


def _serve_ours(questions: Connection) -> None:
    """The ready server, as `a2c server` runs it, with every check on."""
    app = create_app(auth=Everybody(), port=0, limits=PLENTY)
    manager, router = app.server.manager, app.namespace.router

    def connections() -> int:
        clients = manager.rooms.get(SMCP_NAMESPACE, {}).get(None, ())
        return max(len(app.server.eio.sockets), len(clients), len(router.connections))

    with ServerProcess(app) as runner:
        _tell(questions, urlsplit(runner.start()["url"]).port, connections)
        runner.wait()


def _serve_stock(questions: Connection) -> None:
    """The relay that one writes on a first afternoon with python-socketio: no checks, no limits."""
    server = socketio.AsyncServer(async_mode="asgi")
    office_of: dict[str, str] = {}
    computers: dict[tuple[str, str], str] = {}

    @server.on(JOIN_OFFICE_EVENT, namespace=SMCP_NAMESPACE)  # type: ignore[untyped-decorator]
    async def join(sid: str, request: dict[str, str]) -> tuple[bool, None]:
        office_of[sid] = request["office_id"]
        if request["role"] == "computer":
            computers[request["office_id"], request["name"]] = sid
        await server.enter_room(sid, request["office_id"], namespace=SMCP_NAMESPACE)
        return True, None

    @server.on(TOOL_CALL_EVENT, namespace=SMCP_NAMESPACE)  # type: ignore[untyped-decorator]
    async def tool_call(sid: str, request: dict[str, Any]) -> Any:
        computer = computers[office_of[sid], request["computer"]]
        timeout = request["timeout"]
        return await server.call(TOOL_CALL_EVENT, request, to=computer, namespace=SMCP_NAMESPACE, timeout=timeout)

    listening = socket.create_server(("127.0.0.1", 0), backlog=4_096)
    config = uvicorn.Config(
        socketio.ASGIApp(server),
        ws="websockets-sansio",
        loop="uvloop",
        log_level="error",
        access_log=False,
        ws_per_message_deflate=False,
        ws_ping_interval=None,
        lifespan="off",
    )
    _tell(questions, listening.getsockname()[1], lambda: len(server.eio.sockets))
    uvicorn.Server(config).run(sockets=[listening])


def _tell(questions: Connection, port: int | None, connections: Callable[[], int]) -> None:
    def answer() -> None:
        try:
            while True:
                if questions.recv():
                    gc.collect()
                questions.send(State(time.process_time(), _memory(), connections()))
        except (EOFError, OSError):
            os._exit(0)

    questions.send(port)
    threading.Thread(target=answer, daemon=True).start()


def raise_file_limit() -> None:
    """Let this process open as many sockets as it may."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _memory() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
