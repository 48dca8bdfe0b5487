"""Markdown on a terminal, and the pager for what is longer than the screen."""

import io
import pydoc
import shutil

from a2c_smcp.cli.command import Context
from a2c_smcp.cli.terminal import Terminal, printable

WIDEST = 100
"""Longer lines are hard to read."""


def rendered(markdown: str, terminal: Terminal) -> str:
    """Return Markdown as a terminal with colours can show it; for files, and without the library, as it is."""
    if not terminal.tty:
        return markdown
    text = printable(markdown)
    if not terminal.color:
        return text
    try:
        from rich.console import Console  # noqa: PLC0415
        from rich.markdown import Markdown  # noqa: PLC0415
    except ModuleNotFoundError:
        return text
    out = io.StringIO()
    width = min(terminal.width or WIDEST, WIDEST)
    Console(file=out, width=width, force_terminal=True, color_system="standard", highlight=False).print(Markdown(text))
    return out.getvalue().rstrip("\n")


def page(text: str, context: Context) -> None:
    """Show a text, in the user's pager if it is longer than the screen."""
    height = shutil.get_terminal_size().lines
    if context.stdout.isatty() and text.count("\n") >= height - 2 and context.env.get("PAGER", "-") != "":
        pydoc.pager(text)
    else:
        context.stdout.write(f"{text}\n")
