"""Names for the tools of an office that every model API takes, and the way back. Pure.

A tool is `computer__tool` where that is a name of letters, digits, `_` and `-`, begins with a letter or `_`, has at
most 64 characters and can be read back in one way only. Any other is shortened to what is readable of it and ends in
a digest of both names, `my-computer__read-file_9f86d08188`: so a tool has the same name in every run, whatever else
is in the office.
"""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from a2c_smcp.errors import BadRequest
from a2c_smcp.smcp import SMCPTool
from a2c_smcp.types import TOOL_NAME

MAX_NAME: Final = 64
"""The longest name that the common model APIs take."""

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""What they all take as a name."""

_BETWEEN: Final = "__"
_DIGEST: Final = 10
_LONGEST_DIGEST: Final = 32
_COMPUTER: Final = 20
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")
_LOOKS_DIGESTED: Final = re.compile(rf"_[0-9a-f]{{{_DIGEST},}}\Z")


@dataclass(frozen=True, slots=True)
class NamedTool:
    """A tool and the name under which a model knows it; `computer` is None for a tool of the Agent's own."""

    name: str
    computer: str | None
    tool: SMCPTool

    @property
    def description(self) -> str:
        """What a model reads of the tool: on which Computer it works, and what it does."""
        says = self.tool["description"] or self.tool["name"]
        return says if self.computer is None else f"[{self.computer}] {says}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The JSON Schema of the arguments, as the MCP server gave it."""
        return self.tool["params_schema"]


def model_name(computer: str, tool: TOOL_NAME, *, digest: int = 0) -> str:
    """Return the name of a tool for models; with `digest`, one that ends in a digest of that many characters."""
    plain = f"{computer}{_BETWEEN}{tool}"
    if not digest and _reads_back(computer) and NAME.fullmatch(plain) and not _LOOKS_DIGESTED.search(plain):
        return plain
    ending = f"_{_digest(computer, tool, digest or _DIGEST)}"
    room = MAX_NAME - len(ending) - len(_BETWEEN)
    words = _words(tool, "tool")
    beginning = _words(computer, "computer")[: max(_COMPUTER, room - len(words))].rstrip("_-")
    if not beginning[0].isalpha():
        beginning = f"c{beginning}"
    return f"{beginning}{_BETWEEN}{words[: room - len(beginning)].rstrip('_-')}{ending}"


def name_tools(tools: Mapping[str, Iterable[SMCPTool]], reserved: Collection[str] = ()) -> dict[str, NamedTool]:
    """Return the tools of every Computer by their names for models.

    Args:
        tools: By Computer.
        reserved: Names that are taken already.
    """
    named: dict[str, NamedTool] = {}
    pairs = {(computer, tool["name"]): tool for computer, listed in tools.items() for tool in listed}
    taken = set(reserved)
    for (computer, original), tool in sorted(pairs.items(), key=lambda pair: pair[0]):
        name, length = model_name(computer, original), _DIGEST
        while name in taken:
            if length > _LONGEST_DIGEST:
                raise BadRequest(f"No free name for the tool {original!r} of {computer!r}: rename one of the two")
            name, length = model_name(computer, original, digest=length), length + 2
        taken.add(name)
        named[name] = NamedTool(name, computer, tool)
    return named


def check_name(name: str) -> str:
    """Return a name that models take.

    Raises:
        BadRequest: It is none.
    """
    if NAME.fullmatch(name) is None:
        raise BadRequest(
            f"{name!r} is no name for a tool: use 1 to {MAX_NAME} letters, digits, '_' and '-', beginning with a letter"
        )
    return name


def _reads_back(computer: str) -> bool:
    # The first `__` must be the one that was put there.
    return _BETWEEN not in computer and not computer.endswith("_")


def _words(text: str, otherwise: str) -> str:
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return _UNSAFE.sub("-", folded).strip("_-") or otherwise


def _digest(computer: str, tool: str, length: int) -> str:
    both = f"{len(computer)} {computer} {tool}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(both).hexdigest()[:length]
