"""Windows as one text within a budget of tokens: by priority, cut fairly, with a note on what is missing. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from a2c_smcp.common.token_estimate import TokenCounter, cut, estimate_tokens
from a2c_smcp.errors import InvalidWindowUri
from a2c_smcp.types import Desktop
from a2c_smcp.uris.window import parse_window_uri

MIN_WINDOW_TOKENS: Final = 24
"""The fewest tokens worth showing of a window; where they cannot be had, it is left out."""

MAX_NAMED: Final = 5
"""How many windows that were left out are named; the rest is counted."""

_LONGEST: Final = 120  # characters of a name in the note
_TRIES: Final = 8
_CLOSING: Final = "</window"
_CLOSED: Final = "<\\/window"  # what a window shows must not end its frame


@dataclass(frozen=True, slots=True)
class DesktopWindow:
    """A window of a desktop, and where it is from.

    Attributes:
        server: The host of its URI, which stands for the MCP server.
        priority: 0 to 100. Where the URI does not tell it, that of the next window of its server, which the Computer
            has put behind it.
        place: How many windows of its desktop come before it.
    """

    computer: str
    server: str
    uri: str
    text: str
    priority: int
    place: int

    def framed(self, text: str) -> str:
        """Return a text as what this window shows, with where it is from."""
        return (
            f'<window computer="{_attribute(self.computer)}" server="{_attribute(self.server)}" '
            f'uri="{_attribute(self.uri)}">\n{text}\n</window>'
        )


def windows_of(computer: str, desktop: Iterable[Desktop]) -> list[DesktopWindow]:
    """Return the windows of a Computer, in the order of its desktop."""
    windows: list[DesktopWindow] = []
    least: dict[str, int] = {}  # of the windows of each server that come later
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
        windows.append(DesktopWindow(computer, server, uri, text.replace(_CLOSING, _CLOSED), priority, place))
    return windows[::-1]


def pack(
    windows: Sequence[DesktopWindow],
    budget: int,
    count: TokenCounter = estimate_tokens,
    silent: Sequence[str] = (),
) -> str:
    """Return the windows as one text of at most `budget` tokens; a note tells of what was cut or left out.

    The order is by priority, then by place on the desktop. What there is to share goes to the windows in proportion to
    1 + priority / 25, but none gets more than it needs, and what it does not need goes to the others.
    """
    ordered = sorted(windows, key=lambda window: (-window.priority, window.place, window.computer))
    room = budget
    for _ in range(_TRIES):
        text = _packed(ordered, room, count, silent)
        excess = count(text) - budget
        if excess <= 0:
            return text
        room -= excess  # some tokenizers find the whole dearer than its parts
    note = _note(ordered, 0, silent, 0)
    return note if count(note) <= budget else ""


def _packed(ordered: Sequence[DesktopWindow], room: int, count: TokenCounter, silent: Sequence[str]) -> str:
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
    ordered: Sequence[DesktopWindow], costs: Sequence[int], room: int, count: TokenCounter, silent: Sequence[str]
) -> tuple[int, int, int]:
    """Return how many windows can be shown, what there is for them, and how many of the others the note can name.

    The note costs too, and the more it names, the more: names give way where they would leave no room for a window.
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
    """Return how much of `total` each gets: in proportion to its weight, and never more than it needs."""
    shares = [0] * len(needs)
    open_ = sorted(range(len(needs)), key=lambda index: needs[index] / weights[index])
    left = total
    for position, index in enumerate(open_):  # whoever needs least for his weight is served first
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


def _note(left_out: Sequence[DesktopWindow], shortened: int, silent: Sequence[str], named: int = MAX_NAMED) -> str:
    says = []
    if left_out:
        names = [_short(f"{window.computer} {window.uri}") for window in left_out[:named]]
        if len(left_out) > named:
            names.append(f"{len(left_out) - named} {'more' if named else 'windows'}")
        says.append(f"No room for: {', '.join(names)}.")
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
