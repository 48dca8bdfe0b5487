"""`output_assembler@v1`: text and images become an illustrated digest in Markdown.

Each section has what it is about, its tables, and the images of its pages. With a model a section is written by it, and
one for which the model fails is marked and extracted instead; without a model all are extracted.
"""

import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from a2c_smcp.common.callbacks import notify_guarded
from a2c_smcp.digest.extracts import extract_of
from a2c_smcp.digest.folders import STATE, directory, write
from a2c_smcp.digest.framework_protocol import Params, Progress, Response, respond, wanted
from a2c_smcp.digest.layout import DigestPart, Links, layout
from a2c_smcp.digest.llm_proxy import LlmProxy
from a2c_smcp.digest.material import Material, gather, problem_of
from a2c_smcp.digest.sections import Section, sections_of
from a2c_smcp.digest.threads import spread
from a2c_smcp.digest.wording import words_for
from a2c_smcp.digest.writing import ModelFailed, SectionWriter, Written
from a2c_smcp.errors import BadRequest

AT_ONCE: Final = 4

_log = logging.getLogger(__name__)


class OutputAssemblerExpert:
    """Makes digests, with the model of the environment unless another, or none, is given."""

    def __init__(self, llm: LlmProxy | None = None) -> None:
        self._llm = llm

    def compose(self, params: Params, *, progress: Progress | None = None) -> Response:
        """Return `output_md`, the `images` it shows, and what became of each of its `sections`.

        Parameters: `out_md_path`, `pdf_path` or `text_path`, and if given `images`, `section_ranges`, `title`,
        `page_count`, `outline`, `pages` and `elements_path` (as the orchestrator returns them), `model`, `system`,
        `temperature`, `max_tokens`, `instructions`, and `source_uri`: the `dpe://` URI that citations lead to.

        A page that could not be read is in `unread`, and the `status` is "partial" then.
        """
        llm = self._llm or LlmProxy()
        return respond(params, lambda given, trace_id: _Composition(given, trace_id, llm, progress).done())


class _Composition:
    def __init__(self, params: dict[str, Any], trace_id: str, llm: LlmProxy, progress: Progress | None) -> None:
        self._params, self._trace_id, self._llm, self._progress = params, trace_id, llm, progress
        self._target = Path(wanted(params, "out_md_path")).expanduser().absolute()
        self._links = Links(self._target.parent, str(params.get("source_uri") or ""))
        self._state = Path(params.get("out_dir") or self._target.parent)
        self._done = 0

    def done(self) -> dict[str, Any]:
        material = gather(self._params, self._progress)
        sections = sections_of(material.page_count, self._params.get("section_ranges"), material.outline)
        self._tell(0, len(sections))
        writer = self._writer()
        parts = self._parts(sections, material, writer)
        words = words_for(material.texts.values())
        name = Path(str(self._params.get("pdf_path") or self._params.get("text_path"))).name
        model = (writer.model or self._llm.settings.model) if writer is not None else ""
        text, shown = layout(material, parts, words, name=name, model=model, links=self._links)
        self._target.parent.mkdir(parents=True, exist_ok=True)
        write(self._target.parent.resolve() / self._target.name, text.encode("utf-8", "surrogatepass"))
        return {
            "output_md": str(self._target),
            "images": [str(image) for image in shown],
            "title": material.title,
            "sections": [part.told() for part in parts],
            "by": _author(parts),
            "status": "partial" if material.unread else "complete",
            "unread": [{"page": number, "why": material.unread[number]} for number in sorted(material.unread)],
            "usage": dict(self._llm.usage),
        }

    def _parts(self, sections: Sequence[Section], material: Material, writer: SectionWriter | None) -> list[DigestPart]:
        """Make the sections: with a model the first alone, so that a key it refuses is sent once."""
        total = len(sections)
        first = [self._part(section, material, writer, total) for section in sections[:1]]
        rest = spread(
            lambda section: self._part(section, material, writer, total), sections[1:], AT_ONCE if writer else 1
        )
        return [*first, *rest]

    def _writer(self) -> SectionWriter | None:
        if not self._llm.settings.configured:
            return None
        known = {
            name: self._params[name]
            for name in ("temperature", "max_tokens", "system")
            if self._params.get(name) not in (None, "")
        }
        instructions = str(self._params.get("instructions") or "")
        return SectionWriter(self._llm, model=self._params.get("model"), instructions=instructions, **known)

    def _part(self, section: Section, material: Material, writer: SectionWriter | None, total: int) -> DigestPart:
        unread = {number: why for number, why in material.unread.items() if number in section.pages}
        texts = {number: material.texts.get(number, "") for number in section.pages if number not in unread}
        extract = extract_of({number: material.page(number) for number in texts})
        worth = {number: material.is_shown(number) for number in section.pages}
        shown = sorted((number for number in worth if worth[number]), key=lambda number: (-worth[number], number))
        title = section.title or next((text for _, __, text in extract.headings), "")
        part = DigestPart(section, title, extract, shown, unread=unread)
        if writer is not None and any(text.strip() for text in texts.values()):
            try:
                written, cached = self._written(writer, section, texts)
                part = part.written(written, self._links, cached=cached)
                if not part.text:
                    part = part.failed("The language model's answer has nothing that may stand here", written.calls)
            except ModelFailed as error:
                _log.warning("Language model failed for a section", extra={"trace_id": self._trace_id})
                part = part.failed(problem_of(error), error.calls)
        self._done += 1
        self._tell(self._done, total)
        return part

    def _written(self, writer: SectionWriter, section: Section, texts: dict[int, str]) -> tuple[Written, bool]:
        """Return a section that was written before of the same pages with the same settings, or write it."""
        facts = [section.first, section.last, section.title, texts, writer.model, writer.temperature, writer.max_tokens]
        facts += [writer.system, writer.instructions, self._llm.settings.base_url, self._llm.settings.model]
        key = hashlib.sha256(json.dumps(facts, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()[:24]
        path = self._state / STATE / "sections" / f"{key}.json"
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
            return Written(str(value["text"]), int(value["calls"])), True
        except (OSError, ValueError, TypeError, KeyError):
            written = writer.write(section, texts, self._trace_id)
        self._state.mkdir(parents=True, exist_ok=True)
        directory(self._state, STATE, "sections")
        value = {"text": written.text, "calls": written.calls}
        write(path, json.dumps(value).encode())
        return written, False

    def _tell(self, done: int, total: int) -> None:
        if self._progress is not None:
            notify_guarded(_log, "a progress callback", self._progress, "sections", done, total)


def _author(parts: Sequence[DigestPart]) -> str:
    written = sum(bool(part.text) for part in parts)
    return "extract" if not written else "model" if written == len(parts) else "model+extract"


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
