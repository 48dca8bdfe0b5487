"""Windows of a desktop: texts that functions return at each read."""

import inspect
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from a2c_smcp.errors import InvalidWindowUri
from a2c_smcp.uris.window import build_window_uri, parse_window_uri

WindowRenderer: TypeAlias = Callable[[], str] | Callable[[], Awaitable[str]]
"""Returns the current text of a window."""


@dataclass(frozen=True, slots=True)
class OfferedWindow:
    """A listed window."""

    uri: str
    name: str
    description: str
    render: WindowRenderer

    async def text(self) -> str:
        """Return the current text."""
        text = self.render()
        return await text if inspect.isawaitable(text) else text


class OfferedWindows:
    """The windows of a host, in the order in which they were added."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._windows: dict[tuple[str, ...], OfferedWindow] = {}

    def __iter__(self) -> Iterator[OfferedWindow]:
        return iter(list(self._windows.values()))

    def __bool__(self) -> bool:
        return bool(self._windows)

    def open(
        self, path: str, render: WindowRenderer, *, priority: int | None, fullscreen: bool, name: str
    ) -> OfferedWindow:
        """Add or replace the window at `path` ("board", "orders/today").

        Raises:
            InvalidWindowUri: The path or the priority is not valid.
        """
        segments = _segments(path)
        params = {} if priority is None else {"priority": str(priority)}
        if fullscreen:
            params["fullscreen"] = "true"
        uri = build_window_uri(self._host, *segments, params=params)
        window = OfferedWindow(uri, name or path, inspect.getdoc(render) or "", render)
        self._windows[segments] = window
        return window

    def close(self, path: str) -> bool:
        """Remove a window; return whether it existed."""
        return self._windows.pop(_segments(path), None) is not None

    def has(self, path: str) -> bool:
        """Whether a window exists at a path."""
        return _segments(path) in self._windows

    def find(self, uri: str) -> OfferedWindow | None:
        """Return the window of a URI, whatever its query."""
        path = self._path(uri)
        return None if path is None else self._windows.get(path)

    def is_at(self, uri: str, path: str) -> bool:
        """Whether a URI is that of the window at `path`, whatever its query."""
        return self._path(uri) == _segments(path)

    def _path(self, uri: str) -> tuple[str, ...] | None:
        try:
            parsed = parse_window_uri(uri)
        except InvalidWindowUri:
            return None
        return parsed.path if parsed.host.lower() == self._host.lower() else None


def _segments(path: str) -> tuple[str, ...]:
    return tuple(segment for segment in path.split("/") if segment)
