"""The inputs of a Computer: values are looked up when a server starts, cached, and never shown."""

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from a2c_smcp.computer.config.loaders import ConfigFormat
from a2c_smcp.computer.config.models import MCPServerConfig, MCPServerInput
from a2c_smcp.computer.config.problems import Problem, invalid, one_of, quoted
from a2c_smcp.computer.config.secret_detection import redact_named
from a2c_smcp.computer.inputs.resolution import (
    PlaceholderUse,
    Unresolved,
    Variables,
    env_name,
    placeholders_of,
    source_of,
    with_values,
)
from a2c_smcp.computer.inputs.secret import Redactor, Secret
from a2c_smcp.computer.inputs.sources import DefaultSource, EnvironmentSource, InputSource, InputValue, ways_to

log = logging.getLogger(__name__)

BY_HAND: Final = "set by hand"


@dataclass(frozen=True, slots=True)
class InputState:
    """The public state of an input, without its value.

    Attributes:
        source: The origin of its value; None if it has none.
    """

    id: str
    type: str
    description: str
    source: str | None = None


@dataclass(slots=True)
class _Lookup:
    """A running lookup of an input, shared by all its callers."""

    answer: asyncio.Future[InputValue]
    task: asyncio.Task[None] | None = None
    waiting: int = 0


class Inputs:
    """The values of `${input:id}` and of other placeholders.

    A value is looked up when a server that needs it starts, and then cached. No log, error or `repr` contains it.

    Args:
        definitions: The inputs of the configuration.
        sources: The sources in order; the definition's default comes last.
        variables: The other placeholders; by default this process's environment and directory.
    """

    def __init__(
        self,
        definitions: Iterable[MCPServerInput] = (),
        sources: Sequence[InputSource] | None = None,
        *,
        variables: Variables | None = None,
    ) -> None:
        self._definitions = {entry.id: entry for entry in definitions}
        self._sources: tuple[InputSource, ...] = (
            *((EnvironmentSource(),) if sources is None else sources),
            DefaultSource(),
        )
        self._variables = variables or Variables(os.environ, Path.cwd(), Path.home(), Path.cwd())
        self._found: dict[str, InputValue] = {}
        self._lookups: dict[str, _Lookup] = {}
        self._redactor = Redactor()
        self.on_change: Callable[[], None] = lambda: None
        """Called when a lookup starts, succeeds or fails."""

    def __repr__(self) -> str:
        return f"Inputs({len(self._definitions)} defined, {len(self._found)} with a value)"

    def configure(self, definitions: Iterable[MCPServerInput], dialect: ConfigFormat | None = None) -> None:
        """Apply the inputs of a changed configuration. A value is kept if it is valid for the new definition."""
        before, self._definitions = self._definitions, {entry.id: entry for entry in definitions}
        self._found = {
            key: found
            for key, found in self._found.items()
            if (entry := self._definitions.get(key)) is not None and _survives(found, before.get(key), entry)
        }
        if dialect is not None:
            self._variables = replace(self._variables, dialect=dialect)

    async def resolve(self, config: MCPServerConfig) -> MCPServerConfig:
        """Return a validated copy of a server's configuration with its placeholders resolved.

        Raises:
            InvalidConfig: An input is undefined or has no value, a variable is not set, or a value is invalid. The
                error says how to fix each and contains no values.
        """
        placeholders = placeholders_of(config)
        if not placeholders:
            self._learn_literals(config)
            return config
        if problems := self._unresolvable(placeholders):
            raise invalid(source_of(config), problems)
        values = await self._values(config, placeholders)
        resolved = with_values(config, values.get)
        self._learn_literals(resolved)
        return resolved

    def set(self, input_id: str, value: str) -> None:
        """Set a value, and cancel a running lookup.

        Raises:
            InvalidConfig: There is no such input, or the value is not among its options.
        """
        wanted = self._defined(input_id)
        found = InputValue(Secret(value), BY_HAND)
        try:
            _check(wanted, found)
        except Unresolved as problem:
            raise invalid(_name(wanted), [Problem("", str(problem))]) from None
        self._found[input_id] = found
        self._redactor.learn(value)
        if lookup := self._lookups.pop(input_id, None):
            if not lookup.answer.done():
                lookup.answer.set_result(found)
            _drop(lookup)
        self.on_change()

    def missing(self, configs: Iterable[MCPServerConfig]) -> Sequence[MCPServerInput]:
        """Return the inputs without a value that these servers need and that a person can supply."""
        needed = {use.input_id for config in configs for use in placeholders_of(config)} - self._found.keys()
        return [one for key, one in self._definitions.items() if key in needed and one.type != "command"]

    def remove(self, input_id: str) -> bool:
        """Remove a value, so that it is looked up again; return whether there was one.

        Raises:
            InvalidConfig: There is no such input.
        """
        self._defined(input_id)
        return self._found.pop(input_id, None) is not None

    def clear(self) -> int:
        """Remove all values; return how many there were."""
        count = len(self._found)
        self._found.clear()
        return count

    def list(self) -> tuple[InputState, ...]:
        """Return every input with the origin of its value."""
        return tuple(
            InputState(entry.id, entry.type, entry.description, found.origin if found else None)
            for entry in self._definitions.values()
            for found in (self._found.get(entry.id),)
        )

    def redact(self, text: str) -> str:
        """Return a text, such as the output of an MCP server, without any value that was ever used."""
        return self._redactor.redact(text)

    def _defined(self, input_id: str) -> MCPServerInput:
        if (wanted := self._definitions.get(input_id)) is None:
            known = f"the inputs are {one_of(self._definitions)}" if self._definitions else "there are none"
            raise invalid("inputs", [Problem("", f"no input has the id {quoted(input_id)}; {known}")])
        return wanted

    def _unresolvable(self, placeholders: Iterable[PlaceholderUse]) -> Sequence[Problem]:
        """Return problems that no source can solve, so that nobody is asked for a server that cannot start anyway."""
        problems = []
        for use in placeholders:
            if use.input_id is None:
                try:
                    self._variables.expand(use.inner)
                except Unresolved as problem:
                    problems.append(Problem(use.where, str(problem)))
            elif use.input_id not in self._definitions:
                problems.append(Problem(use.where, f"no input has the id {quoted(use.input_id)}; add it to inputs"))
        return problems

    async def _values(self, config: MCPServerConfig, placeholders: Iterable[PlaceholderUse]) -> dict[str, str | None]:
        values: dict[str, str | None] = {}
        problems = []
        for inner, input_id in {use.inner: use.input_id for use in placeholders}.items():
            try:
                values[inner] = self._variable(inner) if input_id is None else (await self._value(input_id)).reveal()
            except Unresolved as problem:
                problems.append(Problem("", str(problem)))
        if problems:
            raise invalid(source_of(config), problems)
        return values

    def _variable(self, inner: str) -> str | None:
        value, name = self._variables.expand(inner), env_name(inner)
        if value is not None and name is not None and redact_named(name, value) != value:
            self._redactor.learn(value)
        return value

    async def _value(self, input_id: str) -> Secret:
        if found := self._found.get(input_id):
            return found.value
        if (wanted := self._definitions.get(input_id)) is None:
            raise Unresolved(f"no input has the id {quoted(input_id)}; add it to inputs")
        lookup = self._lookups.get(input_id)
        if lookup is None:
            lookup = self._lookups[input_id] = _Lookup(asyncio.get_running_loop().create_future())
            lookup.task = asyncio.create_task(self._answer(lookup, wanted), name=f"a2c-input-{input_id}")
            self.on_change()
        lookup.waiting += 1
        try:
            return (await asyncio.shield(lookup.answer)).value
        finally:
            lookup.waiting -= 1
            if lookup.waiting == 0:
                if self._lookups.get(input_id) is lookup:
                    del self._lookups[input_id]
                _drop(lookup)

    async def _answer(self, lookup: _Lookup, wanted: MCPServerInput) -> None:
        problem: Exception = Unresolved(f"{_name(wanted)}: the lookup was cancelled; start the server again")
        found = None
        try:
            found = await self._ask(wanted)
            self._redactor.learn(found.value.reveal())
        except Exception as error:  # noqa: BLE001 - raised in the callers
            found, problem = None, error
        finally:
            # Unless `set` was called meanwhile.
            if not lookup.answer.done():
                if found is not None:
                    if self._definitions.get(wanted.id) == wanted:
                        self._found[wanted.id] = found
                    lookup.answer.set_result(found)
                else:
                    lookup.answer.set_exception(problem)
                    lookup.answer.exception()  # mark as retrieved, because there may be no caller left
            self.on_change()

    async def _ask(self, wanted: MCPServerInput) -> InputValue:
        for source in self._sources:
            try:
                if found := await source.find(wanted):
                    _check(wanted, found)
                    log.debug("input resolved: id=%s origin=%s", wanted.id, found.origin)
                    return found
            except Unresolved as problem:
                raise Unresolved(f"{_name(wanted)}: {problem}") from None
        ways = ways_to(wanted, self._sources)
        raise Unresolved(f"{_name(wanted)} has no value; {', or '.join(ways) or 'give it a default'}")

    def _learn_literals(self, config: MCPServerConfig) -> None:
        """Redact literal secrets of the configuration as well: a server may print them."""
        named = config.server_parameters.env if config.type == "stdio" else config.server_parameters.headers
        for name, value in (named or {}).items():
            if redact_named(name, value) != value:
                for text in (value, *value.split()[-1:]):  # also the token after "Bearer"
                    self._redactor.learn(text)


def _survives(found: InputValue, before: MCPServerInput | None, now: MCPServerInput) -> bool:
    if before == now:
        return True
    if found.origin in {"its default", "its command"}:
        return False
    try:
        _check(now, found)
    except Unresolved:
        return False
    return True


def _check(wanted: MCPServerInput, found: InputValue) -> None:
    if wanted.type == "pickString" and found.value.reveal() not in wanted.options:
        value = "the value" if found.origin == BY_HAND else f"the value from {found.origin}"
        raise Unresolved(f"{value} is not among its options; use {one_of(wanted.options)}")


def _name(wanted: MCPServerInput) -> str:
    description = f" ({quoted(wanted.description)[1:-1]})" if wanted.description else ""
    return f"input {quoted(wanted.id)}{description}"


def _drop(lookup: _Lookup) -> None:
    if lookup.task is not None:
        lookup.task.cancel()
