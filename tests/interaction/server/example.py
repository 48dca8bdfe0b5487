"""Serve an example of the documentation on a free port and say which: `python -m … example FILE`."""

import importlib.util
import json
import sys
from typing import Any


def main(file: str) -> None:
    spec = importlib.util.spec_from_file_location("example", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)  # first of all: gevent's patches come before everything else
    app = module.app
    if type(app).__name__ == "WSGIApp":
        _serve_wsgi(app, gevent="gevent" in sys.modules)
    else:
        _serve_asgi(app)


def _say(port: int) -> None:
    print(json.dumps({"port": port}), flush=True)  # noqa: T201


def _serve_wsgi(app: Any, *, gevent: bool) -> None:
    if gevent:
        from gevent import pywsgi

        server = pywsgi.WSGIServer(("127.0.0.1", 0), app, log=None, error_log=None)
        server.start()
        _say(server.server_port)
        server.serve_forever()
    else:
        from werkzeug.serving import make_server

        threaded = make_server("127.0.0.1", 0, app, threaded=True)
        _say(threaded.server_port)
        threaded.serve_forever()


def _serve_asgi(app: Any) -> None:
    import asyncio

    from tests.interaction.server.programs import serving

    async def serve() -> None:
        async with serving(app) as here:
            _say(int(here.url.rpartition(":")[2]))
            await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main(sys.argv[1])
