"""The ports of `a2c up`: the same at every start on the same folders, so that clients stay configured."""

import hashlib
import json
import logging
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Final

from a2c_smcp.common.state import is_private, write_private
from a2c_smcp.errors import InvalidConfig

log = logging.getLogger(__name__)

FILE: Final = "ports.json"
FIRST: Final = 8765
"""Where the first folder begins to look."""
LAST: Final = 65_535
TRIES: Final = 100
MAX_ENTRIES: Final = 200


class Ports:
    """The ports that each part of a run listens on.

    A port that the user names is used, or the start fails. Otherwise it is the one of the last time, and where another
    program has taken that, the next one that is free, which a note says.

    Args:
        folder: Where ports are remembered.
        roots: What is offered; each set of folders has ports of its own.

    Attributes:
        mine: The ports of these folders, by part.
        notes: What the user should know.
    """

    def __init__(self, folder: Path, roots: Sequence[Path]) -> None:
        self._folder = folder
        self._key = hashlib.sha256("\0".join(sorted(map(str, roots))).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self._known = _read(folder / FILE)
        self.mine = dict(self._known.get(self._key, {}))
        self._used: set[int] = set()
        self.notes: list[str] = []

    async def open(
        self,
        stack: AsyncExitStack,
        part: str,
        named: int | None,
        serve: Callable[[int], AbstractAsyncContextManager[str]],
    ) -> str:
        """Enter `serve(port)` at the port of a part, and return what it yields: its address.

        Raises:
            InvalidConfig: The port that the user named cannot be used, or none is free.
        """
        if named is not None:
            return await stack.enter_async_context(serve(named))
        remembered = self.mine.get(part)
        for port in self._candidates(remembered):
            try:
                address = await stack.enter_async_context(serve(port))
            except InvalidConfig:
                continue  # another program has it
            self._used.add(port)
            if remembered is None:
                self.mine[part] = port
            elif port != remembered:
                self.notes.append(
                    f"port {remembered} is taken by another program: the {part} is at port {port} this time, and "
                    "clients that were configured with the other address do not find it"
                )
            return address
        return await stack.enter_async_context(serve(0))

    def _candidates(self, remembered: int | None) -> Iterator[int]:
        others = {port for key, ports in self._known.items() if key != self._key for port in ports.values()}
        taken = self._used | (others if remembered is None else set())
        first = remembered if remembered is not None else FIRST
        ports = (port for port in range(first, LAST + 1) if port not in taken)
        return (port for port, _ in zip(ports, range(TRIES), strict=False))

    def remember(self) -> None:
        """Keep the ports for the next time; where they cannot be written, others are found then."""
        known = {key: ports for key, ports in self._known.items() if key != self._key}
        known[self._key] = self.mine
        part = self._folder / f".{FILE}-{secrets.token_hex(8)}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_private(part, json.dumps(dict(list(known.items())[-MAX_ENTRIES:]), indent=2) + "\n")
            part.replace(self._folder / FILE)
        except OSError as error:
            log.warning("ports not remembered: reason=%s", error.strerror or type(error).__name__)
        finally:
            part.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, dict[str, int]]:
    if not is_private(path):
        return {}
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        return {
            str(key): {str(part): int(port) for part, port in ports.items() if 0 < int(port) <= LAST}
            for key, ports in known.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
