"""The files that pages print can be used: JSON, TOML and YAML parse, configurations load."""

import json
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from a2c_smcp.cli.parsing import parse
from a2c_smcp.cli.table import COMMANDS
from a2c_smcp.computer import parse_config_text
from a2c_smcp.server.settings import LIMITS, OPTIONS
from tests.docs.pages import PAGES, Block, blocks

READERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": lambda text: list(yaml.safe_load_all(text)),
}
FILES = [block for page in PAGES for block in blocks(page, *READERS)]
SETTINGS = [block for block in FILES if block.language == "toml"]


@pytest.mark.parametrize("block", FILES, ids=lambda block: block.place)
def test_a_file_of_the_documentation_parses(block: Block) -> None:
    assert READERS[block.language](block.text)


@pytest.mark.parametrize("block", SETTINGS, ids=lambda block: block.place)
def test_the_settings_of_a_server_exist(block: Block) -> None:
    settings = tomllib.loads(block.text)
    limits = {f"limits.{name}" for name in settings.pop("limits", {})}
    assert (set(settings) | limits) - {option.name for option in (*OPTIONS, *LIMITS)} == set()


def configurations() -> Iterator[Block]:
    for page in PAGES:
        for block in blocks(page, "json", "jsonc"):
            if '"mcpServers"' in block.text or '"servers"' in block.text:
                yield block


@pytest.mark.parametrize("block", list(configurations()), ids=lambda block: block.place)
def test_a_configuration_of_the_documentation_loads_without_a_note(block: Block) -> None:
    loaded = parse_config_text(block.text)
    assert loaded.notes == ()
    assert loaded.config.servers


@pytest.mark.parametrize("block", list(configurations()), ids=lambda block: block.place)
def test_what_a_configuration_starts_of_ours_is_understood(block: Block) -> None:
    loaded = parse_config_text(block.text)
    for server in loaded.config.servers.values():
        parameters: Any = server.server_parameters
        if getattr(parameters, "command", "") == "a2c":
            assert parse(list(parameters.args), COMMANDS).path, json.dumps(parameters.args)
