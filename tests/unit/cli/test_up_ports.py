"""The ports of `a2c up`: the same the next time, the next free one where another program has them."""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from a2c_smcp.cli.up_ports import FILE, Ports
from a2c_smcp.errors import InvalidConfig
from a2c_smcp.web.listening import bind, url_of

ROOTS = (Path("/documents"),)


@pytest.fixture(autouse=True)
def own_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ports that no other test, and no `a2c up` of this machine, looks for."""
    monkeypatch.setattr("a2c_smcp.cli.up_ports.FIRST", 12_000 + os.getpid() % 150 * 100)


@asynccontextmanager
async def serve(port: int) -> AsyncIterator[str]:
    sockets = bind("127.0.0.1", port)
    try:
        yield url_of("127.0.0.1", sockets)
    finally:
        for one in sockets:
            one.close()


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


async def opened(folder: Path, roots: tuple[Path, ...] = ROOTS, named: int | None = None) -> tuple[int, int, list[str]]:
    ports = Ports(folder, roots)
    async with AsyncExitStack() as stack:
        server = port_of(await ports.open(stack, "server", named, serve))
        console = port_of(await ports.open(stack, "console", None, serve))
        ports.remember()
    return server, console, ports.notes


async def test_a_folder_keeps_its_ports(tmp_path: Path) -> None:
    first = await opened(tmp_path)
    assert first[0] != first[1]
    assert await opened(tmp_path) == (*first[:2], [])
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0


async def test_another_folder_has_other_ports_although_those_are_free(tmp_path: Path) -> None:
    first, other = await opened(tmp_path), await opened(tmp_path, (Path("/papers"),))
    assert not set(first[:2]) & set(other[:2])


async def test_a_port_that_is_taken_gives_way_to_the_next_and_that_is_said(tmp_path: Path) -> None:
    server, console, _ = await opened(tmp_path)
    with socket.create_server(("127.0.0.1", server)):
        now, then, notes = await opened(tmp_path)
    assert now > server
    assert then == console or len(notes) == 2
    assert notes[0].startswith(f"port {server} is taken by another program: the server is at port {now} this time")
    assert await opened(tmp_path) == (server, console, [])


async def test_a_port_that_was_named_is_used_or_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(InvalidConfig, match="is in use"):
        await opened(tmp_path, named=taken.getsockname()[1])
    assert (await opened(tmp_path, named=0))[0] > 0


@pytest.mark.parametrize("text", ["no json", "[]", '{"x": 1}', '{"x": {"server": "many"}}'])
async def test_a_file_that_cannot_be_read_is_replaced(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).touch(mode=0o600)
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    first = await opened(tmp_path)
    assert await opened(tmp_path) == first
