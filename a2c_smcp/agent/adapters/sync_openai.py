# Generated from openai.py by tools/gen_sync.py. Edit the source, not this file.
"""The tools of an office for OpenAI-style APIs: the `tools` of a request, and the answers to its `tool_calls`."""

from collections.abc import Callable, Sequence
from typing import Any

from a2c_smcp.agent.adapters.model_calls import ModelCall, read_calls
from a2c_smcp.agent.adapters.sync_model_tools import SyncModelTools, SyncToolAgent, ToolListener
from a2c_smcp.agent.adapters.names import NamedTool
from a2c_smcp.agent.adapters.openai_forms import Api, definition, messages
from a2c_smcp.agent.adapters.results import MAX_RESULT_TOKENS, ToolAnswer
from a2c_smcp.agent.concurrency import sync_gather
from a2c_smcp.common.token_estimate import TokenCounter, estimate_tokens


class SyncOpenAITools(SyncModelTools):
    """A toolbox that speaks the JSON of OpenAI's APIs; it needs no client library.

    `definitions` go into the request; what `run` returns goes after the model's message into the next one.

    Args:
        api: `chat` for Chat Completions, which most others speak too, or `responses`.
        pictures: Whether the model sees; one that reads alone is told how many there were.
    """

    def __init__(
        self,
        agent: SyncToolAgent,
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

    def definitions(self) -> list[dict[str, Any]]:
        """Return the `tools` of a request, as they are now."""
        return [definition(tool, self.api) for tool in (self.tools()).values()]

    def run(self, reply: object) -> list[dict[str, Any]]:
        """Run what a model asks for and return the messages that answer it; nothing asked, no messages.

        Every call is answered, with what went wrong where it did.

        Args:
            reply: The assistant message, its `tool_calls`, or the `output` of a response.

        Raises:
            BadRequest: It is none of these.
        """
        answers = sync_gather(self._run(call) for call in read_calls(reply))
        return messages(answers, self.api, pictures=self.pictures)

    def _run(self, call: ModelCall) -> tuple[ModelCall, ToolAnswer]:
        return call, self.call(call.name, call.arguments)
