"""Packs windows into one text within a token budget: by priority, cut proportionally, with a note. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from a2c_smcp.common.token_estimate import TokenCounter, cut, estimate_tokens
from a2c_smcp.errors import InvalidWindowUri
from a2c_smcp.types import Desktop
from a2c_smcp.uris.window import parse_window_uri

MIN_WINDOW_TOKENS: Final = 24
"""Minimum tokens of a shown window; a window that gets fewer is omitted."""

MAX_NAMED: Final = 5
"""Number of omitted windows that the note names; the rest is counted."""

_LONGEST: Final = 120  # characters of a name in the note
_TRIES: Final = 8
_CLOSING: Final = "</window"
_CLOSED: Final = "<\\/window"  # the text of a window must not close its frame


@dataclass(frozen=True, slots=True)
class PackedWindow:
    """A window of a desktop with its origin.

    Attributes:
        server: Host of its URI, which identifies the MCP server.
        priority: 0 to 100. If the URI has none, the priority of the next window of the same server on the desktop.
        place: Position on its desktop, counted from 0.
    """

    computer: str
    server: str
    uri: str
    text: str
    priority: int
    place: int

    def framed(self, text: str) -> str:
        """Return a text in the frame of this window, which names its origin."""
        return (
            f'<window computer="{_attribute(self.computer)}" server="{_attribute(self.server)}" '
            f'uri="{_attribute(self.uri)}">\n{text}\n</window>'
        )


def windows_of(computer: str, desktop: Iterable[Desktop]) -> list[PackedWindow]:
    """Return the windows of a Computer, in the order of its desktop."""
    windows: list[PackedWindow] = []
    least: dict[str, int] = {}  # lowest priority of the later windows, by server
    for place, rendered in reversed(list(enumerate(desktop))):
        uri, _, text = rendered.partition("\n\n")
        try:
            parsed = parse_window_uri(uri)
        except InvalidWindowUri:
            server, priority = "", None
        else:
            server, priority = parsed.host, parsed.priority
        if priority is None:
            priority = least.get(server, 0)
        least[server] = priority
        windows.append(PackedWindow(computer, server, uri, text.replace(_CLOSING, _CLOSED), priority, place))
    return windows[::-1]


def pack(
    windows: Sequence[PackedWindow],
    budget: int,
    count: TokenCounter = estimate_tokens,
    silent: Sequence[str] = (),
) -> str:
    """Return the windows as one text of at most `budget` tokens; a note lists what was cut or omitted.

    The order is by priority, then by position on the desktop. Tokens are distributed in proportion to
    1 + priority / 25; no window gets more than it needs, and the rest goes to the others.
    """
    ordered = sorted(windows, key=lambda window: (-window.priority, window.place, window.computer))
    available = budget
    for _ in range(_TRIES):
        text = _packed(ordered, available, count, silent)
        excess = count(text) - budget
        if excess <= 0:
            return text
        available -= excess  # with some tokenizers the whole has more tokens than the sum of its parts
    note = _note(ordered, 0, silent, 0)
    return note if count(note) <= budget else ""


def _packed(ordered: Sequence[PackedWindow], room: int, count: TokenCounter, silent: Sequence[str]) -> str:
    whole = _joined([window.framed(window.text) for window in ordered], _note([], 0, silent))
    if count(whole) <= room:
        return whole
    frames = [count(window.framed("")) + 1 for window in ordered]
    needs = [count(window.text) for window in ordered]
    floors = [min(need, MIN_WINDOW_TOKENS) for need in needs]
    costs = [frame + floor for frame, floor in zip(frames, floors, strict=True)]
    shown, left, named = _fitting(ordered, costs, room, count, silent)
    shown_windows = ordered[:shown]
    extra = share_out(
        left - sum(costs[:shown]),
        [need - floor for need, floor in zip(needs[:shown], floors, strict=False)],
        [1 + window.priority / 25 for window in shown_windows],
    )
    texts = [cut(w.text, floor + more, count) for w, floor, more in zip(shown_windows, floors, extra, strict=False)]
    shortened = sum(text != window.text for text, window in zip(texts, shown_windows, strict=True))
    blocks = [window.framed(text) for window, text in zip(shown_windows, texts, strict=True)]
    return _joined(blocks, _note(ordered[shown:], shortened, silent, named))


def _fitting(
    ordered: Sequence[PackedWindow], costs: Sequence[int], room: int, count: TokenCounter, silent: Sequence[str]
) -> tuple[int, int, int]:
    """Return the number of windows that fit, the tokens for them, and the number of omitted windows to name.

    The note needs tokens too. If its names would displace a window, it has none.
    """
    left = room - count(_note([], len(ordered), silent)) - 1
    most = _how_many(costs, left)
    if most == len(ordered):
        return most, left, 0
    for named in (MAX_NAMED, 0):
        left = room - count(_note(ordered[most:], len(ordered), silent, named)) - 1
        if _how_many(costs, left):
            return _how_many(costs, left), left, named
    return 0, left, 0


def share_out(total: int, needs: Sequence[int], weights: Sequence[float]) -> list[int]:
    """Distribute `total` in proportion to the weights, to each at most what it needs."""
    shares = [0] * len(needs)
    open_ = sorted(range(len(needs)), key=lambda index: needs[index] / weights[index])
    left = total
    for position, index in enumerate(open_):  # the smallest need per weight first
        weight = sum(weights[other] for other in open_[position:])
        shares[index] = max(0, min(needs[index], int(left * weights[index] / weight)))
        left -= shares[index]
    return shares


def _how_many(costs: Sequence[int], room: int) -> int:
    for number, cost in enumerate(costs):
        room -= cost
        if room < 0:
            return number
    return len(costs)


def _note(left_out: Sequence[PackedWindow], shortened: int, silent: Sequence[str], named: int = MAX_NAMED) -> str:
    says = []
    if left_out:
        names = [_short(f"{window.computer} {window.uri}") for window in left_out[:named]]
        if len(left_out) > named:
            names.append(f"{len(left_out) - named} {'more' if named else 'windows'}")
        says.append(f"Omitted: {', '.join(names)}.")
    if shortened:
        says.append(f"Shortened: {shortened} {'window' if shortened == 1 else 'windows'}.")
    if silent:
        says.append(f"No answer from: {_short(', '.join(silent))}.")
    return f"({' '.join(says)})" if says else ""


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _joined(blocks: Sequence[str], note: str) -> str:
    return "\n\n".join([*blocks, note] if note else blocks)


def _attribute(value: str) -> str:
    return value.replace('"', "'").replace("<", "(").replace(">", ")")
