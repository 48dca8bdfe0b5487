"""The inputs of a Computer: their values, found when a server starts, kept, and never shown."""

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
from a2c_smcp.computer.inputs.resolution import Use, source_of, uses_of, with_values
from a2c_smcp.computer.inputs.secret import Redactor, Secret
from a2c_smcp.computer.inputs.sources import Default, Environment, Found, Source, ways_to
from a2c_smcp.computer.inputs.variables import Unresolved, Variables, env_name

log = logging.getLogger(__name__)

BY_HAND: Final = "set by hand"


@dataclass(frozen=True, slots=True)
class InputState:
    """What may be told of an input: never its value.

    Attributes:
        source: Where its value came from, in words; None as long as it has none.
    """

    id: str
    type: str
    description: str
    source: str | None = None


@dataclass(slots=True)
class _Question:
    """An input that is being asked for: one question, however many wait for its answer."""

    answer: asyncio.Future[Found]
    task: asyncio.Task[None] | None = None
    waiting: int = 0


class Inputs:
    """The values behind `${input:id}`, and what else a placeholder stands for.

    Nothing is asked for before a server that needs it starts; then each value is found once and kept. A value is in no
    log, error or `repr` of this class.

    Args:
        definitions: The inputs of the configuration.
        sources: Where values come from, asked in this order; after them the definition's own default.
        variables: What the other placeholders stand for; by default this process's environment and directory.
    """

    def __init__(
        self,
        definitions: Iterable[MCPServerInput] = (),
        sources: Sequence[Source] | None = None,
        *,
        variables: Variables | None = None,
    ) -> None:
        self._definitions = {entry.id: entry for entry in definitions}
        self._sources: tuple[Source, ...] = (*((Environment(),) if sources is None else sources), Default())
        self._variables = variables or Variables(os.environ, Path.cwd(), Path.home(), Path.cwd())
        self._found: dict[str, Found] = {}
        self._questions: dict[str, _Question] = {}
        self._redactor = Redactor()
        self.on_change: Callable[[], None] = lambda: None
        """Called when an input is asked for, and when it has a value or has been given up."""

    def __repr__(self) -> str:
        return f"Inputs({len(self._definitions)} defined, {len(self._found)} with a value)"

    def configure(self, definitions: Iterable[MCPServerInput], dialect: ConfigFormat | None = None) -> None:
        """Take over the inputs of a changed configuration. A value stays if its new definition could have given it."""
        before, self._definitions = self._definitions, {entry.id: entry for entry in definitions}
        self._found = {
            key: found
            for key, found in self._found.items()
            if (entry := self._definitions.get(key)) is not None and _survives(found, before.get(key), entry)
        }
        if dialect is not None:
            self._variables = replace(self._variables, dialect=dialect)

    async def resolve(self, config: MCPServerConfig) -> MCPServerConfig:
        """Return a valid copy of a server's configuration with its values in it; the original keeps its placeholders.

        Raises:
            InvalidConfig: An input is not defined or has no value, a variable is not set, or a value breaks a rule; it
                says what to do about each, and never a value.
        """
        uses = uses_of(config)
        if not uses:
            self._learn_literals(config)
            return config
        if problems := self._unresolvable(uses):
            raise invalid(source_of(config), problems)
        values = await self._values(config, uses)
        resolved = with_values(config, values.get)
        self._learn_literals(resolved)
        return resolved

    def set(self, input_id: str, value: str) -> None:
        """Give a value by hand. Whoever is being asked for it is asked no more.

        Raises:
            InvalidConfig: There is no such input, or the value is not among its options.
        """
        wanted = self._defined(input_id)
        found = Found(Secret(value), BY_HAND)
        try:
            _check(wanted, found)
        except Unresolved as problem:
            raise invalid(_name(wanted), [Problem("", str(problem))]) from None
        self._found[input_id] = found
        self._redactor.learn(value)
        if question := self._questions.pop(input_id, None):
            if not question.answer.done():
                question.answer.set_result(found)
            _drop(question)
        self.on_change()

    def missing(self, configs: Iterable[MCPServerConfig]) -> Sequence[MCPServerInput]:
        """Return the inputs that these servers need and that have no value, if a person can give one."""
        needed = {use.input_id for config in configs for use in uses_of(config)} - self._found.keys()
        return [one for key, one in self._definitions.items() if key in needed and one.type != "command"]

    def remove(self, input_id: str) -> bool:
        """Forget a value, so that it is asked for again; returns whether there was one.

        Raises:
            InvalidConfig: There is no such input.
        """
        self._defined(input_id)
        return self._found.pop(input_id, None) is not None

    def clear(self) -> int:
        """Forget all values; returns how many there were."""
        count = len(self._found)
        self._found.clear()
        return count

    def list(self) -> tuple[InputState, ...]:
        """Return every input and where its value came from."""
        return tuple(
            InputState(entry.id, entry.type, entry.description, found.origin if found else None)
            for entry in self._definitions.values()
            for found in (self._found.get(entry.id),)
        )

    def redact(self, text: str) -> str:
        """Return a text by others, such as what an MCP server printed, without any value that was ever given out."""
        return self._redactor.redact(text)

    def _defined(self, input_id: str) -> MCPServerInput:
        if (wanted := self._definitions.get(input_id)) is None:
            known = f"the inputs are {one_of(self._definitions)}" if self._definitions else "there are none"
            raise invalid("inputs", [Problem("", f"no input has the id {quoted(input_id)}; {known}")])
        return wanted

    def _unresolvable(self, uses: Iterable[Use]) -> Sequence[Problem]:
        """Return what no source could mend, so that nobody is asked for a server that cannot start anyway."""
        problems = []
        for use in uses:
            if use.input_id is None:
                try:
                    self._variables.expand(use.inner)
                except Unresolved as problem:
                    problems.append(Problem(use.where, str(problem)))
            elif use.input_id not in self._definitions:
                problems.append(Problem(use.where, f"no input has the id {quoted(use.input_id)}; add it to inputs"))
        return problems

    async def _values(self, config: MCPServerConfig, uses: Iterable[Use]) -> dict[str, str | None]:
        values: dict[str, str | None] = {}
        problems = []
        for inner, input_id in {use.inner: use.input_id for use in uses}.items():
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
        question = self._questions.get(input_id)
        if question is None:
            question = self._questions[input_id] = _Question(asyncio.get_running_loop().create_future())
            question.task = asyncio.create_task(self._answer(question, wanted), name=f"a2c-input-{input_id}")
            self.on_change()
        question.waiting += 1
        try:
            return (await asyncio.shield(question.answer)).value
        finally:
            question.waiting -= 1
            if question.waiting == 0:
                if self._questions.get(input_id) is question:
                    del self._questions[input_id]
                _drop(question)

    async def _answer(self, question: _Question, wanted: MCPServerInput) -> None:
        problem: Exception = Unresolved(f"{_name(wanted)}: the question was broken off; start the server again")
        found = None
        try:
            found = await self._ask(wanted)
            self._redactor.learn(found.value.reveal())
        except Exception as error:  # noqa: BLE001 - it belongs to whoever waits
            found, problem = None, error
        finally:
            # Unless it was set by hand meanwhile.
            if not question.answer.done():
                if found is not None:
                    if self._definitions.get(wanted.id) == wanted:
                        self._found[wanted.id] = found
                    question.answer.set_result(found)
                else:
                    question.answer.set_exception(problem)
                    question.answer.exception()  # seen, even when nobody waits any more
            self.on_change()

    async def _ask(self, wanted: MCPServerInput) -> Found:
        for source in self._sources:
            try:
                if found := await source.find(wanted):
                    _check(wanted, found)
                    log.debug("input %s: a value from %s", wanted.id, found.origin)
                    return found
            except Unresolved as problem:
                raise Unresolved(f"{_name(wanted)}: {problem}") from None
        ways = ways_to(wanted, self._sources)
        raise Unresolved(f"{_name(wanted)} has no value; {', or '.join(ways) or 'give it a default'}")

    def _learn_literals(self, config: MCPServerConfig) -> None:
        """Know the secrets that stand in the configuration itself, too: a server may print those as well."""
        named = config.server_parameters.env if config.type == "stdio" else config.server_parameters.headers
        for name, value in (named or {}).items():
            if redact_named(name, value) != value:
                for text in (value, *value.split()[-1:]):  # what follows "Bearer", too
                    self._redactor.learn(text)


def _survives(found: Found, before: MCPServerInput | None, now: MCPServerInput) -> bool:
    if before == now:
        return True
    if found.origin in {"its default", "its command"}:
        return False
    try:
        _check(now, found)
    except Unresolved:
        return False
    return True


def _check(wanted: MCPServerInput, found: Found) -> None:
    if wanted.type == "pickString" and found.value.reveal() not in wanted.options:
        value = "the value" if found.origin == BY_HAND else f"the value from {found.origin}"
        raise Unresolved(f"{value} is not among its options; use {one_of(wanted.options)}")


def _name(wanted: MCPServerInput) -> str:
    told = f" ({quoted(wanted.description)[1:-1]})" if wanted.description else ""
    return f"input {quoted(wanted.id)}{told}"


def _drop(question: _Question) -> None:
    if question.task is not None:
        question.task.cancel()
