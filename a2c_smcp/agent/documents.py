"""The documents of a Computer, to walk through: see `Documents` and its blocking twin `SyncDocuments`."""

from a2c_smcp.agent.facts import Passage
from a2c_smcp.agent.hits import Hit
from a2c_smcp.agent.sync_walking import SyncDocument, SyncDocuments, SyncElement, SyncPage
from a2c_smcp.agent.walking import Document, Documents, Element, Page

__all__ = [
    "Document",
    "Documents",
    "Element",
    "Hit",
    "Page",
    "Passage",
    "SyncDocument",
    "SyncDocuments",
    "SyncElement",
    "SyncPage",
]
