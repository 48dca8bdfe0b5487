"""The example of the page on the service runs."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_example_runs_as_it_stands() -> None:
    page = (ROOT / "docs" / "explanation" / "document-service.md").read_text(encoding="utf-8")
    [code] = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "glossary.txt 2 Glossary" in told.stdout
    assert "dpe://com.example.docs/glossary.txt/elements/" in told.stdout
