"""Documents in memory: what an author may put, and what is told."""

import pytest

from a2c_smcp.docserver.memory_documents import DocumentChange, DocumentProperties, MemoryDocuments
from a2c_smcp.documents import Element, Page
from a2c_smcp.errors import BadRequest, DocumentNotFound, InvalidDPEUri, PageOutOfRange


def text(element_id: str) -> Element:
    return Element(element_id, "text", {"text": "x"})


async def test_the_facts_win_over_the_content() -> None:
    shelf = MemoryDocuments("h")
    shelf.put("a", "# Title\n\nText.", DocumentProperties("Mine", ("k",), "About it", "file:///a.md", "recipe"))
    (document,) = await shelf.documents()
    assert (document.title, document.keywords, document.summary) == ("Mine", ("k",), "About it")
    assert (document.file_uri, document.file_type) == ("file:///a.md", "recipe")


async def test_a_document_without_title_is_called_by_its_reference() -> None:
    shelf = MemoryDocuments("h")
    shelf.put("a/b", [text("t")])
    (document,) = await shelf.documents()
    assert (document.title, document.file_uri) == ("a/b", "dpe://h/a%2Fb")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ([Element("t", "heading", {"text": "no level"})], "level"),
        ([text("t"), text("t")], "two elements"),
        ([Page(0, "", (text("t"),)), Page(1, "", (text("t"),))], "Two elements"),
        ([Page(0), text("t")], "must be Markdown"),
    ],
)
def test_content_that_is_not_sound_is_refused_when_it_is_put(content: list[Element | Page], fault: str) -> None:
    shelf = MemoryDocuments("h")
    with pytest.raises(BadRequest, match=fault):
        shelf.put("a", content)  # type: ignore[arg-type]
    assert not shelf.has("a")


def test_a_reference_that_cannot_stand_in_a_uri_is_refused() -> None:
    with pytest.raises(InvalidDPEUri):
        MemoryDocuments("h").put("", "x")


def test_every_change_is_told_once() -> None:
    shelf, told = MemoryDocuments("h"), list[object]()
    stop = shelf.on_change(told.append)
    shelf.put("a", "1")
    shelf.put("a", "2")
    shelf.changed("a")
    shelf.remove("a")
    shelf.remove("a")
    stop()
    stop()
    shelf.put("b", "1")
    assert told == [
        DocumentChange(added=("a",)),
        DocumentChange(updated=("a",)),
        DocumentChange(updated=("a",)),
        DocumentChange(removed=("a",)),
    ]


def test_what_is_not_there_cannot_change() -> None:
    with pytest.raises(DocumentNotFound):
        MemoryDocuments("h").changed("a")


async def test_a_function_that_fails_harms_its_document_alone() -> None:
    def fails() -> str:
        raise ValueError("nobody else's business")

    shelf = MemoryDocuments("h")
    shelf.put("bad", fails, DocumentProperties("Mine"))
    shelf.put("odd", lambda: [text("t"), text("t")])
    shelf.put("good", "# Good")
    found = await shelf.documents()
    assert [(document.title, document.page_count, document.summary) for document in found] == [
        ("Mine", 0, "Cannot be read: its function failed (ValueError)"),
        ("odd", 0, "Cannot be read: its function failed (Page 0 has two elements with the id 't')"),
        ("Good", 1, "Good"),
    ]
    with pytest.raises(
        PageOutOfRange, match=r"'bad' has no page 0: Cannot be read: its function failed \(ValueError\)"
    ):
        await shelf.read("dpe://h/bad/pages/0")


async def test_a_function_that_failed_is_called_again_at_the_next_look() -> None:
    answers = iter(["# Now"])
    fails = [True]

    def maker() -> str:
        if fails.pop() if fails else False:
            raise OSError
        return next(answers)

    shelf = MemoryDocuments("h")
    shelf.put("a", maker)
    assert [document.page_count for document in await shelf.documents()] == [0]
    assert [document.title for document in await shelf.documents()] == ["Now"]


async def test_what_changed_while_it_was_made_is_made_again() -> None:
    made = 0

    async def maker() -> str:
        nonlocal made
        made += 1
        if made == 1:
            shelf.changed("a")
        return f"# Version {made}"

    shelf = MemoryDocuments("h")
    shelf.put("a", maker)
    await shelf.documents()
    assert [document.title for document in await shelf.documents()] == ["Version 2"]
