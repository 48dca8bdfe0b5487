"""What a worker has given up, seen from inside of real ones."""

import json
import platform
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from a2c_smcp.documents import codec, sandbox
from a2c_smcp.documents.files import signature_of
from a2c_smcp.documents.formats import registry
from a2c_smcp.documents.formats.base import OpenOptions
from a2c_smcp.documents.ocr.base import OcrPolicy, OcrSpec
from a2c_smcp.documents.ocr.pictures import png_of
from a2c_smcp.documents.worker_main import WorkerRequest, pack
from a2c_smcp.documents.workers import Unreadable, WorkerPool, _said
from tests.unit.documents.ocr.conftest import FakeService, Reply

KEY = "key-of-the-service"

LINUX = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
pytestmark = pytest.mark.skipif(not LINUX, reason="workers are confined on Linux")


def has_landlock() -> bool:
    code = "from a2c_smcp.documents.sandbox import confine; import sys; sys.exit(confine().landlock == 0)"
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


needs_landlock = pytest.mark.skipif(LINUX and not has_landlock(), reason="this kernel has no Landlock")


@pytest.fixture(autouse=True)
def misbehaving(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_registered", [])
    registry.register("tests.documents.hostile.misbehaving")
    yield
    registry.formats.cache_clear()
    registry.format_of.cache_clear()


@pytest.fixture
async def pool() -> AsyncIterator[WorkerPool]:
    made = WorkerPool(1)
    yield made
    await made.close()


def request(folder: Path, plan: str, options: OpenOptions | None = None) -> WorkerRequest:
    path = folder / "file.misbehaving"
    path.write_text(plan, encoding="utf-8")
    signature = signature_of(path)
    assert signature is not None
    return WorkerRequest("page", str(path), signature, (0,), options, 60)


@pytest.mark.parametrize("deed", ["connect", "send", "exec", "start", "fork", "write", "chmod", "signal"])
async def test_a_parser_has_no_network_no_programs_and_nothing_to_write_to(
    pool: WorkerPool, tmp_path: Path, deed: str
) -> None:
    with pytest.raises(Unreadable, match=r"Operation not permitted|Permission denied"):
        await pool.call(request(tmp_path, f"page0 {deed}"))
    assert not Path("/dev/shm/a2c-written-by-a-worker").exists()  # noqa: ASYNC240


@needs_landlock
@pytest.mark.parametrize("deed", ["spy", "look"])
async def test_a_parser_cannot_look_around(pool: WorkerPool, tmp_path: Path, deed: str) -> None:
    with pytest.raises(Unreadable, match="Permission denied"):
        await pool.call(request(tmp_path, f"page0 {deed}"))


@needs_landlock
async def test_a_parser_reads_its_own_file_and_no_other(pool: WorkerPool, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hunter2", encoding="utf-8")
    for place in (secret, Path("/etc/passwd"), tmp_path / "file.misbehaving", Path(__file__)):
        with pytest.raises(Unreadable, match="Permission denied"):
            await pool.call(request(tmp_path, f"peek {place}"))


async def test_a_parser_still_has_threads_and_time(pool: WorkerPool, tmp_path: Path) -> None:
    page = codec.decode_page(await pool.call(request(tmp_path, "page0 thread")))
    assert page.title == "Page 0"


async def test_a_confined_worker_says_what_is_in_force(tmp_path: Path) -> None:
    code = "from a2c_smcp.documents.sandbox import confine; print(confine())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: ASYNC221
    assert "no_new_privs=True" in done.stdout
    assert "seccomp=True" in done.stdout


async def test_the_sandbox_can_be_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(sandbox.OFF, "off")
    pool = WorkerPool(1)
    try:
        peeked = codec.decode_page(await pool.call(request(tmp_path, f"peek {__file__}")))
        assert peeked.title == "Peeked"
    finally:
        await pool.close()


def test_the_filter_is_a_sound_program_on_both_architectures() -> None:
    for architecture, column in sandbox._ARCHITECTURES.values():
        code = sandbox.filter_program(architecture, column, 4711)
        lines = len(code) // 8
        assert len(code) % 8 == 0
        assert lines < 4096
        for at in range(lines):
            kind, then, other = code[8 * at], code[8 * at + 2], code[8 * at + 3]
            if kind in (sandbox._EQUAL, sandbox._ABOVE, sandbox._BITS):
                assert at + 1 + max(then, other) < lines


def ocr(service: FakeService) -> OcrPolicy:
    return OcrPolicy((OcrSpec("remote", service.url, KEY, allow_http="loopback", retries=0),))


@pytest.fixture
def service() -> Iterator[FakeService]:
    made = FakeService()
    yield made
    made.close()


async def test_a_worker_without_network_has_pictures_read_by_a_service(
    pool: WorkerPool, tmp_path: Path, service: FakeService
) -> None:
    service.answer(Reply(json.dumps({"text": f"Words of the page, {KEY}"}).encode(), "application/json"))
    path = tmp_path / "picture.png"
    picture = Image.new("RGB", (200, 100), "white")
    ImageDraw.Draw(picture).rectangle((20, 20, 120, 60), fill="black")
    path.write_bytes(png_of(picture))
    signature = signature_of(path)
    assert signature is not None
    asked = WorkerRequest("page", str(path), signature, (0,), OpenOptions(ocr=ocr(service)), 60)
    page = codec.decode_page(await pool.call(asked))
    text = " ".join(str(element.content) for element in page.elements)
    assert "Words of the page" in text
    assert KEY not in text
    [sent] = service.requests
    assert sent.headers["Authorization"] == f"Bearer {KEY}"


def test_a_worker_is_never_told_a_key(tmp_path: Path, service: FakeService) -> None:
    assert KEY.encode() not in pack(request(tmp_path, "", OpenOptions(ocr=ocr(service))))


@pytest.mark.parametrize("number", [1, -1, "0", None, True])
def test_a_worker_cannot_have_other_services_asked(tmp_path: Path, service: FakeService, number: object) -> None:
    asked = request(tmp_path, "", OpenOptions(ocr=ocr(service)))
    assert _said(asked, {"ask": number}, b"\x89PNG\r\n\x1a\n").error == "there is no such OCR service"
    assert _said(asked, {"ask": 0}, b"no picture").error == "only pictures are sent to OCR services"
    assert _said(asked._replace(options=None), {"ask": 0}, b"").error == "there is no such OCR service"
    assert service.requests == []
