"""Files that mean harm: each is an entry or a page with a clear word, and the service goes on."""

import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from a2c_smcp.documents.formats.registry import format_of
from a2c_smcp.documents.model import Document
from a2c_smcp.documents.service import DocumentService
from a2c_smcp.errors import DocumentError
from tests.documents.hostile import making

Serve = Callable[..., Awaitable[DocumentService]]
Write = Callable[[str, str | bytes], Path]

SECRET = "the-secret-of-the-host"
PARTS = {"docx": "word/document.xml", "xlsx": "xl/workbook.xml", "pptx": "ppt/presentation.xml"}
SUFFIXES = [
    "pdf",
    "docx",
    "xlsx",
    "xls",
    "pptx",
    "epub",
    "png",
    "jpg",
    "html",
    "eml",
    "ipynb",
    "json",
    "csv",
    "md",
    "py",
]


async def everything(service: DocumentService) -> dict[str, str]:
    """Read the catalogue and the first pages of all; return what each document gave, errors included."""
    told: dict[str, str] = {}
    for document in await service.documents():
        texts = [document.summary, document.title]
        for index in range(min(document.page_count, 3)):
            try:
                texts.append((await service.read(f"{service.uri}/{document.doc_ref}/pages/{index}")).text)
            except DocumentError as error:
                texts.append(error.message)
        told[document.doc_ref] = "\n".join(texts)
    return told


def entries(documents: list[Document]) -> dict[str, tuple[int, bool]]:
    """Return the page count of each, and whether it says that it cannot be read."""
    return {
        document.doc_ref: (document.page_count, document.summary.startswith("Cannot be read: "))
        for document in documents
        if document.doc_ref != "good.txt"
    }


async def check(service: DocumentService) -> dict[str, str]:
    """Read everything; the good document among the others must be as it was, and nothing may name the host."""
    told = await everything(service)
    assert "Good words." in told["good.txt"]
    roots = [str(root) for root in service._roots]
    assert not any(root in text for text in told.values() for root in roots if "file:" not in text)
    return told


@pytest.fixture(autouse=True)
def good(write: Write) -> None:
    write("good.txt", "Good words.")


@pytest.fixture
async def service(serve: Serve) -> DocumentService:
    return await serve(deadline=20.0, memory=1 << 30, workers=2)


def known(*suffixes: str) -> list[str]:
    return [suffix for suffix in suffixes if format_of(f"a.{suffix}")]


async def test_archives_that_grow_a_thousandfold_are_refused(serve: Serve, write: Write) -> None:
    big = b"<w>" + b" " * (150 * making.MIB)
    for suffix, part in PARTS.items():
        write(f"bomb.{suffix}", making.office(part, big))
    write("bomb.epub", making.epub(big))
    write("liar.docx", making.liar(making.office(PARTS["docx"], big), PARTS["docx"]))
    del big
    service = await serve(deadline=20.0, memory=1 << 30, workers=2)
    told = entries(await service.documents())
    assert told == {f"{name}": (0, True) for name in ("bomb.docx", "bomb.xlsx", "bomb.pptx", "bomb.epub", "liar.docx")}
    await check(service)


async def test_xml_that_grows_or_reaches_out_is_refused(serve: Serve, write: Write, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(SECRET, encoding="utf-8")
    for suffix, part in PARTS.items():
        write(f"laughs.{suffix}", making.office(part, making.laughs("document")))
        write(f"external.{suffix}", making.office(part, making.external("document", secret.as_uri())))
    write("laughs.epub", making.epub(making.laughs("package")))
    write("external.epub", making.epub(making.external("package", secret.as_uri())))
    write("laughs.html", making.laughs("html"))
    write("external.html", making.external("html", secret.as_uri()))
    service = await serve(deadline=20.0, memory=1 << 30, workers=2)
    told = await check(service)
    assert not any(SECRET in text or "lollollol" in text for text in told.values())
    office = {ref: entry for ref, entry in entries(await service.documents()).items() if not ref.endswith("html")}
    assert set(office.values()) == {(0, True)}


async def test_pdf_bombs_cost_their_page_alone(serve: Serve, write: Write) -> None:
    write("huge.pdf", making.pdf(making.words("huge page"), box="0 0 200000 200000"))
    write("stream.pdf", making.pdf(making.deflated(300, 2), filters="/Filter [/FlateDecode /FlateDecode]"))
    write("operators.pdf", making.pdf(b"0 0 m 9 9 l S\n" * 100_000))
    write("loop.pdf", making.pdf(making.words("x")).replace(b"/Kids [3 0 R]", b"/Kids [2 0 R]"))
    service = await serve(deadline=20.0, memory=512 << 20, workers=2)
    told = await check(service)
    assert set(told) == {"huge.pdf", "stream.pdf", "operators.pdf", "loop.pdf", "good.txt"}
    for ref in ("huge.pdf", "stream.pdf", "operators.pdf"):
        with suppress(DocumentError):  # too large to be drawn, or drawn small
            assert len(await service.render_page(ref, 0, 300)) < 50 * making.MIB
    await check(service)


async def test_a_locked_pdf_says_so_and_opens_with_its_password(serve: Serve, write: Write) -> None:
    write("locked.pdf", making.locked_pdf("Treasure island", "sesame"))
    locked = await serve()
    document = await locked.document("locked.pdf")
    assert (document.page_count, "password" in document.summary) == (0, True)
    opened = await serve(passwords=lambda _: "sesame")
    assert "Treasure island" in (await opened.read(f"{opened.uri}/locked.pdf/pages/0")).text


async def test_empty_files_of_every_kind_are_entries_without_pages_or_with_an_empty_one(
    service: DocumentService, write: Write
) -> None:
    for suffix in known(*SUFFIXES):
        write(f"empty.{suffix}", b"")
    documents = await service.documents()
    assert len(documents) == len(known(*SUFFIXES)) + 1
    assert all(document.page_count <= 1 and document.summary for document in documents)
    await check(service)


async def test_noise_and_cut_files_of_every_kind_are_entries_that_say_so(
    service: DocumentService, write: Write
) -> None:
    noise = bytes((n * n * 31 + n // 7) % 251 for n in range(20_000))
    whole = {
        **{suffix: making.office(part, "<x/>") for suffix, part in PARTS.items()},
        "epub": making.epub("<package/>"),
        "pdf": making.pdf(making.words("x")),
    }
    binary = known("pdf", "docx", "xlsx", "xls", "pptx", "epub", "png", "jpg")
    for suffix in binary:
        write(f"noise.{suffix}", noise)
        write(f"cut.{suffix}", whole.get(suffix, noise)[: len(whole.get(suffix, noise)) // 2])
    told = entries(await service.documents())
    assert {ref: entry for ref, entry in told.items() if ref.startswith("noise")} == {
        f"noise.{suffix}": (0, True) for suffix in binary
    }
    await check(service)


async def test_files_of_two_gigabytes_are_told_quickly(service: DocumentService, write: Write) -> None:
    names = [f"large.{suffix}" for suffix in known(*SUFFIXES)]
    for name in names:
        os.truncate(write(name, b""), 2 << 30)
    began = time.monotonic()
    told = entries(await service.documents())
    assert time.monotonic() - began < 60
    assert told == dict.fromkeys(sorted(names), (0, True))
    await check(service)


async def test_deep_nesting_ends_in_a_page_or_a_clear_word(service: DocumentService, write: Write) -> None:
    deep = 100_000
    write("deep.json", "[" * deep + "]" * deep)
    write("keys.json", '{"a":' * deep + "1" + "}" * deep)
    write("deep.html", "<div>" * deep + "bottom" + "</div>" * deep)
    write("lists.html", "<ul><li>" * 20_000 + "bottom")
    write("tables.html", "<table><tr><td>" * 5_000 + "bottom")
    write("quotes.md", ">" * deep + " bottom")
    write("lists.md", "".join("  " * n + "- item\n" for n in range(500)))
    write("brackets.md", "[" * deep)
    write("deep.py", "(" * deep)
    write("deep.ipynb", '{"cells":' + "[" * deep)
    write("deep.docx", making.office(PARTS["docx"], "<w:p>" * deep))
    service_files = {ref for ref in await service.complete_refs() if ref != "good.txt"}
    told = await check(service)
    assert service_files <= set(told)
    assert all(text.strip() for text in told.values())


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("report.txt", making.pdf(making.words("Hidden report")), "Hidden report"),
        ("table.xls", b"<html><table><tr><td>Cell</td><td>Other</td></tr></table></html>", "Cell"),
        ("data.xlsx", b"name\tvalue\nalpha\t1\n", "alpha"),
        ("letter.docx", b"Dear reader, this is no Word file at all.", "Dear reader"),
        ("scan.pdf", b"Only text, although it is called a PDF.", "Only text"),
    ],
)
async def test_a_file_with_a_wrong_name_is_read_as_what_it_is(
    serve: Serve, write: Write, name: str, data: bytes, found: str
) -> None:
    write(name, data)
    told = await check(await serve())
    assert found in told[name]


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
async def test_names_that_are_no_text_are_entries_too(serve: Serve, root: Path) -> None:
    (root / os.fsdecode(b"bad-\xff-name.txt")).write_text("Odd words.", encoding="utf-8")
    (root / "line\nbreak.txt").write_text("Odd words.", encoding="utf-8")
    (root / ("long" * 60 + ".txt")).write_text("Odd words.", encoding="utf-8")
    service = await serve()
    told = await check(service)
    assert (len(told), sum("Odd words." in text for text in told.values())) == (4, 3)
    assert len({hit.doc_ref for hit in await service.search("odd")}) == 3


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
async def test_what_is_no_file_is_no_document(serve: Serve, root: Path) -> None:
    os.mkfifo(root / "pipe.txt")
    (root / "folder.txt").mkdir()
    assert await (await serve()).complete_refs() == ["good.txt"]
