"""What a sheet prints above and below each page, from the codes of a workbook to words. Pure."""

import re
from typing import Final

from a2c_smcp.documents.ooxml.xml import Node, child, text_of

_CODE = re.compile(r'&(?:"[^"]*"|K(?:[0-9A-Fa-f]{6}|[0-9]{2}[+-][0-9]{3})|[0-9]{1,3}|.)', re.DOTALL)
_WORDS: Final = {
    "&&": "&",
    "&P": "[page]",
    "&N": "[pages]",
    "&D": "[date]",
    "&T": "[time]",
    "&F": "[file]",
    "&L": "\n",
    "&C": "\n",
    "&R": "\n",
}


def margins_of(root: Node, sheet: str) -> tuple[str, str]:
    """Return what stands above and below the printed pages of a sheet: each text once, its parts on lines."""
    printed = child(root, "headerFooter")
    return _together(printed, "Header", sheet), _together(printed, "Footer", sheet)


def words_of(codes: str, sheet: str) -> str:
    """Return a header or footer as its reader sees it; what only the printer knows stands in brackets."""

    def word(code: re.Match[str]) -> str:
        return sheet if code[0].upper() == "&A" else _WORDS.get(code[0].upper(), "")

    lines = (" ".join(line.split()) for line in _CODE.sub(word, codes).split("\n"))
    return "\n".join(filter(None, lines))


def _together(printed: Node | None, which: str, sheet: str) -> str:
    texts = (words_of(text_of(child(printed, f"{pages}{which}")), sheet) for pages in ("first", "odd", "even"))
    return "\n".join(dict.fromkeys(filter(None, texts)))
