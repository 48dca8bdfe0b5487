"""Models call the tools of an office: through each library as it is, with the models it has for tests."""

import asyncio
import json
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic_ai import Agent
from pydantic_ai.messages import BinaryContent, ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from a2c_smcp.agent import AsyncSMCPAgentClient, SMCPAgentClient
from a2c_smcp.agent.adapters import OpenAITools, SyncOpenAITools, model_name
from a2c_smcp.agent.adapters.langchain import langchain_tools, sync_langchain_tools
from a2c_smcp.agent.adapters.pydantic_ai import OfficeToolset
from tests.interaction.agent.conveniences.conftest import Place
from tests.interaction.agent.conveniences.documents_office import CAP, COMPUTER
from tests.interaction.agent.conveniences.documents_server import SCHEMA, png

CONFIGURE, FAIL, DRAW = (model_name(COMPUTER, tool) for tool in ("configure", "fail", "fs.draw"))
CONFIGURED = 'configure {"config": "x"}'


def chat_call(name: str, arguments: dict[str, Any], call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


CALLS = [chat_call(CONFIGURE, {"config": "x"}, "1"), chat_call(FAIL, {}, "2"), chat_call(DRAW, {}, "3")]
ANSWERS = [CONFIGURED, "Error: out of paper", "fs.draw {}\n\n(its pictures are in the next message)"]


async def test_an_openai_style_api_is_answered_over_the_wire(visitor: AsyncSMCPAgentClient) -> None:
    tools = OpenAITools(visitor)
    offered = {item["function"]["name"]: item["function"] for item in await tools.definitions()}
    assert offered[CONFIGURE]["parameters"] == SCHEMA
    messages = await tools.run({"role": "assistant", "tool_calls": CALLS})
    assert [message["content"] for message in messages[:3]] == ANSWERS
    assert messages[3]["content"][1]["image_url"]["url"] == f"data:image/png;base64,{png()}"


async def test_blocking_code_answers_in_the_same_words(place: Place) -> None:
    def answer() -> list[dict[str, Any]]:
        with SMCPAgentClient(place.url, name="ada", office_id=place.office) as agent:
            return SyncOpenAITools(agent).run(CALLS)

    messages = await asyncio.wait_for(asyncio.to_thread(answer), CAP)
    assert [message["content"] for message in messages[:3]] == ANSWERS


async def test_langchain_runs_what_its_model_asks_for(visitor: AsyncSMCPAgentClient) -> None:
    asked = [
        {"name": CONFIGURE, "args": {"config": "x"}, "id": "1", "type": "tool_call"},
        {"name": FAIL, "args": {}, "id": "2", "type": "tool_call"},
        {"name": DRAW, "args": {}, "id": "3", "type": "tool_call"},
    ]
    tools = {tool.name: tool for tool in await langchain_tools(visitor)}
    schema = convert_to_openai_tool(tools[CONFIGURE])["function"]
    assert (schema["name"], schema["parameters"]) == (CONFIGURE, SCHEMA)
    model = GenericFakeChatModel(messages=iter([AIMessage("", tool_calls=asked)]))
    reply = await model.ainvoke("Go.")
    assert isinstance(reply, AIMessage)
    answers = [await tools[call["name"]].ainvoke(call) for call in reply.tool_calls]
    assert all(isinstance(answer, ToolMessage) for answer in answers)
    assert [(a.content, a.status, a.tool_call_id) for a in answers[:2]] == [
        (CONFIGURED, "success", "1"),
        ("Error: out of paper", "error", "2"),
    ]
    assert answers[2].content == [
        {"type": "text", "text": "fs.draw {}"},
        {"type": "image", "base64": png(), "mime_type": "image/png"},
    ]
    assert answers[0].artifact["content"] == [{"type": "text", "text": CONFIGURED}]
    assert tools[CONFIGURE].metadata == {"computer": COMPUTER, "tool": "configure"}


async def test_langchain_in_blocking_code(place: Place) -> None:
    def call() -> tuple[Any, Any]:
        with SMCPAgentClient(place.url, name="ada", office_id=place.office) as agent:
            tools = {tool.name: tool for tool in sync_langchain_tools(agent)}
            in_thread = asyncio.run(tools[CONFIGURE].ainvoke({"config": "x"}))
            return tools[CONFIGURE].invoke({"config": "x"}), in_thread

    assert await asyncio.wait_for(asyncio.to_thread(call), CAP) == (CONFIGURED, CONFIGURED)


async def test_an_async_tool_says_how_it_is_used(visitor: AsyncSMCPAgentClient) -> None:
    tools = await langchain_tools(visitor)
    with pytest.raises(NotImplementedError, match="ainvoke"):
        tools[0].invoke({})


async def test_pydantic_ai_calls_the_tools_of_the_office(visitor: AsyncSMCPAgentClient) -> None:
    model = TestModel(call_tools=[CONFIGURE])
    result = await Agent(model, toolsets=[OfficeToolset(visitor)]).run("Go.")
    assert result.output == '{"' + CONFIGURE + '":"configure {\\"config\\": \\"a\\"}"}'
    parameters = model.last_model_request_parameters
    assert parameters is not None
    offered = {tool.name: tool for tool in parameters.function_tools}
    assert offered[CONFIGURE].parameters_json_schema == SCHEMA
    assert offered[DRAW].description == f"[{COMPUTER}] Draw."


async def test_pydantic_ai_is_told_of_failures_and_pictures_and_goes_on(visitor: AsyncSMCPAgentClient) -> None:
    heard: list[ToolReturnPart] = []

    def think(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        answers = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        heard.extend(answers)
        if answers:
            return ModelResponse(parts=[TextPart("enough")])
        return ModelResponse(parts=[ToolCallPart(FAIL, {}), ToolCallPart(DRAW, {})])

    toolset: OfficeToolset[None] = OfficeToolset(visitor, id="office")
    result = await Agent(FunctionModel(think), toolsets=[toolset]).run("Go.")
    assert result.output == "enough"
    failure, drawing = heard
    assert failure.content == "Error: out of paper"
    assert isinstance(drawing.content, list)
    text, picture = drawing.content
    assert isinstance(picture, BinaryContent)
    assert (text, picture.media_type, picture.base64) == ("fs.draw {}", "image/png", png())


async def test_pydantic_ai_in_blocking_code(place: Place) -> None:
    def run() -> str:
        asyncio.set_event_loop(loop)  # otherwise run_sync makes one and leaves it open
        with SMCPAgentClient(place.url, name="ada", office_id=place.office) as client:
            agent = Agent(TestModel(call_tools=[CONFIGURE]), toolsets=[OfficeToolset(client)])
            return agent.run_sync("Go.").output

    loop = asyncio.new_event_loop()
    try:
        assert "configure {" in await asyncio.wait_for(asyncio.to_thread(run), CAP)
    finally:
        loop.close()


async def test_the_agents_own_tools_are_offered_by_every_library(visitor: AsyncSMCPAgentClient) -> None:

    @visitor.internal_tool("add")
    async def add(a: int, b: int = 1) -> int:
        """Add two numbers."""
        return a + b

    (message,) = await OpenAITools(visitor).run([chat_call("add", {"a": 2}, "1")])
    tools = {tool.name: tool for tool in await langchain_tools(visitor, computers=[])}
    result = await Agent(TestModel(), toolsets=[OfficeToolset(visitor, computers=[])]).run("Go.")
    assert (message["content"], await tools["add"].ainvoke({"a": 2}), result.output) == ("3", "3", '{"add":"1"}')
