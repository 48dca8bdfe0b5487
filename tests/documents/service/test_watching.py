"""Changes on disk are told soon, a burst at a time."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from a2c_smcp.documents import catalogue_keeper, watching
from a2c_smcp.documents.catalogue import CatalogueChanges
from a2c_smcp.documents.service import DocumentService
from tests.documents.service.conftest import Serve, Write

CAP = 60.0
"""Seconds after which a wait has failed."""


class Listener:
    """Collects what a service tells of changes."""

    def __init__(self, service: DocumentService) -> None:
        self.told: list[CatalogueChanges] = []
        self._news: asyncio.Queue[CatalogueChanges] = asyncio.Queue()
        self.end = service.on_change(self._note)

    def _note(self, changes: CatalogueChanges) -> None:
        self.told.append(changes)
        self._news.put_nowait(changes)

    async def next(self) -> CatalogueChanges:
        return await asyncio.wait_for(self._news.get(), CAP)


@pytest.fixture(params=["told", "looked at"])
def how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Watched by the operating system, or by looking."""
    if request.param == "looked at":

        def missing() -> None:
            raise ModuleNotFoundError("watchfiles")

        monkeypatch.setattr(watching, "_library", missing)
    return str(request.param)


def test_all_pauses_before_a_change_is_told_are_less_than_a_second() -> None:
    assert watching.BURST_MS / 1000 + catalogue_keeper.SETTLE < 1
    assert watching.POLL_SECONDS + catalogue_keeper.SETTLE <= 1


@pytest.mark.usefixtures("how")
async def test_new_changed_and_removed_files_are_told(serve: Serve, write: Write) -> None:
    write("kept.txt", "a")
    gone = write("gone.txt", "b")
    service = await serve(watch=True)
    await service.search("anything")  # the watch has begun once the index is up
    listener = Listener(service)
    write("new.txt", "c")
    write("kept.txt", "changed")
    gone.unlink()
    told = [await listener.next()]
    while len([ref for changes in told for ref in (*changes.added, *changes.removed, *changes.updated)]) < 3:
        told.append(await listener.next())
    assert {ref for changes in told for ref in changes.added} == {"new.txt"}
    assert {ref for changes in told for ref in changes.updated} == {"kept.txt"}
    assert {ref for changes in told for ref in changes.removed} == {"gone.txt"}


async def test_a_name_that_is_no_text_does_not_end_the_watch(serve: Serve, write: Write) -> None:
    first = write("first.txt", "a")
    service = await serve(watch=True)
    await service.search("anything")
    listener = Listener(service)
    odd = os.fsencode(first.parent) + b"/odd-\xff.txt"
    for round_ in range(2):
        os.replace(write(".odd", "x" * (round_ + 1)), odd)  # noqa: PTH105 - a path of bytes
        told = await listener.next()
        assert len((*told.added, *told.updated)) == 1
    write("later.txt", "b")
    assert (await listener.next()).added == ("later.txt",)


async def test_a_burst_is_told_once(serve: Serve, write: Write) -> None:
    service = await serve(watch=True)
    await service.search("anything")
    listener = Listener(service)
    for number in range(100):
        write(f"{number:03}.txt", "x")
    told: list[str] = []
    while len(told) < 100:
        told += (await listener.next()).added
    assert (len(told), len(set(told))) == (100, 100)
    assert len(listener.told) <= 3


@pytest.mark.parametrize("away", [False, True], ids=["replaced", "moved away first"])
async def test_an_editor_that_replaces_a_file_makes_one_update(
    serve: Serve, write: Write, root: Path, away: bool
) -> None:
    path = write("a.txt", "before")
    service = await serve(watch=True)
    await service.search("anything")
    listener = Listener(service)
    new = root / ".a.txt.swp"
    new.write_text("after", encoding="utf-8")
    if away:
        path.rename(root / "a.txt~")
        await asyncio.sleep(0.05)  # an editor that takes its time
    new.rename(path)
    assert await listener.next() == CatalogueChanges(updated=("a.txt",))
    assert (await service.document("a.txt")).summary == "after"
    assert len(listener.told) == 1


async def test_a_single_file_is_watched_although_it_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text("before", encoding="utf-8")
    async with DocumentService([path], host="h", cache=tmp_path / "cache", workers=1) as service:
        await service.search("anything")
        listener = Listener(service)
        for text in ("after", "once more"):
            new = tmp_path / ".new"
            new.write_text(text, encoding="utf-8")
            new.rename(path)
            assert await listener.next() == CatalogueChanges(updated=("one.txt",))


async def test_a_changed_gitignore_takes_effect(serve: Serve, write: Write) -> None:
    write("a.txt", "a")
    service = await serve(watch=True)
    await service.search("anything")
    listener = Listener(service)
    write(".gitignore", "a.txt")
    assert await listener.next() == CatalogueChanges(removed=("a.txt",))


async def test_a_handler_that_fails_or_has_ended_disturbs_nobody(serve: Serve, write: Write) -> None:
    def fail(_: CatalogueChanges) -> None:
        raise RuntimeError("a bug in a handler")

    service = await serve()
    end_failing, ended, listener = service.on_change(fail), Listener(service), Listener(service)
    ended.end()
    ended.end()
    write("a.txt", "a")
    await service.documents()
    end_failing()
    assert (ended.told, listener.told) == ([], [CatalogueChanges(added=("a.txt",))])


async def test_a_folder_that_cannot_be_watched_is_looked_at(
    serve: Serve, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Exhausted:
        async def awatch(self, *_: object, **__: object) -> AsyncIterator[None]:
            for number in (28,):
                raise OSError(number, "no more watches")
            yield

    monkeypatch.setattr(watching, "_library", Exhausted)
    service = await serve(watch=True)
    listener = Listener(service)
    write("a.txt", "a")
    assert await listener.next() == CatalogueChanges(added=("a.txt",))


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/root/a.txt", True),
        ("/root/sub/a.txt", True),
        ("/root/.gitignore", True),
        ("/root/.a.txt.swp", False),
        ("/root/.git/index", False),
        ("/root/sub/node_modules/a.md", False),
        ("/elsewhere/a.txt", False),
    ],
)
def test_changes_in_folders_nobody_reads_are_not_looked_after(path: str, seen: bool) -> None:
    assert watching._Visible([Path("/root")])(None, path.replace("/", os.sep)) is seen
