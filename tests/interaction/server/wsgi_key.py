"""A blocking server that takes a key: `python -m tests.interaction.server.wsgi_key werkzeug|gevent KEY True|False`.

With True it keeps the header `access_token`, as the guide to mounting the namespace shows.
"""

import sys


def main(kind: str, key: str, guided: bool) -> None:
    if kind == "gevent":
        from gevent import monkey

        monkey.patch_all()
    import socketio

    from a2c_smcp.server import ApiKeyAuth, SyncSMCPNamespace

    server = socketio.Server(async_mode="gevent" if kind == "gevent" else "threading")
    server.register_namespace(SyncSMCPNamespace(ApiKeyAuth(key)))
    app = socketio.WSGIApp(server)
    if kind == "gevent":
        _gevent(app, guided)
    else:
        _werkzeug(app, guided)


def _gevent(app: object, guided: bool) -> None:
    from gevent.pywsgi import WSGIHandler, WSGIServer

    class KeepsAccessToken(WSGIHandler):  # type: ignore[misc]
        def get_environ(self) -> dict[str, object]:
            environ: dict[str, object] = super().get_environ()
            if "access_token" in self.headers:
                environ["HTTP_ACCESS_TOKEN"] = self.headers["access_token"]
            return environ

    handler = KeepsAccessToken if guided else WSGIHandler
    server = WSGIServer(("127.0.0.1", 0), app, handler_class=handler, log=None, error_log=None)
    server.start()
    print(server.server_port, flush=True)  # noqa: T201
    server.serve_forever()


def _werkzeug(app: object, guided: bool) -> None:
    import logging

    from werkzeug.serving import WSGIRequestHandler, make_server

    class KeepsAccessToken(WSGIRequestHandler):
        def make_environ(self) -> dict[str, object]:
            environ = super().make_environ()
            if "access_token" in self.headers:
                environ["HTTP_ACCESS_TOKEN"] = self.headers["access_token"]
            return environ

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    handler = KeepsAccessToken if guided else WSGIRequestHandler
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=handler)  # type: ignore[arg-type]
    print(server.server_port, flush=True)  # noqa: T201
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3] == "True")
