"""Several digests in one folder, and links that somebody planted there."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.cli.digest_tool import DigestingService
from a2c_smcp.digest import folders
from a2c_smcp.digest.folders import STATE, claimed, directory, own_name, write
from a2c_smcp.digest.llm_proxy import LlmProxy, LlmSettings
from a2c_smcp.digest.pipeline import Pipeline
from a2c_smcp.errors import BadRequest, DocumentError, RequestTimeout
from tests.interaction.digest.making import PICTURE, pdf, words

NO_MODEL = LlmProxy(LlmSettings())
CAP = 100


def run(path: Path, out_dir: Path, **more: Any) -> dict[str, Any]:
    params = {"pdf_path": str(path), "out_dir": str(out_dir), "dpi": 40, "ocr": False, **more}
    return dict(Pipeline(llm=NO_MODEL).run(params))


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two PDFs of the same name."""
    places = tmp_path / "a" / "report.pdf", tmp_path / "b" / "report.pdf"
    for number, place in enumerate(places, start=1):
        place.parent.mkdir()
        pdf(place, [words(number * 100), words(number * 100 + 1) + (PICTURE if number == 2 else b"")])
    return places


@pytest.mark.rule("8.5")
def test_two_pdfs_in_one_folder_keep_out_of_each_others_way(tmp_path: Path, two: tuple[Path, Path]) -> None:
    out = tmp_path / "out"
    first = run(two[0], out)["data"]
    before = {path: path.read_bytes() for path in Path(first["folder"]).iterdir() if path.is_file()}
    second = run(two[1], out)["data"]
    assert {Path(first["folder"]).parent, Path(second["folder"]).parent} == {out}
    assert first["folder"] != second["folder"]
    assert {path: path.read_bytes() for path in before} == before
    assert "page 200" in Path(second["output_md"]).read_text()
    again = run(two[0], out)["data"]
    assert (again["folder"], again["output_md"]) == (first["folder"], first["output_md"])


@pytest.mark.rule("8.5")
def test_two_pdfs_at_once_in_one_folder_are_both_whole(tmp_path: Path, two: tuple[Path, Path]) -> None:
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda path: run(path, tmp_path / "out")["data"], [*two, *two]))
    texts = [Path(data["output_md"]).read_text() for data in made]
    assert ["page 100" in text for text in texts] == [True, False, True, False]
    assert all(Path(image).is_file() for data in made for image in data["page_images"])


def test_a_folder_that_is_another_pdfs_is_refused(tmp_path: Path, two: tuple[Path, Path]) -> None:
    out = tmp_path / "out"
    assert run(two[0], out, folder=".")["ok"]
    refused = run(two[1], out, folder=".")
    assert (refused["ok"], "holds the digest of 'report.pdf'" in refused["error"]) == (False, True)
    existing = run(two[1], out, use_existing_images=True)
    assert (existing["ok"], "no images of this PDF" in existing["error"]) == (False, True)


def test_a_new_version_of_a_pdf_takes_nothing_of_the_old_one(tmp_path: Path) -> None:
    path, out = pdf(tmp_path / "a.pdf", [words(1), words(2), words(3)]), tmp_path / "out"
    run(path, out, folder=".")
    (out / "mine.png").write_bytes(b"x")
    pdf(path, [words(7)])
    data = run(path, out, folder=".")["data"]
    assert sorted(image.name for image in out.glob("*.png")) == ["mine.png", "page1.png"]
    assert "page 7" in Path(data["output_md"]).read_text()


def test_a_pdf_that_was_moved_with_its_digest_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    path = pdf(tmp_path / "old" / "a.pdf", [words(1)])
    assert run(path, tmp_path / "old" / "out", folder=".")["ok"]
    shutil.move(tmp_path / "old", tmp_path / "new")
    pdf(tmp_path / "new" / "a.pdf", [words(2)])
    assert run(tmp_path / "new" / "a.pdf", tmp_path / "new" / "out", folder=".")["ok"]


def test_without_a_folder_the_digest_lies_beside_the_pdf(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", [words(1)])
    params = {"pdf_path": str(path), "dpi": 40, "ocr": False}
    data = Pipeline(llm=NO_MODEL).run(params)["data"]
    assert data is not None
    assert data["output_md"] == str(tmp_path / "a_digest" / "a.md")


@pytest.mark.parametrize("folder", ["../out", "/tmp/x", "a/../../b"])
def test_a_folder_outside_is_refused(tmp_path: Path, folder: str) -> None:
    response = run(pdf(tmp_path / "a.pdf", [words(1)]), tmp_path / "out", folder=folder)
    assert (response["ok"], "must be a path inside out_dir" in response["error"]) == (False, True)


@pytest.mark.parametrize("planted", ["own", "state", "picture", "digest"])
def test_a_planted_link_is_not_followed(tmp_path: Path, planted: str) -> None:
    path, out, other = pdf(tmp_path / "a.pdf", [words(1)]), tmp_path / "out", tmp_path / "other"
    other.mkdir()
    (other / "victim").write_text("untouched")
    own = out / own_name(path)
    place = {"own": own, "state": own / STATE, "picture": own / "page1.png", "digest": own / "a.md"}[planted]
    place.parent.mkdir(parents=True)
    place.symlink_to(other if planted in ("own", "state") else other / "victim")
    response = run(path, out)
    assert [(file.name, file.read_text()) for file in other.iterdir()] == [("victim", "untouched")]
    assert response["ok"] is (planted in ("picture", "digest"))
    if not response["ok"]:
        assert "is a symbolic link or a file where a folder is needed" in response["error"]
    else:
        assert not place.is_symlink()


def test_another_run_in_the_same_folder_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "LOCK_SECONDS", 0.0)
    with (
        claimed(tmp_path, "own", owner="a", content="1"),
        pytest.raises(RequestTimeout, match="Another run is working in"),
        claimed(tmp_path, "own", owner="a", content="1"),
    ):
        pass
    with claimed(tmp_path, "own", owner="a", content="1") as claim:
        assert claim.path == tmp_path / "own"


def test_a_file_is_written_into_no_linked_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(OSError, match="link"):
        write(tmp_path / "link" / "x", b"data")
    with pytest.raises(BadRequest, match="symbolic link"):
        directory(tmp_path, "link")
    assert list((tmp_path / "real").iterdir()) == []


async def _told(_: float, __: float | None, ___: str) -> None:
    pass


async def test_a_link_planted_among_the_digests_of_a_server_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    pdf(tmp_path / "docs" / "a.pdf", [words(1)])
    other, digests = tmp_path / "other", tmp_path / "digests"
    other.mkdir()
    service = DigestingService([tmp_path / "docs"], digests, host="h", cache=tmp_path / "cache", workers=1, watch=False)
    async with service, asyncio.timeout(CAP):
        (document,) = await service.documents()
        (digests / ".images").mkdir()
        (digests / ".images" / "a").symlink_to(other)
        with pytest.raises(DocumentError, match="symbolic link"):
            await service.digest(document.doc_ref, section_ranges=None, dpi=40, tell=_told)
        assert list(other.iterdir()) == []
        # Nor is one read that takes the place of a picture.
        (digests / ".images" / "a").unlink()
        made = await service.digest(document.doc_ref, section_ranges=None, dpi=40, tell=_told)
        shown = await _image_of(service, made.doc_ref)
        kind, data = await service.element_image(made.doc_ref, shown)
        assert (kind, data) == ("image/png", (digests / ".images" / "a" / "page1.png").read_bytes())
        (other / "secret.png").write_bytes(data)
        (digests / ".images" / "a" / "page1.png").unlink()
        (digests / ".images" / "a" / "page1.png").symlink_to(other / "secret.png")
        with pytest.raises(DocumentError, match="picture"):
            await service.element_image(made.doc_ref, shown)


async def _image_of(service: DigestingService, doc_ref: str) -> str:
    for entry in await service.entries(doc_ref, 0, 10):
        for element in (await service.page(doc_ref, entry.index)).elements:
            if element.category == "image":
                return element.id
    raise AssertionError("no image")


def test_two_commands_at_once_end_well(tmp_path: Path, two: tuple[Path, Path]) -> None:
    words_of = ["--out_dir", str(tmp_path / "out"), "--dpi", "40", "--no_ocr", "--no_model", "--quiet", "--json"]
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "a2c_smcp.cli", "digest", "--pdf", str(path), *words_of],
            stdout=subprocess.PIPE,
            env={**os.environ, "A2C_LLM_BASE_URL": ""},
        )
        for path in (*two, two[0])
    ]
    answers = [json.loads(one.communicate(timeout=CAP)[0]) for one in runs]
    assert [(answer["ok"], answer["data"]["status"]) for answer in answers] == [(True, "complete")] * 3
    assert answers[0]["data"]["folder"] == answers[2]["data"]["folder"] != answers[1]["data"]["folder"]
