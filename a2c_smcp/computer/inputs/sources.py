"""The sources of input values. They are asked in order; the first one with a value wins.

command line → environment → keyring → its command → the application → a person → its default
"""

import asyncio
import logging
import os
import stat
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from a2c_smcp.common.callbacks import without_message
from a2c_smcp.computer.config import jsonc
from a2c_smcp.computer.config.field_types import json_text
from a2c_smcp.computer.config.files import read_text
from a2c_smcp.computer.config.models import MCPServerInput
from a2c_smcp.computer.config.problems import Problem, invalid, json_type, path_text
from a2c_smcp.computer.inputs.resolution import Unresolved
from a2c_smcp.computer.inputs.secret import Secret

log = logging.getLogger(__name__)

SERVICE: Final = "a2c-smcp"
"""The service name of values in the keyring."""

ENV_PREFIX: Final = "A2C_INPUT_"

AskForInput: TypeAlias = Callable[[MCPServerInput], Awaitable[str | None]]
"""Returns the value of an input for `CallbackSource`, or None."""


@dataclass(frozen=True, slots=True)
class InputValue:
    """A value and a description of its origin."""

    value: Secret
    origin: str


class InputSource(Protocol):
    """A source of input values."""

    async def find(self, wanted: MCPServerInput) -> InputValue | None:
        """Return the value, or None if this source has none.

        Raises:
            Unresolved: This source is responsible for the value but failed.
        """

    def way(self, wanted: MCPServerInput) -> str | None:
        """Return how a person can supply a value to this source ("set A2C_INPUT_KEY"), or None."""


class GivenSource:
    """Values from the command line or from a file of values."""

    def __init__(self, values: Mapping[str, Secret | str], origin: str = "--input") -> None:
        self._values = {name: Secret(value) if isinstance(value, str) else value for name, value in values.items()}
        self._origin = origin

    async def find(self, wanted: MCPServerInput) -> InputValue | None:
        """Return the value of this id."""
        value = self._values.get(wanted.id)
        return None if value is None else InputValue(value, self._origin)

    def way(self, wanted: MCPServerInput) -> str | None:
        """Return the command-line option."""
        return f"pass --input {_word(wanted.id)}=VALUE"


class EnvironmentSource:
    """Values in environment variables. An empty variable counts as missing, because CI systems set missing ones so."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._env = os.environ if env is None else env

    async def find(self, wanted: MCPServerInput) -> InputValue | None:
        """Return the value of the variable for this id."""
        name = env_variable(wanted.id)
        value = self._env.get(name)
        return InputValue(Secret(value), f"the environment ({name})") if value else None

    def way(self, wanted: MCPServerInput) -> str | None:
        """Return the variable."""
        return f"set {env_variable(wanted.id)}"


class PasswordStore(Protocol):
    """The part of the `keyring` package that is used."""

    def get_password(self, service: str, username: str, /) -> str | None:
        """Return the password that is stored under a user name."""


class KeyringSource:
    """Values in the keyring of the operating system, through the optional package `keyring`.

    A locked, broken or missing keyring is not an error: most headless machines have none.
    """

    def __init__(self, store: PasswordStore | None = None, *, timeout: float = 30.0) -> None:
        self._store = store
        self._timeout = timeout

    async def find(self, wanted: MCPServerInput) -> InputValue | None:
        """Return the keyring's value of this id."""
        store = self._store or _installed_keyring()
        if store is None:
            return None
        try:
            # In a thread, because the keyring may ask its owner for a password first.
            async with asyncio.timeout(self._timeout):
                value = await in_daemon_thread(lambda: store.get_password(SERVICE, wanted.id))
        except Exception as problem:  # noqa: BLE001 - each backend has errors of its own; the next source is asked
            log.debug("keyring failed: error=%s", type(problem).__name__)
            return None
        return InputValue(Secret(value), "the keyring") if value else None

    def way(self, wanted: MCPServerInput) -> str | None:
        """Return the command that stores a value."""
        ready = self._store is not None or _installed_keyring() is not None
        install = "" if ready else "pip install keyring && "
        return f"run: {install}keyring set {SERVICE} {_word(wanted.id)}"


class CallbackSource:
    """Values from the application that embeds the Computer, such as a console."""

    def __init__(self, ask: AskForInput, origin: str = "the application") -> None:
        self._ask = ask
        self._origin = origin

    async def find(self, wanted: MCPServerInput) -> InputValue | None:
        """Ask the application, except for `command` inputs."""
        if wanted.type == "command":
            return None
        try:
            value = await self._ask(wanted)
        except Exception as problem:
            log.error("input callback failed: origin=%s", self._origin, exc_info=without_message(problem))
            raise Unresolved(f"{self._origin} failed ({type(problem).__name__}); see its log") from None
        if value is not None and not isinstance(value, str):
            raise Unresolved(f"{self._origin} returned a value that is not a string; fix its callback")
        return None if value is None else InputValue(Secret(value), self._origin)

    def way(self, wanted: MCPServerInput) -> str | None:
        """Return None: the application has been asked already."""


class DefaultSource:
    """The default value in the definition."""

    async def find(self, wanted: MCPServerInput) -> InputValue | None:
        """Return the default, if there is one."""
        default = None if wanted.type == "command" else wanted.default
        return None if default is None else InputValue(Secret(default), "its default")

    def way(self, wanted: MCPServerInput) -> str | None:
        """Return None: a configuration is not the place for a secret."""


def env_variable(input_id: str) -> str:
    """Return the environment variable of an input: its id in upper case, other characters replaced by `_`."""
    return ENV_PREFIX + "".join(char if char.isalnum() else "_" for char in input_id.upper())


def ways_to(wanted: MCPServerInput, sources: Iterable[InputSource]) -> list[str]:
    """Return every way in which a person can supply the value of an input."""
    return [way for source in sources if (way := source.way(wanted)) is not None]


def _installed_keyring() -> PasswordStore | None:
    try:
        store: Any = import_module("keyring")
    except Exception as problem:  # noqa: BLE001 - it loads backends of other people on import
        log.debug("keyring not available: error=%s", type(problem).__name__)
        return None
    found: PasswordStore = store
    return found


def _word(input_id: str) -> str:
    """Return an id quoted for a shell if needed."""
    return input_id if all(char.isalnum() or char in "-_." for char in input_id) else f"'{input_id}'"


T = TypeVar("T")


async def in_daemon_thread(call: Callable[[], T]) -> T:
    """Run a blocking call that may never return in a daemon thread, which does not keep the program from ending."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, problem: BaseException | None) -> None:
        if result.done():
            return
        if problem is not None:
            result.set_exception(problem)
        else:
            result.set_result(value)  # type: ignore[arg-type]

    def run() -> None:
        value, problem = None, None
        try:
            value = call()
        except BaseException as error:  # noqa: BLE001 - raised in the caller
            problem = error
        try:
            loop.call_soon_threadsafe(settle, value, problem)
        except RuntimeError:
            return  # the loop is closed, so there is no caller

    threading.Thread(target=run, daemon=True, name="a2c-inputs").start()
    return await result


def parse_input_options(options: Iterable[str]) -> dict[str, Secret]:
    """Return the values of `--input id=value` options; the last one wins.

    Raises:
        InvalidConfig: An option has another form. The error has its number only, because it may contain a secret.
    """
    values, problems = {}, []
    for number, option in enumerate(options, 1):
        input_id, equals, value = option.partition("=")
        if equals and input_id.strip():
            values[input_id.strip()] = Secret(value)
        else:
            problems.append(Problem(f"number {number}", "is not of the form id=value; write --input id=value"))
    if problems:
        raise invalid("--input", problems)
    return values


def read_input_file(path: str | PathLike[str]) -> dict[str, Secret]:
    """Return the values in a file: a JSON object, or lines `id=value` with `#` comments.

    Raises:
        InvalidConfig: The file cannot be read or used; the error does not quote its content.
    """
    text, _ = read_text(path)
    if Path(path).stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        log.warning("input file is readable by other users: run chmod 600 file=%s", fspath(path))
    return _from_json(text, fspath(path)) if text.lstrip().startswith("{") else _from_lines(text, fspath(path))


def _from_json(text: str, source: str) -> dict[str, Secret]:
    try:
        data = jsonc.parse(text)
    except jsonc.SyntaxProblem as error:
        raise invalid(source, error.problems) from None
    values, problems = {}, []
    for key, item in data.items():
        value = json_text(item)
        if isinstance(value, str):
            values[key] = Secret(value)
        else:
            problems.append(Problem(path_text((key,)), f"is {json_type(item)}; it must be a text"))
    if problems:
        raise invalid(source, problems)
    return values


def _from_lines(text: str, source: str) -> dict[str, Secret]:
    values, problems = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        input_id, equals, value = line.partition("=")
        if equals and input_id.strip():
            values[input_id.strip()] = Secret(value.strip())
        else:
            problems.append(Problem(f"line {number}", "is not of the form id=value; write it so, or put # before it"))
    if problems:
        raise invalid(source, problems)
    return values
