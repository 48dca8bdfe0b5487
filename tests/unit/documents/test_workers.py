"""Workers: what ends one ends nothing else, and none outlives its service."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from a2c_smcp.documents import channel, codec, workers
from a2c_smcp.documents.files import signature_of
from a2c_smcp.documents.formats import registry
from a2c_smcp.documents.formats.base import OpenOptions
from a2c_smcp.documents.model import Element, Page
from a2c_smcp.documents.opening import Unsupported
from a2c_smcp.documents.worker_main import Operation, WorkerRequest
from a2c_smcp.documents.workers import Unreadable, WorkerEnded, WorkerPool

ROOT = Path(__file__).parents[3]
MISBEHAVING = "tests.documents.hostile.misbehaving"
FINE = Page(0, "Page 0", (Element("p0", "text", {"text": "Nothing to see"}, "Words"),))


@pytest.fixture(autouse=True)
def misbehaving(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_registered", [])
    registry.register(MISBEHAVING)
    yield
    registry.formats.cache_clear()
    registry.format_of.cache_clear()


@pytest.fixture
async def pool() -> AsyncIterator[WorkerPool]:
    made = WorkerPool(1, memory=1 << 30)
    yield made
    await made.close()


def file(folder: Path, plan: str = "", name: str = "file.misbehaving") -> Path:
    path = folder / name
    path.write_text(plan, encoding="utf-8")
    return path


def request(
    path: Path,
    operation: Operation = "page",
    *arguments: object,
    seconds: float = 60,
    options: OpenOptions | None = None,
) -> WorkerRequest:
    signature = signature_of(path)
    assert signature is not None
    return WorkerRequest(operation, str(path), signature, arguments, options, seconds)


async def page(pool: WorkerPool, path: Path, index: int = 0, seconds: float = 60) -> Page:
    return codec.decode_page(await pool.call(request(path, "page", index, seconds=seconds)))


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # it has ended meanwhile, or there is no /proc
        return not Path("/proc/self").exists()


async def until_gone(*pids: int) -> None:
    async with asyncio.timeout(60):
        while any(map(is_running, pids)):
            await asyncio.sleep(0.01)


async def test_a_page_comes_from_another_process(pool: WorkerPool, tmp_path: Path) -> None:
    path = file(tmp_path)
    record = codec.decode_record(await pool.call(request(path, "describe")))
    assert await page(pool, path) == FINE
    assert record.description.summary == f"by {pool.pids[0]}"
    assert pool.pids[0] != os.getpid()


@pytest.mark.parametrize(
    ("deed", "why"),
    [
        ("loop", "it took longer than 0.3 seconds"),
        ("hold", "it took longer than 0.3 seconds"),
        ("crash", "the parser crashed (SIGSEGV)"),
        ("kill", "the parser crashed (SIGKILL)"),
        ("exit", "the parser crashed"),
    ],
)
async def test_a_request_that_ends_its_worker_ends_nothing_else(
    pool: WorkerPool, tmp_path: Path, deed: str, why: str
) -> None:
    bad, good = file(tmp_path, f"page0 {deed}", "bad.misbehaving"), file(tmp_path)
    await page(pool, good)
    [before] = pool.pids
    with pytest.raises(WorkerEnded) as caught:
        await page(pool, bad, seconds=0.3)
    assert (caught.value.message, await page(pool, good)) == (why, FINE)
    assert pool.pids != [before]
    assert not is_running(before)


@pytest.mark.parametrize(
    ("deed", "why", "lasting"),
    [
        ("eat", "it needs more memory than a document is given", False),
        ("nest", "it is nested too deep", True),
        ("fail", "the parser failed (KeyError)", True),
        ("break", "its heart is broken", True),
    ],
)
async def test_a_parser_that_gives_up_leaves_the_worker_alive(
    pool: WorkerPool, tmp_path: Path, deed: str, why: str, lasting: bool
) -> None:
    bad, good = file(tmp_path, f"page0 {deed}", "bad.misbehaving"), file(tmp_path)
    with pytest.raises(Unreadable) as caught:
        await page(pool, bad)
    before = pool.pids
    assert (caught.value.message, caught.value.lasting, await page(pool, good)) == (why, lasting, FINE)
    assert pool.pids == before


async def test_a_worker_that_somebody_stops_speaks_not_against_the_file(pool: WorkerPool, tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="its parser was stopped") as caught:
        await page(pool, file(tmp_path, "page0 stop"))
    assert not caught.value.lasting


async def test_an_interrupt_at_the_terminal_is_not_for_workers(pool: WorkerPool, tmp_path: Path) -> None:
    assert await page(pool, file(tmp_path, "page0 interrupt")) == FINE


async def test_what_a_parser_prints_is_not_taken_for_an_answer(pool: WorkerPool, tmp_path: Path) -> None:
    assert await page(pool, file(tmp_path, "page0 print")) == FINE


async def test_a_page_can_be_drawn_and_a_picture_taken_out(pool: WorkerPool, tmp_path: Path) -> None:
    path = file(tmp_path)
    assert await pool.call(request(path, "render", 2, 90)) == b"\x89PNG\x02Z"
    assert codec.decode_picture(await pool.call(request(path, "image", "p0"))) == ("image/png", b"picture")
    assert codec.decode_picture(await pool.call(request(path, "image", "p1"))) is None
    assert codec.decode_outline(await pool.call(request(path, "outline"))) == []


async def test_a_format_without_a_look_says_so(pool: WorkerPool, tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="pages of txt files have no look of their own"):
        await pool.call(request(file(tmp_path, "x", "a.txt"), "render", 0, 90))


async def test_a_file_of_no_known_type_is_told(pool: WorkerPool, tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="it is of no known file type"):
        await page(pool, file(tmp_path, "x", "a.unknown"))


async def test_a_changed_file_is_opened_anew(pool: WorkerPool, tmp_path: Path) -> None:
    path = file(tmp_path, "words before")
    first = await page(pool, path)
    file(tmp_path, "words after!")
    assert [first.elements[0].content, (await page(pool, path)).elements[0].content] == [
        {"text": "before"},
        {"text": "after!"},
    ]


async def test_workers_start_when_needed_and_a_document_stays_with_its_own(tmp_path: Path) -> None:
    pool = WorkerPool(3)
    assert pool.pids == []
    a, b = file(tmp_path, name="a.misbehaving"), file(tmp_path, name="b.misbehaving")
    try:
        await asyncio.gather(*(page(pool, a, index) for index in (0, 1, 2)))
        assert len(pool.pids) == 1
        await asyncio.gather(page(pool, a), page(pool, b))
        assert len(pool.pids) == 2
    finally:
        await pool.close()


async def test_a_busy_worker_does_not_hold_up_the_other_documents(tmp_path: Path) -> None:
    pool = WorkerPool(2)
    slow, good = file(tmp_path, "page0 sleep", "slow.misbehaving"), file(tmp_path)
    try:
        stuck = asyncio.create_task(page(pool, slow, seconds=60))
        await asyncio.sleep(0)
        assert await page(pool, good) == FINE
        assert not stuck.done()
    finally:
        await pool.close()
        with pytest.raises(asyncio.CancelledError):
            await stuck


async def test_work_in_the_background_leaves_a_worker_and_goes_last(tmp_path: Path) -> None:
    pool = WorkerPool(2)
    slow = [file(tmp_path, "page0 sleep", f"{n}.misbehaving") for n in range(3)]
    try:
        stuck = [asyncio.create_task(pool.call(request(path, "page", 0), background=True)) for path in slow]
        await asyncio.sleep(0)
        assert await page(pool, file(tmp_path)) == FINE
    finally:
        await pool.close()
        await asyncio.gather(*stuck, return_exceptions=True)


async def test_a_caller_that_leaves_does_not_spoil_the_next_answer(pool: WorkerPool, tmp_path: Path) -> None:
    path = file(tmp_path)
    await page(pool, path)
    leaver = asyncio.create_task(page(pool, path, 1))
    await asyncio.sleep(0)
    leaver.cancel()
    assert await page(pool, path, 2) == Page(2, "Page 2", (Element("p2", "text", {"text": "Nothing to see"}, "Words"),))


@pytest.mark.parametrize(
    ("code", "error"), [("raise SystemExit(3)", WorkerEnded), (None, TypeError)], ids=["process", "service"]
)
async def test_a_worker_that_cannot_be_started_fails_its_request_alone(
    pool: WorkerPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str | None, error: type[Exception]
) -> None:
    path = file(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(channel, "_CODE", code)
        with pytest.raises(error):
            await page(pool, path)
    assert await page(pool, path) == FINE


SENSELESS = """
import os, struct, sys
for head in [b"", b"[" * 50_000]:
    sys.stdin.buffer.read(*struct.unpack(">I", sys.stdin.buffer.read(4)))
    os.write(1, struct.pack(">II", len(head), 0) + head)
sys.stdin.buffer.read()
"""


async def test_a_worker_whose_answer_makes_no_sense_is_replaced_at_once(
    pool: WorkerPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(channel, "_CODE", SENSELESS)
        with pytest.raises(WorkerEnded, match="the parser crashed"):
            await page(pool, path)
    assert await page(pool, path) == FINE


async def test_a_worker_that_died_idle_is_replaced(pool: WorkerPool, tmp_path: Path) -> None:
    path = file(tmp_path)
    await page(pool, path)
    [pid] = pool.pids
    os.kill(pid, 9)
    await until_gone(pid)
    assert await page(pool, path) == FINE


async def test_a_worker_that_has_grown_is_replaced(tmp_path: Path) -> None:
    pool = WorkerPool(1, tired=1)
    path = file(tmp_path)
    try:
        first = await page(pool, path), pool.pids
        await until_gone(*first[1])
        second = await page(pool, path), pool.pids
        assert (first[0], second[0]) == (FINE, FINE)
        assert first[1] != second[1]
    finally:
        await pool.close()


async def test_a_request_that_meets_a_worker_on_its_way_out_is_read_by_another(tmp_path: Path) -> None:
    pool = WorkerPool(1, tired=1)
    path = file(tmp_path)
    try:
        assert [await page(pool, path) for _ in range(3)] == [FINE, FINE, FINE]
    finally:
        await pool.close()


async def test_idle_workers_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "IDLE_SECONDS", 0.02)
    pool = WorkerPool(1)
    try:
        await page(pool, file(tmp_path))
        await until_gone(*pool.pids)
        assert await page(pool, file(tmp_path)) == FINE
    finally:
        await pool.close()


async def test_closing_ends_every_worker_and_refuses_more(tmp_path: Path) -> None:
    pool = WorkerPool(1)
    await page(pool, file(tmp_path))
    pids = pool.pids
    await pool.close()
    assert not any(map(is_running, pids))
    with pytest.raises(Unreadable, match="the service is closed"):
        await page(pool, file(tmp_path))


async def test_no_worker_takes_the_place_of_one_that_dies_while_the_pool_closes(tmp_path: Path) -> None:
    pool = WorkerPool(1)
    path = file(tmp_path, "page0 sleep")
    await page(pool, path, 1)
    stuck = asyncio.create_task(page(pool, path, 0))
    await asyncio.sleep(0)
    [pid] = pool.pids
    os.kill(pid, 9)
    await pool.close()
    with pytest.raises(asyncio.CancelledError):
        await stuck
    assert (pool.pids, is_running(pid)) == ([], False)


PARENT = """
import asyncio, sys
from pathlib import Path
from a2c_smcp.documents.formats.registry import register
register("tests.documents.hostile.misbehaving")
from tests.unit.documents.test_workers import page, request
from a2c_smcp.documents.workers import WorkerPool

async def main():
    pool = WorkerPool(1)
    await page(pool, Path(sys.argv[1]), 1)
    stuck = asyncio.create_task(page(pool, Path(sys.argv[1]), 0))
    await asyncio.sleep(0.1)
    print(pool.pids[0], flush=True)
    await stuck

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
async def test_no_worker_outlives_a_service_that_is_killed(tmp_path: Path) -> None:
    path = file(tmp_path, "page0 loop")
    parent = subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", PARENT, str(path)], stdout=subprocess.PIPE, cwd=ROOT
    )
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_running(pid)
        parent.kill()
    await until_gone(pid)


async def test_a_worker_has_no_keys_in_its_environment_and_runs_in_no_shared_folder(
    pool: WorkerPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = ("A2C_LLM_API_KEY", "A2C_DOCS_OCR_KEY", "A2C_DIGEST_OCR_KEY", "OPENAI_API_KEY", "PYTHONPATH")
    for name in secrets:
        monkeypatch.setenv(name, "hunter2")
    monkeypatch.chdir(tmp_path)
    await page(pool, file(tmp_path))
    (pid,) = pool.pids
    variables, folder, words = seen_of(pid)
    assert b"hunter2" not in variables
    assert folder == Path("/")
    assert b"-I" in words


def seen_of(pid: int) -> tuple[bytes, Path, list[bytes]]:
    place = Path(f"/proc/{pid}")
    return (
        (place / "environ").read_bytes(),
        (place / "cwd").readlink(),
        (place / "cmdline").read_bytes().split(b"\0"),
    )
