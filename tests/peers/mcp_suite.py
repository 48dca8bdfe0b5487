"""The official MCP conformance suite and the MCP Inspector, run against a server of ours.

verdict = await conformance(url, EXPECTED)      EXPECTED: a YAML file of scenarios, each with its reason
tools = await inspect([url], "tools/list")      the result as JSON; arguments as the Inspector's options
"""

import asyncio
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.peers.environments import UnavailableError, directory_of

PACKAGES: Final = "node_modules/@modelcontextprotocol"
OLDER_NODE: Final = Path(__file__).parent / "drivers" / "older_node.mjs"
SECONDS: Final = 100.0

_PASSED = re.compile(r"^\s*✓ (\S+): \d+ passed, 0 failed", re.MULTILINE)
_FAILED = re.compile(r"^\s*✗ (\S+): \d+ passed, \d+ failed", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the suite found.

    Attributes:
        sound: Every scenario passed or failed as the list of expected failures says.
    """

    sound: bool
    passed: frozenset[str]
    failed: frozenset[str]
    output: str


class InspectorError(Exception):
    """The Inspector ended with a failure; the message is what it printed."""


async def conformance(url: str, expected_failures: Path, *, suite: str = "active") -> Verdict:
    """Run the server scenarios against `url`."""
    program = [str(OLDER_NODE), str(_package("conformance") / "dist" / "index.js")]
    options = ["--url", url, "--suite", suite, "--expected-failures", str(expected_failures)]
    code, output, errors = await _node(["--import", *program, "server", *options])
    return Verdict(
        sound=code == 0,
        passed=frozenset(_PASSED.findall(output)),
        failed=frozenset(_FAILED.findall(output)),
        output=output + errors,
    )


async def inspect(
    target: Sequence[str],
    method: str,
    *options: str,
    arguments: Mapping[str, object] | None = None,
    env: Mapping[str, str] | None = None,
) -> Any:
    """Return the JSON that the Inspector prints for `method` of a URL, or of a command with its arguments.

    Raises:
        InspectorError: It failed.
    """
    pairs = [f"{key}={json.dumps(value)}" for key, value in (arguments or {}).items()]
    words = ["--method", method, *options, *(word for pair in pairs for word in ("--tool-arg", pair))]
    program = str(_package("inspector") / "clients" / "launcher" / "build" / "index.js")
    with tempfile.TemporaryDirectory() as home:  # the Inspector keeps its catalogue there, and must not find another
        code, output, errors = await _node([program, "--cli", *words, "--", *target], {"HOME": home} | dict(env or {}))
    if code:
        raise InspectorError(errors or output)
    return json.loads(output)


def _package(name: str) -> Path:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    try:
        return directory_of("socket.io-client") / PACKAGES / name
    except UnavailableError as error:
        pytest.skip(str(error))


async def _node(words: Sequence[str], env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        "node",
        *words,
        env=os.environ | dict(env or {}),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(SECONDS):
            output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, output.decode(), errors.decode()
