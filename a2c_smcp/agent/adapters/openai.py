"""The tools of an office for OpenAI-style APIs: the `tools` of a request, and replies to its `tool_calls`."""

from collections.abc import Callable, Sequence
from typing import Any

from a2c_smcp.agent.adapters.model_calls import ModelCall, read_calls
from a2c_smcp.agent.adapters.model_tools import ModelTools, ToolAgent, ToolListener
from a2c_smcp.agent.adapters.names import NamedTool
from a2c_smcp.agent.adapters.openai_forms import Api, definition, messages
from a2c_smcp.agent.adapters.results import MAX_RESULT_TOKENS, ToolAnswer
from a2c_smcp.agent.concurrency import gather
from a2c_smcp.common.token_estimate import TokenCounter, estimate_tokens


class OpenAITools(ModelTools):
    """Tools in the JSON format of OpenAI's APIs; needs no client library.

    Put `definitions` into the request, and append the messages that `run` returns after the model's message.

    Args:
        api: `chat` for Chat Completions, which most providers support, or `responses`.
        pictures: Whether the model accepts images; otherwise it only gets their number.
    """

    def __init__(
        self,
        agent: ToolAgent,
        computers: Sequence[str] | None = None,
        *,
        api: Api = "chat",
        pictures: bool = True,
        keep: Callable[[NamedTool], bool] = lambda _: True,
        timeout: float = 60,
        max_tokens: int = MAX_RESULT_TOKENS,
        count: TokenCounter = estimate_tokens,
        on_progress: ToolListener | None = None,
    ) -> None:
        super().__init__(
            agent, computers, keep=keep, timeout=timeout, max_tokens=max_tokens, count=count, on_progress=on_progress
        )
        self.api: Api = api
        self.pictures = pictures

    async def definitions(self) -> list[dict[str, Any]]:
        """Return the current `tools` of a request."""
        return [definition(tool, self.api) for tool in (await self.tools()).values()]

    async def run(self, reply: object) -> list[dict[str, Any]]:
        """Run the tool calls of a model and return the messages that reply to them.

        Every call gets a reply; that of a failed call says why.

        Args:
            reply: The assistant message, its `tool_calls`, or the `output` of a response.

        Raises:
            BadRequest: `reply` is none of these.
        """
        answers = await gather(self._run(call) for call in read_calls(reply))
        return messages(answers, self.api, pictures=self.pictures)

    async def _run(self, call: ModelCall) -> tuple[ModelCall, ToolAnswer]:
        return call, await self.call(call.name, call.arguments)
