"""Somebody swaps a folder for a link to another while the service scans and reads: nothing from outside comes out."""

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from a2c_smcp.documents import workers
from a2c_smcp.documents.descriptors import Descriptor
from a2c_smcp.documents.worker_main import WorkerRequest
from a2c_smcp.errors import SMCPError
from tests.documents.service.conftest import HOST, Serve, Write

import pytest  # isort: skip

SECONDS = 4.0
SECRET = "the outside secret"


@contextmanager
def swapped_again_and_again(folder: Path, outside: Path) -> Iterator[None]:
    """Make `folder` now a folder, now a link to `outside`, dozens of times a second."""
    real, link = folder.with_name(".real"), folder.with_name(".link")
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            link.symlink_to(outside, target_is_directory=True)
            folder.rename(real)
            link.rename(folder)
            folder.unlink()
            real.rename(folder)
            over.wait(0.02)  # or nothing could ever be read

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


async def test_no_file_outside_is_read_or_listed_while_a_folder_is_swapped_for_a_link(
    serve: Serve, write: Write, root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for number in range(3):
        name = f"file{number}.txt"
        write(f"folder/{name}", "inside words")
        (outside / name).write_text(SECRET, encoding="utf-8")
        status = (root / "folder" / name).stat()
        os.utime(outside / name, ns=(status.st_atime_ns, status.st_mtime_ns))
    (outside / "only-outside.txt").write_text(SECRET, encoding="utf-8")
    service = await serve(workers=2)
    told: list[str] = []
    end = time.monotonic() + SECONDS
    with swapped_again_and_again(root / "folder", outside):
        while time.monotonic() < end:
            reads = [service.read(f"dpe://{HOST}"), *(service.read(uri(n)) for n in range(3))]
            for outcome in await asyncio.gather(*reads, return_exceptions=True):
                if isinstance(outcome, BaseException):
                    assert isinstance(outcome, SMCPError), outcome
                else:
                    told.append(outcome.text)
    assert any("inside words" in text for text in told)
    assert not any(SECRET in text or "only-outside" in text for text in told)


def uri(number: int) -> str:
    return f"dpe://{HOST}/folder-file{number}.txt/pages/0"


async def test_a_worker_reads_the_file_that_was_opened_and_not_the_path(
    serve: Serve, write: Write, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("folder/file0.txt", "inside words")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file0.txt").write_text(SECRET, encoding="utf-8")
    real = workers.open_requested

    def open_then_swap(request: WorkerRequest) -> Descriptor:
        opened = real(request)
        with contextlib.suppress(OSError):
            (root / "folder").rename(root / ".moved")
            (root / "folder").symlink_to(tmp_path / "outside", target_is_directory=True)
        return opened

    service = await serve(index=False)
    monkeypatch.setattr(workers, "open_requested", open_then_swap)
    with contextlib.suppress(SMCPError):
        assert "inside words" in (await service.read(uri(0))).text
    with pytest.raises(SMCPError):
        await service.read(uri(0).replace("/pages/0", "/pages/0?format=text"))
