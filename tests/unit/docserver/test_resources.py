"""Listing with cursors, templates and the completion chain."""

from collections.abc import Mapping

import mcp.types as t
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, MCPError

from a2c_smcp.docserver.change_notifier import DocumentChangeNotifier
from a2c_smcp.docserver.document_server import document_server
from a2c_smcp.docserver.memory_documents import MemoryDocuments
from a2c_smcp.docserver.resources import MAX_VALUES, PAGE_SIZE

PAGES = "dpe://h/{doc_ref}/pages/{page_index}"
ELEMENTS = "dpe://h/{doc_ref}/elements/{element_id}"


def shelf(documents: int, elements: int = 1) -> MemoryDocuments:
    made = MemoryDocuments("h")
    for number in range(documents):
        made.put(f"doc-{number:04}", "\n\n".join(f"Paragraph {index}." for index in range(elements)))
    return made


def client_of(documents: MemoryDocuments) -> Client:
    return Client(document_server(documents, DocumentChangeNotifier()), mode="legacy")


async def complete(
    client: Client, template: str, name: str, value: str, context: Mapping[str, str] | None = None
) -> t.Completion:
    ref = t.ResourceTemplateReference(uri=template)
    known = dict(context) if context is not None else None
    return (await client.complete(ref, {"name": name, "value": value}, context_arguments=known)).completion


@pytest.mark.parametrize("count", [0, 1, PAGE_SIZE - 1, PAGE_SIZE, PAGE_SIZE + 1, 2 * PAGE_SIZE + 3])
async def test_the_pages_of_the_list_make_the_whole(count: int) -> None:
    found: list[str] = []
    async with client_of(shelf(count)) as client:
        cursor, pages = None, 0
        while pages == 0 or cursor is not None:
            page = await client.list_resources(cursor=cursor)
            found += [resource.uri for resource in page.resources]
            cursor, pages = page.next_cursor, pages + 1
    assert found == ["dpe://h", *(f"dpe://h/doc-{number:04}" for number in range(count))]
    assert pages == max(1, -(-count // PAGE_SIZE))


@pytest.mark.parametrize("cursor", ["", "after-", "after-x", "after--1", "elsewhere", "after-1000000000000"])
async def test_a_cursor_of_somebody_else_is_refused(cursor: str) -> None:
    async with client_of(shelf(1)) as client:
        with pytest.raises(MCPError) as caught:
            await client.list_resources(cursor=cursor)
    assert caught.value.code == t.INVALID_PARAMS


@pytest.mark.rule("7.9")
async def test_pages_and_elements_have_templates() -> None:
    async with client_of(shelf(0)) as client:
        templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == [PAGES, ELEMENTS]


@pytest.mark.rule("7.9")
async def test_the_chain_goes_from_document_to_page_to_element() -> None:
    documents = MemoryDocuments("h")
    documents.put("rpt-2025", "# One\n\nText.\n\n# Two\n\n- a\n- b")
    documents.put("rpt-2026", "x")
    documents.put("other", "x")
    async with client_of(documents) as client:
        refs = await complete(client, PAGES, "doc_ref", "rpt")
        pages = await complete(client, PAGES, "page_index", "", {"doc_ref": "rpt-2025"})
        context = {"doc_ref": "rpt-2025", "page_index": "1"}
        of_page = await complete(client, ELEMENTS, "element_id", "", context)
        of_all = await complete(client, ELEMENTS, "element_id", "h", {"doc_ref": "rpt-2025"})
    assert refs == t.Completion(values=["rpt-2025", "rpt-2026"], total=2, has_more=False)
    assert pages == t.Completion(values=["0", "1"], total=2, has_more=False)
    assert of_page == t.Completion(values=["h-002", "lst-001"], total=2, has_more=False)
    assert of_all == t.Completion(values=["h-001", "h-002"], total=2, has_more=False)


@pytest.mark.rule("7.9")
@pytest.mark.parametrize("count", [MAX_VALUES, MAX_VALUES + 1])
async def test_a_hundred_values_are_told_and_the_rest_is_counted(count: int) -> None:
    async with client_of(shelf(count)) as client:
        completion = await complete(client, PAGES, "doc_ref", "doc")
    assert len(completion.values) == MAX_VALUES
    assert (completion.total, completion.has_more) == (count, count > MAX_VALUES)


@pytest.mark.parametrize(
    ("template", "name", "context"),
    [
        (PAGES, "page_index", None),
        (PAGES, "page_index", {"doc_ref": "unknown"}),
        (ELEMENTS, "element_id", {"page_index": "0"}),
        (ELEMENTS, "element_id", {"doc_ref": "doc-0000", "page_index": "7"}),
        (PAGES, "something", {"doc_ref": "doc-0000"}),
        ("dpe://elsewhere/{doc_ref}/pages/{page_index}", "doc_ref", None),
        ("file:///{path}", "path", None),
    ],
)
async def test_where_nothing_can_be_known_nothing_is_offered(
    template: str, name: str, context: Mapping[str, str] | None
) -> None:
    async with client_of(shelf(1)) as client:
        completion = await complete(client, template, name, "", context)
    assert completion == t.Completion(values=[], total=0, has_more=False)


async def test_a_page_that_is_no_number_is_as_good_as_none() -> None:
    async with client_of(shelf(1)) as client:
        context = {"doc_ref": "doc-0000", "page_index": "first"}
        assert (await complete(client, ELEMENTS, "element_id", "", context)).values == ["txt-001"]


@given(st.lists(st.text("abc", min_size=1, max_size=4), unique=True, max_size=30), st.text("abc", max_size=3))
async def test_completion_offers_exactly_what_begins_so(refs: list[str], prefix: str) -> None:
    documents = MemoryDocuments("h")
    for ref in refs:
        documents.put(ref, "x")
    assert await documents.complete_refs(prefix) == sorted(ref for ref in refs if ref.startswith(prefix))
