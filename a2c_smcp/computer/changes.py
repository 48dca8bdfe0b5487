"""Who hears, within the application, what changes at its Computer."""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, TypeAlias

from a2c_smcp.common.callbacks import notify_guarded
from a2c_smcp.common.debounce import UpdateKind

logger = logging.getLogger(__name__)

ChangeKind: TypeAlias = UpdateKind | Literal["servers", "configuration", "inputs"]
"""What can change: what the office is told of, the state of a server, whether the configuration file can be used, which
inputs have no value."""

ChangeListener: TypeAlias = Callable[[ChangeKind], None]


class ChangeListeners:
    """Functions to call; one that fails hurts no other."""

    def __init__(self) -> None:
        self._all: list[ChangeListener] = []

    def add(self, listener: ChangeListener) -> Callable[[], None]:
        """Call `listener` from now on; return what ends that, and may be called twice."""
        self._all.append(listener)

        def stop() -> None:
            with suppress(ValueError):
                self._all.remove(listener)

        return stop

    def tell(self, what: ChangeKind) -> None:
        """Call every listener."""
        for listener in tuple(self._all):
            notify_guarded(logger, "a listener of the Computer", listener, what, change=what)
