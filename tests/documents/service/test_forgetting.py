"""The text of a file that is deleted or no longer shared leaves the disk."""

from collections.abc import Callable
from pathlib import Path

import pytest

from a2c_smcp.documents.service import DocumentService
from tests.documents.service.conftest import Make, Write

SECRET = "quixoticzebra"
TEXT = f"# Plans\n\nThe {SECRET} leaves at dawn, and {SECRET}ly so.\n"


def traces(cache: Path) -> list[str]:
    """The files of the cache that still hold the text."""
    return [path.name for path in cache.iterdir() if SECRET[3:].encode() in path.read_bytes()]


async def read_and_index(service: DocumentService, name: str) -> None:
    await service.page(name, 0)
    assert await service.search(SECRET)


def deleted(path: Path) -> None:
    path.unlink()


def rewritten(path: Path) -> None:
    path.write_text("# Plans\n\nNothing to see.\n", encoding="utf-8")


def moved_out(path: Path) -> None:
    path.rename(path.parents[1] / path.name)


@pytest.mark.parametrize("leave", [deleted, rewritten, moved_out])
async def test_a_file_that_leaves_while_the_service_runs_leaves_cache_and_index(
    make: Make, write: Write, tmp_path: Path, leave: Callable[[Path], None]
) -> None:
    path = write("plans.md", TEXT)
    write("other.md", "# Other\n\nNothing of note.\n")
    async with make() as service:
        await read_and_index(service, "plans.md")
        leave(path)
        assert await service.search(SECRET) == []
        await service.documents()
    assert traces(tmp_path / "cache") == []


async def test_a_file_that_left_while_no_service_ran_is_forgotten_by_the_next(
    make: Make, write: Write, tmp_path: Path
) -> None:
    path = write("plans.md", TEXT)
    async with make() as service:
        await read_and_index(service, "plans.md")
    assert traces(tmp_path / "cache") != []
    path.unlink()
    async with make() as service:
        assert await service.search(SECRET) == []
    assert traces(tmp_path / "cache") == []


async def test_a_file_that_is_excluded_is_forgotten(make: Make, write: Write, tmp_path: Path) -> None:
    write("plans.md", TEXT)
    async with make() as service:
        await read_and_index(service, "plans.md")
    async with make(excludes=["plans.md"]) as service:
        assert await service.search(SECRET) == []
    assert traces(tmp_path / "cache") == []


async def test_a_text_that_another_file_still_has_stays(make: Make, write: Write, tmp_path: Path) -> None:
    path = write("plans.md", TEXT)
    write("copy/plans.md", TEXT)
    async with make() as service:
        await read_and_index(service, "plans.md")
        path.unlink()
        (hit, *_) = await service.search(SECRET)
        assert hit.doc_ref == "copy-plans.md"
    assert traces(tmp_path / "cache") != []


async def test_the_text_leaves_while_the_service_still_runs(make: Make, write: Write, tmp_path: Path) -> None:
    path = write("plans.md", TEXT)
    async with make() as service:
        await read_and_index(service, "plans.md")
        path.unlink()
        assert await service.search(SECRET) == []
        await service._extraction._on_disk(lambda: None)  # what was begun before is done
        assert traces(tmp_path / "cache") == []
