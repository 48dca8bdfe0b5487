import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from a2c_smcp.agent.events import OfficeEvent
from a2c_smcp.bridge.office_catalog import OfficeCatalog
from a2c_smcp.bridge.office_watcher import OfficeWatcher
from tests.unit.bridge.fakes import FakeComputer, FakeOffice

BOARD = "a2c://desk/window/board"


class Told:
    """What was told, in place of clients."""

    def __init__(self, watcher: OfficeWatcher, *subscribed: str) -> None:
        self.events: list[str] = []
        self._watcher = watcher
        watcher.notifier._streamed.update(subscribed)
        watcher.notifier.bus.subscribe(lambda event: self.events.append(getattr(event, "uri", type(event).__name__)))

    async def of(self, *events: tuple[str, str]) -> list[str]:
        """Tell events of the office, and return what clients are told once all is quiet."""
        if events:
            self.events.clear()
        for kind, computer in events:
            await self._watcher.on_event(OfficeEvent(kind, computer or None))
        async with asyncio.timeout(60):
            while self._watcher._working:
                await asyncio.wait(list(self._watcher._working.values()))
        return self.events


def resources(*uris: str) -> dict[str, list[list[dict[str, Any]]]]:
    return {"a": [[{"uri": uri, "name": uri} for uri in uris]]}


@pytest.fixture
def office() -> FakeOffice:
    return FakeOffice(desk=FakeComputer(resources=resources("window://board"), desktop=["window://board\n\none"]))


@pytest.fixture
async def watcher(office: FakeOffice) -> AsyncIterator[OfficeWatcher]:
    directory = OfficeCatalog(office)
    await directory.all_listed()
    await directory.desktops.of("desk")
    watching = OfficeWatcher(office, directory, burst=0)
    yield watching
    await watching.close()


async def test_a_burst_of_changes_is_told_once(watcher: OfficeWatcher) -> None:
    assert await Told(watcher).of(*[("update_tool_list", "desk")] * 20) == ["ToolsListChanged"]


async def test_only_the_window_that_changed_is_told(watcher: OfficeWatcher, office: FakeOffice) -> None:
    office.computers["desk"].desktop = ["window://board\n\none", "window://clock\n\n12:00"]
    office.computers["desk"].resources = resources("window://board", "window://clock")
    told = Told(watcher, BOARD, "a2c://desk/window/clock", "a2c://laptop/window/board")
    assert await told.of(("update_desktop", "desk")) == ["a2c://desk/window/clock", "ResourcesListChanged"]
    office.computers["desk"].desktop = ["window://board\n\ntwo", "window://clock\n\n12:00"]
    assert await told.of(("update_desktop", "desk")) == [BOARD]


async def test_a_change_that_nobody_can_see_may_be_in_the_list(watcher: OfficeWatcher, office: FakeOffice) -> None:
    office.computers["desk"].resources = resources("window://board", "window://hidden")
    assert await Told(watcher).of(("update_desktop", "desk")) == ["ResourcesListChanged"]


async def test_documents_are_told_to_all_their_subscribers(watcher: OfficeWatcher) -> None:
    told = Told(watcher, "dpe://h/d", "a2c://desk/dpe/h/d/pages/1", "a2c://laptop/dpe/h/d", BOARD)
    assert await told.of(("update_finder", "desk")) == ["a2c://desk/dpe/h/d/pages/1", "dpe://h/d"]


async def test_a_configuration_without_consequences_is_not_told(watcher: OfficeWatcher) -> None:
    assert await Told(watcher).of(("update_config", "desk")) == []


@pytest.mark.parametrize("kind", ["enter_office", "leave_office"])
async def test_a_computer_that_comes_or_goes_changes_everything_of_it(watcher: OfficeWatcher, kind: str) -> None:
    told = await Told(watcher, BOARD).of((kind, "desk"))
    assert told == ["ToolsListChanged", "ResourcesListChanged", BOARD]


async def test_after_a_lost_seat_everything_may_have_changed(watcher: OfficeWatcher) -> None:
    watcher.missed = True
    told = Told(watcher, BOARD)
    assert await told.of(("joined", "")) == ["ToolsListChanged", "ResourcesListChanged", BOARD]
    assert await told.of(("joined", "")) == []


async def test_the_first_seat_is_no_news(watcher: OfficeWatcher) -> None:
    assert await Told(watcher, BOARD).of(("joined", "")) == []


async def test_an_agent_that_comes_changes_nothing(watcher: OfficeWatcher) -> None:
    assert await Told(watcher).of(("enter_office", ""), ("connected", "")) == []


async def test_a_list_that_changed_unannounced_is_told_when_somebody_sees_it(
    watcher: OfficeWatcher, office: FakeOffice
) -> None:
    told = Told(watcher)
    office.computers["desk"].resources = resources("window://board", "x://new")
    watcher._catalog.listed.drop("desk")
    await watcher._catalog.all_listed()
    assert await told.of() == ["ResourcesListChanged"]


async def test_a_computer_that_cannot_be_asked_stops_nothing(watcher: OfficeWatcher, office: FakeOffice) -> None:
    del office.computers["desk"]
    told = Told(watcher)
    assert await told.of(("update_desktop", "desk")) == []
    assert await told.of(("update_tool_list", "desk")) == ["ToolsListChanged"]
