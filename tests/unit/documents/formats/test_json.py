"""JSON and JSON Lines: what has the shape of a table is one, and large files are read in parts."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.data.structure import elements_of_value
from a2c_smcp.documents.formats.base import Description, OpenDocument
from a2c_smcp.documents.formats.elements import ElementMaker
from a2c_smcp.documents.formats.json import FORMAT
from a2c_smcp.errors import DocumentError


def opened(folder: Path, text: str | bytes, name: str = "a.json") -> OpenDocument:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return FORMAT.open(path)


def contents(value: object) -> list[tuple[str, Any]]:
    return [(element.category, dict(element.content)) for element in elements_of_value(value, ElementMaker())]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (
            [{"a": 1, "b": "x"}, {"a": 2.5, "c": [1]}],
            [("table", {"headers": ["a", "b", "c"], "rows": [[1, "x", None], [2.5, None, "[1]"]]})],
        ),
        ({"a": 1, "b": None}, [("table", {"headers": ["key", "value"], "rows": [["a", 1], ["b", None]]})]),
        (["x", 1, True], [("list", {"ordered": False, "items": ["x", "1", "true"]})]),
        ([[1, 2], [3, 4]], [("table", {"headers": [], "rows": [[1, 2], [3, 4]]})]),
        (
            {"n": 1, "rows": [{"a": 1}]},
            [
                ("table", {"headers": ["key", "value"], "rows": [["n", 1]]}),
                ("heading", {"level": 2, "text": "rows"}),
                ("table", {"headers": ["a"], "rows": [[1]]}),
            ],
        ),
        ("text", [("code", {"text": '"text"', "language": "json"})]),
        ([1, {"a": 1}], [("code", {"text": '[\n  1,\n  {\n    "a": 1\n  }\n]', "language": "json"})]),
        ([], [("code", {"text": "[]", "language": "json"})]),
    ],
)
def test_values_have_the_form_a_person_expects(value: object, found: list[tuple[str, Any]]) -> None:
    assert contents(value) == found


def test_a_file_says_what_it_holds(tmp_path: Path) -> None:
    assert opened(tmp_path, '{"title": "Report", "n": 1}').describe() == Description(
        "Report", 1, ("title", "n"), "Object of 2 keys: title, n"
    )
    assert opened(tmp_path, '[{"a": 1}, {"a": 2}]').describe() == Description("", 1, ("a",), "2 records: a")


def test_a_long_list_of_records_comes_in_windows(tmp_path: Path) -> None:
    document = opened(tmp_path, json.dumps([{"i": number, "t": "x" * 50} for number in range(450)]))
    windows = [e for index in range(document.describe().page_count) for e in document.page(index).elements]
    assert [(w.content["row_offset"], len(w.content["rows"]), w.content["total_rows"]) for w in windows] == [
        (0, 200, 450),
        (200, 200, 450),
        (400, 50, 450),
    ]


def test_a_large_object_has_a_page_for_each_key(tmp_path: Path) -> None:
    value = {key: [{"text": "word " * 20} for _ in range(60)] for key in ("one", "two", "three")}
    document = opened(tmp_path, json.dumps(value))
    assert [entry.title for entry in document.entries(0, 9)] == ["one", "two", "three"]


def test_settings_with_comments_are_shown_as_they_are(tmp_path: Path) -> None:
    document = opened(tmp_path, '{\n // why\n "a": 1,\n}')
    assert document.page(0).elements[0].content == {"text": '{\n // why\n "a": 1,\n}', "language": "json"}
    assert "Not valid JSON (line 2" in document.describe().summary


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 100_000 + "]" * 100_000])
def test_what_nests_too_deeply_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DocumentError, match="deeply"):
        opened(tmp_path, text)


def test_a_number_of_a_million_digits_is_kept_as_text(tmp_path: Path) -> None:
    document = opened(tmp_path, '{"n": ' + "9" * 100_000 + "}")
    assert document.page(0).elements[0].content["rows"] == [["n", "9" * 100_000]]


def test_numbers_that_are_none_are_text(tmp_path: Path) -> None:
    assert opened(tmp_path, '{"n": NaN}').page(0).elements[0].content["rows"] == [["n", "nan"]]


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text("ab中 ", max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("kq", min_size=1, max_size=3), inner, max_size=4)
    ),
    max_leaves=25,
)


@given(values)
def test_every_value_gives_valid_content_with_all_its_text(value: object) -> None:
    def texts(part: object) -> list[str]:
        if isinstance(part, dict):
            return [text for key, item in part.items() for text in (key, *texts(item))]
        if isinstance(part, list):
            return [text for item in part for text in texts(item)]
        return [part] if isinstance(part, str) else []

    found = list(elements_of_value(value, ElementMaker()))
    for element in found:
        validate_content(element.category, dict(element.content))
    shown = json.dumps([dict(element.content) for element in found], ensure_ascii=False)
    assert all(json.dumps(text, ensure_ascii=False)[1:-1] in shown for text in texts(value))


def lines(count: int) -> str:
    return "".join(json.dumps({"i": number, "t": f"v{number}"}) + "\n" for number in range(count))


def test_json_lines_have_a_page_for_every_two_hundred(tmp_path: Path) -> None:
    document = opened(tmp_path, lines(450), "a.jsonl")
    assert document.describe() == Description("", 3, ("i", "t"), "450 records: i, t")
    assert [(entry.title, entry.element_count) for entry in document.entries(0, 9)] == [
        ("Records 1–200", 1),
        ("Records 201–400", 1),
        ("Records 401–450", 1),
    ]
    [table] = document.page(2).elements
    assert (table.id, table.content["rows"][0], table.content["row_offset"]) == ("p2-tbl1", [400, "v400"], 400)
    assert document.find("p2-tbl1") == (2, table)
    assert [document.find(wrong) for wrong in ("p7-tbl1", "tbl-001")] == [None, None]


def test_lines_that_are_no_json_are_kept_beside_the_others(tmp_path: Path) -> None:
    [table, broken] = opened(tmp_path, lines(2) + "\nbad {\n", "a.ndjson").page(0).elements
    assert (len(table.content["rows"]), broken.content) == (2, {"text": "bad {", "language": "text"})


def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="longer"):
        opened(tmp_path, b'"' + b"x" * (5 << 20), "a.jsonl")


def test_empty_files_have_no_pages(tmp_path: Path) -> None:
    assert opened(tmp_path, "").describe() == Description(summary="Empty file")
    assert opened(tmp_path, "\n\n", "a.jsonl").describe() == Description(summary="Empty file")
