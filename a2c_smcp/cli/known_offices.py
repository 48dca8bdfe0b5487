"""Offices that this user has used, by server: what to suggest where an Agent sits in an office that is empty.

A server never names an office to those who are not in it, so suggestions come from a file of the user's own: it holds
offices that the user's own Computers joined, and those in which the user's own Agent met a Computer.
"""

import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from a2c_smcp.cli.parsing import nearest
from a2c_smcp.common.state import is_private, state_folder, write_private
from a2c_smcp.connection.connection import ServerAddress

FILE: Final = "offices.json"
MOST_SERVERS: Final = 20
MOST: Final = 10
"""Offices that are kept of a server, the latest first."""


def remember(env: Mapping[str, str], url: str, office: str) -> None:
    """Keep an office for later; where that cannot be done, nothing is lost but a hint."""
    folder, server = state_folder(env), ServerAddress(url=url).shown
    known = _read(folder / FILE)
    offices = known.pop(server, [])
    if offices[:1] == [office]:
        return
    known[server] = [office, *(one for one in offices if one != office)][:MOST]
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = folder / f".{FILE}-{secrets.token_hex(8)}"
        try:
            write_private(part, json.dumps(dict(list(known.items())[-MOST_SERVERS:]), indent=2) + "\n")
            part.replace(folder / FILE)
        finally:
            part.unlink(missing_ok=True)


def empty(env: Mapping[str, str], url: str, office: str) -> str:
    """Return what to tell a user whose Agent is alone in an office."""
    used = [one for one in _read(state_folder(env) / FILE).get(ServerAddress(url=url).shown, []) if one != office]
    told = f"the office {office!r} is empty: no Computer is in it"
    if near := nearest(office, used):
        return f"{told}; did you mean {near!r}, which you used at this server before?"
    if used:
        return f"{told}; check --office (used at this server before: {', '.join(map(repr, used))})"
    return f"{told}; check --office, or start a Computer there: a2c computer --office NAME"


def _read(path: Path) -> dict[str, list[str]]:
    if not is_private(path):
        return {}
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        return {str(server): [str(office) for office in offices][:MOST] for server, offices in known.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
