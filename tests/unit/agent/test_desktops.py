"""Desktops of an office in one text."""

from a2c_smcp.agent.desktops import render_context
from a2c_smcp.errors import NotFound
from a2c_smcp.smcp import SessionInfo


class Office:
    """Computers with the windows they show; one without any is gone."""

    def __init__(self, **windows: list[str] | None) -> None:
        self.windows = windows

    async def list_room(self) -> list[SessionInfo]:
        members = [SessionInfo(name=name, role="computer") for name in self.windows]
        return [*members, SessionInfo(name="me", role="agent")]

    async def get_desktop(self, computer: str) -> list[str]:
        desktop = self.windows[computer]
        if desktop is None:
            raise NotFound(f"No computer {computer!r}")
        return desktop


async def test_each_window_says_where_it_is_from_and_high_priority_comes_first() -> None:
    office = Office(
        desk=["window://mail/inbox?priority=10\n\n2 new", "window://log\n\nok"],
        lab=["window://web/main?priority=80\n\n<html>"],
    )
    assert await render_context(office, 1_000) == (
        '<window computer="lab" server="web" uri="window://web/main?priority=80">\n<html>\n</window>\n\n'
        '<window computer="desk" server="mail" uri="window://mail/inbox?priority=10">\n2 new\n</window>\n\n'
        '<window computer="desk" server="log" uri="window://log">\nok\n</window>'
    )


async def test_a_computer_that_does_not_answer_is_named() -> None:
    text = await render_context(Office(desk=["window://log\n\nok"], lab=None), 1_000)
    assert text.endswith("</window>\n\n(No answer from: lab.)")


async def test_only_the_computers_asked_for_are_shown() -> None:
    office = Office(desk=["window://a\n\n1"], lab=["window://b\n\n2"])
    assert 'computer="desk"' not in await render_context(office, 1_000, computers=["lab"])


async def test_an_office_without_windows_is_an_empty_text() -> None:
    assert await render_context(Office(desk=[]), 1_000) == ""
