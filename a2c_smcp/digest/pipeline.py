"""The whole run: see to the libraries, get text and images, make the digest. It can be repeated and resumed."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from a2c_smcp.digest.dotsocr import local_pdf_tool, remote_tools
from a2c_smcp.digest.experts import AutoInstallerExpert, IntentExpert, OrchestratorExpert, OutputAssemblerExpert
from a2c_smcp.digest.extraction import ExtractionSettings, check_pdf, content_of, extract
from a2c_smcp.digest.folders import HERE, Claim, claimed, own_name
from a2c_smcp.digest.framework_protocol import (
    AUTOINSTALLER,
    INTENT_EXPERT,
    ORCHESTRATOR,
    OUTPUT_ASSEMBLER,
    Params,
    Progress,
    Response,
    make_request,
    respond,
    result_of,
    wanted,
)
from a2c_smcp.digest.installer import NEEDED
from a2c_smcp.digest.intents import COMPOSE, INSTALL, NEEDS_MODEL, steps_for
from a2c_smcp.digest.llm_proxy import LlmProxy
from a2c_smcp.digest.sections import check_ranges
from a2c_smcp.errors import BadRequest, DocumentError

_ORCHESTRATED: Final = (
    "pdf_path",
    "dpi",
    "ocr_url",
    "ocr_key",
    "allow_http",
    "timeout",
    "no_fallback",
    "use_existing_images",
    "password",
    "ocr",
)
_COMPOSED: Final = (
    "section_ranges",
    "model",
    "system",
    "temperature",
    "max_tokens",
    "instructions",
    "password",
    "ocr",
    "source_uri",
)
_PASSED_ON: Final = ("title", "page_count", "outline", "pages", "elements_path")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The experts and tools of a run."""

    installer: AutoInstallerExpert = field(default_factory=AutoInstallerExpert)
    orchestrator: OrchestratorExpert = field(default_factory=OrchestratorExpert)
    llm: LlmProxy = field(default_factory=LlmProxy)

    def run(self, params: Params, *, progress: Progress | None = None) -> Response:
        """Return `output_md`, `images`, and how it came about.

        Parameters: `pdf_path`; `out_dir`, by default a folder beside it; `folder`, the digest's own folder in
        `out_dir`, by default one named after the PDF (`.` is `out_dir` itself); `output_md`, by default in that
        folder; `task`, a text that says what to do, by default a digest; further those of the orchestrator and the
        assembler, `packages` and `allow_install`.
        """
        return respond(params, lambda given, trace_id: _Run(self, given, trace_id, progress).done())


class _Run:
    def __init__(self, pipeline: Pipeline, params: dict[str, Any], trace_id: str, progress: Progress | None) -> None:
        self._pipeline, self._params, self._trace_id, self._progress = pipeline, params, trace_id, progress

    def done(self) -> dict[str, Any]:
        params = self._params
        task = self._task()
        if task.get("steps") == [INSTALL]:
            return {"installed": self._installed(), **task}
        pdf = Path(wanted(params, "pdf_path")).expanduser()
        if not pdf.is_file():
            raise BadRequest(f"There is no file {str(pdf)!r}")
        check_pdf(pdf)
        if params.get("section_ranges") is not None:
            check_ranges(params["section_ranges"])
        installed = self._installed()
        out_dir = Path(params.get("out_dir") or pdf.with_name(f"{pdf.stem}_digest"))
        folder = str(params.get("folder") or (own_name(pdf) if params.get("out_dir") else HERE))
        owner = str(params.get("owner") or pdf.resolve())
        with claimed(out_dir, folder, owner=owner, content=content_of(pdf)) as claim:
            if params.get("section_ranges") is not None:
                self._check_ranges(pdf, claim)
            found = self._extracted(claim)
            if COMPOSE in task.get("steps", (COMPOSE,)):
                found |= self._composed(pdf, claim, found, task)
            if not params.get("use_existing_images"):
                claim.keep(_made(found))
        found.pop("outline")
        status = "partial" if any(page.get("unread") for page in found["pages"]) else "complete"
        return {"status": status, **found, "folder": str(claim.path), "installed": installed, **task}

    def _task(self) -> dict[str, Any]:
        """Return what the task asks for and which steps do it; nothing where there is no task."""
        text = self._params.get("task")
        if text is None:
            return {}
        llm = self._pipeline.llm
        asked = make_request(INTENT_EXPERT, params={"text": text}, trace_id=self._trace_id)
        intents = result_of(IntentExpert(llm).identify(asked))["intents"]
        return {"intents": intents, "steps": steps_for(intents, model=llm.settings.configured)}

    def _installed(self) -> list[Any]:
        params = self._params
        needed = {"packages": params.get("packages", list(NEEDED)), "allow_install": params.get("allow_install")}
        request = make_request(AUTOINSTALLER, params=needed, trace_id=self._trace_id)
        return list(result_of(self._pipeline.installer.ensure(request))["installed"])

    def _check_ranges(self, pdf: Path, claim: Claim) -> None:
        """Hold the ranges against the document before any page is read, or sent away."""
        params = self._params
        settings = ExtractionSettings(
            dpi=local_pdf_tool.dpi_of(params),
            password=params.get("password"),
            ocr=local_pdf_tool.local_ocr() if params.get("ocr", True) else None,
        )
        try:
            count = extract(pdf, claim.path, settings, numbers=()).page_count
        except DocumentError:  # a service may still be able to read it
            return
        check_ranges(params["section_ranges"], count)

    def _extracted(self, claim: Claim) -> dict[str, Any]:
        given = {name: self._params[name] for name in _ORCHESTRATED if self._params.get(name) is not None}
        more = {"out_dir": str(claim.path), "existing_dir": str(claim.out_dir), "content": claim.content}
        request = make_request(ORCHESTRATOR, params={**given, **more}, trace_id=self._trace_id)
        tools = {"remote": remote_tools.call_pdf, "local": local_pdf_tool.call}
        found = result_of(self._pipeline.orchestrator.orchestrate(request, tools, progress=self._progress))
        return {
            **{name: found.get(name) for name in _PASSED_ON},
            "pages": found.get("pages", []),
            "images": found["images"],
            "page_images": found["images"],
            "text_path": found.get("text_path"),
            "path": found.get("path", ""),
            "why": found.get("why", ""),
        }

    def _composed(self, pdf: Path, claim: Claim, found: dict[str, Any], task: dict[str, Any]) -> dict[str, Any]:
        params = self._params
        given = {name: params[name] for name in _COMPOSED if params.get(name) is not None}
        if NEEDS_MODEL & set(task.get("intents", ())):
            given["instructions"] = "\n".join(filter(None, [given.get("instructions"), str(params["task"])]))
        more = {
            "pdf_path": str(pdf),
            "out_dir": str(claim.path),
            "out_md_path": str(params.get("output_md") or claim.path / f"{pdf.stem}.md"),
            "images": found["images"],
            "text_path": found["text_path"],
            **{name: found[name] for name in _PASSED_ON},
        }
        request = make_request(OUTPUT_ASSEMBLER, params={**given, **more}, trace_id=self._trace_id)
        return result_of(OutputAssemblerExpert(self._pipeline.llm).compose(request, progress=self._progress))


def _made(found: dict[str, Any]) -> list[Path]:
    names = [*found["page_images"], found["text_path"], found["elements_path"], found.get("output_md")]
    return [Path(name) for name in names if name]
