"""One connection to Redis for everything: commands in order, their replies, and the messages for this node.

Redis sends replies and messages in the order of its operations, and a callback runs as soon as its reply is read. So
callbacks see the operations in their order: a listing is never mistaken for one after a later change. A client with
separate connections for commands and messages, like redis-py, does not keep that order, and costs 50 µs of CPU for a
PUBLISH where this costs 3.

When the oldest command has no reply within the deadline, and no byte was sent or received meanwhile, the connection
counts as lost and every pending callback gets `RedisLost`.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar, cast

from a2c_smcp.common.callbacks import call_guarded
from a2c_smcp.common.durations import seconds_text
from a2c_smcp.server.registry.redis_url import RedisEndpoint, find_primary
from a2c_smcp.server.registry.resp import (
    CommandPart,
    PublishedMessage,
    RedisErrorReply,
    RespParser,
    RespPush,
    RespValue,
    encode,
)

log = logging.getLogger(__name__)

RedisCallback: TypeAlias = Callable[[Any], None]
"""Called once with the reply, a `RedisErrorReply`, or `RedisLost`."""

T = TypeVar("T")

BACKLOG_BYTES: Final = 64_000_000
"""Unsent bytes above which the connection counts as lost."""


class RedisLost(ConnectionError):
    """Redis did not reply: the command may or may not have run."""


class CommandNotSent(RedisLost):
    """There is no connection: the command did not run."""


def _unread(reply: RespValue) -> Any:
    return reply


class RedisConnection(asyncio.Protocol):
    """A connection to Redis.

    Args:
        deadline: Seconds within which Redis must reply.
        message: Called with each message of a subscribed channel.
    """

    def __init__(self, deadline: float, message: Callable[[bytes], None] | None = None) -> None:
        self.deadline = deadline
        self.lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._message = message
        self._loop = asyncio.get_running_loop()
        self._parser = RespParser()
        self._waiting: deque[tuple[RedisCallback, float]] = deque()
        self._unsent: list[bytes] = []
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._active_at = self._loop.time()
        self._buffered = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the watchdog."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Dispatch replies and messages."""
        self._active_at = self._loop.time()
        try:
            replies = self._parser.feed(data)
        except (ValueError, TypeError) as problem:
            self.fail(f"Redis sent invalid data ({problem})")
            return
        for reply in replies:
            if self.lost.done():
                return
            try:
                self._dispatch(reply)
            except Exception:  # an error in one callback must not affect the others
                log.exception("Redis reply handler failed")

    def _dispatch(self, reply: RespValue) -> None:
        if type(reply) is PublishedMessage:
            if self._message is not None:
                self._message(reply)
        elif type(reply) is RespPush:
            pass  # the confirmation of a subscription
        elif self._waiting:
            then, _ = self._waiting.popleft()
            then(reply)
        else:
            self.fail("Redis sent an unexpected reply")

    def connection_lost(self, problem: Exception | None) -> None:
        """Fail the pending commands."""
        self.fail(
            "Redis closed the connection" if problem is None else f"the connection broke ({type(problem).__name__})"
        )

    def send(self, *parts: CommandPart, then: RedisCallback | None = None) -> None:
        """Send a command; pass its reply to `then`. Without it, an error reply is logged and closes the connection."""
        self.write(encode(*parts), then or self._log_refusal)

    def write(self, command: bytes, then: RedisCallback) -> None:
        """Send an encoded command."""
        if self._transport is None:
            then(CommandNotSent("there is no connection to Redis"))
            return
        if self._transport.get_write_buffer_size() > BACKLOG_BYTES:
            self.fail("Redis reads too slowly")
            then(RedisLost("Redis reads too slowly"))
            return
        self._waiting.append((then, self._loop.time()))
        self._write(command)

    def _write(self, command: bytes) -> None:
        # Commands of one loop iteration are sent together: a system call costs more than a command.
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent.append(command)

    def _flush(self) -> None:
        if self._transport is not None:
            self._transport.write(b"".join(self._unsent))
        self._unsent.clear()

    async def ask(self, *parts: CommandPart, read: Callable[[RespValue], T] = _unread) -> T:
        """Send a command and return the result of `read`, which is called with the reply in order.

        Raises:
            RedisLost: Redis did not reply.
            RedisErrorReply: It refused.
        """
        answer: asyncio.Future[T] = self._loop.create_future()

        def put(reply: Any) -> None:
            if answer.done():
                return
            if isinstance(reply, Exception):
                answer.set_exception(reply)
                return
            try:
                answer.set_result(read(reply))
            except Exception as problem:  # noqa: BLE001 - raised in the caller
                answer.set_exception(problem)

        self.send(*parts, then=put)
        return await answer

    async def subscribe(self, channel: str) -> None:
        """Subscribe to a channel.

        Raises:
            RedisLost: Redis did not reply.
            RedisErrorReply: It refused.
        """
        self._parser.expect(channel)
        self._write(encode("SUBSCRIBE", channel))
        await self.ask("PING")  # a subscription is confirmed by a push, not by a reply

    def fail(self, why: str) -> None:
        """Close the connection and pass `RedisLost` to every pending callback."""
        if self.lost.done():
            return
        self.lost.set_result(why)
        if self._timer is not None:
            self._timer.cancel()
        if self._transport is not None:
            self._transport.abort()
            self._transport = None
        while self._waiting:
            then, _ = self._waiting.popleft()
            call_guarded(log, "a callback of a Redis command", then, RedisLost(why))

    def _log_refusal(self, reply: Any) -> None:
        if isinstance(reply, RedisErrorReply):
            log.error("Redis refused a command: reply=%s", reply)
            self.fail(f"Redis refused a command ({str(reply).partition(' ')[0]})")

    def _watch(self) -> None:
        now = self._loop.time()
        if self._transport is not None:
            # A large message on a slow connection: partial writes count as activity.
            buffered = self._transport.get_write_buffer_size()
            if buffered < self._buffered:
                self._active_at = now
            self._buffered = buffered
        waited = now - max(self._waiting[0][1], self._active_at) if self._waiting else 0
        if waited >= self.deadline:
            self.fail(f"no reply within {seconds_text(self.deadline)}")
        else:
            self._timer = self._loop.call_later(self.deadline / 4, self._watch)


async def connect_redis(
    endpoint: RedisEndpoint, deadline: float, message: Callable[[bytes], None], *, name: str
) -> RedisConnection:
    """Connect to the Redis, or to the primary that its Sentinels name; authenticate and select the database.

    Raises:
        OSError: It cannot be reached within the deadline.
        RedisErrorReply: It refused.
    """
    async with asyncio.timeout(deadline):
        if endpoint.master is not None:
            endpoint = await find_primary(endpoint, deadline)
        connection = await _open(endpoint, deadline, message)
        try:
            account = ["AUTH", endpoint.username or "default", endpoint.password] if endpoint.password else []
            await connection.ask("HELLO", 3, *account, "SETNAME", name)
            if endpoint.db:
                await connection.ask("SELECT", endpoint.db)
        except BaseException:
            connection.fail("the connection was not accepted")
            raise
        return connection


async def _open(endpoint: RedisEndpoint, deadline: float, message: Callable[[bytes], None]) -> RedisConnection:
    loop = asyncio.get_running_loop()
    if endpoint.path is not None:
        _, connection = await loop.create_unix_connection(lambda: RedisConnection(deadline, message), endpoint.path)
    else:
        host, port = endpoint.hosts[0]
        _, connection = await loop.create_connection(
            lambda: RedisConnection(deadline, message), host, port, ssl=endpoint.ssl_context()
        )
    return connection
