"""Every variable that the programs read, with the words of the option it stands for."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from a2c_smcp.cli import agent, computer, digest, docs_options, mcp, ocr
from a2c_smcp.cli.command import Argument, Command
from a2c_smcp.cli.help_text import VARIABLES
from a2c_smcp.cli.table import COMMANDS
from a2c_smcp.computer.inputs.sources import ENV_PREFIX
from a2c_smcp.computer.mcp.watchdog import MARK
from a2c_smcp.digest import llm_proxy
from a2c_smcp.documents.sandbox import OFF
from a2c_smcp.server import settings


@dataclass(frozen=True, slots=True)
class Variable:
    """A row of a table."""

    name: str
    meaning: str
    default: str = ""


SEAT: Final = ("--url", "--office", "--name", "--token", "--api-key", "--header", "--ca")
SECTIONS = Iterable[tuple[str, str, Sequence[Variable]]]


def sections() -> SECTIONS:
    """Return title, words and variables of each section of the page."""
    seat = _command("agent", "rooms")
    bridge = _command("mcp")
    return (
        ("Every command", "", [Variable(name, text) for name, text in VARIABLES]),
        (
            "`a2c server`",
            f"Every setting of a server; `{settings.ENV}CONFIG` names a TOML file with any of them.",
            list(_server()),
        ),
        ("`a2c computer`", "", list(_options(computer.ENV, _command("computer"), ("--config", *SEAT, "--journal")))),
        (
            "Inputs of a Computer",
            "",
            [
                Variable(
                    f"{ENV_PREFIX}<ID>",
                    "The value of `${input:id}`: its id in capitals, all but letters and digits as `_`.",
                )
            ],
        ),
        (
            "`a2c agent` and `a2c mcp`",
            "",
            [*_options(agent.ENV, seat, SEAT), *_options(mcp.ENV, bridge, ("--http-token",))],
        ),
        (
            "`a2c docs`",
            "",
            [
                *_options(docs_options.ENV, _command("docs", "serve"), ("--http-token",)),
                Variable(f"{docs_options.ENV}OCR_KEY", "The key that is sent to the OCR services of `--ocr`."),
                Variable(OFF, "Set to `off`: worker processes are not confined (no Landlock, no seccomp)."),
            ],
        ),
        (
            "`a2c digest`",
            "",
            [
                *_options(digest.ENV, _command("digest"), ("--ocr_url",)),
                Variable(f"{digest.ENV}OCR_KEY", "The key of that service."),
                Variable(f"{digest.ENV}PASSWORD", "The password of the PDF."),
                Variable(f"{llm_proxy.ENV}BASE_URL", "An OpenAI-compatible endpoint, up to /v1; none is preset."),
                Variable(f"{llm_proxy.ENV}API_KEY", "Its key."),
                Variable(f"{llm_proxy.ENV}MODEL", "The model to write with."),
            ],
        ),
        (
            "`a2c ocr`",
            "",
            [
                Variable(
                    f"{ocr.ENV}TOKEN", "The bearer token that clients need; otherwise one is generated and printed."
                ),
                Variable(f"{ocr.ENV}VISION_KEY", "The key of the vision model."),
            ],
        ),
        (
            "Building the package",
            "",
            [Variable("A2C_PURE_PYTHON", "Set to anything: without the C extension that makes reading PDF faster.")],
        ),
        (
            "Set for others",
            "",
            [
                Variable(
                    MARK, "Marks every process below an MCP server, so that none is left behind. Not for you to set."
                )
            ],
        ),
    )


def _server() -> Iterator[Variable]:
    for option in (*settings.OPTIONS, *settings.LIMITS):
        name = (option.alias or option.name).replace(".", "_").upper()
        yield Variable(settings.ENV + name, option.help, _shown(option.default))


def _shown(value: Any) -> str:
    return "" if value in (None, False, ()) else f"`{value}`"


def _options(prefix: str, command: Command, names: Sequence[str]) -> Iterator[Variable]:
    for name in names:
        option = _option(command, name)
        # What follows a semicolon is about the command line.
        meaning = option.help.partition("; other users")[0].rstrip(".") + "."
        yield Variable(prefix + option.field.upper(), meaning, _shown(option.default))


def _option(command: Command, name: str) -> Argument:
    return next(argument for argument in command.arguments if argument.name == name)


def _command(*path: str) -> Command:
    found: Sequence[Command] = COMMANDS
    for name in path[:-1]:
        found = next(command for command in found if command.name == name).commands
    return next(command for command in found if command.name == path[-1])
