"""Tables of PDF pages that no grid of lines tells, and pages that only look like tables."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.documents.outcome import read_truth
from benchmarks.documents.sources import sources
from tests.documents.pdf.making import Made, MadePage, lines, rule, text
from tests.documents.pdf.test_reading import PROSE, contents, opened

ROOT = Path(__file__).parents[3]


def rows_at(xs: Sequence[float], y: float, rows: Sequence[Sequence[str]], leading: float = 12) -> str:
    """Return operators that write rows of cells that begin at places."""
    return "".join(
        text(x, y - number * leading, cell)
        for number, row in enumerate(rows)
        for x, cell in zip(xs, row, strict=True)
        if cell
    )


def tables(folder: Path, content: str) -> list[list[list[str]]]:
    """Return the rows of the tables on a page, the header among them."""
    found = contents(opened(folder, Made([MadePage(content)])), "table")
    return [[table["headers"], *table["rows"]] if table["headers"] else table["rows"] for table in found]


def test_three_rules_and_narrow_gaps_are_a_table(tmp_path: Path) -> None:
    rows = [["", "mpg", "cyl", "hp"], ["Datsun", "22.8", "4", "93"], ["Mazda", "21.0", "6", "110"]]
    content = lines(72, 700, PROSE) + rows_at((100, 140, 168, 190), 600, rows)
    content += rule(98, 612, 212, 612) + rule(98, 597, 212, 597) + rule(98, 572, 212, 572)
    assert tables(tmp_path, content) == [rows]


def test_short_lines_whose_words_begin_alike_are_a_table_without_rules(tmp_path: Path) -> None:
    rows = [["Style", "Example"], ["default", "2 Co 12:1"], ["english", "II Cor 12"], ["short", "2 Cor xii"]]
    content = lines(72, 700, PROSE) + rows_at((72, 118), 600, rows)
    assert tables(tmp_path, content) == [rows]


def test_lines_between_two_rules_that_leave_room_are_rows_of_their_own(tmp_path: Path) -> None:
    rows = [["Group", "Function", "Meaning"], ["label", "border()", "labels at the border"], ["", "cells()", "labels"]]
    rows += [["shade", "binary()", "the sign"], ["", "hcl()", "colours by hue, chroma and luminance"]]
    content = rows_at((80, 130, 200), 600, rows)
    for y in (612, 596, 572, 548):
        content += rule(76, y, 400, y)
    for x in (76, 126, 196, 400):
        content += rule(x, 612, x, 548)
    assert tables(tmp_path, content) == [rows]


def test_a_line_without_the_column_that_most_lines_fill_goes_on_with_the_row_above(tmp_path: Path) -> None:
    rows = [["Key", "Meaning"], ["C-a", "Go to the beginning."], ["C-e", "Go to the end of the line,"]]
    rows += [["", "or of the page."], ["C-k", "Delete the rest."], ["C-y", "Put it back."]]
    content = lines(72, 700, PROSE) + rows_at((80, 160), 600, rows)
    joined = [*rows[:2], ["C-e", "Go to the end of the line, or of the page."], *rows[4:]]
    assert tables(tmp_path, content) == [joined]


def test_a_long_label_is_one_with_the_numbers_beside_its_last_line(tmp_path: Path) -> None:
    rows = [["Offense", "Total", "Male"], ["Fraud", "173", "98"], ["Murder and", "", ""], ["manslaughter", "10", "9"]]
    rows += [["Robbery", "102", "90"]]
    content = rows_at((80, 200, 260), 600, rows)
    for y in (612, 596, 548):
        content += rule(76, y, 300, y)
    assert tables(tmp_path, content) == [[*rows[:2], ["Murder and manslaughter", "10", "9"], rows[4]]]


def test_names_of_columns_above_the_first_rule_may_wrap(tmp_path: Path) -> None:
    content = rows_at((80, 160, 240), 600, [["Summary by", "Permanent", "Temporary"], ["Month", "Layoff", "Layoff"]])
    content += rows_at((80, 160, 240), 570, [["July 2015", "30", "2"], ["August 2015", "28", "7"], ["March", "1", "0"]])
    for y in (612, 584, 540):
        content += rule(76, y, 300, y)
    assert tables(tmp_path, content) == [
        [
            ["Summary by Month", "Permanent Layoff", "Temporary Layoff"],
            ["July 2015", "30", "2"],
            ["August 2015", "28", "7"],
            ["March", "1", "0"],
        ]
    ]


def test_a_cell_that_is_centred_beside_two_lines_is_in_their_row(tmp_path: Path) -> None:
    content = lines(72, 720, PROSE) + rows_at((80, 200), 640, [["Option", "Meaning"]])
    for number, (label, first, second) in enumerate(
        [("Anonymize=1", "If set then names are not", "copied."), ("Gzip=0", "If set then files are made", "small.")]
    ):
        y = 618 - 34 * number
        content += text(80, y - 6, label) + lines(200, y, [first, second])
    content += rows_at((80, 200), 550, [["AppendDate=1", "Names tell the date."]])
    assert tables(tmp_path, content) == [
        [
            ["Option", "Meaning"],
            ["Anonymize=1", "If set then names are not copied."],
            ["Gzip=0", "If set then files are made small."],
            ["AppendDate=1", "Names tell the date."],
        ]
    ]


def test_a_label_that_nearly_touches_the_next_column_stays_in_its_own(tmp_path: Path) -> None:
    rows = [["Text", "Description"], ["AnonymizeAll=0", "remove names"], ["Gzip=0", "make small files"]]
    rows += [["Append=1", "add the date"], ["Nifti=1", "write one file"]]
    content = lines(72, 700, PROSE) + rows_at((72, 149), 600, rows)
    assert tables(tmp_path, content) == [rows]


def test_a_box_around_the_page_does_not_hide_a_table(tmp_path: Path) -> None:
    rows = [["Name", "Count", "Note"], ["apple", "3", "red"], ["plum", "12", "blue and sweet"]]
    content = "40 40 530 700 re S\n" + lines(72, 700, PROSE) + rows_at((80, 160, 240), 600, rows, leading=14)
    for number in range(4):
        content += rule(76, 611 - 14 * number, 340, 611 - 14 * number)
    for x in (76, 156, 236, 340):
        content += rule(x, 611, x, 569)
    assert tables(tmp_path, content) == [rows]


def test_a_grid_may_be_one_path(tmp_path: Path) -> None:
    rows = [["Name", "Count", "Note"], ["apple", "3", "red"], ["plum", "12", "blue and sweet"]]
    across = "".join(f"76 {611 - 14 * number} m 340 {611 - 14 * number} l\n" for number in range(4))
    down = "".join(f"{x} 611 m {x} 569 l\n" for x in (76, 156, 236, 340))
    content = lines(72, 700, PROSE) + rows_at((80, 160, 240), 600, rows, leading=14)
    assert tables(tmp_path, f"{content}{across}{down}340 569 m 350 560 360 560 370 569 c S\n") == [rows]


def test_the_edges_of_boxes_are_no_rules_of_a_table_between_them(tmp_path: Path) -> None:
    boxes = "0.9 g 70 640 400 40 re f 70 500 400 40 re f 0 g\n"
    code = lines(80, 664, ["print(table)", "sum(table)"], font="F3") + lines(80, 524, ["exit()"], font="F3")
    assert tables(tmp_path, boxes + code + lines(72, 600, [*PROSE, "5     Formats", "5.1   Centred"])) == []


def test_titles_with_the_numbers_of_pages_far_right_are_no_table(tmp_path: Path) -> None:
    entries = [["Preface", "5"], ["The program", "6"], ["Introduction", "7"], ["Installing", "12"], ["Index", "130"]]
    assert tables(tmp_path, rows_at((72, 500), 700, entries, leading=20)) == []


def test_notes_in_the_margin_are_no_column_of_a_table(tmp_path: Path) -> None:
    notes = ["See the book on the foxes of", "the forest, which was printed", "in the days of the old king."]
    content = lines(72, 600, PROSE) + lines(440, 600, notes, size=8)
    assert tables(tmp_path, content) == []


def test_numbered_lines_of_code_in_a_box_are_no_table(tmp_path: Path) -> None:
    code = [[str(number + 1), line] for number, line in enumerate(["begin", "  item one", "  item two", "end"])]
    content = lines(72, 700, PROSE) + "70 540 300 80 re S\n" + rows_at((76, 100), 600, code)
    assert tables(tmp_path, content) == []


def test_numbered_lines_of_code_are_no_table_where_some_have_no_gap(tmp_path: Path) -> None:
    code = [["206", "{def one}"], ["", ""], ["208", "{def two}"], ["209 E", "{end}"], ["210", "{last}"]]
    between = text(76, 588, "207 newcommand{head}[2]%")
    content = lines(72, 700, PROSE) + rows_at((76, 130), 600, code) + between + lines(72, 500, PROSE)
    assert tables(tmp_path, content) == []


def test_titles_of_sections_around_a_table_are_headings(tmp_path: Path) -> None:
    rows = [["Options", "Pages"], ["first", "one, four"], ["even", "two, eight"], ["odd", "one, three"]]
    above = text(72, 616, "1.1", 10, "F2") + text(110, 616, "Examples", 10, "F2")
    below = text(72, 546, "2", 14, "F2") + text(110, 546, "History", 14, "F2")
    page = lines(72, 700, PROSE) + above + rows_at((72, 160), 600, rows) + below + lines(72, 500, PROSE)
    document = opened(tmp_path, Made([MadePage(page)]))
    assert [heading["text"] for heading in contents(document, "heading")] == ["1.1 Examples", "2 History"]
    assert [[table["headers"], *table["rows"]] for table in contents(document, "table")] == [rows]


def test_every_document_of_the_truth_lies_here_or_in_a_package() -> None:
    folder = ROOT / "benchmarks" / "documents" / "truth" / "tables"
    named = {page.file for half in ("tuned", "unseen") for page in read_truth(folder / half)}
    here = {path.name for path in (ROOT / "tests" / "data" / "documents").iterdir()}
    assert named - here == {source.file for source in sources()}
