"""The examples of the reference are true."""

import json
import re
from pathlib import Path

import pytest

from a2c_smcp.documents import validate_content
from a2c_smcp.documents.render.escape import paragraphs
from a2c_smcp.types import CATEGORIES

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "documents.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"### `(\w+)`\n.*?```json\n(.*?)```", PAGE, re.DOTALL)
ESCAPES = re.findall(r"^\| `(.*)` \| `(.*)` \|$", PAGE.partition("Only what would take effect")[2], re.MULTILINE)


@pytest.mark.rule("7.2.categories")
def test_the_reference_shows_every_category_in_order() -> None:
    assert tuple(category for category, _ in EXAMPLES) == CATEGORIES


@pytest.mark.rule("7.2.categories")
@pytest.mark.parametrize(("category", "example"), EXAMPLES)
def test_an_example_has_the_shape_of_its_category(category: str, example: str) -> None:
    validate_content(category, json.loads(example))


@pytest.mark.rule("7.8.escape")
@pytest.mark.parametrize(("text", "markdown"), ESCAPES)
def test_a_text_is_escaped_as_the_reference_says(text: str, markdown: str) -> None:
    assert paragraphs(text) == [markdown]


def test_the_reference_shows_both_what_stays_and_what_is_escaped() -> None:
    assert {text == markdown for text, markdown in ESCAPES} == {True, False}
