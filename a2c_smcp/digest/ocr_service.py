"""`a2c ocr`: a service that speaks the remote OCR protocol, with the document core and its engines behind it.

    POST /extract   multipart: `pdf` or `image`, `task`, `dpi`, `image_extract`
    GET  /health    {"ok": true}

It answers JSON, a ZIP archive or plain text, as `response` in the form or `Accept` asks for.
"""

import asyncio
import base64
import errno
import hmac
import logging
import shutil
import tempfile
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from a2c_smcp.digest.dotsocr.local_pdf_tool import dpi_of, local_ocr
from a2c_smcp.digest.extraction import ExtractionSettings, PdfExtract, extract
from a2c_smcp.digest.page_texts import joined
from a2c_smcp.documents.formats.registry import format_of
from a2c_smcp.documents.ocr.base import OcrPolicy
from a2c_smcp.errors import BadRequest, DocumentError, RateLimited, SMCPError, Unauthorized, to_wire

_log = logging.getLogger(__name__)

TASKS: Final = {"pdf_ocr": "pdf", "image_ocr": "image"}
FORMS: Final = {"json": "application/json", "zip": "application/zip", "text": "text/plain"}
MAX_JSON_IMAGES: Final = 48 << 20
"""Images of more bytes than this do not fit into one JSON answer; a ZIP archive takes them."""

_IMAGES: Final = ("png", "jpg", "jpeg", "tif", "tiff", "webp", "bmp", "gif")
_STATUS: Final = {400: 400, 401: 401, 429: 503}

Send = Callable[[dict[str, Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class OcrServiceSettings:
    """How the service works.

    Attributes:
        token: What a client must send as a bearer token; empty lets everyone in.
        ocr: The engines that read scans and pictures; by default the local one, where it is installed.
        max_bytes: The largest upload.
        at_once: Documents that are read at a time.
        waiting: Requests that may wait for their turn; more are told to come again later.
    """

    token: str = field(default="", repr=False)
    ocr: OcrPolicy | None = field(default_factory=local_ocr)
    max_bytes: int = 200 << 20
    at_once: int = 2
    waiting: int = 16


def create_app(settings: OcrServiceSettings | None = None) -> Starlette:
    """Return the service as an ASGI application."""
    service = _Service(settings or OcrServiceSettings())
    routes = [Route("/extract", service.extract, methods=["POST"]), Route("/health", service.health)]
    return Starlette(
        routes=routes, exception_handlers={SMCPError: _refuse, HTTPException: _refuse_http, OSError: _refuse_os}
    )


class _Service:
    def __init__(self, settings: OcrServiceSettings) -> None:
        self._settings = settings
        self._turn = asyncio.Semaphore(settings.at_once)
        self._inside = 0

    async def health(self, _: Request) -> Response:
        engines = [spec.kind for spec in self._settings.ocr.engines] if self._settings.ocr is not None else []
        return JSONResponse({"ok": True, "engines": engines, "tasks": list(TASKS)})

    async def extract(self, request: Request) -> Response:
        self._check(request)
        if self._inside >= self._settings.at_once + self._settings.waiting:
            raise RateLimited("The service is busy; come again in a minute")
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="a2c-ocr-"))
        self._inside += 1
        try:
            return await self._answer(request, folder)
        except BaseException:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            raise
        finally:
            self._inside -= 1

    async def _answer(self, request: Request, folder: Path) -> Response:
        async with _form(request, self._settings.max_bytes) as form:
            path, images = await _upload(form, folder), _flag(form, "image_extract", default=True)
            dpi = dpi_of({"dpi": _number(form, "dpi", 200)})
            wanted = _form_of(form, request)
        settings = ExtractionSettings(dpi=dpi, ocr=self._settings.ocr, images=images and wanted != "text")
        async with self._turn:
            found = await asyncio.to_thread(extract, path, folder / "out", settings)
        failed = [page for page in found.pages if page.problem and not page.text]
        if failed and len(failed) == len(found.pages):
            raise DocumentError(failed[0].problem)
        done = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
        return await asyncio.to_thread(_told, found, folder, wanted, done)

    def _check(self, request: Request) -> None:
        if self._settings.token:
            sent = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
            if not hmac.compare_digest(sent.encode(), self._settings.token.encode()):
                raise Unauthorized("Send the token of this service as `Authorization: Bearer …`")
        length = request.headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._settings.max_bytes:
            raise HTTPException(413, f"The file is larger than {self._settings.max_bytes >> 20} MiB")


@asynccontextmanager
async def _form(request: Request, limit: int) -> AsyncIterator[Mapping[str, Any]]:
    """Read the form, and end a body that turns out larger than the limit."""
    received = 0
    receive = request.receive

    async def counted() -> Any:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise HTTPException(413, f"The file is larger than {limit >> 20} MiB")
        return message

    counting = Request(request.scope, counted)
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise BadRequest("Send the file as multipart/form-data, in the field `pdf` or `image`")
    async with counting.form(max_files=1, max_fields=20) as form:
        yield form


async def _upload(form: Mapping[str, Any], folder: Path) -> Path:
    task = str(form.get("task") or "")
    if task and task not in TASKS:
        raise BadRequest(f"There is no task {task!r}; known are {', '.join(TASKS)}")
    kind = TASKS.get(task) or next((name for name in TASKS.values() if name in form), "pdf")
    file = form.get(kind)
    if not isinstance(file, UploadFile):
        raise BadRequest(f"The file is missing: send it in the field `{kind}`")
    path = folder / f"upload.{_suffix(kind, file.filename or '')}"
    with path.open("wb") as out:
        while piece := await file.read(1 << 20):
            await asyncio.to_thread(out.write, piece)
    return path


def _suffix(kind: str, name: str) -> str:
    suffix = name.rpartition(".")[2].lower()
    if kind == "pdf":
        return "pdf"
    return suffix if suffix in _IMAGES and format_of(f"x.{suffix}") is not None else "png"


def _form_of(form: Mapping[str, Any], request: Request) -> str:
    asked = str(form.get("response") or "").lower()
    if asked:
        if asked not in FORMS:
            raise BadRequest(f"There is no response form {asked!r}; known are {', '.join(FORMS)}")
        return asked
    accept = request.headers.get("accept", "")
    return next((name for name, mime in FORMS.items() if mime in accept), "json")


def _flag(form: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = form.get(name)
    return default if value is None else str(value).strip().lower() in ("1", "true", "yes", "on")


def _number(form: Mapping[str, Any], name: str, default: int) -> int:
    value = form.get(name)
    if value is None or not str(value).strip():
        return default
    try:
        return int(str(value))
    except ValueError:
        raise BadRequest(f"{name} must be a whole number; it is {str(value)[:20]!r}") from None


def _told(found: PdfExtract, folder: Path, wanted: str, done: BackgroundTask) -> Response:
    text = joined({page.number: page.text for page in found.pages})
    if wanted == "text":
        return PlainTextResponse(text, background=done)
    images = [page.image for page in found.pages if page.image is not None]
    if wanted == "zip":
        archive = folder / "answer.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as file:
            file.writestr("text.txt", text, zipfile.ZIP_DEFLATED)
            for image in images:
                file.write(image, image.name)
        return FileResponse(archive, media_type=FORMS["zip"], filename="extract.zip", background=done)
    if sum(image.stat().st_size for image in images) > MAX_JSON_IMAGES:
        raise HTTPException(413, "The images do not fit into one JSON answer; ask for `response=zip`")
    pages = [
        {"page": page.number, "text": page.text, "by": page.by} | ({"problem": page.problem} if page.problem else {})
        for page in found.pages
    ]
    encoded = [{"filename": one.name, "content": base64.b64encode(one.read_bytes()).decode()} for one in images]
    return JSONResponse(
        {"text": text, "images": encoded, "pages": pages, "page_count": found.page_count}, background=done
    )


async def _refuse(_: Request, error: Exception) -> Response:
    problem = error if isinstance(error, SMCPError) else BadRequest(str(error))
    status = _STATUS.get(problem.code, 422 if isinstance(problem, DocumentError) else 400)
    headers = {"retry-after": "60"} if status == 503 else {}
    return JSONResponse(to_wire(problem), status_code=status, headers=headers)


async def _refuse_http(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else "The service failed"
    return JSONResponse({"error": {"code": status, "message": detail}}, status_code=status)


async def _refuse_os(_: Request, error: Exception) -> Response:
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if not full:
        _log.error("Request failed", exc_info=error)
    status, why = (507, "The disk of the service is full") if full else (500, "The service failed")
    return JSONResponse({"error": {"code": status, "message": why}}, status_code=status)
