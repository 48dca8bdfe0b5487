"""Questions at a terminal: a real one, with the test at its other end."""

import asyncio
import os
import termios
from collections.abc import Iterator

import pytest

from a2c_smcp.computer import MCPServerInput
from a2c_smcp.computer.inputs.prompt import PromptSource, is_attended
from a2c_smcp.computer.inputs.secret import Secret
from a2c_smcp.computer.inputs.sources import InputValue
from tests.unit.computer.inputs.builders import command, pick, prompt


class Person:
    """The other end of a terminal: reads what is asked, and types."""

    def __init__(self, end: int) -> None:
        self.end = end
        self.seen = ""

    async def sees(self, text: str) -> None:
        """Wait until a text has been shown."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(60):
            while text not in self.seen:
                ready = asyncio.Event()
                loop.add_reader(self.end, ready.set)
                try:
                    await ready.wait()
                finally:
                    loop.remove_reader(self.end)
                self.seen += os.read(self.end, 4096).decode()

    async def types(self, text: str) -> None:
        os.write(self.end, text.encode())


@pytest.fixture
def terminal() -> Iterator[tuple[Person, PromptSource]]:
    outer, inner = os.openpty()
    yield Person(outer), PromptSource(inner, inner)
    os.close(outer)
    os.close(inner)


async def conversation(terminal: tuple[Person, PromptSource], wanted: MCPServerInput, *turns: str) -> InputValue | None:
    """Return what was found after a person waited for each text and typed what follows it."""
    person, source = terminal
    asking = asyncio.create_task(source.find(wanted))
    for shown, typed in zip(turns[::2], turns[1::2], strict=True):
        await person.sees(shown)
        person.seen = person.seen.partition(shown)[2]
        await person.types(typed)
    async with asyncio.timeout(60):
        return await asking


async def test_what_is_typed_is_the_value(terminal: tuple[Person, PromptSource]) -> None:
    found = await conversation(terminal, prompt(), "The key (input key): ", "a b\n")
    assert found == InputValue(Secret("a b"), "a person")


async def test_a_value_is_typed_in_any_language(terminal: tuple[Person, PromptSource]) -> None:
    assert await conversation(terminal, prompt(), ": ", "密钥\n") == InputValue(Secret("密钥"), "a person")


async def test_an_input_without_description_is_asked_for_by_its_id(terminal: tuple[Person, PromptSource]) -> None:
    assert await conversation(terminal, prompt(description=""), "key: ", "abc\n") == InputValue(
        Secret("abc"), "a person"
    )


@pytest.mark.parametrize(("default", "value"), [("eu-1", "eu-1"), (None, "")])
async def test_nothing_typed_is_the_default(
    default: str | None, value: str, terminal: tuple[Person, PromptSource]
) -> None:
    shown = " [eu-1]: " if default else "(input key): "
    assert await conversation(terminal, prompt(default=default), shown, "\n") == InputValue(Secret(value), "a person")


@pytest.mark.rule("5.2")
async def test_a_password_is_not_shown_while_it_is_typed(terminal: tuple[Person, PromptSource]) -> None:
    person, source = terminal
    asking = asyncio.create_task(source.find(prompt(password=True)))
    await person.sees("(input key): ")
    await person.types("pl4nted\n")
    assert await asking == InputValue(Secret("pl4nted"), "a person")
    await person.types("done\n")
    await person.sees("done")
    assert "pl4nted" not in person.seen


async def test_the_default_of_a_password_is_not_shown(terminal: tuple[Person, PromptSource]) -> None:
    person, _ = terminal
    found = await conversation(terminal, prompt(password=True, default="pl4nted"), "[Enter for the default]: ", "\n")
    assert found == InputValue(Secret("pl4nted"), "a person")
    assert "pl4nted" not in person.seen


@pytest.mark.rule("5.2")
@pytest.mark.parametrize(("typed", "value"), [("2\n", "firefox"), ("firefox\n", "firefox"), (" 1 \n", "chrome")])
async def test_an_option_is_picked_by_number_or_name(
    typed: str, value: str, terminal: tuple[Person, PromptSource]
) -> None:
    shown = "The browser (input browser):\r\n  1) chrome\r\n  2) firefox\r\nNumber or name: "
    assert await conversation(terminal, pick(), shown, typed) == InputValue(Secret(value), "a person")


async def test_the_name_of_an_option_goes_before_its_number(terminal: tuple[Person, PromptSource]) -> None:
    assert await conversation(terminal, pick("n", "2", "1"), "name: ", "1\n") == InputValue(Secret("1"), "a person")


async def test_nothing_picked_is_the_default(terminal: tuple[Person, PromptSource]) -> None:
    found = await conversation(terminal, pick(default="firefox"), "Number or name [firefox]: ", "\n")
    assert found == InputValue(Secret("firefox"), "a person")


async def test_what_is_no_option_is_asked_for_again(terminal: tuple[Person, PromptSource]) -> None:
    again = "Please give a number from 1 to 2.\r\nNumber or name: "
    turns = ("name: ", "3\n", again, "\n", again, "²\n", again, "2\n")
    assert await conversation(terminal, pick(), *turns) == InputValue(Secret("firefox"), "a person")


@pytest.mark.parametrize("wanted", [prompt(password=True), pick()], ids=["password", "pick"])
async def test_a_question_can_be_turned_down(wanted: MCPServerInput, terminal: tuple[Person, PromptSource]) -> None:
    assert await conversation(terminal, wanted, ": ", "\x04") is None


async def test_questions_come_one_at_a_time(terminal: tuple[Person, PromptSource]) -> None:
    person, source = terminal
    asking = asyncio.gather(source.find(prompt("one")), source.find(prompt("two")))
    await person.sees("(input one): ")
    await person.types("1\n")
    await person.sees("(input two): ")
    assert "two" not in person.seen.partition("1\r\n")[0]
    await person.types("2\n")
    assert [*await asking] == [InputValue(Secret("1"), "a person"), InputValue(Secret("2"), "a person")]


async def test_lines_pasted_at_once_answer_one_question_after_the_other(terminal: tuple[Person, PromptSource]) -> None:
    person, source = terminal
    await person.types("1\n2\n")
    assert [await source.find(prompt("one")), await source.find(prompt("two"))] == [
        InputValue(Secret("1"), "a person"),
        InputValue(Secret("2"), "a person"),
    ]


async def test_whoever_stops_waiting_leaves_the_terminal_as_it_was(terminal: tuple[Person, PromptSource]) -> None:
    person, source = terminal
    before = termios.tcgetattr(person.end)
    asking = asyncio.create_task(source.find(prompt(password=True)))
    await person.sees(": ")
    assert termios.tcgetattr(person.end) != before
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert termios.tcgetattr(person.end) == before
    assert await conversation(terminal, prompt(), "key): ", "abc\n") == InputValue(Secret("abc"), "a person")


async def test_nothing_in_a_configuration_drives_the_terminal(terminal: tuple[Person, PromptSource]) -> None:
    person, _ = terminal
    wanted = prompt(description="\x1b[2Jclear\n", default="\x1b]0;title\x07")
    await conversation(terminal, wanted, ": ", "abc\n")
    assert "\x1b" not in person.seen


async def test_without_a_terminal_nobody_is_asked() -> None:
    reads, writes = os.pipe()
    try:
        assert await PromptSource(reads, writes).find(prompt()) is None
        assert not is_attended(reads, writes)
    finally:
        os.close(reads)
        os.close(writes)


def test_a_person_is_there_when_both_ends_are_a_terminal() -> None:
    outer, inner = os.openpty()
    try:
        assert is_attended(inner, inner)
    finally:
        os.close(outer)
        os.close(inner)


async def test_nobody_is_asked_for_what_a_command_gives(terminal: tuple[Person, PromptSource]) -> None:
    assert await terminal[1].find(command("true")) is None


def test_a_terminal_is_a_way_to_give_a_value() -> None:
    assert PromptSource().way(prompt()) == "start from a terminal and type it"
    assert PromptSource().way(command("true")) is None
