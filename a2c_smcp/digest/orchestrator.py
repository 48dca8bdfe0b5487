"""`orchestrator@v1`: text and images of a PDF, from the remote service where the user named one, else from here.

What the remote service gives is looked at page by page: a page with too little text, or one that repeats itself without
end, is read here instead. A page of which the service gave no picture is drawn here. Each page says which way it came,
and why.
"""

import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from a2c_smcp.digest.dotsocr import local_pdf_tool, remote_tools
from a2c_smcp.digest.elements import ELEMENTS_NAME, read_elements, write_elements
from a2c_smcp.digest.folders import is_anothers, is_own_file, write
from a2c_smcp.digest.framework_protocol import (
    DOTSOCR_PDF,
    LOCAL_PDF,
    VERSION,
    ExtractionTool,
    Params,
    Progress,
    Response,
    make_request,
    respond,
    result_of,
    secrets_of,
    wanted,
)
from a2c_smcp.digest.page_texts import NO_TEXT, divided, fault_of, is_better, joined, page_fault
from a2c_smcp.digest.pictures import images_in, page_of
from a2c_smcp.documents.model import Element
from a2c_smcp.errors import BadRequest, InternalError

TEXT_NAME: Final = "extract_text.txt"
_TEXTS: Final = (TEXT_NAME, "extract_text_remote.txt", "extract_text_local.txt")

_log = logging.getLogger(__name__)

AnyTool: TypeAlias = Callable[..., Response]
"""A `ExtractionTool`, or one that takes the request alone."""


class OrchestratorExpert:
    """Remote first, local where that fails; what every page went through is in `pages`."""

    def orchestrate(
        self, params: Params, tools: Mapping[str, AnyTool] | None = None, *, progress: Progress | None = None
    ) -> Response:
        """Return `images` and `text_path`.

        Parameters: `pdf_path`, `out_dir`, and if given `dpi`, `no_fallback`, `use_existing_images`, and whatever the
        tools take (`ocr_url`, `password`, …).

        Args:
            tools: `remote` and `local`, or `dotsocr_pdf` and `local_pdf`; by default those of this package, whose
                remote one is used only where the user named a service. A tool is called with the request, which has
                the parameters at its top as well, and if it takes it with `progress`.
        """
        return respond(params, lambda given, trace_id: _Run(given, trace_id, tools, progress).done())


class _Run:
    def __init__(
        self, params: dict[str, Any], trace_id: str, tools: Mapping[str, AnyTool] | None, progress: Progress | None
    ) -> None:
        self._params, self._trace_id, self._progress = params, trace_id, progress
        self._remote = _tool(tools or {}, "remote", DOTSOCR_PDF, remote_tools.call_pdf)
        self._here = _tool(tools or {}, "local", LOCAL_PDF, local_pdf_tool.call)
        self._out_dir = Path(wanted(params, "out_dir"))
        self._elements: dict[int, Sequence[Element]] = {}
        wanted(params, "pdf_path")

    def done(self) -> dict[str, Any]:
        if self._params.get("use_existing_images"):
            return self._existing()
        if self._remote is remote_tools.call_pdf and not self._params.get("ocr_url"):
            if self._params.get("no_fallback"):
                raise BadRequest("--no_fallback needs a remote service: name one with --ocr_url")
            return self._local("no remote service was named")
        try:
            found = result_of(self._call(self._remote, DOTSOCR_PDF))
        except Exception as error:  # noqa: BLE001 - a tool is somebody's code: whatever it raises, there is another way
            why = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
            return self._fall_back(f"the remote service failed: {secrets_of(self._params).hide(why)}")
        return self._checked(found)

    def _checked(self, found: dict[str, Any]) -> dict[str, Any]:
        """Look at what the remote service gave, and mend what is no good."""
        text = _text_at(found.get("text_path"))
        given = found.get("page_count")
        count = given if isinstance(given, int) and given > 0 else None
        pages = divided(text, count) if count else None
        fault = fault_of(text, count or 1) if pages is None or all(map(page_fault, pages.values())) else ""
        if fault:
            return self._fall_back(f"the remote service gave no use: {fault}")
        if pages is None or count is None:
            ways = [{"page": None, "path": "remote", "why": ""}]
            return self._drawn(found | {"pages": ways, "path": "remote"}, count)
        faults = {number: page_fault(pages.get(number, "")) for number in range(1, count + 1)}
        bad = [number for number, why in faults.items() if why]
        if not bad or self._params.get("no_fallback"):
            ways = [_way(number, "remote", faults[number]) for number in faults]
            return self._drawn(found | {"pages": ways, "path": "remote"}, count)
        return self._drawn(found | self._mended(pages, faults, bad), count)

    def _drawn(self, found: dict[str, Any], count: int | None) -> dict[str, Any]:
        """Draw the pages here of which the service gave no picture."""
        images = [Path(image) for image in found.get("images") or ()]
        missing = sorted(set(range(1, (count or 0) + 1)) - {page_of(image) for image in images})
        if not missing or not self._params.get("image_extract", True):
            return found
        try:
            drawn = result_of(self._call(self._here, LOCAL_PDF, pages=missing, ocr=False))
        except Exception as error:  # noqa: BLE001 - without pictures there is still the text
            hidden = secrets_of(self._params).hide(str(getattr(error, "message", error)))
            _log.warning("Pages could not be drawn: %s", hidden, extra={"trace_id": self._trace_id})
            return found | {"why": found.get("why") or f"pages could not be drawn: {hidden}"}
        more = [str(image) for image in drawn.get("images") or ()]
        elements = read_elements(drawn.get("elements_path")) | self._elements
        if elements:
            found = found | {"elements_path": str(write_elements(self._out_dir / ELEMENTS_NAME, elements))}
        return found | {"images": [*map(str, images), *more]}

    def _mended(self, pages: dict[int, str], faults: dict[int, str], bad: list[int]) -> dict[str, Any]:
        local: dict[str, Any] = {}
        failed = ""
        try:
            local = result_of(self._call(self._here, LOCAL_PDF, pages=bad, image_extract=False))
        except Exception as error:  # noqa: BLE001 - the pages that are good stay
            failed = secrets_of(self._params).hide(str(getattr(error, "message", error)))
            _log.warning("Pages could not be read here either: %s", failed, extra={"trace_id": self._trace_id})
        texts = divided(_text_at(local.get("text_path")), max(faults)) or {}
        unread = {way["page"]: way["why"] for way in local.get("pages") or () if way.get("unread")}
        ways = []
        for number, why in faults.items():
            way = _way(number, "remote", f"remote: {why}" if why else "")
            if why and is_better(texts.get(number, ""), pages.get(number, "")):
                pages[number] = texts[number]
                way["path"] = "local"
            elif why == NO_TEXT and (failed or number in unread):
                way |= {"why": f"remote: {why}; here: {unread.get(number) or failed}", "unread": True}
            ways.append(way)
        path = write(self._out_dir / TEXT_NAME, joined(pages).encode("utf-8", "surrogatepass"))
        mixed = any(way["path"] == "local" for way in ways)
        # The next call of the tool writes its own.
        self._elements = read_elements(local.get("elements_path"))
        return {
            "text_path": str(path),
            "elements_path": local.get("elements_path"),
            "pages": ways,
            "path": "remote+local" if mixed else "remote",
        }

    def _fall_back(self, why: str) -> dict[str, Any]:
        if self._params.get("no_fallback"):
            raise InternalError(f"{why} (and --no_fallback forbids another way)")
        _log.info("Reading here: %s", why, extra={"trace_id": self._trace_id})
        return self._local(why)

    def _local(self, why: str) -> dict[str, Any]:
        found = result_of(self._call(self._here, LOCAL_PDF))
        pages = [{**page, "why": page.get("why") or why} for page in found.get("pages", ())]
        return found | {"pages": pages, "path": "local", "why": why}

    def _existing(self) -> dict[str, Any]:
        """Take the images, and the text, that an earlier run left, or that the user put into `existing_dir`."""
        content = str(self._params.get("content") or "")
        folders = [self._out_dir, Path(str(self._params.get("existing_dir") or self._out_dir))]
        for folder in dict.fromkeys(folders):
            images = images_in(folder)
            if images and not (content and is_anothers(folder, content)):
                break
        else:
            raise BadRequest(f"--use_existing_images: there are no images of this PDF in {folders[-1].name!r}")
        text = next((folder / name for name in _TEXTS if is_own_file(folder / name)), None)
        pages = [{"page": page_of(image), "path": "existing", "why": "--use_existing_images"} for image in images]
        found: dict[str, Any] = {"images": [str(image) for image in images], "pages": pages, "path": "existing"}
        return found | {"text_path": str(text) if text is not None else None}

    def _call(self, tool: AnyTool, name: str, **more: Any) -> Response:
        params = {**self._params, **more}
        request = {**params, **make_request(name, params=params, trace_id=self._trace_id)}
        return tool(request, progress=self._progress) if _tells(tool) else tool(request)


def _tool(tools: Mapping[str, AnyTool], role: str, name: str, ours: ExtractionTool) -> AnyTool:
    return tools.get(role) or tools.get(name) or tools.get(f"{name}@{VERSION}") or ours


def _tells(tool: AnyTool) -> bool:
    """Whether a tool says how far it is; one that somebody wrote for the protocol alone does not."""
    try:
        taken = inspect.signature(tool).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(one.name == "progress" or one.kind is one.VAR_KEYWORD for one in taken)


def _way(number: int, path: str, why: str) -> dict[str, Any]:
    return {"page": number, "path": path, "why": why}


def _text_at(path: object) -> str:
    if not isinstance(path, str) or not path:
        return ""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
