"""The table of Socket.IO clients and the callbacks of their acks."""

import inspect
import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

import socketio
from engineio.payload import Payload

from a2c_smcp.errors import InternalError
from a2c_smcp.server.calls import ReplyCallback
from a2c_smcp.server.packets import ack_arguments
from a2c_smcp.smcp import error_ack


class AckWaiter:
    """The callback of an ack."""

    __slots__ = ("_answered", "_event")

    def __init__(self, event: str, answered: ReplyCallback) -> None:
        self._event = event
        self._answered = answered

    def __call__(self, *arguments: Any) -> None:
        """Take a parsed ack."""
        self._answered(arguments)

    def take(self, text: str) -> None:
        """Take an ack as text."""
        try:
            answer = ack_arguments(text)
        except ValueError:
            self.fail()
        else:
            self._answered(answer)

    def fail(self) -> None:
        """Take a malformed ack: reply with an error now instead of after the time-out."""
        self._answered((error_ack(self._event, InternalError("The computer sent a malformed reply")),))


POST_PACKETS: Final = 10_000
"""Packets in one HTTP request of a polling client; clients send all collected packets together."""


def accept_many_packets() -> None:
    """Raise the packet limit of stock servers: they drop the packets after the first 16 of a request and reply OK."""
    Payload.max_decode_packets = max(Payload.max_decode_packets, POST_PACKETS)


def guard_acks(manager: Any, ignored: Callable[[], Any]) -> None:
    """Pass only expected acks to a stock manager; a malformed one fails its call immediately.

    A stock manager keeps its counter among the callbacks, under 0, so an ack with that number would delete it.

    Args:
        ignored: Called for a dropped ack; its result is the result of `trigger_callback`.
    """
    stock = manager.trigger_callback

    def trigger_callback(sid: str, id: Any, data: Any) -> Any:  # noqa: A002
        waiting = manager.callbacks.get(sid, {})
        callback = waiting.get(id) if id else None
        if callback is None:
            return ignored()
        if type(callback) is AckWaiter and not (isinstance(data, list) and _is_finite(data)):
            del waiting[id]
            callback.fail()
            return ignored()
        return stock(sid, id, data)

    manager.trigger_callback = trigger_callback


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    return all(map(_is_finite, value)) if isinstance(value, list) else True


class ClientManager(socketio.AsyncManager):  # type: ignore[misc]
    """The client table, with an index from client to rooms, so that leaving does not scan all rooms."""

    def __init__(self) -> None:
        super().__init__()
        self._connecting: set[tuple[str, str]] = set()
        self._leaving: set[tuple[str, str]] = set()
        self._rooms_of: dict[tuple[str, str], set[Any]] = {}
        self._last_ack: dict[str, int] = {}

    # The stock manager keeps the counter among the callbacks, under 0, so an ack with that number would delete it.

    def _generate_ack_id(self, sid: str, callback: Callable[..., Any]) -> int:
        number = self._last_ack[sid] = self._last_ack.get(sid, 0) + 1
        self.callbacks.setdefault(sid, {})[number] = callback
        return number

    async def trigger_callback(self, sid: str, id: int | None, data: list[Any]) -> None:  # noqa: A002
        """Pass an ack to its callback; an unexpected one is dropped."""
        if (callback := self.take_callback(sid, id)) is not None:
            answer = callback(*data)
            if inspect.isawaitable(answer):
                await answer

    def take_callback(self, sid: str | None, number: int | None) -> Callable[..., Any] | None:
        """Remove and return the callback of an ack."""
        waiting = self.callbacks.get(sid)
        return waiting.pop(number, None) if waiting else None

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
        """Return whether the client is not yet authenticated."""
        return (namespace, sid) in self._connecting

    def is_connected(self, sid: str, namespace: str) -> bool:
        """Return whether the client is fully connected."""
        key = (namespace, sid)
        return key not in self._connecting and key not in self._leaving and key in self._rooms_of

    def pre_disconnect(self, sid: str, namespace: str) -> str | None:
        """Mark a client as leaving while its handlers still run."""
        self._leaving.add((namespace, sid))
        return cast("str | None", self.rooms[namespace][None].get(sid))

    def basic_disconnect(self, sid: str, namespace: str, **_: Any) -> None:
        """Remove a client."""
        for room in self._rooms_of.pop((namespace, sid), ()):
            super().basic_leave_room(sid, namespace, room)
        self.callbacks.pop(sid, None)
        self._last_ack.pop(sid, None)
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


PongCallback: TypeAlias = Callable[[bool], None]


def on_pong(socket: Any, done: PongCallback) -> bool:
    """Call `done(True)` at the next pong of an Engine.IO socket; return whether it is the first such callback."""
    waiting: list[PongCallback] | None = vars(socket).get("a2c_pongs")
    if waiting is not None:
        waiting.append(done)
        return False
    socket.a2c_pongs = [done]
    schedule: Callable[[], None] = socket.schedule_ping

    def pong() -> None:
        vars(socket).pop("schedule_ping", None)
        for one in vars(socket).pop("a2c_pongs", ()):
            one(True)
        schedule()

    socket.schedule_ping = pong
    return True


def cancel_pong(socket: Any, done: PongCallback) -> None:
    """Call `done(False)` if no pong arrived for it."""
    waiting: list[PongCallback] = vars(socket).get("a2c_pongs", [])
    if done in waiting:
        waiting.remove(done)
        done(False)
