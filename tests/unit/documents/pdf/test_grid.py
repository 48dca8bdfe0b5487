"""From a region to rows of cells."""

from collections.abc import Sequence

from a2c_smcp.documents.pdf.graphics import Rule
from a2c_smcp.documents.pdf.grid import Grid, Region, grid_of, split_at_headers
from a2c_smcp.documents.pdf.words import Font, Line, Word


def words(rows: Sequence[Sequence[tuple[float, str]]], top: float = 5.0, pitch: float = 20.0) -> list[Word]:
    found = []
    for number, row in enumerate(rows):
        for x, text in row:
            y = top + number * pitch
            line = Line(text, x, y, x + 5 * len(text), y + 10, 10.0, Font(), 0, len(text))
            found += [
                Word(part, x + 5 * text.index(part), y, x + 5 * (text.index(part) + len(part)), y + 10, line)
                for part in text.split()
            ]
    return found


def lattice(xs: Sequence[float], ys: Sequence[float]) -> Region:
    across = tuple(Rule(xs[0], xs[-1], y) for y in ys)
    down = tuple(Rule(ys[0], ys[-1], x) for x in xs)
    return Region(xs[0], ys[0], xs[-1], ys[-1], across, down)


def texts(grid: Grid | None) -> list[list[str]]:
    assert grid is not None
    return grid.texts


def test_rules_make_rows_and_columns() -> None:
    told = words([[(5, "Animal"), (105, "Legs")], [(5, "Fox"), (105, "4")]])
    assert texts(grid_of(lattice([0, 100, 200], [0, 20, 40]), told, 10.0)) == [["Animal", "Legs"], ["Fox", "4"]]


def test_a_cell_that_no_rule_divides_is_merged() -> None:
    region = lattice([0, 100, 200], [0, 20, 40])
    open_row = Region(0, 0, 200, 40, region.across, (Rule(0, 40, 0), Rule(20, 40, 100), Rule(0, 40, 200)))
    grid = grid_of(open_row, words([[(5, "Animals and legs")], [(5, "Fox"), (105, "4")]]), 10.0)
    assert grid is not None
    assert (grid.texts, grid.merged) == ([["Animals and legs", ""], ["Fox", "4"]], [(0, 0, 1, 2)])


def test_rows_that_no_rule_divides_are_found_by_their_text() -> None:
    rows = [
        [(5, name), (105, legs), (205, "yes")]
        for name, legs in (("Fox", "4"), ("Hen", "2"), ("Ant", "6"), ("Eel", "0"))
    ]
    region = lattice([0, 100, 200, 300], [0, 80])
    assert texts(grid_of(region, words(rows), 10.0)) == [[cell for _, cell in row] for row in rows]


def test_wrapped_cells_stay_one_row() -> None:
    rows = [
        [(5, "Animal"), (105, "Where")],
        [(5, "Fox"), (105, "lives in the old wood")],
        [(105, "and near small towns")],
    ]
    region = lattice([0, 100, 215], [0, 24, 60])
    assert texts(grid_of(region, words(rows, 8.0, 19.0), 10.0)) == [
        ["Animal", "Where"],
        ["Fox", "lives in the old wood and near small towns"],
    ]


def test_gaps_make_columns_where_there_are_no_rules() -> None:
    rows = [[(5, "Animal"), (105, "Legs")], [(5, "Fox"), (105, "4")], [(5, "Hen"), (105, "2")]]
    assert texts(grid_of(Region(0, 0, 200, 60), words(rows), 10.0)) == [[cell for _, cell in row] for row in rows]


def test_a_line_that_goes_on_with_the_cell_above_is_no_row() -> None:
    rows = [
        [(5, "Name"), (105, "What is known of it")],
        [(5, "Fox"), (105, "lives in the old forest")],
        [(105, "and near the small towns")],
        [(5, "Hen"), (105, "lives with us")],
    ]
    found = texts(grid_of(Region(0, 0, 226, 60), words(rows, pitch=12.0), 10.0))
    assert found == [
        ["Name", "What is known of it"],
        ["Fox", "lives in the old forest and near the small towns"],
        ["Hen", "lives with us"],
    ]


def test_a_single_column_is_no_table() -> None:
    assert grid_of(Region(0, 0, 200, 60), words([[(5, "one")], [(5, "two")], [(5, "three")]]), 10.0) is None


def test_a_header_that_comes_again_begins_another_table() -> None:
    head = [(5.0, "Key"), (105.0, "Meaning")]
    rows = [head, [(5.0, "a"), (105.0, "first")], [(5.0, "Motion")], head, [(5.0, "b"), (105.0, "second")]]
    cells = [[[placed] for placed in words([row])] + [[]] * (2 - len(row)) for row in rows]
    tables = split_at_headers(Grid(cells))
    assert [table.texts for table in tables] == [
        [["Key", "Meaning"], ["a", "first"]],
        [["Key", "Meaning"], ["b", "second"]],
    ]
    assert [word.text for word in tables[1].title] == ["Motion"]
