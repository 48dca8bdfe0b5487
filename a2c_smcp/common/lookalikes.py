"""Names that people mistake for one another: another case, width or script, or invisible characters. Pure."""

import unicodedata
from typing import Final

from a2c_smcp.common.visible import is_hidden

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


def skeleton(name: str) -> str:
    """Return a text that is equal for names that look alike; it is for comparing, never for showing."""
    if name.isascii() and name.isprintable():
        return name.lower().replace(" ", "")
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(map(_drawn, folded)).translate(_LATIN)


def _drawn(character: str) -> str:
    if character == " " or is_hidden(character):
        return ""
    return {"Pc": "_", "Pd": "-"}.get(unicodedata.category(character), character)
