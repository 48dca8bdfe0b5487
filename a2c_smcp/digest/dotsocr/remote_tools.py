"""`dotsocr_pdf@v1` and `dotsocr_image@v1`: text and images from a remote OCR service that the user has named.

Whatever form the service answers in, all of it lands in `out_dir`: pictures under safe names, the text in one file. An
answer that was taken once is kept: the same file sent to the same service in the same way is not sent again.
"""

import hashlib
import json
import shutil
import tempfile
import zipfile
from pathlib import Path, PureWindowsPath
from typing import Any, Final, Literal, TypeAlias

from a2c_smcp.digest.dotsocr.local_pdf_tool import dpi_of
from a2c_smcp.digest.extraction import ExtractionSettings, extract, key_of
from a2c_smcp.digest.folders import STATE, directory, is_own_file, write
from a2c_smcp.digest.framework_protocol import Params, Progress, Response, respond, wanted
from a2c_smcp.digest.page_texts import joined
from a2c_smcp.digest.pictures import images_in
from a2c_smcp.documents.ocr.answers import ServiceExtract, unpack
from a2c_smcp.documents.ocr.http import Service, send_file
from a2c_smcp.errors import BadRequest, DocumentError

TEXT_NAME: Final = "extract_text_remote.txt"
MAX_ANSWER: Final = 1 << 30
TIMEOUT: Final = 600.0

Kind: TypeAlias = Literal["pdf", "image"]


def call_pdf(params: Params, *, progress: Progress | None = None) -> Response:
    """Return `images` and `text_path` for a PDF.

    Parameters: `pdf_path`, `out_dir`, `ocr_url`, and if given `ocr_key`, `dpi`, `image_extract`, `timeout`, `retries`,
    `allow_http` (plain HTTP to other machines; to this one it is always allowed).
    """
    return respond(params, lambda given, _: _call(given, "pdf", progress))


def call_image(params: Params, *, progress: Progress | None = None) -> Response:
    """Return `images` and `text_path` for the picture at `image_path`; see `call_pdf`."""
    return respond(params, lambda given, _: _call(given, "image", progress))


def _call(params: dict[str, Any], kind: Kind, progress: Progress | None) -> dict[str, Any]:
    source = Path(wanted(params, f"{kind}_path"))
    out_dir = Path(wanted(params, "out_dir"))
    if not source.is_file():
        raise BadRequest(f"There is no file {source.name!r}")
    out_dir.mkdir(parents=True, exist_ok=True)
    service = _service(params)
    dpi, images = dpi_of(params), bool(params.get("image_extract", True))
    if progress is not None:
        progress("service", 0, 1)
    about = _about(params, kind, source)
    state = _State(out_dir, source, service.url, dpi, images=images)
    found = state.get()
    if found is None:
        fields = {"dpi": str(dpi), "image_extract": str(images).lower()}
        found = _ask(service, kind, source, out_dir, fields, about.get("page_count"))
        state.put(found)
    if progress is not None:
        progress("service", 1, 1)
    return found | about


def _service(params: Params) -> Service:
    timeout = float(params.get("timeout") or TIMEOUT)
    return Service(
        wanted(params, "ocr_url"),
        str(params.get("ocr_key") or ""),
        timeout=timeout,
        patience=timeout,  # for all attempts together
        retries=int(params.get("retries", 2)),
        allow_http="always" if params.get("allow_http") else "loopback",
        max_answer=MAX_ANSWER,
    )


def _ask(
    service: Service, kind: Kind, source: Path, out_dir: Path, fields: dict[str, str], page_count: int | None
) -> dict[str, Any]:
    # What arrives is unpacked beside, and moves over only when all of it is good.
    folder = Path(tempfile.mkdtemp(dir=out_dir, prefix=".answer-"))
    try:
        answer = send_file(service, kind, source if kind == "pdf" else source.read_bytes(), folder / "answer", fields)
        _refuse_escapes(answer.path)
        unpacked = folder / "pictures"
        unpacked.mkdir()
        found = unpack(answer, unpacked)
        text = _text_of(found, page_count)
        if not text.strip():
            raise DocumentError("the service answered no text")
        images = [str(path.replace(out_dir / path.name)) for path in images_in(unpacked)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    text_path = write(out_dir / TEXT_NAME, text.encode("utf-8", "surrogatepass"))
    return {"images": images, "text_path": str(text_path)}


def _text_of(found: ServiceExtract, page_count: int | None) -> str:
    """Return the text, with a mark for each page where the answer has a text for each.

    A text that already says where its pages begin stays as it is, and so does one whose numbers are none of pages.
    """
    numbers = found.pages.keys()
    if not numbers or not any(map(str.strip, found.pages.values())):
        return found.text
    most = page_count or max(numbers)
    if min(numbers) < 1 or max(numbers) > most:
        return found.text
    return joined(found.pages)


def _refuse_escapes(path: Path) -> None:
    """Take nothing from an archive that tries to leave its folder, not even what would land safely."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [PureWindowsPath(name) for name in archive.namelist()]  # it knows both slashes, and drives
    except zipfile.BadZipFile:  # an answer of another form; one that is damaged is told by whoever unpacks it
        return
    if any(name.anchor or ".." in name.parts for name in names):
        raise DocumentError("the service answered an archive with names that lead out of its folder")


def _about(params: Params, kind: Kind, source: Path) -> dict[str, Any]:
    """What the file itself says: how many pages, which title and outline."""
    if kind == "image":
        return {"page_count": 1, "title": source.stem, "outline": []}
    with tempfile.TemporaryDirectory(prefix="a2c-digest-") as folder:
        settings = ExtractionSettings(password=params.get("password"), images=False)
        try:
            found = extract(source, Path(folder), settings, numbers=())
        except DocumentError:
            return {}
    return {"page_count": found.page_count, "title": found.title, "outline": found.contents}


class _State:
    """Whether this file was sent to this service in this way, and what came of it."""

    def __init__(self, out_dir: Path, source: Path, url: str, dpi: int, *, images: bool) -> None:
        self._out_dir = out_dir
        file = key_of(source, ExtractionSettings(dpi=dpi, images=images))
        key = hashlib.sha256(f"{file} {url}".encode()).hexdigest()[:20]
        self._path = out_dir / STATE / f"remote-{key}.json"

    def get(self) -> dict[str, Any] | None:
        try:
            value = json.loads(self._path.read_text(encoding="utf-8"))
            images, stamps = value["images"], value["stamps"]
            paths = [self._out_dir / name for name in [*images, TEXT_NAME]]
            if not all(map(is_own_file, paths)) or [_stamp(path) for path in paths] != stamps:
                return None
            return {"images": [str(path) for path in paths[:-1]], "text_path": str(paths[-1])}
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, found: dict[str, Any]) -> None:
        paths = [Path(path) for path in [*found["images"], found["text_path"]]]
        value = {"images": [path.name for path in paths[:-1]], "stamps": [_stamp(path) for path in paths]}
        directory(self._out_dir, STATE)
        write(self._path, json.dumps(value).encode())


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]
