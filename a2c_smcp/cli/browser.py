"""Walking through documents at a terminal: a prompt that opens, goes up and searches.

number   opens that line of the list        u       goes up
dpe://…  opens that URI                     m       shows more of the list
/word    searches titles and summaries      r       reads the whole page
?        helps                              q       quits, and so does Ctrl-D
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

from a2c_smcp.cli.command import Context
from a2c_smcp.cli.terminal import one_line, printable
from a2c_smcp.cli.tree import counted, document_line, element_branch, element_line, page_branch, page_line
from a2c_smcp.documents.library import Library
from a2c_smcp.documents.model import Document, Element, PageEntry
from a2c_smcp.documents.render.json import document_json, document_uri, element_uri, page_uri
from a2c_smcp.errors import DocumentError, DocumentNotFound, SMCPError
from a2c_smcp.uris.dpe import ParsedDPEUri, parse_dpe_uri

PROMPT: Final = "a2c> "
HELP: Final = """\
  number   open that line of the list
  dpe://…  open that URI
  u        go up: element, page, document, catalogue
  m        more of the list
  r        read the whole page or document as Markdown
  /word    search titles and summaries
  ?        this help
  q        quit (so does Ctrl-D)"""


class Line(NamedTuple):
    """A line that can be opened."""

    uri: str
    shown: str


class Browser:
    """One walk. It starts at the catalogue, whose documents the tree above it has numbered."""

    def __init__(self, library: Library, context: Context, *, limit: int) -> None:
        self._library = library
        self._context = context
        self._terminal = context.terminal
        self._limit = limit
        self._here = parse_dpe_uri(library.uri)
        self._rest: Iterator[Line] = map(self._document, self._documents())
        self._lines = list(islice(self._rest, limit))

    def run(self) -> None:
        """Ask and answer until the input ends."""
        self._say("")
        self._say(self._terminal.dim("number or URI opens · u up · /word searches · ? help · q quits"))
        while True:
            self._context.stdout.write(PROMPT)
            self._context.stdout.flush()
            line = self._context.stdin.readline()
            if not line:
                self._say("")
                return
            if line.strip() == "q":
                return
            try:
                self._answer(line.strip())
            except SMCPError as error:
                self._say(f"error {error.code}: {printable(error.message)}")

    def _answer(self, word: str) -> None:
        if not word:
            return
        if word.isascii() and word.isdigit():
            self._open_number(int(word))
        elif word.startswith("/"):
            sought = word[1:].strip()
            self._list(f"found for {one_line(sought)!r}", self._search(sought.casefold()))
        elif "://" in word:
            self._open(parse_dpe_uri(word))
        else:
            self._command(word)

    def _command(self, word: str) -> None:
        match word:
            case "u":
                self._open(self._above())
            case "m":
                self._more()
            case "r":
                self._read(self._here)
            case "?" | "h" | "help":
                self._say(HELP)
            case _:
                self._say(f"{one_line(word)!r} is not understood; ? helps")

    def _open_number(self, number: int) -> None:
        if not 1 <= number <= len(self._lines):
            self._say(f"there is no line {number} in the list" if self._lines else "the list is empty")
            return
        self._open(parse_dpe_uri(self._lines[number - 1].uri))

    def _open(self, uri: ParsedDPEUri) -> None:
        library = self._library
        if uri.host.lower() != library.host.lower():
            raise DocumentNotFound(f"There are no documents at {uri.host!r}; here they are at {library.uri}")
        if uri.doc_ref is None:
            library.refresh()
            head = f"{counted(len(library.refs), 'document')}  {library.uri}"
            self._list(head, map(self._document, self._documents()))
        elif uri.element_id is not None:
            self._read(uri)
        elif uri.page_index is not None:
            page = library.page(uri.doc_ref, uri.page_index)
            document = library.document(uri.doc_ref)
            head = page_line(page_branch(document, page.entry), self._terminal)
            self._list(head, (self._element(document, element) for element in page.elements))
        else:
            document = library.document(uri.doc_ref)
            summary = f"\n{one_line(document.summary)}" if document.summary else ""
            pages = (self._page(document, entry) for entry in self._entries(document))
            self._list(self._document(document).shown + summary, pages)
        self._here = uri

    def _read(self, uri: ParsedDPEUri) -> None:
        self._say(printable(self._library.read(str(uri), default_format="markdown").text))
        if uri.doc_ref is None or uri.element_id is None:
            return
        _, element = self._library.element(uri.doc_ref, uri.element_id)
        if following := element.metadata.get("next"):
            document = self._library.document(uri.doc_ref)
            self._say(self._terminal.dim(f"goes on at {element_uri(document, str(following))}"))

    def _above(self) -> ParsedDPEUri:
        here, library = self._here, self._library
        if here.doc_ref is not None and here.element_id is not None:
            index, _ = library.element(here.doc_ref, here.element_id)
            return parse_dpe_uri(page_uri(library.document(here.doc_ref), index))
        if here.doc_ref is not None and here.page_index is not None:
            return parse_dpe_uri(document_uri(library.document(here.doc_ref)))
        return parse_dpe_uri(library.uri)

    def _list(self, head: str, lines: Iterator[Line]) -> None:
        self._say(head)
        self._lines, self._rest = [], lines
        self._more()

    def _more(self) -> None:
        """Show the next part of the list, and whether something is left."""
        before = len(self._lines)
        self._lines += islice(self._rest, self._limit)
        for number, line in enumerate(self._lines[before:], start=before + 1):
            self._say(f"{number:>3}. {line.shown}")
        if len(self._lines) == before:
            self._say("     nothing more" if before else "     nothing")
        following = next(self._rest, None)
        if following is not None:
            self._rest = chain([following], self._rest)
            self._say(self._terminal.dim("     … m shows more"))

    def _documents(self) -> Iterator[Document]:
        for offset in range(0, len(self._library.refs), self._limit):
            yield from self._library.documents(offset, self._limit)

    def _entries(self, document: Document) -> Iterator[PageEntry]:
        for offset in range(0, document.page_count, self._limit):
            yield from self._library.entries(document.doc_ref, offset, self._limit)

    def _search(self, word: str) -> Iterator[Line]:
        """Yield every document, page and element whose title, keywords or summary holds `word`."""
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
        return Line(document_uri(document), document_line(document_json(document), self._terminal))

    def _page(self, document: Document, entry: PageEntry) -> Line:
        return Line(page_uri(document, entry.index), page_line(page_branch(document, entry), self._terminal))

    def _element(self, document: Document, element: Element) -> Line:
        branch = element_branch(document, element)
        return Line(branch["uri"], element_line(branch, self._terminal, 5))

    def _say(self, text: str) -> None:
        self._context.stdout.write(f"{text}\n")
