"""The table of Socket.IO clients, with an index from a client to its rooms."""

from typing import Any, cast

import socketio


class Manager(socketio.AsyncManager):  # type: ignore[misc]
    """The client table, with an index from a client to its rooms, so that leaving is no walk over all rooms."""

    def __init__(self) -> None:
        super().__init__()
        self._connecting: set[tuple[str, str]] = set()
        self._leaving: set[tuple[str, str]] = set()
        self._rooms_of: dict[tuple[str, str], set[Any]] = {}

    async def pre_connect(self, eio_sid: str, namespace: str) -> str | None:
        """Register a client that is not yet authenticated."""
        sid = await super().pre_connect(eio_sid, namespace)
        if sid is not None:
            self.pending_connect.pop(namespace, None)
            self._connecting.add((namespace, sid))
        return cast("str | None", sid)

    async def connect(self, sid: str, namespace: str) -> str:
        """Register a client as fully connected."""
        self._connecting.discard((namespace, sid))
        return sid

    def is_pre_connected(self, sid: str, namespace: str) -> bool:
        """Whether the client waits for its authentication."""
        return (namespace, sid) in self._connecting

    def is_connected(self, sid: str, namespace: str) -> bool:
        """Whether the client is fully connected."""
        key = (namespace, sid)
        return key not in self._connecting and key not in self._leaving and key in self._rooms_of

    def pre_disconnect(self, sid: str, namespace: str) -> str | None:
        """Mark a client as going, while its handlers still run."""
        self._leaving.add((namespace, sid))
        return cast("str | None", self.rooms[namespace][None].get(sid))

    def basic_disconnect(self, sid: str, namespace: str, **_: Any) -> None:
        """Forget a client."""
        for room in self._rooms_of.pop((namespace, sid), ()):
            super().basic_leave_room(sid, namespace, room)
        self.callbacks.pop(sid, None)
        self._connecting.discard((namespace, sid))
        self._leaving.discard((namespace, sid))

    def basic_enter_room(self, sid: str, namespace: str, room: Any, eio_sid: str | None = None) -> None:
        """Add a client to a room."""
        super().basic_enter_room(sid, namespace, room, eio_sid=eio_sid)
        self._rooms_of.setdefault((namespace, sid), set()).add(room)

    def basic_leave_room(self, sid: str, namespace: str, room: Any) -> None:
        """Remove a client from a room."""
        super().basic_leave_room(sid, namespace, room)
        self._rooms_of.get((namespace, sid), set()).discard(room)
