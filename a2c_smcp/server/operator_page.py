"""The read-only page of the server's operator: offices, members, requests and errors.

    /console/        the page, which asks for the token; without data of its own
    /console/state   the data as JSON, with the header Authorization: Bearer TOKEN

The token is never part of a URL, so it is in no log, and in no cookie, so other pages cannot use it. The data is
computed on request; only the times of joins are recorded.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

from a2c_smcp import PROTOCOL_VERSION, __version__
from a2c_smcp.errors import Forbidden, NotFound, SMCPError, Unauthorized
from a2c_smcp.server.metrics import Metrics
from a2c_smcp.server.observer import ServerObserver
from a2c_smcp.server.offices import Member
from a2c_smcp.server.registry.memory import Registry
from a2c_smcp.server.web import Scope, Send, answer, bears, refuse

ROOT: Final = "/console"
MAX_OFFICES: Final = 200
MAX_MEMBERS: Final = 200
MEMBERS_TIMEOUT: Final = 2.0
"""Seconds to wait for the members of other nodes; after that, those of this node are shown."""

HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
}
_HERE: Final = Path(__file__).parent
_FILES: Final = {
    "/": (_HERE / "static" / "operator.html", "text/html; charset=utf-8"),
    "/operator.js": (_HERE / "static" / "operator.js", "text/javascript; charset=utf-8"),
    "/console.css": (_HERE.parent / "assets" / "console.css", "text/css; charset=utf-8"),
    "/icon.svg": (_HERE.parent / "assets" / "icon.svg", "image/svg+xml"),
}


class NodeStatus(Protocol):
    """The state of the server that the page shows."""

    metrics: Metrics

    def problem(self) -> str | None:
        """Return why this node accepts no connections, or None."""


@dataclass(frozen=True, slots=True)
class _Presence:
    member: Member
    since: float


class OperatorPage(ServerObserver):
    """Serves the page; as an observer it records when members of this node joined."""

    def __init__(self, token: str, node: NodeStatus, registry: Registry) -> None:
        self._token = token
        self._node = node
        self._registry = registry
        self._began = self.wall_clock()
        self._offices: dict[str, dict[str, _Presence]] = {}

    def joined(self, member: Member, address: str) -> None:  # noqa: ARG002
        """Record the time of a join."""
        self._offices.setdefault(member.office_id, {})[member.sid] = _Presence(member, self.wall_clock())

    def left(self, member: Member, why: str) -> None:  # noqa: ARG002
        """Remove a member."""
        members = self._offices.get(member.office_id, {})
        members.pop(member.sid, None)
        if not members:
            self._offices.pop(member.office_id, None)

    async def serve(self, scope: Scope, send: Send, path: str) -> None:
        """Serve a request below `ROOT`."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await refuse(scope, send, 405, Forbidden("Method not allowed; use GET"), allow="GET, HEAD")
            return
        below = path.removeprefix(ROOT)
        if below == "":
            await answer(scope, send, 308, "", headers={**HEADERS, "location": f"{ROOT.rpartition('/')[2]}/"})
        elif below in _FILES:
            file, kind = _FILES[below]
            await answer(scope, send, 200, _read(file), kind=kind, headers=HEADERS)
        elif below != "/state":
            await refuse(scope, send, 404, NotFound(f"The console is at {ROOT}/"))
        elif not bears(scope, self._token):
            error = Unauthorized("Send the console's token as `Authorization: Bearer TOKEN`")
            await refuse(scope, send, 401, error, **HEADERS, **{"www-authenticate": "Bearer"})
        else:
            await answer(scope, send, 200, json.dumps(await self.state()), headers=HEADERS)

    async def state(self) -> dict[str, Any]:
        """Return the data of the page."""
        shown = sorted(self._offices)[:MAX_OFFICES]
        offices = await asyncio.gather(*map(self._office, shown))
        return {
            "node": self._registry.node,
            "version": __version__,
            "protocol": PROTOCOL_VERSION,
            "since": _time(self._began),
            "problem": self._node.problem(),
            **self._node.metrics.now(),
            "office_count": len(self._offices),
            "offices": [office for office in offices if office["members"]],
            "events": self._node.metrics.by_event(),
        }

    async def _office(self, name: str) -> dict[str, Any]:
        here = dict(self._offices.get(name, {}))
        try:
            async with asyncio.timeout(MEMBERS_TIMEOUT):
                present = await self._registry.members(name)
        except (SMCPError, TimeoutError, OSError):
            present = [one.member for one in here.values()]
        members = [
            {
                "role": member.role,
                "name": member.name,
                "version": member.version,
                "node": member.node,
                "since": _time(here[member.sid].since) if member.sid in here else None,
            }
            for member in present[:MAX_MEMBERS]
        ]
        return {"office_id": name, "member_count": len(present), "members": members}


@cache
def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
