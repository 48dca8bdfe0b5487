"""Windows of a desktop: texts that functions make when somebody looks."""

import inspect
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from a2c_smcp.errors import InvalidWindowUri
from a2c_smcp.uris.window import build_window_uri, parse_window_uri

WindowRenderer: TypeAlias = Callable[[], str] | Callable[[], Awaitable[str]]
"""Returns what a window shows now."""


@dataclass(frozen=True, slots=True)
class OfferedWindow:
    """One window, as it is listed."""

    uri: str
    name: str
    description: str
    paint: WindowRenderer

    async def text(self) -> str:
        """Return what it shows now."""
        painted = self.paint()
        return await painted if inspect.isawaitable(painted) else painted


class OfferedWindows:
    """The windows of one host, in the order in which they were opened."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._windows: dict[tuple[str, ...], OfferedWindow] = {}

    def __iter__(self) -> Iterator[OfferedWindow]:
        return iter(list(self._windows.values()))

    def __bool__(self) -> bool:
        return bool(self._windows)

    def open(
        self, path: str, paint: WindowRenderer, *, priority: int | None, fullscreen: bool, name: str
    ) -> OfferedWindow:
        """Put a window at `path` ("board", "orders/today"), in place of one that is there.

        Raises:
            InvalidWindowUri: The path or the priority breaks a rule.
        """
        segments = _segments(path)
        params = {} if priority is None else {"priority": str(priority)}
        if fullscreen:
            params["fullscreen"] = "true"
        uri = build_window_uri(self._host, *segments, params=params)
        window = OfferedWindow(uri, name or path, inspect.getdoc(paint) or "", paint)
        self._windows[segments] = window
        return window

    def close(self, path: str) -> bool:
        """Take a window away, and say whether there was one."""
        return self._windows.pop(_segments(path), None) is not None

    def has(self, path: str) -> bool:
        """Whether there is a window at a path."""
        return _segments(path) in self._windows

    def find(self, uri: str) -> OfferedWindow | None:
        """Return the window of a URI, however its query is written."""
        path = self._path(uri)
        return None if path is None else self._windows.get(path)

    def is_at(self, uri: str, path: str) -> bool:
        """Whether a URI is that of the window at `path`, however its query is written."""
        return self._path(uri) == _segments(path)

    def _path(self, uri: str) -> tuple[str, ...] | None:
        try:
            parsed = parse_window_uri(uri)
        except InvalidWindowUri:
            return None
        return parsed.path if parsed.host.lower() == self._host.lower() else None


def _segments(path: str) -> tuple[str, ...]:
    return tuple(segment for segment in path.split("/") if segment)
