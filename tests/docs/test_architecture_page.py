"""The page about the architecture names modules that exist, and keeps each journey short."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / "architecture.md", ROOT / "docs" / "zh" / "architecture.md"]
MAX_STOPS = 12


def modules_in(text: str) -> set[str]:
    """Every path in backticks that looks like a module or a folder."""
    return {name for name in re.findall(r"`([\w/]+(?:\.py)?)`", text) if name.endswith(".py") or "/static/" in name}


@pytest.mark.parametrize("page", PAGES, ids=["en", "zh"])
def test_every_module_that_is_named_exists(page: Path) -> None:
    named = modules_in(page.read_text(encoding="utf-8"))
    places = [ROOT / "a2c_smcp", ROOT]
    missing = sorted(name for name in named if not any((place / name).exists() for place in places))
    assert len(named) > 40
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=["en", "zh"])
def test_a_journey_has_few_stops(page: Path) -> None:
    stops = [int(number) for number in re.findall(r"^(\d+)\. `", page.read_text(encoding="utf-8"), re.MULTILINE)]
    assert stops.count(1) == 4
    assert max(stops) <= MAX_STOPS


def test_both_pages_name_the_same_modules() -> None:
    english, chinese = (modules_in(page.read_text(encoding="utf-8")) for page in PAGES)
    assert english == chinese
