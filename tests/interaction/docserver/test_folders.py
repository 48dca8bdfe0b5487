"""`a2c docs serve` as clients of both eras and its owner see it."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import httpx
import mcp.types as t
import pytest
from mcp import StdioServerParameters

from a2c_smcp import docserver, documents
from a2c_smcp.cli import docs_options
from a2c_smcp.docserver.document_server import HOST
from tests.interaction.docserver.clients import ERAS, LISTED, Listener, connected
from tests.interaction.docserver.processes import ROOT, ended, line_of, process, say, url_of

CATALOGUE = "dpe://a2c.docs"
NOTES = f"{CATALOGUE}/notes.md"
WORDS = ("-m", "a2c_smcp.cli", "docs", "serve")
DISCOVER = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "documents"
    (made / "sub").mkdir(parents=True)
    (made / "notes.md").write_text("# Notes\n\nAn unusual word: 黄鹤楼.\n\n# More\n\n- a\n- b\n", encoding="utf-8")
    (made / "sub" / "sales.csv").write_text("year,sum\n2025,10\n2026,12\n", encoding="utf-8")
    (made / "broken.md").write_bytes(b"\x00\x01\x02" * 100)
    (made / "left.tmp.md").write_text("# Left out\n", encoding="utf-8")
    return made


@pytest.fixture
def words(folder: Path, tmp_path: Path) -> list[str]:
    options = ["--cache", str(tmp_path / "cache"), "--workers", "1", "--exclude", "*.tmp.md"]
    return [*WORDS, str(folder), *options]


@pytest.mark.rule("7.2.level0", "7.2.level1", "7.2.level2", "7.2.level3", "7.9")
@pytest.mark.parametrize("era", ERAS)
async def test_clients_read_complete_search_and_are_told_of_changes(words: list[str], folder: Path, era: str) -> None:
    server = StdioServerParameters(command=sys.executable, args=words, cwd=ROOT)
    async with connected(server, era) as client:
        await list_and_read(client)
        await complete_and_search(client)
        await change(client, folder)


async def list_and_read(client: Listener) -> None:
    broken, sales = f"{CATALOGUE}/broken.md", f"{CATALOGUE}/sub-sales.csv"
    assert await client.uris() == [CATALOGUE, broken, NOTES, sales]
    catalogue = await client.json(CATALOGUE)
    assert [document["title"] for document in catalogue["documents"]] == ["broken", "Notes", "sales"]
    assert (await client.json(broken))["summary"].startswith("Cannot be read")
    index = await client.json(f"{NOTES}?depth=pages&offset=1&limit=1")
    assert [page["title"] for page in index["pages"]] == ["More"]
    assert await client.text(f"{NOTES}/pages/1?format=markdown&categories=list") == "- a\n- b"
    assert (await client.json(f"{sales}/elements/tbl-001"))["content"]["rows"] == [["2025", "10"], ["2026", "12"]]


async def complete_and_search(client: Listener) -> None:
    template = t.ResourceTemplateReference(uri=f"{CATALOGUE}/{{doc_ref}}/elements/{{element_id}}")
    argument = {"name": "element_id", "value": "l"}
    context = {"doc_ref": "notes.md", "page_index": "1"}
    completion = await client.client.complete(template, argument, context_arguments=context)
    assert completion.completion == t.Completion(values=["lst-001"], total=1, has_more=False)
    found = await client.client.call_tool("search_documents", {"query": "黄鹤楼"})
    assert isinstance(found.structured_content, dict)
    assert f"{NOTES}/elements/txt-001" in [hit["uri"] for hit in found.structured_content["hits"]]


async def change(client: Listener, folder: Path) -> None:
    await client.follow(f"{NOTES}/pages/0", CATALOGUE)
    (folder / "notes.md").write_text("# Notes\n\nOther.\n", encoding="utf-8")
    assert await client.hear(2) == {f"{NOTES}/pages/0", CATALOGUE}
    assert "Other." in await client.text(f"{NOTES}/pages/0")
    (folder / "new.txt").write_text("new", encoding="utf-8")
    await client.until(LISTED)
    assert f"{CATALOGUE}/new.txt" in await client.uris()
    (folder / "notes.md").unlink()
    await client.until(LISTED)
    assert NOTES not in await client.uris()


async def test_a_program_serves_folders_in_one_line(tmp_path: Path) -> None:
    line = f"from a2c_smcp.documents import serve; serve('examples/documents', cache=Path({str(tmp_path)!r}))"
    words = ["-c", f"from pathlib import Path; {line}"]
    async with connected(StdioServerParameters(command=sys.executable, args=words, cwd=ROOT), "auto") as client:
        assert "dpe://a2c.docs/glossary.txt" in await client.uris()


def test_the_command_and_the_library_call_their_documents_alike() -> None:
    assert docs_options.HOST.default == HOST


def test_what_authors_look_for_is_at_the_documents() -> None:
    assert (documents.serve, documents.Offer) == (docserver.serve, docserver.Offer)
    with pytest.raises(AttributeError, match="has no attribute 'served'"):
        _ = documents.served


def children_of(pid: int) -> set[int]:
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            found |= {int(status.parent.name), *children_of(int(status.parent.name))}
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc to see children in")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, "end of input"])
async def test_nothing_is_left_behind(words: list[str], how: signal.Signals | str) -> None:
    async with process(*words) as server:
        await say(server, DISCOVER)
        async with asyncio.timeout(60):
            while not (workers := children_of(server.pid)):
                await asyncio.sleep(0.02)
        assert server.stdin is not None
        if isinstance(how, signal.Signals):
            server.send_signal(how)
        else:
            server.stdin.close()
        assert await ended(server) == (0, "")
    async with asyncio.timeout(60):
        while any(map(is_alive, workers)):
            await asyncio.sleep(0.02)


async def test_over_http_a_token_lets_in(words: list[str]) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    async with process(*words, "--http", "127.0.0.1:0", env={"A2C_DOCS_HTTP_TOKEN": "s3cret"}) as server:
        url = await url_of(server, server.stdout)
        async with httpx.AsyncClient() as client:
            assert (await client.post(url, json=ping)).status_code == 401
            headers = {"Authorization": "Bearer s3cret", "Accept": "application/json, text/event-stream"}
            assert (await client.post(url, json=ping, headers=headers)).status_code != 401
        server.send_signal(signal.SIGTERM)
        assert await ended(server) == (0, "")


async def test_over_http_a_token_is_generated_printed_and_kept_for_the_next_start(
    words: list[str], tmp_path: Path
) -> None:
    own, ping = {"XDG_STATE_HOME": str(tmp_path)}, {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    tokens = []
    for _ in range(2):
        async with process(*words, "--http", "127.0.0.1:0", "--json", env=own) as server, httpx.AsyncClient() as client:
            ready = json.loads(await line_of(server.stdout))
            tokens.append(ready["token"])
            (entry,) = ready["mcp"]["mcpServers"].values()
            assert entry == {
                "type": "http",
                "url": ready["url"],
                "headers": {"Authorization": f"Bearer {ready['token']}"},
            }
            assert (await client.post(ready["url"], json=ping)).status_code == 401
            assert (await client.post(ready["url"], json=ping, headers=entry["headers"])).status_code != 401
    assert tokens[0] == tokens[1]
    async with process(*words, "--http", "127.0.0.1:0", "--no-auth", "--json", env=own) as server:
        ready = json.loads(await line_of(server.stdout))
        assert ready["token"] is None
        async with httpx.AsyncClient() as client:
            assert (await client.post(ready["url"], json=ping)).status_code != 401


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no terminals here")
async def test_somebody_at_a_terminal_is_told_what_it_waits_for(words: list[str]) -> None:
    main, other = os.openpty()
    server = await asyncio.create_subprocess_exec(
        sys.executable, *words, cwd=ROOT, stdin=other, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    assert server.stderr is not None
    assert b"waiting for an MCP client" in await asyncio.wait_for(server.stderr.readline(), 60)
    server.send_signal(signal.SIGINT)
    await asyncio.wait_for(server.communicate(), 60)
    os.close(main)
    os.close(other)
    assert server.returncode == 0
