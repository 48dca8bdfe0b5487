"""MCP servers that offer documents as `dpe://` resources: folders of files, or documents that a program creates."""

from a2c_smcp.docserver.document_server import serve
from a2c_smcp.docserver.memory_documents import Content
from a2c_smcp.docserver.offer import Offer
from a2c_smcp.docserver.web import Admission

__all__ = ["Admission", "Content", "Offer", "serve"]
