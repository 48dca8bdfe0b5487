"""Advice can be followed: every file name ending that an error suggests is one that some format reads."""

import ast
import re
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

import a2c_smcp.documents
from a2c_smcp.documents.formats.base import OpenOptions
from a2c_smcp.documents.formats.registry import format_of
from a2c_smcp.documents.opening import open_file

ADVICE = re.compile(r"(?:ending|as|to|into|or|,)\s+(\.[a-z][a-z0-9]{1,4})\b")


def advice() -> Iterator[tuple[str, str]]:
    """Yield every ending that a message of the package suggests, with the module that does."""
    root = Path(a2c_smcp.documents.__file__).parent
    for path in sorted(root.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documented = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, _DOCUMENTED)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in documented:
                if node.value.startswith("Accept "):
                    continue
                yield from ((path.name, ending) for ending in ADVICE.findall(node.value))


_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def test_every_ending_that_an_error_suggests_belongs_to_a_format() -> None:
    suggested = set(advice())
    assert {ending for _, ending in suggested} >= {".docx", ".pptx", ".xls", ".eml"}
    assert [(module, ending) for module, ending in sorted(suggested) if format_of(f"file{ending}") is None] == []


def compound_file(*streams: str) -> bytes:
    """Return the header and the directory of a compound file with these streams."""
    header = bytearray(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(512, b"\0"))
    struct.pack_into("<HHHH", header, 24, 0x3E, 3, 0xFFFE, 9)
    entries = b"".join(name.encode("utf-16-le").ljust(128, b"\0") for name in ("Root Entry", *streams))
    return bytes(header) + entries.ljust(1_024, b"\0")


@pytest.mark.parametrize(
    ("streams", "name", "told"),
    [
        (("1Table", "WordDocument"), "report.docx", "save it as .docx"),
        (("Current User", "PowerPoint Document"), "deck.pptx", "save it as .pptx"),
        (("__nameid_version1.0", "__properties_version1.0"), "mail.docx", "save it as .eml"),
        (("Book",), "sheet.xlsx", "give a workbook the ending .xls"),
        (("1Table", "WordDocument"), "report.xls", "save it as .docx"),
    ],
)
def test_a_file_of_an_old_kind_under_a_new_name_gets_advice_that_works(
    tmp_path: Path, streams: tuple[str, ...], name: str, told: str
) -> None:
    path = tmp_path / name
    path.write_bytes(compound_file(*streams))
    named = format_of(name)
    assert named is not None
    assert told in open_file(path, named, OpenOptions()).problem
