"""Documents in memory: what an author may put, and what is told."""

import pytest

from a2c_smcp.docserver.shelf import Change, Facts, Shelf
from a2c_smcp.documents import Element, Page
from a2c_smcp.errors import BadRequest, DocumentNotFound, InvalidDPEUri


def text(element_id: str) -> Element:
    return Element(element_id, "text", {"text": "x"})


async def test_the_facts_win_over_the_content() -> None:
    shelf = Shelf("h")
    shelf.put("a", "# Title\n\nText.", Facts("Mine", ("k",), "About it", "file:///a.md", "recipe"))
    (document,) = await shelf.documents()
    assert (document.title, document.keywords, document.summary) == ("Mine", ("k",), "About it")
    assert (document.file_uri, document.file_type) == ("file:///a.md", "recipe")


async def test_a_document_without_title_is_called_by_its_reference() -> None:
    shelf = Shelf("h")
    shelf.put("a/b", [text("t")])
    (document,) = await shelf.documents()
    assert (document.title, document.file_uri) == ("a/b", "dpe://h/a%2Fb")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ([Element("t", "heading", {"text": "no level"})], "level"),
        ([text("t"), text("t")], "two elements"),
        ([Page(0, "", (text("t"),)), Page(1, "", (text("t"),))], "Two elements"),
        ([Page(0), text("t")], "made of"),
    ],
)
def test_content_that_is_not_sound_is_refused_when_it_is_put(content: list[Element | Page], fault: str) -> None:
    shelf = Shelf("h")
    with pytest.raises(BadRequest, match=fault):
        shelf.put("a", content)  # type: ignore[arg-type]
    assert not shelf.has("a")


def test_a_reference_that_cannot_stand_in_a_uri_is_refused() -> None:
    with pytest.raises(InvalidDPEUri):
        Shelf("h").put("", "x")


def test_every_change_is_told_once() -> None:
    shelf, told = Shelf("h"), list[object]()
    stop = shelf.on_change(told.append)
    shelf.put("a", "1")
    shelf.put("a", "2")
    shelf.changed("a")
    shelf.remove("a")
    shelf.remove("a")
    stop()
    stop()
    shelf.put("b", "1")
    assert told == [Change(added=("a",)), Change(updated=("a",)), Change(updated=("a",)), Change(removed=("a",))]


def test_what_is_not_there_cannot_change() -> None:
    with pytest.raises(DocumentNotFound):
        Shelf("h").changed("a")
