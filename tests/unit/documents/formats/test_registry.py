from collections.abc import Iterator
from pathlib import Path

import pytest

from a2c_smcp.documents.formats import registry
from a2c_smcp.documents.formats.registry import format_of, format_of_file, formats


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module with a format, outside the package; forgotten afterwards."""
    (tmp_path / "a_format_elsewhere.py").write_text(
        "class Elsewhere:\n"
        "    def file_type(self, name):\n"
        "        return 'zzz' if name.endswith('.zzz') else None\n"
        "FORMAT = Elsewhere()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_registered", [])
    yield "a_format_elsewhere"
    formats.cache_clear()
    format_of.cache_clear()


def test_formats_are_found_by_being_there() -> None:
    assert {"CsvFormat", "MarkdownFormat", "TextFormat"} <= {type(known).__name__ for known in formats()}


def test_a_format_from_elsewhere_can_be_registered(elsewhere: str) -> None:
    before = format_of("a.zzz")
    registry.register(elsewhere)
    registry.register(elsewhere)
    found = format_of("a.zzz")
    assert (before, found and found[1], registry.registered()) == (None, "zzz", (elsewhere,))


def file(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("name", "data", "file_type"),
    [
        ("a.md", b"# Heading", "md"),
        ("a.md", b"a,b,c", "md"),
        ("a.csv", b"<html>", "csv"),
        ("a.txt", b"", "txt"),
        ("a.txt", b"PK\x03\x04 an archive of other things", "txt"),
        ("a.exe", b"# Heading", None),
    ],
)
def test_a_name_is_believed_unless_the_bytes_contradict(
    tmp_path: Path, name: str, data: bytes, file_type: str | None
) -> None:
    found = format_of_file(file(tmp_path, name, data))
    assert (found and found[1]) == file_type


def test_the_bytes_win_over_a_name_that_lies(tmp_path: Path) -> None:
    pdf = format_of("a.pdf")
    expected = pdf[1] if pdf else "txt"  # without the format there is nobody to ask
    found = format_of_file(file(tmp_path, "a.txt", b"%PDF-1.7\n"))
    assert found is not None
    assert found[1] == expected


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


@pytest.mark.parametrize("name", ["a.exe", "md", "a.md.bak", "", "a"])
def test_other_files_are_no_documents(name: str) -> None:
    assert format_of(name) is None
