"""An Agent's view of its office: immutable snapshots that any thread may read. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from a2c_smcp.messages import GetFinderRet, SMCPTool
from a2c_smcp.types import Desktop


@dataclass(frozen=True, slots=True)
class ComputerView:
    """The last known state of a Computer. A field is None until it was requested.

    Attributes:
        desktop: Every window, rendered.
        finder: The first page of the catalogue.
        stale: Names of fields that are out of date and are being read again.
    """

    name: str
    tools: Sequence[SMCPTool] | None = None
    desktop: Sequence[Desktop] | None = None
    finder: GetFinderRet | None = None
    stale: frozenset[str] = frozenset()


class OfficeView:
    """The Computers of the office, by name."""

    def __init__(self) -> None:
        self._computers: dict[str, ComputerView] = {}

    @property
    def computers(self) -> Mapping[str, ComputerView]:
        """A snapshot that does not change later."""
        return MappingProxyType(self._computers)

    def enter(self, name: str) -> None:
        """Add a Computer without any known state."""
        self._computers = {**self._computers, name: ComputerView(name)}

    def leave(self, name: str) -> bool:
        """Remove a Computer; return whether it was known."""
        known = name in self._computers
        self._computers = {other: view for other, view in self._computers.items() if other != name}
        return known

    def update(self, name: str, aspect: str, value: Any) -> None:
        """Set an aspect of a Computer to the value that was read."""
        if (view := self._computers.get(name)) is not None:
            fresh = replace(view, stale=view.stale - {aspect}, **{aspect: value})
            self._computers = {**self._computers, name: fresh}

    def mark_stale(self, name: str, aspect: str) -> None:
        """Mark an aspect of a Computer as out of date."""
        if (view := self._computers.get(name)) is not None:
            self._computers = {**self._computers, name: replace(view, stale=view.stale | {aspect})}

    def set_members(self, names: Iterable[str]) -> tuple[list[str], list[str]]:
        """Replace the members; return the names of new and of removed Computers."""
        names = list(names)
        new = [name for name in names if name not in self._computers]
        gone = [name for name in self._computers if name not in names]
        self._computers = {name: self._computers.get(name, ComputerView(name)) for name in names}
        return new, gone

    def clear(self) -> None:
        """Remove all Computers."""
        self._computers = {}
