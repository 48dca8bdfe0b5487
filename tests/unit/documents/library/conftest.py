"""The folder that most tests read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from a2c_smcp.documents.formats import registry
from tests.unit.documents.library.making import write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    write(root / "notes.md", "# Notes\n\nFirst.\n\n# More\n\n| a | b |\n| - | - |\n| 1 | 2 |\n")
    write(root / "data" / "sales.csv", "year,sum\n2025,10\n")
    return root


@pytest.fixture(autouse=True)
def misbehaving(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_registered", [])
    registry.register("tests.documents.hostile.misbehaving")
    yield
    registry.formats.cache_clear()
    registry.format_of.cache_clear()
