"""The documents of a service as they were last seen: which there are, what is known of them, and how that changed."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from a2c_smcp.documents.codec import Record
from a2c_smcp.documents.excludes import Excludes
from a2c_smcp.documents.files import Signature, SourceFile, signature_in, walk
from a2c_smcp.documents.formats.base import Description
from a2c_smcp.documents.formats.registry import format_of
from a2c_smcp.documents.model import Document
from a2c_smcp.documents.refs import assign_refs
from a2c_smcp.documents.render import renderer_for
from a2c_smcp.documents.resource_reading import describe

NOT_YET: Final = "Not read yet: ask again in a moment"


@dataclass(frozen=True, slots=True)
class CataloguedFile:
    """A document's file as a scan saw it."""

    doc_ref: str
    file: SourceFile
    signature: Signature

    @property
    def path(self) -> str:
        """The path of the file."""
        return self.file.place


@dataclass(frozen=True, slots=True)
class CatalogueChanges:
    """How the documents changed, by their `doc_ref`."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.updated)


def scan(roots: Iterable[Path], excludes: Excludes, before: Iterable[CataloguedFile] = ()) -> dict[str, CataloguedFile]:
    """Look at the folders; return the documents by their `doc_ref`. Blocking.

    What was seen `before` and has not changed is taken over, which makes looking again cheap.
    """
    known = {source.path: source for source in before}
    files: list[SourceFile] = []
    signatures: dict[str, Signature] = {}
    for path, relative, entry in walk(roots, excludes):
        file = _file(path, relative, known.get(path))
        if file is None:
            continue
        try:
            signatures[path] = signature_in(entry.stat(follow_symlinks=False))
        except OSError:  # gone again
            continue
        files.append(file)
    if list(known) == list(signatures):
        refs = {source.doc_ref: source.file for source in known.values()}
    else:
        refs = assign_refs(files)
    sources = {}
    for ref, file in refs.items():
        old, signature = known.get(file.place), signatures[file.place]
        same = old is not None and old.signature == signature and old.doc_ref == ref
        sources[ref] = old if old is not None and same else CataloguedFile(ref, file, signature)
    return sources


def _file(path: str, relative: str, before: CataloguedFile | None) -> SourceFile | None:
    if before is not None and before.file.relative == relative:
        return before.file
    known = format_of(path.rpartition(os.sep)[2])
    return SourceFile(Path(path), relative, *known) if known else None


class DocumentCatalogue:
    """What is known of every document. Lives in one thread.

    Attributes:
        version: Counts up with every change of what the catalogue says.
    """

    def __init__(self, host: str) -> None:
        self._host = host
        self._sources: Mapping[str, CataloguedFile] = {}
        self._documents: dict[str, tuple[Record, Document]] = {}
        self._fragments: dict[str, str] = {}
        self._json: str | None = None
        self.version = 0
        self._provisional: set[str] = set()

    @property
    def refs(self) -> Sequence[str]:
        """The `doc_ref` of every document, in the order of the paths."""
        return tuple(self._sources)

    @property
    def sources(self) -> Iterator[CataloguedFile]:
        """Every document's file."""
        return iter(tuple(self._sources.values()))

    def __len__(self) -> int:
        return len(self._sources)

    def source(self, doc_ref: str) -> CataloguedFile | None:
        """Return a document's file as it was last seen."""
        return self._sources.get(doc_ref)

    def update(self, sources: Mapping[str, CataloguedFile]) -> CatalogueChanges:
        """Take over what a scan saw; return what is different."""
        before, self._sources = self._sources, sources
        added = tuple(ref for ref in sources if ref not in before)
        removed = tuple(ref for ref in before if ref not in sources)
        updated = tuple(ref for ref, source in sources.items() if ref in before and _differ(before[ref], source))
        changes = CatalogueChanges(added, removed, updated)
        if changes:
            self._renew()
            self._provisional.difference_update(removed)
            for ref in (*removed, *updated):
                self._documents.pop(ref, None)
                self._fragments.pop(ref, None)
        return changes

    def _renew(self) -> None:
        self.version += 1
        self._json = None

    def record(self, doc_ref: str) -> Record | None:
        """Return what is known of a document's content, None where it has not been read since it changed."""
        known = self._documents.get(doc_ref)
        return known[0] if known else None

    def learn(self, source: CataloguedFile, record: Record) -> bool:
        """Take over what was read of a document; return whether that corrects what somebody has been told."""
        if self._sources.get(source.doc_ref) != source:  # it changed while it was read
            return False
        document = describe(
            self._host, source.doc_ref, source.file, source.signature, record.description, record.file_type
        )
        self._documents[source.doc_ref] = record, document
        self._fragments[source.doc_ref] = renderer_for("json").render_document(document)
        self._renew()
        provisional = source.doc_ref in self._provisional
        self._provisional.discard(source.doc_ref)
        return provisional

    def document(self, doc_ref: str) -> Document | None:
        """Return the entry of a document, None where it has not been read."""
        known = self._documents.get(doc_ref)
        return known[1] if known else None

    def entry(self, source: CataloguedFile) -> Document:
        """Return the entry of a document, or what can be said before it is read."""
        known = self._documents.get(source.doc_ref)
        if known:
            return known[1]
        self._provisional.add(source.doc_ref)
        unread = Description(summary=NOT_YET)
        return describe(self._host, source.doc_ref, source.file, source.signature, unread, source.file.file_type)

    def entries(self, offset: int = 0, limit: int | None = None) -> list[Document]:
        """Return that part of the catalogue."""
        return [self.entry(source) for source in self.window(offset, limit)]

    def window(self, offset: int = 0, limit: int | None = None) -> list[CataloguedFile]:
        """Return the files of that part of the catalogue."""
        return list(self._sources.values())[offset : None if limit is None else offset + limit]

    def json(self) -> str:
        """Return level 0 as JSON; each document is written once."""
        if self._json is None:
            fragments = [
                self._fragments.get(source.doc_ref) or self._provisional_json(source) for source in self.sources
            ]
            self._json = f'{{"documents":[{",".join(fragments)}],"total_count":{len(fragments)}}}'
        return self._json

    def _provisional_json(self, source: CataloguedFile) -> str:
        return renderer_for("json").render_document(self.entry(source))


def _differ(before: CataloguedFile, after: CataloguedFile) -> bool:
    if before is after:
        return False
    return before.signature != after.signature or before.path != after.path
