import asyncio
from typing import Any

import pytest

from a2c_smcp.bridge.office_catalog import ComputerResources, OfficeCatalog
from a2c_smcp.errors import NotFound, RequestTimeout
from tests.unit.bridge.fakes import FakeComputer, FakeOffice, tool


def resource(uri: str) -> dict[str, Any]:
    return {"uri": uri, "name": uri}


def template(uri: str) -> dict[str, Any]:
    return {"uriTemplate": uri, "name": uri}


async def test_every_page_of_every_server_is_listed() -> None:
    pages = [[resource("x://1"), resource("x://2")], [resource("y://3")]]
    desk = FakeComputer(resources={"a": pages, "b": [[resource("x://1")]]}, templates={"b": [[template("z://{n}")]]})
    assert await OfficeCatalog(FakeOffice(desk=desk)).all_listed() == {
        "desk": ComputerResources(
            {
                (server, uri): resource(uri)
                for server, uri in (("a", "x://1"), ("a", "x://2"), ("a", "y://3"), ("b", "x://1"))
            },
            {("b", "z://{n}"): template("z://{n}")},
            frozenset({"x://1", "x://2", "y://3"}),
        )
    }


async def test_what_has_no_uri_is_passed_over() -> None:
    desk = FakeComputer(resources={"a": [[{"name": "x"}, {"uri": 3}, {"uri": ""}, resource("x://1")]]})
    assert list((await OfficeCatalog(FakeOffice(desk=desk)).all_listed())["desk"].resources) == [("a", "x://1")]


async def test_an_office_that_is_empty_is_logged_once_until_somebody_comes(caplog: pytest.LogCaptureFixture) -> None:
    office = FakeOffice()
    directory = OfficeCatalog(office)
    for _ in range(3):
        assert await directory.computers() == []
        directory.drop()
    office.computers["desk"] = FakeComputer()
    await directory.computers()
    del office.computers["desk"]
    directory.drop()
    await directory.computers()
    assert [record.getMessage() for record in caplog.records] == 2 * [
        "office has no Computer yet: check its name if one is expected"
    ]


async def test_a_computer_that_does_not_answer_hides_no_other() -> None:
    office = FakeOffice(desk=FakeComputer([tool("a")]), laptop=FakeComputer(problem=RequestTimeout()))
    assert await OfficeCatalog(office).all_tools() == {"desk": [tool("a")], "laptop": []}


async def test_the_last_answer_holds_for_a_computer_that_is_silent() -> None:
    office = FakeOffice(desk=FakeComputer([tool("a")]))
    directory = OfficeCatalog(office)
    await directory.all_tools()
    directory.tools.drop("desk")
    office.computers["desk"].problem = RequestTimeout()
    assert await directory.all_tools() == {"desk": [tool("a")]}


async def test_many_who_ask_at_once_ask_once_and_later_nobody() -> None:
    office = FakeOffice(desk=FakeComputer([tool("a")]))
    directory = OfficeCatalog(office)
    await asyncio.gather(*(directory.all_tools() for _ in range(10)))
    await directory.all_tools()
    assert office.asked.count(("tools", "desk")) == 1


async def test_resources_are_listed_anew_when_the_list_is_old() -> None:
    office = FakeOffice(desk=FakeComputer(resources={"a": [[resource("x://1")]]}))
    directory = OfficeCatalog(office, fresh=0)
    await directory.all_listed()
    await directory.all_listed()
    assert office.asked.count(("config", "desk")) == 2


async def test_what_follows_another_answer_is_told() -> None:
    office = FakeOffice(desk=FakeComputer(desktop=["one"]))
    directory = OfficeCatalog(office)
    told: list[Any] = []
    directory.desktops.changed = lambda *change: told.append(change)
    await directory.desktops.of("desk")
    office.computers["desk"].desktop = ["two"]
    directory.desktops.drop("desk")
    await directory.desktops.of("desk")
    assert told == [("desk", ["one"], ["two"])]


async def test_an_answer_from_before_a_change_is_not_kept() -> None:
    class Slow(FakeOffice):
        async def get_tools(self, computer: str) -> Any:
            found = await super().get_tools(computer)
            await self.gate.wait()  # type: ignore[union-attr]
            return list(found)

    office = Slow(desk=FakeComputer([tool("old")]))
    office.gate = asyncio.Event()
    directory = OfficeCatalog(office)
    first = asyncio.ensure_future(directory.tools.of("desk"))
    while not office.asked:
        await asyncio.sleep(0)
    office.computers["desk"].tools = [tool("new")]
    directory.tools.drop("desk")
    second = asyncio.ensure_future(directory.tools.of("desk"))
    office.gate.set()
    assert (await first, await second, directory.tools.known("desk")) == ([tool("old")], [tool("new")], [tool("new")])


async def test_a_computer_that_left_is_asked_for_no_more() -> None:
    office = FakeOffice(desk=FakeComputer())
    directory = OfficeCatalog(office)
    assert await directory.computers() == ["desk"]
    del office.computers["desk"]
    directory.came_or_went("desk")
    assert (await directory.computers(), await directory.all_tools()) == ([], {})


async def test_asking_that_fails_is_told_to_who_asked_and_tried_again() -> None:
    office = FakeOffice()
    directory = OfficeCatalog(office)
    with pytest.raises(NotFound):
        await directory.tools.of("desk")
    office.computers["desk"] = FakeComputer([tool("a")])
    assert await directory.tools.of("desk") == [tool("a")]


async def test_a_server_that_lists_in_circles_is_left() -> None:
    class Circle(FakeOffice):
        async def get_resources(self, computer: str, mcp_server: str, cursor: str | None = None) -> Any:
            return {"resources": [resource(f"x://{cursor}")], "next_cursor": "again"}

    office = Circle(desk=FakeComputer(resources={"a": [[]]}))
    assert list((await OfficeCatalog(office).all_listed())["desk"].resources) == [("a", "x://None"), ("a", "x://again")]


async def test_a_server_that_lists_without_end_is_left() -> None:
    class Endless(FakeOffice):
        async def get_resources(self, computer: str, mcp_server: str, cursor: str | None = None) -> Any:
            return {"resources": [], "next_cursor": str(int(cursor or 0) + 1)}

    office = Endless(desk=FakeComputer(resources={"a": [[]]}))
    assert (await OfficeCatalog(office).all_listed())["desk"].resources == {}


async def test_nothing_is_kept_of_a_computer_that_left() -> None:
    office = FakeOffice(desk=FakeComputer([tool("a")]), lab=FakeComputer([tool("b")]))
    directory = OfficeCatalog(office)
    await directory.all_tools()
    del office.computers["desk"]
    directory.came_or_went("desk")
    assert directory.tools.known("desk") is None
    del office.computers["lab"]
    directory.drop()  # the connection was lost, and with it the news that it left
    await directory.computers()
    assert directory.tools.known("lab") is None
