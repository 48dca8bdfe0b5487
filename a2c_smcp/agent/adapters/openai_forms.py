"""Tools and results in the formats of two OpenAI APIs: Chat Completions, which most providers support, and Responses.

Pure. A tool message of Chat Completions can only contain text, so images follow in a user message.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias

from a2c_smcp.agent.adapters.model_calls import ModelCall
from a2c_smcp.agent.adapters.names import NamedTool
from a2c_smcp.agent.adapters.results import ToolAnswer
from a2c_smcp.agent.adapters.schemas import object_schema

Api: TypeAlias = Literal["chat", "responses"]

MAX_DESCRIPTION: Final = 1_024
"""The longest description of a function that the APIs accept, in characters."""


def definition(tool: NamedTool, api: Api = "chat") -> dict[str, Any]:
    """Return an item of the request's `tools`."""
    function = {
        "name": tool.name,
        "description": _shortened(tool.description),
        "parameters": object_schema(tool.parameters),
    }
    # Tools of MCP servers have optional arguments, which the strict mode of Responses, its default, does not allow.
    return (
        {"type": "function", "function": function}
        if api == "chat"
        else {"type": "function", "strict": False} | function
    )


def messages(
    answers: Iterable[tuple[ModelCall, ToolAnswer]], api: Api = "chat", *, pictures: bool = True
) -> list[dict[str, Any]]:
    """Return the next messages for the model: a reply to every call, in order, and then the images.

    Args:
        pictures: Whether the model accepts images; otherwise they are only counted.
    """
    shown = [(call, answer if pictures else _counted(answer)) for call, answer in answers]
    return _chat(shown) if api == "chat" else [_output(call, answer) for call, answer in shown]


def _counted(answer: ToolAnswer) -> ToolAnswer:
    if not answer.pictures:
        return answer
    number = len(answer.pictures)
    return ToolAnswer(f"{answer.text}\n\n({number} {'picture' if number == 1 else 'pictures'}, not shown)")


def _chat(answers: Sequence[tuple[ModelCall, ToolAnswer]]) -> list[dict[str, Any]]:
    replies: list[dict[str, Any]] = []
    pictures: list[dict[str, Any]] = []
    for call, answer in answers:
        text = answer.text
        if answer.pictures:
            text += "\n\n(its pictures are in the next message)"
            pictures.append({"type": "text", "text": f"Pictures that {call.name} gave (call {call.id}):"})
            pictures += [{"type": "image_url", "image_url": {"url": picture.url}} for picture in answer.pictures]
        replies.append({"role": "tool", "tool_call_id": call.id, "content": text})
    return [*replies, {"role": "user", "content": pictures}] if pictures else replies


def _output(call: ModelCall, answer: ToolAnswer) -> dict[str, Any]:
    output: str | list[dict[str, Any]] = answer.text
    if answer.pictures:
        output = [{"type": "input_text", "text": answer.text}]
        output += [{"type": "input_image", "image_url": picture.url} for picture in answer.pictures]
    return {"type": "function_call_output", "call_id": call.id, "output": output}


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_DESCRIPTION else f"{text[: MAX_DESCRIPTION - 1]}…"
