"""A POST that is over by its deadline, however slowly the server sends."""

import io
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from a2c_smcp.digest.dotsocr import remote_tools
from a2c_smcp.digest.llm_proxy import LlmProxy, LlmSettings
from a2c_smcp.documents.ocr.http import Service, send_json
from a2c_smcp.errors import DocumentError
from a2c_smcp.web.http_exchange import ERROR_BYTES, AnswerTooLarge, DeadlineExceeded, Unreachable, post

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n"
SECONDS = 1.0
MUCH = 20.0
"""Far less than the minutes that the whole answer would take."""


@contextmanager
def dripping(first: bytes, rest: bytes = b"x" * 100_000) -> Iterator[str]:
    """Serve an answer: `first` at once, then a byte each twentieth of a second."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)

        def answer(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                connection.settimeout(MUCH)
                connection.recv(65_536)
                connection.sendall(first)
                for byte in rest:
                    if over.wait(0.05):
                        return
                    connection.sendall(bytes([byte]))

        def serve() -> None:
            threads = []
            while not over.is_set():
                with suppress(TimeoutError):
                    threads.append(threading.Thread(target=answer, args=(server.accept()[0],)))
                    threads[-1].start()
            for thread in threads:
                thread.join()

        serving = threading.Thread(target=serve)
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        finally:
            over.set()
            serving.join()


@pytest.mark.parametrize("first", [HEAD, HEAD[:20], b""])
def test_a_slow_drip_ends_at_the_deadline(first: bytes) -> None:
    started = time.monotonic()
    with dripping(first, HEAD[len(first) :] + b"x" * 100) as url, pytest.raises(DeadlineExceeded, match="within 1 sec"):
        post(url, io.BytesIO(), seconds=SECONDS, limit=1 << 20, json={})
    assert time.monotonic() - started < MUCH


def test_a_language_model_that_drips_is_left_in_time() -> None:
    started = time.monotonic()
    with dripping(HEAD) as url:
        response = LlmProxy(LlmSettings(url, model="m", timeout=SECONDS)).ask({"prompt": "p"})
    assert response["error"] == "The language model did not answer within 1 seconds"
    assert time.monotonic() - started < MUCH


def test_an_ocr_service_that_drips_is_left_in_time(tmp_path: Path) -> None:
    started = time.monotonic()
    with dripping(HEAD) as url:
        service = Service(url, allow_http="loopback", timeout=SECONDS, patience=SECONDS)
        with pytest.raises(DocumentError, match="did not answer within 1 seconds"):
            send_json(service, {}, tmp_path / "answer")
        picture = tmp_path / "x.png"
        picture.write_bytes(b"x")
        params = {"image_path": str(picture), "out_dir": str(tmp_path / "out"), "ocr_url": url, "timeout": SECONDS}
        assert "did not answer within" in str(remote_tools.call_image(params)["error"])
    assert time.monotonic() - started < MUCH


def test_an_answer_is_kept_whole_or_not_at_all() -> None:
    with dripping(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", b"") as url:
        into = io.BytesIO()
        reply = post(url, into, seconds=MUCH, limit=5, json={})
        assert (reply.status, reply.headers["content-length"], into.getvalue()) == (200, "5", b"hello")
        with pytest.raises(AnswerTooLarge):
            post(url, io.BytesIO(), seconds=MUCH, limit=4, json={})


def test_of_an_error_only_the_beginning_is_kept() -> None:
    body = b"e" * (ERROR_BYTES + 10)
    with dripping(b"HTTP/1.1 500 No\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body), b"") as url:
        into = io.BytesIO()
        assert post(url, into, seconds=MUCH, limit=1 << 20, json={}).status == 500
        assert len(into.getvalue()) == ERROR_BYTES


def test_a_server_that_is_not_there_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(Unreachable):
        post(f"http://127.0.0.1:{port}/", io.BytesIO(), seconds=MUCH, limit=10, json={})
