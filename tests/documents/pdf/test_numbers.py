"""Numbers that are no places: PDFs full of them are read, by C and Python alike, and none comes out."""

import json
import math
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from a2c_smcp.common.child_python import python_command
from a2c_smcp.documents import codec
from a2c_smcp.documents.formats.base import OpenOptions
from a2c_smcp.documents.formats.pdf import FORMAT
from a2c_smcp.documents.opening import open_file
from a2c_smcp.documents.pdf.native import native
from a2c_smcp.errors import DocumentError
from tests.documents.hostile.making import pdf

HUGE = "9" * 38 + ".0"  # a whole number of so many digits would be taken for 0
BEYOND = "9" * 60 + ".0"
FAR = "9" * 20 + ".0"
TEXT = "BT /F1 12 Tf {} Tm (words of a line) Tj ET BT /F1 12 Tf 1 0 0 1 72 700 Tm (a plain line) Tj ET\n"
PAGES = {
    "text far away": TEXT.format(f"1 0 0 1 {FAR} {FAR}"),
    "text nowhere": TEXT.format(f"{HUGE} 0 0 {HUGE} {HUGE} -{HUGE}"),
    "text turned nowhere": TEXT.format(f"0 {HUGE} -{HUGE} 0 {HUGE} {HUGE}"),
    "size": f"BT /F1 {HUGE} Tf 1 0 0 1 72 72 Tm (large) Tj ET",
    "size of no sense": f"BT /F1 -{HUGE} Tf {HUGE} 0 0 {HUGE} 0 0 Tm (large) Tj ET",
    "spacing": f"BT /F1 12 Tf {HUGE} Tw {HUGE} Tc {HUGE} Tz {HUGE} TL 72 72 Td (a b c) Tj T* (d e f) Tj ET",
    "scale": f"q {HUGE} 0 0 {HUGE} 0 0 cm {HUGE} 0 0 {HUGE} 0 0 cm BT /F1 12 Tf 1 1 Td (words) Tj ET 0 0 9 9 re f Q",
    "boxes": f"0 0 {HUGE} {HUGE} re S -{HUGE} -{HUGE} {HUGE} {HUGE} re f 10 10 {FAR} 0.5 re f 50 50 200 100 re S",
    "lines": " ".join(
        f"{x} {y} m {y} {x} l S" for x in (HUGE, f"-{HUGE}", "10") for y in (HUGE, f"-{HUGE}", "10", FAR)
    ),
    "a path": f"0 0 m {HUGE} 0 l {HUGE} {HUGE} l 0 {HUGE} l 10 10 l 100 10 l 100 90 l 10 90 l h S",
    "scaled path": f"{HUGE} 0 0 {HUGE} 0 0 cm 0 0 m 9 0 l 9 9 l 0 9 l 1 1 l 5 1 l 5 5 l 1 5 l h S",
}
READ = """
import json, sys
from pathlib import Path
from a2c_smcp.documents import codec
from a2c_smcp.documents.formats.base import OpenOptions
from a2c_smcp.documents.formats.pdf import FORMAT
from a2c_smcp.documents.opening import open_file
from a2c_smcp.documents.pdf.native import native
from a2c_smcp.errors import DocumentError
assert native is None
pages = []
for path in sys.argv[1:]:
    opened = open_file(Path(path), (FORMAT, "pdf"), OpenOptions())
    try:
        pages.append(opened.problem or codec.encode_page(opened.parts.page(0)).decode())
    except DocumentError as error:
        pages.append(error.message)
print(json.dumps(pages))
"""


def numbers_in(value: Any) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(item)


def read(path: Path) -> str:
    opened = open_file(path, (FORMAT, "pdf"), OpenOptions())
    try:
        return opened.problem or codec.encode_page(opened.parts.page(0)).decode()
    except DocumentError as error:  # refused as a whole, and not by accident
        return error.message
    finally:
        opened.close()


def check(page: str) -> None:
    assert "the parser failed" not in page
    assert "NaN" not in page
    assert "Infinity" not in page
    assert all(map(math.isfinite, numbers_in(json.loads(page) if page.startswith("[") else [])))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("numbers")
    rect = f"[0 0 {BEYOND} {BEYOND}]"
    link = f"/Annots [<< /Type /Annot /Subtype /Link /Rect {rect} /A << /S /URI /URI (http://a.b) >> >>"
    note = f" << /Type /Annot /Subtype /Text /Rect [-{BEYOND} 0 {FAR} 9] /Contents (a note) >>]"
    made = {name: pdf(content.encode()) for name, content in PAGES.items()}
    made["links"] = pdf(TEXT.format("1 0 0 1 72 72").encode(), extra=link + note)
    made["page"] = pdf(TEXT.format("1 0 0 1 72 72").encode(), box=f"-{BEYOND} 0 {BEYOND} 800")
    found = {}
    for name, data in made.items():
        found[name] = folder / f"{name}.pdf"
        found[name].write_bytes(data)
    return found


def test_pages_of_absurd_numbers_are_read_without_them(files: dict[str, Path]) -> None:
    for path in files.values():
        check(read(path))


@pytest.mark.skipif(native is None, reason="the C extension was not built")
def test_they_are_read_alike_in_c_and_in_python(files: dict[str, Path]) -> None:
    command = python_command(READ, *map(str, files.values()))
    done = subprocess.run(
        command, env=os.environ | {"A2C_PURE_PYTHON": "1"}, capture_output=True, text=True, check=True, timeout=120
    )
    assert dict(zip(files, json.loads(done.stdout), strict=True)) == {name: read(path) for name, path in files.items()}


numbers = st.sampled_from(
    ["0", "1", "-1", "12", "72", "300.5", FAR, f"-{FAR}", HUGE, f"-{HUGE}", f"{BEYOND}", "." + "0" * 45 + "1"]
)
operators = st.one_of(
    st.tuples(*[numbers] * 6).map(lambda n: f"BT /F1 12 Tf {' '.join(n)} Tm (words here) Tj ET"),
    st.tuples(*[numbers] * 4).map(lambda n: f"{' '.join(n)} re S"),
    st.tuples(*[numbers] * 4).map(lambda n: f"{n[0]} {n[1]} m {n[2]} {n[3]} l S"),
    st.lists(st.tuples(numbers, numbers), min_size=6, max_size=9).map(
        lambda points: "0 0 m " + " ".join(f"{x} {y} l" for x, y in points) + " S"
    ),
    st.tuples(*[numbers] * 6).map(lambda n: f"{' '.join(n)} cm"),
    numbers.map(lambda n: f"BT /F1 {n} Tf 72 500 Td (sized words) Tj ET"),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.lists(operators, min_size=1, max_size=8))
def test_no_page_gives_a_number_that_is_none(tmp_path: Path, content: list[str]) -> None:
    path = tmp_path / "page.pdf"
    path.write_bytes(pdf("\n".join(content).encode()))
    check(read(path))
