"""A class name means one thing in the whole package."""

import ast
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "a2c_smcp"

EXPERTS = {"AutoInstallerExpert", "IntentExpert", "OrchestratorExpert", "OutputAssemblerExpert"}
"""The protocol of digests names interfaces in `framework_protocol.py` and their implementations alike."""

CONFIGURATION = {
    "BaseMCPServerConfig",
    "MCPSSEConfig",
    "MCPSSEParameters",
    "MCPServerCommandInput",
    "MCPServerInputBase",
    "MCPServerPickStringInput",
    "MCPServerPromptStringInput",
    "MCPServerStdioConfig",
    "MCPServerStdioParameters",
    "MCPServerStreamableHttpConfig",
    "MCPServerStreamableHttpParameters",
    "ToolMeta",
}
"""The contract names these messages; the models that validate them in a Computer mirror them field by field."""

ALLOWED = EXPERTS | CONFIGURATION
"""Names that are defined twice. The set only shrinks: give a new class a name of its own."""

NO_MODULES = {
    "asking",
    "cells",
    "desk",
    "facts",
    "gate",
    "given",
    "herald",
    "kept",
    "shelf",
    "shell",
    "trunk",
    "turns",
    "uses",
}
"""Metaphors that say nothing of what a module does."""


def public_classes(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]


def sources() -> list[Path]:
    """Every module; a generated twin has the names of its source."""
    return sorted(path for path in PACKAGE.rglob("*.py") if not path.name.startswith("sync_"))


def test_a_class_name_means_one_thing() -> None:
    count = Counter(name for path in sources() for name in public_classes(path))
    assert {name for name, number in count.items() if number > 1} == ALLOWED


def test_modules_have_names_of_the_field() -> None:
    assert {path.stem for path in sources()} & NO_MODULES == set()
