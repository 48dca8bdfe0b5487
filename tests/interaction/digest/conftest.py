"""A language model and an OCR service to talk to: small, real, on this machine."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

DOCUMENTS = Path(__file__).parents[2] / "data" / "documents"
Answer = Callable[[dict[str, Any]], tuple[int, Any]]


@dataclass
class Endpoint:
    """A server that answers POSTs as a test tells it; what it was asked is in `asked`."""

    answer: Answer
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""


def said(text: str, **usage: int) -> tuple[int, Any]:
    """A chat completion that says this."""
    return 200, {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": usage, "model": "m"}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint whose `answer` a test replaces."""
    state = Endpoint(lambda _: said("Nothing."))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            state.asked.append(json.loads(body) if body[:1] == b"{" else {"body": body})
            status, answer = state.answer(state.asked[-1])
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            kind = "application/octet-stream" if isinstance(answer, bytes) else "application/json"
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()
