"""The grammar of the Computer's own command line: from a line to a row of its table. Pure.

Not that of a system shell: `call TOOL JSON` takes the JSON as it is typed, quotes and all.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from a2c_smcp.cli.parsing import UsageError, nearest
from a2c_smcp.cli.terminal import Terminal

if TYPE_CHECKING:
    from a2c_smcp.cli.computer_owner import Owner

Kind: TypeAlias = Literal["", "server", "tool", "input", "approval"]
"""What names a shell offers for a word."""

Words: TypeAlias = Mapping[str, str]
"""The words of a line by the names of their places; one that was left out is not there."""

DEFAULT: Final = "list"
"""What a noun does when it is typed alone."""


@dataclass(frozen=True, slots=True)
class LineArgument:
    """A word of a line, or with `rest` everything that is left of it, as it was typed."""

    name: str
    kind: Kind = ""
    choices: tuple[str, ...] = ()
    optional: bool = False
    rest: bool = False

    @property
    def shown(self) -> str:
        """How it is written in a usage line."""
        word = "|".join(self.choices) or self.name.upper()
        return f"[{word}]" if self.optional else word


@dataclass(frozen=True, slots=True)
class Verb:
    """A row of the table: a handler returns a plain JSON value, and `show` turns it into lines for a person.

    Attributes:
        name: One word, or two: `server add`.
        private: What is typed may be a secret, so no history keeps it.
    """

    name: str
    help: str
    handler: "Callable[[Owner, Words], Awaitable[Any]]"
    places: tuple[LineArgument, ...] = ()
    show: Callable[[Any, Terminal], Iterable[str]] | None = None
    private: bool = False

    @property
    def usage(self) -> str:
        """The line to type."""
        return " ".join([self.name, *(place.shown for place in self.places)])


@dataclass(frozen=True, slots=True)
class Order:
    """A line that was understood."""

    verb: Verb
    words: Words


def parse_line(line: str, verbs: Sequence[Verb]) -> Order:
    """Return what a line asks for.

    Raises:
        UsageError: It is no command, or a word is missing, wrong or too much.
    """
    verb, rest = find(line, verbs)
    words: dict[str, str] = {}
    for place in verb.places:
        word, rest = (rest, "") if place.rest else take(rest)
        if not word:
            if place.optional:
                continue
            raise UsageError(f"{place.shown} is missing: {verb.usage}")
        if place.choices and word not in place.choices:
            raise UsageError(f"{word!r} is not one of {', '.join(place.choices)}", (), nearest(word, place.choices))
        words[place.name] = word
    if rest:
        # Not quoted: what stands too much on a line may be a secret.
        raise UsageError(f"there is too much on the line: {verb.usage}")
    return Order(verb, words)


def find(line: str, verbs: Sequence[Verb]) -> tuple[Verb, str]:
    """Return the row that a line begins with, and what follows its name.

    Raises:
        UsageError: There is none.
    """
    first, rest = take(line)
    second, after = take(rest)
    by_name = {verb.name: verb for verb in verbs}
    if verb := by_name.get(f"{first} {second}"):
        return verb, after
    if verb := by_name.get(first):
        return verb, rest
    under = [verb.name.partition(" ")[2] for verb in verbs if verb.name.startswith(f"{first} ")]
    if not first or not under:
        raise UsageError(f"unknown command {first!r}", (), nearest(first, {name.split()[0] for name in by_name}))
    if not second and DEFAULT in under:
        return by_name[f"{first} {DEFAULT}"], ""
    if not second:
        raise UsageError(f"{first} needs one of {', '.join(under)}")
    raise UsageError(f"{first} has no command {second!r}", (), nearest(second, under))


def take(text: str) -> tuple[str, str]:
    """Return the first word of a text and the rest; a word with spaces stands in quotes."""
    text = text.strip()
    if text[:1] in ("'", '"'):
        word, closing, rest = text[1:].partition(text[0])
        if closing:
            return word, rest.strip()
    word, _, rest = text.partition(" ")
    return word, rest.strip()


def offers(line: str, verbs: Sequence[Verb], names: Callable[[Kind], Iterable[str]]) -> tuple[str, list[str]]:
    """Return the word that is being typed at the end of a line, and the words that it may become."""
    head, space, typed = line.lstrip().rpartition(" ")
    before = (head + space).split()
    under = [verb.name.split() for verb in verbs]
    known = {words[len(before)] for words in under if len(words) > len(before) and words[: len(before)] == before}
    if not known and before:
        known = set(_values(head, verbs, names))
    return typed, sorted(word for word in known if word.startswith(typed))


def _values(head: str, verbs: Sequence[Verb], names: Callable[[Kind], Iterable[str]]) -> Iterable[str]:
    try:
        verb, rest = find(head, verbs)
    except UsageError:
        return ()
    filled = 0
    while rest:
        _, rest = take(rest)
        filled += 1
    if filled >= len(verb.places):
        return ()
    place = verb.places[filled]
    return place.choices or (names(place.kind) if place.kind else ())
