"""One connection to Redis that carries everything: commands in order, their replies, and the messages for this node.

Redis writes replies and messages in the order in which it did things, and a callback runs as soon as its reply is
read. So whoever applies both where they are called sees the history as Redis made it: a listing that was asked for
before a change is never taken for a newer one.

Nothing here waits for Redis for long: when the oldest command has had no reply within the deadline, and no byte has
moved on the line either, the connection counts as lost, and every callback that still waits is told so.
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
"""Called once: with the reply, an `RedisErrorReply`, or `RedisLost`."""

T = TypeVar("T")

BACKLOG_BYTES: Final = 64_000_000
"""What may wait to be sent; when more does, the connection counts as lost."""


class RedisLost(ConnectionError):
    """Redis did not answer: the command may or may not have been done."""


class CommandNotSent(RedisLost):
    """There is no connection: the command was not done."""


def _unread(reply: RespValue) -> Any:
    return reply


class RedisConnection(asyncio.Protocol):
    """A connection to Redis.

    Args:
        deadline: Seconds within which Redis has to answer.
        message: Called with each message published to a channel this connection subscribed to.
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
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Hand on what came, each where it belongs."""
        self._active_at = self._loop.time()
        try:
            replies = self._parser.feed(data)
        except (ValueError, TypeError) as problem:
            self.fail(f"Redis sent something that is not its language ({problem})")
            return
        for reply in replies:
            if self.lost.done():
                return
            try:
                self._dispatch(reply)
            except Exception:  # what fails in one message must not end the others
                log.exception("handling a message of Redis failed")

    def _dispatch(self, reply: RespValue) -> None:
        if type(reply) is PublishedMessage:
            if self._message is not None:
                self._message(reply)
        elif type(reply) is RespPush:
            pass  # a subscription is confirmed
        elif self._waiting:
            then, _ = self._waiting.popleft()
            then(reply)
        else:
            self.fail("Redis sent a reply that nobody asked for")

    def connection_lost(self, problem: Exception | None) -> None:
        """End."""
        self.fail(
            "Redis closed the connection" if problem is None else f"the connection broke ({type(problem).__name__})"
        )

    def send(self, *parts: CommandPart, then: RedisCallback | None = None) -> None:
        """Send a command. Its reply reaches `then`; without one an error is logged and ends the connection."""
        self.write(encode(*parts), then or self._log_refusal)

    def write(self, command: bytes, then: RedisCallback) -> None:
        """Send a command that is encoded already."""
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
        # Commands of one turn of the loop leave together: a system call costs more than making the command.
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent.append(command)

    def _flush(self) -> None:
        if self._transport is not None:
            self._transport.write(b"".join(self._unsent))
        self._unsent.clear()

    async def ask(self, *parts: CommandPart, read: Callable[[RespValue], T] = _unread) -> T:
        """Send a command and wait for what `read` makes of its reply, at its place in the history.

        Raises:
            LinkLost: Redis did not answer.
            ErrorReply: It refused.
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
            except Exception as problem:  # noqa: BLE001  it belongs to whoever waits
                answer.set_exception(problem)

        self.send(*parts, then=put)
        return await answer

    async def subscribe(self, channel: str) -> None:
        """Hear what is published to a channel.

        Raises:
            LinkLost: Redis did not answer.
            ErrorReply: It refused.
        """
        self._parser.expect(channel)
        self._write(encode("SUBSCRIBE", channel))
        await self.ask("PING")  # a subscription is confirmed by a push, not by a reply

    def fail(self, why: str) -> None:
        """End the connection and tell everybody who waits; once."""
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
            call_guarded(log, "a reader of a reply of Redis", then, RedisLost(why))

    def _log_refusal(self, reply: Any) -> None:
        if isinstance(reply, RedisErrorReply):
            log.error("Redis refused a command: %s", reply)
            self.fail(f"Redis refused a command ({str(reply).partition(' ')[0]})")

    def _watch(self) -> None:
        now = self._loop.time()
        if self._transport is not None:
            # A large message on a slow line: what is written in part is no silence.
            buffered = self._transport.get_write_buffer_size()
            if buffered < self._buffered:
                self._active_at = now
            self._buffered = buffered
        waited = now - max(self._waiting[0][1], self._active_at) if self._waiting else 0
        if waited >= self.deadline:
            self.fail(f"no answer within {seconds_text(self.deadline)}")
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
