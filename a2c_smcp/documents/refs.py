"""References: a short, URL-safe key for each file, made of its path alone. Pure."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import Final, Protocol, TypeVar

_MAX_REF: Final = 48
_DIGEST: Final = 6
_SUFFIX = re.compile(r"\.[a-z0-9]{1,8}\Z")
_UNSAFE = re.compile(r"[^a-z0-9._]+")


class Placed(Protocol):
    """A file below a root; only equal relative paths need `place`, which tells them apart."""

    @property
    def relative(self) -> str:
        """The path below the root, with slashes."""
        ...

    @property
    def place(self) -> str:
        """The whole path."""
        ...


Source = TypeVar("Source", bound=Placed)


def assign_refs(files: Iterable[Source]) -> dict[str, Source]:
    """Return the files by their `doc_ref`: short, URL-safe, and made of the path alone.

    Where two paths would share one, the first keeps it and the others get a digest of their paths.
    """
    refs: dict[str, Source] = {}
    for file in files:
        ref, length = ref_of(file.relative), _DIGEST
        while ref in refs:
            # Equal relative paths differ only in their roots.
            seed = file.relative if length == _DIGEST else file.place
            ref = ref_of(file.relative, digest=_digest(seed, length))
            length += 2
        refs[ref] = file
    return refs


def ref_of(relative: str, digest: str = "") -> str:
    """Return a key for a path: lower case, `-` for what may not stand in a URL, and a digest where that loses much."""
    folded = unicodedata.normalize("NFKD", relative).encode("ascii", "ignore").decode().lower()
    suffix = match[0] if (match := _SUFFIX.search(folded)) else ""
    key = _UNSAFE.sub("-", folded.removesuffix(suffix)).strip("-.")
    if not digest and (not relative.isascii() or not key or len(key) > _MAX_REF):
        digest = _digest(unicodedata.normalize("NFC", relative), _DIGEST)
    if digest:
        key = f"{key[: _MAX_REF - len(digest)].strip('-.') or 'doc'}-{digest}"
    return key + suffix


def _digest(text: str, length: int) -> str:
    # File names that are no UTF-8 reach Python with lone surrogates.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]
