"""Where the values of inputs come from: asked in order, the first that has a value gives it.

given by hand → environment → keyring → its command → the application → a person → its default
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol, TypeAlias

from a2c_smcp.common.callbacks import without_message
from a2c_smcp.computer.config.models import MCPServerInput
from a2c_smcp.computer.inputs.secret import Secret
from a2c_smcp.computer.inputs.threads import in_daemon_thread
from a2c_smcp.computer.inputs.variables import Unresolved

log = logging.getLogger(__name__)

SERVICE: Final = "a2c-smcp"
"""The name under which the keyring keeps values."""

ENV_PREFIX: Final = "A2C_INPUT_"

Ask: TypeAlias = Callable[[MCPServerInput], Awaitable[str | None]]
"""Asked by `Callback` for the value of an input; None when it has none."""


@dataclass(frozen=True, slots=True)
class Found:
    """A value and where it came from, in words."""

    value: Secret
    origin: str


class Source(Protocol):
    """One way to get the value of an input."""

    async def find(self, wanted: MCPServerInput) -> Found | None:
        """Return the value, or None when this source has none.

        Raises:
            Unresolved: This is the source to give it, and it failed.
        """

    def way(self, wanted: MCPServerInput) -> str | None:
        """Return what a person can do to give a value here ("set A2C_INPUT_KEY"), or None."""


class Given:
    """Values that were given on the command line or in a file of values."""

    def __init__(self, values: Mapping[str, Secret | str], origin: str = "--input") -> None:
        self._values = {name: Secret(value) if isinstance(value, str) else value for name, value in values.items()}
        self._origin = origin

    async def find(self, wanted: MCPServerInput) -> Found | None:
        """Return the value that was given for this id."""
        value = self._values.get(wanted.id)
        return None if value is None else Found(value, self._origin)

    def way(self, wanted: MCPServerInput) -> str | None:
        """Name the option."""
        return f"pass --input {_word(wanted.id)}=VALUE"


class Environment:
    """Values in environment variables. An empty variable counts as absent: that is what CI makes of a missing one."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._env = os.environ if env is None else env

    async def find(self, wanted: MCPServerInput) -> Found | None:
        """Return the value of the variable for this id."""
        name = env_variable(wanted.id)
        value = self._env.get(name)
        return Found(Secret(value), f"the environment ({name})") if value else None

    def way(self, wanted: MCPServerInput) -> str | None:
        """Name the variable."""
        return f"set {env_variable(wanted.id)}"


class PasswordStore(Protocol):
    """What is used of the `keyring` package."""

    def get_password(self, service: str, username: str, /) -> str | None:
        """Return the password that is stored under a user name."""


class Keyring:
    """Values in the keyring of the operating system, through the optional package `keyring`.

    A keyring that is locked away, broken or missing is no error: most machines without a screen have none.
    """

    def __init__(self, store: PasswordStore | None = None, *, timeout: float = 30.0) -> None:
        self._store = store
        self._timeout = timeout

    async def find(self, wanted: MCPServerInput) -> Found | None:
        """Return what the keyring holds for this id."""
        store = self._store or _installed_keyring()
        if store is None:
            return None
        try:
            # A thread, because the keyring may ask its owner for a password first.
            async with asyncio.timeout(self._timeout):
                value = await in_daemon_thread(lambda: store.get_password(SERVICE, wanted.id))
        except Exception as problem:  # noqa: BLE001 - each backend has errors of its own; the next source is asked
            log.debug("the keyring gave no answer: %s", type(problem).__name__)
            return None
        return Found(Secret(value), "the keyring") if value else None

    def way(self, wanted: MCPServerInput) -> str | None:
        """Name the command."""
        ready = self._store is not None or _installed_keyring() is not None
        install = "" if ready else "pip install keyring && "
        return f"run: {install}keyring set {SERVICE} {_word(wanted.id)}"


class Callback:
    """Values that the application around the Computer gives, such as a console with a person before it."""

    def __init__(self, ask: Ask, origin: str = "the application") -> None:
        self._ask = ask
        self._origin = origin

    async def find(self, wanted: MCPServerInput) -> Found | None:
        """Ask the application, unless a command gives the value."""
        if wanted.type == "command":
            return None
        try:
            value = await self._ask(wanted)
        except Exception as problem:
            log.error("%s failed to give a value", self._origin, exc_info=without_message(problem))
            raise Unresolved(f"{self._origin} failed to give a value ({type(problem).__name__}); see there") from None
        if value is not None and not isinstance(value, str):
            raise Unresolved(f"{self._origin} gave something that is no text; have it give one")
        return None if value is None else Found(Secret(value), self._origin)

    def way(self, wanted: MCPServerInput) -> str | None:
        """Nothing to name: the application has been asked already."""


class Default:
    """The value that the definition itself names."""

    async def find(self, wanted: MCPServerInput) -> Found | None:
        """Return the default, if there is one."""
        default = None if wanted.type == "command" else wanted.default
        return None if default is None else Found(Secret(default), "its default")

    def way(self, wanted: MCPServerInput) -> str | None:
        """Nothing to name: changing the configuration is no way to keep a secret."""


def env_variable(input_id: str) -> str:
    """Return the environment variable for an input: its id in capitals, all but letters and digits as `_`."""
    return ENV_PREFIX + "".join(char if char.isalnum() else "_" for char in input_id.upper())


def ways_to(wanted: MCPServerInput, sources: Iterable[Source]) -> list[str]:
    """Return every way in which a person can give the value of an input."""
    return [way for source in sources if (way := source.way(wanted)) is not None]


def _installed_keyring() -> PasswordStore | None:
    try:
        store: Any = import_module("keyring")
    except Exception as problem:  # noqa: BLE001 - it loads backends of other people on import
        log.debug("no keyring: %s", type(problem).__name__)
        return None
    found: PasswordStore = store
    return found


def _word(input_id: str) -> str:
    """Return an id as a shell takes it for one word."""
    return input_id if all(char.isalnum() or char in "-_." for char in input_id) else f"'{input_id}'"
