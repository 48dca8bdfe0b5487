"""`a2c docs serve`: folders as an MCP server, over standard input and output or over HTTP."""

import asyncio
import json
from argparse import Namespace
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.cli.command import Argument, Command, Context
from a2c_smcp.cli.connect_options import HTTP_TOKENS, NO_AUTH, Access, access_lines, http_access, http_token
from a2c_smcp.cli.docs_cache import CACHE, chosen
from a2c_smcp.cli.docs_options import DIGESTS, ENV, EXCLUDE, FOLDERS, HOST, OCR, PASSWORD, ocr_policy, passwords
from a2c_smcp.cli.logs import warnings_shown
from a2c_smcp.cli.parsing import UsageError, positive
from a2c_smcp.cli.terminal import Terminal

if TYPE_CHECKING:
    from a2c_smcp.documents.service import DocumentService

TELL_AFTER: Final = 2.0
TELL_AT_MOST: Final = 60.0
"""How many documents are indexed is told after the first of these seconds, then ever more rarely."""
WRITE_EVERY: Final = 0.5


# What the command needs is imported when it runs: help and completion must not wait for it, nor miss it.
def run(context: Context, arguments: Namespace) -> Iterator[Any]:
    """Yield where HTTP clients find the documents; over standard input and output, say nothing."""
    if arguments.json and arguments.http is None:
        raise UsageError("--json needs --http: without it standard output belongs to the client", (COMMAND,))
    serving = _Serving(context, arguments)
    with warnings_shown(context), asyncio.Runner() as runner:
        try:
            if (found := runner.run(serving.begin())) is not None:
                yield found
            runner.run(serving.wait())
        finally:
            runner.run(serving.end())


def show(value: Any, _: Namespace, terminal: Terminal) -> Iterable[str]:
    """Where they are, and what clients need."""
    yield f"documents are at {terminal.cyan(value['url'])} (Ctrl-C ends)"
    yield from access_lines(value, terminal)


class _Serving:
    """A server in two halves, so that where it listens can be told in between."""

    def __init__(self, context: Context, arguments: Namespace) -> None:
        self._context = context
        self._arguments = arguments
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> Any:
        """Start; returns where it listens, or None where there is nothing to tell."""
        from a2c_smcp.docserver.document_server import serve_documents  # noqa: PLC0415
        from a2c_smcp.docserver.process import run_until_signal  # noqa: PLC0415
        from a2c_smcp.docserver.web import Address, Admission  # noqa: PLC0415

        arguments, context = self._arguments, self._context
        address = Address.parse(arguments.http) if arguments.http is not None else None
        access = Access(None)
        if address is not None:
            access = http_access(context, arguments, http_token(context, arguments, ENV), "docs")
        admission = Admission(access.token, tuple(arguments.allow_host or ()), tuple(arguments.allow_origin or ()))
        listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = serve_documents(
            _documents(context, arguments), address=address, admission=admission, ready=listening.set_result
        )
        self._task = asyncio.create_task(run_until_signal(serving))
        if address is None and context.stdin.isatty():
            await asyncio.sleep(0)  # now a signal ends it
            context.stderr.write("waiting for an MCP client on standard input; --http HOST:PORT serves over HTTP\n")
            context.stderr.flush()
        awaited: list[asyncio.Future[Any]] = [self._task, listening]
        await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        if not listening.done():
            return None
        url = listening.result()
        return {"url": url, "host": arguments.host, **access.facts("a2c-documents", url)}

    async def wait(self) -> None:
        """Wait for the end, which a client or a signal brings about."""
        if self._task is not None:
            await self._task

    async def end(self) -> None:
        """End it now, where something else did not."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


@asynccontextmanager
async def _documents(context: Context, arguments: Namespace) -> AsyncIterator["DocumentService"]:
    async with _service(context, arguments) as service:
        telling = [asyncio.create_task(_tell_progress(service, context))]
        if arguments.progress is not None:
            telling.append(asyncio.create_task(_write_progress(service, arguments.progress)))
        try:
            yield service
        finally:
            for task in telling:
                task.cancel()


def _service(context: Context, arguments: Namespace) -> "DocumentService":
    options: dict[str, Any] = {
        "host": arguments.host,
        "cache": chosen(arguments),
        "excludes": tuple(arguments.exclude or ()),
        "ocr": ocr_policy(context, arguments),
        "passwords": passwords(context, arguments),
        "workers": arguments.workers,
    }
    if arguments.digests is not None:
        from a2c_smcp.cli.digest_tool import DigestingService  # noqa: PLC0415

        return DigestingService(arguments.folder, arguments.digests, **options)
    from a2c_smcp.documents.service import DocumentService  # noqa: PLC0415

    return DocumentService(arguments.folder, **options)


async def _tell_progress(service: "DocumentService", context: Context) -> None:
    """Say on standard error how far the index is, while that takes longer than a moment."""
    told, pause = None, TELL_AFTER
    while True:
        await asyncio.sleep(pause)
        progress = service.progress
        if progress == told or (progress.complete and told is None):
            continue
        context.stderr.write(f"{progress.indexed} of {progress.total} documents can be searched\n")
        context.stderr.flush()
        told, pause = (None, TELL_AFTER) if progress.complete else (progress, min(pause * 2, TELL_AT_MOST))


async def _write_progress(service: "DocumentService", path: Path) -> None:
    """Keep a file with how far the index is, for a program that waits for it."""
    written = None
    while True:
        progress = service.progress
        if progress != written:
            text = json.dumps({"indexed": progress.indexed, "total": progress.total})
            part = path.with_name(f"{path.name}.part")
            await asyncio.to_thread(part.write_text, text, encoding="ascii")
            await asyncio.to_thread(part.replace, path)  # whole or not at all
            written = progress
        await asyncio.sleep(WRITE_EVERY)


COMMAND: Final = Command(
    name="serve",
    summary="Offer folders to MCP clients: resources, search, pages as pictures.",
    help=(
        "Without --http it speaks over standard input and output, as programs do that a client starts; everything "
        "else it has to say goes to standard error. Every document is a dpe:// resource with pages and elements below "
        "it; clients are told when files change. Files named in .gitignore or .a2cignore are left out. With --digests "
        "clients can have digests of PDFs made, by the model that A2C_LLM_BASE_URL, A2C_LLM_API_KEY and A2C_LLM_MODEL "
        "name, or without one of headings, key sentences and tables. "
        "HTTP clients need a bearer token, which is generated and printed unless you choose one; --no-auth lets every "
        f"user of this machine in. {ENV}HTTP_TOKEN stands for the option, {ENV}OCR_KEY is sent to OCR services."
    ),
    arguments=(
        FOLDERS,
        HOST,
        Argument("--http", "Serve streamable HTTP here, under /mcp; port 0 is any.", metavar="HOST:PORT"),
        *HTTP_TOKENS,
        NO_AUTH,
        Argument("--allow-host", "A name by which HTTP clients may call this server.", metavar="HOST", many=True),
        Argument("--allow-origin", "A web page that may call it, like https://app.example.", metavar="URL", many=True),
        EXCLUDE,
        DIGESTS,
        *OCR,
        PASSWORD,
        CACHE,
        Argument("--workers", "How many processes read files.", metavar="N", convert=positive),
        Argument(
            "--progress",
            "Keep this file up with how many documents can be searched, as JSON.",
            metavar="FILE",
            convert=Path,
            completes="file",
        ),
    ),
    handler=run,
    show=show,
    stream=True,
    extra="docserver",
    examples=(
        "a2c docs serve ~/Documents",
        "a2c docs serve ~/Documents --http 127.0.0.1:8080 --ocr local --exclude '*.tmp'",
        "a2c docs serve ~/Documents --digests ~/Digests",
        "npx @modelcontextprotocol/inspector a2c docs serve examples/documents",
    ),
)
