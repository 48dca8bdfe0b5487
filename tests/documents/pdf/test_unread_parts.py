"""Parts of a page that its text layer does not have: pictures of text beside text, and letters drawn as outlines."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from a2c_smcp.documents.formats.base import OpenOptions
from a2c_smcp.documents.model import Element, PageEntry
from a2c_smcp.documents.ocr import base
from a2c_smcp.documents.ocr.base import OcrLine, OcrPage, OcrPolicy, OcrSpec
from a2c_smcp.documents.ocr.pictures import open_picture
from a2c_smcp.documents.pdf.document import PdfDocument
from tests.documents.pdf.making import Made, MadePage, lines, picture, text

POLICY = OcrPolicy((OcrSpec("local"),))
SCANNED = (
    "Invoice number 4711 of the eleventh of May",
    "Two hundred kilograms of winter wheat",
    "delivered to the harbour of Rostock",
    "payable within thirty days of receipt",
)
STAMP = ("RECEIVED BY THE OFFICE ON 12 MAY 2026 IN GOOD ORDER", "signed by the clerk of the harbour office")
PROSE = (
    "This is ordinary text that a person typed into the page by hand and",
    "it goes on for several lines so that the page counts as one of text,",
    "with more than enough letters to be taken for what it really is here.",
)
WIDTH, HEIGHT = 595, 842


def paper(width: int, height: int) -> Image.Image:
    """Return a picture of the scanned lines."""
    made = Image.new("L", (width, height), 255)
    font = ImageFont.load_default(size=40)
    for number, line in enumerate(SCANNED):
        ImageDraw.Draw(made).text((80, 60 + 70 * number), line, font=font, fill=0)
    return made


def photograph(width: int, height: int) -> Image.Image:
    """Return a picture without paper: shades of everything."""
    small = Image.new("L", (16, 12))
    small.putdata([(97 * number * number + 31 * number) % 256 for number in range(16 * 12)])
    return small.resize((width, height), Image.Resampling.BICUBIC)


def shown(image: Image.Image, x: float, y: float, wide: float, high: float) -> str:
    return picture(image.tobytes(), image.width, image.height, x, y, wide, high)


def outlined(x: float, y: float, told: str, size: float = 14, *, in_one: bool = False) -> str:
    """Return operators that draw letters as filled paths, each of runs of pixels; or a line as one path."""
    font, scale = ImageFont.load_default(size=64), size / 64
    glyphs = []
    for letter in told:
        wide = font.getlength(letter)
        mask = Image.new("1", (int(wide) + 8, 90), 0)
        ImageDraw.Draw(mask).text((2, 0), letter, font=font, fill=1)
        glyphs.append(" ".join(runs(mask, x, y, scale)))
        x += wide * scale
    return " ".join(glyphs) + " f\n" if in_one else "".join(f"{glyph} f\n" for glyph in glyphs if glyph)


def runs(mask: Image.Image, x: float, y: float, scale: float) -> list[str]:
    found = []
    for row in range(mask.height):
        start = None
        for column in range(mask.width + 1):
            inked = column < mask.width and bool(mask.getpixel((column, row)))
            if inked and start is None:
                start = column
            elif not inked and start is not None:
                place = f"{x + start * scale:.2f} {y + (64 - row) * scale:.2f}"
                found.append(f"{place} {(column - start) * scale:.2f} {-scale:.2f} re")
                start = None
    return found


PAGES = {
    "scan": shown(paper(1240, 1754), 0, 0, WIDTH, HEIGHT),
    "scan with a stamp": shown(paper(1240, 1754), 0, 0, WIDTH, HEIGHT) + lines(300, 600, STAMP),
    "text, scan, text": lines(72, 780, PROSE)
    + shown(paper(1240, 700), 72, 300, 450, 254)
    + text(72, 250, "Below the picture stands a last line of text."),
    "outlines": "".join(outlined(72, 700 - 20 * number, line) for number, line in enumerate(SCANNED)),
    "outlined lines": "".join(outlined(72, 700 - 20 * n, line, in_one=True) for n, line in enumerate(SCANNED)),
    "text, outlines, text": lines(72, 780, PROSE)
    + "".join(outlined(72, 600 - 20 * number, line) for number, line in enumerate(SCANNED))
    + text(72, 450, "After the outlines comes a last line of text."),
}
WHOLE = {
    "text and a photograph": lines(72, 780, PROSE * 3) + shown(photograph(800, 600), 72, 200, 400, 300),
    "text on a shaded page": shown(Image.linear_gradient("L").resize((200, 300)), 0, 0, WIDTH, HEIGHT)
    + lines(72, 780, PROSE),
    "text and a chart": lines(72, 780, PROSE)
    + "".join(f"{100 + 12 * n} 300 8 {20 + 7 * (n % 5)} re f {100 + 12 * n} 500 m 3 0 l S\n" for n in range(40)),
}
"""Pages that OCR has nothing to add to."""


@dataclass
class Reader:
    """Reads one line from any picture, as a service would, and keeps the pictures."""

    name: str = "reader"
    pictures: list[Image.Image] = field(default_factory=list)
    at: tuple[float, float, float, float] = (300.0, 900.0, 900.0, 940.0)

    def read(self, png: bytes) -> OcrPage:
        shown = open_picture(png)
        self.pictures.append(shown)
        return OcrPage((OcrLine("What was read", self.at, 0.9),), self.name, *shown.size)


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Reader:
    reader = Reader()
    monkeypatch.setattr(base, "engine_of", lambda spec: reader)
    return reader


def page(folder: Path, content: str, policy: OcrPolicy | None = POLICY) -> tuple[Element, ...]:
    return opened(folder, content, policy).page(0).elements


def opened(folder: Path, content: str, policy: OcrPolicy | None = POLICY) -> PdfDocument:
    path = folder / "made.pdf"
    path.write_bytes(Made([MadePage(content, box=(0, 0, WIDTH, HEIGHT))]).build())
    return PdfDocument(path, OpenOptions(ocr=policy))


@pytest.mark.parametrize("name", PAGES)
def test_a_part_without_text_is_read_by_ocr_once(tmp_path: Path, reader: Reader, name: str) -> None:
    elements = page(tmp_path, PAGES[name])
    assert len(reader.pictures) == 1
    assert "image" in [element.category for element in elements]
    assert len({element.id for element in elements}) == len(elements)


@pytest.mark.parametrize("name", WHOLE)
def test_a_page_of_text_with_a_photograph_a_background_or_a_chart_never_pays_for_it(
    tmp_path: Path, reader: Reader, name: str
) -> None:
    page(tmp_path, WHOLE[name])
    assert reader.pictures == []


@pytest.mark.parametrize("name", [*PAGES, *WHOLE])
def test_without_an_engine_only_the_pictures_say_so(tmp_path: Path, reader: Reader, name: str) -> None:
    elements = page(tmp_path, (PAGES | WHOLE)[name], None)
    assert reader.pictures == []
    noted = [element for element in elements if "ocr_note" in element.metadata]
    assert all(element.category == "image" for element in noted)
    assert bool(noted) or name in WHOLE
    assert not any("OCR" in str(element.content) for element in elements)


def test_text_that_the_page_has_is_painted_over_and_kept_where_it_is(tmp_path: Path, reader: Reader) -> None:
    reader.at = (300.0, 1000.0, 900.0, 1040.0)
    elements = page(tmp_path, PAGES["text, scan, text"])
    told = [element.content.get("text", element.category) for element in elements]
    assert told == [" ".join(PROSE), "image", "What was read", "Below the picture stands a last line of text."]
    assert [element.id for element in elements] == ["p0-txt1", "p0-img1", "p0-txt3", "p0-txt2"]
    [sent] = reader.pictures
    scale = sent.width / WIDTH
    above = sent.crop((0, 0, sent.width, int(280 * scale))).convert("L")
    inside = sent.crop((int(72 * scale), int(290 * scale), int(522 * scale), int(540 * scale))).convert("L")
    assert above.getextrema() == (255, 255)
    assert min(inside.tobytes()) < 50


def test_what_is_read_where_the_picture_is_white_is_no_text(tmp_path: Path, reader: Reader) -> None:
    reader.at = (10.0, 10.0, 50.0, 40.0)
    elements = page(tmp_path, PAGES["text, scan, text"])
    assert all("ocr" not in element.metadata for element in elements)


def test_the_picture_of_outlined_letters_can_be_looked_at(tmp_path: Path, reader: Reader) -> None:
    document = opened(tmp_path, PAGES["outlines"])
    found = next(element for element in document.page(0).elements if element.category == "image")
    shown = document.element_image(found.id)
    assert shown is not None
    assert (shown[0], shown[1][:4]) == ("image/png", b"\x89PNG")


@pytest.mark.parametrize("name", PAGES)
def test_the_page_index_and_the_catalogue_never_run_ocr(tmp_path: Path, reader: Reader, name: str) -> None:
    document = opened(tmp_path, PAGES[name])
    assert document.describe().page_count == 1
    assert document.entries(0, 9) == [PageEntry(0, "Page 1")]
    assert reader.pictures == []
    count = len(document.page(0).elements)
    assert document.entries(0, 9) == [PageEntry(0, "Page 1", count)]
    assert len(reader.pictures) == 1


@pytest.mark.parametrize("name", ["scan with a stamp", "text, scan, text", "text, outlines, text"])
def test_the_local_engine_reads_them_in_order_and_nothing_twice(tmp_path: Path, name: str) -> None:
    pytest.importorskip("rapidocr")
    elements = page(tmp_path, PAGES[name])
    whole = " ".join(element.content["text"] for element in elements if "text" in element.content)
    squeezed = whole.replace(" ", "").lower()
    for line in (*SCANNED, *(STAMP if "stamp" in name else PROSE)):
        assert squeezed.count(line.replace(" ", "").lower()) == 1, whole
    places = [element.metadata["bbox"][1] for element in elements if element.category == "text"]
    assert places == sorted(places)
