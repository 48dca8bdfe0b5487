"""The tools of an office for OpenAI-style APIs: the `tools` of a request, and the answers to its `tool_calls`."""

from collections.abc import Callable, Sequence
from typing import Any

from a2c_smcp.agent.adapters.calls import Call, read_calls
from a2c_smcp.agent.adapters.names import NamedTool
from a2c_smcp.agent.adapters.openai_forms import Api, definition, messages
from a2c_smcp.agent.adapters.results import MAX_RESULT, Answer
from a2c_smcp.agent.adapters.toolbox import ToolAgent, ToolBox
from a2c_smcp.agent.waiting import together
from a2c_smcp.tokens import TokenCounter, estimate_tokens


class OpenAITools(ToolBox):
    """A toolbox that speaks JSON of Chat Completions, or of Responses where `api` says so; needs no client library.

    `definitions` go into the request; what `run` returns goes after the model's message into the next one.
    """

    def __init__(
        self,
        agent: ToolAgent,
        computers: Sequence[str] | None = None,
        *,
        api: Api = "chat",
        keep: Callable[[NamedTool], bool] = lambda _: True,
        timeout: float = 60,
        max_tokens: int = MAX_RESULT,
        count: TokenCounter = estimate_tokens,
    ) -> None:
        super().__init__(agent, computers, keep=keep, timeout=timeout, max_tokens=max_tokens, count=count)
        self.api: Api = api

    async def definitions(self) -> list[dict[str, Any]]:
        """Return the `tools` of a request, as they are now."""
        return [definition(tool, self.api) for tool in (await self.tools()).values()]

    async def run(self, reply: object) -> list[dict[str, Any]]:
        """Run what a model asks for and return the messages that answer it; nothing asked, no messages.

        Every call is answered, with what went wrong where it did.

        Args:
            reply: The assistant message, its `tool_calls`, or the `output` of a response.

        Raises:
            BadRequest: It is none of these.
        """
        return messages(await together(self._run(call) for call in read_calls(reply)), self.api)

    async def _run(self, call: Call) -> tuple[Call, Answer]:
        return call, await self.call(call.name, call.arguments)
