"""Imports point down the house, never up or sideways; heavy libraries stay in their rooms."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "a2c_smcp"

FLOORS = [
    {"cli"},
    {"console"},
    {"agent", "server", "computer", "docserver", "bridge", "digest"},
    {"documents", "connection"},
    {"web"},
    {"common"},
    {"smcp"},
    {"messages", "uris"},
    {"config_messages", "errors"},
    {"redaction", "types", "validation"},
]
RANK = {room: rank for rank, rooms in enumerate(FLOORS) for room in rooms}
SIDEWAYS = {("bridge", "agent")}
DOORS = {("documents/__init__.py", "a2c_smcp.docserver")}
"""Names that a floor shows to authors and leaves to the floor above; nothing else in the room may use them."""

# Where a library may be imported. `computer` alone means the whole room, with a slash a part of it.
ONLY_IN = {
    "socketio": {"server", "connection"},
    "engineio": {"server", "connection"},
    "mcp": {"computer/mcp", "docserver", "bridge", "web"},
    "markdown_it": {"documents"},
    "pypdfium2": {"documents"},
    "python_calamine": {"documents"},
    "selectolax": {"documents"},
    "rapidocr": {"documents"},
    "lxml": {"documents"},
    "PIL": {"documents"},
    "onnxruntime": {"documents"},
    "langchain_core": {"agent/adapters"},
    "pydantic_ai": {"agent/adapters"},
    "starlette": {"bridge", "console", "digest", "docserver"},
    "uvicorn": {"web", "server"},
    "redis": {"server/registry"},
}
PURE = [
    "agent/adapters/model_calls.py",
    "agent/adapters/names.py",
    "agent/adapters/openai_forms.py",
    "agent/adapters/results.py",
    "agent/adapters/schemas.py",
    "agent/document_views.py",
    "agent/search_hits.py",
    "agent/office_view.py",
    "agent/packing.py",
    "agent/requests.py",
    "bridge/mcp_results.py",
    "bridge/tools.py",
    "bridge/uris.py",
    "common/addresses.py",
    "common/durations.py",
    "common/fastjson.py",
    "common/lookalikes.py",
    "common/masking.py",
    "common/rate_limit.py",
    "common/segmented_json.py",
    "common/token_estimate.py",
    "common/visible.py",
    "types.py",
    "validation.py",
    "redaction.py",
    "errors.py",
    "config_messages.py",
    "messages.py",
    "smcp.py",
    "uris",
    "documents/code",
    "documents/data/structure.py",
    "documents/mail/body.py",
    "documents/page_elements.py",
    "documents/model.py",
    "documents/ocr/columns.py",
    "documents/ocr/flow.py",
    "documents/ocr/layout.py",
    "documents/ocr/model.py",
    "documents/ocr/quality.py",
    "documents/ocr/tables.py",
    "documents/web/sections.py",
    "documents/queries.py",
    "documents/refs.py",
    "documents/content.py",
    "documents/render",
    "computer/config/diff.py",
    "computer/config/edits.py",
    "computer/config/editor_formats.py",
    "computer/config/field_types.py",
    "computer/config/jsonc.py",
    "computer/config/models.py",
    "computer/config/problems.py",
    "computer/config/public_view.py",
    "computer/config/secret_detection.py",
    "computer/desktop/organize.py",
    "computer/finder/catalogue.py",
    "computer/finder/organize.py",
    "computer/finder/summaries.py",
    "computer/mcp/diagnosis.py",
    "computer/mcp/framing.py",
    "computer/mcp/jsonrpc.py",
    "computer/mcp/list_repair.py",
    "computer/mcp/restarts.py",
    "computer/office/transfers.py",
    "computer/ports.py",
    "computer/resources/listing.py",
    "computer/resources/templates.py",
    "computer/tools/catalogue.py",
    "computer/tools/completed_calls.py",
    "computer/tools/definition.py",
    "computer/tools/history.py",
    "computer/tools/naming.py",
    "computer/tools/results.py",
    "computer/tools/sizes.py",
    "digest/citations.py",
    "digest/extracts.py",
    "digest/page_texts.py",
    "digest/sections.py",
    "digest/wording.py",
    "server/calls.py",
    "server/handshake.py",
    "server/limits.py",
    "server/packets.py",
    "server/payload.py",
    "server/offices.py",
]
IMPURE = {"asyncio", "anyio", "socket", "time", "random", "subprocess", "threading", "os", "pathlib"}


def imports_of(path: Path) -> Iterator[str]:
    """Every module that a file imports: absolute, relative, inside functions, and by importlib with a constant."""
    parts = ("a2c_smcp", *path.relative_to(PACKAGE).with_suffix("").parts)
    package = parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, level=0, names=names):
                yield from _with_names(module or "", names)
            case ast.ImportFrom(module=module, level=level, names=names):
                base = ".".join(package[: len(package) - level + 1])
                yield from _with_names(f"{base}.{module}" if module else base, names)
            case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]) if ast.unparse(function) in (
                "importlib.import_module",
                "import_module",
                "__import__",
            ):
                yield name


def _with_names(module: str, names: list[ast.alias]) -> Iterator[str]:
    # `from a2c_smcp import errors` imports the module a2c_smcp.errors.
    yield from (f"{module}.{alias.name}" for alias in names) if module == "a2c_smcp" else (module,)


def room_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "a2c_smcp" and len(parts) > 1 else None


def files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def test_no_import_points_up_or_sideways() -> None:
    wrong = []
    for path in files():
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for module in imports_of(path):
            other = room_of(module)
            if other is None or other not in RANK or other == room or room not in RANK:
                continue
            place = path.relative_to(PACKAGE).as_posix()
            if RANK[other] <= RANK[room] and (room, other) not in SIDEWAYS and (place, module) not in DOORS:
                wrong.append(f"{place} imports {module}")
    assert wrong == []


def test_every_room_has_its_floor() -> None:
    rooms = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in files()} - {"__init__"}
    assert rooms - set(RANK) == set()


def test_libraries_stay_in_their_rooms() -> None:
    wrong = []
    for path in files():
        place = path.relative_to(PACKAGE).as_posix()
        for module in imports_of(path):
            allowed = ONLY_IN.get(module.split(".")[0])
            if allowed is not None and not any(place == room or place.startswith(f"{room}/") for room in allowed):
                wrong.append(f"{place} imports {module}")
    assert wrong == []


def test_pure_modules_import_nothing_that_acts() -> None:
    wrong = []
    for path in files():
        place = path.relative_to(PACKAGE).as_posix()
        if any(place == pure or place.startswith(f"{pure}/") for pure in PURE):
            wrong += [f"{place} imports {m}" for m in imports_of(path) if m.split(".")[0] in IMPURE]
    assert wrong == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import a2c_smcp.server.offices", "a2c_smcp.server.offices"),
        ("from a2c_smcp import server", "a2c_smcp.server"),
        ("from a2c_smcp.server import offices", "a2c_smcp.server"),
        ("from ..server import offices", "a2c_smcp.server"),
        ("def f():\n    from ..server.offices import x", "a2c_smcp.server.offices"),
        ("import importlib\nimportlib.import_module('a2c_smcp.server')", "a2c_smcp.server"),
    ],
)
def test_every_form_of_import_is_seen(source: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "a2c_smcp"
    (package / "agent").mkdir(parents=True)
    file = package / "agent" / "client.py"
    file.write_text(source, encoding="utf-8")
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", package)
    assert found in list(imports_of(file))
