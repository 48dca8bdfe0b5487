"""The extraction core: any file as a tree of Document, Page and Element. Knows no sockets and no MCP."""

from typing import TYPE_CHECKING, Any

from a2c_smcp.documents.content import SHAPES, validate_content
from a2c_smcp.documents.model import Document, Element, Page, PageEntry
from a2c_smcp.documents.render import Renderer, gist, renderer_for

if TYPE_CHECKING:
    from a2c_smcp.docserver import Offer, serve

__all__ = [
    "SHAPES",
    "Document",
    "Element",
    "Offer",
    "Page",
    "PageEntry",
    "Renderer",
    "gist",
    "renderer_for",
    "serve",
    "validate_content",
]


def __getattr__(name: str) -> Any:
    # Authors look for these here. They live a floor above and bring MCP with them, so only who asks pays for it.
    if name in ("Offer", "serve"):
        from a2c_smcp import docserver  # noqa: PLC0415

        return getattr(docserver, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
