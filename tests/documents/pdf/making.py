"""Small PDFs made for tests: text at places, rules, annotations, an outline, rotation, encryption."""

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

FONTS = {"F1": "Helvetica", "F2": "Helvetica-Bold", "F3": "Courier", "F4": "Helvetica-Oblique"}
_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


@dataclass(frozen=True)
class MadePage:
    """A page: drawing operators, annotation dictionaries, and how it is shown."""

    content: str = ""
    annotations: Sequence[str] = ()
    rotate: int = 0
    box: tuple[float, float, float, float] = (0, 0, 612, 792)


@dataclass
class Made:
    """A document that is being made."""

    pages: Sequence[MadePage]
    title: str = ""
    outline: Sequence[tuple[str, int]] = ()
    catalogue: str = ""
    extra: Sequence[str] = ()
    password: str = ""
    objects: list[bytes] = field(default_factory=list)

    def build(self) -> bytes:
        """Return the file."""
        count = len(self.pages)
        first_page, first_outline = 4 + len(FONTS), 4 + len(FONTS) + 2 * count
        first_extra = first_outline + (len(self.outline) + 1 if self.outline else 0)
        fonts = " ".join(f"/{name} {4 + number} 0 R" for number, name in enumerate(FONTS))
        kids = " ".join(f"{first_page + 2 * number} 0 R" for number in range(count))
        outlines = f"/Outlines {first_outline} 0 R" if self.outline else ""
        self._add(f"<</Type/Catalog/Pages 2 0 R {outlines} {self.catalogue.format(extra=first_extra)}>>")
        self._add(f"<</Type/Pages/Kids[{kids}]/Count {count}/Resources<</Font<<{fonts}>>>>>>")
        self._add(f"<</Title {self._text(self.title)}>>")
        for name in FONTS.values():
            self._add(f"<</Type/Font/Subtype/Type1/BaseFont/{name}/Encoding/WinAnsiEncoding>>")
        for number, page in enumerate(self.pages):
            annotations = " ".join(page.annotations).format(extra=first_extra)
            box = " ".join(map(str, page.box))
            self._add(
                f"<</Type/Page/Parent 2 0 R/MediaBox[{box}]/Rotate {page.rotate}"
                f"/Contents {first_page + 2 * number + 1} 0 R/Annots[{annotations}]>>"
            )
            self._stream(page.content.encode("cp1252"))
        self._outline(first_outline, first_page)
        for extra in self.extra:
            self._add(extra)
        return self._file()

    def _outline(self, first: int, first_page: int) -> None:
        if not self.outline:
            return
        last = first + len(self.outline)
        self._add(f"<</Type/Outlines/First {first + 1} 0 R/Last {last} 0 R/Count {len(self.outline)}>>")
        for number, (title, page) in enumerate(self.outline, first + 1):
            following = f"/Next {number + 1} 0 R" if number < last else ""
            before = f"/Prev {number - 1} 0 R" if number > first + 1 else ""
            target = f"/Dest[{first_page + 2 * page} 0 R /Fit]"
            self._add(f"<</Title {self._text(title)}/Parent {first} 0 R{following}{before}{target}>>")

    def _text(self, text: str) -> str:
        data = self._sealed(b"\xfe\xff" + text.encode("utf-16-be"))
        return f"<{data.hex()}>"

    def _stream(self, data: bytes) -> None:
        sealed = self._sealed(data)
        self.objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(sealed), sealed))

    def _add(self, text: str) -> None:
        self.objects.append(text.encode("cp1252"))

    def _sealed(self, data: bytes) -> bytes:
        if not self.password:
            return data
        number = len(self.objects) + 1
        seed = self._key() + number.to_bytes(3, "little") + b"\0\0"
        return _rc4(hashlib.md5(seed, usedforsecurity=False).digest()[:10], data)

    def _owner(self) -> bytes:
        secret = (self.password.encode() + _PADDING)[:32]
        return _rc4(hashlib.md5(secret, usedforsecurity=False).digest()[:5], secret)

    def _key(self) -> bytes:
        secret = (self.password.encode() + _PADDING)[:32]
        seed = secret + self._owner() + (0xFFFFFFFC).to_bytes(4, "little") + b"made"
        return hashlib.md5(seed, usedforsecurity=False).digest()[:5]

    def _file(self) -> bytes:
        body = bytearray(b"%PDF-1.7\n")
        places = []
        trailer = f"/Size {len(self.objects) + 1}/Root 1 0 R/Info 3 0 R/ID[<6d616465><6d616465>]"
        if self.password:
            user = _rc4(self._key(), _PADDING)
            trailer += f"/Encrypt<</Filter/Standard/V 1/R 2/O<{self._owner().hex()}>/U<{user.hex()}>/P -4>>"
        for number, data in enumerate(self.objects, 1):
            places.append(len(body))
            body += b"%d 0 obj%s endobj\n" % (number, b" " + data)
        start = len(body)
        body += b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
        for place in places:
            body += b"%010d 00000 n \n" % place
        return bytes(body + f"trailer<<{trailer}>>\nstartxref\n{start}\n%%EOF".encode())


def text(x: float, y: float, told: str, size: float = 10, font: str = "F1") -> str:
    """Return operators that write at a place, counted from the bottom left."""
    escaped = told.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /{font} {size} Tf {x} {y} Td ({escaped}) Tj ET\n"


def lines(x: float, y: float, told: Sequence[str], size: float = 10, font: str = "F1", leading: float = 12) -> str:
    """Return operators that write lines below each other."""
    return "".join(text(x, y - number * leading, line, size, font) for number, line in enumerate(told))


def rule(x0: float, y0: float, x1: float, y1: float) -> str:
    """Return operators that draw a line."""
    return f"{x0} {y0} m {x1} {y1} l S\n"


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    i = j = 0
    out = bytearray()
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def picture(pixels: bytes, width: int, height: int, x: float, y: float, wide: float, high: float) -> str:
    """Return operators that draw a grey picture, a byte a pixel, at a place counted from the bottom left."""
    data = zlib.compress(pixels).hex()
    head = f"BI /W {width} /H {height} /CS /G /BPC 8 /F [/AHx /Fl] ID"
    return f"q {wide} 0 0 {high} {x} {y} cm {head} {data}> EI Q\n"
