"""Markdown as a person sees it: its blocks as elements, its sections as pages."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.base import Description, OpenDocument
from a2c_smcp.documents.formats.markdown import ELEMENTS_A_PAGE, FORMAT, MAX_BYTES
from a2c_smcp.documents.model import Element
from a2c_smcp.errors import DocumentError


def opened(folder: Path, text: str) -> OpenDocument:
    path = folder / "a.md"
    path.write_text(text, encoding="utf-8")
    return FORMAT.open(path)


def elements(document: OpenDocument) -> list[Element]:
    return [e for index in range(document.describe().page_count) for e in document.page(index).elements]


def titles(document: OpenDocument) -> list[str]:
    return [entry.title for entry in document.entries(0, 1_000)]


@pytest.mark.parametrize(
    ("text", "category", "content"),
    [
        (
            "# A *title*",
            "heading",
            {"level": 1, "text": "A title", "spans": [{"start": 2, "end": 7, "kind": "emphasis"}]},
        ),
        ("Title\n---", "heading", {"level": 2, "text": "Title"}),
        ("##", "heading", {"level": 2, "text": ""}),
        (
            "Some **bold** text.",
            "text",
            {"text": "Some bold text.", "spans": [{"start": 5, "end": 9, "kind": "strong"}]},
        ),
        ("- a\n- b", "list", {"ordered": False, "items": ["a", "b"]}),
        ("3. a\n4. b", "list", {"ordered": True, "items": ["a", "b"], "start": 3}),
        ("1) a", "list", {"ordered": True, "items": ["a"]}),
        (
            "- a\n  1. b\n     - c\n- d",
            "list",
            {
                "ordered": False,
                "items": [
                    {
                        "text": "a",
                        "children": {
                            "ordered": True,
                            "items": [{"text": "b", "children": {"ordered": False, "items": ["c"]}}],
                        },
                    },
                    "d",
                ],
            },
        ),
        (
            "- [x] done\n- [ ] open",
            "list",
            {"ordered": False, "items": [{"text": "done", "checked": True}, {"text": "open", "checked": False}]},
        ),
        (
            "- a\n\n  b\n\n      code\n  > q",
            "list",
            {
                "ordered": False,
                "items": [
                    {"text": "a\n\nb\n\ncode\n\nq", "spans": [{"start": 6, "end": 10, "kind": "code_block"}]},
                ],
            },
        ),
        (
            "- a\n  - b\n\n  1. c",
            "list",
            {"ordered": False, "items": [{"text": "a", "children": {"ordered": False, "items": ["b", "c"]}}]},
        ),
        ("- a\n  <b>\n\n  <div>c</div>", "list", {"ordered": False, "items": ["a\n\nc"]}),
        ("- | x | y |\n  |---|---|\n  | 1 | 2 |", "list", {"ordered": False, "items": ["x | y\n1 | 2"]}),
        ("```Python x=1\nprint(1)\n```", "code", {"text": "print(1)", "language": "python"}),
        ("    indented", "code", {"text": "indented"}),
        ("```mermaid\nA-->B\n```", "diagram", {"source": "A-->B", "language": "mermaid"}),
        ("```math\na^2\n```", "formula", {"expression": "a^2", "notation": "latex"}),
        ("$$\na^2\n$$", "formula", {"expression": "a^2", "notation": "latex"}),
        (
            "| a | b |\n| --- | ---: |\n| `x\\|y` | [l](u) |\n| only |",
            "table",
            {
                "headers": ["a", "b"],
                "rows": [["x|y", "l"], ["only", ""]],
                "cell_spans": [
                    {"row": 1, "column": 0, "spans": [{"start": 0, "end": 3, "kind": "code"}]},
                    {"row": 1, "column": 1, "spans": [{"start": 0, "end": 1, "kind": "link", "url": "u"}]},
                ],
            },
        ),
        ("| a |\n| --- |", "table", {"headers": ["a"], "rows": []}),
        ("![a cat](cat.png)", "image", {"alt": "a cat", "url": "cat.png"}),
        ('<img src="cat.png" alt="a cat">', "image", {"alt": "a cat", "url": "cat.png"}),
        ("[Guide](guide.md)", "link", {"text": "Guide", "url": "guide.md"}),
        ("<https://example.com>", "link", {"text": "https://example.com", "url": "https://example.com"}),
        ("***", "separator", {"separator_type": "line"}),
        ("> quoted", "text", {"text": "quoted"}),
        ("<details>\nHidden\n</details>", "text", {"text": "Hidden"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_block_becomes_an_element(tmp_path: Path, text: str, category: str, content: dict[str, Any]) -> None:
    (element,) = elements(opened(tmp_path, text))
    assert (element.category, element.content) == (category, content)
    validate_content(element.category, element.content)


def test_ids_count_through_the_document(tmp_path: Path) -> None:
    document = opened(tmp_path, "# A\n\na\n\n# B\n\nb\n\n![i](j)\n![k](l)\n")
    assert [e.id for e in elements(document)] == ["h-001", "txt-001", "h-002", "txt-002", "img-001", "img-002"]


def test_a_row_of_links_or_badges_is_one_element_each(tmp_path: Path) -> None:
    found = elements(opened(tmp_path, "[![build](b.svg)](ci)\n[Guide](guide.md)"))
    picture = {"start": 0, "end": 5, "kind": "image", "url": "b.svg"}
    assert [e.content for e in found] == [
        {"text": "build", "url": "ci", "spans": [picture]},
        {"text": "Guide", "url": "guide.md"},
    ]


def test_an_element_is_found_with_its_page(tmp_path: Path) -> None:
    found = opened(tmp_path, "# A\n\na\n\n# B\n\nb\n").find("txt-002")
    assert found == (1, Element("txt-002", "text", {"text": "b"}, "b", {"source_lines": [7, 7]}))


def test_elements_know_their_lines_in_the_file_and_whether_they_are_quoted(tmp_path: Path) -> None:
    document = opened(tmp_path, "---\ntitle: T\n---\n\n# A\n\n> one\n> two\n>\n> - three\n")
    assert [(e.id, e.metadata) for e in elements(document)] == [
        ("h-001", {"source_lines": [5, 5]}),
        ("txt-001", {"source_lines": [7, 8], "quoted": True}),
        ("lst-001", {"source_lines": [10, 10], "quoted": True}),
    ]


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("# A\n\na\n\n# B\n\nb", ["A", "B"]),
        ("# T\n\nintro\n\n## A\n\na\n\n## B\n\nb", ["T", "A", "B"]),
        ("# T\n\n## A\n\na\n\n## B\n\nb", ["A", "B"]),
        ("intro\n\n## A\n\na\n\n## B\n\nb", ["intro", "A", "B"]),
        ("# T\n\n## Only\n\ntext", ["T"]),
        ("# T\n\ntext\n\n## Only\n\nmore", ["T"]),
        ("# A\n\na\n\n## A1\n\na\n\n## A2\n\na\n\n# B\n\nb", ["A", "B"]),
        ("just text\n\nand more", ["just text"]),
        ("# T\n\nx\n\n### A\n\na\n\n### B\n\nb\n\n## C\n\nc", ["T", "A", "B", "C"]),
        ("# A\n\n# B\n\n# C", ["A", "B", "C"]),
        ("# A\n\na\n\n# B\n\n# C\n\nc", ["A", "B", "C"]),
    ],
)
def test_pages_begin_where_a_person_would_turn_the_page(tmp_path: Path, text: str, pages: list[str]) -> None:
    assert titles(opened(tmp_path, text)) == pages


def test_an_endless_section_goes_on_over_several_pages(tmp_path: Path) -> None:
    assert titles(opened(tmp_path, "# A\n\n" + "text\n\n" * ELEMENTS_A_PAGE)) == ["A", "A (2)"]


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("# T\n\nFirst words.\n\n## A\n\na\n\n## B\n\nb", Description("T", 3, ("A", "B"), "First words.")),
        ("## Late\n\nx\n\n# Title\n\ny", Description("Title", 1, ("Late",), "x")),
        ("no heading", Description("", 1, (), "no heading")),
        ("- only\n- a list", Description("", 1, (), "2 items: only · a list")),
        ("", Description("", 0, (), "Empty file")),
        (
            "---\ntitle: Front\ntags: [x, y]\ndescription: Short.\n---\n# T\n\ntext",
            Description("Front", 1, ("x", "y"), "Short."),
        ),
    ],
)
def test_a_document_describes_itself(tmp_path: Path, text: str, description: Description) -> None:
    assert opened(tmp_path, text).describe() == description


def test_a_huge_file_is_refused_by_its_size(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="larger than the 4 MiB"):
        opened(tmp_path, "x" * (MAX_BYTES + 1))


@pytest.mark.parametrize(
    "text",
    [
        "> " * 5_000 + "x",
        "- " * 5_000 + "x",
        "[" * 20_000,
        "*a_ " * 10_000,
        "<!--" * 10_000,
        "`" * 20_001,
        "|" * 20_000,
    ],
    ids=["quotes", "lists", "brackets", "emphasis", "comments", "ticks", "pipes"],
)
@pytest.mark.timeout(100)
def test_hostile_nesting_ends_in_time(tmp_path: Path, text: str) -> None:
    assert opened(tmp_path, text).describe().page_count <= 1


@given(text=st.text(alphabet=st.sampled_from("ab*_`#->|[]()!<\n 1.~$\\中"), max_size=120))
def test_any_text_gives_valid_elements_with_stable_unique_ids(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("markdown")
    found = elements(opened(folder, text))
    assert found == elements(opened(folder, text))
    assert len({element.id for element in found}) == len(found)
    assert [validate_content(element.category, element.content) for element in found] == [e.content for e in found]
    assert all("\n" not in element.summary for element in found)
