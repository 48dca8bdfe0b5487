"""What an Agent knows of its office: snapshots that never change, so that any thread may read them. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from a2c_smcp.messages import GetFinderRet, SMCPTool
from a2c_smcp.types import Desktop


@dataclass(frozen=True, slots=True)
class ComputerView:
    """A Computer as it was last seen. What is None has not been asked for yet.

    Attributes:
        desktop: Every window, rendered.
        finder: The first page of the catalogue.
        stale: Which of these are known to be out of date, and are being read again.
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
        """A snapshot: it stays as it is, whatever happens in the office."""
        return MappingProxyType(self._computers)

    def enter(self, name: str) -> None:
        """A Computer joined, and nothing is known of it."""
        self._computers = {**self._computers, name: ComputerView(name)}

    def leave(self, name: str) -> bool:
        """A Computer left, and took what it had with it; whether it was there."""
        known = name in self._computers
        self._computers = {other: view for other, view in self._computers.items() if other != name}
        return known

    def see(self, name: str, aspect: str, value: Any) -> None:
        """Something of a Computer was read."""
        if (view := self._computers.get(name)) is not None:
            fresh = replace(view, stale=view.stale - {aspect}, **{aspect: value})
            self._computers = {**self._computers, name: fresh}

    def doubt(self, name: str, aspect: str) -> None:
        """Something of a Computer is out of date."""
        if (view := self._computers.get(name)) is not None:
            self._computers = {**self._computers, name: replace(view, stale=view.stale | {aspect})}

    def listed(self, names: Iterable[str]) -> tuple[list[str], list[str]]:
        """These Computers are there and no others; returns who is new and who has gone."""
        names = list(names)
        new = [name for name in names if name not in self._computers]
        gone = [name for name in self._computers if name not in names]
        self._computers = {name: self._computers.get(name, ComputerView(name)) for name in names}
        return new, gone

    def clear(self) -> None:
        """Nobody is there."""
        self._computers = {}
