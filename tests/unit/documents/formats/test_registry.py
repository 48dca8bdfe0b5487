import pytest

from a2c_smcp.documents.formats.registry import format_of, formats


def test_formats_are_found_by_being_there() -> None:
    assert [type(known).__name__ for known in formats()] == ["CsvFormat", "MarkdownFormat", "TextFormat"]


@pytest.mark.parametrize(
    ("name", "file_type"),
    [
        ("a.md", "md"),
        ("A.MARKDOWN", "md"),
        ("a.csv", "csv"),
        ("a.tsv", "tsv"),
        ("a.tab", "tsv"),
        ("a.txt", "txt"),
        ("server.log", "txt"),
        ("README", "txt"),
        ("License", "txt"),
        ("数据.csv", "csv"),
    ],
)
def test_a_file_is_known_by_its_name(name: str, file_type: str) -> None:
    found = format_of(name)
    assert found is not None
    assert found[1] == file_type


@pytest.mark.parametrize("name", ["a.pdf", "a.exe", "md", "a.md.bak", "", "a"])
def test_other_files_are_no_documents(name: str) -> None:
    assert format_of(name) is None
