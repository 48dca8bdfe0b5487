"""A client of the MCP SDK's first generation reads documents through the bridge, the Server and a Computer."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from a2c_smcp.computer import Computer, parse_config
from tests.peers.bridged import CAP, ROOT, command
from tests.peers.environments import PATIENCE, UnavailableError, interpreter_of

DRIVER = Path(__file__).parent / "drivers" / "mcp1_client.py"

pytestmark = pytest.mark.timeout(PATIENCE)


async def test_a_client_of_mcp_1_lists_reads_searches_and_is_told(
    server_url: str, api_key: str, tmp_path: Path
) -> None:
    try:
        python = await asyncio.to_thread(interpreter_of, "mcp-1")
    except UnavailableError as error:
        pytest.skip(str(error))
    file = tmp_path / "documents" / "keeper.md"
    file.parent.mkdir()
    file.write_text("# The keeper\n\nA lighthouse.\n", encoding="utf-8")
    serve = ["-m", "a2c_smcp.cli", "docs", "serve", str(file.parent), "--cache", str(tmp_path / "cache")]
    documents = {
        "type": "stdio",
        "server_parameters": {"command": sys.executable, "args": serve, "cwd": str(ROOT)},
        "default_tool_meta": {"auto_apply": True},
    }
    async with Computer(parse_config({"servers": {"documents": documents}}).config, name="desk") as computer:
        await asyncio.wait_for(computer.settled(), CAP)
        await computer.connect(server_url, "first generation", api_key=api_key)
        bridge = command(server_url, "first generation", "--plain-names", "--api-key", api_key)
        process = await asyncio.create_subprocess_exec(
            str(python), str(DRIVER), str(file), *bridge, stdout=asyncio.subprocess.PIPE, cwd=ROOT, env=os.environ
        )
        output, _ = await asyncio.wait_for(process.communicate(), CAP)
    uri = "a2c://desk/@documents/dpe/a2c.docs/keeper.md"
    assert json.loads(output) == {
        "capabilities": {"subscribe": True, "listChanged": True},
        "resources": ["a2c://desk/@documents/dpe/a2c.docs", uri],
        "page": "# The keeper\n\nA lighthouse.",
        "hit": "dpe://a2c.docs/keeper.md/elements/txt-001",
        "error": [4202, {"doc_ref": "keeper.md", "page_index": 9, "page_count": 1}],
        "told": uri,
    }
