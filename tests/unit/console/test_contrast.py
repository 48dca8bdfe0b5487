"""The colours of the page: text can be read on every ground it stands on, in the light and in the dark."""

import re
from itertools import product

import pytest

from a2c_smcp.console.api import ASSETS

ENOUGH = 4.5
"""WCAG 2.2, success criterion 1.4.3, level AA."""

CSS = (ASSETS / "console.css").read_text(encoding="utf-8")
LIGHT = r":root \{(.*?)\}"
DARK = r":root\[data-theme=\"dark\"\] \{(.*?)\}"
GROUNDS = ("canvas", "card", "sunk")
PAIRS = [
    *product(("text", "dim", "accent", "bad"), GROUNDS),
    *((kind, f"{kind}-soft") for kind in ("good", "warn", "bad", "accent")),
    ("text", "accent-soft"),
    ("dim", "accent-soft"),
    ("text", "warn-soft"),
    ("on-accent", "accent"),
]


def colors(theme: str) -> dict[str, str]:
    """The colours that a theme names."""
    (block,) = re.findall(theme, CSS, re.DOTALL)[:1]
    return dict(re.findall(r"--([\w-]+): #([0-9a-f]{6});", block))


def luminance(color: str) -> float:
    """How bright a colour is, as WCAG defines it."""
    parts = [int(color[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """How far two colours are apart: 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_measure_is_that_of_the_standard() -> None:
    assert contrast("000000", "ffffff") == pytest.approx(21)
    assert contrast("777777", "ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_text_stands_out_from_its_ground(theme: str, text: str, ground: str) -> None:
    found = colors(theme)
    assert contrast(found[text], found[ground]) >= ENOUGH
