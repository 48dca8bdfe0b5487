"""MCP servers that offer documents as `dpe://` resources: folders of files, or whatever a program makes itself."""

from a2c_smcp.docserver.documents import serve
from a2c_smcp.docserver.offer import Offer
from a2c_smcp.docserver.shelf import Content
from a2c_smcp.docserver.web import Admission

__all__ = ["Admission", "Content", "Offer", "serve"]
