"""A driver's side of the pipe: requests on stdin, answers and events on stdout, one JSON object a line."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Action = Callable[..., Awaitable[Any]]
# One request may carry a large tool argument.
LONGEST_LINE = 64 * 1024 * 1024


class Lines:
    """The pipe of one driver. From here on whatever else prints to stdout lands on stderr."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def event(self, name: str, data: Any) -> None:
        """Tell the other end what has just happened here."""
        self._write({"event": name, "data": data})

    async def serve(self, actions: Mapping[str, Action]) -> None:
        """Answer requests, many at a time, until stdin ends."""
        reader = asyncio.StreamReader(limit=LONGEST_LINE)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        running: set[asyncio.Task[None]] = set()
        while line := await reader.readline():
            task = asyncio.create_task(self._answer(actions, json.loads(line)))
            running.add(task)
            task.add_done_callback(running.discard)

    async def _answer(self, actions: Mapping[str, Action], request: dict[str, Any]) -> None:
        identity = request.pop("id")
        try:
            result = await actions[request.pop("do")](**request)
        except Exception as error:  # noqa: BLE001 - whatever the client raises is the answer
            self._write({"id": identity, "ok": False, "error": f"{type(error).__name__}: {error}"})
        else:
            self._write({"id": identity, "ok": True, "result": result})

    def _write(self, message: dict[str, Any]) -> None:
        self._out.write(json.dumps(message, ensure_ascii=False) + "\n")
        self._out.flush()
