from typing import Any

import pytest
from mcp import MCPError, types

from a2c_smcp.bridge.office_catalog import OfficeCatalog
from a2c_smcp.bridge.resources import TemplateCompleter, merged
from a2c_smcp.errors import SMCPError
from tests.unit.bridge.fakes import FakeComputer, FakeOffice

TEMPLATE = "dpe://docs/{doc_ref}/pages/{page_index}"


def asking(uri: str, **context: str) -> types.CompleteRequestParams:
    return types.CompleteRequestParams(
        ref=types.ResourceTemplateReference(uri=uri),
        argument=types.CompletionArgument(name="page_index", value="1"),
        context=types.CompletionContext(arguments=context) if context else None,
    )


def completer(**computers: FakeComputer) -> tuple[FakeOffice, TemplateCompleter]:
    office = FakeOffice(**computers)
    return office, TemplateCompleter(office, OfficeCatalog(office))


def offering(**completion: Any) -> FakeComputer:
    pages = [[{"uriTemplate": TEMPLATE, "name": "page"}]]
    return FakeComputer(templates=dict.fromkeys(completion, pages), completion=completion)


async def test_the_server_that_offers_the_template_is_asked_with_the_context() -> None:
    office, subject = completer(desk=offering(docs={"values": ["1", "10"], "total": 2, "hasMore": False}))
    found = await subject.complete(asking(f"a2c://desk/{TEMPLATE.replace('://', '/')}", doc_ref="d"))
    assert found == {"values": ["1", "10"], "total": 2, "hasMore": False}
    assert office.asked[-1] == (
        "complete",
        "docs",
        {"type": "ref/resource", "uri": TEMPLATE},
        {"name": "page_index", "value": "1"},
        {"arguments": {"doc_ref": "d"}},
        "desk",
    )


async def test_a_template_of_several_is_completed_by_all_of_them() -> None:
    values = offering(a={"values": ["1", "2"]}, b={"values": ["2", "3"]})
    _, subject = completer(desk=values, laptop=offering(c={"values": ["4"]}))
    assert await subject.complete(asking(TEMPLATE)) == {"values": ["1", "2", "3", "4"], "total": 4, "hasMore": False}


@pytest.mark.parametrize("uri", ["a2c://desk/dpe/other/{x}", "a2c://nobody/dpe/docs/{doc_ref}", "nonsense"])
async def test_an_unknown_template_is_a_wrong_parameter(uri: str) -> None:
    _, subject = completer(desk=offering(docs={"values": []}))
    with pytest.raises(MCPError) as caught:
        await subject.complete(asking(uri))
    assert caught.value.code == -32602


async def test_an_office_has_no_prompts() -> None:
    _, subject = completer()
    prompt = types.CompleteRequestParams(
        ref=types.PromptReference(name="x"), argument=types.CompletionArgument(name="a", value="")
    )
    with pytest.raises(MCPError, match="no prompts"):
        await subject.complete(prompt)


async def test_what_the_only_server_answers_is_the_answer() -> None:
    office, subject = completer(desk=offering(docs={"values": []}))
    await subject.complete(asking(TEMPLATE))
    office.computers["desk"].problem = SMCPError("no", code=-32602)
    with pytest.raises(SMCPError, match="no"):
        await subject.complete(asking(TEMPLATE))


def test_never_more_values_than_mcp_allows() -> None:
    many = merged([{"values": [str(number) for number in range(150)], "total": 400}, {"values": ["x"]}])
    assert (len(many["values"]), many["hasMore"], "total" in many) == (100, True, False)
