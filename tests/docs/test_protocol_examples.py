"""The Python examples of the protocol's own text run, and what they show is what this package does.

Sketches of other programs' insides (handlers of a Socket.IO server, methods without a body) and examples for mcp 1.x,
whose decorators mcp 2 does not have, are listed below; `docs/how-to/offer-your-own-resources.md` has what to write
instead of the latter.
"""

import asyncio
import json
import re
import textwrap
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typing_extensions

from a2c_smcp import errors, smcp, types
from a2c_smcp.agent import AsyncSMCPAgentClient
from a2c_smcp.computer import Computer
from a2c_smcp.computer import types as computer_types
from a2c_smcp.computer.config.models import ToolMeta
from a2c_smcp.computer.finder import FinderAggregator, organize_finder
from a2c_smcp.server import create_app
from tests.interaction.computer.conftest import office_config
from tests.interaction.server.programs import serving

CAP = 60.0
FOLDER = Path(__file__).parents[1] / "data" / "protocol"
PAGES = ("finder-guide", "desktop", "data-structures")

NOT_RUN = {
    "@server.": "decorators of mcp 1.x",
    "server.request_context": "the session of mcp 1.x",
    "@self.": "a sketch of a Socket.IO handler",
    "self._sio": "a sketch that sends by itself",
    "self._find_client_by_host": "a sketch of a Computer",
    "        ...\n": "a signature without a body",
    "sort_key(d)": "pseudo code, which sorts by nothing",
    "# 窗口列表变化": "the session of mcp 1.x",
}


def blocks(page: str) -> list[str]:
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    found = re.findall(r"^( *)```python\n(.*?)^\1```", text, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(code) for _, code in found]


def sketched(code: str) -> str | None:
    return next((why for mark, why in NOT_RUN.items() if mark in code), None)


ALL = [(page, number, code) for page in PAGES for number, code in enumerate(blocks(page))]
RUNS = [(page, number, code) for page, number, code in ALL if sketched(code) is None]


def namespace() -> dict[str, Any]:
    """The names that the examples take for granted."""
    names = {
        **vars(typing),
        **vars(typing_extensions),
        "dataclass": dataclass,
        "json": json,
        "tools": [],
        "MCPClient": Any,
    }
    return names | {name: value for module in (types, smcp) for name, value in vars(module).items()}


def of_ours(name: str) -> Any:
    for module in (smcp, computer_types):
        if hasattr(module, name):
            return getattr(module, name)
    return None


def test_most_examples_run_and_the_others_say_why_not() -> None:
    assert len(RUNS) > 40
    assert [(page, number) for page, number, code in ALL if not code.strip()] == []


@pytest.mark.parametrize(("page", "number", "code"), RUNS, ids=lambda value: str(value)[:20])
def test_an_example_runs(page: str, number: int, code: str) -> None:
    exec(compile(code, f"{page} {number}", "exec"), namespace())


@pytest.mark.rule("2.3.types")
def test_the_types_of_the_examples_have_the_fields_of_ours() -> None:
    seen = namespace()
    for page, number, code in RUNS:
        exec(compile(code, f"{page} {number}", "exec"), seen)
    kinds = {name: kind for name, kind in seen.items() if typing_extensions.is_typeddict(kind)}
    shown = {name: kind for name, kind in kinds.items() if kind is not of_ours(name) and not name.startswith("_")}
    missing = [name for name in shown if of_ours(name) is None and name != "ToolMeta"]
    assert missing == []
    for name, kind in shown.items():
        fields = set(ToolMeta.model_fields) if name == "ToolMeta" else set(of_ours(name).__annotations__)
        assert set(kind.__annotations__) <= fields, name
    assert len(shown) > 20


def test_the_error_of_the_guide_is_ours() -> None:
    seen: dict[str, Any] = {}
    (code,) = [code for page, _, code in RUNS if "def make_finder_error" in code]
    exec(code, seen)
    for arguments in re.findall(r"^make_finder_error\((.*)\)$", code, re.MULTILINE):
        call = f"make_finder_error({arguments})"
        assert eval(call, seen) == eval(call, vars(errors) | {})


def test_the_organizer_of_the_guide_finds_what_ours_finds() -> None:
    seen = namespace()
    (code,) = [code for _, _, code in RUNS if "def organize_finder" in code]
    exec(code, seen)
    documents = [
        {"uri": f"dpe://h/{name}", "server": server, "title": title, "file_type": kind, "summary": summary}
        for name, server, title, kind, summary in (
            ("a", "s1", "Annual report", "pdf", ""),
            ("b", "s2", "Contract", "docx", "of the year"),
            ("c", "s1", "Notes", "pdf", "nothing"),
        )
    ]
    for keywords in (None, [], ["year"], ["", "x"], ["NOTES", "annual"]):
        for kind in (None, "pdf"):
            for history in ([], ["s1", "s2"]):
                for offset, limit in ((0, 20), (1, 1), (5, 5), (0, 0)):
                    asked = (keywords, kind, history, offset, limit)
                    assert seen["organize_finder"](list(documents), *asked) == organize_finder(documents, *asked), asked  # type: ignore[arg-type]


def test_the_cache_of_uris_of_the_guide_is_ours() -> None:
    seen = namespace()
    (code,) = [code for _, _, code in RUNS if "class FinderAggregator" in code]
    exec(code, seen)
    theirs, ours = seen["FinderAggregator"]({}), FinderAggregator({})
    for uris in ({"a"}, {"a"}, set(), {"b", "c"}, {"c", "b"}):
        assert theirs.update_uri_cache(uris) == ours.update_uri_cache(uris)


async def test_the_helpers_of_the_guide_and_its_reading_of_tool_meta_work_in_an_office() -> None:
    (helpers,) = [code for _, _, code in RUNS if "async def read_document_pages" in code]
    body = namespace()
    exec("class Helpers:\n" + textwrap.indent(helpers, "    "), body)

    guided: type[AsyncSMCPAgentClient] = type("Guided", (body["Helpers"], AsyncSMCPAgentClient), {})
    meta = {"tags": ["browser"], "auto_apply": True}
    async with (
        serving(create_app()) as server,
        Computer(office_config("office", default_tool_meta=meta), name="c") as computer,
    ):
        await asyncio.wait_for(computer.settled(), CAP)
        await computer.connect(server.url, "lab")
        async with guided(server.url, name="a", office_id="lab") as agent:
            document = (await agent.get_finder("c", keywords=["glossary"]))["documents"][0]
            uri = document["uri"]
            assert (await agent.read_document_metadata("c", uri))["page_count"] == document["page_count"]
            assert (await agent.read_document_pages("c", uri, limit=1))["pages"][0]["page_index"] == 0
            page = await agent.read_page("c", uri, 0)
            element = page["elements"][0]["element_id"]
            assert (await agent.read_element("c", uri, element))["element_id"] == element
            seen: dict[str, Any] = {"tools": await agent.get_tools("c")}
            (reading,) = [code for _, _, code in RUNS if "for tool in tools" in code]
            exec(reading, seen)
            assert (seen["tags"], seen["auto_apply"], seen["alias"]) == (["browser"], True, None)
