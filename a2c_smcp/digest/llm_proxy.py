"""The language model behind the pipeline: any endpoint that speaks OpenAI's chat completions.

None is preset. A text leaves the machine only for an endpoint that the user has named, by configuration or by
`A2C_LLM_BASE_URL`, `A2C_LLM_API_KEY` and `A2C_LLM_MODEL`.
"""

import io
import json
import logging
import os
import random
import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from a2c_smcp.common.addresses import is_loopback
from a2c_smcp.common.backoff import backoff_delay
from a2c_smcp.common.masking import SecretMask
from a2c_smcp.digest.framework_protocol import Params, Response, respond, wanted
from a2c_smcp.errors import BadRequest, InternalError, RequestTimeout, SMCPError, Unauthorized
from a2c_smcp.web.http_exchange import AnswerTooLarge, DeadlineExceeded, ExchangeError, Unreachable, post

ENV: Final = "A2C_LLM_"
RETRIED: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
LONGEST_PAUSE: Final = 30.0
MAX_REPLY: Final = 8 << 20
INCOMPLETE: Final[Mapping[str, str]] = {
    "length": "The language model's answer was cut off at its limit of tokens; raise --max_tokens",
    "content_filter": "The language model's endpoint withheld the answer (content_filter)",
}
"""What `finish_reason` says of an answer that is not whole."""

_NONE: Final = f"No language model is configured: name an endpoint with --llm_url or {ENV}BASE_URL"
_THOUGHTS: Final = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """Where the model is.

    Attributes:
        base_url: Up to and with `/v1`; empty where there is no model.
        api_key: Sent as a bearer token; never shown.
        model: The model to use where a request names none.
        timeout: Seconds that a request may take, from its first attempt to the last byte of the answer.
        retries: How often a passing failure is tried again.
        context_tokens: How much a request may hold, the answer included.
        allow_http: Whether `http://` to another machine is good enough.

    Raises:
        BadRequest: The URL cannot be used.
    """

    base_url: str = ""
    api_key: str = field(default="", repr=False)
    model: str = ""
    timeout: float = 120.0
    retries: int = 3
    context_tokens: int = 16_000
    allow_http: bool = False

    def __post_init__(self) -> None:
        if not self.base_url:
            return
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadRequest("The URL of the language model must begin with https:// (or http://) and name a host")
        if parts.scheme == "http" and not self.allow_http and not is_loopback(parts.hostname):
            raise BadRequest("The language model is on another machine, and http:// would show it to everyone between")

    @classmethod
    def from_environment(cls, env: Mapping[str, str] | None = None, **given: Any) -> "LlmSettings":
        """Return the settings of the environment, with what is `given` over them."""
        known = os.environ if env is None else env
        found: dict[str, Any] = {
            name: known.get(ENV + name.upper(), "") for name in ("base_url", "api_key", "model") if not given.get(name)
        }
        return cls(**{**found, **{name: value for name, value in given.items() if value not in (None, "")}})

    @property
    def configured(self) -> bool:
        """Whether there is a model at all."""
        return bool(self.base_url)


class LlmProxy:
    """Asks the model, again where the failure may pass, and counts what that costs.

    Attributes:
        usage: Tokens so far, by name.
    """

    def __init__(self, settings: LlmSettings | None = None) -> None:
        self.settings = settings or LlmSettings.from_environment()
        self.usage: Counter[str] = Counter()

    def ask(self, params: Params) -> Response:
        """Return `text` and `usage` for `prompt`, with `system`, `model`, `temperature` and `max_tokens` if given."""
        return respond(params, self._ask)

    def _ask(self, params: dict[str, Any], trace_id: str) -> dict[str, Any]:
        if not self.settings.configured:
            raise BadRequest(_NONE)
        reply = self._post(_body(params, self.settings.model), trace_id)
        usage = {
            name: count
            for name, count in (reply.get("usage") or {}).items()
            if isinstance(count, int) and not isinstance(count, bool)
        }
        self.usage.update(usage)  # an answer that was cut off costs as much as another
        text = _text_of(reply)
        model = reply.get("model") or params.get("model") or self.settings.model
        return {"text": text, "usage": usage, "model": str(model)}

    def _post(self, body: dict[str, Any], trace_id: str) -> dict[str, Any]:
        settings = self.settings
        end = time.monotonic() + settings.timeout
        for attempt in range(settings.retries + 1):
            problem, pause = _attempt(settings, body, end - time.monotonic())
            if not isinstance(problem, SMCPError):
                return problem
            if pause is None or attempt == settings.retries:
                raise problem
            delay = pause or backoff_delay(attempt, base=0.5, longest=LONGEST_PAUSE)
            seconds = min(delay, LONGEST_PAUSE) * random.uniform(0.8, 1.2)  # noqa: S311
            if time.monotonic() + seconds >= end:
                raise problem
            _log.info("Language model request failed; retrying", extra={"trace_id": trace_id, "attempt": attempt + 1})
            time.sleep(seconds)
        raise InternalError("The language model was never asked")


def ask(params: Params) -> Response:
    """Ask the model of the environment; see `LlmProxy.ask`."""
    return LlmProxy().ask(params)


def _attempt(
    settings: LlmSettings, body: dict[str, Any], seconds: float
) -> tuple[dict[str, Any] | SMCPError, float | None]:
    """Return the reply, or what went wrong and, where it may pass, the pause the endpoint asks for (0: any)."""
    headers = {"authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
    url = f"{settings.base_url.rstrip('/')}/chat/completions"
    mask = SecretMask([settings.api_key])  # some endpoints send back what they were sent
    content = io.BytesIO()
    try:
        reply = post(url, content, seconds=seconds, limit=MAX_REPLY, headers=headers, json=body)
    except DeadlineExceeded:
        return RequestTimeout(f"The language model did not answer within {settings.timeout:g} seconds"), 0
    except Unreachable as problem:
        return InternalError(f"The language model cannot be reached ({problem})"), 0
    except AnswerTooLarge:
        return InternalError(f"The language model answered more than {MAX_REPLY >> 20} MiB"), None
    except ExchangeError as problem:
        return InternalError(f"The language model cannot be used ({problem})"), None
    if reply.status == 200:
        return _parsed(content.getvalue(), mask), None
    why = f"The language model answered {reply.status}{_reason(content.getvalue(), mask)}"
    if reply.status in (401, 403):
        return Unauthorized(f"{why}; check the key ({ENV}API_KEY)", details={"status": reply.status}), None
    return InternalError(why), _pause(reply.headers) if reply.status in RETRIED else None


def _parsed(content: bytes, mask: SecretMask) -> dict[str, Any] | SMCPError:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return InternalError("The language model answered something that is no JSON; check its URL (… /v1)")
    return (
        mask.hide_in(value) if isinstance(value, dict) else InternalError("The language model answered no JSON object")
    )


def _body(params: dict[str, Any], default_model: str) -> dict[str, Any]:
    prompt = wanted(params, "prompt")
    model = params.get("model") or default_model
    if not model:
        raise BadRequest(f"No model is named: give `model`, --model or {ENV}MODEL")
    system = params.get("system")
    messages = [{"role": "system", "content": system}] if system else []
    body: dict[str, Any] = {"model": model, "messages": [*messages, {"role": "user", "content": prompt}]}
    for name in ("temperature", "max_tokens"):
        if params.get(name) is not None:
            body[name] = params[name]
    return body


def _text_of(reply: Mapping[str, Any]) -> str:
    """Return the text of a complete answer.

    Raises:
        InternalError: There is none, or it was cut off or withheld: `details` has the `finish_reason` then.
    """
    try:
        choice = reply["choices"][0]
        content = choice["message"]["content"]
    except (KeyError, IndexError, TypeError):
        raise InternalError("The language model's answer has no choices[0].message.content") from None
    reason = str(choice.get("finish_reason"))
    if reason in INCOMPLETE:
        raise InternalError(INCOMPLETE[reason], details={"finish_reason": reason})
    if isinstance(content, list):  # parts, as some servers answer
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    # Models that think aloud are not quoted on it; thoughts without an end are no answer.
    text = _THOUGHTS.sub("", content) if isinstance(content, str) else ""
    if not text.strip() or text.lstrip().startswith("<think>"):
        raise InternalError("The language model answered nothing")
    return text


def _reason(content: bytes, mask: SecretMask) -> str:
    value = _parsed(content, mask)
    if isinstance(value, SMCPError):
        return ""
    error = value.get("error")
    message = error.get("message") if isinstance(error, dict) else error or value.get("message")
    return f": {message[:300]}" if isinstance(message, str) and message else ""


def _pause(headers: Mapping[str, str]) -> float:
    try:
        return max(float(headers.get("retry-after", "")), 0.0)
    except ValueError:
        return 0.0
