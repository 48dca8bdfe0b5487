"""The document service: its catalogue, the cost of workers and cache around a page, and its memory.

Ratios to raw pypdfium2 are of one PDF that is made here, one page after the other in one run; the catalogue and the
memory have targets of their own, which stand as "theirs".
"""

import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pypdfium2

from a2c_smcp.documents.catalogue import CatalogueChanges
from a2c_smcp.documents.formats.base import OpenOptions
from a2c_smcp.documents.formats.pdf import FORMAT as PDF
from a2c_smcp.documents.model import Document
from a2c_smcp.documents.opening import open_file
from a2c_smcp.documents.render import renderer_for
from a2c_smcp.documents.service import DocumentService
from benchmarks.table import Row

FILES = 10_000
MADE = f"{FILES} generated Markdown files; once, the warm read best of several"
PAGES = 2_400
SAMPLE = 150
BOOK = f"{SAMPLE} pages of a generated PDF of {PAGES}; lowest decile"
HOST = "bench"
TEXT = "the cost of a page is what it takes to read that page and nothing else whatever the book it is in"


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        return [*asyncio.run(_catalogue(folder)), *asyncio.run(_pages(folder)), _memory(folder)]


async def _catalogue(folder: Path) -> list[Row]:
    root = folder / "files"
    for number in range(FILES):
        path = root / f"{number // 100:03}" / f"doc-{number:05}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Document {number}\n\nNumber {number}, about topic {number % 37}.\n", encoding="utf-8")
    uri = f"dpe://{HOST}"
    async with DocumentService([root], host=HOST, cache=folder / "cache") as service:
        while "Not read yet" in (await service.read(uri)).text:
            await asyncio.sleep(0.05)  # once its patience has ended, the catalogue answers without a pause
    began = time.perf_counter()
    async with DocumentService([root], host=HOST, cache=folder / "cache") as service:
        text = (await service.read(uri)).text
        again = time.perf_counter() - began
        if json.loads(text)["total_count"] != FILES:
            raise RuntimeError("the catalogue is not complete")
        warm = await _fastest(lambda: service.read(uri))
        changes: asyncio.Queue[CatalogueChanges] = asyncio.Queue()
        service.on_change(changes.put_nowait)
        began = time.perf_counter()
        (root / "000" / "doc-00000.md").write_text("# Changed\n", encoding="utf-8")
        await changes.get()
        told = time.perf_counter() - began
    return [
        Row(f"catalogue of {FILES} files, warm / 50 ms", warm * 1e3, 50, limit=1, unit="ms", basis=MADE),
        Row(f"service over {FILES} known files, start to catalogue / 3 s", again, 3, limit=1, unit="s", basis=MADE),
        Row(f"change on disk until it is told, {FILES} files / 1 s", told, 1, limit=1, unit="s", basis=MADE),
    ]


async def _pages(folder: Path) -> list[Row]:
    path = folder / "book.pdf"
    path.write_bytes(book(PAGES))
    raw = pypdfium2.PdfDocument(path)
    in_process = _reader(path)
    pages = random.Random(3).sample(range(PAGES), SAMPLE)
    timings: dict[str, list[float]] = {"raw": [], "in process": [], "worker": [], "cached": []}
    in_process(0)
    async with DocumentService([path], host=HOST, cache=folder / "pages", watch=False, index=False) as service:
        await service.page("book.pdf", 0)
        for number in pages:
            uri = f"dpe://{HOST}/book.pdf/pages/{number}"
            timings["raw"].append(_timed(_raw_text, raw, number))
            timings["in process"].append(_timed(in_process, number))
            for name in ("worker", "cached"):
                began = time.perf_counter()
                await service.read(uri)
                timings[name].append(time.perf_counter() - began)
    raw.close()
    # The pages are alike; what a busy machine adds to many of them is left out.
    fast = {name: statistics.quantiles(values, n=10)[0] * 1e3 for name, values in timings.items()}
    return [
        Row(
            "PDF page read through a worker / in process",
            fast["worker"],
            fast["in process"],
            limit=1.6,
            unit="ms",
            basis=BOOK,
        ),
        Row("PDF page read through a worker / raw text", fast["worker"], fast["raw"], limit=2.1, unit="ms", basis=BOOK),
        Row(
            "PDF page read again, from the cache / raw text",
            fast["cached"],
            fast["raw"],
            limit=1,
            unit="ms",
            basis=BOOK,
        ),
    ]


def _reader(path: Path) -> Callable[[int], str]:
    """Return what reads a page of a PDF in this process, without a worker."""
    opened = open_file(path, (PDF, "pdf"), OpenOptions())
    document = Document(HOST, path.name, path.as_uri(), "pdf", path.stem, opened.parts.describe().page_count)
    renderer = renderer_for("json")
    return lambda number: renderer.render_page(document, opened.parts.page(number), None)


def _memory(folder: Path) -> Row:
    """Walk the book in a process of its own; its workers count."""
    command = [sys.executable, "-m", "benchmarks.catalogue", str(folder / "book.pdf"), str(folder / "walk")]
    walked = subprocess.run(command, check=True, capture_output=True, text=True)
    title = f"memory of the service walking {PAGES} pages / 200 MB"
    basis = f"a generated PDF of {PAGES} pages, every page once; service and workers together"
    return Row(title, float(walked.stdout), 200, limit=1, unit="MB", basis=basis)


async def walk(path: Path, cache: Path) -> float:
    """Return the most memory, in MB, that a service and its workers hold while every page is read."""
    most = 0.0
    async with DocumentService([path], host=HOST, cache=cache, watch=False) as service:
        for number in range(PAGES):
            await service.read(f"dpe://{HOST}/{path.name}/pages/{number}")
            if number % 20 == 0:
                most = max(most, sum(map(_resident, [os.getpid(), *service.worker_pids])))
    return most


def book(pages: int) -> bytes:
    """Return a PDF of so many pages of prose."""
    chance = random.Random(5)
    font = 3 + 2 * pages
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(pages))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>"]
    for number in range(pages):
        lines = [f"Page {number}", *(" ".join(chance.choices(TEXT.split(), k=12)) for _ in range(45))]
        text = "BT /F1 10 Tf 14 TL 60 760 Td " + " ".join(f"({line}) '" for line in lines) + " ET"
        resources = f"/Resources << /Font << /F1 {font} 0 R >> >>"
        place = f"/MediaBox [0 0 612 792] /Contents {4 + 2 * number} 0 R"
        objects += [
            f"<< /Type /Page /Parent 2 0 R {place} {resources} >>",
            f"<< /Length {len(text)} >>\nstream\n{text}\nendstream",
        ]
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += "".join(f"{offset:010} 00000 n \n" for offset in offsets).encode()
    out += f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


def _raw_text(document: pypdfium2.PdfDocument, number: int) -> str:
    page = document[number]
    text = page.get_textpage()
    found = str(text.get_text_range())
    text.close()
    page.close()
    return found


def _timed(work: Callable[..., object], *arguments: object) -> float:
    began = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - began


async def _fastest(work: Callable[[], Awaitable[object]], repeat: int = 7) -> float:
    timings = []
    for _ in range(repeat):
        began = time.perf_counter()
        await work()
        timings.append(time.perf_counter() - began)
    return min(timings)


def _resident(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * 4096 / 1e6


if __name__ == "__main__":
    print(asyncio.run(walk(Path(sys.argv[1]), Path(sys.argv[2]))))
