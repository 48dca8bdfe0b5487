"""A person is asked late, once for all who wait, and not at all where that is of no use."""

import asyncio

import pytest

from a2c_smcp.computer import MCPServerInput
from a2c_smcp.computer.inputs.sources import CallbackSource, InputValue
from a2c_smcp.computer.inputs.store import Inputs
from tests.unit.computer.inputs.builders import args_of, lines_of, pick, prompt, stdio, variables


class Person:
    """Somebody who is asked, and answers when the test lets them."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.called = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def __call__(self, wanted: MCPServerInput) -> str | None:
        self.asked.append(wanted.id)
        self.called.set()
        await self.may_answer.wait()
        return self.answers.pop(0)


class Careless:
    """A source that gives something else than it should."""

    async def find(self, wanted: MCPServerInput) -> InputValue | None:
        return InputValue("plain text", "a vault")  # type: ignore[arg-type]

    def way(self, wanted: MCPServerInput) -> str | None:
        return None


@pytest.mark.rule("5.2")
async def test_nothing_is_asked_for_before_a_server_needs_it() -> None:
    person = Person("abc")
    person.may_answer.set()
    inputs = Inputs([prompt("a"), prompt("b")], [CallbackSource(person)])
    assert person.asked == []
    assert await args_of(inputs, "${input:b}") == ["abc"]
    assert person.asked == ["b"]


@pytest.mark.rule("5.2")
async def test_a_value_is_asked_for_once_and_kept() -> None:
    person = Person("abc")
    person.may_answer.set()
    inputs = Inputs([prompt("a")], [CallbackSource(person)])
    assert await args_of(inputs, "${input:a}", "${input:a}${input:a}") == ["abc", "abcabc"]
    assert await args_of(inputs, "${input:a}") == ["abc"]
    assert person.asked == ["a"]


async def test_nobody_is_asked_for_a_server_that_cannot_start_anyway() -> None:
    person = Person("abc")
    inputs = Inputs([prompt("a")], [CallbackSource(person)], variables=variables())
    assert await lines_of(inputs, "${input:a}", "${input:b}", "${NONE}", "${file}") == [
        'server_parameters.args[1]: no input has the id "b"; add it to inputs',
        'server_parameters.args[2]: the environment has no variable "NONE"; set it, or write ${NONE:-default}',
        "server_parameters.args[3]: ${file} is known to an editor only; write what it stands for",
    ]
    assert person.asked == []


@pytest.mark.rule("5.2")
async def test_servers_that_start_at_once_ask_a_person_once() -> None:
    person = Person("abc")
    inputs = Inputs([prompt("a")], [CallbackSource(person)])
    starting = [asyncio.create_task(args_of(inputs, "${input:a}")) for _ in range(5)]
    await person.called.wait()
    person.may_answer.set()
    assert await asyncio.gather(*starting) == [["abc"]] * 5
    assert person.asked == ["a"]


async def test_servers_that_start_at_once_share_a_refusal() -> None:
    person = Person(None)
    inputs = Inputs([prompt("a", "")], [CallbackSource(person)])
    starting = [asyncio.create_task(lines_of(inputs, "${input:a}")) for _ in range(3)]
    await person.called.wait()
    person.may_answer.set()
    assert await asyncio.gather(*starting) == [['input "a" has no value; give it a default']] * 3
    assert person.asked == ["a"]


async def test_one_server_that_stops_does_not_take_the_question_from_another() -> None:
    person = Person("abc")
    inputs = Inputs([prompt("a")], [CallbackSource(person)])
    first = asyncio.create_task(args_of(inputs, "${input:a}"))
    second = asyncio.create_task(args_of(inputs, "${input:a}"))
    await person.called.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    person.may_answer.set()
    assert await second == ["abc"]
    assert person.asked == ["a"]


async def test_a_question_ends_when_the_last_server_that_needs_it_stops() -> None:
    person = Person("old", "new")
    inputs = Inputs([prompt("a")], [CallbackSource(person)])
    starting = asyncio.create_task(args_of(inputs, "${input:a}"))
    await person.called.wait()
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    person.may_answer.set()
    assert await args_of(inputs, "${input:a}") == ["old"]
    assert person.asked == ["a", "a"]


async def test_a_question_that_breaks_off_by_itself_is_told() -> None:
    async def broken(wanted: MCPServerInput) -> str | None:
        raise asyncio.CancelledError

    inputs = Inputs([prompt("a", "")], [CallbackSource(broken)])
    async with asyncio.timeout(60):
        assert await lines_of(inputs, "${input:a}") == ['input "a": the lookup was cancelled; start the server again']


async def test_a_source_that_gives_no_secret_keeps_nobody_waiting() -> None:
    inputs = Inputs([prompt("a")], [Careless()])
    async with asyncio.timeout(60):
        with pytest.raises(AttributeError):
            await inputs.resolve(stdio("${input:a}"))


@pytest.mark.rule("5.2")
async def test_a_value_set_by_hand_answers_the_question() -> None:
    person = Person("typed")
    inputs = Inputs([prompt("a")], [CallbackSource(person)])
    starting = asyncio.create_task(args_of(inputs, "${input:a}"))
    await person.called.wait()
    inputs.set("a", "by hand")
    assert await starting == ["by hand"]
    assert await args_of(inputs, "${input:a}") == ["by hand"]


async def test_an_answer_that_comes_after_all_does_not_replace_what_was_set_by_hand() -> None:
    class Stubborn(Person):
        async def __call__(self, wanted: MCPServerInput) -> str | None:
            try:
                return await super().__call__(wanted)
            except asyncio.CancelledError:
                return "typed"

    person = Stubborn()
    inputs = Inputs([prompt("a")], [CallbackSource(person)])
    starting = asyncio.create_task(args_of(inputs, "${input:a}"))
    await person.called.wait()
    inputs.set("a", "by hand")
    assert await starting == ["by hand"]
    assert await args_of(inputs, "${input:a}") == ["by hand"]


async def test_an_answer_to_a_question_that_has_changed_meanwhile_is_not_kept() -> None:
    person = Person("abc")
    inputs = Inputs([prompt("a")], [CallbackSource(person)])
    starting = asyncio.create_task(args_of(inputs, "${input:a}"))
    await person.called.wait()
    inputs.configure([pick("a")])
    person.may_answer.set()
    assert await starting == ["abc"]
    assert [state.source for state in inputs.list()] == [None]
    assert inputs.redact("Wrong: 'abc'") == "Wrong: 'abc'"


async def test_an_input_that_goes_while_another_is_asked_for_is_told() -> None:
    person = Person("abc")
    inputs = Inputs([prompt("a"), prompt("b")], [CallbackSource(person)])
    starting = asyncio.create_task(lines_of(inputs, "${input:a}${input:b}"))
    await person.called.wait()
    inputs.configure([prompt("a")])
    person.may_answer.set()
    assert await starting == ['no input has the id "b"; add it to inputs']
