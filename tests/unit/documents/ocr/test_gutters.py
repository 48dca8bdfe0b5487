"""The blank strip between two columns, found by what is not there."""

import random

import pytest
from PIL import Image, ImageDraw

from a2c_smcp.documents.ocr.gutters import Ink

HEIGHT = 20


def page(columns: list[tuple[int, int]], lines: int = 14) -> Image.Image:
    """Return lines of word-like bars in columns."""
    picture = Image.new("RGB", (900, lines * 28 + 40), "white")
    draw = ImageDraw.Draw(picture)
    chance = random.Random(7)
    for line in range(lines):
        top = 20 + line * 28
        for left, right in columns:
            x = left
            while x < right:
                width = chance.randrange(20, 90)
                draw.rectangle((x, top, min(x + width, right), top + HEIGHT - 6), fill="black")
                x += width + chance.randrange(6, 11)
    return picture


def test_a_line_across_the_gutter_is_divided_there() -> None:
    split = Ink(page([(20, 430), (446, 880)])).split_of((20, 160, 880, 180))
    assert split is not None
    assert 430 < split < 446


@pytest.mark.parametrize(
    "box",
    [
        (20, 160, 880, 180),
        (20, 20, 880, 40),
        (20, 160, 100, 180),
        (20, 160, 880, 162),
    ],
)
def test_blanks_between_words_are_no_gutter(box: tuple[int, int, int, int]) -> None:
    assert Ink(page([(20, 880)])).split_of(box) is None


def test_a_few_lines_are_not_enough_to_tell() -> None:
    assert Ink(page([(20, 430), (446, 880)], lines=3)).split_of((20, 20, 880, 40)) is None
