"""What the cells of a notebook have put out."""

import binascii
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from a2c_smcp.documents.embedded_markdown import elements_of_markdown
from a2c_smcp.documents.formats.elements import ElementMaker, clip
from a2c_smcp.documents.model import Element
from a2c_smcp.documents.web.page import elements_of_html
from a2c_smcp.errors import DocumentError

MAX_OUTPUT: Final = 100_000
"""Characters of one output that are shown; the rest is told of."""

PICTURES: Final = ("image/png", "image/jpeg", "image/webp", "image/gif")
SVG: Final = "image/svg+xml"

_ANSI = re.compile(r"\x1b\[[0-9;?]{0,40}[ -/]{0,4}[@-~]|\x1b\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)|\x1b[@-_]")

_LINE_END = re.compile(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]$")


class Outputs:
    """Makes the elements of outputs.

    Attributes:
        pictures: Type and data of each picture, by element id: Base64, or the source of an SVG.
    """

    def __init__(self, maker: ElementMaker) -> None:
        self._maker = maker
        self.pictures: dict[str, tuple[str, str]] = {}

    def read(self, output: Mapping[str, Any], cell: int) -> Iterator[Element]:
        """Yield the elements of one output of a cell."""
        where = {"cell": cell, "output": str(output.get("output_type", ""))}
        match output.get("output_type"):
            case "stream":
                yield from self._text(joined(output.get("text")), where)
            case "error" | "pyerr":
                yield from self._error(output, where)
            case "display_data" | "execute_result" | "pyout":
                data = output.get("data")
                # Version 3 puts the types beside the rest, under short names.
                yield from self._data(data if isinstance(data, dict) else _old_data(output), where)

    def _data(self, data: Mapping[str, Any], where: dict[str, Any]) -> Iterator[Element]:
        chart = next((value for kind, value in data.items() if "plotly" in kind or "vegalite" in kind), None)
        if isinstance(chart, dict):
            yield self._maker.make("chart", _chart(chart), where)
            return
        picture = next((kind for kind in PICTURES if data.get(kind)), None)
        plain = joined(data.get("text/plain"))
        if picture:
            element = self._maker.make("image", {"alt": plain.strip(), "mime_type": picture}, where)
            self.pictures[element.id] = (picture, joined(data[picture]))
            yield element
        elif SVG in data:
            element = self._maker.make("image", {"alt": plain.strip(), "mime_type": SVG}, where)
            self.pictures[element.id] = (SVG, joined(data[SVG]))
            yield element
        elif "text/html" in data and (found := self._html(joined(data["text/html"]), where)):
            yield from found
        elif "text/latex" in data:
            yield self._maker.make(
                "formula", {"expression": _bare(joined(data["text/latex"])), "notation": "latex"}, where
            )
        elif "text/markdown" in data:
            yield from elements_of_markdown(joined(data["text/markdown"]), self._maker)
        elif "application/vnd.jupyter.widget-view+json" in data:
            yield self._maker.make("widget", {"widget_type": "jupyter", "description": plain.strip()}, where)
        elif plain:
            yield from self._text(plain, where)
        else:
            for kind, value in data.items():
                if "json" in kind:
                    yield self._maker.make(
                        "code", {"text": _clipped(json.dumps(value, ensure_ascii=False, indent=1))}, where
                    )

    def _html(self, html: str, where: dict[str, Any]) -> list[Element]:
        """Return what HTML shows; nothing where it is only a script."""
        try:
            found = elements_of_html(html, self._maker)
        except DocumentError:
            return []
        return [
            Element(part.id, part.category, part.content, part.summary, {**part.metadata, **where}) for part in found
        ]

    def _text(self, text: str, where: dict[str, Any]) -> Iterator[Element]:
        text = shown(text)
        if text.strip():
            yield self._maker.make("code", {"text": _clipped(text)}, where)

    def _error(self, output: Mapping[str, Any], where: dict[str, Any]) -> Iterator[Element]:
        name, value = str(output.get("ename", "")), str(output.get("evalue", ""))
        trace = "\n".join(joined(line) for line in output.get("traceback") or ())
        text = shown(trace).strip() or f"{name}: {value}"
        told = f"{name}: {value}"[:500]
        element = self._maker.make("code", {"text": _clipped(text)}, where | {"error": told})
        yield replace(element, summary=clip(told)) if name else element


def joined(value: Any) -> str:
    """Return a text that may come as a list of lines."""
    if not isinstance(value, list):
        return value if isinstance(value, str) else ""
    lines = list(map(str, value))
    # Version 2 left the ends of the lines out.
    return ("" if any(map(_LINE_END.search, lines[:-1])) else "\n").join(lines)


def shown(text: str) -> str:
    """Return what a terminal would show: no colours, and of a line that is written over only its last state."""
    lines = _ANSI.sub("", text).replace("\r\n", "\n").rstrip("\r\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines).rstrip()


def picture_bytes(kind: str, data: str) -> bytes | None:
    """Return the bytes of a picture of this type, None where they are damaged."""
    if kind == SVG:
        return data.encode("utf-8", "replace")
    try:
        return binascii.a2b_base64(data)
    except (binascii.Error, ValueError):
        return None


def _old_data(output: Mapping[str, Any]) -> dict[str, Any]:
    names = {
        "png": "image/png",
        "jpeg": "image/jpeg",
        "html": "text/html",
        "latex": "text/latex",
        "svg": SVG,
    }
    data = {kind: output[name] for name, kind in names.items() if name in output}
    return {**data, "text/plain": output["text"]} if "text" in output else data


def _clipped(text: str) -> str:
    return text if len(text) <= MAX_OUTPUT else f"{text[:MAX_OUTPUT]}\n… {len(text) - MAX_OUTPUT} more characters"


def _bare(latex: str) -> str:
    return latex.strip().strip("$").strip()


def _chart(chart: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a Plotly or Vega-Lite chart shows."""
    traces = (
        [trace for trace in chart.get("data") or () if isinstance(trace, dict)]
        if isinstance(chart.get("data"), list)
        else []
    )
    layout = chart.get("layout") if isinstance(chart.get("layout"), dict) else {}
    title = layout.get("title", chart.get("title", "")) if layout else chart.get("title", "")
    title = title.get("text", "") if isinstance(title, dict) else title
    mark = chart.get("mark")
    kind = traces[0].get("type", "scatter") if traces else mark.get("type", "") if isinstance(mark, dict) else mark
    names = [str(trace.get("name") or f"series {number}") for number, trace in enumerate(traces, start=1)]
    return {
        "chart_type": str(kind or "chart"),
        "title": str(title or ""),
        "data_summary": f"{len(traces)} series: {', '.join(names[:20])}" if traces else "",
    }
