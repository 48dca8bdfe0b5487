"""Tools of the document server: search, rendered pages and images, digests."""

import base64
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias

import mcp.types as t
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from a2c_smcp.docserver.ports import Digestible, DocumentSource, PageImages, Searchable
from a2c_smcp.errors import SMCPError, to_wire
from a2c_smcp.validation import error_words

MAX_DPI: Final = 300
"""An A3 page with more exceeds what models accept, and what fits into one message."""

Context = ServerRequestContext[Any, Any]

_DocRef = Annotated[str, Field(min_length=1, description="The doc_ref of a document, as the catalogue gives it.")]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class SearchArguments(_Arguments):
    """What to look for."""

    query: Annotated[str, Field(min_length=1, max_length=1_000)]
    """Words that must all occur; "words in quotes" are a phrase. Chinese, Japanese and Korean need no blanks."""
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    """The most places to return."""
    doc_ref: _DocRef | None = None
    """Look in this document alone."""


class PageArguments(_Arguments):
    """Which page to look at."""

    doc_ref: _DocRef
    page_index: Annotated[int, Field(ge=0)]
    """Counted from 0."""
    dpi: Annotated[int, Field(ge=20, le=MAX_DPI)] = 110
    """Dots per inch: 110 is readable, more for small print."""


class ElementArguments(_Arguments):
    """Which picture to look at."""

    doc_ref: _DocRef
    element_id: Annotated[str, Field(min_length=1)]
    """The id of an image element, as its page gives it."""


class DigestArguments(_Arguments):
    """What to make a digest of."""

    doc_ref: _DocRef
    section_ranges: (
        Annotated[
            list[Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=2, max_length=2)]],
            Field(min_length=1, max_length=500),
        ]
        | None
    ) = None
    """The first and last page of each section, counted from 1: [[1, 5], [6, 10]]. By default as the document's own
    table of contents has them."""
    dpi: Annotated[int, Field(ge=36, le=600)] = 180
    """Dots per inch of the page images beside the digest."""


class SearchPlace(BaseModel):
    """A place where the words are."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    uri: str
    """The element, or the document where its title, keywords or summary have the words: read it for all of it."""
    doc_ref: str
    page_index: int | None = None
    element_id: str | None = None
    category: str | None = None
    title: str
    """Of the document."""
    snippet: str
    score: float


class SearchPlaces(BaseModel):
    """What a search has found, the best first."""

    query: str
    hits: list[SearchPlace]


class DigestSection(BaseModel):
    """A section of a digest."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    title: str
    pages: list[int]
    """The first and the last, counted from 1."""
    by: str
    error: str | None = None
    """Why the language model has not written it."""


class DigestPlace(BaseModel):
    """Where a digest is."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    uri: str
    """Read it like any document: ?depth=pages for its pages."""
    doc_ref: str
    title: str
    by: str
    """`model`, `extract` where no language model has written it, or `model+extract`."""
    source_pages: int
    """How many pages it is a digest of."""
    sections: list[DigestSection]
    unread: list[int] | None = None
    """Pages that could not be read, counted from 1: the digest says nothing of them."""


ToolFunction: TypeAlias = Callable[[Any, Context], Awaitable[t.CallToolResult]]


@dataclass(frozen=True, slots=True)
class DocumentTool:
    """A tool: its definition, the model of its arguments, and its function."""

    listed: t.Tool
    arguments: type[_Arguments]
    answer: ToolFunction


class DocumentTools:
    """The tools that a document source supports."""

    def __init__(self, documents: DocumentSource) -> None:
        self._tools: dict[str, DocumentTool] = {}
        if isinstance(documents, Searchable):
            self._add(_search(documents))
        if isinstance(documents, PageImages):
            self._add(_render(documents))
            self._add(_picture(documents))
        if isinstance(documents, Digestible):
            self._add(_digest(documents))

    def _add(self, tool: DocumentTool) -> None:
        self._tools[tool.listed.name] = tool

    async def list(self, _: Context, __: t.PaginatedRequestParams | None) -> t.ListToolsResult:
        """`tools/list`."""
        return t.ListToolsResult(tools=[tool.listed for tool in self._tools.values()])

    async def call(self, ctx: Context, params: t.CallToolRequestParams) -> t.CallToolResult:
        """`tools/call`: what goes wrong is a result that says so, for the model to read."""
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(t.INVALID_PARAMS, f"Unknown tool: {params.name}")
        try:
            arguments = tool.arguments.model_validate(params.arguments or {})
        except ValidationError as error:
            return _failed("; ".join(map(_fault, error.errors(include_url=False, include_input=False))))
        try:
            return await tool.answer(arguments, ctx)
        except SMCPError as error:
            body = to_wire(error)["error"]
            return _failed(body["message"], body)


def _search(documents: Searchable) -> DocumentTool:
    async def answer(arguments: SearchArguments, _: Context) -> t.CallToolResult:
        found = await documents.search(arguments.query, limit=arguments.limit, doc_ref=arguments.doc_ref)
        hits = [
            SearchPlace(
                uri=hit.uri,
                doc_ref=hit.doc_ref,
                page_index=hit.page_index,
                element_id=hit.element_id,
                category=hit.category,
                title=hit.title,
                snippet=hit.snippet,
                score=hit.score,
            )
            for hit in found
        ]
        places = SearchPlaces(query=arguments.query, hits=hits).model_dump()
        text = json.dumps(places, ensure_ascii=False)
        return t.CallToolResult(content=[t.TextContent(text=text)], structured_content=places)

    return _tool(
        "search_documents",
        "Search documents",
        "Find words or phrases in all documents. Each hit names the dpe:// URI of the element that has them.",
        SearchArguments,
        answer,
        SearchPlaces,
    )


def _render(documents: PageImages) -> DocumentTool:
    async def answer(arguments: PageArguments, _: Context) -> t.CallToolResult:
        png = await documents.render_page(arguments.doc_ref, arguments.page_index, arguments.dpi)
        return t.CallToolResult(content=[_image("image/png", png)])

    return _tool(
        "render_page",
        "Render a page",
        "Look at a page of a PDF or picture as it is printed, as PNG.",
        PageArguments,
        answer,
    )


def _picture(documents: PageImages) -> DocumentTool:
    async def answer(arguments: ElementArguments, _: Context) -> t.CallToolResult:
        mime_type, data = await documents.element_image(arguments.doc_ref, arguments.element_id)
        return t.CallToolResult(content=[_image(mime_type, data)])

    return _tool(
        "get_element_image",
        "Get a picture",
        "Look at a picture that is embedded in a document, or that a digest shows: give the id of an image element.",
        ElementArguments,
        answer,
    )


def _digest(documents: Digestible) -> DocumentTool:
    async def answer(arguments: DigestArguments, ctx: Context) -> t.CallToolResult:
        made = await documents.digest(
            arguments.doc_ref,
            section_ranges=arguments.section_ranges,
            dpi=arguments.dpi,
            tell=ctx.session.report_progress,
        )
        sections = [DigestSection.model_validate(section) for section in made.sections]
        place = DigestPlace(
            uri=made.uri,
            doc_ref=made.doc_ref,
            title=made.title,
            by=made.by,
            source_pages=made.source_pages,
            sections=sections,
            unread=list(made.unread) or None,
        ).model_dump(exclude_none=True)
        text = json.dumps(place, ensure_ascii=False)
        return t.CallToolResult(content=[t.TextContent(text=text)], structured_content=place)

    return _tool(
        "digest_document",
        "Make a digest",
        "Make an illustrated digest of a PDF: a new document, smaller than the PDF, with the pages that each statement "
        "is from: citations are dpe:// links to them, and get_element_image shows its pictures. Tells how far it is: "
        "scans take a second a page. Made once, it is kept.",
        DigestArguments,
        answer,
        DigestPlace,
        writes=True,
    )


def _tool(
    name: str,
    title: str,
    description: str,
    arguments: type[_Arguments],
    answer: ToolFunction,
    output: type[BaseModel] | None = None,
    *,
    writes: bool = False,
) -> DocumentTool:
    listed = t.Tool(
        name=name,
        title=title,
        description=description,
        input_schema=arguments.model_json_schema(),
        output_schema=output.model_json_schema() if output else None,
        annotations=t.ToolAnnotations(
            read_only_hint=not writes, destructive_hint=False, idempotent_hint=True, open_world_hint=writes
        ),
    )
    return DocumentTool(listed, arguments, answer)


def _image(mime_type: str, data: bytes) -> t.ImageContent:
    return t.ImageContent(data=base64.b64encode(data).decode(), mime_type=mime_type)


def _failed(why: str, body: dict[str, Any] | None = None) -> t.CallToolResult:
    return t.CallToolResult(content=[t.TextContent(text=why)], is_error=True, _meta={"error": body} if body else None)


def _fault(error: Any) -> str:
    place = ".".join(map(str, error["loc"]))
    return f"{place} {error_words(error)}"
