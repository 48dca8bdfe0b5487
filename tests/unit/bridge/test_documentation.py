"""The pages about the bridge say what is so."""

import json
import re
import shlex
from pathlib import Path

import pytest

from a2c_smcp.bridge.server import BridgeSettings
from a2c_smcp.bridge.uris import qualify
from a2c_smcp.cli.mcp import COMMAND
from a2c_smcp.computer import parse_config

DOCS = Path(__file__).parents[3] / "docs"
GUIDE = (DOCS / "how-to" / "use-from-mcp-clients.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL)
OPTIONS = {argument.name for argument in COMMAND.arguments} | {"--json"}


@pytest.mark.parametrize("block", BLOCKS)
def test_configurations_are_files_that_clients_read(block: str) -> None:
    assert list(parse_config(json.loads(block)).config.servers) == ["office"]


def test_commands_have_only_options_that_exist() -> None:
    commands = [line for line in GUIDE.splitlines() if re.search(r"^\$ .*\ba2c mcp ", line)]
    commands += [" ".join(["a2c", *json.loads(args)]) for args in re.findall(r'"args": (\[.*\])', GUIDE)]
    used = {word for line in commands for word in shlex.split(line.partition("a2c mcp ")[2]) if word.startswith("--")}
    assert len(commands) >= 6
    assert used <= OPTIONS


def test_the_table_of_uris_is_true() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| `(a2c://desk/[^`]+)` \|$", GUIDE, re.MULTILINE)
    assert [qualify("desk", own, "files") for own, _ in rows] == [ours for _, ours in rows]
    assert len(rows) == 3


def test_times_are_those_of_the_code() -> None:
    page = (DOCS / "explanation" / "bridge.md").read_text(encoding="utf-8")
    settings = BridgeSettings()
    assert (settings.patience, settings.progress, settings.call_timeout) == (5, 5, 600)
    assert ("waits five seconds" in page, "nothing for five seconds" in page, "(600 s)" in GUIDE) == (True, True, True)
