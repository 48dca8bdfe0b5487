"""PDFs from file to elements: what is on a page, where it is, and what it is called."""

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageOps

from a2c_smcp.documents import codec
from a2c_smcp.documents.formats.base import Description, OpenOptions, OutlineEntry, PasswordNeeded
from a2c_smcp.documents.formats.pdf import FORMAT
from a2c_smcp.documents.opening import open_file
from a2c_smcp.documents.pdf import document as document_module
from a2c_smcp.documents.pdf.document import PdfDocument
from a2c_smcp.documents.pdf.page import PageContent, Source, read_page
from a2c_smcp.errors import DocumentError
from tests.documents.pdf.making import Made, MadePage, lines, rule, text

PROSE = [
    "The quick brown fox jumps over the lazy dog and goes on its way through",
    "the forest, where nobody has seen it since the days of the old king who",
    "liked to tell the tale of it to everybody who wanted to hear it again.",
]


def opened(folder: Path, made: Made, options: OpenOptions | None = None) -> PdfDocument:
    path = folder / "made.pdf"
    path.write_bytes(made.build())
    document = FORMAT.open(path, options=options or OpenOptions())
    assert isinstance(document, PdfDocument)
    return document


def contents(document: PdfDocument, category: str, index: int = 0) -> list[Any]:
    return [element.content for element in document.page(index).elements if element.category == category]


def test_lines_of_a_paragraph_are_one_text_with_its_place(tmp_path: Path) -> None:
    document = opened(tmp_path, Made([MadePage(lines(72, 600, PROSE))]))
    (element,) = document.page(0).elements
    assert (element.id, element.category, element.content) == ("p0-txt1", "text", {"text": " ".join(PROSE)})
    assert element.metadata["page_width"] == 612.0
    assert element.metadata["page_height"] == 792.0
    x0, y0, x1, y1 = element.metadata["bbox"]
    assert 71 <= x0 <= 73
    assert 180 <= y0 <= 192
    assert x1 < 540
    assert y1 < 222


def test_a_large_line_is_a_heading_and_names_the_page(tmp_path: Path) -> None:
    content = text(72, 700, "Foxes of the forest", 18, "F2") + lines(72, 660, PROSE)
    document = opened(tmp_path, Made([MadePage(content)]))
    assert contents(document, "heading") == [{"level": 1, "text": "Foxes of the forest"}]
    assert document.page(0).title == "Page 1 · Foxes of the forest"
    assert [entry.title for entry in document.entries(0, 10)] == ["Page 1 · Foxes of the forest"]


def test_the_outline_gives_headings_their_levels(tmp_path: Path) -> None:
    content = text(72, 700, "Foxes", 12, "F2") + lines(72, 660, PROSE)
    document = opened(tmp_path, Made([MadePage(content), MadePage()], outline=[("Foxes", 0), ("Hares", 1)]))
    assert contents(document, "heading") == [{"level": 1, "text": "Foxes"}]
    assert list(document.outline()) == [OutlineEntry("Foxes", 0, 1), OutlineEntry("Hares", 1, 1)]


def test_the_catalogue_reads_title_and_chapters_without_a_page(tmp_path: Path) -> None:
    document = opened(tmp_path, Made([MadePage(), MadePage()], title="On foxes", outline=[("Foxes", 0), ("Hares", 1)]))
    assert document.describe() == Description("On foxes", 2, ("Foxes", "Hares"), "Foxes · Hares")


@pytest.mark.parametrize(
    "title",
    [
        "",
        "Microsoft Word - draft3.doc",
        "Microsoft PowerPoint - Kickoff meeting",
        "untitled",
        "Untitled-1",
        "Unbenanntes Dokument",
        "未命名",
        "Document1",
        "PowerPoint Presentation",
        "report final.indd",
        "Annual report.docx",
        "C:\\Users\\me\\draft 3",
        "https://example.com/draft",
        "LaTeX with hyperref package",
        "pdfTeX-1.40.21",
        "Title goes here",
        "ACM conference proceedings template",
        "Preparation of Papers in Two-Column Format",
        "12",
        "(anonymous)",
        "SCAN-0i25080113320",
    ],
)
def test_a_title_that_names_a_program_or_a_file_gives_way_to_that_of_the_first_page(title: str, tmp_path: Path) -> None:
    content = text(72, 700, "Foxes of the forest", 18, "F2") + lines(72, 660, PROSE)
    assert opened(tmp_path, Made([MadePage(content)], title=title)).describe().title == "Foxes of the forest"


@pytest.mark.parametrize(
    "title",
    [
        "Microsoft Word for beginners",
        "LaTeX by example",
        "Title insurance in Germany",
        "Untitled and unsigned",
        "Drawing trees",
    ],
)
def test_a_title_that_only_begins_like_a_default_is_kept(title: str, tmp_path: Path) -> None:
    content = text(72, 700, "Foxes of the forest", 18, "F2") + lines(72, 660, PROSE)
    assert opened(tmp_path, Made([MadePage(content)], title=title)).describe().title == title


def test_a_document_that_is_a_template_and_says_so_keeps_its_title(tmp_path: Path) -> None:
    content = text(72, 700, "A template for letters", 18, "F2") + lines(72, 660, PROSE)
    told = opened(tmp_path, Made([MadePage(content)], title="A Template for Letters")).describe()
    assert told.title == "A Template for Letters"


def test_without_a_subject_the_summary_is_headings_and_how_the_text_begins(tmp_path: Path) -> None:
    first = text(72, 700, "Foxes of the forest", 18, "F2") + text(72, 670, "Where they live", 14, "F2")
    pages = [MadePage(first + lines(72, 640, PROSE)), *[MadePage(lines(72, 700, PROSE))] * 463]
    told = opened(tmp_path, Made(pages, title="On foxes")).describe()
    assert told.summary.startswith(f"Foxes of the forest · Where they live. {PROSE[0]}")
    assert told.page_count == 464


def test_the_summary_of_a_document_with_a_blank_cover_comes_from_its_second_page(tmp_path: Path) -> None:
    pages = [MadePage(), MadePage(lines(72, 700, PROSE))]
    assert opened(tmp_path, Made(pages, title="On foxes")).describe().summary.startswith(PROSE[0])


def test_a_summary_reads_no_more_than_the_first_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    read = read_page

    def noted(source: Source, index: int, label: str) -> PageContent:
        asked.append(index)
        return read(source, index, label)

    monkeypatch.setattr(document_module, "read_page", noted)
    assert opened(tmp_path, Made([MadePage()] * 9, title="On foxes")).describe().summary == "9 pages"
    assert asked == [0, 1]


def test_a_section_title_at_the_top_of_a_page_is_text_and_a_line_that_repeats_is_a_header(tmp_path: Path) -> None:
    prose = lines(72, 690, PROSE * 6)
    tops = ["Running title", "Running title", "Results of the year", "Running title", "Running title"]
    document = opened(tmp_path, Made([MadePage(text(72, 750, top) + prose) for top in tops]))
    found = [
        [element.content["text"] for element in document.page(index).elements if element.category == "header"]
        for index in (2, 0, 4, 1, 3)
    ]
    assert found == [[], *[["Running title"]] * 4]
    alone = opened(tmp_path, Made([MadePage(text(72, 750, "Running title") + prose)]))
    assert all(element.category != "header" for element in alone.page(0).elements)


def test_what_runs_does_not_depend_on_the_order_in_which_pages_are_read(tmp_path: Path) -> None:
    prose = lines(72, 690, PROSE * 6)
    tops = [f"Part {number // 3}" if number % 2 else "The book of foxes" for number in range(12)]
    made = Made([MadePage(text(72, 750, top) + prose) for top in tops]).build()
    (tmp_path / "one.pdf").write_bytes(made)
    forward, backward = (PdfDocument(tmp_path / "one.pdf", OpenOptions()) for _ in range(2))
    ahead = [forward.page(index) for index in range(12)]
    assert ahead == [backward.page(index) for index in reversed(range(12))][::-1]


@pytest.mark.parametrize(
    "error", [ValueError("text has a size"), IndexError(), RecursionError(), DocumentError("it is damaged")]
)
def test_a_page_that_cannot_be_read_hides_neither_the_document_nor_its_other_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    read = read_page

    def failing(source: Source, index: int, label: str) -> PageContent:
        if index == 0:
            raise error
        return read(source, index, label)

    monkeypatch.setattr(document_module, "read_page", failing)
    document = opened(tmp_path, Made([MadePage(lines(72, 700, PROSE)), MadePage(lines(72, 700, PROSE))]))
    told = document.describe()
    assert (told.page_count, told.summary.startswith(PROSE[0])) == (2, True)
    first, second = document.entries(0, 2)
    assert (first.title.startswith("Page 1 (cannot be read: "), second.element_count) == (True, 1)
    assert len(document.page(1).elements) == 1


def test_a_first_page_that_gets_no_memory_leaves_a_description_that_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(source: Source, index: int, label: str) -> PageContent:
        raise MemoryError

    monkeypatch.setattr(document_module, "read_page", failing)
    path = tmp_path / "made.pdf"
    path.write_bytes(Made([MadePage(), MadePage()], title="On foxes").build())
    record = codec.record_of(open_file(path, (FORMAT, "pdf"), OpenOptions()))
    assert (record.description, record.problem) == (Description("On foxes", 2, (), "2 pages"), "")
    assert not record.lasting


def test_lists_nest_by_indentation_and_tell_their_start(tmp_path: Path) -> None:
    content = (
        lines(72, 700, PROSE)
        + text(72, 640, "3. Catch the fox.")
        + text(90, 628, "\u2022 Alive, if it can be done.")
        + text(90, 616, "\u2022 Without dogs.")
        + text(72, 604, "4. Let it go.")
    )
    document = opened(tmp_path, Made([MadePage(content)]))
    assert contents(document, "list") == [
        {
            "ordered": True,
            "start": 3,
            "items": [
                {
                    "text": "Catch the fox.",
                    "children": {"ordered": False, "items": ["Alive, if it can be done.", "Without dogs."]},
                },
                "Let it go.",
            ],
        }
    ]


def test_a_ruled_table_keeps_wrapped_and_empty_cells(tmp_path: Path) -> None:
    ruled = "".join(rule(72, y, 372, y) for y in (700, 680, 650, 630))
    ruled += "".join(rule(x, 630, x, 700) for x in (72, 172, 272, 372))
    cells = text(76, 686, "Animal", font="F2") + text(176, 686, "Legs", font="F2") + text(276, 686, "Note", font="F2")
    cells += text(76, 667, "Red fox") + text(176, 667, "4") + text(276, 667, "lives in the forest")
    cells += text(276, 655, "and near towns") + text(76, 636, "Hen") + text(176, 636, "2")
    document = opened(tmp_path, Made([MadePage(ruled + cells)]))
    assert contents(document, "table") == [
        {
            "headers": ["Animal", "Legs", "Note"],
            "rows": [["Red fox", "4", "lives in the forest and near towns"], ["Hen", "2", ""]],
        }
    ]


def test_a_table_without_rules_is_found_by_its_gaps(tmp_path: Path) -> None:
    rows = [("Animal", "Legs", "Weight"), ("Red fox", "4", "6 kg"), ("Hen", "2", "3 kg"), ("Hare", "4", "4 kg")]
    content = lines(72, 720, PROSE) + "".join(
        text(x, 640 - 14 * number, cell)
        for number, row in enumerate(rows)
        for x, cell in zip((72, 200, 300), row, strict=True)
    )
    document = opened(tmp_path, Made([MadePage(content)]))
    assert contents(document, "table") == [{"headers": list(rows[0]), "rows": [list(row) for row in rows[1:]]}]


def test_a_caption_belongs_to_its_table(tmp_path: Path) -> None:
    ruled = "".join(rule(72, y, 372, y) for y in (700, 680, 660)) + "".join(
        rule(x, 660, x, 700) for x in (72, 222, 372)
    )
    cells = text(76, 686, "Animal") + text(230, 686, "Legs") + text(76, 666, "Fox") + text(230, 666, "4")
    document = opened(tmp_path, Made([MadePage(ruled + cells + text(72, 640, "Table 1: Animals and legs"))]))
    assert contents(document, "table")[0]["caption"] == "Table 1: Animals and legs"
    assert contents(document, "text") == []


def test_columns_are_read_one_after_the_other_though_the_file_goes_across(tmp_path: Path) -> None:
    left = [f"left column line {number} goes on and on" for number in range(12)]
    right = [f"right column line {number} goes on and on" for number in range(12)]
    across = "".join(
        text(72, 700 - 12 * number, first) + text(330, 700 - 12 * number, second)
        for number, (first, second) in enumerate(zip(left, right, strict=True))
    )
    document = opened(tmp_path, Made([MadePage(across)]))
    told = " ".join(content["text"] for content in contents(document, "text"))
    assert told == " ".join(left + right)


def test_running_headers_footers_and_footnotes_are_told_apart(tmp_path: Path) -> None:
    content = (
        text(72, 760, "Chapter 3: Foxes")
        + text(530, 760, "17")
        + lines(72, 700, PROSE * 6)
        + lines(72, 90, ["1 So says the old book, which nobody", "has seen for years."], 7, leading=9)
        + text(300, 40, "- 17 -")
    )
    document = opened(tmp_path, Made([MadePage(content)]))
    assert contents(document, "header") == [{"text": "Chapter 3: Foxes 17"}]
    assert contents(document, "footer") == [{"text": "- 17 -"}]
    assert contents(document, "annotation") == [
        {"text": "1 So says the old book, which nobody has seen for years.", "annotation_type": "footnote"}
    ]


def test_links_lead_to_addresses_and_pages(tmp_path: Path) -> None:
    content = text(72, 700, "See the forest and the last page.")
    annotations = [
        "<</Type/Annot/Subtype/Link/Rect[110 698 138 710]/A<</S/URI/URI(https://example.com/forest)>>>>",
        "<</Type/Annot/Subtype/Link/Rect[154 698 230 710]/Dest[10 0 R /Fit]>>",
    ]
    document = opened(tmp_path, Made([MadePage(content, annotations), MadePage()]))
    (found,) = contents(document, "text")
    assert [(found["text"][span["start"] : span["end"]].strip(" ."), span["url"]) for span in found["spans"]] == [
        ("forest", "https://example.com/forest"),
        ("the last page", "#page=2"),
    ]
    assert contents(document, "link") == []


def test_a_link_that_lies_on_no_words_is_an_element(tmp_path: Path) -> None:
    link = "<</Type/Annot/Subtype/Link/Rect[300 300 400 340]/A<</S/URI/URI(https://example.com/picture)>>>>"
    document = opened(tmp_path, Made([MadePage(text(72, 700, "Words elsewhere."), [link])]))
    assert contents(document, "link") == [{"text": "", "url": "https://example.com/picture"}]


def test_of_words_that_stand_several_times_those_below_the_link_lead_somewhere(tmp_path: Path) -> None:
    content = lines(
        72, 700, ["See page 1 and then go on to the end of it all.", "See page 1 again, for page 1 is worth it."]
    )
    link = "<</Type/Annot/Subtype/Link/Rect[117 684 124 698]/A<</S/URI/URI(https://example.com/one)>>>>"
    document = opened(tmp_path, Made([MadePage(content, [link])]))
    (found,) = contents(document, "text")
    second = found["text"].index("See page 1", 5)
    assert [span["start"] for span in found["spans"]] == [second + len("See page ")]


def test_comments_come_with_author_date_passage_and_replies(tmp_path: Path) -> None:
    content = text(72, 700, "The fox is red.")
    annotations = [
        (
            "<</Type/Annot/Subtype/Highlight/Rect[88 696 104 712]/QuadPoints[88 711 104 711 88 697 104 697]"
            "/Contents(Really?)/T(Reader)/CreationDate(D:20260102030405+01'00')>>"
        ),
        "<</Type/Annot/Subtype/Popup/Rect[0 0 10 10]>>",
    ]
    document = opened(tmp_path, Made([MadePage(content, annotations)]))
    assert contents(document, "annotation") == [
        {
            "text": "Really?",
            "annotation_type": "highlight",
            "target": "fox",
            "author": "Reader",
            "created": "2026-01-02T03:04:05+01:00",
        }
    ]


def test_form_fields_come_with_values_and_options(tmp_path: Path) -> None:
    widgets = [
        "<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/TU(Your name)/V(Alice)/Ff 2/Rect[72 700 172 716]/P 8 0 R>>",
        "<</Type/Annot/Subtype/Widget/FT/Ch/T(animal)/Opt[(Fox)(Hen)]/V(Hen)/Ff 131072/Rect[72 670 172 686]/P 8 0 R>>",
    ]
    page = MadePage("", ["{extra} 0 R", "11 0 R"])
    document = opened(tmp_path, Made([page], catalogue="/AcroForm<</Fields[{extra} 0 R 11 0 R]>>", extra=widgets))
    assert contents(document, "form") == [
        {
            "fields": [
                {"name": "name", "field_type": "text", "label": "Your name", "required": True, "value": "Alice"},
                {"name": "animal", "field_type": "choice", "options": ["Fox", "Hen"], "value": "Hen"},
            ]
        }
    ]


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_boxes_are_those_of_the_page_as_shown(rotate: int, tmp_path: Path) -> None:
    document = opened(tmp_path, Made([MadePage(text(100, 150, "Fox", 20), rotate=rotate, box=(50, 100, 450, 700))]))
    (element,) = document.page(0).elements
    wide, high = (400.0, 600.0) if rotate in (0, 180) else (600.0, 400.0)
    assert (element.metadata["page_width"], element.metadata["page_height"]) == (wide, high)
    x0, y0, x1, y1 = element.metadata["bbox"]
    image = Image.open(io.BytesIO(document.render(0, 72))).convert("L")
    assert image.size == (round(wide), round(high))
    shown = ImageOps.invert(image).getbbox()
    assert shown is not None
    left, top, right, bottom = shown
    assert x0 - 2 <= left
    assert right <= x1 + 2
    assert y0 - 2 <= top
    assert bottom <= y1 + 2


def test_an_encrypted_file_opens_with_its_password_only(tmp_path: Path) -> None:
    made = [MadePage(text(72, 700, "A secret fox"))]
    with pytest.raises(PasswordNeeded, match="needs a password"):
        opened(tmp_path, Made(made, password="forest"))
    with pytest.raises(PasswordNeeded, match="password is wrong"):
        opened(tmp_path, Made(made, password="forest"), OpenOptions(password="town"))
    document = opened(tmp_path, Made(made, password="forest"), OpenOptions(password="forest"))
    assert contents(document, "heading") + contents(document, "text") == [{"text": "A secret fox"}]


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"", "the file is empty"), (b"no pdf at all", "it is not a PDF"), (b"%PDF-1.7\n1 0 obj<<", "it is not a PDF")],
)
def test_a_broken_file_says_why(data: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(data)
    with pytest.raises(DocumentError, match=why):
        FORMAT.open(path)


def test_a_page_of_any_size_is_drawn_within_the_limit(tmp_path: Path) -> None:
    document = opened(tmp_path, Made([MadePage(text(10, 10, "Fox"), box=(0, 0, 200_000, 200_000))]))
    image = Image.open(io.BytesIO(document.render(0, 110)))
    assert image.size[0] * image.size[1] <= 40_100_000
    assert contents(document, "text") == [{"text": "Fox"}]


@pytest.mark.parametrize(("index", "dpi"), [(5, 72), (-1, 72), (0, 0), (0, 10_000)])
def test_what_cannot_be_drawn_is_said(index: int, dpi: int, tmp_path: Path) -> None:
    with pytest.raises(DocumentError):
        opened(tmp_path, Made([MadePage()])).render(index, dpi)


def test_elements_are_found_by_their_ids_again(tmp_path: Path) -> None:
    document = opened(tmp_path, Made([MadePage(), MadePage(lines(72, 600, PROSE))]))
    found = document.find("p1-txt1")
    assert found == (1, document.page(1).elements[0])
    assert [document.find(other) for other in ("p1-txt2", "p9-txt1", "tbl-001", "p1-txt1 ")] == [None] * 4


def test_a_wrong_extension_gives_an_error_of_the_file_not_of_the_parser(tmp_path: Path) -> None:
    path = tmp_path / "picture.pdf"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 64)
    with pytest.raises(DocumentError, match="not a PDF"):
        FORMAT.open(path)


def test_a_closed_document_says_so(tmp_path: Path) -> None:
    document = opened(tmp_path, Made([MadePage(lines(72, 600, PROSE))]))
    document.page(0)
    document.close()
    for ask in (document.describe, document.outline, lambda: document.page(0), lambda: document.render(0, 72)):
        with pytest.raises(DocumentError, match="closed"):
            ask()


def test_bullets_that_are_drawn_make_a_list(tmp_path: Path) -> None:
    items = ["First thing to do", "Second thing", "Third thing"]
    content = lines(72, 700, PROSE) + lines(90, 640, items, leading=14)
    content += "".join(f"76 {642 - 14 * number} 4 4 re f\n" for number in range(3))
    document = opened(tmp_path, Made([MadePage(content)]))
    assert contents(document, "list") == [{"ordered": False, "items": items}]


def test_a_link_on_a_page_of_very_many_lines_has_the_text_it_lies_on(tmp_path: Path) -> None:
    rows = "".join(f"BT /F1 1 Tf 72 {780 - 1.5 * row:.1f} Td (entry {row}) Tj ET " for row in range(500))
    links = [
        f"<< /Type /Annot /Subtype /Link /Rect [70 {779.5 - 1.5 * row} 80 {780.8 - 1.5 * row}]"
        f" /A << /S /URI /URI (https://example.com/{row}) >> >>"
        for row in (0, 7, 499)
    ]
    path = tmp_path / "many.pdf"
    path.write_bytes(Made([MadePage(rows, links)]).build())
    found = [
        (element.content["text"][span["start"] : span["end"]], span["url"])
        for element in FORMAT.open(path).page(0).elements
        for span in element.content.get("spans", ())
    ]
    assert found == [(f"entry {row}", f"https://example.com/{row}") for row in (0, 7, 499)]
