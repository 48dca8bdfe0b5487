"""Selects, sorts and renders the windows of all MCP servers. Pure except for a warning about binary contents."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from a2c_smcp.computer.tools.history import History, order_servers
from a2c_smcp.errors import InvalidWindowUri
from a2c_smcp.types import SERVER_NAME, Desktop
from a2c_smcp.uris.window import parse_window_uri

logger = logging.getLogger(__name__)

_YES: Final = frozenset({"true", "1", "yes", "on"})


@dataclass(frozen=True, slots=True)
class DesktopWindow:
    """A `window://` resource of an MCP server and its contents, in the JSON form of MCP.

    Attributes:
        contents: Items of `{"uri", "mimeType", "text"}` or `{"uri", "mimeType", "blob"}`.
        annotations: The resource's `annotations`; only `priority` is used.
        meta: The resource's `_meta`; only `fullscreen` is used.
    """

    server: SERVER_NAME
    uri: str
    contents: Sequence[Mapping[str, Any]]
    annotations: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class _Pane:
    """A window that can be shown.

    `priority` is between 0 and 1 whatever its source: 29 / 100 == 0.29, but 0.29 * 100 != 29.
    """

    server: SERVER_NAME
    uri: str
    texts: Sequence[str]
    priority: float
    fullscreen: bool


def organize_desktop(
    windows: Iterable[DesktopWindow],
    size: int | None = None,
    history: History | None = None,
    window: str | None = None,
) -> list[Desktop]:
    """Return the rendered windows, the most relevant first.

    Args:
        windows: In resource order, which decides ties and the first fullscreen window of a server.
        size: The most windows over all servers; None means all, zero or less none.
        history: Tool calls, oldest first.
        window: Show only the window with exactly this URI.
    """
    if size is not None and size <= 0:
        return []
    if window is not None:
        windows = [candidate for candidate in windows if candidate.uri == window]
    groups = _group_by_server(windows)
    shown = [pane for server in order_servers(groups, history) for pane in _arrange(groups[server])]
    return [_render(pane) for pane in shown[:size]]


def reading_order(resources: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the positions of `window://` resources in the order in which a desktop would show them.

    Fullscreen windows come first, then the highest priority; ties keep resource order. Windows with an invalid URI are
    never shown and omitted.
    """
    ranked = []
    for position, resource in enumerate(resources):
        rank = _rank(resource["uri"], resource.get("annotations"), resource.get("_meta"))
        if rank is not None:
            priority, fullscreen = rank
            ranked.append((not fullscreen, 0 if fullscreen else -priority, position))
    return [position for *_, position in sorted(ranked)]


def _group_by_server(windows: Iterable[DesktopWindow]) -> dict[SERVER_NAME, list[_Pane]]:
    groups: dict[SERVER_NAME, list[_Pane]] = {}
    for window in windows:
        pane = _pane_of(window)
        if pane is not None:
            groups.setdefault(pane.server, []).append(pane)
    return groups


def _pane_of(window: DesktopWindow) -> _Pane | None:
    rank = _rank(window.uri, window.annotations, window.meta)
    if rank is None:
        return None
    texts = _texts_of(window)
    return _Pane(window.server, window.uri, texts, *rank) if texts else None


def _rank(written: str, annotations: object, meta: object) -> tuple[float, bool] | None:
    """Return priority and fullscreen of a window; None if its URI is invalid."""
    try:
        uri = parse_window_uri(written)
    except InvalidWindowUri:
        return None
    if uri.query_params:
        return (uri.priority or 0) / 100, bool(uri.fullscreen)
    return _annotated_priority(annotations), _annotated_fullscreen(meta)


def _texts_of(window: DesktopWindow) -> list[str]:
    # Contents come from untrusted servers: skip what does not have MCP's form.
    items: object = window.contents
    if not isinstance(items, list | tuple):
        return []
    items = [item for item in items if isinstance(item, Mapping)]
    texts = [item["text"] for item in items if isinstance(item.get("text"), str)]
    if any("blob" in item for item in items):
        logger.warning("binary contents not shown on the desktop: uri=%s", window.uri, extra={"server": window.server})
    return texts


def _annotated_priority(annotations: object) -> float:
    value = annotations.get("priority") if isinstance(annotations, Mapping) else None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return value
    return 0


def _annotated_fullscreen(meta: object) -> bool:
    value = meta.get("fullscreen") if isinstance(meta, Mapping) else None
    return value is True or (isinstance(value, str) and value.lower() in _YES)


def _arrange(panes: list[_Pane]) -> list[_Pane]:
    for pane in panes:
        if pane.fullscreen:
            return [pane]
    return sorted(panes, key=lambda pane: pane.priority, reverse=True)  # stable: ties keep resource order


def _render(pane: _Pane) -> Desktop:
    if not any(pane.texts):
        return pane.uri
    return "\n\n".join((pane.uri, *pane.texts))
