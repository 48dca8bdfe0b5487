"""The grammar of the Computer's shell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.cli.computer_line import Kind, LineArgument, Verb, Words, offers, parse_line, take
from a2c_smcp.cli.computer_owner import Owner
from a2c_smcp.cli.computer_verbs import VERBS
from a2c_smcp.cli.parsing import UsageError


async def nothing(_: Owner, __: Words) -> None:
    """A handler that is not called."""


TABLE = (
    Verb("call", "Run.", nothing, (LineArgument("tool", "tool"), LineArgument("json", optional=True, rest=True))),
    Verb("server stop", "Stop.", nothing, (LineArgument("name", "server"),)),
    Verb("inputs list", "List.", nothing),
    Verb("inputs set", "Set.", nothing, (LineArgument("id", "input"), LineArgument("how", choices=("once", "always")))),
)


@pytest.mark.parametrize(
    ("line", "name", "words"),
    [
        ("call echo", "call", {"tool": "echo"}),
        ('  call  echo   {"a":  "b c"} ', "call", {"tool": "echo", "json": '{"a":  "b c"}'}),
        ("server stop 'my server'", "server stop", {"name": "my server"}),
        ('server stop "it\'s"', "server stop", {"name": "it's"}),
        ("server stop 'open", "server stop", {"name": "'open"}),
        ("inputs", "inputs list", {}),
        ("inputs set key once", "inputs set", {"id": "key", "how": "once"}),
    ],
)
def test_a_line_is_a_row_and_its_words(line: str, name: str, words: dict[str, str]) -> None:
    order = parse_line(line, TABLE)
    assert (order.verb.name, order.words) == (name, words)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("cal echo", "unknown command 'cal'; did you mean 'call'?"),
        ("", "unknown command ''"),
        ("call", "TOOL is missing: call TOOL [JSON]"),
        ("server", "server needs one of stop"),
        ("server sotp x", "server has no command 'sotp'; did you mean 'stop'?"),
        ("server stop a s3cret", "there is too much on the line: server stop NAME"),
        ("inputs set key onse", "'onse' is not one of once, always; did you mean 'once'?"),
    ],
)
def test_a_mistake_is_told_in_words(line: str, message: str) -> None:
    with pytest.raises(UsageError) as told:
        parse_line(line, TABLE)
    assert str(told.value) == message


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("", ("", ["call", "inputs", "server"])),
        ("se", ("se", ["server"])),
        ("inputs ", ("", ["list", "set"])),
        ("inputs s", ("s", ["set"])),
        ("server stop ", ("", ["server-1", "server-2"])),
        ("call too", ("too", ["tool-1", "tool-2"])),
        ("inputs set key ", ("", ["always", "once"])),
        ("inputs set key once ", ("", [])),
        ("call echo {", ("{", [])),
        ("nothing ", ("", [])),
    ],
)
def test_completion_offers_commands_and_the_names_they_take(line: str, offered: tuple[str, list[str]]) -> None:
    def names(kind: Kind) -> list[str]:
        return [f"{kind}-1", f"{kind}-2"]

    assert offers(line, TABLE, names) == offered


@given(st.text(alphabet=st.characters(blacklist_categories=["Z", "C"]), min_size=1).filter(lambda t: "'" not in t))
def test_a_word_in_quotes_is_that_word(word: str) -> None:
    assert take(f"'{word} x' rest") == (f"{word} x", "rest")


def test_every_command_has_a_name_of_its_own_and_help() -> None:
    assert len({verb.name for verb in VERBS}) == len(VERBS)
    assert [verb.name for verb in VERBS if not verb.help.endswith(".")] == []


def test_only_the_last_place_takes_the_rest_of_a_line() -> None:
    assert [verb.name for verb in VERBS for place in verb.places[:-1] if place.rest] == []
