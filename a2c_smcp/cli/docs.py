"""`a2c docs`: a folder of files as a tree of documents, pages and elements."""

from argparse import Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.cli import docs_cache, docs_serve
from a2c_smcp.cli.command import Argument, Command, Context
from a2c_smcp.cli.docs_options import EXCLUDE, FOLDERS, HOST, OCR, PASSWORD, ocr_policy, passwords
from a2c_smcp.cli.parsing import positive
from a2c_smcp.cli.terminal import Terminal

if TYPE_CHECKING:
    from a2c_smcp.documents.library import Library

DEPTHS: Final = ("documents", "pages", "elements")


# What a command needs is imported when it runs: help and completion must not wait for it, nor miss it.
def run(context: Context, arguments: Namespace) -> Any:
    """Return the tree of the folders, or with `--read` what is at that URI."""
    from a2c_smcp.cli import resource_text, tree  # noqa: PLC0415

    with _library(context, arguments) as library:
        if arguments.read is None:
            return tree.tree_of(library, arguments.depth, arguments.limit)
        return resource_text.read(library, arguments.read, default_format="json" if arguments.json else "markdown")


def show(value: Any, arguments: Namespace, terminal: Terminal) -> Iterable[str]:
    """Yield the tree, or the text that was read."""
    from a2c_smcp.cli import resource_text, tree  # noqa: PLC0415

    if arguments.read is None:
        return tree.tree_lines(value, arguments.folder, terminal)
    return resource_text.lines(value, terminal)


def browse(context: Context, arguments: Namespace) -> None:
    """Go on with a person at the terminal, after the tree."""
    from a2c_smcp.cli.browser import LibraryBrowser  # noqa: PLC0415

    if arguments.read is None:
        context.stdout.write("\n")
        with _library(context, arguments) as library:
            LibraryBrowser(library, context, limit=arguments.limit).run()


def _library(context: Context, arguments: Namespace) -> "Library":
    from a2c_smcp.documents.library import Library  # noqa: PLC0415

    return Library(
        arguments.folder,
        host=arguments.host,
        excludes=tuple(arguments.exclude or ()),
        ocr=ocr_policy(context, arguments),
        passwords=passwords(context, arguments),
    )


COMMAND: Final = Command(
    name="docs",
    summary="Show folders of files as documents, pages and elements.",
    help=(
        "Prints a tree with the dpe:// URI to open each branch. In a terminal it then asks what to open: a number or a "
        "URI opens, u goes up, /word searches, ? helps, q quits. A file that cannot be read is listed with the reason; "
        "what .gitignore or .a2cignore name is left out. To offer the same folders to MCP clients: a2c docs serve. "
        "A folder of the name of a command is written ./serve."
    ),
    arguments=(
        FOLDERS,
        Argument(
            "--read", "Print what is at this dpe:// URI instead; Markdown unless ?format= or --json.", metavar="URI"
        ),
        Argument("--depth", "How far the tree goes.", choices=DEPTHS, default=DEPTHS[-1]),
        Argument("--limit", "The most branches to show at each level.", metavar="N", convert=positive, default=20),
        HOST,
        EXCLUDE,
        *OCR,
        PASSWORD,
    ),
    handler=run,
    show=show,
    interact=browse,
    commands=(docs_serve.COMMAND, docs_cache.COMMAND),
    examples=(
        "a2c docs examples/documents",
        "a2c docs examples/documents --depth pages --json",
        "a2c docs examples/documents --read 'dpe://a2c.docs/glossary.txt/pages/0'",
        "a2c docs serve examples/documents",
    ),
    extra="documents",
    hints={
        4201: "`a2c docs FOLDER --depth documents` lists the documents and their URIs",
        4202: "read the document's URI with ?depth=pages for its pages",
        4203: "read the page for the ids of its elements",
        4204: "a URI looks like dpe://HOST/DOCUMENT, .../pages/0 or .../elements/tbl-001",
    },
)
