"""What one MCP server lists, kept until it says that its list changed, and the subscriptions that follow from it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, Protocol, TypeAlias, TypeVar

from a2c_smcp.common.cached_fetch import CachedFetch
from a2c_smcp.common.debounce import Debouncer
from a2c_smcp.common.pagination import Page, PageLimits, walk
from a2c_smcp.computer.ports import Json, McpSession, ServerState
from a2c_smcp.computer.resources.listing import EMPTY_LIST, ResourceList, ResourceListBuilder
from a2c_smcp.errors import RequestTimeout, SMCPError, ToolFailed
from a2c_smcp.types import SERVER_NAME

logger = logging.getLogger(__name__)

_Work: TypeAlias = Literal["listing", "subscriptions"]
_Life: TypeAlias = tuple[ServerState, str, int, bool]

LONGEST_PAUSE: Final = 300.0


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """What one MCP server may cost. Times are in seconds.

    Attributes:
        reply: How long an answer to an Agent waits for servers; what comes later is pushed.
        request: How long one read may take.
        listing: How long a whole list may take, all its pages.
        subscribing: How long asking for updates of all its resources may take.
        pause: How long a failure is remembered before the server is asked again.
        max_age: How long a list is trusted whose server does not declare that it tells of changes.
        at_once: How many requests a server gets at a time.
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
    """Who is told what becomes known of the servers. Nothing here waits."""

    def forgotten(self, server: SERVER_NAME) -> None:
        """The server came, went or was replaced: what was read from it before holds no more."""

    def listed(self, server: SERVER_NAME, before: ResourceList, after: ResourceList) -> None:
        """Its list was read anew, or it has none any more, or takes no part any more. The two may be equal."""

    def watched(self, server: SERVER_NAME) -> None:
        """From now on updates of everything in its list are told."""

    def updated(self, server: SERVER_NAME, uri: str) -> None:
        """One of its resources has new contents."""


def _set_event() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


class CachedServer:
    """One MCP server as Desktop, Finder and reading see it.

    A server that does not declare `resources` is not asked for any. A list that cannot be read is an empty list, so
    that what vanishes from the view of an Agent, and what comes back, is pushed like any other change.
    """

    def __init__(self, session: McpSession, limits: ResourceLimits, observer: ResourceObserver) -> None:
        self.name = session.name
        self.session = session
        self.limits = limits
        self.known = EMPTY_LIST
        """The last list, even where it holds no more."""
        self._observer = observer
        self._life = self._life_now()
        self._took_part = session.status.subscribes if self.running else None
        self._gate = ServerThrottle(self.name, at_once=limits.at_once, timeout=limits.request, pause=limits.pause)
        self._listing = CachedFetch(self._fetch_listing, pause=limits.pause)
        self._templates = CachedFetch(self._fetch_templates, pause=limits.pause)
        self._told = EMPTY_LIST
        self._listed_at = float("-inf")
        self._subscribed: frozenset[str] = frozenset()
        self._agreed = True
        self._windows_watched = _set_event()
        self._all_watched = _set_event()
        self._work: Debouncer[_Work] = Debouncer(self._do)
        self._failures = 0
        self._retries: set[asyncio.TimerHandle] = set()

    # What is known

    @property
    def running(self) -> bool:
        """Whether it can be asked."""
        return self.session.status.state is ServerState.RUNNING

    @property
    def takes_part(self) -> bool:
        """Whether it takes part in Desktop and Finder now."""
        status = self.session.status
        return status.state is ServerState.RUNNING and status.subscribes

    @property
    def absent(self) -> bool:
        """Whether it may take part but cannot be asked: it is starting or broken, not stopped on purpose."""
        state = self.session.status.state
        return state in {ServerState.STARTING, ServerState.WAITING, ServerState.FAILED} and self._took_part is not False

    @property
    def problem(self) -> SMCPError | None:
        """Why its list is not known, if that is so."""
        return self._listing.error

    def fresh(self) -> ResourceList | None:
        """Return the list if it holds and needs no asking."""
        if self._life[0] is not ServerState.RUNNING:
            return None
        if self._tired(self.limits.max_age):
            # What is known is still the best answer at hand; if it changed, that is pushed.
            self._listed_at = asyncio.get_running_loop().time()
            self._listing.start()
        return self._listing.value

    def watches(self, *uris: str) -> bool:
        """Whether updates of all these resources are told."""
        return self._agreed and self._subscribed.issuperset(uris)

    # What can be asked

    async def listing(self) -> ResourceList:
        """Return the list, from the server where it changed.

        Raises:
            SMCPError: It could not be read, just now or a moment ago.
        """
        return self.fresh() or await self._listing.get()

    async def templates(self) -> list[Json]:
        """Return the resource templates; none where they cannot be read."""
        try:
            return await self._templates.get()
        except SMCPError:
            return []

    async def read(self, uri: str) -> list[Json]:
        """Return the contents of a resource, on the Computer's own account: in turn, and bounded in time.

        Raises:
            RequestTimeout: The server does not answer.
            SMCPError: What the server answered.
        """
        return await self._gate.ask(lambda: self.session.read_resource(uri))

    async def windows_watched(self) -> None:
        """Return when updates of all listed windows are told, or it is known that they cannot be for now."""
        await self._windows_watched.wait()

    async def all_watched(self) -> None:
        """The same for all windows and documents."""
        await self._all_watched.wait()

    # What is heard

    def start(self) -> None:
        """Read its list in the background."""
        self._work.tell("listing")

    def list_changed(self) -> None:
        """Its list may differ: read it again, soon and once for many such notices."""
        self._listing.expire()
        self._templates.expire()
        self.start()

    def status_changed(self) -> None:
        """It may be another server now."""
        life, self._life = self._life, self._life_now()
        if self._life == life:
            return
        if self.running:
            self._took_part = self.session.status.subscribes
        self._gate.reset()
        self._failures = 0
        self._agreed = not self._subscribed  # the session renews them by itself; asking again tells when that is done
        self._observer.forgotten(self.name)
        if not self.running:
            self._accept(EMPTY_LIST)
        self.list_changed()

    def look_again(self, older_than: float) -> None:
        """Mistrust the list where its server does not say that it tells of changes."""
        if self._tired(older_than):
            self._listing.expire()
            self._templates.expire()

    def forget(self) -> None:
        """It is no more."""
        self._life = (ServerState.STOPPED, "", -1, False)
        self._listing.cancel()
        self._templates.cancel()
        self._observer.forgotten(self.name)
        self._accept(EMPTY_LIST)

    async def settled(self) -> None:
        """Return when its list is read and its updates are told, or both failed for now."""
        await self._work.drained()

    async def close(self) -> None:
        """End all that goes on for this server."""
        for timer in self._retries:
            timer.cancel()
        await self._work.close()
        await self._listing.close()
        await self._templates.close()
        self._no_longer_wait_for_subscriptions()

    def _life_now(self) -> _Life:
        status = self.session.status
        return status.state, status.since, status.restarts, status.subscribes

    def _tired(self, age: float) -> bool:
        if self._listing.value is None or asyncio.get_running_loop().time() - self._listed_at < age:
            return False
        declared = self.session.status.capabilities.get("resources")
        return not (isinstance(declared, dict) and declared.get("listChanged"))

    # The list

    async def _fetch_listing(self) -> ResourceList:
        life = self._life
        try:
            listing = await self._ask_for_listing()
        except SMCPError as error:
            # That a server is not running is told by its status.
            level = logging.DEBUG if isinstance(error, ToolFailed) else logging.WARNING
            logger.log(level, "Cannot list the resources of %r: %s", self.name, error, extra={"server": self.name})
            if life == self._life:
                self._accept(EMPTY_LIST)
            raise
        if life == self._life:
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
        async for page in self._walk(lambda cursor: self._gate.ask(partial(self.session.list_resources, cursor))):
            builder.add(page)
        return builder.build()

    def _walk(self, ask: Callable[[str | None], Awaitable[Page[Json]]]) -> AsyncIterator[list[Json]]:
        limits = PageLimits(self.limits.pages, self.limits.resources, self.limits.listing)
        return walk(ask, limits, self._list_cut)

    def _list_cut(self, reason: str) -> None:
        logger.warning("list cut: %s mcp_server=%s", reason, self.name, extra={"server": self.name})

    async def _fetch_templates(self) -> list[Json]:
        if "resources" not in self.session.status.capabilities:
            return []
        return await self._gate.ask(self._all_templates)

    async def _all_templates(self) -> list[Json]:
        return [one async for page in self._walk(self.session.list_resource_templates) for one in page]

    def _accept(self, listing: ResourceList) -> None:
        self.known = listing
        before, self._told = self._told, listing if self.takes_part else EMPTY_LIST
        self._observer.listed(self.name, before, self._told)

    def _watch(self, listing: ResourceList) -> None:
        if not self.takes_part or (self._agreed and listing.watchable == self._subscribed):
            self._no_longer_wait_for_subscriptions()
            return
        if not self.watches(*listing.windows):
            self._windows_watched.clear()
        if not self.watches(*listing.documents):
            self._all_watched.clear()
        self._work.tell("subscriptions")

    def _no_longer_wait_for_subscriptions(self) -> None:
        self._windows_watched.set()
        self._all_watched.set()

    # In the background

    async def _do(self, work: _Work) -> None:
        if not self.running:
            self._no_longer_wait_for_subscriptions()
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
        # Nothing else would tell of what changed while the server could not be asked.
        pause = min(self.limits.pause * 2 ** min(self._failures, 16), LONGEST_PAUSE)
        self._failures += 1
        loop = asyncio.get_running_loop()

        def again() -> None:
            self._retries.discard(timer)
            self._work.tell(work)

        timer = loop.call_later(pause, again)
        self._retries.add(timer)

    async def _subscribe(self) -> None:
        """Ask for updates of what is listed: of the windows first, because whoever reads a window waits for that."""
        listing = self.known
        try:
            await self._subscribe_to(self._subscribed & listing.watchable | set(listing.windows))
            self._windows_watched.set()
            await self._subscribe_to(listing.watchable)
        finally:
            self._no_longer_wait_for_subscriptions()
        self._observer.watched(self.name)

    async def _subscribe_to(self, uris: frozenset[str]) -> None:
        if self._agreed and uris == self._subscribed:
            return
        try:
            async with asyncio.timeout(self.limits.subscribing):
                await self.session.subscribe(sorted(uris))
        except TimeoutError:
            raise ToolFailed(f"The MCP server {self.name!r} does not answer") from None
        except ToolFailed:
            raise
        except SMCPError as error:
            # It answered, and will not answer otherwise next time: what it tells, if anything, is all there is.
            logger.warning("%r takes no subscriptions: %s", self.name, error, extra={"server": self.name})
        self._subscribed, self._agreed = uris, True


T = TypeVar("T")


class ServerThrottle:
    """Lets `at_once` requests through, each for `timeout` seconds.

    A server that answered nothing at all while a request timed out is taken to hang. It is left alone for `pause`
    seconds, so that fifty more requests do not each wait their time. One slow resource among good ones closes no gate.
    """

    def __init__(self, server: SERVER_NAME, *, at_once: int, timeout: float, pause: float) -> None:
        self._server = server
        self._timeout = timeout
        self._pause = pause
        self._slots = asyncio.Semaphore(at_once)
        self._answered = float("-inf")
        self._closed_until = float("-inf")

    def reset(self) -> None:
        """Forget what is known: the server is another one now."""
        self._closed_until = float("-inf")

    async def ask(self, request: Callable[[], Awaitable[T]]) -> T:
        """Return what `request()` returns.

        Raises:
            RequestTimeout: It took too long, or the server hangs.
            SMCPError: What the request raised.
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
                raise  # its server is not running: no answer, and no hang either
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
