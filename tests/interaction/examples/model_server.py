"""An endpoint that speaks Chat Completions and answers what it is told to."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ModelServer:
    """Answers with the messages of a script, one after the other, and remembers what it was asked."""

    def __init__(self, *script: dict[str, Any]) -> None:
        self.script = list(script)
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.url = ""


@contextmanager
def model_server(*script: dict[str, Any]) -> Iterator[ModelServer]:
    model = ModelServer(*script)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.asked.append(body)
            model.keys.append(self.headers["Authorization"])
            found = self.path == "/v1/chat/completions" and bool(model.script)
            message = {"role": "assistant", "content": None} | model.script.pop(0) if found else None
            reply = json.dumps({"choices": [{"index": 0, "message": message}]}).encode()
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        model.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()
