from argparse import Namespace
from typing import Any

import pytest

from a2c_smcp.cli.command import Argument, Command, Context
from a2c_smcp.cli.parsing import CommandMissing, UsageError, nearest, parse, positive, usage


def handler(_: Context, __: Namespace) -> Any:
    return None


CREATE = Command("create", "Create.", handler)
TOKEN = Command("token", "Tokens.", commands=(CREATE,))
READ = Command(
    "read",
    "Read.",
    handler,
    (
        Argument("file", "A file.", many=True),
        Argument("--level", "How far.", choices=("low", "high"), default="low"),
        Argument("--dry-run", "Do nothing.", flag=True),
        Argument("--limit", "How many.", metavar="N", convert=positive, default=3),
    ),
)
MANY = Command("many", "Several to one.", handler, (Argument("file", "", many=True), Argument("to", "")))
COPY = Command("copy", "Copy.", handler, (Argument("file", "From."), Argument("to", "To.")))
SHELL = Command("shell", "Choose.", handler, (Argument("name", "Which.", choices=("bash", "zsh")),))
WAIT = Command("wait", "Wait.", handler, (Argument("seconds", "How long.", convert=positive),))
SIGN = Command(
    "sign", "Sign.", handler, (Argument("--role", "Who.", required=True), Argument("--key", "With.", many=True))
)
COMMANDS = (READ, TOKEN, MANY, COPY, SHELL, WAIT, SIGN)


def test_arguments_come_with_their_defaults() -> None:
    invocation = parse(["read", "a", "b"], COMMANDS)
    assert invocation.path == (READ,)
    assert vars(invocation.arguments) == {
        "file": ["a", "b"],
        "level": "low",
        "dry_run": False,
        "limit": 3,
        "json": False,
    }


def test_options_may_stand_between_positional_arguments() -> None:
    arguments = parse(["read", "a", "--dry-run", "b", "--limit", "9"], COMMANDS).arguments
    assert (arguments.file, arguments.dry_run, arguments.limit) == (["a", "b"], True, 9)


def test_what_follows_two_dashes_is_no_option() -> None:
    assert parse(["read", "--", "--limit"], COMMANDS).arguments.file == ["--limit"]


def test_an_argument_that_takes_many_leaves_the_places_after_it() -> None:
    arguments = parse(["many", "a", "b", "c"], COMMANDS).arguments
    assert (arguments.file, arguments.to) == (["a", "b"], "c")


def test_an_option_that_takes_many_collects_them() -> None:
    arguments = parse(["sign", "--role", "r", "--key", "a", "b", "--key", "c"], COMMANDS).arguments
    assert arguments.key == ["a", "b", "c"]


def test_an_option_that_is_required_must_be_given() -> None:
    with pytest.raises(UsageError, match="--role"):
        parse(["sign"], COMMANDS)


def test_help_does_not_ask_for_required_options() -> None:
    assert parse(["sign", "--help"], COMMANDS).help


def test_usage_shows_what_is_required_and_what_takes_many() -> None:
    assert usage((SIGN,)) == "a2c sign --role ROLE [--key KEY...] [--json]"


def test_a_lone_dash_is_no_option() -> None:
    assert parse(["read", "-"], COMMANDS).arguments.file == ["-"]


def test_help_is_found_even_when_arguments_are_missing() -> None:
    assert parse(["read", "--help"], COMMANDS).help


def test_the_help_of_a_noun_leads_to_its_commands() -> None:
    invocation = parse(["token", "--help"], COMMANDS)
    assert (invocation.path, invocation.help) == ((TOKEN,), True)


@pytest.mark.parametrize("words", [[], ["token"], ["--json"], ["token", "--json"]], ids=str)
def test_a_missing_command_is_told_apart_from_other_misuse(words: list[str]) -> None:
    with pytest.raises(CommandMissing):
        parse(words, COMMANDS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["raed"], "unknown command 'raed'; did you mean 'read'?"),
        (["xyzzy"], "unknown command 'xyzzy'"),
        (["token", "crate"], "token has no command 'crate'; did you mean 'create'?"),
        (["--hepl"], "unknown option '--hepl'; did you mean '--help'?"),
        (["read", "a", "--limt=3"], "unknown option '--limt=3'; did you mean '--limit'?"),
        (["read", "a", "--lim", "3"], "unknown option '--lim'; did you mean '--limit'?"),
        (["read", "a", "--limit", "0"], "argument --limit: '0' is not a whole number above 0"),
        (["read"], "FILE is missing"),
        (["copy", "a"], "TO is missing"),
        (["copy", "a", "b", "c"], "unexpected argument 'c'"),
        (["shell", "bsh"], "'bsh' is not one of bash, zsh; did you mean 'bash'?"),
        (["wait", "x"], "'x' is not a whole number above 0"),
    ],
    ids=str,
)
def test_misuse_says_what_is_wrong_and_what_may_be_meant(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(words, COMMANDS)
    assert str(caught.value) == message


def test_a_value_outside_the_choices_is_refused() -> None:
    with pytest.raises(UsageError, match="argument --level: invalid choice: 'middle'"):
        parse(["read", "a", "--level", "middle"], COMMANDS)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), "a2c COMMAND ..."),
        ((TOKEN,), "a2c token COMMAND ..."),
        ((TOKEN, CREATE), "a2c token create [--json]"),
        ((READ,), "a2c read FILE... [--level low|high] [--dry-run] [--limit N] [--json]"),
    ],
    ids=["top", "noun", "verb", "arguments"],
)
def test_the_usage_line_comes_from_the_table(path: tuple[Command, ...], line: str) -> None:
    assert usage(path) == line


def test_a_word_that_is_like_no_other_has_no_nearest() -> None:
    assert [nearest("dosc", ["docs", "token"]), nearest("xyzzy", ["docs", "token"])] == ["docs", ""]


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "", "many", "٣", "²"])
def test_only_whole_numbers_above_zero_count(text: str) -> None:
    with pytest.raises(Exception, match="is not a whole number above 0"):
        positive(text)


def test_an_optional_place_may_stay_empty() -> None:
    words = Argument("word", "Words.", many=True, optional=True)
    command = Command("say", "Say.", lambda _, __: None, (Argument("to", "Whom."), words))
    assert vars(parse(["say", "me"], [command]).arguments) == {"json": False, "to": "me", "word": []}
    assert parse(["say", "me", "a", "b"], [command]).arguments.word == ["a", "b"]
    assert usage([command]) == "a2c say TO [WORD...] [--json]"
