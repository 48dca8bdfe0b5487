"""A long part is cut into batches that are whole, wherever the archive's chunks end."""

import random
from pathlib import Path

import pytest

from a2c_smcp.documents.ooxml.package import open_package
from a2c_smcp.documents.ooxml.spreadsheet.pieces import Pieces
from a2c_smcp.documents.ooxml.xml import local
from a2c_smcp.errors import DocumentError
from tests.unit.documents.ooxml.office import write


def numbers(path: Path, data: bytes) -> tuple[list[str | None], str]:
    write(path, {"sheet.xml": data})
    with open_package(path) as package:
        pieces = Pieces(package, "sheet.xml", "row", "sheetData")
        found = [node.get("r") for batch in pieces.batches() for node in pieces.tree(batch)]
        return found, ",".join(local(node) for node in pieces.tail_tree())


def sheet(rows: str, prefix: str = "") -> str:
    p = prefix
    return (
        f"<?xml version='1.0'?><{p}worksheet xmlns{':' + p[:-1] if p else ''}='urn:x'><{p}sheetViews/><{p}sheetData>"
        f"{rows}</{p}sheetData><{p}mergeCells/><{p}rowBreaks><{p}brk/></{p}rowBreaks></{p}worksheet>"
    )


@pytest.mark.parametrize("prefix", ["", "x:"])
def test_every_row_comes_once_and_in_order(tmp_path: Path, prefix: str) -> None:
    seed = random.Random(1)
    rows = (
        "".join(
            f"<{prefix}row r='{number}'>{'<c><v>1</v></c>' * seed.randrange(40)}</{prefix}row>"
            for number in range(1, 3_000)
        )
        .replace("<c>", f"<{prefix}c>")
        .replace("</c>", f"</{prefix}c>")
        .replace("<v>", f"<{prefix}v>")
    )
    rows = rows.replace("</v>", f"</{prefix}v>")
    found, tail = numbers(tmp_path / "x.zip", sheet(rows, prefix).encode())
    assert found == [str(number) for number in range(1, 3_000)]
    assert tail == "mergeCells,rowBreaks"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_other_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    data = sheet("<row r='1'/>" * 30_000).encode(encoding)
    assert len(numbers(tmp_path / "x.zip", data)[0]) == 30_000


@pytest.mark.parametrize("data", [sheet(""), sheet("").replace("<sheetData></sheetData>", "<sheetData/>")])
def test_a_sheet_without_rows_still_has_its_tail(tmp_path: Path, data: str) -> None:
    assert numbers(tmp_path / "x.zip", data.encode()) == ([], "mergeCells,rowBreaks")


def test_a_document_type_is_refused_before_any_parser_sees_it(tmp_path: Path) -> None:
    data = "<!DOCTYPE a [<!ENTITY b 'c'>]>" + sheet("<row r='1'/>").removeprefix("<?xml version='1.0'?>")
    with pytest.raises(DocumentError, match="it defines XML entities"):
        numbers(tmp_path / "x.zip", data.encode())


def test_a_row_without_end_is_refused(tmp_path: Path) -> None:
    data = sheet("<row r='1'>" + "<c><v>1</v></c>" * 1_200_000)
    with pytest.raises(DocumentError, match=r"an entry of its part 'sheet\.xml' is too large"):
        numbers(tmp_path / "x.zip", data.encode())


def test_what_is_no_xml_is_refused(tmp_path: Path) -> None:
    for data in (b"", b"no markup at all", b"<row r='1'>"):
        with pytest.raises(DocumentError, match="is not valid XML"):
            numbers(tmp_path / "x.zip", data)
