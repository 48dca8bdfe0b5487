"""The Finder from an MCP server through Computer and Server to an Agent."""

import asyncio
import json
from typing import Any

import pytest

from a2c_smcp.computer.computer import Computer
from tests.interaction.computer.conftest import CAP, heard
from tests.interaction.server.client import Client


async def read(agent: Client, uri: str) -> Any:
    reply = await agent.ask("client:read_resource", "c", uri=uri)
    return json.loads(reply["contents"][0]["text"])


@pytest.mark.rule("7.3", "7.6", "2.2.read", "3.3")
async def test_documents_are_found_and_read_step_by_step(computer: Computer, agent: Client) -> None:
    found = await agent.ask("client:get_finder", "c", keywords=["glossary"], limit=5)
    assert (found["total_count"], found["documents"][0]["server"]) == (1, "office")
    uri = found["documents"][0]["uri"]
    document = await agent.ask("client:read_resource", "c", uri=f"{uri}?depth=pages")
    assert document["contents"][0]["mimeType"] == "application/json"
    page = await agent.ask("client:read_resource", "c", uri=f"{uri}/pages/0?format=markdown")
    assert "# Glossary" in page["contents"][0]["text"]
    for wrong, code in (
        (f"{uri}/pages/99", 4202),
        (f"{uri}/elements/none", 4203),
        ("dpe://office/none", 4201),
        ("dpe://nowhere/x", 4201),
        ("dpe://office/x/y", 4204),
    ):
        reply = await agent.ask("client:read_resource", "c", uri=wrong)
        assert reply["error"]["code"] == code, wrong
    assert (await agent.ask("client:read_resource", "c", uri=f"{uri}/pages/99"))["error"]["details"]["page_index"] == 99


@pytest.mark.rule("7.4.file_type", "7.4.page")
async def test_the_catalogue_is_filtered_and_paged(computer: Computer, agent: Client) -> None:
    whole = await agent.ask("client:get_finder", "c", limit=100)
    refs = [document["doc_ref"] for document in whole["documents"]]
    assert (whole["total_count"], len(refs) > 3) == (len(refs), True)
    paged = [
        document["doc_ref"]
        for offset in range(0, len(refs) + 2, 2)
        for document in (await agent.ask("client:get_finder", "c", offset=offset, limit=2))["documents"]
    ]
    assert paged == refs
    kind = whole["documents"][0]["file_type"]
    of_kind = await agent.ask("client:get_finder", "c", file_type=kind, limit=100)
    assert {document["file_type"] for document in of_kind["documents"]} == {kind}
    assert (await agent.ask("client:get_finder", "c", file_type="none"))["total_count"] == 0


@pytest.mark.rule("7.2.level0", "7.2.level3")
async def test_an_agent_goes_down_from_the_catalogue_to_an_element(computer: Computer, agent: Client) -> None:
    catalogue = await read(agent, "dpe://office")
    document = next(one for one in catalogue["documents"] if one["page_count"])
    pages = await read(agent, f"{document['uri']}?depth=pages")
    page = await read(agent, pages["pages"][0]["uri"])
    first = page["elements"][0]["element_id"]
    element = await read(agent, f"{document['uri']}/elements/{first}")
    assert (element["element_id"], element["page_index"]) == (first, 0)


@pytest.mark.rule("7.5")
async def test_a_new_document_is_told_and_found(computer: Computer, agent: Client) -> None:
    before = (await agent.ask("client:get_finder", "c"))["total_count"]
    await agent.tool("c", "open_document", req_id="d")
    async with asyncio.timeout(CAP):
        while (await agent.ask("client:get_finder", "c"))["total_count"] != before + 1:
            assert await heard(agent, "notify:update_finder") == {"computer": "c"}
