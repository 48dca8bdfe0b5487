"""PDF is read the same with the C extension and without it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from a2c_smcp.documents.formats.base import OpenOptions
from a2c_smcp.documents.pdf.document import PdfDocument
from a2c_smcp.documents.pdf.native import PURE, native
from tests.documents.pdf.making import Made, MadePage

DATA = Path(__file__).parents[2] / "data" / "documents"
READ = """
import json, sys
from pathlib import Path
from tests.documents.pdf.test_pure_python import told
from a2c_smcp.documents.pdf.native import native
json.dump([native is not None, *map(told, map(Path, sys.argv[1:]))], sys.stdout)
"""


def told(path: Path) -> list[object]:
    """Return all that is read of a file."""
    document = PdfDocument(path, OpenOptions())
    pages = [document.page(index) for index in range(document.describe().page_count)]
    outline = [[entry.title, entry.page_index, entry.level] for entry in document.outline()]
    return [
        outline,
        *[
            [page.title, [[e.id, e.category, e.content, e.summary, e.metadata] for e in page.elements]]
            for page in pages
        ],
    ]


def drawn_pages(folder: Path) -> Path:
    """Make a file of what the others lack: turned pages, signs beyond the first plane, forms inside of forms."""
    text = "BT /F1 12 Tf 72 700 Td (Turned text of two words) Tj 0 -14 Td (and a second line of it) Tj ET"
    link = "<< /Type /Annot /Subtype /Link /Rect [72 690 140 712] /A << /S /URI /URI (https://example.com/) >> >>"
    rules = "72 600 200 0.5 re f 72 580 200 0.5 re f 72 560 200 0.5 re f 72 560 0.5 40 re f 272 560 0.5 40 re f"
    path = folder / "drawn.pdf"
    path.write_bytes(Made([MadePage(f"{text} {rules}", [link], rotate=turn) for turn in (0, 90, 180, 270)]).build())
    return path


def test_every_page_reads_the_same_in_c_and_in_python(tmp_path: Path) -> None:
    if native is None:
        pytest.skip("the C extension was not built")
    files = [*sorted(DATA.glob("*.pdf")), drawn_pages(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-c", READ, *map(str, files)], env=os.environ | {PURE: "1"}, capture_output=True, check=True
    )
    with_extension, *pure = json.loads(done.stdout)
    assert not with_extension
    for path, python in zip(files, pure, strict=True):
        assert json.loads(json.dumps(told(path))) == python, path.name
