"""Names that people mistake for one another: another case, width or script, or invisible characters. Pure."""

import json
import re
import unicodedata
from typing import Final

# Letters of other scripts that most fonts draw like a Latin letter, after case folding.
_DRAWN_LIKE: Final = {
    "a": "аαɑ",
    "b": "вβ",
    "c": "сϲᴄ",
    "d": "ԁ",
    "e": "еε",
    "f": "ք",
    "g": "ɡց",
    "h": "һнհη",
    "i": "іιıɩ",
    "j": "јϳ",
    "k": "кκ",
    "l": "ӏ",
    "m": "м",
    "n": "ո",
    "o": "оοօᴏ",
    "p": "рρ",
    "q": "ԛզ",
    "s": "ѕ",
    "t": "тτ",
    "u": "υսᴜ",
    "v": "νѵᴠ",
    "w": "ԝᴡ",
    "x": "хχ",
    "y": "уγ",
    "z": "ᴢζ",
}
_LATIN: Final = str.maketrans({other: latin for latin, others in _DRAWN_LIKE.items() for other in others})
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zs", "Zl", "Zp"})
# Drawn as nothing or as a blank although their category is that of letters, marks or symbols.
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


def skeleton(name: str) -> str:
    """Return a text that is equal for names that look alike; it is for comparing, never for showing."""
    if name.isascii() and name.isprintable():
        return name.lower().replace(" ", "")
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(map(_drawn, folded)).translate(_LATIN)


def _drawn(character: str) -> str:
    category = unicodedata.category(character)
    if category in _UNSEEN or character in _BLANK or "VARIATION SELECTOR" in unicodedata.name(character, ""):
        return ""
    return {"Pc": "_", "Pd": "-"}.get(category, character)


# Controls, and what shows nothing or changes how its neighbours are shown: bidi and zero-width marks, fillers,
# variation selectors, tags, lone surrogates.
_UNSHOWN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)


def escape_unshown(text: str) -> str:
    """Return a text with everything that a reader could not see, or that reorders it, as JSON escapes."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSHOWN.sub(lambda found: _escape(found.group()), text)


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else json.dumps(character)[1:-1]
