"""The official conformance suite of MCP against the bridge to an office with one Computer."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.peers.bridged import NODE_SUITE, bridged, node_modules

HERE = Path(__file__).parent / "conformance"
EXPECTED = HERE / "expected-failures.yml"
SUMMARY = re.compile(
    r"^(?P<mark>[✓✗~]) (?P<scenario>[\w-]+): (?P<passed>\d+) passed, (?P<failed>\d+) failed", re.MULTILINE
)


async def test_the_official_suite_finds_only_what_a_bridge_cannot_offer(server_url: str, api_key: str) -> None:
    suite = await asyncio.to_thread(node_modules) / NODE_SUITE
    async with bridged(server_url, api_key, "conformance", "--plain-names") as url:
        process = await asyncio.create_subprocess_exec(
            "node",
            "--import",
            str(HERE / "node20.mjs"),
            str(suite),
            "server",
            "--url",
            url,
            "--expected-failures",
            str(EXPECTED),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        out, _ = await asyncio.wait_for(process.communicate(), 100)
    text = out.decode()
    failed = {found["scenario"] for found in SUMMARY.finditer(text) if int(found["failed"])}
    passed = {found["scenario"] for found in SUMMARY.finditer(text)} - failed
    assert process.returncode == 0, text[-3000:]
    assert failed == set(re.findall(r"^ {2}- ([\w-]+)", EXPECTED.read_text(encoding="utf-8"), re.MULTILINE))
    assert len(passed) >= 16, text[-3000:]


def test_every_expected_failure_has_a_reason() -> None:
    lines = EXPECTED.read_text(encoding="utf-8").split("server:\n")[1].splitlines()
    assert lines[0].lstrip().startswith("# ")
    assert all(re.fullmatch(r" {2}(# .+|- [\w-]+)", line) for line in lines)


@pytest.mark.parametrize("line", ["✗ prompts-list: 0 passed, 1 failed", "✓ ping: 1 passed, 0 failed"])
def test_the_summary_of_the_suite_is_understood(line: str) -> None:
    assert SUMMARY.match(line)
