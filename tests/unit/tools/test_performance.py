"""The table of the benchmarks on its pages."""

import io
from pathlib import Path

import pytest

from benchmarks import table
from benchmarks.documents.quality import run, run_tables
from benchmarks.table import LeftOut, Row, lines
from tools import performance
from tools.performance import BEGIN, DOCS, END, PAGES, main

TABLE = "\n".join(
    lines([Row("relay", 90, 389, 0.625, basis="8 offices"), Row("desktop", 1, 55, 0.05, "ms", basis="50 windows")])
)


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


def test_rows_without_their_files_are_named_below_the_table(tmp_path: Path) -> None:
    assert performance.LEFT_OUT == table.LEFT_OUT
    path = page(tmp_path)
    output = tmp_path / "bench.txt"
    left_out = LeftOut("walk", 2, ["a.pdf"])
    printed = "\n".join(lines([Row("relay", 90, 389, 0.625, basis="8 offices"), left_out]))
    output.write_text(f"{printed}\nmake: done\n", encoding="utf-8")
    assert main([str(output)], tmp_path) == 0
    text = path.read_text(encoding="utf-8")
    assert f"\n\n{table.LEFT_OUT}\n\n- walk: 1 of its 2 files are not here (a.pdf)\n\n{END}" in text
    assert "make: done" not in text


def test_every_row_says_what_it_was_measured_on() -> None:
    for name in PAGES:
        text = (DOCS / name).read_text(encoding="utf-8")
        rows = [line.split(" | ") for line in text.partition(BEGIN)[2].partition(END)[0].splitlines() if "|" in line]
        assert rows[0][:2] == ["| what", "measured on"]
        assert [row[0] for row in rows if not row[1].strip()] == []


def test_a_row_is_left_out_where_one_of_its_files_is_missing(tmp_path: Path) -> None:
    truth, tables = tmp_path / "truth", tmp_path / "tables"
    for folder in (truth, tables / "tuned", tables / "unseen"):
        folder.mkdir(parents=True)
        for number, file in enumerate(("pdf_table_latex.pdf", "pdf_nowhere.pdf")):
            (folder / f"{number}.txt").write_text(f"file {file}\npage 0\n", encoding="utf-8")
    measured = [*run(tmp_path, truth), *run_tables(tmp_path, tables)]
    assert [(one.files, one.missing) for one in measured if isinstance(one, LeftOut)] == [(2, ["pdf_nowhere.pdf"])] * 3
    assert len(measured) == 3


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
