"""`output_assembler@v1`: text and images become an illustrated digest in Markdown.

Each section has what it is about, its tables, and the images of its pages. With a model a section is written by it, and
one for which the model fails is marked and extracted instead; without a model all are extracted.
"""

import hashlib
import json
import logging
from pathlib import Path
from typing import Any, Final

from a2c_smcp.common.callbacks import notify_guarded
from a2c_smcp.digest.extraction import STATE, write
from a2c_smcp.digest.extracts import elements_of, extract_of
from a2c_smcp.digest.framework_protocol import Params, Progress, Response, respond, wanted
from a2c_smcp.digest.layout import Part, layout
from a2c_smcp.digest.llm_proxy import LlmProxy
from a2c_smcp.digest.material import Material, gather, problem_of
from a2c_smcp.digest.sections import Section, sections_of
from a2c_smcp.digest.threads import spread
from a2c_smcp.digest.wording import words_for
from a2c_smcp.digest.writing import Writer, Written
from a2c_smcp.errors import BadRequest, SMCPError

AT_ONCE: Final = 4
FIGURES: Final = ("image", "chart", "diagram", "table")

_log = logging.getLogger(__name__)


class OutputAssemblerExpert:
    """Makes digests, with the model of the environment unless another, or none, is given."""

    def __init__(self, llm: LlmProxy | None = None) -> None:
        self._llm = llm

    def compose(self, params: Params, *, progress: Progress | None = None) -> Response:
        """Return `output_md`, the `images` it shows, and what became of each of its `sections`.

        Parameters: `out_md_path`, `pdf_path` or `text_path`, and if given `images`, `section_ranges`, `title`,
        `page_count`, `outline`, `model`, `temperature`, `max_tokens`, `instructions`.
        """
        llm = self._llm or LlmProxy()
        return respond(params, lambda given, trace_id: _Composition(given, trace_id, llm, progress).done())


class _Composition:
    def __init__(self, params: dict[str, Any], trace_id: str, llm: LlmProxy, progress: Progress | None) -> None:
        self._params, self._trace_id, self._llm, self._progress = params, trace_id, llm, progress
        self._target = Path(wanted(params, "out_md_path"))
        self._state = Path(params.get("out_dir") or self._target.parent) / STATE / "sections"
        self._done = 0

    def done(self) -> dict[str, Any]:
        material = gather(self._params, self._progress)
        sections = sections_of(material.page_count, self._params.get("section_ranges"), material.outline)
        self._tell(0, len(sections))
        writer = self._writer()
        parts = spread(
            lambda section: self._part(section, material, writer, len(sections)), sections, AT_ONCE if writer else 1
        )
        words = words_for(material.texts.values())
        name = Path(str(self._params.get("pdf_path") or self._params.get("text_path"))).name
        model = (writer.model or self._llm.settings.model) if writer is not None else ""
        text, shown = layout(material, parts, words, name=name, model=model, folder=self._target.parent)
        self._target.parent.mkdir(parents=True, exist_ok=True)
        write(self._target, text.encode("utf-8", "surrogatepass"))
        return {
            "output_md": str(self._target),
            "images": [str(image) for image in shown],
            "title": material.title,
            "sections": [part.told() for part in parts],
            "by": "model" if writer is not None else "extract",
            "usage": dict(self._llm.usage),
        }

    def _writer(self) -> Writer | None:
        if not self._llm.settings.configured:
            return None
        known = {
            name: self._params[name] for name in ("temperature", "max_tokens") if self._params.get(name) is not None
        }
        instructions = str(self._params.get("instructions") or "")
        return Writer(self._llm, model=self._params.get("model"), instructions=instructions, **known)

    def _part(self, section: Section, material: Material, writer: Writer | None, total: int) -> Part:
        texts = {number: material.texts.get(number, "") for number in section.pages}
        extract = extract_of(texts)
        figures = frozenset(
            number for number, text in texts.items() if any(e.category in FIGURES for e in elements_of(text))
        )
        title = section.title or next((text for _, __, text in extract.headings), "")
        part = Part(section, title, extract, figures)
        if writer is not None and any(text.strip() for text in texts.values()):
            try:
                part = part.written(self._written(writer, section, texts))
            except SMCPError as error:
                _log.warning("The model failed for a section", extra={"trace_id": self._trace_id})
                part = part.failed(problem_of(error))
        self._done += 1
        self._tell(self._done, total)
        return part

    def _written(self, writer: Writer, section: Section, texts: dict[int, str]) -> Written:
        """Return a section that was written before of the same pages with the same settings, or write it."""
        facts = [section.first, section.last, section.title, texts, writer.model, writer.temperature, writer.max_tokens]
        facts += [writer.instructions, self._llm.settings.base_url, self._llm.settings.model]
        key = hashlib.sha256(json.dumps(facts, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()[:24]
        path = self._state / f"{key}.json"
        try:
            return Written(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            written = writer.write(section, texts, self._trace_id)
        self._state.mkdir(parents=True, exist_ok=True)
        value = {"text": written.text, "calls": written.calls, "dropped_citations": written.dropped_citations}
        write(path, json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        return written

    def _tell(self, done: int, total: int) -> None:
        if self._progress is not None:
            notify_guarded(_log, "a progress callback", self._progress, "sections", done, total)


def parse_ranges(text: str) -> list[list[int]]:
    """Return the section ranges that a user wrote: `[[1,5],[6,10]]` or `1-5,6-10`.

    Raises:
        BadRequest: It is neither.
    """
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, list):
        return value
    try:
        pairs = [part.split("-") for part in text.split(",")]
        return [[int(pair[0]), int(pair[-1])] for pair in pairs if len(pair) <= 2 or _refuse(text)]
    except (ValueError, IndexError):
        raise BadRequest(f"{text!r} is no list of page ranges; write [[1,5],[6,10]] or 1-5,6-10") from None


def _refuse(text: str) -> bool:
    raise ValueError(text)
