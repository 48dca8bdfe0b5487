"""Items as nested lists."""

from a2c_smcp.documents.pdf.lists import list_content, lists_of
from a2c_smcp.documents.pdf.words import Block, Font, Line


def item(label: str, text: str, x: float = 72.0) -> Block:
    told = f"{label} {text}" if label else text
    return Block([Line(told, x, 0, 200, 10, 10, Font(), 0, len(told))], "list", label=f"{label} " if label else "")


def test_marks_are_not_part_of_the_text() -> None:
    assert list_content([item("•", "fox"), item("•", "hen")]) == {"ordered": False, "items": ["fox", "hen"]}


def test_numbers_that_count_on_make_an_ordered_list() -> None:
    assert list_content([item("4.", "fox"), item("5.", "hen")]) == {
        "ordered": True,
        "items": ["fox", "hen"],
        "start": 4,
    }


def test_labels_that_do_not_count_stay_in_the_text() -> None:
    assert list_content([item("a)", "fox"), item("b)", "hen")]) == {"ordered": False, "items": ["a) fox", "b) hen"]}


def test_items_further_right_nest_in_the_one_above() -> None:
    items = [item("1.", "fox"), item("•", "red", 90), item("•", "arctic", 90), item("2.", "hen")]
    assert list_content(items) == {
        "ordered": True,
        "items": [{"text": "fox", "children": {"ordered": False, "items": ["red", "arctic"]}}, "hen"],
    }


def test_items_that_return_to_an_outer_list_and_nest_again_are_all_kept() -> None:
    items = [item("•", "a"), item("•", "b", 100), item("•", "c", 85), item("•", "d")]
    assert list_content(items) == {
        "ordered": False,
        "items": [{"text": "a", "children": {"ordered": False, "items": ["b", "c"]}}, "d"],
    }


def test_a_numbered_list_right_after_one_with_bullets_is_another_list() -> None:
    bullets = [item("•", "fox"), item("1.", "red", 90), item("•", "hen")]
    numbers = [item("1.", "run", 70), item("•", "fast", 90), item("2.", "hide", 70)]
    assert lists_of([*bullets, *numbers]) == [bullets, numbers]


def test_labels_of_one_kind_are_one_list() -> None:
    items = [item("a)", "fox"), item("1.", "hen"), item("II.", "owl")]
    assert lists_of(items) == [items]
