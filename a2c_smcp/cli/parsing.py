"""From the words of a command line to a row of the table and its arguments. Pure."""

import argparse
import difflib
from argparse import Namespace
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from a2c_smcp.cli.command import COMMON, HELP, JSON, Argument, Command


class UsageError(Exception):
    """The command line cannot be understood; `path` leads to the command that was meant, as far as known."""

    def __init__(self, message: str, path: Sequence[Command] = (), suggestion: str = "") -> None:
        super().__init__(f"{message}; did you mean {suggestion!r}?" if suggestion else message)
        self.path = tuple(path)


class CommandMissing(UsageError):
    """Nothing was asked for: what helps is the list of commands."""

    def __init__(self, path: Sequence[Command] = ()) -> None:
        super().__init__("a command is missing", path)


@dataclass(frozen=True, slots=True)
class Invocation:
    """What a command line asks for: the commands from noun to verb, the arguments, and whether only help is wanted."""

    path: tuple[Command, ...]
    arguments: Namespace
    json: bool = False
    help: bool = False


def parse(words: Sequence[str], commands: Sequence[Command]) -> Invocation:
    """Return what `words` ask for.

    Raises:
        UsageError: An unknown command or option, a missing or a wrong argument.
    """
    path, rest = _locate(words, commands)
    json = any(word == JSON.name for word in rest)
    if not path or path[-1].handler is None:
        return _parse_noun(path, rest, json=json)
    arguments, wants_help = _parse_arguments(path, rest)
    return Invocation(path, arguments, json=json, help=wants_help)


def usage(path: Sequence[Command]) -> str:
    """Return the usage line of the last command of `path`."""
    words = ["a2c", *(command.name for command in path)]
    if not path or path[-1].handler is None:
        return " ".join([*words, "COMMAND ..."])
    arguments = (*path[-1].arguments, JSON)
    return " ".join([*words, *map(_usage_of, sorted(arguments, key=lambda argument: argument.is_option))])


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word that `word` was probably meant to be, or nothing."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)), "")


def positive(text: str) -> int:
    """Convert an argument that counts something."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _locate(words: Sequence[str], commands: Sequence[Command]) -> tuple[tuple[Command, ...], list[str]]:
    path: list[Command] = []
    early: list[str] = []  # options written before the command
    for position, word in enumerate(words):
        if word.startswith("-"):
            early.append(word)
            continue
        found = next((command for command in commands if command.name == word), None)
        if found is None:
            kind = f"unknown command {word!r}" if not path else f"{path[-1].name} has no command {word!r}"
            raise UsageError(kind, path, nearest(word, (command.name for command in commands)))
        path.append(found)
        if found.handler is not None:
            return tuple(path), [*early, *words[position + 1 :]]
        commands = found.commands
    return tuple(path), early


def _parse_noun(path: tuple[Command, ...], rest: Sequence[str], *, json: bool) -> Invocation:
    known = {"-h", HELP.name, JSON.name}
    for word in rest:
        if word not in known:
            raise UsageError(f"unknown option {word!r}", path, nearest(word, known))
    wants_help = any(word in ("-h", HELP.name) for word in rest)
    if not wants_help:
        raise CommandMissing(path)
    return Invocation(path, Namespace(), json=json, help=True)


def _parse_arguments(path: tuple[Command, ...], rest: Sequence[str]) -> tuple[Namespace, bool]:
    parser = _Parser(prog="a2c", add_help=False, allow_abbrev=False)
    parser.path = path
    for argument in (*path[-1].arguments, *COMMON):
        _add(parser, argument)
    try:
        arguments = parser.parse_intermixed_args(rest)
    except _HelpWanted:
        return Namespace(), True
    return arguments, False


class _HelpWanted(Exception):
    """Help was asked for, so missing arguments do not matter."""


class _Help(argparse.Action):
    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        raise _HelpWanted


class _Parser(argparse.ArgumentParser):
    """Tells misuse by raising, so that the frame prints it like everything else."""

    path: tuple[Command, ...] = ()

    def error(self, message: str) -> NoReturn:
        unknown = message.removeprefix("unrecognized arguments: ").split()[0] if "unrecognized" in message else ""
        known = [name for action in self._actions for name in action.option_strings]
        suggestion = nearest(unknown, known) if unknown.startswith("-") else ""
        raise UsageError(message, self.path, suggestion)


def _add(parser: argparse.ArgumentParser, argument: Argument) -> None:
    if argument is HELP:
        parser.add_argument("-h", argument.name, action=_Help, nargs=0)
    elif argument.flag:
        parser.add_argument(argument.name, action="store_true")
    else:
        parser.add_argument(
            argument.name,
            metavar=argument.placeholder,
            nargs="+" if argument.many else None,
            choices=argument.choices or None,
            type=argument.convert,
            default=argument.default,
        )


def _usage_of(argument: Argument) -> str:
    if not argument.is_option:
        return f"{argument.placeholder}{'...' if argument.many else ''}"
    return f"[{argument.name}]" if argument.flag else f"[{argument.name} {argument.placeholder}]"
