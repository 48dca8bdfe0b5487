"""Which encoding of one byte a letter a text is in, by how its letters fit the languages written in each. Pure.

A language is the letters it has beyond ASCII, the most frequent first. Words that hold such bytes are decoded in every
way there is, and how likely that makes them is compared with how likely they are as Western text.
"""

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from math import log
from typing import Final

MAX_WORDS: Final = 2_000

_WESTERN: Final = (
    "éèàêçôâîùûëïœ",  # French
    "üäöß",  # German
    "óáíéñú¿¡ü",  # Spanish
    "ãçéáíóõêâúà",  # Portuguese
    "àèùòéì",  # Italian
    "äöåé",  # Swedish, Finnish
    "øåæé",  # Danish, Norwegian
    "áðíóæþúöéý",  # Icelandic
    "ëéïèö",  # Dutch
    "äõöü",  # Estonian
    "éüäöáóíèàçñêåøãâúôßæïëîûùòõœðþý",  # several of them in one text
)
_CENTRAL: Final = (
    "ęłąóżśćńź",  # Polish
    "íáéěčřžýšůúťňďó",  # Czech
    "áíčéšžýúľťôňďäóĺŕ",  # Slovak
    "áéőöóíüúű",  # Hungarian
    "ăîşţâ",  # Romanian
    "čšžćđ",  # Croatian, Slovene
)
_TURKISH: Final = ("ışüğçöâ",)
_BALTIC: Final = ("ėšžųąįūčę", "āīēšūļņžķģč")
_CYRILLIC: Final = (
    "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",  # Russian
    "оаинвтеіркслдумзпьягйбхчшюцїжєщфґ",  # Ukrainian
    "аиотенрсвлкдпмзгбъучцяжщхшюфйь",  # Bulgarian
    "аоиенсртујвкмдплгзбчшцжхњћљђфџ",  # Serbian
)
_GREEK: Final = ("αοιετσνηυρπκμλςόίάήώγδέύχθφβξζψ",)
_HEBREW: Final = ("יוהלאתרבמשנםדקעפגחטצזכסןךףץ",)
_ARABIC: Final = ("اليمنوترةبعدفهسكقحجشأصخطىضغئءذزثظ",)
_THAI: Final = ("านรกอเ่ง้มยลัีวทดิตส์ุะบปแหคูจพืชข็ใไโผณญธถศษ",)

# Of encodings that read a text alike, the first is taken.
_CANDIDATES: Final = (
    ("cp1250", _CENTRAL),
    ("iso8859_2", _CENTRAL),
    ("cp1251", _CYRILLIC),
    ("koi8_r", _CYRILLIC),
    ("koi8_u", _CYRILLIC),
    ("cp866", _CYRILLIC),
    ("iso8859_5", _CYRILLIC),
    ("mac_cyrillic", _CYRILLIC),
    ("cp855", _CYRILLIC),
    ("cp1253", _GREEK),
    ("iso8859_7", _GREEK),
    ("cp1254", _TURKISH),
    ("cp1255", _HEBREW),
    ("cp1256", _ARABIC),
    ("iso8859_6", _ARABIC),
    ("cp1257", _BALTIC),
    ("cp874", _THAI),
    ("cp850", _WESTERN),
    ("mac_roman", _WESTERN),
)

_WORD = re.compile(rb"[A-Za-z\x80-\xff]{4,}")
_HIGH = re.compile(rb"[\x80-\xff]")
_PLAIN = re.compile(rb"[A-Za-z]")
# Marks that stand beside words in any language, so they speak for none.
_MARKS: Final = frozenset("\u00a0\u00ad“”„‚‘’«»‹›–—…´`©®™")

_STRANGE: Final = log(0.001)
"""How likely a letter is that the language does not have."""

_MIN_EVIDENCE: Final = 8.0
"""By how much (as a logarithm) another reading has to be likelier than the Western one."""

_MIN_FIT: Final = -4.0


def narrow_encoding(data: bytes) -> str | None:
    """Return the encoding that makes the words of a text those of a language; None where Western is as likely."""
    words = [word for word in _WORD.findall(data) if _HIGH.search(word)][:MAX_WORDS]
    if not words:
        return None
    joined = b" ".join(words)
    western, letters = _fit(joined, "cp1252", _WESTERN)
    if not letters:  # nothing but quotes and dashes
        return None
    highs = len(_HIGH.findall(joined))
    # Letters of another script stand by themselves; those of Latin ones stand among plain letters.
    alone = sum(len(word) for word in words if not _PLAIN.search(word))
    readings = [one for one in _CANDIDATES if alone * 2 >= highs or not _is_own_script(one[1])]
    fits = [(_fit(joined, name, languages), name) for name, languages in readings]
    (best, count), name = max(fits, key=lambda fit: fit[0][0])
    is_likelier = (best - western) * count >= _MIN_EVIDENCE
    has_letters = count * 4 >= highs * 3
    return name if best >= _MIN_FIT and is_likelier and has_letters else None


def _fit(words: bytes, encoding: str, languages: tuple[str, ...]) -> tuple[float, int]:
    """Return how likely the letters of a text are in the likeliest language, on average, and how many they are."""
    text = words.decode(encoding, "replace")
    letters = Counter(character for character in text if character > "\x7f" and character not in _MARKS)
    count = letters.total()
    if not count or _is_stutter(letters, languages):
        return _STRANGE, count
    # In a wrong reading capitals turn up inside of words.
    capitals = sum(1 for before, letter in pairwise(text) if letter > "\x7f" and letter.isupper() and before.islower())
    best = max(
        sum(amount * chances.get(letter.lower(), _STRANGE) for letter, amount in letters.items())
        for chances in map(_chances, languages)
    )
    return (best + capitals * _STRANGE / 2) / count, count


def _is_stutter(letters: Counter[str], languages: tuple[str, ...]) -> bool:
    """Whether one letter of an alphabet of its own fills most of the place, as in bytes that are no text."""
    return _is_own_script(languages) and letters.total() > 8 and max(letters.values()) * 2 > letters.total()


def _is_own_script(languages: tuple[str, ...]) -> bool:
    return len(languages[0]) > 20


@cache
def _chances(language: str) -> dict[str, float]:
    weights = [1 / (rank + 2) for rank in range(len(language))]
    return {letter: log(weight / sum(weights)) for letter, weight in zip(language, weights, strict=True)}
