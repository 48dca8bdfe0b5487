"""A watched file, edited in every way that editors, people and deployments edit files."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.computer import LoadedConfig
from a2c_smcp.computer.config import ConfigFile
from a2c_smcp.errors import InvalidConfig
from tests.unit.computer.config.builders import claude, commands_of, native, put

WAYS = pytest.mark.parametrize("native_events", [True, False], ids=["told by the system", "looking now and then"])


class Watch:
    """What a watched file was found to say, one state after the other."""

    def __init__(self, states: Any) -> None:
        self._states = states

    async def next(self) -> dict[str, Any] | str:
        """The next state: what each server runs, or the problem."""
        async with asyncio.timeout(60):
            state = await anext(self._states)
        return state.message if isinstance(state, InvalidConfig) else commands_of(state.config)


@asynccontextmanager
async def watching(path: Path, *, native_events: bool, grace: float = 0.3, **more: Any) -> AsyncIterator[Watch]:
    """Watch a file that has been read. Where the system tells of changes, nothing else does."""
    more = {"interval": 600 if native_events else 0.02} | more
    file = ConfigFile(path, native_events=native_events, grace=grace, **more)
    file.load()
    queue: asyncio.Queue[LoadedConfig | InvalidConfig] = asyncio.Queue()

    async def fill() -> None:
        async with aclosing(file.watch()) as states:
            async for state in states:
                queue.put_nowait(state)

    async def drain() -> AsyncIterator[LoadedConfig | InvalidConfig]:
        while True:
            yield await queue.get()

    task = asyncio.create_task(fill())
    try:
        yield Watch(drain())
    finally:
        task.cancel()
        await asyncio.wait([task])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "computer.json"
    path.write_text(native(a="1"), encoding="utf-8")
    return path


def write(path: Path, text: str) -> None:
    """Write into the file itself, as `echo >` does."""
    path.write_text(text, encoding="utf-8")


def rename(path: Path, text: str) -> None:
    """Move the old file away first, as vim does with its backups."""
    path.rename(path.with_suffix(".bak"))
    path.write_text(text, encoding="utf-8")


def remove(path: Path) -> None:
    path.unlink()


@pytest.mark.rule("5.3")
@WAYS
@pytest.mark.parametrize("edit", [write, put, rename])
async def test_an_edit_is_seen(edit: Callable[[Path, str], None], native_events: bool, path: Path) -> None:
    async with watching(path, native_events=native_events) as watch:
        for number in "234":
            edit(path, native(a=number))
            assert await watch.next() == {"a": number}


@WAYS
async def test_a_file_that_says_the_same_is_no_change(native_events: bool, path: Path) -> None:
    async with watching(path, native_events=native_events) as watch:
        os.utime(path)
        put(path, native(a="1"))
        put(path, native(a="1").replace("\n", "") + "// a comment")
        put(path, native(a="2"))
        assert await watch.next() == {"a": "2"}


@WAYS
async def test_another_order_of_servers_is_a_change(native_events: bool, path: Path) -> None:
    put(path, native(a="1", b="1"))
    async with watching(path, native_events=native_events) as watch:
        put(path, native(b="1", a="1"))
        state = await watch.next()
        assert list(state) == ["b", "a"]


@WAYS
async def test_a_change_before_watching_began_is_seen(native_events: bool, path: Path) -> None:
    file = ConfigFile(path, native_events=native_events, interval=0.05)
    file.load()
    put(path, native(a="2"))
    async with aclosing(file.watch()) as states:
        assert await Watch(states).next() == {"a": "2"}


@pytest.mark.rule("5.3")
async def test_a_burst_of_edits_is_one_change(path: Path) -> None:
    async with watching(path, native_events=True) as watch:
        put(path, native(a="start"))
        assert await watch.next() == {"a": "start"}
        for number in range(50):
            put(path, native(a=str(number)))
        put(path, native(a="end"))
        # No awaiting in between: all of them are over before the watcher can look.
        assert await watch.next() == {"a": "end"}
        put(path, native(a="after"))
        assert await watch.next() == {"a": "after"}


@WAYS
async def test_a_file_half_written_for_a_moment_is_no_problem(native_events: bool, path: Path) -> None:
    async with watching(path, native_events=native_events, grace=20) as watch:
        whole = native(a="2")
        write(path, "")
        write(path, whole[:20])
        await asyncio.to_thread(write, path, whole)
        assert await watch.next() == {"a": "2"}


@WAYS
async def test_a_file_that_stays_broken_is_told_once_and_then_that_it_is_mended(
    native_events: bool, path: Path
) -> None:
    async with watching(path, native_events=native_events, grace=0) as watch:
        put(path, '{"servers": {')
        problem = await watch.next()
        assert isinstance(problem, str)
        assert problem.startswith(f"{path}:")
        put(path, '{"servers": {')
        put(path, native(a="1"))
        assert await watch.next() == {"a": "1"}


@WAYS
async def test_a_file_that_goes_is_told_and_seen_when_it_is_back(native_events: bool, path: Path) -> None:
    async with watching(path, native_events=native_events, grace=0) as watch:
        remove(path)
        assert await watch.next() == f"{path}: does not exist; check the path"
        write(path, native(a="2"))
        assert await watch.next() == {"a": "2"}


@WAYS
async def test_a_file_that_is_gone_for_a_moment_only_is_no_problem(native_events: bool, path: Path) -> None:
    async with watching(path, native_events=native_events, grace=20) as watch:
        remove(path)
        await asyncio.to_thread(write, path, native(a="2"))
        assert await watch.next() == {"a": "2"}


@WAYS
async def test_an_optional_file_may_come_and_go(native_events: bool, tmp_path: Path) -> None:
    path = tmp_path / "computer.json"
    async with watching(path, native_events=native_events, optional=True) as watch:
        put(path, native(a="1"))
        assert await watch.next() == {"a": "1"}
        remove(path)
        assert await watch.next() == {}


@WAYS
async def test_a_link_that_leads_elsewhere_is_seen(native_events: bool, tmp_path: Path) -> None:
    for number in ("1", "2"):
        (tmp_path / number).mkdir()
        (tmp_path / number / "real.json").write_text(native(a=number))
    link = tmp_path / "computer.json"
    link.symlink_to("1/real.json")
    async with watching(link, native_events=native_events) as watch:
        (tmp_path / "new").symlink_to("2/real.json")
        (tmp_path / "new").rename(link)
        assert await watch.next() == {"a": "2"}
        # What the link leads to now is watched as well, and what it led to before is not.
        put(tmp_path / "1" / "real.json", native(a="old"))
        put(tmp_path / "2" / "real.json", native(a="3"))
        assert await watch.next() == {"a": "3"}


@WAYS
async def test_a_volume_that_is_swapped_as_a_whole_is_seen(native_events: bool, tmp_path: Path) -> None:
    """A mounted configuration is updated so: `computer.json` → `..data/computer.json`, `..data` → a dated folder."""
    for number in ("1", "2", "3"):
        (tmp_path / f"..{number}").mkdir()
        (tmp_path / f"..{number}" / "computer.json").write_text(native(a=number))
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "computer.json").symlink_to("..data/computer.json")
    async with watching(tmp_path / "computer.json", native_events=native_events) as watch:
        for number in ("2", "3"):
            (tmp_path / "..tmp").symlink_to(f"..{number}")
            (tmp_path / "..tmp").rename(tmp_path / "..data")
            assert await watch.next() == {"a": number}


@WAYS
async def test_a_folder_that_is_replaced_is_followed(native_events: bool, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "computer.json"
    write(path, native(a="1"))
    async with watching(path, native_events=native_events, grace=0, interval=0.02) as watch:
        folder.rename(tmp_path / "old")
        assert await watch.next() == f"{path}: does not exist; check the path"
        folder.mkdir()
        write(path, native(a="2"))
        assert await watch.next() == {"a": "2"}
        put(path, native(a="3"))
        assert await watch.next() == {"a": "3"}


@pytest.mark.rule("5.4.claude")
@WAYS
async def test_a_file_that_becomes_one_of_another_program_is_a_change(native_events: bool, path: Path) -> None:
    async with watching(path, native_events=native_events) as watch:
        put(path, claude(a="1"))
        assert await watch.next() == {"a": "1"}


async def test_without_the_library_that_listens_the_file_is_looked_at(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "watchfiles", None)
    async with watching(path, native_events=True, interval=0.02) as watch:
        put(path, native(a="2"))
        assert await watch.next() == {"a": "2"}


async def test_what_happens_beside_the_file_is_nobody_s_business(path: Path) -> None:
    file = ConfigFile(path, interval=600)
    file.load()
    async with aclosing(file._events()) as told:
        put(path.with_name("other.json"), "x")
        beside = asyncio.ensure_future(anext(told))
        await asyncio.to_thread(put, path.with_name("another.json"), "x")
        put(path, native(a="2"))
        async with asyncio.timeout(60):
            assert await beside is True
        assert commands_of(file.load().config) == {"a": "2"}
