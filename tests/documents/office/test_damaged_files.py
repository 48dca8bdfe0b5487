"""Real files with damage: each is read as far as it goes or refused in a word, never anything else."""

import random
import re
import zipfile
from pathlib import Path

import pytest

from a2c_smcp.documents.content import validate_content
from a2c_smcp.errors import DocumentError
from tests.documents.office.golden import DATA, opened

FILES = sorted(path.name for path in DATA.iterdir() if path.suffix in (".docx", ".pptx", ".xlsx", ".xlsm", ".xls"))
VALUES = [b"-1", b"0", b"99999999999", b"abc", b"", b"1e999", b"NaN", b"A1:XFD1048576", "²".encode(), b"&#xFFFF;"]
ATTRIBUTE = re.compile(rb'="([^"]*)"')
TEXT = re.compile(rb">([^<>]+)<")
EMPTY = re.compile(rb"(<[\w:]+[^<>]*/>)")


def read(path: Path) -> str:
    """Read all there is; return what was wrong."""
    try:
        document = opened(path)
        for index in range(document.describe().page_count):
            for element in document.page(index).elements:
                validate_content(element.category, element.content)
    except DocumentError as error:
        return error.message
    return ""


def changed(data: bytes, chance: random.Random) -> bytes:
    pattern = chance.choice([ATTRIBUTE, ATTRIBUTE, TEXT, EMPTY])
    places = list(pattern.finditer(data))
    for place in sorted(chance.sample(places, min(len(places), 8)), key=lambda place: -place.start()):
        value = b"" if pattern is EMPTY else chance.choice(VALUES)
        data = data[: place.start(1)] + value + data[place.end(1) :]
    return data


@pytest.mark.parametrize("name", FILES)
def test_damaged_bytes_do_no_harm(name: str, tmp_path: Path) -> None:
    chance = random.Random(name)
    for _ in range(5):
        data = bytearray((DATA / name).read_bytes())
        for _ in range(10):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path = tmp_path / name
        path.write_bytes(data[: chance.choice([len(data), len(data), chance.randrange(len(data))])])
        assert str(path) not in read(path)


@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith((".xls", "password.xlsx"))])
def test_parts_that_say_nonsense_do_no_harm(name: str, tmp_path: Path) -> None:
    chance = random.Random(name)
    with zipfile.ZipFile(DATA / name) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    for _ in range(8):
        path = tmp_path / name
        hit = set(chance.sample(sorted(parts), 3))
        with zipfile.ZipFile(path, "w") as archive:
            for part, data in parts.items():
                archive.writestr(part, changed(data, chance) if part in hit else data)
        assert str(path) not in read(path)
