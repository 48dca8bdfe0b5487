"""Values that programs print."""

import asyncio
import os
import stat
import sys
from pathlib import Path

import pytest

from a2c_smcp.computer.inputs.commands import MAX_OUTPUT, CommandSource, argv_of
from a2c_smcp.computer.inputs.resolution import Unresolved
from a2c_smcp.computer.inputs.secret import Secret
from a2c_smcp.computer.inputs.sources import InputValue
from tests.unit.computer.inputs.builders import command, prompt


def python(code: str, folder: Path) -> str:
    """A command that runs a few lines of Python."""
    script = folder / "program.py"
    script.write_text(code, encoding="utf-8")
    return f"'{sys.executable}' '{script}'"


async def why_not(source: CommandSource, run: str) -> str:
    with pytest.raises(Unresolved) as caught:
        await source.find(command(run))
    return str(caught.value)


@pytest.mark.parametrize(
    ("run", "args", "argv"),
    [
        ("pass show github", None, ["pass", "show", "github"]),
        ("say 'two words' \"$HOME\" a;b", None, ["say", "two words", "$HOME", "a;b"]),
        (
            "op read",
            {"vault": "My Private", "n": "1", "raw": ""},
            ["op", "read", "--vault", "My Private", "-n", "1", "--raw"],
        ),
        ("op", {"-v": "2", "--long": "x"}, ["op", "-v", "2", "--long", "x"]),
    ],
)
def test_a_command_is_words_and_options(run: str, args: dict[str, str] | None, argv: list[str]) -> None:
    assert argv_of(command(run, args)) == argv


def test_a_program_whose_path_has_blanks_needs_no_quotes(tmp_path: Path) -> None:
    program = tmp_path / "my program"
    program.write_text("#!/bin/sh\n")
    program.chmod(stat.S_IRWXU)
    assert argv_of(command(str(program), {"a": "b"})) == [str(program), "-a", "b"]


@pytest.mark.parametrize(
    ("run", "why"),
    [
        ("say 'it", "its command has a quote that is never closed; close it"),
        ("''", "its command '' cannot be run"),
        ("#", "its command"),
    ],
)
async def test_a_command_that_is_none_is_told(run: str, why: str) -> None:
    assert (await why_not(CommandSource(), run)).startswith(why.replace("''", '""'))


@pytest.mark.rule("5.2")
@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("abc", "abc"),
        ("abc\\n", "abc"),
        ("abc\\r\\n", "abc"),
        ("abc\\n\\n", "abc\n"),
        (" a b \\nc", " a b \nc"),
        ("", ""),
        ("密钥", "密钥"),
    ],
)
async def test_the_output_is_the_value_without_one_line_break(printed: str, value: str, tmp_path: Path) -> None:
    run = python(f"import sys; sys.stdout.buffer.write('{printed}'.encode())", tmp_path)
    assert await CommandSource().find(command(run)) == InputValue(Secret(value), "its command")


async def test_no_shell_has_a_say() -> None:
    found = await CommandSource().find(command("echo $HOME `id` ; true && * > x"))
    assert found == InputValue(Secret("$HOME `id` ; true && * > x"), "its command")


async def test_other_inputs_run_nothing() -> None:
    assert await CommandSource().find(prompt()) is None


async def test_a_command_runs_where_and_with_what_it_is_told(tmp_path: Path) -> None:
    run = python("import os; print(os.getcwd(), os.environ.get('MARK'))", tmp_path)
    found = await CommandSource(cwd=tmp_path, env={"MARK": "here"}).find(command(run))
    assert found == InputValue(Secret(f"{tmp_path} here"), "its command")


async def test_a_command_cannot_read_our_standard_input(tmp_path: Path) -> None:
    run = python("import sys; print(repr(sys.stdin.read()))", tmp_path)
    assert await CommandSource().find(command(run)) == InputValue(Secret("''"), "its command")


@pytest.mark.rule("5.2")
async def test_a_failing_command_is_told_without_its_output(tmp_path: Path) -> None:
    run = python("import sys; print('pl4nted'); print('pl4nted', file=sys.stderr); sys.exit(3)", tmp_path)
    assert await why_not(CommandSource(), run) == (
        f'its command "{sys.executable}" failed (exit code 3); run it by hand to see why'
    )


async def test_a_command_ended_by_a_signal_is_told(tmp_path: Path) -> None:
    run = python("import os; os.kill(os.getpid(), 9)", tmp_path)
    assert "failed (signal 9)" in await why_not(CommandSource(), run)


async def test_a_command_of_an_editor_is_not_known() -> None:
    assert await why_not(CommandSource(), "github.copilot.token") == (
        'its command "github.copilot.token" cannot be run: there is no such program here '
        "(commands of an editor are not known); install it, or name another"
    )


async def test_a_command_that_may_not_run_is_told(tmp_path: Path) -> None:
    assert "may not be executed" in await why_not(CommandSource(), str(tmp_path))


async def test_a_command_that_is_no_program_is_told(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF nonsense")
    program.chmod(stat.S_IRWXU)
    assert (await why_not(CommandSource(), str(program))).endswith("cannot be run: Exec format error; check it")


async def test_output_that_is_no_text_is_told(tmp_path: Path) -> None:
    run = python("import sys; sys.stdout.buffer.write(bytes([255]))", tmp_path)
    assert "not UTF-8 text" in await why_not(CommandSource(), run)


async def test_endless_output_is_cut_off(tmp_path: Path) -> None:
    run = python(f"while True: print('x' * {MAX_OUTPUT})", tmp_path)
    assert "printed more than 64 kB" in await why_not(CommandSource(), run)


class Pipe:
    """A named pipe that programs hold open as long as they live, so that its end tells when the last has gone."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "alive"
        os.mkfifo(self.path)
        self.reader = asyncio.StreamReader()

    async def __aenter__(self) -> "Pipe":
        file = open(self.path, "rb", buffering=0, opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK))  # noqa: ASYNC230, SIM115
        loop = asyncio.get_running_loop()
        self.transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(self.reader), file)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.transport.close()

    def waiting(self) -> str:
        """A command that starts another program, and both would live for a minute."""
        script = self.path.with_suffix(".sh")
        script.write_text(f"exec 3> '{self.path}'\necho up >&3\nsleep 60 &\nsleep 60\n", encoding="utf-8")
        return f"sh '{script}'"


async def test_a_command_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    async with Pipe(tmp_path) as pipe, asyncio.timeout(60):
        why = await why_not(CommandSource(timeout=5), pipe.waiting())
        assert why == 'its command "sh" did not end within 5 s; run it by hand to see why'
        assert await pipe.reader.read() == b"up\n"


async def test_a_command_ends_when_nobody_waits_for_it_any_more(tmp_path: Path) -> None:
    async with Pipe(tmp_path) as pipe, asyncio.timeout(60):
        task = asyncio.create_task(CommandSource().find(command(pipe.waiting())))
        assert await pipe.reader.readline() == b"up\n"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await pipe.reader.read() == b""


async def test_a_command_that_leaves_something_running_still_gives_its_value(tmp_path: Path) -> None:
    code = "import os, subprocess\nsubprocess.Popen(['sleep', '60'], stdout=subprocess.DEVNULL)\nprint(os.getpid())"
    found = await CommandSource().find(command(python(code, tmp_path)))
    assert found is not None
    os.killpg(int(found.value.reveal()), 9)  # ours to clean up: it was not ended with the command
