"""Every Python block of the reference, and of the guides that are written to run, does so as it stands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDES = ["embed-a-computer.md", "make-digests.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    found = []
    for page in [*sorted((ROOT / "docs/reference").glob("*.md")), *(ROOT / "docs/how-to" / name for name in GUIDES)]:
        text = page.read_text(encoding="utf-8")
        found += [(f"{page.name}:{text.count(chr(10), 0, m.start()) + 2}", m[1]) for m in BLOCK.finditer(text)]
    return found


@pytest.mark.parametrize(("place", "code"), blocks(), ids=[place for place, _ in blocks()])
def test_a_block_of_the_documentation_runs(place: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(code, place, "exec"), {"__name__": "__main__"})
