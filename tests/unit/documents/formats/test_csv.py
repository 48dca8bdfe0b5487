"""Tables as text: how they are written is found out, and only a window of them is held."""

import tracemalloc
from pathlib import Path

import pytest

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.base import Description, OpenDocument
from a2c_smcp.documents.formats.csv import FORMAT, MAX_BYTES, MAX_LINE, WINDOW_ROWS
from a2c_smcp.documents.model import Element, Page, PageEntry
from a2c_smcp.errors import DocumentError


def opened(folder: Path, data: str | bytes, name: str = "data.csv") -> OpenDocument:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return FORMAT.open(path)


def table(document: OpenDocument, element_id: str = "tbl-001") -> Element:
    found = document.find(element_id)
    assert found is not None
    return found[1]


def test_a_file_is_one_page_with_one_table(tmp_path: Path) -> None:
    document = opened(tmp_path, "year,sum\n2025,10\n2026,12\n", "sales.csv")
    element = Element(
        "tbl-001",
        "table",
        {
            "headers": ["year", "sum"],
            "rows": [["2025", "10"], ["2026", "12"]],
            "total_rows": 2,
            "total_columns": 2,
        },
        "2 rows × 2 columns: year, sum",
        {"source_range": "A1:B3", "encoding": "utf-8", "delimiter": ","},
    )
    assert document.describe() == Description("", 1, ("year", "sum"), "2 rows × 2 columns: year, sum")
    assert list(document.entries(0, 20)) == [PageEntry(0, "sales", 1)]
    assert document.page(0) == Page(0, "sales", (element,))
    assert document.find("tbl-001") == (0, element)


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        ("a,b\n1,2\n", [["1", "2"]]),
        ("a;b\n1,5;2,5\n", [["1,5", "2,5"]]),
        ("a\tb\n1\t2\n", [["1", "2"]]),
        ("a|b\n1|2\n", [["1", "2"]]),
        ("sep=#\na#b\n1#2\n", [["1", "2"]]),
        ("a,b\r\n1,2\r\n", [["1", "2"]]),
        ("a,b\r1,2\r", [["1", "2"]]),
        ('a,b\n"x, y","say ""hi""\nagain"\n', [["x, y", 'say "hi"\nagain']]),
        ("a,b\n\n1,2\n\n\n3,4", [["1", "2"], ["3", "4"]]),
        ("a,b\n1\n1,2,3\n", [["1"], ["1", "2", "3"]]),
    ],
    ids=["comma", "semicolon", "tab", "pipe", "named", "crlf", "cr", "quoted", "blank lines", "ragged"],
)
def test_the_dialect_is_found_out(tmp_path: Path, data: str, rows: list[list[str]]) -> None:
    content = table(opened(tmp_path, data)).content
    assert (content["headers"], content["rows"]) == (["a", "b"], rows)


def test_a_tsv_keeps_its_commas(tmp_path: Path) -> None:
    assert table(opened(tmp_path, "a\tb,c\n1,5\t2\n", "x.tsv")).content["rows"] == [["1,5", "2"]]


def test_a_single_column_needs_no_delimiter(tmp_path: Path) -> None:
    assert table(opened(tmp_path, "name\nx\ny\n")).content["rows"] == [["x"], ["y"]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_chinese_is_read_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    element = table(opened(tmp_path, "季度,收入\n一季度,十二万\n".encode(encoding)))
    assert (element.content["headers"], element.content["rows"]) == (["季度", "收入"], [["一季度", "十二万"]])
    assert element.metadata["encoding"] == encoding


@pytest.mark.parametrize("first", ["1,2", "a,a", "a,", "2025-01,3.5", "12 %,x"])
def test_a_first_line_that_holds_values_is_no_header(tmp_path: Path, first: str) -> None:
    content = table(opened(tmp_path, f"{first}\nx,y\n")).content
    assert (content["headers"], len(content["rows"]), content["total_rows"]) == ([], 2, 2)


@pytest.mark.parametrize(
    ("text", "headers"),
    [
        (",name,age\n0,Ada,36\n1,Bob,41\n", ["", "name", "age"]),
        ("name,age,\nAda,36,\n", ["name", "age", ""]),
        ("name,,age\nAda,x,36\n", ["name", "", "age"]),
        ("value,value\n1,2\n", ["value", "value"]),
        ("Country,2019,2020\nChina,6.0,2.2\n", ["Country", "2019", "2020"]),
        ("name,,city\nAda,x,London\n", []),
        ("Ada,1815\nBob,1920\n", []),
    ],
)
def test_a_header_may_have_gaps_twins_and_years_where_what_is_below_differs(
    tmp_path: Path, text: str, headers: list[str]
) -> None:
    assert table(opened(tmp_path, text)).content["headers"] == headers


def test_a_header_alone_is_a_table_without_rows(tmp_path: Path) -> None:
    element = table(opened(tmp_path, "a,b\n"))
    assert (element.content["rows"], element.summary) == ([], "0 rows × 2 columns: a, b")
    assert element.metadata["source_range"] == "A1:B1"


@pytest.mark.parametrize("data", ["", "\n\n", "\ufeff"])
def test_an_empty_file_has_no_pages(tmp_path: Path, data: str) -> None:
    document = opened(tmp_path, data)
    assert document.describe() == Description("", 0, (), "Empty file")
    assert (list(document.entries(0, 20)), document.find("tbl-001")) == ([], None)


def test_a_long_table_comes_in_windows_that_join_to_the_whole(tmp_path: Path) -> None:
    count = WINDOW_ROWS * 2 + 50
    document = opened(tmp_path, "n,m\n" + "".join(f"{n},x\n" for n in range(count)))
    rows: list[list[str]] = []
    element_id: str | None = "tbl-001"
    ranges = []
    while element_id is not None:
        element = table(document, element_id)
        assert element.content.get("row_offset", 0) == len(rows)
        rows += element.content["rows"]
        ranges.append(element.metadata["source_range"])
        element_id = element.metadata.get("next")
    assert rows == [[str(n), "x"] for n in range(count)]
    assert ranges == ["A1:B201", "A202:B401", "A402:B451"]


def test_the_summary_of_a_window_says_where_the_table_goes_on(tmp_path: Path) -> None:
    document = opened(tmp_path, "n\n" + "x\n" * 300)
    assert [table(document).summary, table(document, "tbl-001-r201").summary] == [
        "Rows 1–200 (next: tbl-001-r201) of 300 rows × 1 column: n",
        "Rows 201–300 of 300 rows × 1 column: n",
    ]


def test_a_window_may_begin_with_any_row(tmp_path: Path) -> None:
    document = opened(tmp_path, "n\n" + "".join(f"{n}\n" for n in range(1, 301)))
    content = table(document, "tbl-001-r150").content
    assert (content["rows"][0], content["row_offset"], content["total_rows"]) == (["150"], 149, 300)


@pytest.mark.parametrize("element_id", ["tbl-001-r301", "tbl-001-r0", "tbl-001-r", "tbl-002", "tbl-001-r1x", "h-001"])
def test_other_ids_are_unknown(tmp_path: Path, element_id: str) -> None:
    assert opened(tmp_path, "n\n" + "x\n" * 300).find(element_id) is None


def test_windows_of_wide_rows_hold_fewer_of_them(tmp_path: Path) -> None:
    element = table(opened(tmp_path, "a\n" + ("x" * 100_000 + "\n") * 9))
    assert (len(element.content["rows"]), element.metadata["next"]) == (2, "tbl-001-r3")


def test_the_content_has_the_shape_of_a_table(tmp_path: Path) -> None:
    element = table(opened(tmp_path, "n,m\n" + "1,2\n" * 300), "tbl-001-r201")
    assert validate_content("table", element.content) == element.content


def test_columns_are_named_like_in_a_sheet(tmp_path: Path) -> None:
    header = ",".join(f"c{n}" for n in range(703))
    assert table(opened(tmp_path, f"{header}\n{'x,' * 702}x\n")).metadata["source_range"] == "A1:AAA2"


def test_a_cell_may_be_as_long_as_a_line(tmp_path: Path) -> None:
    article = "word " * 100_000
    (tmp_path / "a.csv").write_text(f'title,text\nFirst,"{article}"\n')
    (table,) = FORMAT.open(tmp_path / "a.csv").page(0).elements
    assert table.content["rows"] == [["First", article]]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x00\x01\x02" * 50, "not text"),
        (b"a,b\n" + b"x" * (MAX_LINE + 2), "line 2 is longer than 1 MiB"),
        (b'a,b\n"' + b"x\n" * 600_000, "line .* cannot be read: field larger than field limit"),
    ],
    ids=["binary", "long line", "endless cell"],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        opened(tmp_path, data)


def test_a_damaged_character_far_into_a_file_is_replaced(tmp_path: Path) -> None:
    document = opened(tmp_path, b"name\n" + "é\n".encode() * 40_000 + b"a\xff\n")
    assert table(document, "tbl-001-r40000").content["rows"] == [["é"], ["a\ufffd"]]


def test_a_huge_file_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(DocumentError, match="larger than the 256 MiB"):
        FORMAT.open(path)


def test_reading_a_large_file_holds_no_more_than_a_window(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text("n,text\n" + "".join(f"{n},{'x' * 300}\n" for n in range(30_000)), encoding="utf-8")
    tracemalloc.start()
    try:
        document = FORMAT.open(path)
        assert document.describe().summary == "30000 rows × 2 columns: n, text"
        assert table(document, "tbl-001-r29901").content["rows"][-1][0] == "29999"
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20
