"""Names for the tools of an office that every model API accepts. Pure.

A tool is named `computer__tool` if that consists of letters, digits, `_` and `-`, begins with a letter or `_`, has at
most 64 characters and is unambiguous. Otherwise the name is shortened to its readable part and ends with a digest of
both names, `my-computer__read-file_9f86d08188`. So the name of a tool does not depend on what else is in the office.
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
"""The longest name that common model APIs accept."""

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""Names that all of them accept."""

_BETWEEN: Final = "__"
_DIGEST: Final = 10
_LONGEST_DIGEST: Final = 32
_COMPUTER: Final = 20
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")
_LOOKS_DIGESTED: Final = re.compile(rf"_[0-9a-f]{{{_DIGEST},}}\Z")


@dataclass(frozen=True, slots=True)
class NamedTool:
    """A tool with its name for models; `computer` is None for the Agent's own tools."""

    name: str
    computer: str | None
    tool: SMCPTool

    @property
    def description(self) -> str:
        """Description for models: the Computer, and what the tool does."""
        says = self.tool["description"] or self.tool["name"]
        return says if self.computer is None else f"[{self.computer}] {says}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """JSON Schema of the arguments, unchanged."""
        return self.tool["params_schema"]


def model_name(computer: str, tool: TOOL_NAME, *, digest: int = 0) -> str:
    """Return the name of a tool for models; with `digest`, it ends with a digest of that many characters."""
    plain = f"{computer}{_BETWEEN}{tool}"
    if not digest and _reads_back(computer) and NAME.fullmatch(plain) and not _LOOKS_DIGESTED.search(plain):
        return plain
    ending = f"_{_digest(computer, tool, digest or _DIGEST)}"
    available = MAX_NAME - len(ending) - len(_BETWEEN)
    words = _words(tool, "tool")
    beginning = _words(computer, "computer")[: max(_COMPUTER, available - len(words))].rstrip("_-")
    if not beginning[0].isalpha():
        beginning = f"c{beginning}"
    return f"{beginning}{_BETWEEN}{words[: available - len(beginning)].rstrip('_-')}{ending}"


def name_tools(tools: Mapping[str, Iterable[SMCPTool]], reserved: Collection[str] = ()) -> dict[str, NamedTool]:
    """Return the tools of every Computer by their names for models.

    Args:
        tools: By Computer.
        reserved: Names that are already used.
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
    """Return the name if model APIs accept it.

    Raises:
        BadRequest: They do not.
    """
    if NAME.fullmatch(name) is None:
        raise BadRequest(
            f"{name!r} is not a valid tool name: use 1 to {MAX_NAME} letters, digits, '_' and '-'; begin with a letter"
        )
    return name


def _reads_back(computer: str) -> bool:
    # The first `__` must be the separator.
    return _BETWEEN not in computer and not computer.endswith("_")


def _words(text: str, otherwise: str) -> str:
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return _UNSAFE.sub("-", folded).strip("_-") or otherwise


def _digest(computer: str, tool: str, length: int) -> str:
    both = f"{len(computer)} {computer} {tool}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(both).hexdigest()[:length]
