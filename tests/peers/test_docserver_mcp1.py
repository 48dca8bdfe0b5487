"""`a2c docs serve` and a client of the MCP SDK's first generation, which knows nothing of us."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.peers.environments import PATIENCE, UnavailableError, interpreter_of

pytestmark = pytest.mark.timeout(PATIENCE)

ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).parent / "drivers" / "mcp1_client.py"


async def test_a_client_of_mcp_1_lists_reads_searches_and_is_told(tmp_path: Path) -> None:
    try:
        python = await asyncio.to_thread(interpreter_of, "mcp-1")
    except UnavailableError as error:
        pytest.skip(str(error))
    file = tmp_path / "documents" / "keeper.md"
    file.parent.mkdir()
    file.write_text("# The keeper\n\nA lighthouse.\n", encoding="utf-8")
    serve = ["-m", "a2c_smcp.cli", "docs", "serve", str(file.parent), "--cache", str(tmp_path / "cache")]
    process = await asyncio.create_subprocess_exec(
        str(python), str(DRIVER), str(file), sys.executable, *serve, stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    uri = "dpe://a2c.docs/keeper.md"
    assert json.loads(output) == {
        "capabilities": {"subscribe": True, "listChanged": True},
        "resources": ["dpe://a2c.docs", uri],
        "page": "# The keeper\n\nA lighthouse.",
        "hit": f"{uri}/elements/txt-001",
        "error": [4202, {"doc_ref": "keeper.md", "page_index": 9, "page_count": 1}],
        "told": uri,
    }
