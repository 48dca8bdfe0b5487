"""A real HTTP service that answers what a test tells it to."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest


@dataclass
class Reply:
    body: bytes = b""
    content_type: str = "text/plain"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: bytes


class FakeService:
    """Answers with its replies in turn, the last one for good, and keeps what it was asked."""

    def __init__(self) -> None:
        self.replies: list[Reply] = [Reply()]
        self.requests: list[Request] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/extract"

    def answer(self, *replies: Reply) -> None:
        self.replies = list(replies)

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            owner: ClassVar[FakeService] = service

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])) if "Content-Length" in self.headers else b""
                self.owner.requests.append(Request(self.path, dict(self.headers.items()), body))
                reply = self.owner.replies.pop(0) if len(self.owner.replies) > 1 else self.owner.replies[0]
                self.send_response(reply.status)
                self.send_header("Content-Type", reply.content_type)
                self.send_header("Content-Length", str(len(reply.body)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body)

            def log_message(self, *args: object) -> None:
                pass

        return Handler


@pytest.fixture
def service() -> Iterator[FakeService]:
    fake = FakeService()
    yield fake
    fake.close()


@pytest.fixture
def png() -> bytes:
    """A small picture with something on it."""
    from PIL import Image, ImageDraw

    from a2c_smcp.documents.ocr.pictures import png_of

    picture = Image.new("RGB", (200, 100), "white")
    ImageDraw.Draw(picture).rectangle((20, 20, 120, 60), fill="black")
    return png_of(picture)


@pytest.fixture
def blank() -> bytes:
    from PIL import Image

    from a2c_smcp.documents.ocr.pictures import png_of

    return png_of(Image.new("RGB", (50, 50), "white"))
