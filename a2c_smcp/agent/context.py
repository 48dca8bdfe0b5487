"""The desktops of an office as one text for a model's context, within a budget of tokens."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from a2c_smcp.agent.tokens import TokenCounter, cut, estimate_tokens
from a2c_smcp.agent.waiting import together
from a2c_smcp.errors import InvalidWindowUri, SMCPError
from a2c_smcp.smcp import SessionInfo
from a2c_smcp.types import Desktop
from a2c_smcp.uris.window import parse_window_uri

FLOOR: Final = 24
"""The fewest tokens worth showing of a window; where they cannot be had, it is left out."""

NAMED: Final = 5
"""How many windows that were left out are named; the rest is counted."""

_TRIES: Final = 8
_CLOSING: Final = "</window"
_CLOSED: Final = "<\\/window"  # what a window shows must not end its frame


class DesktopAgent(Protocol):
    """What is asked of an Agent's client."""

    async def list_room(self) -> list[SessionInfo]:
        """Who is in the office."""
        ...

    async def get_desktop(self, computer: str) -> list[Desktop]:
        """The windows of a Computer."""
        ...


@dataclass(frozen=True, slots=True)
class Window:
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


async def render_context(
    agent: DesktopAgent,
    budget: int,
    *,
    computers: Sequence[str] | None = None,
    count: TokenCounter = estimate_tokens,
) -> str:
    """Return the windows of the office, those of high priority first, in at most `budget` tokens.

    Each is labelled with the Computer, the MCP server and the URI it is from. Where they do not all fit, long ones are
    shortened, the last are left out, and a note says so. A Computer that does not answer is named too.

    Args:
        computers: Whose windows; by default those of every Computer in the office.
        count: What a text costs.
    """
    if computers is None:
        computers = [member["name"] for member in await agent.list_room() if member["role"] == "computer"]
    desktops = await together(_desktop(agent, computer) for computer in computers)
    shown = zip(computers, desktops, strict=True)
    windows = [window for computer, desktop in shown for window in windows_of(computer, desktop or ())]
    silent = [computer for computer, desktop in zip(computers, desktops, strict=True) if desktop is None]
    return pack(windows, budget, count, silent)


async def _desktop(agent: DesktopAgent, computer: str) -> list[Desktop] | None:
    try:
        return await agent.get_desktop(computer)
    except SMCPError:
        return None


def windows_of(computer: str, desktop: Iterable[Desktop]) -> list[Window]:
    """Return the windows of a Computer, in the order of its desktop."""
    windows: list[Window] = []
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
        windows.append(Window(computer, server, uri, text.replace(_CLOSING, _CLOSED), priority, place))
    return windows[::-1]


def pack(
    windows: Sequence[Window],
    budget: int,
    count: TokenCounter = estimate_tokens,
    silent: Sequence[str] = (),
) -> str:
    """Return the windows as one text of at most `budget` tokens; see `render_context`.

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
    return ""


def _packed(ordered: Sequence[Window], room: int, count: TokenCounter, silent: Sequence[str]) -> str:
    whole = _joined([window.framed(window.text) for window in ordered], _note([], 0, silent))
    if count(whole) <= room:
        return whole
    room -= count(_note(ordered[-NAMED:], len(ordered), silent)) + 1
    frames = [count(window.framed("")) + 1 for window in ordered]
    needs = [count(window.text) for window in ordered]
    shown = _how_many([frame + min(need, FLOOR) for frame, need in zip(frames, needs, strict=True)], room)
    shares = share_out(
        room - sum(frames[:shown]), needs[:shown], [1 + window.priority / 25 for window in ordered[:shown]]
    )
    texts = [cut(window.text, share, count) for window, share in zip(ordered, shares, strict=False)]
    shortened = sum(text != window.text for text, window in zip(texts, ordered, strict=False))
    blocks = [window.framed(text) for window, text in zip(ordered, texts, strict=False)]
    note = _note(ordered[shown:], shortened, silent)
    return _joined(blocks, note if blocks or count(note) <= room else "")


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


def _note(left_out: Sequence[Window], shortened: int, silent: Sequence[str]) -> str:
    says = []
    if left_out:
        names = [f"{window.computer} {window.uri}" for window in left_out[:NAMED]]
        more = f" and {len(left_out) - NAMED} more" if len(left_out) > NAMED else ""
        says.append(f"No room for: {', '.join(names)}{more}.")
    if shortened:
        says.append(f"Shortened: {shortened} {'window' if shortened == 1 else 'windows'}.")
    if silent:
        says.append(f"No answer from: {', '.join(silent)}.")
    return f"({' '.join(says)})" if says else ""


def _joined(blocks: Sequence[str], note: str) -> str:
    return "\n\n".join([*blocks, note] if note else blocks)


def _attribute(value: str) -> str:
    return value.replace('"', "'").replace("<", "(").replace(">", ")")
