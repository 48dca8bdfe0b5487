"""The whole run: see to the libraries, get text and images, make the digest. It can be repeated and resumed."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from a2c_smcp.digest.dotsocr import local_pdf_tool, remote_tools
from a2c_smcp.digest.experts import AutoInstallerExpert, OrchestratorExpert, OutputAssemblerExpert
from a2c_smcp.digest.extraction import check_pdf
from a2c_smcp.digest.framework_protocol import (
    AUTOINSTALLER,
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
from a2c_smcp.digest.llm_proxy import LlmProxy
from a2c_smcp.errors import BadRequest

_ORCHESTRATED: Final = (
    "pdf_path",
    "out_dir",
    "dpi",
    "ocr_url",
    "ocr_key",
    "allow_http",
    "no_fallback",
    "use_existing_images",
    "password",
    "ocr",
)
_COMPOSED: Final = ("section_ranges", "model", "temperature", "max_tokens", "instructions", "password")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The experts and tools of a run."""

    installer: AutoInstallerExpert = field(default_factory=AutoInstallerExpert)
    orchestrator: OrchestratorExpert = field(default_factory=OrchestratorExpert)
    llm: LlmProxy = field(default_factory=LlmProxy)

    def run(self, params: Params, *, progress: Progress | None = None) -> Response:
        """Return `output_md`, `images`, and how it came about.

        Parameters: `pdf_path` and, where they are not to stand beside it, `out_dir` and `output_md`; further those of
        the orchestrator and the assembler, `packages` and `allow_install`.
        """
        return respond(params, lambda given, trace_id: self._run(given, trace_id, progress))

    def _run(self, params: dict[str, Any], trace_id: str, progress: Progress | None) -> dict[str, Any]:
        pdf = Path(wanted(params, "pdf_path"))
        if not pdf.is_file():
            raise BadRequest(f"There is no file {str(pdf)!r}")
        check_pdf(pdf)
        out_dir = Path(params.get("out_dir") or pdf.with_name(f"{pdf.stem}_digest"))
        target = Path(params.get("output_md") or out_dir / f"{pdf.stem}.md")
        needed = {"packages": params.get("packages", list(NEEDED)), "allow_install": params.get("allow_install")}
        installed = result_of(self.installer.ensure(make_request(AUTOINSTALLER, params=needed, trace_id=trace_id)))
        given = {name: params[name] for name in _ORCHESTRATED if params.get(name) is not None}
        asked = make_request(ORCHESTRATOR, params={**given, "out_dir": str(out_dir)}, trace_id=trace_id)
        tools = {"remote": remote_tools.call_pdf, "local": local_pdf_tool.call}
        extracted = result_of(self.orchestrator.orchestrate(asked, tools, progress=progress))
        composed = result_of(
            OutputAssemblerExpert(self.llm).compose(
                make_request(
                    OUTPUT_ASSEMBLER,
                    params={
                        **{name: params[name] for name in _COMPOSED if params.get(name) is not None},
                        "pdf_path": str(pdf),
                        "out_dir": str(out_dir),
                        "out_md_path": str(target),
                        "images": extracted["images"],
                        "text_path": extracted.get("text_path"),
                        **{name: extracted.get(name) for name in ("title", "page_count", "outline")},
                    },
                    trace_id=trace_id,
                ),
                progress=progress,
            )
        )
        return {
            **composed,
            "text_path": extracted.get("text_path"),
            "page_images": extracted["images"],
            "pages": extracted.get("pages", []),
            "path": extracted.get("path", ""),
            "why": extracted.get("why", ""),
            "installed": installed["installed"],
        }
