"""One HTTP POST that is over by its deadline: name lookup, upload, headers and body together.

A time-out of an HTTP library counts from one byte to the next, so a server that sends a byte a second is never too
slow for it. Here the exchange runs in an event loop of its own and is cancelled as a whole.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any, Final

CONNECT_SECONDS: Final = 10.0
ERROR_BYTES: Final = 64 << 10
"""How much of an answer with an error status is read."""

_GRACE: Final = 1.0


class ExchangeError(Exception):
    """The request got no complete answer; the message says why."""


class DeadlineExceeded(ExchangeError):
    """The answer was not complete in time."""


class Unreachable(ExchangeError):
    """The connection could not be made, or was lost."""


class AnswerTooLarge(ExchangeError):
    """The answer has more bytes than the caller takes."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Status and headers of an answer; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]


def post(
    url: str, into: IO[bytes], *, seconds: float, limit: int, headers: Mapping[str, str] | None = None, **body: Any
) -> Reply:
    """Send a POST and write the body of the answer to `into`; blocks, from any thread. Redirects are not followed.

    Args:
        seconds: When the whole exchange has to be over.
        limit: The most bytes of an answer, unpacked; of an error only the first bytes are kept.
        body: What `httpx` takes for a body: `json`, or `files` and `data`.

    Raises:
        ExchangeError: There is no complete answer.
        OSError: The answer cannot be written.
        ModuleNotFoundError: `httpx` is not installed.
    """
    outcome: SimpleQueue[Reply | BaseException] = SimpleQueue()

    def run() -> None:
        try:
            outcome.put(asyncio.run(_post(url, into, seconds, limit, headers or {}, body)))
        except BaseException as problem:  # noqa: BLE001 - raised in the thread that waits
            outcome.put(problem)

    # The thread is a daemon and not joined: closing its loop may have to wait for a name lookup.
    Thread(target=run, name="a2c-http", daemon=True).start()
    try:
        found = outcome.get(timeout=max(seconds, 0.0) + _GRACE)
    except Empty:
        raise DeadlineExceeded(_too_slow(seconds)) from None
    if isinstance(found, BaseException):
        raise found
    return found


async def _post(
    url: str, into: IO[bytes], seconds: float, limit: int, headers: Mapping[str, str], body: Mapping[str, Any]
) -> Reply:
    import httpx  # noqa: PLC0415 - an extra

    limits = httpx.Timeout(max(seconds, 0.001), connect=max(min(CONNECT_SECONDS, seconds), 0.001))
    try:
        async with (
            asyncio.timeout(seconds),
            httpx.AsyncClient(follow_redirects=False, timeout=limits) as client,
            client.stream("POST", url, headers=dict(headers), **body) as response,
        ):
            await _keep(response, into, limit)
            return Reply(response.status_code, {name.lower(): text for name, text in response.headers.items()})
    except (TimeoutError, httpx.TimeoutException) as error:
        raise DeadlineExceeded(_too_slow(seconds)) from error
    except httpx.TransportError as error:
        raise Unreachable(type(error).__name__) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ExchangeError(type(error).__name__) from error


async def _keep(response: Any, into: IO[bytes], limit: int) -> None:
    is_error = not 200 <= response.status_code < 300
    most = min(limit, ERROR_BYTES) if is_error else limit
    declared = response.headers.get("content-length", "")
    if not is_error and declared.isdecimal() and int(declared) > limit:
        raise AnswerTooLarge(f"more than {limit} bytes")
    size = 0
    async for piece in response.aiter_bytes():  # unpacked: a packed bomb counts as what it becomes
        into.write(piece[: most - size] if is_error else piece)
        size += len(piece)
        if size > most:
            if is_error:
                return
            raise AnswerTooLarge(f"more than {limit} bytes")


def _too_slow(seconds: float) -> str:
    return f"no complete answer within {max(seconds, 0.0):.3g} seconds"
