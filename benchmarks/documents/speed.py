"""What reading a PDF costs beside PDFium alone, and a drawn page beside Pillow's quickest PNG.

Both sides take turns page by page and count their own CPU time, so that other work on the machine hardly matters.
"""

import gc
import io
import time
from collections.abc import Callable
from pathlib import Path

import pypdfium2

from a2c_smcp.documents.formats.pdf import FORMAT
from benchmarks.table import LeftOut, Measured, Row

FILES = (
    "pdf_gnuplot.pdf",
    "pdf_maxima_book_2004.pdf",
    "pdf_octave.pdf",
    "pdf_r_intro.pdf",
    "pdf_xerox_manual.pdf",
    "pdf_zh_debian_reference.pdf",
)
"""Manuals of more than a hundred pages."""
PAGES = 100
DPI = 110


def run(corpus: Path) -> list[Measured]:
    if missing := [name for name in FILES if not (corpus / name).is_file()]:
        return [LeftOut("PDF pages and walks / raw text", len(FILES), missing)]
    files = [corpus / name for name in FILES]
    longest = max(files, key=_page_count)
    gc.collect()
    gc.freeze()
    try:
        return [
            _kept(longest),
            _first(longest),
            _cold(longest),
            *(_walk(path) for path in files),
            _drawn(longest),
        ]
    finally:
        gc.unfreeze()


def _page_count(path: Path) -> int:
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError:
        return 0
    try:
        return len(document)
    finally:
        document.close()


def _raw(document: pypdfium2.PdfDocument, index: int) -> str:
    page = document[index]
    text_page = page.get_textpage()
    text: str = text_page.get_text_range()
    text_page.close()
    page.close()
    return text


def _least(ours: Callable[[], object], theirs: Callable[[], object], repeat: int = 3) -> tuple[float, float]:
    """Return the least CPU time in ms that each took, in turns."""
    best = [float("inf"), float("inf")]
    for _ in range(repeat):
        for number, work in enumerate((ours, theirs)):
            start = time.thread_time()
            work()
            best[number] = min(best[number], (time.thread_time() - start) * 1e3)
    return best[0], best[1]


def _kept(path: Path) -> Row:
    document, raw = FORMAT.open(path), pypdfium2.PdfDocument(path)
    index = _page_count(path) // 2
    document.page(index)
    ours, theirs = _least(lambda: document.page(index), lambda: _raw(raw, index), repeat=9)
    basis = "the page in the middle; least of 9"
    return Row(f"PDF page that is kept, read again / raw text ({path.stem})", ours, theirs, 1.3, "ms", basis=basis)


def _first(path: Path) -> Row:
    """The page in the middle of all ratios, each read for the first time, far from the one before."""
    document, raw = FORMAT.open(path), pypdfium2.PdfDocument(path)
    count = _page_count(path)
    times = [
        _least(lambda index=index: document.page(index), lambda index=index: _raw(raw, index), repeat=1)  # type: ignore[misc]
        for index in range(0, count, max(1, count // PAGES))
    ]
    ours, theirs = sorted(times, key=lambda pair: pair[0] / pair[1])[len(times) // 2]
    basis = f"{len(times)} pages of {count}, each once; the page whose ratio is the median"
    return Row(
        f"PDF page read for the first time, median / raw text ({path.stem})", ours, theirs, 1.6, "ms", basis=basis
    )


def _cold(path: Path) -> Row:
    def ours(index: int) -> None:
        document = FORMAT.open(path)
        document.page(index)
        document.close()  # type: ignore[attr-defined]

    def theirs(index: int) -> None:
        document = pypdfium2.PdfDocument(path)
        _raw(document, index)
        document.close()

    count = _page_count(path)
    times = [
        _least(lambda index=index: ours(index), lambda index=index: theirs(index))  # type: ignore[misc]
        for index in range(count // 24, count, count // 12)
    ]
    total = [sum(column) / len(times) for column in zip(*times, strict=True)]
    return Row(
        f"PDF open + page, cold / raw ({path.stem}, {count} pages)",
        total[0],
        total[1],
        1.2,
        "ms",
        basis="12 pages of the file; least of 3 each",
    )


def _walk(path: Path) -> Row:
    document, raw = FORMAT.open(path), pypdfium2.PdfDocument(path)
    count = _page_count(path)
    ours = theirs = 0.0
    for index in range(count):
        start = time.thread_time()
        document.page(index)
        middle = time.thread_time()
        _raw(raw, index)
        ours += middle - start
        theirs += time.thread_time() - middle
    return Row(
        f"PDF walk / raw text ({path.stem})", ours * 1e3, theirs * 1e3, 1.75, "ms", basis=f"every page of {count} once"
    )


def _drawn(path: Path) -> Row:
    document, raw = FORMAT.open(path), pypdfium2.PdfDocument(path)
    index = _page_count(path) // 2

    def pillow() -> bytes:
        target = io.BytesIO()
        raw[index].render(scale=DPI / 72).to_pil().convert("RGB").save(target, "PNG", compress_level=1)
        return target.getvalue()

    ours, theirs = _least(lambda: document.render(index, DPI), pillow)  # type: ignore[attr-defined]
    return Row(
        f"PDF page as PNG / Pillow level 1 ({path.stem})",
        ours,
        theirs,
        0.6,
        "ms",
        basis=f"the page in the middle at {DPI} dpi; least of 3",
    )
