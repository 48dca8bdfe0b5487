"""Change notifications within the application that embeds a Computer."""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, TypeAlias

from a2c_smcp.common.callbacks import notify_guarded

logger = logging.getLogger(__name__)

UpdateKind: TypeAlias = Literal["config", "tool_list", "desktop", "finder", "resources"]
"""The changes that a Computer announces to its office: `server:update_<kind>`."""

ChangeKind: TypeAlias = UpdateKind | Literal["servers", "configuration", "inputs"]
"""All changes: those announced to the office, the state of a server, whether the configuration file can be used, and
which inputs have no value."""

ChangeListener: TypeAlias = Callable[[ChangeKind], None]


class ChangeListeners:
    """A list of callbacks; one that raises does not affect the others."""

    def __init__(self) -> None:
        self._all: list[ChangeListener] = []

    def add(self, listener: ChangeListener) -> Callable[[], None]:
        """Add a listener; return an unsubscribe function, which may be called twice."""
        self._all.append(listener)

        def stop() -> None:
            with suppress(ValueError):
                self._all.remove(listener)

        return stop

    def notify(self, what: ChangeKind) -> None:
        """Call every listener."""
        for listener in tuple(self._all):
            notify_guarded(logger, "a listener of the Computer", listener, what, change=what)
