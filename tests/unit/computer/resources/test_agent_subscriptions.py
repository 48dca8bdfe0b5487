"""Subscriptions of an Agent: bounded, of one Agent at a time, reported in few messages."""

import pytest

from a2c_smcp.computer.ports import ServerState
from a2c_smcp.computer.resources.agent_subscriptions import MAX_REPORTED, MAX_URI, MAX_WATCHED, AgentSubscriptions
from a2c_smcp.errors import BadRequest, NotFound, RateLimited, ToolFailed
from tests.unit.computer.resource_servers import FakeServer


class Servers:
    """Two servers; URIs of the first begin with `one:`."""

    def __init__(self) -> None:
        self.by_name = {name: FakeServer(name) for name in ("one", "two")}
        self.reports = 0
        self.watches = AgentSubscriptions(self, self._find, self._report)

    def get(self, name: str) -> FakeServer | None:
        return self.by_name.get(name)

    def all(self) -> dict[str, FakeServer]:
        return self.by_name

    async def _find(self, uri: str) -> str:
        return "one" if uri.startswith("one:") else "two"

    def _report(self) -> None:
        self.reports += 1


@pytest.mark.rule("10.6.updates")
async def test_only_what_the_agent_subscribed_to_is_reported_once_for_many_updates() -> None:
    servers = Servers()
    assert await servers.watches.subscribe("agent", "one://a") == "one"
    for _ in range(5):
        servers.watches.updated("one", "one://a")
    servers.watches.updated("one", "one://b")
    servers.watches.updated("two", "one://a")
    servers.watches.list_changed("two")
    assert servers.watches.take() == [
        {"mcp_server": "one", "uris": ["one://a"]},
        {"mcp_server": "two", "list_changed": True},
    ]
    assert servers.watches.take() == []
    assert servers.by_name["one"].watched == ["one://a"]


async def test_a_part_of_what_is_subscribed_to_counts_as_that() -> None:
    servers = Servers()
    for uri in ("one://a", "one://dir/"):
        await servers.watches.subscribe("agent", uri)
    for uri in ("one://a/b/c", "one://ab", "one://dir/x"):
        servers.watches.updated("one", uri)
    assert servers.watches.take() == [{"mcp_server": "one", "uris": ["one://a", "one://dir/"]}]


async def test_what_could_not_be_sent_is_reported_again() -> None:
    servers = Servers()
    await servers.watches.subscribe("agent", "one://a")
    servers.watches.updated("one", "one://a")
    servers.watches.list_changed("one")
    reports = servers.watches.take()
    servers.watches.restore(reports)
    assert servers.watches.take() == reports


async def test_a_report_has_a_bounded_number_of_uris() -> None:
    servers = Servers()
    for number in range(MAX_REPORTED + 1):
        await servers.watches.subscribe("agent", f"one://{number}")
        servers.watches.updated("one", f"one://{number}")
    assert [len(report["uris"]) for report in servers.watches.take()] == [MAX_REPORTED, 1]


async def test_an_agent_has_a_bounded_number_of_subscriptions() -> None:
    servers = Servers()
    for number in range(MAX_WATCHED):
        await servers.watches.subscribe("agent", f"one://{number}")
    await servers.watches.subscribe("agent", "one://0")
    with pytest.raises(RateLimited, match="subscriptions per agent"):
        await servers.watches.subscribe("agent", "one://more")
    with pytest.raises(BadRequest, match="characters"):
        await servers.watches.subscribe("agent", "one://" + "x" * MAX_URI)
    await servers.watches.unsubscribe("agent", "one://0")
    assert await servers.watches.subscribe("agent", "one://more") == "one"


async def test_the_subscriptions_of_an_agent_end_with_the_first_of_another() -> None:
    servers = Servers()
    await servers.watches.subscribe("first", "one://a")
    await servers.watches.subscribe("second", "two://b")
    await servers.watches.unsubscribe("first", "two://b")
    assert (servers.by_name["one"].watched, servers.by_name["two"].watched) == ([], ["two://b"])


async def test_what_a_server_refuses_is_not_subscribed_to() -> None:
    servers = Servers()
    servers.by_name["one"].broken["watch"] = BadRequest("no subscriptions here")
    with pytest.raises(BadRequest, match="no subscriptions here"):
        await servers.watches.subscribe("agent", "one://a")
    servers.by_name["one"].become(state=ServerState.FAILED)
    with pytest.raises(ToolFailed):
        await servers.watches.subscribe("agent", "one://a")
    with pytest.raises(NotFound):
        await servers.watches.subscribe("agent", "one://a", "three")
    servers.watches.updated("one", "one://a")
    assert servers.watches.take() == []


async def test_a_server_that_is_configured_anew_is_subscribed_to_again() -> None:
    servers = Servers()
    await servers.watches.subscribe("agent", "one://a")
    servers.by_name["one"] = anew = FakeServer("one")
    servers.watches.status_changed("one")
    await servers.watches.settled()
    assert anew.watched == ["one://a"]
