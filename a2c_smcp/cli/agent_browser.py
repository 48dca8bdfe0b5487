"""Walking through the documents of an office at a terminal: a prompt that opens, goes up, searches and reads.

number   opens that line of the list        u       goes up
dpe://…  opens that URI                     m       shows more of the list
/word    searches the catalogues            t       shows the tree of the document
r        reads in the pager                 ?  q    helps, quits (so does Ctrl-D)
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from a2c_smcp.agent import SMCPAgentClient
from a2c_smcp.cli.agent_show import document_line
from a2c_smcp.cli.command import Context
from a2c_smcp.cli.list_prompt import Walk
from a2c_smcp.cli.rendering import page, rendered
from a2c_smcp.cli.terminal import one_line, printable
from a2c_smcp.errors import DocumentNotFound, SMCPError
from a2c_smcp.uris.dpe import build_dpe_uri, parse_dpe_uri

HELP: Final = """\
  number   open that line of the list
  dpe://…  open that URI
  u        go up: element, page, document, catalogue
  m        more of the list
  t        the tree of this document: its pages and their elements
  r        read this document, page or element as Markdown, in the pager
  /word    search the catalogues for documents
  ?        this help
  q        quit (so does Ctrl-D)"""
HINT: Final = "number or URI opens · u up · t tree · r read · /word searches · ? help · q quits"
TREE_PAGES: Final = 100


@dataclass(frozen=True, slots=True)
class BrowserTarget:
    """Something that can be opened: a URI at a Computer; without a URI, the catalogues."""

    computer: str
    uri: str


class OfficeBrowser(Walk[BrowserTarget]):
    """One walk. It starts at the list of documents that the command has printed."""

    def __init__(self, agent: SMCPAgentClient, computers: Sequence[str], context: Context, *, limit: int) -> None:
        super().__init__(context, limit=limit, hint=HINT, guide=HELP)
        self._agent = agent
        self._computers = computers
        self._here: list[BrowserTarget] = []

    def start(self, keywords: Sequence[str] | None = None) -> None:
        """Number what the command has printed, then ask and answer until the input ends."""
        for name in self._computers:
            with suppress(SMCPError):  # the list that the command has printed says so
                found = self._agent.get_finder(name, keywords, None, 0, self.limit)
                self.places += [BrowserTarget(name, str(document["uri"])) for document in found["documents"]]
        self.rest = islice(self._documents(keywords), len(self.places), None)
        self.run()

    def commands(self) -> Mapping[str, Callable[[], None]]:
        """Go up, show the tree, read."""
        return {"u": self._up, "t": self._tree, "r": self._read}

    def search(self, words: str) -> Iterator[tuple[BrowserTarget, str]]:
        """Search the catalogues of all Computers."""
        self._here = []
        return self._documents(words.split())

    # Where it goes

    def open(self, place: BrowserTarget) -> None:
        """Show a catalogue, document, page or element."""
        parsed = parse_dpe_uri(place.uri)
        if parsed.doc_ref is None:
            self._catalogue()
            return
        if parsed.element_id is not None:
            self._show_markdown(place)
        elif parsed.page_index is not None:
            reply = self._agent.read_resource(place.computer, _plain(place.uri))
            title = one_line(str(reply.get("title") or "")) or f"page {parsed.page_index}"
            self.show(self.terminal.bold(title), self._elements(place, reply))
        else:
            reply = self._agent.read_resource(place.computer, _plain(place.uri))
            self.say(document_line({"uri": place.uri, **reply}, self.terminal))
            self.show(one_line(str(reply.get("summary") or "")), self._pages(place))
        self._here = [one for one in self._above(place) if one != place] + [place]

    def _above(self, place: BrowserTarget) -> list[BrowserTarget]:
        """The places over this one, the document first."""
        parsed = parse_dpe_uri(place.uri)
        above = [BrowserTarget(place.computer, build_dpe_uri(parsed.host, parsed.doc_ref))]
        if parsed.element_id is not None and self._here:
            last = self._here[-1]
            if parse_dpe_uri(last.uri).page_index is not None:
                above.append(last)
            elif len(self._here) > 1:
                above += self._here[1:-1]
        return above

    def _up(self) -> None:
        if len(self._here) > 1:
            self.open(self._here[-2])
        else:
            self._catalogue()

    def _catalogue(self) -> None:
        self._here = []
        self.show(f"documents of {', '.join(map(one_line, self._computers))}", self._documents())

    def find(self, uri: str) -> BrowserTarget:
        """Find the Computer that has a URI."""
        plain = _plain(uri)
        problem: SMCPError | None = None
        for name in self._computers:
            try:
                self._agent.read_resource(name, plain)
            except SMCPError as error:
                problem = problem or error
            else:
                return BrowserTarget(name, plain)
        raise problem or DocumentNotFound(f"No Computer has {uri}")

    # What is read

    def _read(self) -> None:
        if not self._here:
            self.say("open something first")
            return
        self._show_markdown(self._here[-1])

    def _show_markdown(self, place: BrowserTarget) -> None:
        reply = self._agent.read_resource(place.computer, f"{_plain(place.uri)}?format=markdown")
        text = reply.get("content_markdown") or reply.get("content_text") or ""
        page(rendered(str(text), self.terminal), self.context)

    def _tree(self) -> None:
        if not self._here:
            self.say("open a document first")
            return
        lines: list[str] = []
        pages = list(islice(self._pages(self._here[0]), TREE_PAGES))
        for (place, shown), (branch, trunk) in zip(pages, _branches(len(pages)), strict=True):
            lines.append(f"{branch}{shown}")
            elements = list(self._elements(place, self._agent.read_resource(place.computer, place.uri)))
            twigs = _branches(len(elements))
            lines += [f"{trunk}{twig}{element}" for (_, element), (twig, _) in zip(elements, twigs, strict=True)]
        page("\n".join(lines) or "no pages", self.context)

    def _documents(self, keywords: Sequence[str] | None = None) -> Iterator[tuple[BrowserTarget, str]]:
        for name in self._computers:
            offset, total = 0, 1
            while offset < total:
                try:
                    found = self._agent.get_finder(name, keywords or None, None, offset, self.limit)
                except SMCPError as error:
                    self.say(f"{one_line(name)}: error {error.code}: {printable(error.message)}")
                    break
                total = found["total_count"] if found["documents"] else 0
                offset += self.limit
                for document in found["documents"]:
                    shown = document_line(document, self.terminal)
                    yield BrowserTarget(name, str(document["uri"])), f"{shown}  {self.terminal.dim(one_line(name))}"

    def _pages(self, place: BrowserTarget) -> Iterator[tuple[BrowserTarget, str]]:
        offset, total = 0, 1
        while offset < total:
            reply = self._agent.read_resource(
                place.computer, f"{_plain(place.uri)}?depth=pages&offset={offset}&limit={self.limit}"
            )
            pages = [
                entry for entry in reply.get("pages") or () if isinstance(entry, Mapping) and "page_index" in entry
            ]
            total = int(reply.get("page_total") or 0) if pages else 0
            offset += self.limit
            for entry in pages:
                index = int(entry["page_index"])
                parsed = parse_dpe_uri(place.uri)
                uri = build_dpe_uri(parsed.host, parsed.doc_ref, f"pages/{index}")
                title = one_line(str(entry.get("title") or "")) or f"page {index}"
                size = f"({entry['element_count']} elements)  " if "element_count" in entry else ""
                yield BrowserTarget(place.computer, uri), f"{title}  {size}{self.terminal.dim(uri)}"

    def _elements(self, place: BrowserTarget, reply: Mapping[str, Any]) -> Iterator[tuple[BrowserTarget, str]]:
        parsed = parse_dpe_uri(place.uri)
        for element in reply.get("elements") or ():
            if not isinstance(element, Mapping) or "element_id" not in element:
                continue
            identity = str(element["element_id"])
            uri = build_dpe_uri(parsed.host, parsed.doc_ref, f"elements/{identity}")
            summary = self.terminal.fit(one_line(str(element.get("summary") or "")), len(identity) + 24)
            shown = f"{self.terminal.cyan(one_line(identity))}  {one_line(str(element.get('category')))}  {summary}"
            yield BrowserTarget(place.computer, uri), shown


def _plain(uri: str) -> str:
    return uri.partition("?")[0]


def _branches(count: int) -> list[tuple[str, str]]:
    """What stands before each of so many branches of a tree, and before whatever hangs from it."""
    return [("├─ ", "│  ")] * (count - 1) + [("└─ ", "   ")] * min(count, 1)
