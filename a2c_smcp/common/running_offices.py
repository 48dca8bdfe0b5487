"""Which `a2c up` runs on this machine: its address and token, in a file that only its user can read, while it runs."""

import json
import os
import secrets
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from a2c_smcp.common.state import is_private, state_folder, write_private
from a2c_smcp.errors import NotFound

FOLDER: Final = "running"
CONNECT_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class RunningOffice:
    """An office that `a2c up` serves on this machine.

    Attributes:
        office: Its name; offices for single Agents begin with it.
        started: Seconds since the epoch.
    """

    url: str
    office: str
    token: str = field(repr=False)
    pid: int
    started: float

    def of_agent(self, name: str) -> str:
        """Return the name of an office of its own for an Agent, which no other Agent is in."""
        plain = "".join(char if char.isascii() and char.isalnum() else "-" for char in name)[:40]
        return f"{self.office}-{plain}-{secrets.token_hex(4)}"


@contextmanager
def announced(office: RunningOffice, env: Mapping[str, str]) -> Iterator[Path]:
    """Let programs of this user find the office, for as long as the block runs.

    Raises:
        OSError: The file cannot be written.
    """
    folder = state_folder(env) / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path, part = folder / f"{office.pid}.json", folder / f".{office.pid}-{secrets.token_hex(8)}"
    try:
        write_private(part, json.dumps(asdict(office)) + "\n")
        part.replace(path)  # a file of an earlier process of this number is stale
        yield path
    finally:
        part.unlink(missing_ok=True)
        path.unlink(missing_ok=True)


def find_running(env: Mapping[str, str] = os.environ, url: str | None = None) -> RunningOffice:
    """Return the office at a URL, or else the one that was started last.

    Raises:
        NotFound: None runs, or none there.
    """
    there = [one for one in running_offices(env) if url is None or one.url == url.rstrip("/")]
    if not there:
        raise NotFound("No `a2c up` of this user is running on this machine; start it in another terminal")
    return max(there, key=lambda one: one.started)


def running_offices(env: Mapping[str, str] = os.environ) -> list[RunningOffice]:
    """Return every office that runs. The file of one that was killed is deleted."""
    found = []
    with suppress(OSError):
        for path in sorted((state_folder(env) / FOLDER).glob("*.json")):
            office = _read(path)
            if office is None:
                continue
            if not _lives(office.pid):
                path.unlink(missing_ok=True)
            elif _listens(office.url):
                found.append(office)
    return found


def _read(path: Path) -> RunningOffice | None:
    if not is_private(path):
        return None  # somebody else could have written it
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        return RunningOffice(
            str(known["url"]), str(known["office"]), str(known["token"]), int(known["pid"]), float(known["started"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _lives(pid: int) -> bool:
    if os.name == "nt":  # there os.kill ends the process
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _listens(url: str) -> bool:
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 0), CONNECT_SECONDS):
            return True
    except (OSError, ValueError):
        return False
