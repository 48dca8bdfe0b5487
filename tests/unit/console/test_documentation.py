"""The program of docs/how-to/use-the-console.md runs as it is printed."""

import asyncio
from pathlib import Path

import httpx
import pytest

from tests.docs.pages import DOCS, blocks
from tests.interaction.console import enter

CAP = 60


async def test_the_program_of_the_page_serves_a_console(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = blocks(DOCS / "how-to" / "use-the-console.md", "python")
    (tmp_path / "mcp.json").write_text('{"mcpServers": {}}')
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(block.text.replace("asyncio.run(main())", ""), names)
    running = asyncio.ensure_future(names["main"]())  # type: ignore[operator]
    printed = ""
    async with asyncio.timeout(CAP):
        while not (printed := printed + capsys.readouterr().out):
            await asyncio.wait([running], timeout=0.02)
    async with httpx.AsyncClient() as client:
        assert (await enter(client, printed.strip())).status_code == 200
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
