"""What the Computer of the tests of documents has, and what it answers: the same however it is asked."""

from collections.abc import Callable
from typing import Any

from a2c_smcp.agent.events import OfficeEvent
from a2c_smcp.errors import DocumentNotFound, PageOutOfRange
from a2c_smcp.smcp import CallToolResult, GetFinderRet, SMCPTool
from a2c_smcp.uris import parse_dpe_uri


class Stock:
    """Documents with a heading and a text on every page, tools, and who is to hear of changes."""

    def __init__(self, **pages: int) -> None:
        self.office_id: str | None = "office"
        self.sizes = pages
        self.asked: list[str] = []
        self.handlers: dict[str, list[Callable[[OfficeEvent], None]]] = {}
        self.tools: list[SMCPTool] = []
        self.answer: CallToolResult | Exception = {"content": []}
        self.markdown = True
        self.index = True
        self.during: Callable[[], None] = lambda: None

    def summary(self, ref: str) -> dict[str, Any]:
        return {
            "doc_ref": ref,
            "uri": f"dpe://h/{ref}",
            "file_uri": f"file:///{ref}",
            "file_type": "pdf",
            "title": f"The {ref}",
            "page_count": self.sizes[ref],
        }

    def find(self, keywords: list[str] | None, file_type: str | None, offset: int, limit: int) -> GetFinderRet:
        self.asked.append(f"finder {offset} {limit} {keywords} {file_type}")
        found = [ref for ref in self.sizes if not keywords or any(word in ref for word in keywords)]
        documents: list[Any] = [self.summary(ref) | {"server": "s"} for ref in found[offset : offset + limit]]
        return {"documents": documents, "total_count": len(found), "req_id": "r"}

    def read(self, uri: str) -> dict[str, Any]:
        self.asked.append(uri)
        self.during()
        parsed = parse_dpe_uri(uri)
        if parsed.doc_ref is None or parsed.doc_ref not in self.sizes:
            raise DocumentNotFound(f"no {parsed.doc_ref}")
        size = self.sizes[parsed.doc_ref]
        if parsed.element_id is not None:
            number = int(parsed.element_id.removeprefix("e/"))
            return element(number) | {"metadata": {"full": True}, "page_index": number // 2}
        if parsed.page_index is None:
            return self.summary(parsed.doc_ref) | self.pages(parsed.doc_ref, parsed.offset, parsed.limit)
        if parsed.page_index >= size:
            raise PageOutOfRange(f"no page {parsed.page_index}")
        if parsed.format == "markdown" and self.markdown:
            return {"content_markdown": f"# P{parsed.page_index}\n\n{'word ' * 20}", "title": "P", "uri": uri}
        heading = element(parsed.page_index * 2, "heading") | {"content": {"level": 1, "text": "H"}}
        elements = [heading, element(parsed.page_index * 2 + 1)]
        return {"page_index": parsed.page_index, "title": f"P{parsed.page_index}", "elements": elements}

    def pages(self, ref: str, offset: int, limit: int) -> dict[str, Any]:
        if not self.index:
            return {}
        told = [{"page_index": n, "title": f"P{n}", "element_count": 2} for n in range(self.sizes[ref])]
        return {"pages": told[offset : offset + limit], "page_total": self.sizes[ref]}

    def on(self, kind: str, handler: Callable[[OfficeEvent], None]) -> Callable[[], None]:
        self.handlers.setdefault(kind, []).append(handler)
        return lambda: self.handlers[kind].remove(handler)

    def tell(self, kind: str, computer: str | None = "c") -> None:
        for handler in [*self.handlers.get(kind, []), *self.handlers.get("*", [])]:
            handler(OfficeEvent(kind, computer))


def element(number: int, category: str = "text") -> dict[str, Any]:
    return {
        "element_id": f"e/{number}",
        "category": category,
        "summary": f"summary {number}",
        "content": {"text": f"text {number}"},
    }


def searching(name: str) -> SMCPTool:
    schema = {"type": "object", "properties": {"query": {}, "limit": {}}}
    return {"name": name, "description": "", "params_schema": schema, "return_schema": None}
