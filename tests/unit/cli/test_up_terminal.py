"""What is typed at the terminal of `a2c up`."""

import asyncio
import os
import termios
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest

from a2c_smcp.cli.up_terminal import Keyboard, TerminalInputs, chosen, input_event
from a2c_smcp.computer.config.models import (
    MCPServerCommandInput,
    MCPServerPickStringInput,
    MCPServerPromptStringInput,
)

KEY = MCPServerPromptStringInput(id="key", description="API key", password=True)
NAME = MCPServerPromptStringInput(id="name", description="")
REGION = MCPServerPickStringInput(id="region", description="Region", options=["eu", "us"])


class Typist:
    """Somebody at a terminal."""

    def __init__(self) -> None:
        self.keys, self._terminal = os.openpty()
        self.stdin = os.fdopen(self._terminal, "r", encoding="utf-8")

    def type(self, text: str) -> None:
        os.write(self.keys, text.encode())

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self._terminal)[3] & termios.ECHO)

    def close(self) -> None:
        self.stdin.close()
        os.close(self.keys)


@pytest.fixture
def typist() -> Iterator[Typist]:
    found = Typist()
    yield found
    found.close()


async def asked_for(typist: Typist, wanted: Any, *lines: str) -> tuple[str | None, list[dict[str, Any]], list[bool]]:
    """Return the value, the events, and whether typing was shown while each was asked."""
    told: list[dict[str, Any]] = []
    shown: list[bool] = []
    typed = iter(lines)

    def tell(event: dict[str, Any]) -> None:
        told.append(event)
        shown.append(typist.echoes)
        typist.type(next(typed))

    inputs = TerminalInputs(tell)
    inputs.ready.set()
    async with asyncio.timeout(10):
        with Keyboard(typist.stdin) as keyboard:
            inputs.keyboard = keyboard
            found = await inputs.find(wanted)
    return found.value.reveal() if found else None, told, shown


async def test_a_password_is_typed_unseen(typist: Typist) -> None:
    value, told, shown = await asked_for(typist, KEY, "s3cret \n")
    assert (value, told, shown, typist.echoes) == ("s3cret ", [input_event(KEY)], [False], True)


async def test_an_option_is_chosen_by_number_or_name_and_asked_for_again(typist: Typist) -> None:
    value, told, shown = await asked_for(typist, REGION, "mars\n", "2\n")
    problem = "type the number or the name of one of the options"
    assert (value, told, shown) == ("us", [input_event(REGION), input_event(REGION, problem)], [True, True])


@pytest.mark.parametrize(
    ("typed", "value"), [("eu", "eu"), (" us ", "us"), ("1", "eu"), ("0", None), ("3", None), ("x", None)]
)
def test_what_is_typed_for_an_option(typed: str, value: str | None) -> None:
    assert chosen(REGION, typed) == value


async def test_the_end_of_the_terminal_is_no_value(typist: Typist) -> None:
    assert (await asked_for(typist, NAME, "\x04"))[0] is None


async def test_a_value_that_comes_from_elsewhere_ends_the_question(typist: Typist) -> None:
    asked = asyncio.Event()
    lines: list[str] = []
    inputs = TerminalInputs(lambda _: asked.set())
    inputs.ready.set()
    acted = asyncio.Event()

    def act(line: str) -> None:
        lines.append(line)
        acted.set()

    with Keyboard(typist.stdin) as keyboard:
        inputs.keyboard = keyboard
        keyboard.act = act
        task = asyncio.create_task(inputs.find(KEY))
        async with asyncio.timeout(10):
            await asked.wait()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert typist.echoes
            typist.type("yes\n")
            await acted.wait()
    assert lines == ["yes\n"]


@pytest.mark.parametrize(
    "wanted",
    [
        MCPServerPromptStringInput(id="a", description="", default="x"),
        MCPServerCommandInput(id="a", description="", command="echo"),
    ],
)
async def test_what_has_a_value_anyway_is_not_asked_for(typist: Typist, wanted: Any) -> None:
    assert await asked_for(typist, wanted) == (None, [], [])


async def test_without_a_terminal_nobody_is_asked() -> None:
    with Keyboard(StringIO()) as keyboard:
        inputs = TerminalInputs(lambda _: pytest.fail("asked"))
        inputs.keyboard = keyboard
        assert await inputs.find(NAME) is None
        assert not keyboard.attended
