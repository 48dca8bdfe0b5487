"""Letters of odd but legal sizes and matrices: they are read as the plain ones are, in C and in Python."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.common.child_python import python_command
from a2c_smcp.documents.formats.base import OpenOptions
from a2c_smcp.documents.formats.pdf import FORMAT
from a2c_smcp.documents.pdf.native import PURE, native
from tests.documents.pdf.making import Made, MadePage

PROSE = (
    "The quick brown fox jumps over the lazy dog and runs",
    "into the forest where many other animals are living",
    "until the end of the year when all of them go home.",
    "A second sentence follows and it is long enough here.",
)
PARAGRAPH = " ".join(PROSE)
READ = """
import json, sys
from pathlib import Path
from tests.documents.pdf.test_sizes import read
from a2c_smcp.documents.pdf.native import native
assert native is None
print(json.dumps([read(Path(path)) for path in sys.argv[1:]]))
"""


def written(size: float, matrix: str, *, x: float = 72, y: float = 700, right: float = 0, down: float = 14) -> str:
    """Return lines, each of which begins `right` and `down` of the one before."""
    return "".join(
        f"BT /F1 {size} Tf {matrix} {x + number * right} {y - number * down} Tm ({line}) Tj ET\n"
        for number, line in enumerate(PROSE)
    )


PAGES = {
    "plain": MadePage(written(12, "1 0 0 1")),
    "negative": MadePage(written(-12, "-1 0 0 -1")),
    "negative, scaled": MadePage(written(-1, "-12 0 0 -12")),
    "scaled": MadePage(written(1, "12 0 0 12")),
    "mirrored page and text": MadePage(
        "1 0 0 -1 0 792 cm " + written(12, "1 0 0 -1", y=92, down=-14),
    ),
    "mirrored page, negative text": MadePage("1 0 0 -1 0 792 cm " + written(-12, "-1 0 0 1", y=92, down=-14)),
    "negative scale across": MadePage("-100 Tz " + written(12, "-1 0 0 1")),
    "turned left": MadePage(written(12, "0 1 -1 0", y=72, right=14, down=0)),
    "turned right": MadePage(written(12, "0 -1 1 0", x=500, y=700, right=-14, down=0)),
    "turned, negative": MadePage(written(-12, "0 -1 1 0", y=72, right=14, down=0)),
    "upside down": MadePage(written(12, "-1 0 0 -1", x=500, y=100, down=-14)),
    "page turned 90": MadePage(written(12, "1 0 0 1"), rotate=90),
    "page turned 180": MadePage(written(12, "1 0 0 1"), rotate=180),
    "page turned 180, negative": MadePage(written(-12, "-1 0 0 -1"), rotate=180),
    "page turned 270": MadePage(written(12, "1 0 0 1"), rotate=270),
    "text and page turned": MadePage(written(12, "0 1 -1 0", y=72, right=14, down=0), rotate=90),
    "box reversed": MadePage(written(12, "1 0 0 1"), box=(612, 792, 0, 0)),
    "box below zero": MadePage("1 0 0 1 -700 -900 cm " + written(12, "1 0 0 1"), box=(-700, -900, -88, -108)),
    "aslant": MadePage(written(12, "1 0.001 0.2 1")),
}
"""Each shows one paragraph of the same lines."""

ODD = {
    "no size": MadePage(written(0, "1 0 0 1") + written(12, "1 0 0 1", y=400)),
    "no height": MadePage(written(12, "1 0 0 0") + written(12, "1 0 0 1", y=400)),
    "no matrix": MadePage(written(12, "0 0 0 0") + written(12, "1 0 0 1", y=400)),
    "seen in a mirror": MadePage(written(-12, "1 0 0 -1") + written(12, "1 0 0 1", y=400)),
    "no page": MadePage(written(12, "1 0 0 1"), box=(0, 0, 0, 0)),
    "slanted": MadePage(written(12, "0.7 0.7 -0.7 0.7")),
}
"""There is no right answer for what these show; but each has a page, and what is plain on it is read."""


def read(path: Path) -> list[list[Any]]:
    document = FORMAT.open(path, options=OpenOptions())
    assert document.describe().page_count == 1
    return [[e.id, e.category, dict(e.content), e.metadata["bbox"]] for e in document.page(0).elements]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("sizes")
    found = {}
    for number, (name, page) in enumerate({**PAGES, **ODD}.items()):
        found[name] = folder / f"{number}.pdf"
        found[name].write_bytes(Made([page]).build())
    return found


@pytest.mark.parametrize("name", PAGES)
def test_a_paragraph_is_one_however_its_letters_are_turned(files: dict[str, Path], name: str) -> None:
    assert [content for _, _, content, _ in read(files[name])] == [{"text": PARAGRAPH}]


def test_what_is_turned_is_told_where_it_is_shown(files: dict[str, Path]) -> None:
    plain, negative = (read(files[name])[0][3] for name in ("plain", "negative"))
    assert plain == negative
    x0, y0, x1, y1 = read(files["turned left"])[0][3]
    assert x1 - x0 < 60 < 250 < y1 - y0
    assert 55 < x0 < 75
    assert 700 < y1 < 725


@pytest.mark.parametrize("name", [name for name in ODD if name.startswith("no ") or name == "seen in a mirror"])
def test_text_that_cannot_be_seen_does_not_touch_what_can(files: dict[str, Path], name: str) -> None:
    assert PARAGRAPH in [content["text"] for _, _, content, _ in read(files[name])]


@pytest.mark.skipif(native is None, reason="the C extension was not built")
def test_they_are_read_alike_in_c_and_in_python(files: dict[str, Path]) -> None:
    command = python_command(READ, *map(str, files.values()))
    done = subprocess.run(
        command, env=os.environ | {PURE: "1"}, capture_output=True, text=True, check=True, timeout=120
    )
    assert dict(zip(files, json.loads(done.stdout), strict=True)) == {name: read(path) for name, path in files.items()}
