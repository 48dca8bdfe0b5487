"""The worker process for VRL scripts: runs one script over many events, one line of JSON each.

The library holds the GIL while a script runs, and a script that is nested too deeply crashes the process, so scripts do
not run in the Computer itself. This file imports nothing of the package, so that it starts fast.

    vrl_worker.py check            the script as a line of JSON     -> {"fault": null or "why"}
    vrl_worker.py run SECONDS      the script as a line of JSON,    -> {"text": "JSON"} or {"error": "why"}
                                   then events                         for each event
    both                           without the library              -> {"missing": true}
"""

import json
import os
import re
import signal
import sys
from typing import Any, BinaryIO, Final

MAX_MEMORY: Final = 1 << 30
MAX_OUTPUT: Final = 4 << 20
MAX_MESSAGE: Final = 500

_HEAD = re.compile(r"error\[E\d+\]: (?P<what>[^\n]*)")
_PLACE = re.compile(r"┌─ :(?P<line>\d+):(?P<column>\d+)")


def main() -> None:
    """Write replies to the real stdout; redirect output of libraries to stderr."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    confine()
    lines = sys.stdin.buffer
    script = json.loads(lines.readline())
    if sys.argv[1] == "check":
        _answer(answers, check(script))
        return
    runner, seconds = ScriptRunner(script), int(sys.argv[2])
    for line in lines:
        # The default action of SIGALRM ends the process even inside the library, and even if the Computer is gone.
        _alarm(seconds)
        answer = runner.run(line)
        _alarm(0)
        _answer(answers, answer)


def confine() -> None:
    """Limit the memory of the process, if the system supports it."""
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))


def check(script: str) -> dict[str, Any]:
    """Return the syntax error of a script, if there is one."""
    try:
        from vrl_python import VRLRuntime  # noqa: PLC0415
    except ImportError:
        return {"missing": True}
    found = VRLRuntime.check_syntax(script)
    return {"fault": None if found is None else describe(found.formatted_message)}


class ScriptRunner:
    """A script, compiled once."""

    def __init__(self, script: str) -> None:
        self._script = script
        self._runtime: Any = None

    def run(self, line: bytes) -> dict[str, Any]:
        """Return the script's result for an event."""
        try:
            if self._runtime is None:
                from vrl_python import VRLRuntime  # noqa: PLC0415

                self._runtime = VRLRuntime()
            made = self._runtime.execute(self._script, json.loads(line)).processed_event
            return {"text": json.dumps(made, ensure_ascii=False)}
        except ImportError:
            return {"missing": True}
        except (ValueError, RuntimeError, TypeError) as error:
            return {"error": describe(str(error))}


def describe(message: str) -> str:
    """Return the library's multi-line error as one line with its position."""
    head, place = _HEAD.search(message), _PLACE.search(message)
    text = head["what"] if head else " ".join(message.split())
    if place:
        text = f"{text} (line {place['line']}, column {place['column']})"
    return text[:MAX_MESSAGE]


def _alarm(seconds: int) -> None:
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def _answer(answers: BinaryIO, answer: dict[str, Any]) -> None:
    text = json.dumps(answer)
    if len(text) > MAX_OUTPUT:
        text = json.dumps({"error": f"what the script made is larger than {MAX_OUTPUT >> 20} MiB"})
    answers.write(text.encode() + b"\n")


if __name__ == "__main__":
    main()
