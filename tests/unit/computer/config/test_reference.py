"""The reference page of the configuration: its files load, and no field is missing."""

import re
from pathlib import Path

import pytest

from a2c_smcp.computer import config_schema, parse_config_text

PAGE = (Path(__file__).parents[4] / "docs/reference/configuration.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```jsonc?\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.rule("5.4.claude", "5.4.vscode")
def test_the_files_of_the_page_load_in_their_formats_without_a_note() -> None:
    loaded = [parse_config_text(text) for text in FILES]
    assert [(each.format, each.notes) for each in loaded] == [("native", ()), ("claude", ()), ("vscode", ())]


def test_every_field_is_on_the_page() -> None:
    fields = {field for kind in config_schema()["$defs"].values() for field in kind.get("properties", {})}
    assert [field for field in sorted(fields) if f"`{field}`" not in PAGE] == []
