"""The folder that most tests read."""

from pathlib import Path

import pytest

from tests.unit.documents.library.making import write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    write(root / "notes.md", "# Notes\n\nFirst.\n\n# More\n\n| a | b |\n| - | - |\n| 1 | 2 |\n")
    write(root / "data" / "sales.csv", "year,sum\n2025,10\n")
    return root
