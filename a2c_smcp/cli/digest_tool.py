"""Digests of the documents that are served: made in a process of its own, put beside the others as documents.

    run     {"params": …}                            the run's standard input, which stays open as long as it is wanted
    run →   {"progress": [stage, done, total]} …     its standard output, a line each
            {"response": …}                          the last one

The process leads a group, so that ending it ends its workers too, whatever they wait for: a page that is recognized,
a service, a language model. It ends by itself when its input does.
"""

import asyncio
import errno
import hashlib
import json
import os
import shutil
import signal
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from a2c_smcp.common.child_python import FOLDER, NETWORK, environment, python_command
from a2c_smcp.common.extras import install_hint
from a2c_smcp.documents import resource_reading
from a2c_smcp.documents.catalogue import CataloguedFile
from a2c_smcp.documents.descriptors import regular_file
from a2c_smcp.documents.files import signature_in
from a2c_smcp.documents.ocr.base import OcrPolicy
from a2c_smcp.documents.service import DocumentService
from a2c_smcp.errors import BadRequest, DocumentError, InternalError, SMCPError
from a2c_smcp.uris.dpe import build_dpe_uri

if TYPE_CHECKING:  # a run has no use for what a server needs
    from a2c_smcp.docserver.ports import ProgressCallback

IMAGES: Final = ".images"
"""The folder below that of the digests for page images and what is known of runs: hidden, so none of it is served."""

SUFFIX: Final = ".digest.md"
PICTURE_DEPTH: Final = 3
"""A picture is at `.images/NAME/FILE`."""

MAX_PICTURE: Final = 64 << 20
_PICTURES: Final = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}

MAX_NAME: Final = 60
MAX_LINE: Final = 16 << 20
PDF: Final = "pdf"

_CODE: Final = "from a2c_smcp.cli.digest_tool import main; main()"


@dataclass(frozen=True, slots=True)
class Digest:
    """A digest that was made."""

    uri: str
    doc_ref: str
    title: str
    by: str
    source_pages: int
    sections: Sequence[dict[str, Any]]
    unread: Sequence[int] = ()


class DigestingService(DocumentService):
    """Documents of which digests can be made; the digests are documents of the same host.

    Args:
        folder: Where digests go; it is made where it is missing, and served like the roots.
        options: Those of `DocumentService`. Scans are read for a digest as its `ocr` says. Encrypted documents are
            not digested: their text would be left on disk.

    Raises:
        BadRequest: The folder cannot be made.
    """

    def __init__(self, roots: Sequence[str | Path], folder: str | Path, **options: Any) -> None:
        self._digests = Path(folder).expanduser().absolute()
        try:
            self._digests.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadRequest(f"The folder {str(folder)!r} cannot be made: {error.strerror}") from None
        self._digests = self._digests.resolve()
        super().__init__([*roots, self._digests], **options)
        self._how = ocr_params(options.get("ocr"))
        self._turn = asyncio.Lock()

    async def digest(
        self, doc_ref: str, *, section_ranges: Sequence[Sequence[int]] | None, dpi: int, tell: "ProgressCallback"
    ) -> Digest:
        """Make a digest of a PDF, one after another, since each uses every core; cancelling ends the run.

        Raises:
            DocumentNotFound: There is no such document.
            BadRequest: It is no PDF, or the ranges are none of its pages.
            DocumentError: There can be no digest of it.
        """
        document = await self.document(doc_ref)
        if document.file_type != PDF:
            raise BadRequest(
                f"Digests are made of PDFs, and {doc_ref!r} is {document.file_type!r}: read it page by page",
                details={"doc_ref": doc_ref, "file_type": document.file_type},
            )
        source = await self._keeper.source(doc_ref)
        name = digest_name(doc_ref, source.file.path.stem)
        target = self._digests / f"{name}{SUFFIX}"
        params: dict[str, Any] = {
            "out_dir": str(self._digests),
            "folder": f"{IMAGES}/{name}",
            "owner": doc_ref,
            "output_md": str(target),
            "source_uri": build_dpe_uri(self.host, doc_ref),
            "dpi": dpi,
            "section_ranges": [list(pair) for pair in section_ranges] if section_ranges else None,
            "allow_install": False,
            **self._how,
        }
        async with self._turn, _copy_of(source) as copy:
            params["pdf_path"] = str(copy)
            response = await _run({key: value for key, value in params.items() if value is not None}, tell)
        if not response["ok"]:
            why = _without_paths(str(response["error"]), copy, self._digests)
            raise DocumentError(f"There can be no digest of {doc_ref!r}: {why}", details={"doc_ref": doc_ref})
        data = response["data"]
        made = await self._made(target)
        return Digest(
            uri=build_dpe_uri(self.host, made),
            doc_ref=made,
            title=(await self.document(made)).title,
            by=data["by"],
            source_pages=document.page_count,
            sections=data["sections"],
            unread=[page["page"] for page in data["unread"]],
        )

    async def element_image(self, doc_ref: str, element_id: str) -> tuple[str, bytes]:
        """Return the picture of an element; those of a digest lie beside it."""
        source = await self._keeper.source(doc_ref)
        if Path(source.path).parent != self._digests or not source.path.endswith(SUFFIX):
            return await super().element_image(doc_ref, element_id)
        _, element = await self.element(doc_ref, element_id)
        name = picture_name(element.content.get("url")) if element.category == "image" else None
        picture = None if name is None else await asyncio.to_thread(_picture, str(self._digests), name)
        if picture is None:
            document = await self.document(doc_ref)
            raise resource_reading.no_element(doc_ref, element_id, document.page_count, "there is none with a picture")
        return picture

    async def _made(self, target: Path) -> str:
        """Return the `doc_ref` of a digest, once it is among the documents."""
        await self._keeper.refresh()
        for source in self._catalogue.sources:
            if source.path == str(target):
                return source.doc_ref
        raise InternalError(f"{target.name!r} was written, but what is left out (--exclude, .a2cignore) hides it")


def picture_name(url: object) -> str | None:
    """Return where a picture of a digest is, below the folder of digests; None where the URL leads elsewhere."""
    if not isinstance(url, str):
        return None
    parts = PurePosixPath(unquote(url)).parts
    inside = parts[:1] == (IMAGES,) and len(parts) == PICTURE_DEPTH and ".." not in parts
    return "/".join(parts) if inside else None


def _picture(root: str, name: str) -> tuple[str, bytes] | None:
    """Read a picture without following a link; None where there is none."""
    try:
        opened, status = regular_file(root, name)
        if status.st_size > MAX_PICTURE:
            return None
        with open(opened.number, "rb", closefd=False) as file:
            data = file.read()
    except OSError:
        return None
    mime_type = next((kind for start, kind in _PICTURES.items() if data.startswith(start)), None)
    return (mime_type, data) if mime_type else None


def digest_name(doc_ref: str, stem: str) -> str:
    """Return what the digest of a document is called: no two documents share one."""
    if stem.isascii():
        return doc_ref.removesuffix(f".{PDF}")
    return f"{stem[:MAX_NAME]}-{hashlib.sha256(doc_ref.encode()).hexdigest()[:6]}"


def ocr_params(policy: OcrPolicy | None) -> dict[str, Any]:
    """Return the parameters of a run that read scans as the policy says, as far as the pipeline can."""
    engines = policy.engines if policy is not None else ()
    remote = next((spec for spec in engines if spec.kind == "remote"), None)
    params: dict[str, Any] = {"ocr": any(spec.kind == "local" for spec in engines)}
    if remote is not None:
        params |= {"ocr_url": remote.url, "ocr_key": remote.key or None, "allow_http": remote.allow_http == "always"}
    return params


def _without_paths(text: str, source: Path, folder: Path) -> str:
    for path in (source, source.parent, folder / IMAGES, folder):
        text = text.replace(str(path), path.name)
    return text


@asynccontextmanager
async def _copy_of(source: CataloguedFile) -> AsyncIterator[Path]:
    """Copy a document's file to a private folder: a run reads it by path, and a path in a shared folder can be swapped.

    Raises:
        DocumentError: The file is another one now, or cannot be read.
    """
    with TemporaryDirectory(prefix="a2c-digest-") as folder:
        copy = Path(folder, source.file.path.name)
        try:
            await asyncio.to_thread(_copy, source, copy)
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise DocumentError(
                f"{source.doc_ref!r} cannot be read: {why}", details={"doc_ref": source.doc_ref}
            ) from None
        yield copy


def _copy(source: CataloguedFile, to: Path) -> None:
    opened, status = regular_file(source.file.root, source.file.relative)
    if signature_in(status) != source.signature:
        raise OSError(errno.ESTALE, "the file has changed, ask again")
    with open(opened.number, "rb", closefd=False) as file, to.open("wb") as copy:
        shutil.copyfileobj(file, copy, 1 << 20)


async def _run(params: dict[str, Any], tell: "ProgressCallback") -> dict[str, Any]:
    steps: dict[str, tuple[int, int]] = {}
    told = -1
    async with _process() as process:
        if process.stdin is None or process.stdout is None:
            raise InternalError("a run without pipes")
        process.stdin.write(json.dumps({"params": params}).encode() + b"\n")
        async for line in process.stdout:
            message = json.loads(line)
            if (response := message.get("response")) is not None:
                return dict(response)
            stage, done, total = message["progress"]
            steps[stage] = done, total
            so_far = sum(step[0] for step in steps.values())
            if so_far > told:
                told = so_far
                await tell(so_far, sum(step[1] for step in steps.values()), f"{stage}: {done} of {total}")
    raise InternalError("The run of the digest has ended without a word; try again")


@asynccontextmanager
async def _process() -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *python_command(_CODE),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=FOLDER,
        env=environment(*NETWORK, prefixes=["A2C_LLM_"]),
        limit=MAX_LINE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        _kill(process.pid)
        # Whoever cancels waits for an end that is certain, not for a farewell.
        await asyncio.shield(process.wait())


def _kill(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(leader, signal.SIGKILL)
        else:  # pragma: no cover - Windows
            os.kill(leader, signal.SIGTERM)


# The process of a run


def main() -> None:
    """Make one digest."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints does not print into the answers
    unread = _first_line()
    threading.Thread(target=_end_with_input, daemon=True).start()
    lock = threading.Lock()

    def say(message: dict[str, Any]) -> None:
        with lock:
            answers.write(json.dumps(message) + "\n")
            answers.flush()

    say({"response": _digest(json.loads(unread)["params"], say)})


def _digest(params: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> Any:
    from a2c_smcp.digest.framework_protocol import make_response  # noqa: PLC0415 - the room of this process alone

    try:
        from a2c_smcp.digest.llm_proxy import LlmProxy, LlmSettings  # noqa: PLC0415
        from a2c_smcp.digest.pipeline import Pipeline  # noqa: PLC0415

        llm = LlmProxy(LlmSettings.from_environment())
    except SMCPError as error:
        return make_response(ok=False, error=error.message)
    except ModuleNotFoundError as error:
        why = f"the module {error.name!r} is missing: {install_hint('digest')}"
        return make_response(ok=False, error=why)
    return Pipeline(llm=llm).run(params, progress=lambda stage, done, total: say({"progress": [stage, done, total]}))


def _first_line() -> bytes:
    with open(0, "rb", buffering=0, closefd=False) as file:
        return file.readline()


def _end_with_input() -> None:
    while os.read(0, 1 << 10):
        pass
    if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
