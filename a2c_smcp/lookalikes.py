"""Names that people mistake for one another: another case, width or script, or invisible characters. Pure."""

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
