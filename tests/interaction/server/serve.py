"""Run one kind of server on a free port and say which: `python -m tests.interaction.server.serve KIND [LIMITS]`.

Kinds: `ready` is our own server, `stock` our namespace in a plain python-socketio server, `threading` and `gevent`
the blocking namespace.
"""

import json
import logging
import sys
from typing import Any

KINDS = ("ready", "stock", "threading", "gevent")


def main(kind: str, options: dict[str, Any]) -> None:
    if kind == "gevent":
        from gevent import monkey

        monkey.patch_all()
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")
    from a2c_smcp.server.auth import ApiKeyAuth
    from a2c_smcp.server.limits import ServerLimits

    pings: dict[str, Any] = {key: options.pop(key) for key in ("ping_interval", "ping_timeout") if key in options}
    api_keys = options.pop("api_keys", None)
    auth = ApiKeyAuth(api_keys) if api_keys else None
    limits = ServerLimits(**{"joins_per_second": 1_000} | options)
    if kind in ("ready", "stock"):
        _serve_async(kind, limits, pings, auth)
    else:
        _serve_blocking(kind, limits, auth)


def _say(port: int) -> None:
    print(json.dumps({"port": port}), flush=True)  # noqa: T201


def _serve_async(kind: str, limits: Any, pings: dict[str, Any], auth: Any) -> None:
    import asyncio

    import socketio
    import uvicorn

    from a2c_smcp.server.namespace import SMCPNamespace
    from a2c_smcp.server.socketio_server import SMCPServer

    async def serve() -> None:
        server = SMCPServer(limits, **pings) if kind == "ready" else socketio.AsyncServer(async_mode="asgi")
        server.register_namespace(SMCPNamespace(auth, limits=limits))
        config = uvicorn.Config(
            socketio.ASGIApp(server),
            host="127.0.0.1",
            port=0,
            ws="websockets-sansio",
            ws_max_size=limits.frame_bytes,
            ws_ping_interval=None,
            ws_per_message_deflate=False,
            log_level="warning",
            lifespan="off",
        )
        runner = uvicorn.Server(config)
        task = asyncio.create_task(runner.serve())
        while not runner.started:
            await asyncio.sleep(0.01)
        _say(runner.servers[0].sockets[0].getsockname()[1])
        await task

    asyncio.run(serve())


def _serve_blocking(kind: str, limits: Any, auth: Any) -> None:
    import socketio

    from a2c_smcp.server.sync_namespace import SyncSMCPNamespace

    server = socketio.Server(async_mode=kind, max_http_buffer_size=limits.frame_bytes)
    server.register_namespace(SyncSMCPNamespace(auth, limits=limits))
    app = socketio.WSGIApp(server)
    if kind == "gevent":
        from gevent import pywsgi

        gevent_server = pywsgi.WSGIServer(("127.0.0.1", 0), app, log=None, error_log=None)
        gevent_server.start()
        _say(gevent_server.server_port)
        gevent_server.serve_forever()
    else:
        from werkzeug.serving import make_server

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        threaded = make_server("127.0.0.1", 0, app, threaded=True)
        _say(threaded.server_port)
        threaded.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]) if len(sys.argv) > 2 else {})
