"""Pictures: size, properties, frames, rendering, and the text that is read from them where a policy allows it."""

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.base import Description, Illustrated, OpenDocument, OpenOptions, Rendered
from a2c_smcp.documents.formats.image import FORMAT
from a2c_smcp.documents.ocr.base import TURN_ON, OcrPolicy, OcrSpec
from a2c_smcp.errors import DocumentError
from tests.unit.documents.ocr.conftest import FakeService, Reply


@pytest.fixture
def picture() -> Image.Image:
    made = Image.new("RGB", (200, 100), "white")
    ImageDraw.Draw(made).rectangle((10, 10, 60, 40), fill="black")
    return made


def saved(folder: Path, picture: Image.Image, name: str, **options: Any) -> Path:
    path = folder / name
    picture.save(path, **options)
    return path


@pytest.mark.parametrize(
    ("name", "file_type", "mime"),
    [
        ("a.png", "png", "image/png"),
        ("a.jpeg", "jpg", "image/jpeg"),
        ("a.webp", "webp", "image/webp"),
        ("a.gif", "gif", "image/gif"),
        ("a.bmp", "bmp", "image/bmp"),
        ("a.tif", "tiff", "image/tiff"),
    ],
)
def test_every_kind_is_one_page_with_its_picture(
    tmp_path: Path, picture: Image.Image, name: str, file_type: str, mime: str
) -> None:
    document = FORMAT.open(saved(tmp_path, picture, name))
    [element] = document.page(0).elements
    validate_content("image", dict(element.content))
    assert FORMAT.file_type(name.upper()) == file_type
    assert document.describe().page_count == 1
    assert element.content == {"mime_type": mime, "width": 200, "height": 100}
    assert document.find("p0-img1") == (0, element)
    assert document.find("p1-img1") is None


def test_without_a_policy_the_picture_says_how_to_turn_ocr_on(tmp_path: Path, picture: Image.Image) -> None:
    [element] = FORMAT.open(saved(tmp_path, picture, "a.png")).page(0).elements
    assert element.metadata["ocr_note"] == TURN_ON
    assert "--ocr" in element.summary


def test_the_frames_of_a_tiff_are_pages(tmp_path: Path, picture: Image.Image) -> None:
    turned = picture.rotate(90, expand=True)
    document = FORMAT.open(saved(tmp_path, picture, "a.tiff", save_all=True, append_images=[turned], dpi=(144, 144)))
    assert [(entry.title, entry.element_count) for entry in document.entries(0, 9)] == [("Page 1", 1), ("Page 2", 1)]
    assert document.page(1).elements[0].metadata["bbox"] == [0, 0, 50.0, 100.0]


def test_a_moving_gif_is_one_page(tmp_path: Path, picture: Image.Image) -> None:
    document = FORMAT.open(saved(tmp_path, picture, "a.gif", save_all=True, append_images=[picture.rotate(180)]))
    assert document.describe().page_count == 1
    assert document.page(0).elements[0].metadata["frames"] == 2


def test_what_a_photograph_says_of_itself_is_told_and_its_orientation_heeded(
    tmp_path: Path, picture: Image.Image
) -> None:
    exif = Image.Exif()
    exif[0x010E], exif[0x0110], exif[0x0112] = "A nice view", "Camera 3", 6
    document = FORMAT.open(saved(tmp_path, picture, "a.jpg", exif=exif))
    [element] = document.page(0).elements
    assert document.describe() == Description("A nice view", 1, (), "JPEG image, 100 × 200 pixels, model: Camera 3")
    assert element.content == {"mime_type": "image/jpeg", "width": 100, "height": 200, "description": "A nice view"}
    assert element.metadata["properties"] == {"description": "A nice view", "model": "Camera 3"}


def test_a_frame_is_rendered_at_a_resolution_but_never_enlarged(tmp_path: Path, picture: Image.Image) -> None:
    document = FORMAT.open(saved(tmp_path, picture, "a.png", dpi=(200, 200)))
    assert isinstance(document, Rendered)
    sizes = [Image.open(io.BytesIO(document.render(0, dpi))).size for dpi in (100, 400)]
    assert sizes == [(100, 50), (200, 100)]


def test_the_picture_can_be_had_as_it_is(tmp_path: Path, picture: Image.Image) -> None:
    path = saved(tmp_path, picture, "a.webp")
    document = FORMAT.open(path)
    assert isinstance(document, Illustrated)
    assert document.element_image("p0-img1") == ("image/webp", path.read_bytes())
    assert document.element_image("p0-txt1") is None


def test_sixteen_bits_and_transparency_are_shown_as_people_see_them(tmp_path: Path) -> None:
    grey = Image.new("I;16", (20, 10), 60_000)
    grey.paste(1_000, (0, 0, 10, 10))
    clear = Image.new("RGBA", (20, 10), (0, 0, 0, 0))
    shown = []
    for name, made in (("a.png", grey), ("b.png", clear)):
        document: Any = FORMAT.open(saved(tmp_path, made, name))
        shown.append(Image.open(io.BytesIO(document.render(0, 96))).convert("L"))
    assert (shown[0].getpixel((2, 2)), shown[0].getpixel((15, 5)), shown[1].getpixel((5, 5))) == (0, 255, 255)


def recognized(service: FakeService, path: Path) -> OpenDocument:
    spec = OcrSpec("remote", service.url, allow_http="loopback", retries=0, backoff=0.0)
    return FORMAT.open(path, options=OpenOptions(ocr=OcrPolicy((spec,))))


@pytest.fixture
def service() -> Any:
    fake = FakeService()
    yield fake
    fake.close()


def test_with_a_policy_the_text_is_read(tmp_path: Path, picture: Image.Image, service: FakeService) -> None:
    service.answer(Reply(b"# Invoice\n\nTotal 12"))
    page = recognized(service, saved(tmp_path, picture, "a.png")).page(0)
    assert page.title == "Invoice"
    assert [element.id for element in page.elements] == ["p0-img1", "p0-h1", "p0-txt1"]
    assert page.elements[1].metadata == {"ocr": {"engine": "remote", "confidence": None}}
    assert "ocr_note" not in page.elements[0].metadata


def test_where_ocr_fails_the_picture_says_why(tmp_path: Path, picture: Image.Image, service: FakeService) -> None:
    service.answer(Reply(status=401))
    [element] = recognized(service, saved(tmp_path, picture, "a.png")).page(0).elements
    assert "another key" in element.metadata["ocr_note"]


def bomb(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (bomb(50_000, 50_000), "megapixels"),
        (b"", "damaged"),
        (b"\x89PNG\r\n\x1a\n", "damaged"),
        (b"GIF89a", "damaged"),
        (b"%PDF-1.7", "damaged"),
        (b"II*\0\x08\0\0\0", "damaged"),
    ],
)
def test_bombs_and_broken_files_are_refused(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(data)
    with pytest.raises(DocumentError, match=why):
        FORMAT.open(path)


def test_a_picture_too_large_to_be_decoded_is_shown_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(bomb(9_000, 9_000))
    document = FORMAT.open(tmp_path / "a.png")
    [element] = document.page(0).elements
    assert element.content == {"mime_type": "image/png", "width": 9_000, "height": 9_000}
    assert element.metadata["ocr_note"] == (
        "No text was read from this picture: the picture of 9000 × 9000 pixels is larger than the 40 megapixels read"
    )
    assert isinstance(document, Rendered)
    with pytest.raises(DocumentError, match="megapixels"):
        document.render(0, 96)


def test_a_photograph_of_very_many_pixels_is_decoded_smaller(tmp_path: Path) -> None:
    document = FORMAT.open(saved(tmp_path, Image.new("L", (8_000, 6_000), "white"), "a.jpg", dpi=(300, 300)))
    [element] = document.page(0).elements
    assert (element.content["width"], element.content["height"]) == (8_000, 6_000)
    assert element.metadata["ocr_note"] == TURN_ON
    assert isinstance(document, Rendered)
    assert Image.open(io.BytesIO(document.render(0, 75))).size == (2_000, 1_500)


def test_of_very_many_frames_the_summary_says_how_many_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("a2c_smcp.documents.formats.image.MAX_FRAMES", 2)
    frames = [Image.new("1", (8, 8)) for _ in range(3)]
    path = saved(tmp_path, frames[0], "a.tif", save_all=True, append_images=frames[1:])
    assert FORMAT.open(path).describe().summary == "TIFF image, 8 × 8 pixels, 2 pages of 3"


def test_a_picture_cut_short_fails_on_its_page(tmp_path: Path, picture: Image.Image) -> None:
    path = saved(tmp_path, picture, "a.png", compress_level=0)
    path.write_bytes(path.read_bytes()[:2_000])
    document = FORMAT.open(path)
    with pytest.raises(DocumentError, match="damaged"):
        document.page(0)


def test_a_file_that_is_gone_is_no_damaged_picture(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FORMAT.open(tmp_path / "gone.png")
