"""Walking through documents at a terminal: a prompt that opens, goes up and searches.

number   opens that line of the list        u       goes up
dpe://…  opens that URI                     m       shows more of the list
/word    searches titles and summaries      r       reads the whole page
?        helps                              q       quits, and so does Ctrl-D
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, TypeAlias

from a2c_smcp.cli.command import Context
from a2c_smcp.cli.list_prompt import Walk
from a2c_smcp.cli.terminal import one_line, printable
from a2c_smcp.cli.tree import counted, document_line, element_branch, element_line, page_branch, page_line
from a2c_smcp.documents.library import Library
from a2c_smcp.documents.model import Document, Element, PageEntry
from a2c_smcp.documents.render.json import document_json, document_uri, element_uri, page_uri
from a2c_smcp.errors import DocumentError, DocumentNotFound
from a2c_smcp.uris.dpe import ParsedDPEUri, parse_dpe_uri

HELP: Final = """\
  number   open that line of the list
  dpe://…  open that URI
  u        go up: element, page, document, catalogue
  m        more of the list
  r        read the whole page or document as Markdown
  /word    search titles and summaries
  ?        this help
  q        quit (so does Ctrl-D)"""
HINT: Final = "number or URI opens · u up · /word searches · ? help · q quits"

Line: TypeAlias = tuple[str, str]
"""Where a line leads, and how it is shown."""


class LibraryBrowser(Walk[str]):
    """One walk. It starts at the catalogue, whose documents the tree above it has numbered."""

    def __init__(self, library: Library, context: Context, *, limit: int) -> None:
        super().__init__(context, limit=limit, hint=HINT, guide=HELP)
        self._library = library
        self._here = parse_dpe_uri(library.uri)
        self.rest = map(self._document, self._documents())
        self.places = [uri for uri, _ in islice(self.rest, limit)]

    def commands(self) -> Mapping[str, Callable[[], None]]:
        """Go up, read."""
        return {"u": lambda: self._go(self._above()), "r": lambda: self._read(self._here)}

    def find(self, uri: str) -> str:
        """Take any URI; going there tells whether it leads anywhere."""
        return uri

    def open(self, place: str) -> None:
        """Show what is at a URI."""
        self._go(parse_dpe_uri(place))

    def _go(self, uri: ParsedDPEUri) -> None:
        library = self._library
        if uri.host.lower() != library.host.lower():
            raise DocumentNotFound(f"There are no documents at {uri.host!r}; here they are at {library.uri}")
        if uri.doc_ref is None:
            library.refresh()
            head = f"{counted(len(library.refs), 'document')}  {library.uri}"
            self.show(head, map(self._document, self._documents()))
        elif uri.element_id is not None:
            self._read(uri)
        elif uri.page_index is not None:
            page = library.page(uri.doc_ref, uri.page_index)
            document = library.document(uri.doc_ref)
            head = page_line(page_branch(document, page.entry), self.terminal)
            self.show(head, (self._element(document, element) for element in page.elements))
        else:
            document = library.document(uri.doc_ref)
            summary = f"\n{one_line(document.summary)}" if document.summary else ""
            pages = (self._page(document, entry) for entry in self._entries(document))
            self.show(self._document(document)[1] + summary, pages)
        self._here = uri

    def _read(self, uri: ParsedDPEUri) -> None:
        self.say(printable(self._library.read(str(uri), default_format="markdown").text))
        if uri.doc_ref is None or uri.element_id is None:
            return
        _, element = self._library.element(uri.doc_ref, uri.element_id)
        if following := element.metadata.get("next"):
            document = self._library.document(uri.doc_ref)
            self.say(self.terminal.dim(f"goes on at {element_uri(document, str(following))}"))

    def _above(self) -> ParsedDPEUri:
        here, library = self._here, self._library
        if here.doc_ref is not None and here.element_id is not None:
            index, _ = library.element(here.doc_ref, here.element_id)
            return parse_dpe_uri(page_uri(library.document(here.doc_ref), index))
        if here.doc_ref is not None and here.page_index is not None:
            return parse_dpe_uri(document_uri(library.document(here.doc_ref)))
        return parse_dpe_uri(library.uri)

    def _documents(self) -> Iterator[Document]:
        for offset in range(0, len(self._library.refs), self.limit):
            yield from self._library.documents(offset, self.limit)

    def _entries(self, document: Document) -> Iterator[PageEntry]:
        for offset in range(0, document.page_count, self.limit):
            yield from self._library.entries(document.doc_ref, offset, self.limit)

    def search(self, words: str) -> Iterator[Line]:
        """Yield every document, page and element whose title, keywords or summary holds these words."""
        word = words.casefold()
        for document in self._documents():
            if word in " ".join((document.title, document.summary, *document.keywords)).casefold():
                yield self._document(document)
            for entry in self._entries(document):
                if word in entry.title.casefold():
                    yield self._page(document, entry)
                for element in self._elements(document, entry):
                    if word in element.summary.casefold():
                        yield self._element(document, element)

    def _elements(self, document: Document, entry: PageEntry) -> Sequence[Element]:
        try:
            return self._library.page(document.doc_ref, entry.index).elements
        except DocumentError:  # its entry says so; the other pages are still worth a search
            return ()

    def _document(self, document: Document) -> Line:
        return document_uri(document), document_line(document_json(document), self.terminal)

    def _page(self, document: Document, entry: PageEntry) -> Line:
        return page_uri(document, entry.index), page_line(page_branch(document, entry), self.terminal)

    def _element(self, document: Document, element: Element) -> Line:
        branch = element_branch(document, element)
        return branch["uri"], element_line(branch, self.terminal, 5)
