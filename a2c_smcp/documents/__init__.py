"""The extraction core: any file as a tree of Document, Page and Element. Knows no sockets and no MCP."""

from a2c_smcp.documents.content import SHAPES, validate_content
from a2c_smcp.documents.model import Document, Element, Page, PageEntry
from a2c_smcp.documents.render import Renderer, gist, renderer_for

__all__ = [
    "SHAPES",
    "Document",
    "Element",
    "Page",
    "PageEntry",
    "Renderer",
    "gist",
    "renderer_for",
    "validate_content",
]
