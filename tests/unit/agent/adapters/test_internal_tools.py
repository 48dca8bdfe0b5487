"""Tools of the Agent's own."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from a2c_smcp.agent import SMCPAgentClient
from a2c_smcp.agent.adapters.internal_tools import InternalTools, to_model_text
from a2c_smcp.errors import BadRequest


class Place(BaseModel):
    city: str
    floor: int = 0


def test_annotations_and_docstring_become_the_tool() -> None:
    tools = InternalTools()

    @tools("find")
    def find(query: Annotated[str, Field(description="words")], limit: int = 5) -> str:
        """Find something."""
        return f"{query} {limit}"

    assert find("a") == "a 5"
    assert tools["find"].tool == {
        "name": "find",
        "description": "Find something.",
        "params_schema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "title": "Query", "description": "words"},
                "limit": {"type": "integer", "title": "Limit", "default": 5},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        "return_schema": None,
    }
    assert tools["find"].start({"query": "x", "limit": "7"}) == "x 7"


def test_arguments_may_be_models() -> None:
    tools = InternalTools()

    @tools("go", "Goes there.")
    def go(place: Place) -> str:
        return place.city

    assert tools["go"].start({"place": {"city": "Köln"}}) == "Köln"
    assert tools["go"].tool["description"] == "Goes there."


async def test_a_coroutine_function_gives_what_is_to_be_awaited() -> None:
    tools = InternalTools()

    @tools("go")
    async def go(n: int) -> int:
        return n + 1

    assert await tools["go"].start({"n": 1}) == 2


def test_a_client_that_blocks_takes_no_coroutine_function() -> None:
    async def go() -> None: ...

    with pytest.raises(BadRequest, match="'go' is a coroutine function, which needs AsyncSMCPAgentClient"):
        SMCPAgentClient("http://127.0.0.1", name="a").internal_tool("go")(go)


@pytest.mark.parametrize("arguments", [{}, {"n": "x"}, {"n": 1, "more": 2}])
def test_wrong_arguments_are_named_and_the_function_does_not_run(arguments: dict[str, Any]) -> None:
    tools = InternalTools()
    ran = []

    @tools("go")
    def go(n: int) -> None:
        ran.append(n)

    with pytest.raises(
        BadRequest, match=r"Invalid arguments for go: (n is missing|n must be an integer|more is not known here)$"
    ):
        tools["go"].start(arguments)
    assert ran == []


def test_what_cannot_be_told_in_json_is_refused_when_it_is_registered() -> None:
    tools = InternalTools()
    with pytest.raises(BadRequest, match="have no JSON Schema"):
        tools("go")(_takes_object)
    with pytest.raises(BadRequest, match="must accept its arguments by name"):
        tools("go")(_by_place)
    with pytest.raises(BadRequest, match="not a valid tool name"):
        tools("no name")
    assert len(tools) == 0


class Opaque:
    pass


def _takes_object(thing: Opaque) -> None: ...


def _by_place(thing: int, /) -> None: ...


def test_a_tool_can_be_replaced_and_removed() -> None:
    tools = InternalTools()
    tools("go")(lambda: 1)
    tools("go")(lambda: 2)
    assert [tool.start({}) for tool in tools.values()] == [2]
    tools.remove("go")
    tools.remove("go")
    assert list(tools) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as is", "as is"),
        (None, ""),
        ({"城": [1]}, '{"城":[1]}'),
        (Place(city="a"), '{"city":"a","floor":0}'),
        (3, "3"),
    ],
)
def test_a_value_is_told_as_text_or_json(value: object, text: str) -> None:
    assert to_model_text(value) == text
