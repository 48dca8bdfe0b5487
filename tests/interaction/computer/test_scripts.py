"""`a2c computer --do` with a real MCP server."""

import json
from pathlib import Path

from tests.interaction.computer.conftest import office_config
from tests.unit.cli.running import a2c


def test_a_tool_that_fails_ends_the_run_after_its_answer(tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"servers": office_config("office").model_dump(mode="json")["servers"]}))
    run = a2c("computer", "--config", str(config), "--do", "call fail", "--do", "tools", "--headless")
    assert (run.code, run.out) == (1, "the tool failed:\nit failed\n")
    assert run.err.splitlines()[-1] == "error 4003: --do: call fail: the tool failed, see what it answered"
