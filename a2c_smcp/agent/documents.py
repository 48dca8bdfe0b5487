"""Documents of a Computer: `Documents` and its blocking twin `SyncDocuments`."""

from a2c_smcp.agent.document_views import MarkdownPassage
from a2c_smcp.agent.document_walk import AgentDocument, AgentElement, AgentPage, Documents
from a2c_smcp.agent.search_hits import SearchHit
from a2c_smcp.agent.sync_document_walk import SyncAgentDocument, SyncAgentElement, SyncAgentPage, SyncDocuments

__all__ = [
    "AgentDocument",
    "AgentElement",
    "AgentPage",
    "Documents",
    "MarkdownPassage",
    "SearchHit",
    "SyncAgentDocument",
    "SyncAgentElement",
    "SyncAgentPage",
    "SyncDocuments",
]
