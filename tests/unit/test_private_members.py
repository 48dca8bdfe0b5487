"""Members of libraries that we override or rely on and that their authors may change: one canary for each.

A release that renames one would leave our override uncalled, without an error. Such a release fails here first.
"""

import asyncio
import inspect
from collections import deque
from typing import Any

import aiohttp
import engineio
import pytest
import socketio
import uvicorn
from aiohttp import web
from engineio.async_client import AsyncClient as EngineIOClient
from engineio.async_socket import AsyncSocket
from engineio.payload import Payload
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.server import ServerProtocol

from a2c_smcp.connection import socketio_client as wire
from a2c_smcp.server import client_manager as clients
from a2c_smcp.server import engineio_socket as transport
from a2c_smcp.server import namespace, sync_namespace
from a2c_smcp.server import server_process as runner
from a2c_smcp.server import socketio_server as engine
from a2c_smcp.web import listening

OVERRIDDEN: dict[Any, tuple[Any, dict[str, str]]] = {
    engine.SMCPServer: (
        socketio.AsyncServer,
        {
            "_engineio_server_class": "self",
            "_handle_connect": "self eio_sid namespace data",
            "_handle_disconnect": "self eio_sid namespace reason",
            "_handle_eio_connect": "self eio_sid environ",
            "_handle_eio_disconnect": "self eio_sid reason",
            "_handle_eio_message": "self eio_sid data",
        },
    ),
    transport.EngineIOServer: (
        engineio.AsyncServer,
        {
            "_handle_connect": "self environ transport jsonp_index",
            "create_queue": "self args kwargs",
            "handle_request": "self args kwargs",
            "shutdown": "self",
        },
    ),
    transport.EngineIOSocket: (
        AsyncSocket,
        {
            "_websocket_handler": "self ws",
            "check_ping_timeout": "self",
            "close": "self wait abort reason",
            "handle_post_request": "self environ",
            "poll": "self",
            "receive": "self pkt",
            "schedule_ping": "self",
        },
    ),
    transport.SendQueue: (asyncio.Queue, {"_get": "self", "_init": "self maxsize", "_put": "self item"}),
    clients.ClientManager: (
        socketio.AsyncManager,
        {
            "_generate_ack_id": "self sid callback",
            "basic_disconnect": "self sid namespace kwargs",
            "basic_enter_room": "self sid namespace room eio_sid",
            "basic_leave_room": "self sid namespace room",
            "connect": "self sid namespace",
            "is_connected": "self sid namespace",
            "is_pre_connected": "self sid namespace",
            "pre_connect": "self eio_sid namespace",
            "pre_disconnect": "self sid namespace",
            "trigger_callback": "self sid id data",
        },
    ),
    namespace.SMCPNamespace: (
        socketio.AsyncNamespace,
        {"_set_server": "self server", "trigger_event": "self event args"},
    ),
    sync_namespace.SyncSMCPNamespace: (
        socketio.Namespace,
        {"_set_server": "self server", "trigger_event": "self event args"},
    ),
    wire.SocketClient: (
        socketio.AsyncClient,
        {
            "_engineio_client_class": "self",
            "_handle_ack": "self namespace id data",
            "_handle_eio_message": "self data",
            "_handle_event": "self namespace id data",
            "send": "self data namespace callback",
        },
    ),
    wire.EngineClient: (
        EngineIOClient,
        {
            "_connect_websocket": "self url headers engineio_path",
            "_read_loop_websocket": "self",
            "_send_packet": "self pkt",
            "_send_request": "self method url headers body timeout",
        },
    ),
    runner._DrainingServer: (uvicorn.Server, {"startup": "self sockets"}),
    listening._Server: (
        uvicorn.Server,
        {"capture_signals": "self", "shutdown": "self sockets", "startup": "self sockets"},
    ),
}

USED: dict[Any, dict[str, str]] = {
    socketio.AsyncServer: {
        "_handle_ack": "self eio_sid namespace id data",
        "_handle_event": "self eio_sid namespace id data",
        "_handle_event_internal": "self server sid eio_sid data namespace id",
        "_send_packet": "self eio_sid pkt",
    },
    socketio.Server: {"_send_packet": "self eio_sid pkt"},
    socketio.AsyncManager: {
        "eio_sid_from_sid": "self sid namespace",
        "get_namespaces": "self",
        "sid_from_eio_sid": "self eio_sid namespace",
    },
    socketio.Manager: {"_generate_ack_id": "self sid callback", "trigger_callback": "self sid id data"},
    engineio.AsyncServer: {
        "_bad_request": "self message",
        "_ok": "self packets headers jsonp_index",
        "_service_task": "self",
        "_trigger_event": "self event args kwargs",
        "_unauthorized": "self message",
        "_upgrades": "self sid transport",
        "generate_id": "self",
        "start_background_task": "self target args kwargs",
    },
    AsyncSocket: {
        "_send_ping": "self",
        "handle_get_request": "self environ",
        "send": "self pkt",
    },
    EngineIOClient: {
        "_get_engineio_url": "self url engineio_path transport",
        "_get_url_timestamp": "self",
        "_reset": "self",
        "_trigger_event": "self event args kwargs",
    },
    uvicorn.Server: {"main_loop": "self"},
    H11Protocol: {
        "__init__": "self config server_state app_state _loop",
        "connection_lost": "self exc",
        "connection_made": "self transport",
    },
    WebSocketsSansIOProtocol: {
        "__init__": "self config server_state app_state _loop",
        "connection_lost": "self exc",
    },
}


def members() -> list[tuple[Any, str, str]]:
    overridden = [(base, name, words) for base, names in OVERRIDDEN.values() for name, words in names.items()]
    return overridden + [(base, name, words) for base, names in USED.items() for name, words in names.items()]


@pytest.mark.parametrize(
    ("base", "name", "parameters"), members(), ids=lambda part: part if isinstance(part, str) else part.__module__
)
def test_a_member_that_we_build_on_is_there_as_it_was(base: Any, name: str, parameters: str) -> None:
    assert list(inspect.signature(getattr(base, name)).parameters) == parameters.split()


@pytest.mark.parametrize("ours", OVERRIDDEN, ids=lambda ours: ours.__name__)
def test_every_member_that_we_override_has_a_canary(ours: Any) -> None:
    base, known = OVERRIDDEN[ours]
    assert issubclass(ours, base)
    functions = {name for name, value in vars(ours).items() if callable(value) and not name.startswith("__")}
    assert {name for name in functions if hasattr(base, name)} == set(known)


def test_a_socket_io_server_has_the_tables_that_we_read() -> None:
    server = engine.SMCPServer()
    assert (server.eio.sockets, server._binary_packet, server.manager.callbacks, server.environ) == ({}, {}, {}, {})
    assert {"connect", "disconnect", "message"} <= set(server.eio.handlers)
    assert server.eio.start_service_task is True
    assert server.eio.service_task_event is None
    assert isinstance(server.manager, clients.ClientManager)
    assert (server.manager.rooms, server.manager.pending_connect) == ({}, {})
    assert {"CLIENT_DISCONNECT", "SERVER_DISCONNECT", "TRANSPORT_CLOSE"} <= set(dir(server.eio.reason))


def test_a_socket_has_the_flags_that_we_set() -> None:
    one = transport.EngineIOSocket(engine.SMCPServer().eio, "sid", "", None)
    assert (one.connected, one.upgrading, one.upgraded, one.closing, one.closed) == (False,) * 5
    assert one.last_ping
    assert isinstance(one.queue, transport.SendQueue)
    assert isinstance(one.queue._queue, deque)


def test_a_stock_manager_keeps_its_counter_where_an_ack_could_delete_it() -> None:
    manager = socketio.Manager()
    manager.set_server(socketio.Server())
    assert (manager._generate_ack_id("sid", print), set(manager.callbacks["sid"])) == (1, {0, 1})


def test_the_number_of_packets_in_a_request_can_be_set() -> None:
    assert isinstance(Payload.max_decode_packets, int)


async def test_an_engine_io_client_has_the_state_that_we_set() -> None:
    async with aiohttp.ClientSession() as http:
        client = wire.SocketClient(lambda *_: None, http)
        eio = client.eio
        assert (eio.state, eio.sid, eio.ws, eio.read_loop_task, eio.write_loop_task) == ("disconnected", *[None] * 4)
        assert eio.http is http
        assert (client.namespaces, client.failed_namespaces, client._binary_packet) == ({}, [], None)


async def test_the_line_of_a_websocket_client_can_be_measured_and_aborted() -> None:
    async def accept(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.receive()
        return socket

    app = web.Application()
    app.router.add_get("/", accept)
    site = web.AppRunner(app)
    await site.setup()
    await web.TCPSite(site, "127.0.0.1", 0).start()
    try:
        async with (
            aiohttp.ClientSession() as http,
            http.ws_connect(f"http://127.0.0.1:{site.addresses[0][1]}/") as socket,
        ):
            line = socket._response.connection
            assert line is not None
            assert line.transport is not None
            assert (line.transport.get_write_buffer_size(), len(line.transport.get_write_buffer_limits())) == (0, 2)
            line.transport.abort()
    finally:
        await site.cleanup()


def test_the_size_of_websocket_messages_can_be_changed_while_it_is_open() -> None:
    protocol = ServerProtocol(max_size=5)
    assert getattr(protocol, "max_message_size", None) == 5 or getattr(protocol, "max_size", None) == 5


def test_uvicorn_takes_protocols_and_applications_that_are_set_after_loading() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise NotImplementedError

    config = uvicorn.Config(app, ws="websockets-sansio", log_config=None, lifespan="off")
    config.load()
    assert callable(config.loaded_app)
    assert issubclass(config.http_protocol_class, asyncio.Protocol)
    assert config.ws_protocol_class is WebSocketsSansIOProtocol
    assert config.lifespan_class is not None
    server = uvicorn.Server(config)
    assert (server.should_exit, server.force_exit, server.started) == (False, False, False)
