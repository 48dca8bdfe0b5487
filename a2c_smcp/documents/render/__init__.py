"""A catalogue, a document, a page or an element as JSON, Markdown or plain text. Pure.

renderer = renderer_for(uri.format)
text = renderer.render_page(document, page, uri.categories)
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, Protocol, cast

from a2c_smcp.documents.model import Document, Element, Page, PageEntry
from a2c_smcp.documents.render import json, markdown, text
from a2c_smcp.documents.render.gist import gist
from a2c_smcp.errors import BadRequest
from a2c_smcp.uris.dpe import Format

__all__ = ["RENDERERS", "Renderer", "gist", "renderer_for"]


class Renderer(Protocol):
    """What each format offers; the modules of this package are the renderers."""

    MIME_TYPE: str

    def render_catalogue(self, documents: Iterable[Document]) -> str:
        """Level 0: every document of a host."""
        ...

    def render_document(self, document: Document) -> str:
        """Level 1, `depth=metadata`: what is known of a document."""
        ...

    def render_document_with_pages(
        self, document: Document, entries: Sequence[PageEntry], offset: int, limit: int
    ) -> str:
        """Level 1, `depth=pages`: `entries` is the window of the page index that `offset` and `limit` ask for."""
        ...

    def render_page(self, document: Document, page: Page, /, categories: Collection[str] | None = None) -> str:
        """Level 2: the elements in reading order, all or those of some categories."""
        ...

    def render_element(self, document: Document, page_index: int, element: Element, /) -> str:
        """Level 3: an element in full."""
        ...


RENDERERS: Final[Mapping[Format, Renderer]] = {"json": json, "markdown": markdown, "text": text}


def renderer_for(name: str) -> Renderer:
    """Return the renderer of `json`, `markdown` or `text`.

    Raises:
        BadRequest: There is no such format.
    """
    renderer = RENDERERS.get(cast("Format", name))
    if renderer is None:
        raise BadRequest(f"There is no format {name!r}; the formats are {', '.join(RENDERERS)}")
    return renderer
