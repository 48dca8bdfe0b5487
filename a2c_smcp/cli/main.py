"""The frame of the `a2c` command: parse, run, print once, and turn every failure into a line and an exit code.

    0  done        1  failed        2  misused        3  partly done        130  interrupted

Results go to standard output, the rest to standard error. No traceback reaches a user unless A2C_DEBUG is set.
"""

import json
import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TextIO, TypeAlias

from a2c_smcp import PROTOCOL_VERSION, __version__
from a2c_smcp.cli.command import JSON, Command, Context
from a2c_smcp.cli.help_text import help_lines
from a2c_smcp.cli.parsing import CommandMissing, Invocation, UsageError, parse, usage
from a2c_smcp.cli.table import COMMANDS
from a2c_smcp.cli.terminal import Terminal, printable
from a2c_smcp.common.child_python import import_path
from a2c_smcp.common.extras import install_hint
from a2c_smcp.errors import BadRequest, InternalError, SMCPError, to_wire

DONE: Final = 0
FAILED: Final = 1
PARTIAL: Final = 3
MISUSED: Final = 2
INTERRUPTED: Final = 130

Form: TypeAlias = Callable[[Any], str]
"""How a value is printed with `--json`."""


def main(
    argv: Sequence[str] | None = None,
    *,
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
    env: Mapping[str, str] | None = None,
    commands: Sequence[Command] = COMMANDS,
) -> int:
    """Run the command that `argv` names and return the exit code; streams default to the process's own."""
    context = Context(
        commands=tuple(commands),
        stdin=stdin or sys.stdin,
        stdout=stdout or sys.stdout,
        stderr=stderr or sys.stderr,
        env=os.environ if env is None else env,
    )
    if argv is None:
        sys.path[:] = import_path()  # `python -m` puts the current folder first
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        for stream in (context.stdout, context.stderr):
            _never_fail_to_encode(stream)
        code = _run(context, words)
        context.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _mute(context.stdout)
        return DONE
    return code


def _run(context: Context, words: Sequence[str]) -> int:
    form = _dump if JSON.name in words else None
    command: Command | None = None
    try:
        if list(words) in (["--version"], ["-V"]):
            return _print(context, [f"a2c {__version__} (protocol {PROTOCOL_VERSION})"])
        invocation = parse(_without_help_word(words), context.commands)
        if invocation.help:
            return _print(context, help_lines(invocation.path, context.commands, context.terminal))
        command = invocation.path[-1]
        if form and command.stream:
            form = _line  # one JSON value a line, to the last one
        return _call(context, command, invocation)
    except UsageError as error:
        return _misused(context, error, form=form)
    except SMCPError as error:
        hint = command.hints.get(error.code, "") if command else ""
        return _failed(context, error, hint=hint, form=form)
    except ModuleNotFoundError as error:
        return _failed(context, *_missing(error, command), form=form)
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        return _failed(context, InternalError(reason), form=form)
    except Exception as error:  # noqa: BLE001 - the outermost handler: whatever it is, a user gets one line
        wrapped = InternalError(f"unexpected {type(error).__name__}: {error}")
        return _failed(context, wrapped, hint="A2C_DEBUG=1 shows where it happened", form=form)


def _call(context: Context, command: Command, invocation: Invocation) -> int:
    if command.handler is None:  # parsing gives no such command; this tells the type checker
        raise CommandMissing(invocation.path)
    arguments = invocation.arguments
    value = command.handler(context, arguments)
    if command.stream:
        for one in value:
            _print(context, [_line(one)] if invocation.json else _shown(command, one, arguments, context))
        return DONE
    if invocation.json:
        _print(context, [_dump(value)])
        return _code(command, value)
    _print(context, _shown(command, value, arguments, context))
    if command.interact and context.stdin.isatty() and context.stdout.isatty():
        command.interact(context, arguments)
    return _code(command, value)


def _code(command: Command, value: Any) -> int:
    if command.failed is not None and command.failed(value):
        return FAILED
    return PARTIAL if command.partial is not None and command.partial(value) else DONE


def _shown(command: Command, value: Any, arguments: Namespace, context: Context) -> Iterable[str]:
    if command.show is not None:
        return command.show(value, arguments, context.terminal)
    if isinstance(value, str):
        return [value]
    return [] if value is None else [_dump(value)]


def _without_help_word(words: Sequence[str]) -> Sequence[str]:
    # `a2c help docs` is what people type first.
    return [*words[1:], "--help"] if words and words[0] == "help" else words


def _print(context: Context, lines: Iterable[str]) -> int:
    for line in lines:
        context.stdout.write(f"{line}\n")
    context.stdout.flush()
    return DONE


def _failed(context: Context, error: SMCPError, hint: str = "", *, form: Form | None) -> int:
    _show_traceback(context)
    if form:
        _print(context, [form(_as_json(error))])
        return FAILED
    context.stderr.write(f"error {error.code}: {printable(error.message)}\n")
    if error.details:
        facts = ", ".join(f"{name}: {value}" for name, value in error.details.items())
        context.stderr.write(f"  {printable(facts)}\n")
    if hint:
        context.stderr.write(f"hint: {hint}\n")
    return FAILED


def _as_json(error: SMCPError) -> dict[str, Any]:
    # The user of this machine gets the same words with --json as without: addresses and paths are theirs.
    body = to_wire(error)["error"]
    return {"error": body | {"message": error.message}}


def _misused(context: Context, error: UsageError, *, form: Form | None) -> int:
    if form:
        _print(context, [form(_as_json(BadRequest(str(error))))])
        return MISUSED
    if isinstance(error, CommandMissing):
        plain = Terminal()
        context.stderr.writelines(f"{line}\n" for line in help_lines(error.path, context.commands, plain))
        return MISUSED
    name = " ".join(["a2c", *(command.name for command in error.path)])
    context.stderr.write(f"usage: {usage(error.path)}\nerror: {printable(str(error))}\nhint: {name} --help\n")
    return MISUSED


def _missing(error: ModuleNotFoundError, command: Command | None) -> tuple[SMCPError, str]:
    if command is None or not command.extra or (error.name or "").startswith("a2c_smcp"):
        return InternalError(f"unexpected {type(error).__name__}: {error}"), "A2C_DEBUG=1 shows where it happened"
    return InternalError(f"{command.name} needs the module {error.name!r}, which is not installed"), install_hint(
        command.extra
    )


def _show_traceback(context: Context) -> None:
    if context.debug:
        context.stderr.write(traceback.format_exc())


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _never_fail_to_encode(stream: TextIO) -> None:
    # A document in Chinese must not end the program on a terminal that cannot show it.
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _mute(stream: TextIO) -> None:
    # What is still buffered for a reader that went away would be reported when the interpreter shuts down.
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
