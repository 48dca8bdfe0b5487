"""`a2c doctor`: what is installed, what is missing, and how to get it."""

from argparse import Namespace
from collections.abc import Iterable
from typing import Any, Final

from a2c_smcp.cli.command import Argument, Command, Context
from a2c_smcp.cli.terminal import Terminal, one_line
from a2c_smcp.cli.up import port

_MARKS: Final = {"ok": "ok", "missing": "missing", "problem": "problem", "absent": "absent"}


# What the command needs is imported when it runs: help and completion must not wait for it.
def run(context: Context, arguments: Namespace) -> Any:
    """Return every finding, and whether all that is needed is there."""
    from a2c_smcp.cli import doctor_checks  # noqa: PLC0415

    return doctor_checks.examine(context.env, tuple(arguments.role or ()), arguments.port)


def show(value: Any, _: Namespace, terminal: Terminal) -> Iterable[str]:
    """A line for each finding, and below it what to do."""
    width = max(len(finding["name"]) for finding in value["findings"])
    for finding in value["findings"]:
        mark = _MARKS[finding["state"]]
        shown = mark if finding["state"] == "ok" else terminal.bold(mark) if finding["needed"] else terminal.dim(mark)
        yield f"{finding['name']:{width}}  {shown}  {one_line(finding['said'])}".rstrip()
        if finding["state"] != "ok" and finding["remedy"]:
            yield f"{'':{width}}  {terminal.cyan(one_line(finding['remedy']))}"
    count = len(value["wrong"])
    yield "all that is needed is there" if value["ok"] else f"{count} thing{'' if count == 1 else 's'} to see to"


COMMAND: Final = Command(
    name="doctor",
    summary="Tell what is installed, what is missing, and how to get it.",
    help=(
        "Looks at Python, the extras of this package, the folders it writes to, OCR, the keyring, the clock, and the "
        "programs that some uses need. What --role names is needed, by default whatever `a2c up` needs; the rest is "
        "only told. Exit code 1 where something needed is missing."
    ),
    arguments=(
        Argument(
            "--role",
            "What this machine is for.",
            many=True,
            choices=(
                "up",
                "server",
                "computer",
                "agent",
                "bridge",
                "documents",
                "docserver",
                "digest",
                "ocr",
                "console",
            ),
        ),
        Argument("--port", "Also tell whether this port is free.", metavar="PORT", convert=port),
    ),
    handler=run,
    show=show,
    failed=lambda value: not value["ok"],
    examples=("a2c doctor", "a2c doctor --role server --port 8000 --json"),
)
