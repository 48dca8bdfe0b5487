"""The C extension asks PDFium what Python asks it, refuses what is no handle or record, and keeps nothing."""

import ctypes
import gc
import inspect
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

from a2c_smcp.documents.pdf import annotations, graphics, outline
from a2c_smcp.documents.pdf.characters import Characters
from a2c_smcp.documents.pdf.engine import FARTHEST, engine
from a2c_smcp.documents.pdf.fonts import FontBook
from a2c_smcp.documents.pdf.frames import Frame, Frames
from a2c_smcp.documents.pdf.native import native
from a2c_smcp.documents.pdf.words import Font, Line
from tests.documents.pdf.making import Made, MadePage

NATIVE: Any = native
if NATIVE is None:
    pytest.skip("the C extension was not built", allow_module_level=True)

DATA = Path(__file__).parents[3] / "data" / "documents"
LINE = Line("text", 0.0, 0.0, 1.0, 1.0, 10.0, Font(), 0, 4)
MOST = 400_000
TEXT = "BT /F1 12 Tf 72 700 Td (Some words of one line) Tj 0 -14 Td (and one of the) Tj /F2 12 Tf ( next) Tj ET"
PATHS = "72 600 200 0.5 re f 72 560 0.5 40 re f 300 300 m 400 300 l 400 350 l 300 350 l 310 310 l 390 310 l h S 9 9 m n"
LINK = "<< /Type /Annot /Subtype /Link /Rect [72 690 140 712] /A << /S /URI /URI (https://example.com/) >> >>"


@dataclass
class Opened:
    """A page that is open: its handles, and how it is shown."""

    document: int
    page: int
    text_page: int
    frame: Frame


def address(raw: Any) -> int:
    return ctypes.cast(raw, ctypes.c_void_p).value or 0


def pages_of(path: Path) -> Generator[Opened]:
    document = pypdfium2.PdfDocument(path)
    frames = Frames(engine())
    for page in document:
        text = page.get_textpage()
        handle = address(page.raw)
        yield Opened(address(document.raw), handle, address(text.raw), frames.frame(handle))
        text.close()
        page.close()
    document.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("native") / "made.pdf"
    pages = [MadePage(f"{TEXT}\n{PATHS}", [LINK], rotate=turn) for turn in (0, 90, 180, 270)]
    path.write_bytes(Made(pages, outline=[("One", 0), ("Two", 1)]).build())
    return path


@pytest.fixture
def page(made: Path) -> Iterator[Opened]:
    pages = pages_of(made)
    yield next(pages)
    pages.close()


every_file = pytest.mark.parametrize("name", ["made", *(path.name for path in sorted(DATA.glob("*.pdf")))])


def path_of(name: str, made: Path) -> Path:
    return made if name == "made" else DATA / name


def in_both(monkeypatch: pytest.MonkeyPatch, module: Any, ask: Callable[..., Any], *arguments: Any) -> Any:
    """Return what is found with the extension, which is found without it as well."""
    with_c = ask(*arguments)
    with monkeypatch.context() as patch:
        patch.setattr(module, "native", None)
        assert ask(*arguments) == with_c
    return with_c


def test_only_what_asks_pdfium_is_in_c() -> None:
    functions = {name for name in dir(NATIVE) if callable(getattr(NATIVE, name)) and not name.startswith("_")}
    asking = {"objects_of", "boxes_of", "are_drawn", "segment_counts", "segments_of", "links_of", "bookmarks"}
    assert functions == asking | {"Characters", "bind", "block_reader", "functions", "learn"}
    answers = {name for name, _ in inspect.getmembers(NATIVE.Characters) if not name.startswith("_")}
    assert answers == {"text", "lines", "words", "span", "fonts_at", "index"}


@every_file
def test_characters_are_read_alike(name: str, made: Path) -> None:
    for opened in pages_of(path_of(name, made)):
        fonts = FontBook(), FontBook()
        arguments = engine(), opened.text_page, opened.frame, MOST
        c, python = NATIVE.Characters(*arguments), Characters(*arguments)
        assert c.text == python.text
        lines = python.lines(fonts[1])
        assert c.lines(fonts[0]) == lines
        assert c.words(lines) == python.words(lines)
        places = range(0, len(c.text), 7)
        assert [c.index(place) for place in places] == [python.index(place) for place in places]
        assert [c.span(place) for place in places] == [python.span(place) for place in places]
        assert c.fonts_at(fonts[0], places) == python.fonts_at(fonts[1], places)


def test_text_is_read_up_to_the_most(page: Opened) -> None:
    arguments = engine(), page.text_page, page.frame, 4
    assert NATIVE.Characters(*arguments).text == Characters(*arguments).text == "Some"


@every_file
def test_what_is_drawn_is_found_alike(name: str, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rules(opened: Opened, drawn: list[graphics.Drawn]) -> Any:
        paths = graphics.Paths(engine(), opened.frame, drawn)
        return paths.boxes(), paths.rules(), paths.outlines(1.0, 2.0)

    for opened in pages_of(path_of(name, made)):
        drawn = in_both(monkeypatch, graphics, graphics.survey, engine(), opened.page)
        in_both(monkeypatch, graphics, rules, opened, drawn.paths)


@every_file
def test_links_and_outlines_are_found_alike(name: str, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def bookmarks(opened: Opened) -> Any:
        return outline.Outline(engine(), opened.document).bookmarks

    for opened in pages_of(path_of(name, made)):
        links = in_both(monkeypatch, annotations, annotations.links_of, engine(), opened.document, opened.page, {})
        marks = in_both(monkeypatch, outline, bookmarks, opened)
        if name == "made":
            assert (len(links), [mark.title for mark in marks]) == (1, ["One", "Two"])


def calls(page: Opened) -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Return a call of every function that asks PDFium, by its name."""
    characters, fonts = NATIVE.Characters(engine(), page.text_page, page.frame, MOST), FontBook()
    lines = characters.lines(fonts)
    drawn = graphics.survey(engine(), page.page).paths
    handles = [handle for handle, _ in drawn]
    return {
        "objects_of": (NATIVE.objects_of, (page.page, False, 100)),
        "boxes_of": (NATIVE.boxes_of, (drawn, False, 0.0, 792.0, lambda *sides: sides)),
        "are_drawn": (NATIVE.are_drawn, (handles,)),
        "segment_counts": (NATIVE.segment_counts, (handles,)),
        "segments_of": (NATIVE.segments_of, (handles[-1], 5)),
        "links_of": (NATIVE.links_of, (page.document, page.page, {}, 100)),
        "bookmarks": (NATIVE.bookmarks, (page.document, 100, 4)),
        "Characters": (NATIVE.Characters, (engine(), page.text_page, page.frame, MOST)),
        "lines": (characters.lines, (fonts,)),
        "words": (characters.words, (lines,)),
        "span": (characters.span, (1,)),
        "fonts_at": (characters.fonts_at, (fonts, [0, 1])),
        "index": (characters.index, (1,)),
    }


BROKEN = Line("text", 0.0, 0.0, 1.0, 1.0, 10.0, Font(), 0, 4)
del BROKEN.length
OTHERS: list[Any] = ["x", 1.5, ["x"], ("x",), [LINE, BROKEN], [("x", ())], {"a": 1}, object()]
"""What is neither a handle nor a list of some, nor of lines of the page."""


def growth(rounds: int, function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> int:
    """Return how many blocks of memory more there are after so many rounds, when what is kept once is there."""
    blocks = []
    for times in (100, rounds):
        for _ in range(times):
            for arguments in calls:
                with suppress(TypeError, AttributeError, ValueError):
                    function(*arguments)
        gc.collect()
        blocks.append(sys.getallocatedblocks())
    return blocks[1] - blocks[0]


def test_what_is_no_handle_and_no_record_is_refused(page: Opened) -> None:
    for name, (function, arguments) in calls(page).items():
        at = 1 if name in ("Characters", "fonts_at") else 0
        for other in OTHERS:
            with pytest.raises((TypeError, AttributeError, ValueError)):
                function(*arguments[:at], other, *arguments[at + 1 :])


def test_a_line_of_another_page_is_refused(page: Opened) -> None:
    words = NATIVE.Characters(engine(), page.text_page, page.frame, MOST).words
    for position, length in ((0, 10_000), (10_000, 1), (sys.maxsize, 1), (1, sys.maxsize), (-1, 4), (0, -1)):
        with pytest.raises((IndexError, ValueError)):
            words([Line("text", 0.0, 0.0, 1.0, 1.0, 10.0, Font(), position, length)])


def test_nothing_is_kept(page: Opened) -> None:
    for name, (function, arguments) in calls(page).items():
        assert growth(1_000, function, [arguments]) < 500, name


def test_nothing_is_kept_of_what_is_refused(page: Opened) -> None:
    for name, (function, arguments) in calls(page).items():
        assert growth(1_000, function, [(other, *arguments[1:]) for other in OTHERS]) < 500, name


def test_functions_and_records_that_are_missing_are_refused() -> None:
    with pytest.raises(KeyError, match="FPDF"):
        NATIVE.bind({}, FARTHEST)
    with pytest.raises(TypeError, match="expected 2 records, not 1"):
        NATIVE.learn(Line)
    with pytest.raises((TypeError, AttributeError)):
        NATIVE.learn(Font, Font)
