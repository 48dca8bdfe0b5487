"""Describes why an MCP server failed and what its owner can do about it. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from a2c_smcp.common.durations import seconds_text
from a2c_smcp.computer.config.secret_detection import redact_value
from a2c_smcp.redaction import redact_text

Retry = Literal["counted", "always", "slow", "never"]
"""How a failed server is restarted: soon, until it failed too often ("counted"); always soon, because it is unreachable
("always"); after minutes ("slow"); or only by its owner ("never")."""

MAX_SUMMARY: Final = 400
SAMPLES: Final = 3
SAMPLE_LENGTH: Final = 120

_INFORMATIVE: Final = re.compile(
    r"error|exception|cannot|can't|could not|not found|no such|denied|fail|invalid|missing|required|refused|usage",
    re.IGNORECASE,
)
_NAMES_CAUSE: Final = re.compile(
    r"not found|no such|cannot find|can't find|not in this registry|denied|no module named|is required|refused",
    re.IGNORECASE,
)
"""Words that name a cause, unlike a line that only reports an error."""

_INSTALL: Final = {
    "npx": "install Node.js",
    "npm": "install Node.js",
    "node": "install Node.js",
    "uvx": "install uv",
    "uv": "install uv",
    "docker": "install Docker",
    "python": "use python3, or give the full path of the interpreter",
    "deno": "install Deno",
    "bunx": "install Bun",
}


@dataclass(frozen=True, slots=True)
class ServerFailure:
    """Why a server does not run.

    Attributes:
        problem: The description for the owner; may quote output of the server.
        kind: The description for Agents: no output of the server, no text of the configuration.
    """

    problem: str
    advice: str
    kind: str
    retry: Retry = "counted"


@dataclass(slots=True)
class ProcessOutput:
    """Output of a process outside the protocol: its standard error, and non-messages on standard output."""

    errors: Sequence[str] = ()
    garbage: int = 0
    samples: list[str] = field(default_factory=list)

    def add_garbage(self, text: str) -> None:
        """Count a line of standard output that is not a message, and keep the first ones as samples."""
        self.garbage += 1
        if len(self.samples) < SAMPLES:
            self.samples.append(text[:SAMPLE_LENGTH])

    def error_summary(self) -> str:
        """Return the most informative lines of standard error, redacted; empty when there are none."""
        # Skip the indented frames of a stack trace, but not the exception after them.
        lines = [line for line in self.errors if line.strip() and not line[0].isspace() and "Traceback (" not in line]
        chosen = [line for line in lines if _NAMES_CAUSE.search(line)] or [
            line for line in lines if _INFORMATIVE.search(line)
        ]
        chosen = chosen or lines
        return shorten(" / ".join(redact_text(line) for line in chosen[-2:]), MAX_SUMMARY)


def shorten(text: str, length: int) -> str:
    """Return `text`, shortened to `length`."""
    return text if len(text) <= length else text[: length - 1] + "…"


def _shown(command: str) -> str:
    # An owner who writes a whole command line here may have written a secret as well.
    return repr(shorten(redact_value(command), MAX_SUMMARY))


def prints_to_stdout(output: ProcessOutput) -> ServerFailure | None:
    """A running server prints other text to standard output; None if it does not."""
    if not output.garbage:
        return None
    first = redact_text(output.samples[0])
    return ServerFailure(
        f"it prints lines to standard output that are not MCP messages: {output.garbage} so far, the first: {first!r}",
        "make it log to standard error; standard output belongs to the protocol",
        "it prints to standard output",
    )


def not_found(command: str) -> ServerFailure:
    """The program to start does not exist."""
    name = command.replace("\\", "/").rsplit("/", 1)[-1]
    program, blank, _ = command.partition(" ")
    if blank and "/" not in program and "\\" not in program:
        advice = f'write the program alone into command ("{shorten(program, 40)}") and its arguments into args'
    else:
        what = _INSTALL.get(name, "install it")
        advice = f"{what}, check its spelling, or configure its full path or a PATH in env that leads to it"
    return ServerFailure(f"the command {_shown(command)} was not found", advice, "its command was not found")


def no_directory() -> ServerFailure:
    """The directory to start in does not exist."""
    problem = "the directory to start in (cwd) does not exist"
    return ServerFailure(problem, "create it, or correct cwd", problem)


def cannot_run(command: str, reason: str) -> ServerFailure:
    """The program exists but the system cannot run it."""
    return ServerFailure(
        f"the command {_shown(command)} cannot be run: {reason}",
        "check that it is executable and a program of this machine (a script needs its first line to name one)",
        "its command cannot be run",
    )


def exited(code: int | None, output: ProcessOutput, *, running: bool) -> ServerFailure:
    """The process exited."""
    when = "while running" if running else "before it answered"
    how = "closed its output" if code is None else f"exited with code {code}"
    if code is not None and code < 0:
        how = f"was killed by signal {-code}"
    words = output.error_summary() or _printed(output)
    said = f": {words}" if words else ", and said nothing"
    kind = f"it {how} {when}"
    return ServerFailure(kind + said, _exit_advice(code, words, running=running), kind)


def no_response(seconds: float, output: ProcessOutput | None, *, running: bool = False) -> ServerFailure:
    """The server does not respond."""
    words = (output.error_summary() or _printed(output)) if output is not None else ""
    said = f"; it said: {words}" if words else ""
    if running:
        kind = f"it stopped answering for {seconds_text(seconds)}"
        return ServerFailure(kind + said, "see its own logs; it is started again", kind)
    kind = f"it did not answer the MCP handshake within {seconds_text(seconds)}"
    if output is None:
        return ServerFailure(kind + said, "check that the URL is that of an MCP server", kind)
    # An immediate restart would only begin the same download again.
    advice = "check that the command starts an MCP server in stdio mode; if it needs longer, raise its start_timeout"
    return ServerFailure(kind + said, advice, kind, retry="slow")


def refused_handshake(message: str, output: ProcessOutput | None) -> ServerFailure:
    """The server answered the handshake with an error or an invalid message."""
    words = output.error_summary() if output is not None else ""
    said = f"; it said: {words}" if words else ""
    return ServerFailure(
        f"the MCP handshake failed: {shorten(redact_text(message), 200)}{said}",
        "check that it is an MCP server, and update it: it may speak no protocol version in common",
        "the MCP handshake failed",
    )


def unreachable(reason: str, *, in_time: bool = True) -> ServerFailure:
    """The URL cannot be reached. This may be temporary, so it is retried forever.

    Args:
        in_time: False if the request timed out.
    """
    return ServerFailure(
        f"it cannot be reached: {shorten(redact_text(reason), 200)}",
        "check that it runs, the URL with its port, and the network; it is tried again by itself",
        "it cannot be reached" if in_time else "it did not answer within the time-out",
        retry="always",
    )


def bad_status(status: int) -> ServerFailure:
    """The URL answered with an HTTP error status."""
    retry: Retry = "counted"
    if status in (401, 403):
        kind, advice = "it refused the credentials", "check the headers and the inputs they take values from"
    elif 300 <= status < 400:
        kind, advice = "it redirects elsewhere", "configure the URL that it redirects to"
    elif status in (404, 405, 406, 410):
        kind, advice = "there is no MCP endpoint at its URL", "check the path of the URL"
    elif status in (408, 425, 429) or status >= 500:
        kind, advice, retry = "it has trouble of its own", "it is tried again by itself", "always"
    else:
        kind, advice = "it refused the request", "check the URL and the headers"
    kind = f"{kind} (HTTP {status})"
    return ServerFailure(kind, advice, kind, retry)


def session_lost() -> ServerFailure:
    """An HTTP server no longer knows the session, probably because it was restarted."""
    kind = "it forgot the session, as after a restart"
    return ServerFailure(kind, "nothing; it is connected again", kind, retry="always")


def stream_lost() -> ServerFailure:
    """The event stream of an HTTP server broke."""
    kind = "its event stream broke"
    return ServerFailure(kind, "nothing; it is connected again", kind, retry="always")


def answer_too_large(length: str, limit: int) -> ServerFailure:
    """A reply over the size limit arrived on the shared stream and could not be matched to its request."""
    kind = f"its answer of {length} is over the limit of {limit} bytes"
    advice = "ask for less at a time, or raise max_message in its configuration; it is connected again"
    return ServerFailure(kind, advice, kind, retry="always")


def unresolved(message: str) -> ServerFailure:
    """A placeholder of the configuration has no value. Retrying would only ask a person again and again."""
    return ServerFailure(
        f"its configuration could not be completed: {message}",
        "set the input, then start the server again",
        "its configuration could not be completed",
        retry="never",
    )


def internal(error: str) -> ServerFailure:
    """The Computer itself has a bug."""
    kind = f"an internal error ({error})"
    return ServerFailure(kind, "please report it", kind)


def _printed(output: ProcessOutput) -> str:
    return f"on standard output: {_join(output.samples)}" if output.samples else ""


def _join(lines: Iterable[str]) -> str:
    return shorten(" / ".join(redact_text(line) for line in lines), MAX_SUMMARY)


def _exit_advice(code: int | None, words: str, *, running: bool) -> str:
    if code in (126, 127):
        return "a command it runs is missing: check the arguments and the PATH in env"
    if code == -9:
        return "something killed it, perhaps for want of memory"
    if re.search(r"\b404\b|not in (?:this|the npm) registry|not found in the package registry", words):
        return "the package that it starts was not found: check its name and version in args"
    if re.search(r"module|package|import", words, re.IGNORECASE):
        return "a package it needs is missing: install it where the command runs"
    if running:
        return "see its own logs; it is started again"
    return "run the command by hand with the same arguments and environment to see why"
