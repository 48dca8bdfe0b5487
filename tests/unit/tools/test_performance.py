"""The table of the benchmarks on its pages."""

import io
from pathlib import Path

import pytest

from benchmarks.table import Row, lines
from tools.performance import BEGIN, DOCS, END, PAGES, main

TABLE = "\n".join(lines([Row("relay", 90, 389, 0.625), Row("desktop", 1, 55, 0.05, "ms")]))


def page(folder: Path, text: str = f"# Speed\n\n{BEGIN}\nold\n{END}\n\nMore.\n") -> Path:
    path = folder / "performance.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_table_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = page(tmp_path)
    output = tmp_path / "bench.txt"
    detail = "| reader | F1 |\n| --- | --- |\n| a2c-smcp | 0.99 |\n"
    output.write_text(f"measuring relay …\n{detail}\n{TABLE}\nmake: done\n", encoding="utf-8")
    assert main([str(output)], tmp_path) == 0
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# Speed\n\n{BEGIN}\n")
    assert text.endswith(f"{TABLE}\n\n{END}\n\nMore.\n")
    assert "old" not in text
    assert "F1" not in text


def test_filling_a_page_again_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = page(tmp_path)
    texts = []
    for _ in range(2):
        monkeypatch.setattr("sys.stdin", io.StringIO(TABLE))
        assert main([], tmp_path) == 0
        texts.append(path.read_text(encoding="utf-8"))
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("text", "output", "says"),
    [(f"{BEGIN}\n{END}", "make: *** no rule", "there is no table"), ("# Speed", TABLE, "the page has no")],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(
    text: str,
    output: str,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = page(tmp_path, text)
    monkeypatch.setattr("sys.stdin", io.StringIO(output))
    assert main([], tmp_path) == 1
    assert says in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == text


def test_the_pages_of_the_documentation_have_a_place_for_it() -> None:
    for name in PAGES:
        text = (DOCS / name).read_text(encoding="utf-8")
        assert text.count(BEGIN) == text.count(END) == 1
