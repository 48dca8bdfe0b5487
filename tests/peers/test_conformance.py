"""The official conformance suite of MCP against the bridge to an office with one Computer."""

import re
from pathlib import Path

import pytest

from tests.peers.bridged import bridged
from tests.peers.environments import PATIENCE
from tests.peers.mcp_suite import conformance

EXPECTED = Path(__file__).parent / "conformance" / "expected-failures.yml"

WARNED = {"server-sse-polling"}
"""The suite's list of expected failures wants what it only warns of as well."""

pytestmark = pytest.mark.timeout(PATIENCE)


async def test_the_official_suite_finds_only_what_a_bridge_cannot_offer(server_url: str, api_key: str) -> None:
    async with bridged(server_url, api_key, "conformance", "--plain-names") as url:
        verdict = await conformance(url, EXPECTED, suite="all")
    assert verdict.sound, verdict.output[-3000:]
    expected = set(re.findall(r"^ {2}- ([\w-]+)", EXPECTED.read_text(encoding="utf-8"), re.MULTILINE))
    assert verdict.failed == expected - WARNED
    assert verdict.passed - WARNED == {
        "dns-rebinding-protection",
        "json-schema-2020-12",
        "ping",
        "resources-list",
        "resources-read-binary",
        "resources-read-text",
        "resources-subscribe",
        "resources-templates-read",
        "resources-unsubscribe",
        "server-initialize",
        "server-sse-multiple-streams",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-error",
        "tools-call-image",
        "tools-call-mixed-content",
        "tools-call-simple-text",
        "tools-call-with-progress",
        "tools-list",
    }


def test_every_expected_failure_has_a_reason() -> None:
    lines = EXPECTED.read_text(encoding="utf-8").split("server:\n")[1].splitlines()
    assert lines[0].lstrip().startswith("# ")
    assert all(re.fullmatch(r" {2}(# .+|- [\w-]+)", line) for line in lines)
