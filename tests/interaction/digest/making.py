"""Small PDFs, whole and damaged."""

import zlib
from collections.abc import Sequence
from pathlib import Path

PICTURE = b"q 200 0 0 100 50 50 cm /Im1 Do Q"


def words(number: int) -> bytes:
    """The content of a page that says which it is."""
    return b"BT /F1 12 Tf 20 250 Td (What stands on page %d of this small document is short.) Tj ET" % number


def pdf(path: Path, pages: Sequence[bytes | None], outline: Sequence[tuple[str, int]] = ()) -> Path:
    """Write a PDF; `None` is a page that is missing, `outline` has titles with page numbers from 1."""
    pixels = zlib.compress(bytes(range(256)) * 30)
    objects = [
        b"",  # the catalogue
        b"",  # the pages
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /XObject /Subtype /Image /Width 80 /Height 32 /ColorSpace /DeviceRGB /BitsPerComponent 8 "
        b"/Filter /FlateDecode /Length %d >>\nstream\n%b\nendstream" % (len(pixels), pixels),
    ]
    kids: list[bytes] = []
    for content in pages:
        if content is None:
            kids.append(b"9999 0 R")
            continue
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 300] /Contents %d 0 R /Resources "
            b"<< /Font << /F1 3 0 R >> /XObject << /Im1 4 0 R >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%b] >>" % (len(kids), b" ".join(kids))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    if outline:
        root = len(objects) + 1
        count = len(outline)
        objects.append(b"<< /Type /Outlines /Count %d /First %d 0 R /Last %d 0 R >>" % (count, root + 1, root + count))
        for index, (title, page) in enumerate(outline):
            number = root + 1 + index
            around = b"/Prev %d 0 R " % (number - 1) if index else b""
            around += b"/Next %d 0 R " % (number + 1) if index < count - 1 else b""
            target = kids[page - 1]
            objects.append(
                b"<< /Title (%b) /Parent %d 0 R %b/Dest [%b /Fit] >>" % (title.encode(), root, around, target)
            )
        objects[0] = b"<< /Type /Catalog /Pages 2 0 R /Outlines %d 0 R >>" % root
    path.write_bytes(_whole(objects))
    return path


def _whole(objects: Sequence[bytes]) -> bytes:
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
