"""What a PDF is called and what it is about: its metadata where they can be trusted, else its first pages. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from a2c_smcp.documents.formats.elements import clip
from a2c_smcp.documents.model import Element
from a2c_smcp.documents.pdf.outline import folded

MAX_TITLE: Final = 200
MAX_SUMMARY: Final = 200

_SHORTEST: Final = 3
_HEADINGS: Final = 4
"""How many headings a summary names."""
_ENDINGS: Final = (
    "docx?|dotx?|docm|dvi|tex|latex|indd|indt|pptx?|potx?|pps[xm]?|xlsx?|xlsm|rtf|odt|odp|ods|pdf|fm|book|qxd|qxp|pmd"
    "|e?ps|html?|xhtml|php|aspx?|txt|md|rst|cdr|ai|svg|key|pages|numbers|wpd|wps|vsdx?|pub|jpe?g|png|tiff?|bmp|xml|csv"
    "|dwg|msg|eml|job|prn|tmp"
)
_STALE = re.compile(
    # What a program calls a document that nobody has named, and what a printer driver puts before a file's name.
    r"\W*(?:untitled|unnamed|no title|title|document|presentation|spreadsheet|workbook|book|template|slide|page|layout"
    r"|drawing|print|scan(?:ned)?(?: document| image)?|scanned from .*|image|picture|doc|file|blank|new document"
    r"|powerpoint[ -]presentation|pr[äa]sentation|dokument|unbenannt(?:es dokument)?|vorlage|sans titre|sin t[íi]tulo"
    r"|sem t[íi]tulo|senza titolo|naamloos|bez n[áa]zvu|без имени|无标题.*|未命名.*|文档|演示文稿|幻灯片|無題.*"
    r"|unknown|anonymous|unspecified|none|null|n/a|tbd|xxx+|test|about:blank|(?:title|name) (?:goes )?here"
    r"|(?:your|enter|insert|type|click to add) .{0,30}title.{0,20}|(?:document|paper|report|manuscript) title)"
    r"[\W_]*\d*\W*"
    r"|(?:microsoft )?(?:word|powerpoint|excel|office|publisher|visio) - .*"
    r"|(?:microsoft |adobe )?(?:word|powerpoint|excel|office|publisher|visio|acrobat|illustrator|indesign|framemaker"
    r"|pagemaker|photoshop|latex(?: with hyperref(?: package)?)?|pdflatex|pdftex|tex|xetex|luatex|quarkxpress|coreldraw"
    r"|openoffice(?:\.org)?|libreoffice|ghostscript|wkhtmltopdf|pscript\S*)(?: \w+)?[ /-]?v?[\d.]*"
    # Names of files, paths and addresses.
    rf"|.*\.(?:{_ENDINGS})\W*|(?:[a-z]:\\|\\\\|/|file:|https?:).*|[\W\d_]*|(?=\S*[\d_])\S{{9,}}",
    re.IGNORECASE | re.DOTALL,
)
_TEMPLATE = re.compile(
    r"\btemplates?\b|\bvorlage\b|\bmod[eè]le\b|\bplantilla\b|\bsample (?:document|paper)\b|模板|样式|雛形"
    r"|\binstructions? (?:for|to) authors?\b|\bpreparation of papers\b|\bstyle ?file\b|\bboilerplate\b|\blorem ipsum\b",
    re.IGNORECASE,
)


def metadata_title(told: str) -> str:
    """Return the title of the metadata; empty where a program has put in its own words or a file's name."""
    return "" if len(told) < _SHORTEST or _STALE.fullmatch(told) else clip(told, MAX_TITLE)


def title_of(told: str, pages: Iterable[Sequence[Element]]) -> str:
    """Return the title of the metadata, or that of the first page where it is stale: like that of a template.

    Args:
        pages: The elements of the first pages; asked for only where they decide.
    """
    title = metadata_title(told)
    if title and not _TEMPLATE.search(title):
        return title
    first = next(iter(pages), ())
    if title and folded(title) in folded(" ".join(element.summary for element in first)):
        return title  # the document is a template, and says so
    return _own_title(first) or title


def summary_of(pages: Iterable[Sequence[Element]], title: str) -> str:
    """Return the first headings and how the text begins, on one line; empty where the first pages have no text."""
    for elements in pages:
        headings = _different(
            (element.content["text"] for element in elements if element.category == "heading"), folded(title)
        )
        text = next((found for found in map(_beginning, elements) if found and folded(found) != folded(title)), "")
        told = ". ".join(filter(None, (" · ".join(list(headings)[:_HEADINGS]).rstrip("."), text)))
        if told:
            return clip(told, MAX_SUMMARY)
    return ""


def _own_title(elements: Sequence[Element]) -> str:
    headings = [element for element in elements if element.category == "heading"]
    highest = min(headings, key=lambda heading: heading.content["level"], default=None)
    return clip(highest.summary, 120) if highest else ""


def _different(texts: Iterable[str], known: str) -> Iterator[str]:
    seen = {known, ""}
    for text in texts:
        if folded(text) not in seen:
            seen.add(folded(text))
            yield clip(text, 80)


def _beginning(element: Element) -> str:
    if element.category == "text":
        return clip(element.content["text"], MAX_SUMMARY)
    return element.summary if element.category in ("list", "table") else ""
