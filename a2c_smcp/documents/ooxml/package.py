"""An Office file as its parts: a ZIP archive that is not trusted, and the relationships between its parts.

Sizes are checked as declared and again as they come out, so that neither a lying nor an honest bomb fills memory.
"""

import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import unquote

from a2c_smcp.documents.formats.base import require
from a2c_smcp.documents.ooxml.xml import Node, attribute, parse
from a2c_smcp.errors import DocumentError

MAX_PARTS: Final = 20_000
"""Parts of the largest decks are a few thousand; the list itself is held in memory."""

MAX_TREE: Final = 48 << 20
"""A part that is read as one tree: the tree takes some ten times its size."""

MAX_STREAM: Final = 2 << 30
"""A part that is only streamed, like a sheet of a million rows."""

MAX_BLOB: Final = 64 << 20
MAX_RATIO: Final = 400
"""Repetitive sheets reach 100; deflate itself ends at 1 032."""

RATIO_FROM: Final = 32 << 20
CHUNK: Final = 64 << 10

_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
_OLE_HEAD: Final = 64 << 10
_LOCKED: Final = "password-protected: encrypted Office files cannot be opened; save a copy without the password"
# Every ending named here must be one that a format accepts.
_OLE_KINDS: Final = (
    ("WordDocument", "a Word 97-2003 document; open it in Word or LibreOffice and save it as .docx"),
    (
        "PowerPoint Document",
        "a PowerPoint 97-2003 presentation; open it in PowerPoint or LibreOffice and save it as .pptx",
    ),
    ("__properties_version1.0", "an Outlook message; open it in a mail program and save it as .eml"),
)
"""The streams that tell kinds of OLE files apart, and what to do with such a file."""
_OLE_OTHER: Final = (
    "an Office file of before 2007; give a workbook the ending .xls, save others as .docx or .pptx in a newer program"
)
_KINDS: Final = (
    ("wordprocessingml", "a Word document", ".docx"),
    ("presentationml", "a presentation", ".pptx"),
    ("spreadsheetml", "a workbook", ".xlsx"),
)
_LOCAL_HEADER: Final = struct.Struct("<4s22xHH")
_DAMAGE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    struct.error,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
    KeyError,
)


@dataclass(frozen=True, slots=True)
class Relationship:
    """A pointer from a part: `kind` is the last word of its type, `target` a part name or an outside address."""

    id: str
    kind: str
    target: str
    external: bool


class Package:
    """The parts of an open Office file; use `open_package`."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        # Names are compared without case, and some writers use backslashes.
        self._infos = {_key(info.filename): info for info in archive.infolist()}
        self._relationships: dict[str, Mapping[str, Relationship]] = {}

    def __contains__(self, part: str) -> bool:
        return _key(part) in self._infos

    def names(self) -> Iterator[str]:
        """Yield the names of all parts."""
        yield from (info.filename for info in self._infos.values())

    def size(self, part: str) -> int:
        """Return the declared size of a part, 0 when it is not there."""
        info = self._infos.get(_key(part))
        return info.file_size if info else 0

    def read(self, part: str, limit: int = MAX_BLOB) -> bytes:
        """Return a whole part.

        Raises:
            DocumentError: It is not there, damaged, or larger than `limit`.
        """
        return b"".join(self.chunks(part, limit))

    def chunks(self, part: str, limit: int = MAX_STREAM) -> Iterator[bytes]:
        """Yield a part piece by piece.

        Raises:
            DocumentError: It is not there, damaged, or larger than `limit`.
        """
        info = self._infos.get(_key(part))
        if info is None:
            raise DocumentError(f"damaged: its part {part!r} is missing")
        if info.flag_bits & 1:
            raise DocumentError(_LOCKED)
        _check_size(info, limit)
        left = min(info.file_size, limit)
        with damage_as_error():
            for chunk in _inflate(self._archive, info):
                left -= len(chunk)
                if left < 0:
                    raise DocumentError(f"unsafe: its part {part!r} is larger than it says")
                yield chunk

    def tree(self, part: str) -> Node:
        """Return the root of an XML part.

        Raises:
            DocumentError: It is not there, too large, or no XML.
        """
        return parse(self.read(part, MAX_TREE), what=f"its part {part!r}")

    def optional(self, part: str) -> Node | None:
        """Return the root of a part that a document can do without: None when it is missing or damaged."""
        if part not in self:
            return None
        try:
            return self.tree(part)
        except DocumentError:
            return None

    def relationships(self, part: str = "") -> Mapping[str, Relationship]:
        """Return what a part points to, by id; of the whole package without a name."""
        if part not in self._relationships:
            self._relationships[part] = self._read_relationships(part)
        return self._relationships[part]

    def related(self, part: str, kind: str) -> Iterator[str]:
        """Yield the parts inside the package that `part` points to as `kind`."""
        for relationship in self.relationships(part).values():
            if relationship.kind == kind and not relationship.external and relationship.target in self:
                yield relationship.target

    def target(self, part: str, relationship_id: str | None) -> str | None:
        """Return the part that an id of `part` points to, None for ids that lead nowhere or outside."""
        found = self.relationships(part).get(relationship_id or "")
        return found.target if found and not found.external and found.target in self else None

    def main_part(self) -> str:
        """Return the part that everything hangs on.

        Raises:
            DocumentError: There is none.
        """
        main = next(self.related("", "officeDocument"), None)
        if main is None:
            raise DocumentError("not an Office document: it is a ZIP archive of something else")
        return main

    def content_type(self, part: str) -> str:
        """Return the content type of a part, empty where it is not said."""
        types = self.optional("[Content_Types].xml")
        if types is None:
            return ""
        suffix = part.rpartition(".")[2].lower()
        default = ""
        for entry in types:
            if attribute(entry, "PartName").lstrip("/").lower() == part.lower():
                return attribute(entry, "ContentType")
            if attribute(entry, "Extension").lower() == suffix:
                default = attribute(entry, "ContentType")
        return default

    def _read_relationships(self, part: str) -> Mapping[str, Relationship]:
        folder, name = posixpath.split(part)
        root = self.optional(posixpath.join(folder, "_rels", f"{name}.rels"))
        found: dict[str, Relationship] = {}
        for node in root if root is not None else ():
            target, external = attribute(node, "Target"), attribute(node, "TargetMode") == "External"
            kind = attribute(node, "Type").rpartition("/")[2]
            found[attribute(node, "Id")] = Relationship(
                attribute(node, "Id"), kind, target if external else _resolve(folder, target, self), external
            )
        return found


@contextmanager
def open_package(path: Path) -> Iterator[Package]:
    """Open an Office file for as long as the block runs.

    Raises:
        DocumentError: It is encrypted, no Office file, damaged, or a bomb.
    """
    with path.open("rb") as file:
        head = file.read(8)
        if head == _OLE:
            raise DocumentError(advice_on_ole(file) or _OLE_OTHER)
        if not head:
            raise DocumentError("empty: it holds no bytes")
        if head[:2] != b"PK":
            raise DocumentError(
                "not an Office document: it is no ZIP archive; give the file the ending of its real type"
            )
        with damage_as_error():
            archive = zipfile.ZipFile(file)
        with archive:
            if len(archive.filelist) > MAX_PARTS:
                raise DocumentError(f"unsafe: it has {len(archive.filelist)} parts, more than {MAX_PARTS}")
            yield Package(archive)


def kind_of_package(content_type: str) -> str:
    """Return what an Office file is by the type of its main part, and which ending it needs."""
    told = (f"it is {kind}; give it the ending {ending}" for word, kind, ending in _KINDS if word in content_type)
    return next(told, "it is an Office file of another kind")


@contextmanager
def damage_as_error() -> Iterator[None]:
    """Turn what libraries say of damaged archives into one clear error."""
    try:
        yield
    except MemoryError as error:
        raise DocumentError("too large to be read in the memory there is") from error
    except _DAMAGE as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise DocumentError(f"damaged: its archive cannot be read ({_words(error)})") from error


def _inflate(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    if info.compress_type != zipfile.ZIP_DEFLATED:
        with archive.open(info) as stream:
            while chunk := stream.read(CHUNK):
                yield chunk
        return
    # The archive's own stream checks a sum of every byte, which doubles the cost of skipping through a large sheet.
    isal = require("isal.isal_zlib", "documents")
    try:
        yield from _decompressed(isal.decompressobj(-zlib.MAX_WBITS), _packed(archive, info))
    except isal.error as error:
        raise zlib.error(str(error)) from error


def _packed(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    position, left = _data_start(archive, info), info.compress_size
    while left > 0 and archive.fp is not None:
        archive.fp.seek(position)
        data = archive.fp.read(min(CHUNK, left))
        if not data:
            return
        position, left = position + len(data), left - len(data)
        yield data


def _decompressed(stream: Any, packed: Iterator[bytes]) -> Iterator[bytes]:
    for data in packed:
        pending = data
        while True:
            chunk = stream.decompress(pending, CHUNK)
            if chunk:
                yield chunk
            pending = stream.unconsumed_tail
            if stream.eof:
                return
            if not chunk and not pending:
                break
    raise EOFError("it ends too early")


def _data_start(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> int:
    file = archive.fp
    if file is None:
        raise EOFError("it is closed")
    file.seek(info.header_offset)
    signature, name, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    if signature != b"PK\x03\x04":
        raise zipfile.BadZipFile("a part has no header")
    return int(info.header_offset + _LOCAL_HEADER.size + name + extra)


def _check_size(info: zipfile.ZipInfo, limit: int) -> None:
    if info.file_size > limit:
        raise DocumentError(
            f"too large: its part {info.filename!r} has {info.file_size >> 20} MiB, more than the {limit >> 20} MiB"
            " that are read"
        )
    if info.file_size > RATIO_FROM and info.file_size > info.compress_size * MAX_RATIO:
        raise DocumentError(f"unsafe: its part {info.filename!r} is packed like a ZIP bomb")


def advice_on_ole(file: BinaryIO) -> str:
    """Return what an OLE file is and what to do with it; empty for workbooks and for kinds that are not known."""
    file.seek(0)
    header = file.read(_OLE_HEAD)
    # The directory that names the streams may be anywhere; the header tells where it begins.
    shift, sector = struct.unpack_from("<H", header.ljust(_OLE_HEAD, b"\0"), 30)[0], 0
    if shift in (9, 12):
        sector = (struct.unpack_from("<L", header, 48)[0] + 1 if len(header) > 52 else 0) << shift
    file.seek(sector)
    directory = header + file.read(_OLE_HEAD)
    if _ENCRYPTED in directory:
        return _LOCKED
    return next((told for stream, told in _OLE_KINDS if stream.encode("utf-16-le") in directory), "")


def _resolve(folder: str, target: str, package: Package) -> str:
    path = target.replace("\\", "/")
    name = posixpath.normpath(path if path.startswith("/") else posixpath.join(folder, path)).lstrip("/")
    return name if name in package else unquote(name)


def _key(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def _words(error: BaseException) -> str:
    words = str(error).strip("'\"")
    return words[:100] if words and "/" not in words else type(error).__name__
