"""MCP clients of both eras that write down what they are told."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import mcp.types as t
from mcp import Client

ERAS: Final = ("legacy", "auto")
LISTED: Final = "list changed"
SECONDS: Final = 60.0


class Listener:
    """A connected client; `heard` are URIs that were updated, and `LISTED`."""

    def __init__(self, client: Client, heard: "asyncio.Queue[str]") -> None:
        self.client = client
        self._heard = heard
        self._tasks: list[asyncio.Task[None]] = []

    async def follow(self, *uris: str) -> None:
        """Be told of changes of the list, and of these resources."""
        if self.client.protocol_version < "2026":
            for uri in uris:
                request = t.SubscribeRequest(params=t.SubscribeRequestParams(uri=uri))
                await self.client.session.send_request(request, t.EmptyResult)
            await self.client.list_resource_templates()  # by now the server knows that the handshake is over
            return
        opened = asyncio.Event()
        self._tasks.append(asyncio.create_task(self._listen(uris, opened)))
        async with asyncio.timeout(SECONDS):
            await opened.wait()

    async def _listen(self, uris: tuple[str, ...], opened: asyncio.Event) -> None:
        async with self.client.listen(resources_list_changed=True, resource_subscriptions=list(uris)) as stream:
            opened.set()
            async for event in stream:
                self._heard.put_nowait(getattr(event, "uri", LISTED))

    async def leave(self, uri: str) -> None:
        """Not be told of a resource any more, in the older era."""
        request = t.UnsubscribeRequest(params=t.UnsubscribeRequestParams(uri=uri))
        await self.client.session.send_request(request, t.EmptyResult)

    async def hear(self, count: int = 1) -> set[str]:
        """Return the next things that are told, `count` different ones."""
        found: set[str] = set()
        async with asyncio.timeout(SECONDS):
            while len(found) < count:
                found.add(await self._heard.get())
        return found

    async def until(self, what: str) -> None:
        """Wait until this is told."""
        async with asyncio.timeout(SECONDS):
            while await self._heard.get() != what:
                pass

    def quiet(self) -> bool:
        """Whether nothing is left to hear."""
        return self._heard.empty()

    async def json(self, uri: str) -> Any:
        """Return what is at a URI, parsed."""
        return json.loads(await self.text(uri))

    async def text(self, uri: str) -> str:
        """Return what is at a URI."""
        contents = (await self.client.read_resource(uri)).contents[0]
        assert isinstance(contents, t.TextResourceContents)
        assert contents.uri == uri
        return contents.text

    async def uris(self) -> list[str]:
        """Return every listed URI."""
        found: list[str] = []
        cursor = None
        while True:
            page = await self.client.list_resources(cursor=cursor)
            found += [resource.uri for resource in page.resources]
            cursor = page.next_cursor
            if cursor is None:
                return found

    async def close(self) -> None:
        """Stop following."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def connected(server: Any, era: str) -> AsyncIterator[Listener]:
    """A client of a server: an object, a command or a URL."""
    heard: asyncio.Queue[str] = asyncio.Queue()
    ready: asyncio.Future[Listener] = asyncio.get_running_loop().create_future()
    done = asyncio.Event()

    async def told(message: object) -> None:
        match message:
            case t.ResourceUpdatedNotification(params=params):
                heard.put_nowait(params.uri)
            case t.ResourceListChangedNotification():
                heard.put_nowait(LISTED)

    async def own() -> None:
        # A session belongs to the task that opened it, and fixtures end in another one.
        handler = told if era == "legacy" else None  # the streams of the newer era tell it
        try:
            async with Client(server, mode=era, message_handler=handler, cache=None) as client:
                ready.set_result(Listener(client, heard))
                await done.wait()
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)

    owner = asyncio.create_task(own())
    listener = await ready
    try:
        yield listener
    finally:
        await listener.close()
        done.set()
        await owner
