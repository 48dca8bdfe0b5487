"""What a package says of itself: title, subject, keywords, description."""

import re
from dataclasses import dataclass
from typing import Final

from a2c_smcp.documents.formats.elements import clip
from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.xml import Node, child, children, text_of

MAX_KEYWORDS: Final = 20
_SEPARATORS = re.compile(r"[,;，；、\n]+")
_GENERATED = re.compile(r"generated (?:by|using) python-(?:docx|pptx)")
# What programs write where nobody gave a title.
_NO_TITLES: Final = re.compile(
    r"(?:(?:microsoft )?powerpoint(?: |-|)(?:presentation|präsentation|presentatie|presentasjon|-?bemutató|prezentácia"
    r"|演示文稿|簡報|プレゼンテーション|프레젠테이션)|présentation powerpoint|presentación de powerpoint"
    r"|apresentação do powerpoint|presentazione(?: standard)? di powerpoint|prezentacja programu powerpoint"
    r"|prezentace aplikace powerpoint|презентация powerpoint|presentation|untitled|word document"
    r"|(?:slide|folie|diapositiv[ae]|dia|slajd|слайд|幻灯片|スライド) ?\d+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Properties:
    """The core properties, each empty where the author gave none."""

    title: str = ""
    subject: str = ""
    keywords: tuple[str, ...] = ()
    description: str = ""
    author: str = ""

    @property
    def about(self) -> str:
        """Subject and description as one line."""
        return ". ".join(dict.fromkeys(filter(None, (self.subject, self.description))))


def read_properties(package: Package) -> Properties:
    """Return the core properties of a package; empty ones where it has none."""
    part = next(package.related("", "core-properties"), "docProps/core.xml")
    return properties_of(package.optional(part))


def properties_of(root: Node | None) -> Properties:
    """Return the properties that are the children of `root`: Office lists the keywords, OpenDocument gives each one."""
    if root is None:
        return Properties()
    title = _line(root, "title")
    listed = [_line(root, "keywords"), *(text_of(node) for node in children(root, "keyword"))]
    words = [" ".join(word.split()) for words in listed for word in _SEPARATORS.split(words)]
    return Properties(
        title="" if _NO_TITLES.fullmatch(title) else clip(title, 200),
        subject=_line(root, "subject"),
        keywords=tuple(dict.fromkeys(word for word in words if word))[:MAX_KEYWORDS],
        description=_GENERATED.sub("", _line(root, "description")),
        author=_line(root, "creator"),
    )


def _line(root: Node, name: str) -> str:
    return " ".join(text_of(child(root, name)).split())
