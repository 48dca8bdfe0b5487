"""Files that change, come and go are seen by whoever asks."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.documents import catalogue_keeper
from a2c_smcp.documents.catalogue import CataloguedFile, scan
from a2c_smcp.errors import DocumentError, DocumentNotFound
from tests.documents.service.conftest import Serve, Write


async def test_a_changed_file_is_read_anew(serve: Serve, write: Write) -> None:
    write("a.txt", "before")
    service = await serve()
    before = await service.page("a.txt", 0)
    write("a.txt", "after!")
    after = await service.page("a.txt", 0)
    assert [page.elements[0].content["text"] for page in (before, after)] == ["before", "after!"]


async def test_new_and_removed_files_show_when_they_are_asked_for(serve: Serve, write: Write) -> None:
    write("a.txt", "a")
    service = await serve()
    write("b.txt", "b")
    assert (await service.document("b.txt")).summary == "b"
    (write("c.txt", "c")).unlink()
    assert json.loads((await service.read(service.uri)).text)["total_count"] == 2


async def test_a_file_that_is_gone_is_not_found(serve: Serve, write: Write) -> None:
    path = write("a.txt", "a")
    service = await serve()
    await service.document("a.txt")
    path.unlink()
    with pytest.raises(DocumentNotFound):
        await service.page("a.txt", 0)


async def test_a_link_that_takes_the_place_of_a_file_leads_nowhere(serve: Serve, write: Write, tmp_path: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("secret", encoding="utf-8")
    path = write("a.txt", "a")
    service = await serve()
    await service.document("a.txt")
    path.unlink()
    path.symlink_to(outside)
    with pytest.raises(DocumentNotFound):
        await service.page("a.txt", 0)


def _become_a_link(folder: Path, elsewhere: Path) -> None:
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere, target_is_directory=True)


async def test_a_root_that_becomes_a_link_is_empty(serve: Serve, write: Write, root: Path, tmp_path: Path) -> None:
    write("a.txt", "a")
    service = await serve()
    _become_a_link(root, tmp_path / "elsewhere")
    assert await service.documents() == []


async def test_a_page_that_was_not_read_before_the_file_changed_is_the_new_one(serve: Serve, write: Write) -> None:
    write("a.misbehaving", "words before")
    service = await serve()
    await service.page("a.misbehaving", 0)
    write("a.misbehaving", "words after!")
    assert (await service.page("a.misbehaving", 1)).elements[0].content == {"text": "after!"}


@pytest.mark.parametrize("link", [False, True])
async def test_no_further_page_is_read_of_a_file_that_is_gone(
    serve: Serve, write: Write, tmp_path: Path, link: bool
) -> None:
    path = write("a.misbehaving", "")
    service = await serve()
    await service.page("a.misbehaving", 0)
    path.rename(tmp_path / "elsewhere.misbehaving")
    if link:
        path.symlink_to(tmp_path / "elsewhere.misbehaving")
    with pytest.raises(DocumentNotFound):
        await service.page("a.misbehaving", 1)


async def test_a_file_that_never_rests_is_told(serve: Serve, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.misbehaving", "")
    service = await serve()
    await service.page("a.misbehaving", 0)
    times = itertools.count(1)

    def scan_and_write(*arguments: Any) -> dict[str, CataloguedFile]:
        found = scan(*arguments)
        write("a.misbehaving", "words " + "x" * next(times))
        return found

    monkeypatch.setattr(catalogue_keeper, "scan", scan_and_write)
    await service.complete_refs()
    with pytest.raises(DocumentError, match="keeps changing"):
        await service.page("a.misbehaving", 1)


async def test_a_large_tree_is_looked_at_again_after_a_second(
    serve: Serve, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue_keeper, "CHEAP_SCAN", -1)
    service = await serve()
    write("a.txt", "a")
    assert await service.documents() == []
    monkeypatch.setattr(catalogue_keeper, "STALE", -1)
    assert len(await service.documents()) == 1
