"""The code of the guide runs as it is written."""

import re
from pathlib import Path
from typing import Any

from a2c_smcp.documents.ocr.base import OcrPolicy, OcrSpec
from tests.unit.documents.ocr.conftest import FakeService, Reply

GUIDE = Path(__file__).parents[4] / "docs" / "how-to" / "read-scans.md"


def test_the_guide_builds_a_policy_and_reads_a_picture(tmp_path: Path, service: FakeService, png: bytes) -> None:
    names: dict[str, Any] = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)), names)
    assert [spec.kind for spec in names["policy"].engines] == ["remote", "vision", "local"]
    path = tmp_path / "a.png"
    path.write_bytes(png)
    service.answer(Reply(b"# Invoice"))
    policy = OcrPolicy((OcrSpec("remote", service.url, allow_http="loopback"),))
    assert names["headings"](path, policy) == ["Invoice"]
