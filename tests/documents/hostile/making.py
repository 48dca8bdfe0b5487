"""Files that mean harm, made on the fly."""

import hashlib
import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Final

MIB: Final = 1 << 20

_LAUGHS: Final = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">'
    + "".join(f'<!ENTITY lol{n} "{f"&lol{n - 1 or str()};" * 10}">' for n in range(1, 10))
    + "]>"
)
CONTENT_TYPES: Final = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"


def rels(target: str) -> str:
    head = '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    return f'{head}<Relationship Id="rId1" Type="{_OFFICE}" Target="{target}"/></Relationships>'


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
        for name, part in parts.items():
            made.writestr(name, part)
    return data.getvalue()


def office(main: str, part: str | bytes) -> bytes:
    """Return an Office file whose main part is this."""
    return archive({"[Content_Types].xml": CONTENT_TYPES, "_rels/.rels": rels(main), main: part})


def epub(part: str | bytes) -> bytes:
    container = (
        '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">'
        '<rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    return archive({"mimetype": "application/epub+zip", "META-INF/container.xml": container, "book.opf": part})


def laughs(root: str) -> str:
    """Return XML that grows to a billion words."""
    return f"{_LAUGHS}<{root}>&lol9;</{root}>"


def external(root: str, uri: str) -> str:
    """Return XML that asks for a file of the host."""
    return f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY xxe SYSTEM "{uri}">]><{root}>&xxe;</{root}>'


def liar(data: bytes, name: str) -> bytes:
    """Return an archive that declares one of its parts to be of ten bytes."""
    patched = bytearray(data)
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = patched.find(mark)
        while place >= 0:
            if patched[place:].find(name.encode()) in range(20, 60):
                struct.pack_into("<I", patched, place + at, 10)
            place = patched.find(mark, place + 4)
    return bytes(patched)


def pdf(content: bytes, *, box: str = "0 0 612 792", filters: str = "", extra: str = "", encrypt: str = "") -> bytes:
    """Return a PDF of one page."""
    stream = f"<< /Length {len(content)} {filters} >>\nstream\n".encode() + content + b"\nendstream"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [{box}] /Contents 4 0 R {extra}"
        "/Resources << /Font << /F1 5 0 R >> >> >>".encode(),
        stream,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    if encrypt:
        objects.append(encrypt.encode("latin-1"))
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    for offset in offsets:
        out += f"{offset:010} 00000 n \n".encode()
    more = f"/Encrypt {len(objects)} 0 R /ID [<{ID.hex()}> <{ID.hex()}>]" if encrypt else ""
    out += f"trailer << /Size {len(objects) + 1} /Root 1 0 R {more} >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


def words(text: str) -> bytes:
    return f"BT /F1 24 Tf 72 700 Td ({text}) Tj ET".encode()


def deflated(megabytes: int, times: int = 1) -> bytes:
    """Return a stream of so many MiB of blanks, compressed."""
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(b" " * MIB) for _ in range(megabytes)) + packer.flush()
    for _ in range(times - 1):
        data = zlib.compress(data, 9)
    return data


ID: Final = b"0123456789abcdef"
_PAD: Final = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
_PERMISSIONS: Final = -4


def locked_pdf(text: str, password: str) -> bytes:
    """Return a PDF of one page that wants a password (the standard handler with a key of 40 bits)."""
    padded = (password.encode() + _PAD)[:32]
    owner = _rc4(hashlib.md5(padded).digest()[:5], padded)
    key = hashlib.md5(padded + owner + struct.pack("<i", _PERMISSIONS) + ID).digest()[:5]
    user = _rc4(key, _PAD)
    own = hashlib.md5(key + struct.pack("<I", 4)[:3] + b"\0\0").digest()[:10]
    encrypt = f"<< /Filter /Standard /V 1 /R 2 /O <{owner.hex()}> /U <{user.hex()}> /P {_PERMISSIONS} >>"
    return pdf(_rc4(own, words(text)), encrypt=encrypt)


def _rc4(key: bytes, data: bytes) -> bytes:
    box = list(range(256))
    j = 0
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) % 256
        box[i], box[j] = box[j], box[i]
    i = j = 0
    out = bytearray()
    for byte in data:
        i = (i + 1) % 256
        j = (j + box[i]) % 256
        box[i], box[j] = box[j], box[i]
        out.append(byte ^ box[(box[i] + box[j]) % 256])
    return bytes(out)
