"""What the style of a paragraph makes of it: a heading, a list item, code, an entry of the contents."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from a2c_smcp.documents.ooxml.xml import Node, W, attribute, child, children, is_on, number, value_of
from a2c_smcp.documents.rich_text import Kind

# Names are in English whatever language Word speaks; some other programs translate them.
_HEADING = re.compile(r"(?:heading|标题|überschrift|titre|título|titolo|заголовок|見出し) ?([1-9])")
_CONTENTS = re.compile(r"toc ([1-9])")
_CODE: Final = frozenset({"html preformatted", "source code", "code", "code block", "plain text", "macro text"})
_RUN_MARKS: Final[dict[str, Kind]] = {"b": "strong", "i": "emphasis", "strike": "strike", "dstrike": "strike"}
_RUN_STYLES: Final[dict[str, tuple[Kind, ...]]] = {
    "strong": ("strong",),
    "emphasis": ("emphasis",),
    "intense emphasis": ("strong", "emphasis"),
    **dict.fromkeys(
        (
            "html code",
            "verbatim char",
            "code",
            "code char",
            "inline code",
            "source text",
            "html keyboard",
            "html sample",
        ),
        ("code",),
    ),
}
_MAX_CHAIN: Final = 20
_PLACE = re.compile(r"%([1-9])")
_ROMAN: Final = tuple(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ["m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"],
        strict=True,
    )
)


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """A paragraph style with what it has from those it is based on."""

    name: str = ""
    heading: int = 0
    contents: int = 0
    num_id: str = ""
    level: int = 0
    is_code: bool = False
    is_title: bool = False


PLAIN: Final = ParagraphStyle()


class Styles:
    """The paragraph styles of a document, by id."""

    def __init__(self, root: Node | None) -> None:
        self._nodes: dict[str, Node] = {}
        self._known: dict[str, ParagraphStyle] = {}
        self._default = ""
        self._runs: dict[str, tuple[Kind, ...]] = {}
        for node in children(root, "style"):
            if attribute(node, "type") == "character":
                self._runs[attribute(node, "styleId")] = _style_kinds(node)
            if attribute(node, "type") in ("paragraph", "numbering"):
                self._nodes[attribute(node, "styleId")] = node
                if attribute(node, "default") in ("1", "true") and attribute(node, "type") == "paragraph":
                    self._default = attribute(node, "styleId")

    def get(self, style_id: str) -> ParagraphStyle:
        """Return a style; the default one for ids that are not known."""
        key = style_id if style_id in self._nodes else self._default
        if key not in self._known:
            self._known[key] = self._resolve(key)
        return self._known[key]

    def of_run(self, style_id: str) -> tuple[Kind, ...]:
        """Return what a character style makes of its text."""
        return self._runs.get(style_id, ())

    def _resolve(self, style_id: str) -> ParagraphStyle:
        chain: list[Node] = []
        while style_id in self._nodes and len(chain) < _MAX_CHAIN:
            node = self._nodes[style_id]
            if node in chain:
                break
            chain.append(node)
            style_id = value_of(node, "basedOn")
        if not chain:
            return PLAIN
        names = [value_of(node, "name").lower() for node in chain]
        num_id, level = _numbering(chain)
        return ParagraphStyle(
            name=names[0],
            heading=_heading(chain, names),
            contents=_first_number(_CONTENTS, names[:1]),
            num_id=num_id,
            level=level,
            is_code=any(name in _CODE for name in names),
            is_title=names[0] == "title",
        )


def run_kinds(properties: Node | None, styles: Styles | None = None) -> tuple[Kind, ...]:
    """Return what the properties of a run make of its text."""
    if properties is None:
        return ()
    found = dict.fromkeys(styles.of_run(value_of(properties, "rStyle")) if styles else ())
    for name, kind in _RUN_MARKS.items():
        mark = child(properties, name)
        if mark is not None and is_on(attribute(mark, "val") or None):
            found[kind] = None
        elif mark is not None:
            found.pop(kind, None)
    return tuple(found)


def _style_kinds(node: Node) -> tuple[Kind, ...]:
    name = value_of(node, "name").lower()
    return tuple(dict.fromkeys((*_RUN_STYLES.get(name, ()), *run_kinds(child(node, "rPr")))))


def _heading(chain: list[Node], names: list[str]) -> int:
    if names[0] == "title":
        return 1
    if names[0] == "toc heading":
        return 0
    for node, name in zip(chain, names, strict=True):
        if found := _HEADING.fullmatch(name):
            return int(found[1])
        level = child(node, "pPr", "outlineLvl")
        if level is not None:
            outline = number(attribute(level, "val"), 9)
            return outline + 1 if 0 <= outline < 9 else 0
    return 0


def _numbering(chain: list[Node]) -> tuple[str, int]:
    for node in chain:
        properties = child(node, "pPr", "numPr")
        if properties is not None and child(properties, "numId") is not None:
            return value_of(properties, "numId"), number(value_of(properties, "ilvl", default="0"))
    return "", 0


def _first_number(pattern: re.Pattern[str], names: list[str]) -> int:
    return next((int(found[1]) for name in names if (found := pattern.fullmatch(name))), 0)


@dataclass(frozen=True, slots=True)
class Level:
    """How a level of a list is numbered."""

    format: str = "bullet"
    start: int = 1
    text: str = ""

    @property
    def is_ordered(self) -> bool:
        """Whether its items have numbers or letters."""
        return self.format not in ("bullet", "none", "")


class Numbering:
    """The lists of a document, by the id that paragraphs name."""

    def __init__(self, root: Node | None) -> None:
        abstract = {attribute(node, "abstractNumId"): node for node in children(root, "abstractNum")}
        self._levels: dict[str, Mapping[int, Level]] = {}
        self._lists: dict[str, str] = {}
        self._counters: dict[tuple[str, int], int] = {}
        links = {
            value_of(node, "styleLink"): node for node in abstract.values() if child(node, "styleLink") is not None
        }
        for node in children(root, "num"):
            key = attribute(node, "numId")
            source = abstract.get(value_of(node, "abstractNumId"))
            linked = value_of(source, "numStyleLink")
            source = links.get(linked, source) if linked else source
            levels = {number(attribute(level, "ilvl")): _level(level) for level in children(source, "lvl")}
            restarts = False
            for override in children(node, "lvlOverride"):
                at = number(attribute(override, "ilvl"))
                restarts = restarts or child(override, "startOverride") is not None
                levels[at] = _overridden(override, levels.get(at, Level()))
            self._levels[key] = levels
            # Lists of one definition count on, unless one of them says that it starts anew.
            self._lists[key] = key if restarts else f"abstract {value_of(node, 'abstractNumId')}"

    def level(self, num_id: str, level: int) -> Level | None:
        """Return how that level of a list is numbered; None when there is no such list."""
        levels = self._levels.get(num_id)
        return levels.get(level, Level()) if levels is not None else None

    def count(self, num_id: str, level: int) -> int:
        """Return the number of the next item at that level."""
        key = self._lists.get(num_id, num_id)
        found = self.level(num_id, level) or Level()
        current = self._counters.get((key, level), found.start - 1) + 1
        self._counters[key, level] = current
        for deeper in range(level + 1, 10):
            self._counters.pop((key, deeper), None)
        return current

    def label(self, num_id: str, level: int) -> str:
        """Return what stands before the item that was counted last, like `2.1`; nothing before bullets."""
        found = self.level(num_id, level)
        if found is None or not found.is_ordered:
            return ""
        key = self._lists.get(num_id, num_id)

        def counted(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            above = self.level(num_id, at) or Level()
            return _numeral(self._counters.get((key, at), above.start), above.format)

        return _PLACE.sub(counted, found.text).strip(" .:)(\t")


def _numeral(value: int, kind: str) -> str:
    match kind:
        case "lowerLetter" | "upperLetter" if value > 0:
            letter = chr(ord("a") + (value - 1) % 26) * ((value - 1) // 26 % 5 + 1)
            return letter if kind == "lowerLetter" else letter.upper()
        case "lowerRoman" | "upperRoman" if 0 < value < 4_000:
            roman = ""
            for amount, sign in _ROMAN:
                roman += sign * (value // amount)
                value %= amount
            return roman if kind == "lowerRoman" else roman.upper()
    return str(value)


def _level(node: Node) -> Level:
    kind, start = value_of(node, "numFmt", default="decimal"), number(value_of(node, "start", default="1"), 1)
    return Level(kind, start, value_of(node, "lvlText"))


def _overridden(node: Node, level: Level) -> Level:
    own = node.find(f"{W}lvl")
    if own is not None:
        level = _level(own)
    start = child(node, "startOverride")
    return replace(level, start=number(attribute(start, "val"), 1)) if start is not None else level
