"""The JSON Schemas of element contents and of the replies of every level.

python tools/export_schemas.py            write docs/schemas/*.json
python tools/export_schemas.py --check    exit 1 when a file there is missing, stale or not ours
"""

import argparse
import json
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from a2c_smcp.documents.content import SHAPES
from a2c_smcp.documents.render.replies import (
    CatalogueReply,
    DocumentPagesReply,
    DocumentReply,
    ElementReply,
    PageElementReply,
    PageReply,
)

FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "schemas"
LEVELS: Final[Mapping[str, type]] = {
    "level0": CatalogueReply,
    "level1-metadata": DocumentReply,
    "level1-pages": DocumentPagesReply,
    "level2": PageReply,
    "level3": ElementReply,
}
WITH_CONTENT: Final = {"level2": PageElementReply.__name__, "level3": ElementReply.__name__}


class _Schema(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False  # a title that repeats the key says nothing


def schemas() -> dict[str, dict[str, Any]]:
    """Return every schema by the name of its file."""
    contents = {f"content-{category}": schema_of(shape) for category, shape in SHAPES.items()}
    return contents | {name: level_schema(name, reply) for name, reply in LEVELS.items()}


def schema_of(kind: type) -> dict[str, Any]:
    schema = TypeAdapter(kind).json_schema(schema_generator=_Schema)
    return {"$schema": _Schema.schema_dialect} | schema


def level_schema(name: str, reply: type) -> dict[str, Any]:
    schema = schema_of(reply)
    if element := WITH_CONTENT.get(name):
        definitions = schema.setdefault("$defs", {})
        holder = schema if schema.get("title") == element else definitions[element]
        holder["allOf"] = [content_rule(category, shape.__name__) for category, shape in SHAPES.items()]
        for shape in SHAPES.values():
            definitions |= definitions_of(shape)
        schema["$defs"] = dict(sorted(definitions.items()))
    return schema


def content_rule(category: str, shape: str) -> dict[str, Any]:
    return {
        "if": {"properties": {"category": {"const": category}}},
        "then": {"properties": {"content": {"$ref": f"#/$defs/{shape}"}}},
    }


def definitions_of(shape: type) -> dict[str, Any]:
    schema = TypeAdapter(shape).json_schema(schema_generator=_Schema)
    definitions: dict[str, Any] = schema.pop("$defs", {})
    return definitions if "$ref" in schema else definitions | {shape.__name__: schema}


@cache
def files() -> Mapping[str, str]:
    """Return every file as it should be, by its name."""
    return {
        f"{name}.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in schemas().items()
    }


def stale(folder: Path) -> list[str]:
    """Return the names of the files that differ from what they should be, either way."""
    wanted = files()
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    wanted = files()
    for path in folder.glob("*.json"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


def main(argv: list[str] | None = None, folder: Path = FOLDER) -> int:
    parser = argparse.ArgumentParser(description="Export the JSON Schemas of the document model.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when a schema is stale")
    if not parser.parse_args(argv).check:
        write(folder)
        return 0
    names = stale(folder)
    for name in names:
        print(f"docs/schemas/{name} is stale: run python tools/export_schemas.py", file=sys.stderr)
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
