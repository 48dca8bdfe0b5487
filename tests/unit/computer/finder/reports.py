"""Servers with documents, and offices to find them in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from a2c_smcp.computer.finder.collector import FinderPage
from a2c_smcp.smcp import DPEDocumentSummary
from tests.unit.computer.resource_servers import FakeServer, Office

HOST = "dpe://com.example.docs"


def document(doc_ref: str, **more: Any) -> dict[str, Any]:
    """A document as level 0 and level 1 describe it."""
    return {
        "doc_ref": doc_ref,
        "uri": f"{HOST}/{doc_ref}",
        "file_uri": f"file:///data/{doc_ref}.pdf",
        "file_type": "pdf",
        "title": doc_ref.title(),
        "page_count": 3,
        **more,
    }


def entry(doc_ref: str, **more: Any) -> DPEDocumentSummary:
    """The same document as the catalogue of the Computer names it."""
    return cast("DPEDocumentSummary", document(doc_ref, server="reports", **more))


def reports(*doc_refs: str, name: str = "reports", catalogue: bool = True, **options: Any) -> FakeServer:
    """A server that lists these documents, with or without a catalogue."""
    resources: dict[str, Any] = {f"{HOST}/{doc_ref}": document(doc_ref) for doc_ref in doc_refs}
    listed = list(resources)
    if catalogue:
        documents = [document(doc_ref) for doc_ref in doc_refs]
        resources[HOST] = {"documents": documents, "total_count": len(documents)}
    return FakeServer(name, resources, **{"listed": listed} | options)


@asynccontextmanager
async def warm(*servers: FakeServer) -> AsyncIterator[Office]:
    """An office whose catalogue was read once, and where all is quiet."""
    async with Office(*servers) as office:
        await office.settle()
        await office.finder.find()
        await office.settle()
        office.forget_calls()
        yield office


def refs(found: FinderPage) -> list[str]:
    return sorted(document["doc_ref"] for document in found.documents)
