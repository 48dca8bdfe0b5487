"""The cached resource list of one MCP server, and the subscriptions to its windows and documents."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, Protocol, TypeAlias, TypeVar

from a2c_smcp.common.backoff import backoff_delay
from a2c_smcp.common.cached_fetch import CachedFetch
from a2c_smcp.common.debounce import Debouncer
from a2c_smcp.common.pagination import Page, PageLimits, walk
from a2c_smcp.computer.ports import Json, McpSession, ServerState
from a2c_smcp.computer.resources.listing import EMPTY_LIST, ResourceList, ResourceListBuilder
from a2c_smcp.errors import RequestTimeout, SMCPError, ToolFailed
from a2c_smcp.types import SERVER_NAME

logger = logging.getLogger(__name__)

_Work: TypeAlias = Literal["listing", "subscriptions"]
_RunId: TypeAlias = tuple[ServerState, str, int, bool]

LONGEST_PAUSE: Final = 300.0


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """Limits for the requests to one MCP server. Times are in seconds.

    Attributes:
        reply: How long a reply to an Agent waits for servers; later results are announced as changes.
        request: The timeout of one read.
        listing: The timeout of a complete list with all its pages.
        subscribing: The timeout of subscribing to all its resources.
        pause: How long a failure is cached before the next attempt.
        max_age: How long a list is valid if the server does not declare `listChanged`.
        at_once: The most concurrent requests to a server.
        pages: The most pages of one list.
        resources: The most resources of one list.
    """

    reply: float = 5.0
    request: float = 10.0
    listing: float = 60.0
    subscribing: float = 20.0
    pause: float = 10.0
    max_age: float = 60.0
    at_once: int = 8
    pages: int = 1_000
    resources: int = 50_000


class ResourceObserver(Protocol):
    """Receives changes of the cached lists. The methods must not block."""

    def forgotten(self, server: SERVER_NAME) -> None:
        """The server started, stopped or was replaced: everything read from it is invalid."""

    def listed(self, server: SERVER_NAME, before: ResourceList, after: ResourceList) -> None:
        """The list was read again; it is empty if the server is down or takes no part. Both lists may be equal."""

    def watched(self, server: SERVER_NAME) -> None:
        """The subscriptions to everything in its list are active."""

    def updated(self, server: SERVER_NAME, uri: str) -> None:
        """A resource has new contents."""


def _set_event() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


class CachedServer:
    """The cached list of one MCP server.

    A server that does not declare `resources` is not asked for a list. A list that cannot be read counts as empty, so
    that resources that disappear and come back are announced like any other change.
    """

    def __init__(self, session: McpSession, limits: ResourceLimits, observer: ResourceObserver) -> None:
        self.name = session.name
        self.session = session
        self.limits = limits
        self.known = EMPTY_LIST
        """The latest list, even if it has expired."""
        self._observer = observer
        self._run_id = self._current_run_id()
        self._took_part = session.status.subscribes if self.running else None
        self._throttle = ServerThrottle(self.name, at_once=limits.at_once, timeout=limits.request, pause=limits.pause)
        self._listing = CachedFetch(self._fetch_listing, pause=limits.pause)
        self._templates = CachedFetch(self._fetch_templates, pause=limits.pause)
        self._announced = EMPTY_LIST
        self._listed_at = float("-inf")
        self._subscribed: frozenset[str] = frozenset()
        self._acknowledged = True
        self._windows_watched = _set_event()
        self._all_watched = _set_event()
        self._work: Debouncer[_Work] = Debouncer(self._do)
        self._failures = 0
        self._retries: set[asyncio.TimerHandle] = set()

    # What is known

    @property
    def running(self) -> bool:
        """Whether the server is running."""
        return self.session.status.state is ServerState.RUNNING

    @property
    def takes_part(self) -> bool:
        """Whether it currently takes part in Desktop and Finder."""
        status = self.session.status
        return status.state is ServerState.RUNNING and status.subscribes

    @property
    def absent(self) -> bool:
        """Whether it may take part but is starting or has failed; not if it was stopped on purpose."""
        state = self.session.status.state
        return state in {ServerState.STARTING, ServerState.WAITING, ServerState.FAILED} and self._took_part is not False

    @property
    def problem(self) -> SMCPError | None:
        """Why its list could not be read, if the latest attempt failed."""
        return self._listing.error

    def fresh(self) -> ResourceList | None:
        """Return the list if it is valid without a request."""
        if self._run_id[0] is not ServerState.RUNNING:
            return None
        if self._is_old(self.limits.max_age):
            # Use the old list meanwhile; a difference is announced as a change.
            self._listed_at = asyncio.get_running_loop().time()
            self._listing.start()
        return self._listing.value

    def watches(self, *uris: str) -> bool:
        """Whether the subscriptions to all these resources are active."""
        return self._acknowledged and self._subscribed.issuperset(uris)

    # What can be asked

    async def listing(self) -> ResourceList:
        """Return the list, from the server if it changed.

        Raises:
            SMCPError: It could not be read, now or within the last `limits.pause` seconds.
        """
        return self.fresh() or await self._listing.get()

    async def templates(self) -> list[Json]:
        """Return the resource templates; none if they cannot be read."""
        try:
            return await self._templates.get()
        except SMCPError:
            return []

    async def read(self, uri: str) -> list[Json]:
        """Return the contents of a resource, throttled and with a timeout.

        Raises:
            RequestTimeout: The server does not answer.
            SMCPError: The server's error reply.
        """
        return await self._throttle.request(lambda: self.session.read_resource(uri))

    async def windows_watched(self) -> None:
        """Return when the subscriptions to all listed windows are active, or have failed for now."""
        await self._windows_watched.wait()

    async def all_watched(self) -> None:
        """Return when the subscriptions to all windows and documents are active, or have failed for now."""
        await self._all_watched.wait()

    # Events

    def start(self) -> None:
        """Read the list in the background."""
        self._work.trigger("listing")

    def list_changed(self) -> None:
        """Read the list again soon, once for several such notifications."""
        self._listing.expire()
        self._templates.expire()
        self.start()

    def status_changed(self) -> None:
        """Invalidate everything if the server was restarted or changed its state."""
        run_id, self._run_id = self._run_id, self._current_run_id()
        if self._run_id == run_id:
            return
        if self.running:
            self._took_part = self.session.status.subscribes
        self._throttle.reset()
        self._failures = 0
        self._acknowledged = not self._subscribed  # the session renews them; subscribing again waits for that
        self._observer.forgotten(self.name)
        if not self.running:
            self._accept(EMPTY_LIST)
        self.list_changed()

    def expire_if_older(self, older_than: float) -> None:
        """Expire a list of this age if the server does not declare `listChanged`."""
        if self._is_old(older_than):
            self._listing.expire()
            self._templates.expire()

    def forget(self) -> None:
        """Drop everything: the server is no longer configured."""
        self._run_id = (ServerState.STOPPED, "", -1, False)
        self._listing.cancel()
        self._templates.cancel()
        self._observer.forgotten(self.name)
        self._accept(EMPTY_LIST)

    async def settled(self) -> None:
        """Return when the list is read and the subscriptions are active, or both have failed for now."""
        await self._work.drained()

    async def close(self) -> None:
        """Stop all background work for this server."""
        for timer in self._retries:
            timer.cancel()
        await self._work.close()
        await self._listing.close()
        await self._templates.close()
        self._release_waiters()

    def _current_run_id(self) -> _RunId:
        status = self.session.status
        return status.state, status.since, status.restarts, status.subscribes

    def _is_old(self, age: float) -> bool:
        if self._listing.value is None or asyncio.get_running_loop().time() - self._listed_at < age:
            return False
        declared = self.session.status.capabilities.get("resources")
        return not (isinstance(declared, dict) and declared.get("listChanged"))

    # The list

    async def _fetch_listing(self) -> ResourceList:
        run_id = self._run_id
        try:
            listing = await self._ask_for_listing()
        except SMCPError as error:
            # The status shows already that a server is not running.
            level = logging.DEBUG if isinstance(error, ToolFailed) else logging.WARNING
            logger.log(
                level, "resources not listed: mcp_server=%s reason=%s", self.name, error, extra={"server": self.name}
            )
            if run_id == self._run_id:
                self._accept(EMPTY_LIST)
            raise
        if run_id == self._run_id:
            self._listed_at = asyncio.get_running_loop().time()
            self._watch(listing)
            self._accept(listing)
        return listing

    async def _ask_for_listing(self) -> ResourceList:
        if not self.running:
            raise ToolFailed(f"The MCP server {self.name!r} is not running", details={"mcp_server": self.name})
        status = self.session.status
        if "resources" not in status.capabilities and not status.subscribes:
            return EMPTY_LIST
        builder = ResourceListBuilder(self.limits.resources)
        async for page in self._walk(
            lambda cursor: self._throttle.request(partial(self.session.list_resources, cursor))
        ):
            builder.add(page)
        return builder.build()

    def _walk(self, request: Callable[[str | None], Awaitable[Page[Json]]]) -> AsyncIterator[list[Json]]:
        limits = PageLimits(self.limits.pages, self.limits.resources, self.limits.listing)
        return walk(request, limits, self._list_truncated)

    def _list_truncated(self, reason: str) -> None:
        logger.warning("resource list truncated: %s mcp_server=%s", reason, self.name, extra={"server": self.name})

    async def _fetch_templates(self) -> list[Json]:
        if "resources" not in self.session.status.capabilities:
            return []
        return await self._throttle.request(self._all_templates)

    async def _all_templates(self) -> list[Json]:
        return [one async for page in self._walk(self.session.list_resource_templates) for one in page]

    def _accept(self, listing: ResourceList) -> None:
        self.known = listing
        before, self._announced = self._announced, listing if self.takes_part else EMPTY_LIST
        self._observer.listed(self.name, before, self._announced)

    def _watch(self, listing: ResourceList) -> None:
        if not self.takes_part or (self._acknowledged and listing.watchable == self._subscribed):
            self._release_waiters()
            return
        if not self.watches(*listing.windows):
            self._windows_watched.clear()
        if not self.watches(*listing.documents):
            self._all_watched.clear()
        self._work.trigger("subscriptions")

    def _release_waiters(self) -> None:
        self._windows_watched.set()
        self._all_watched.set()

    # In the background

    async def _do(self, work: _Work) -> None:
        if not self.running:
            self._release_waiters()
            return
        try:
            if work == "listing":
                await self._listing.get()
            else:
                await self._subscribe()
        except SMCPError:
            self._retry(work)
        else:
            self._failures = 0

    def _retry(self, work: _Work) -> None:
        # No notification announces what changed while the server did not answer.
        pause = backoff_delay(self._failures, base=self.limits.pause, longest=LONGEST_PAUSE)
        self._failures += 1
        loop = asyncio.get_running_loop()

        def again() -> None:
            self._retries.discard(timer)
            self._work.trigger(work)

        timer = loop.call_later(pause, again)
        self._retries.add(timer)

    async def _subscribe(self) -> None:
        """Subscribe to everything listed: windows first, because reading a window waits for its subscription."""
        listing = self.known
        try:
            await self._subscribe_to(self._subscribed & listing.watchable | set(listing.windows))
            self._windows_watched.set()
            await self._subscribe_to(listing.watchable)
        finally:
            self._release_waiters()
        self._observer.watched(self.name)

    async def _subscribe_to(self, uris: frozenset[str]) -> None:
        if self._acknowledged and uris == self._subscribed:
            return
        try:
            async with asyncio.timeout(self.limits.subscribing):
                await self.session.subscribe(sorted(uris))
        except TimeoutError:
            raise ToolFailed(f"The MCP server {self.name!r} does not answer") from None
        except ToolFailed:
            raise
        except SMCPError as error:
            # A refusal is final: retrying would get the same reply.
            logger.warning(
                "subscriptions refused: mcp_server=%s reason=%s", self.name, error, extra={"server": self.name}
            )
        self._subscribed, self._acknowledged = uris, True


T = TypeVar("T")


class ServerThrottle:
    """Limits requests to one server: `at_once` concurrent ones, each with a timeout.

    If a request times out and the server answered nothing else meanwhile, the server counts as hanging, and requests
    fail at once for `pause` seconds instead of each waiting for its timeout. One slow resource among good ones does not
    have this effect.
    """

    def __init__(self, server: SERVER_NAME, *, at_once: int, timeout: float, pause: float) -> None:
        self._server = server
        self._timeout = timeout
        self._pause = pause
        self._slots = asyncio.Semaphore(at_once)
        self._answered = float("-inf")
        self._closed_until = float("-inf")

    def reset(self) -> None:
        """Reset the state after a restart of the server."""
        self._closed_until = float("-inf")

    async def request(self, request: Callable[[], Awaitable[T]]) -> T:
        """Return what `request()` returns.

        Raises:
            RequestTimeout: The request timed out, or the server hangs.
            SMCPError: Raised by the request.
        """
        clock = asyncio.get_running_loop().time
        async with self._slots:
            if clock() < self._closed_until:
                raise self._silence()
            began = clock()
            try:
                async with asyncio.timeout(self._timeout):
                    answer = await request()
            except ToolFailed:
                raise  # the server is not running: neither an answer nor a hang
            except TimeoutError:
                if self._answered < began:
                    self._closed_until = clock() + self._pause
                raise self._silence() from None
            except SMCPError:
                self._answer(clock())
                raise
            self._answer(clock())
            return answer

    def _answer(self, now: float) -> None:
        self._answered = now
        self.reset()

    def _silence(self) -> RequestTimeout:
        return RequestTimeout(f"The MCP server {self._server!r} does not answer", details={"mcp_server": self._server})
