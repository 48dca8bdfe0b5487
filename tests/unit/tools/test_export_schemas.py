"""The exported JSON Schemas."""

import json
from pathlib import Path

import pytest

from a2c_smcp.types import CATEGORIES
from tools.export_schemas import FOLDER, files, main, stale


@pytest.mark.rule("7.2.categories")
def test_every_category_and_every_level_has_its_schema() -> None:
    levels = {"level0.json", "level1-metadata.json", "level1-pages.json", "level2.json", "level3.json"}
    assert files().keys() == {f"content-{category}.json" for category in CATEGORIES} | levels


def test_the_published_schemas_are_fresh() -> None:
    assert stale(FOLDER) == []


def test_checking_names_what_is_missing_changed_or_too_much(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], tmp_path) == 0
    (tmp_path / "level0.json").unlink()
    (tmp_path / "level2.json").write_text("{}", encoding="utf-8")
    (tmp_path / "level9.json").write_text("{}", encoding="utf-8")
    assert main(["--check"], tmp_path) == 1
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == [
        "docs/schemas/level0.json",
        "docs/schemas/level2.json",
        "docs/schemas/level9.json",
    ]


def test_writing_again_makes_everything_fresh(tmp_path: Path) -> None:
    (tmp_path / "level9.json").write_text("{}", encoding="utf-8")
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0


def test_a_schema_is_of_the_current_draft_and_explains_itself() -> None:
    schema = json.loads(files()["content-heading.json"])
    spans, definitions = schema["properties"].pop("spans"), schema.pop("$defs")
    assert spans["items"] == {"$ref": "#/$defs/TextSpan"}
    assert definitions["TextSpan"]["description"].startswith("A part of a text that is emphasized")
    assert schema == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "additionalProperties": True,
        "description": "A heading.",
        "properties": {
            "level": {"description": "1 is the highest.", "minimum": 1, "type": "integer"},
            "text": {"type": "string"},
        },
        "required": ["level", "text"],
        "title": "HeadingContent",
        "type": "object",
    }


def test_a_schema_refers_only_to_itself() -> None:
    for name, text in files().items():
        references = {part.split('"')[0] for part in text.split('"$ref": "#/$defs/')[1:]}
        assert references <= json.loads(text).get("$defs", {}).keys(), name
