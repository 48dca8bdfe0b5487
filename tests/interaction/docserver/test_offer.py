"""An `Offer` as clients of both eras see it."""

import asyncio
from collections.abc import AsyncIterator

import mcp.types as t
import pytest
import pytest_asyncio
from mcp import Client, MCPError
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

from a2c_smcp.docserver import Offer
from a2c_smcp.documents import Element, Page
from tests.interaction.docserver.clients import ERAS, LISTED, Listener, connected

HOST = "com.example.weather"
NOW = f"window://{HOST}/now?priority=50"
FORECAST = f"dpe://{HOST}/forecast"


@pytest.fixture
def offer() -> Offer:
    made = Offer(HOST)
    made.put("forecast", "# Forecast\n\nRain until Friday.\n\n| day | mm |\n| --- | --- |\n| Mon | 3 |\n")
    degrees = iter(range(12, 99))

    @made.window("now", priority=50)
    def now() -> str:
        """The weather outside."""
        return f"{next(degrees)} degrees"

    return made


@pytest_asyncio.fixture(params=ERAS)
async def client(request: pytest.FixtureRequest, offer: Offer) -> AsyncIterator[Listener]:
    async with connected(offer.server(), request.param) as listener:
        yield listener


async def test_windows_the_catalogue_and_documents_are_listed(client: Listener) -> None:
    listed = (await client.client.list_resources()).resources
    assert [(resource.uri, resource.name, resource.description, resource.mime_type) for resource in listed] == [
        (NOW, "now", "The weather outside.", "text/plain"),
        (f"dpe://{HOST}", HOST, "Every document with its title, summary and number of pages.", "application/json"),
        (FORECAST, "Forecast", "Rain until Friday.", "application/json"),
    ]


async def test_a_window_is_painted_at_each_look(client: Listener) -> None:
    assert [await client.text(NOW), await client.text(f"window://{HOST}/now")] == ["12 degrees", "13 degrees"]


@pytest.mark.rule("7.2.level0", "7.2.level1", "7.2.level2", "7.2.level3")
async def test_the_four_levels_are_read(client: Listener) -> None:
    catalogue = await client.json(f"dpe://{HOST}")
    document = await client.json(FORECAST)
    assert catalogue == {"documents": [document], "total_count": 1}
    assert (document["title"], document["page_count"], document["file_type"]) == ("Forecast", 1, "md")
    page = await client.json(f"{FORECAST}/pages/0?categories=table")
    assert [element["element_id"] for element in page["elements"]] == ["tbl-001"]
    element = await client.json(f"{FORECAST}/elements/tbl-001")
    assert element["content"]["rows"] == [["Mon", "3"]]
    assert await client.text(f"{FORECAST}/elements/txt-001?format=markdown") == "Rain until Friday."


async def test_a_changed_window_is_told_to_those_who_follow_it(client: Listener, offer: Offer) -> None:
    await client.follow(NOW)
    offer.changed("now")
    assert await client.hear() == {NOW}


async def test_a_window_may_be_followed_without_its_query(client: Listener, offer: Offer) -> None:
    await client.follow(f"window://{HOST}/now", f"window://{HOST}/then")
    offer.changed("now")
    assert await client.hear() == {f"window://{HOST}/now"}
    assert client.quiet()


@pytest.mark.rule("7.9")
async def test_a_new_document_is_a_change_of_the_list(client: Listener, offer: Offer) -> None:
    await client.follow(f"dpe://{HOST}")
    offer.put("climate", "# Climate")
    assert await client.hear(2) == {LISTED, f"dpe://{HOST}"}
    assert f"dpe://{HOST}/climate" in await client.uris()
    offer.remove("climate")
    assert await client.hear(2) == {LISTED, f"dpe://{HOST}"}


@pytest.mark.rule("7.9")
async def test_a_changed_document_is_told_by_the_uris_that_are_followed(client: Listener, offer: Offer) -> None:
    followed = {FORECAST, f"{FORECAST}/pages/0?format=markdown", f"dpe://{HOST}"}
    await client.follow(*followed, f"dpe://{HOST}/other", "dpe://elsewhere/forecast")
    offer.put("forecast", "# Forecast\n\nSun.")
    assert await client.hear(3) == followed
    assert client.quiet()


async def test_who_follows_nothing_is_told_of_the_list_alone(client: Listener, offer: Offer) -> None:
    await client.follow()
    offer.put("forecast", "# Forecast\n\nSun.")
    offer.put("climate", "# Climate")
    assert await client.hear() == {LISTED}
    assert client.quiet()


async def test_changes_may_be_told_from_another_thread(client: Listener, offer: Offer) -> None:
    await client.follow(FORECAST)
    await asyncio.to_thread(offer.put, "forecast", "# Forecast\n\nSnow.")
    assert await client.hear() == {FORECAST}


async def test_unsubscribing_ends_it(offer: Offer) -> None:
    async with connected(offer.server(), "legacy") as client:
        await client.follow(FORECAST, NOW)
        await client.leave(FORECAST)
        offer.put("forecast", "# Forecast\n\nSun.")
        offer.changed("now")
        assert await client.hear() == {NOW}
        assert client.quiet()


async def test_each_connection_hears_what_it_follows(offer: Offer) -> None:
    server = offer.server()
    async with connected(server, "legacy") as one, connected(server, "legacy") as other:
        await one.follow(FORECAST)
        await other.follow(NOW)
        offer.put("forecast", "# Forecast\n\nSun.")
        offer.changed("now")
        assert (await one.hear(), await other.hear()) == ({FORECAST}, {NOW})
        assert one.quiet()
        assert other.quiet()


async def test_a_function_is_asked_again_after_a_change(client: Listener, offer: Offer) -> None:
    versions = iter(("first", "second"))

    @offer.document("log", title="The log", keywords=["a", "b"])
    async def log() -> list[Element]:
        return [Element("txt-1", "text", {"text": next(versions)}, "a line")]

    uri = f"dpe://{HOST}/log/pages/0?format=text"
    assert [await client.text(uri), await client.text(uri)] == ["first", "first"]
    offer.changed("log")
    assert await client.text(uri) == "second"
    document = await client.json(f"dpe://{HOST}/log")
    assert (document["title"], document["keywords"]) == ("The log", ["a", "b"])


async def test_pages_are_numbered_in_their_order(client: Listener, offer: Offer) -> None:
    offer.put("book", [Page(7, "One", (Element("a", "text", {"text": "x"}),)), Page(0, "Two")])
    book = await client.json(f"dpe://{HOST}/book?depth=pages&limit=1&offset=1")
    assert [(page["page_index"], page["title"]) for page in book["pages"]] == [(1, "Two")]


@pytest.mark.rule("3.3")
@pytest.mark.parametrize(
    ("uri", "code", "details"),
    [
        (f"dpe://{HOST}/forcast", 4201, {"doc_ref": "forcast", "nearest": ["forecast"]}),
        ("dpe://elsewhere/forecast", 4201, {"host": "elsewhere"}),
        (f"{FORECAST}/pages/9", 4202, {"doc_ref": "forecast", "page_index": 9, "page_count": 1}),
        (f"{FORECAST}/elements/x", 4203, {"doc_ref": "forecast", "element_id": "x"}),
    ],
)
async def test_what_is_not_there_has_its_code_and_details(
    client: Listener, uri: str, code: int, details: dict[str, object]
) -> None:
    with pytest.raises(MCPError) as caught:
        await client.client.read_resource(uri)
    assert (caught.value.code, caught.value.data) == (code, details)


@pytest.mark.rule("7.1.7")
async def test_a_uri_that_breaks_a_rule_is_4204(client: Listener) -> None:
    with pytest.raises(MCPError) as caught:
        await client.client.read_resource(f"{FORECAST}?limit=0")
    assert caught.value.code == 4204
    assert caught.value.data["rule"] == 7


async def test_a_window_that_is_not_there_is_what_mcp_calls_not_found(client: Listener) -> None:
    with pytest.raises(MCPError) as caught:
        await client.client.read_resource(f"window://{HOST}/gone")
    assert caught.value.code == (-32002 if client.client.protocol_version < "2026" else -32602)


async def test_a_function_that_fails_tells_nothing_of_its_inside(client: Listener, offer: Offer) -> None:
    @offer.window("broken")
    def broken() -> str:
        raise RuntimeError("/home/someone/secret")

    with pytest.raises(MCPError) as caught:
        await client.client.read_resource(f"window://{HOST}/broken")
    assert caught.value.code == t.INTERNAL_ERROR
    assert "secret" not in caught.value.message


async def test_the_server_declares_what_it_can(client: Listener) -> None:
    capabilities = client.client.server_capabilities
    assert capabilities.resources == t.ResourcesCapability(subscribe=True, list_changed=True)
    assert capabilities.completions is not None


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", ["low-level", "MCPServer"])
async def test_a_server_of_ones_own_keeps_what_it_offers(offer: Offer, kind: str, era: str) -> None:
    server = own_low_level() if kind == "low-level" else own_mcp_server(offer)
    offer.attach(server)
    async with connected(server, era) as client:
        assert await client.uris() == [NOW, f"dpe://{HOST}", FORECAST, "note://one"]
        assert (await client.text("note://one"), (await client.json(FORECAST))["title"]) == ("a note", "Forecast")
        await client.follow(FORECAST)
        offer.put("forecast", "# Forecast\n\nSun.")
        assert await client.hear() == {FORECAST}
        with pytest.raises(MCPError):
            await client.client.read_resource("note://two")


async def test_a_window_that_is_closed_is_listed_no_more(client: Listener, offer: Offer) -> None:
    await client.follow()
    offer.close("now")
    offer.close("now")
    assert await client.hear() == {LISTED}
    assert NOW not in await client.uris()


async def test_the_pages_of_a_long_list_of_ones_own_follow(offer: Offer) -> None:
    async def listed(ctx: object, params: t.PaginatedRequestParams | None) -> t.ListResourcesResult:
        number = int((params and params.cursor) or 0)
        resource = t.Resource(uri=f"note://{number}", name="note")
        return t.ListResourcesResult(resources=[resource], next_cursor=str(number + 1) if number < 3 else None)

    async def templates(ctx: object, params: t.PaginatedRequestParams | None) -> t.ListResourceTemplatesResult:
        number = int((params and params.cursor) or 0)
        template = t.ResourceTemplate(uri_template=f"note://{{n}}/{number}", name="note")
        return t.ListResourceTemplatesResult(resource_templates=[template], next_cursor="1" if number == 0 else None)

    async def complete(ctx: object, params: t.CompleteRequestParams) -> t.CompleteResult:
        return t.CompleteResult(completion=t.Completion(values=["mine"]))

    own: Server[object] = Server(
        "own", on_list_resources=listed, on_list_resource_templates=templates, on_completion=complete
    )
    offer.attach(own)
    async with connected(own, "legacy") as client:
        assert (await client.uris())[3:] == [f"note://{number}" for number in range(4)]
        first = await client.client.list_resource_templates()
        second = await client.client.list_resource_templates(cursor=first.next_cursor)
        assert (len(first.resource_templates), len(second.resource_templates)) == (3, 1)
        ref = t.ResourceTemplateReference(uri="note://{n}/0")
        completion = (await client.client.complete(ref, {"name": "n", "value": ""})).completion
        assert completion.values == ["mine"]


def own_low_level() -> Server[object]:
    async def listed(ctx: object, params: object) -> t.ListResourcesResult:
        return t.ListResourcesResult(resources=[t.Resource(uri="note://one", name="one")])

    async def read(ctx: object, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
        if params.uri != "note://one":
            raise MCPError(t.INVALID_PARAMS, "no such note")
        return t.ReadResourceResult(contents=[t.TextResourceContents(uri=params.uri, text="a note")])

    return Server("own", on_list_resources=listed, on_read_resource=read)


def own_mcp_server(offer: Offer) -> MCPServer[object]:
    server: MCPServer[object] = MCPServer("own", subscriptions=offer.bus)

    @server.resource("note://one")
    def one() -> str:
        return "a note"

    return server


async def test_an_offer_without_documents_has_no_catalogue() -> None:
    offer = Offer(HOST)

    @offer.window("now")
    def now() -> str:
        return "12 degrees"

    async with Client(offer.server(), mode="legacy") as client:
        assert [resource.uri for resource in (await client.list_resources()).resources] == [f"window://{HOST}/now"]
        assert (await client.list_resource_templates()).resource_templates == []
