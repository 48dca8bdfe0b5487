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
        below = {command.name for command in found.commands}
        # A command that can be run may have further ones, of which only the next word can be the name.
        if found.handler is not None and not below.intersection(words[position + 1 : position + 2]):
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
    # Options go to argparse, places are filled here: releases of argparse differ in how they mix the two around `--`.
    end = rest.index("--") if "--" in rest else len(rest)
    parser = _Parser(prog="a2c", add_help=False, allow_abbrev=False)
    parser.path = path
    options = [argument for argument in (*path[-1].arguments, *COMMON) if argument.is_option]
    for option in options:
        _add(parser, option)
    try:
        arguments, words = parser.parse_known_args(rest[:end])
    except _HelpWanted:
        return Namespace(), True
    unknown = next((word for word in words if word.startswith("-") and word != "-"), None)
    if unknown:
        suggestion = nearest(unknown.partition("=")[0], (option.name for option in options))
        raise UsageError(f"unknown option {unknown!r}", path, suggestion)
    _place(path, arguments, [*words, *rest[end + 1 :]])
    return arguments, False


def _place(path: tuple[Command, ...], arguments: Namespace, words: list[str]) -> None:
    """Fill the positional arguments; one with `many` takes what those after it leave."""
    places = [argument for argument in path[-1].arguments if not argument.is_option]
    for number, place in enumerate(places, start=1):
        count = len(words) - (len(places) - number) if place.many else 1
        taken, words = words[: max(count, 0)], words[max(count, 0) :]
        if not taken and place.optional:
            setattr(arguments, place.field, [] if place.many else place.default)
            continue
        if not taken:
            raise UsageError(f"{place.placeholder} is missing", path)
        values = [_converted(path, place, word) for word in taken]
        setattr(arguments, place.field, values if place.many else values[0])
    if words:
        raise UsageError(f"unexpected argument {words[0]!r}", path)


def _converted(path: tuple[Command, ...], place: Argument, word: str) -> Any:
    if place.choices and word not in place.choices:
        known = ", ".join(place.choices)
        raise UsageError(f"{word!r} is not one of {known}", path, nearest(word, place.choices))
    try:
        return place.convert(word)
    except (argparse.ArgumentTypeError, ValueError) as error:
        raise UsageError(str(error), path) from error


class _HelpWanted(Exception):
    """Help was asked for, so missing arguments do not matter."""


class _Help(argparse.Action):
    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        raise _HelpWanted


class _Parser(argparse.ArgumentParser):
    """Tells misuse by raising, so that the frame prints it like everything else."""

    path: tuple[Command, ...] = ()

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self.path)


def _add(parser: argparse.ArgumentParser, option: Argument) -> None:
    if option is HELP:
        parser.add_argument("-h", option.name, action=_Help, nargs=0, default=argparse.SUPPRESS)
    elif option.flag:
        parser.add_argument(option.name, action="store_true")
    else:
        parser.add_argument(
            option.name,
            metavar=option.placeholder,
            choices=option.choices or None,
            type=option.convert,
            default=option.default,
            required=option.required,
            **({"action": "extend", "nargs": "+"} if option.many else {}),
            **({"action": "append"} if option.repeated else {}),
        )


def _usage_of(argument: Argument) -> str:
    if not argument.is_option:
        place = f"{argument.placeholder}{'...' if argument.many else ''}"
        return f"[{place}]" if argument.optional else place
    written = argument.name if argument.flag else f"{argument.name} {argument.placeholder}"
    written += "..." if argument.many or argument.repeated else ""
    return written if argument.required else f"[{written}]"
