"""Tools and answers in the words of OpenAI's APIs, with an office of a few lines of Python behind them."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from a2c_smcp.agent.adapters import InternalTools, OpenAITools
from a2c_smcp.agent.concurrency import HandlerResult
from a2c_smcp.agent.progress import ToolProgress
from a2c_smcp.errors import BadRequest, ConfirmationRequired, NotFound
from a2c_smcp.smcp import CallToolResult, SessionInfo, SMCPTool

PICTURE = {"type": "image", "mimeType": "image/png", "data": "QUJD"}


def tool(name: str, **properties: Any) -> SMCPTool:
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": f"{name} it", "params_schema": schema, "return_schema": None}


class Agent:
    """An Agent's client in an office with two Computers, of which one does not answer."""

    def __init__(self) -> None:
        self.internal_tools = InternalTools()
        self.called: list[Any] = []
        self.listed = [tool("echo", text={"type": "string"}), tool("draw"), tool("ask")]

    async def list_room(self) -> list[SessionInfo]:
        return [
            SessionInfo(name="desk", role="computer"),
            SessionInfo(name="gone", role="computer"),
            SessionInfo(name="me", role="agent"),
        ]

    async def get_tools(self, computer: str) -> list[SMCPTool]:
        if computer == "gone":
            raise NotFound("No computer 'gone'")
        return self.listed

    async def call_tool(
        self,
        computer: str,
        tool_name: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float = 60,
        on_progress: Callable[[ToolProgress], HandlerResult] | None = None,
    ) -> CallToolResult:
        if on_progress is not None:
            on_progress(ToolProgress(1, 2, tool_name))
        self.called.append((computer, tool_name, params, timeout))
        if tool_name == "ask":
            raise ConfirmationRequired("The owner said no")
        if tool_name == "draw":
            return {"content": [{"type": "text", "text": "drawn"}, PICTURE]}
        return {"content": [{"type": "text", "text": str((params or {}).get("text"))}], "isError": False}


def call(name: str, arguments: Any = "{}", call_id: str = "1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


async def answer(agent: Agent, *calls: Any) -> list[str]:
    return [message["content"] for message in await OpenAITools(agent).run(calls)]


async def test_the_tools_of_the_office_become_functions() -> None:
    agent = Agent()
    agent.listed = agent.listed[:1]
    assert await OpenAITools(agent).definitions() == [
        {
            "type": "function",
            "function": {
                "name": "desk__echo",
                "description": "[desk] echo it",
                "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
            },
        }
    ]


async def test_the_responses_api_has_them_flat() -> None:
    agent = Agent()
    agent.listed = agent.listed[1:2]
    assert await OpenAITools(agent, api="responses").definitions() == [
        {
            "type": "function",
            "strict": False,
            "name": "desk__draw",
            "description": "[desk] draw it",
            "parameters": {"type": "object", "properties": {}},
        }
    ]


async def test_a_long_description_is_cut_to_what_the_apis_take() -> None:
    agent = Agent()
    agent.listed = [tool("echo") | {"description": "x" * 5_000}]
    (definition,) = await OpenAITools(agent).definitions()
    assert len(definition["function"]["description"]) == 1_024


async def test_calls_are_answered_in_order_by_the_computer_they_name() -> None:
    agent = Agent()
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [call("desk__echo", '{"text": "a"}', "1"), call("desk__echo", {"text": "b"}, "2")],
    }
    assert await OpenAITools(agent, timeout=5).run(message) == [
        {"role": "tool", "tool_call_id": "1", "content": "a"},
        {"role": "tool", "tool_call_id": "2", "content": "b"},
    ]
    assert agent.called == [("desk", "echo", {"text": "a"}, 5), ("desk", "echo", {"text": "b"}, 5)]


async def test_pictures_follow_all_answers_in_a_message_of_the_user() -> None:
    messages = await OpenAITools(Agent()).run([call("desk__draw", call_id="1"), call("desk__echo", call_id="2")])
    assert messages == [
        {"role": "tool", "tool_call_id": "1", "content": "drawn\n\n(its pictures are in the next message)"},
        {"role": "tool", "tool_call_id": "2", "content": "None"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Pictures that desk__draw gave (call 1):"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
            ],
        },
    ]


async def test_the_responses_api_takes_pictures_in_the_answer() -> None:
    output = [
        {"type": "reasoning", "id": "r"},
        {"type": "function_call", "call_id": "1", "name": "desk__draw", "arguments": "{}"},
        {"type": "function_call", "call_id": "2", "name": "desk__echo", "arguments": '{"text": "a"}'},
    ]
    assert await OpenAITools(Agent(), api="responses").run({"output": output}) == [
        {
            "type": "function_call_output",
            "call_id": "1",
            "output": [
                {"type": "input_text", "text": "drawn"},
                {"type": "input_image", "image_url": "data:image/png;base64,QUJD"},
            ],
        },
        {"type": "function_call_output", "call_id": "2", "output": "a"},
    ]


async def test_a_model_that_does_not_see_is_told_of_pictures() -> None:
    for api in ("chat", "responses"):
        tools = OpenAITools(Agent(), api=api, pictures=False)
        (message,) = await tools.run([call("desk__draw")])
        assert message.get("content", message.get("output")) == "drawn\n\n(1 picture, not shown)"


async def test_what_goes_wrong_is_told_to_the_model() -> None:
    agent = Agent()
    assert await answer(agent, call("desk__ask"), call("desk__ecko"), call("quite other")) == [
        "Error 4005: The owner said no",
        "Error 4001: There is no tool 'desk__ecko'; did you mean 'desk__echo'?",
        "Error 4001: There is no tool 'quite other'",
    ]


@pytest.mark.parametrize("arguments", ["{", "[1]", '"text"', "null and more"])
async def test_arguments_that_are_no_object_are_refused_with_a_reason(arguments: str) -> None:
    agent = Agent()
    (text,) = await answer(agent, call("desk__echo", arguments))
    assert text.startswith("Error 400: The arguments are not")
    assert agent.called == []


@pytest.mark.parametrize("arguments", ["", " ", None, "null"])
async def test_no_arguments_are_an_empty_object(arguments: str | None) -> None:
    agent = Agent()
    await answer(agent, call("desk__echo", arguments))
    assert agent.called[0][2] == {}


async def test_the_objects_of_a_client_library_do_as_well() -> None:
    class Function(BaseModel):
        name: str
        arguments: str

    class ToolCall(BaseModel):
        id: str
        function: Function
        type: str = "function"

    class Message(BaseModel):
        tool_calls: list[ToolCall] | None

    asked = ToolCall(id="1", function=Function(name="desk__echo", arguments='{"text": "a"}'))
    tools = OpenAITools(Agent())
    for reply in (Message(tool_calls=[asked]), [asked]):
        assert await tools.run(reply) == [{"role": "tool", "tool_call_id": "1", "content": "a"}]
    assert await tools.run(Message(tool_calls=None)) == []


@pytest.mark.parametrize("reply", ["text", 3, [{"function": {}}], [{"id": "1"}]])
async def test_what_is_no_reply_of_a_model_is_an_error(reply: object) -> None:
    with pytest.raises(BadRequest):
        await OpenAITools(Agent()).run(reply)


async def test_the_agents_own_tools_stand_beside_those_of_the_computers() -> None:
    agent = Agent()

    @agent.internal_tools("note")
    def note(text: str, times: int = 1) -> dict[str, Any]:
        "Write it down"
        return {"noted": text * times}

    names = [definition["function"]["name"] for definition in await OpenAITools(agent).definitions()]
    assert names == ["note", "desk__ask", "desk__draw", "desk__echo"]
    assert await answer(agent, call("note", '{"text": "a", "times": 2}')) == ['{"noted":"aa"}']
    (wrong,) = await answer(agent, call("note", '{"times": "x"}'))
    assert wrong.startswith("Error 400: Invalid arguments for note: ")


async def test_only_the_computers_asked_for_are_offered() -> None:
    assert await OpenAITools(Agent(), ["gone"]).definitions() == []


async def test_a_tool_that_is_not_kept_is_neither_offered_nor_called() -> None:
    agent = Agent()
    tools = OpenAITools(agent, keep=lambda named: named.tool["name"] != "draw")
    assert [item["function"]["name"] for item in await tools.definitions()] == ["desk__ask", "desk__echo"]
    (message,) = await tools.run([call("desk__draw")])
    assert message["content"].startswith("Error 4001: There is no tool 'desk__draw'")
    assert agent.called == []


async def test_a_tool_that_came_meanwhile_can_be_called() -> None:
    agent = Agent()
    tools = OpenAITools(agent)
    await tools.definitions()
    agent.listed = [tool("new")]
    assert [m["content"] for m in await tools.run([call("desk__new", '{"text": "n"}')])] == ["n"]


async def test_whoever_watches_hears_which_tool_is_how_far() -> None:
    told: list[tuple[str | None, str, ToolProgress]] = []
    tools = OpenAITools(
        Agent(), on_progress=lambda tool, report: told.append((tool.computer, tool.tool["name"], report))
    )
    await tools.run([call("desk__echo"), call("desk__draw")])
    assert told == [("desk", "echo", ToolProgress(1, 2, "echo")), ("desk", "draw", ToolProgress(1, 2, "draw"))]


async def test_a_long_result_is_cut_to_what_the_model_may_read() -> None:
    tools = OpenAITools(Agent(), max_tokens=10)
    (message,) = await tools.run([call("desk__echo", {"text": "word " * 100})])
    assert message["content"] == "word word word word word word word…"
