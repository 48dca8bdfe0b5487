"""Running functions that users supply, so that an error in one never reaches the code that calls it.

The error is logged with its traceback. Where its message may hold a secret, `without_message` leaves that out.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from inspect import isawaitable, iscoroutine
from types import TracebackType
from typing import Any


def call_guarded(log: logging.Logger, what: str, function: Callable[..., Any], *arguments: Any, **ids: Any) -> Any:
    """Return what the function returns, or None where it raises.

    Args:
        what: What the function is, for the log: "an observer of tool calls".
        ids: Fields of the log record.
    """
    try:
        return function(*arguments)
    except (Exception, asyncio.CancelledError):  # a plain function has no task that could have been cancelled
        log.exception("%s failed", what, extra=ids)
        return None


def notify_guarded(log: logging.Logger, what: str, function: Callable[..., Any], *arguments: Any, **ids: Any) -> None:
    """Call a function that must not be a coroutine function; one that is never runs, and that is logged."""
    result = call_guarded(log, what, function, *arguments, **ids)
    if iscoroutine(result):
        result.close()
        log.error("%s must be a plain function, not a coroutine function; it was not called", what, extra=ids)


async def await_guarded(
    log: logging.Logger, what: str, function: Callable[..., Awaitable[Any] | Any], *arguments: Any, **ids: Any
) -> Any:
    """Return what the function or coroutine function returns, or None where it raises.

    Raises:
        asyncio.CancelledError: The task that called this was cancelled.
    """
    try:
        result = function(*arguments)
        return await result if isawaitable(result) else result
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        log.exception("%s was cancelled from within", what, extra=ids)
    except Exception:
        log.exception("%s failed", what, extra=ids)
    return None


class MessageWithheld(Exception):
    """Stands in a log for an error whose message may hold a secret."""


def without_message(problem: BaseException) -> tuple[type[BaseException], BaseException, TracebackType | None]:
    """Return the `exc_info` of an error whose message may hold a secret: its type and its traceback alone."""
    return type(problem), MessageWithheld(type(problem).__name__), problem.__traceback__
