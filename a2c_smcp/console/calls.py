"""The log of tool calls that the console shows: the latest ones, each with its steps, arguments and result."""

import json
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from a2c_smcp.common.visible import exact
from a2c_smcp.computer.tools.progress import CallEvent, CallStage

KEPT: Final = 300
MAX_SHOWN: Final = 64_000
"""Characters of arguments or of a result that are kept; whoever wants all of a large one calls again."""

_ENDS: Final = frozenset(
    {CallStage.DONE, CallStage.FAILED, CallStage.TIMED_OUT, CallStage.CANCELLED, CallStage.REFUSED}
)


class CallLog:
    """Hears of calls as an observer of the Computer.

    Args:
        changed: Called after every step.
    """

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        self.changed = changed
        self._calls: OrderedDict[int, dict[str, Any]] = OrderedDict()
        self._running: dict[tuple[str, str], int] = {}
        self._count = 0

    def __call__(self, event: CallEvent) -> None:
        """Note a step of a call."""
        key = (event.agent, event.req_id)
        call = self._calls.get(self._running.get(key, 0)) or self._begin(key, event)
        call |= {
            "server": event.server,
            "stage": event.stage.value,
            "seconds": round(event.seconds, 3),
            "error": event.error,
            "ended": event.stage in _ENDS,
        }
        if event.progress is not None:
            call["progress"] = list(event.progress)
        if event.result is not None:
            call["result"] = shortened(event.result)
        if call["ended"]:
            self._running.pop(key, None)
        while len(self._calls) > KEPT:
            _, gone = self._calls.popitem(last=False)
            self._running.pop((gone["agent"], gone["req_id"]), None)
        self.changed()

    def _begin(self, key: tuple[str, str], event: CallEvent) -> dict[str, Any]:
        self._count += 1
        call = {
            "id": self._count,
            "agent": event.agent,
            "req_id": event.req_id,
            "tool": event.listed_name,
            "began": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "arguments": cut(exact(event.arguments)),
            "progress": None,
            "result": None,
        }
        self._calls[self._count] = call
        self._running[key] = self._count
        return call

    def latest(self) -> list[dict[str, Any]]:
        """Return the calls, the latest first, without their arguments and results."""
        left_out = ("arguments", "result")
        return [
            {key: value for key, value in call.items() if key not in left_out}
            for call in reversed(self._calls.values())
        ]

    def find(self, number: int) -> dict[str, Any] | None:
        """Return all of one call."""
        call = self._calls.get(number)
        return None if call is None else dict(call)


def cut(text: str) -> str:
    """Return a text, or the beginning of a long one."""
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}\n… ({len(text)} characters)"


def shortened(value: Any) -> Any:
    """Return a JSON value, or the beginning of its text where that is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return value if len(text) <= MAX_SHOWN else {"shortened": text[:MAX_SHOWN], "characters": len(text)}
