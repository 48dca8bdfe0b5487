"""The local path of the digest against a bare loop that renders and extracts with the PDF library."""

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pypdfium2

from a2c_smcp.digest.dotsocr import local_pdf_tool
from benchmarks.table import Row

SOURCE = Path(__file__).parent.parent / "tests" / "data" / "documents" / "pdf_table_repair_inv.pdf"
DPI = 110
PAGES = 120
ROUNDS = 3


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pdf = _long_pdf(folder / "long.pdf")
        ours = theirs = 0.0
        for _ in range(ROUNDS):
            theirs = max(theirs, _rate(_bare, pdf, folder / "bare"))
            ours = max(ours, _rate(_ours, pdf, folder / "ours"))
    title = f"pages a second, local digest of {PAGES} pages at {DPI} dpi / bare render and extract"
    basis = f"{PAGES} copies of the pages of {SOURCE.name}, without a model; best of {ROUNDS}"
    return [Row(title, ours, theirs, 0.8, "/s", at_least=True, basis=basis)]


def _long_pdf(path: Path) -> Path:
    """The pages of a real invoice, again and again."""
    source, document = pypdfium2.PdfDocument(SOURCE), pypdfium2.PdfDocument.new()
    while len(document) < PAGES:
        document.import_pages(source)
    document.save(path)
    return path


def _rate(work: Callable[[Path, Path], None], pdf: Path, folder: Path) -> float:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    start = time.perf_counter()
    work(pdf, folder)
    return PAGES / (time.perf_counter() - start)


def _bare(pdf: Path, folder: Path) -> None:
    document = pypdfium2.PdfDocument(pdf)
    for index in range(len(document)):
        page = document[index]
        page.render(scale=DPI / 72).to_pil().save(folder / f"page{index + 1}.png")
        text = page.get_textpage().get_text_bounded()
        (folder / f"page{index + 1}.txt").write_text(text, encoding="utf-8", errors="replace")


def _ours(pdf: Path, folder: Path) -> None:
    response = local_pdf_tool.call({"pdf_path": str(pdf), "out_dir": str(folder), "dpi": DPI, "ocr": False})
    if not response["ok"]:
        raise RuntimeError(response["error"])
