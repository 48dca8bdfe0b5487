"""Which of the encodings before Unicode a text is in, by how its letters and characters are spread. Pure."""

import codecs
import re
from collections.abc import Callable
from typing import Final

_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fc]")
_HALF_KANA = re.compile("[\uff61-\uff9f]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_IDEOGRAPH = re.compile("[\u4e00-\u9fff]")
_HIGH = re.compile(rb"[\x80-\xff]")
_LATIN = re.compile(rb"[A-Za-z]")

_MIN_WIDE: Final = 4
_MIN_KOREAN: Final = 12
_MIN_LETTERS: Final = 12
_MIN_KANA_SHARE: Final = 0.15
_MIN_HANGUL_SHARE: Final = 0.95
_MIN_COMMON_SHARE: Final = 0.8
_MIN_BIG5_SHARE: Final = 0.9
_MIN_TOP_SHARE: Final = 0.55

_TOP_LETTERS: Final = (
    ("cp1251", "оеаинтсрвлкмдпу"),
    ("koi8_r", "оеаинтсрвлкмдпу"),
    ("cp866", "оеаинтсрвлкмдпу"),
    ("cp1253", "αοιετσνηυρςπκόί"),
    ("cp1255", "יוהלאתרבמשנםדקע"),
    ("cp1256", "اليمنوترةبعدفهس"),
)
"""The letters that make up most of a text of that script; an encoding that is not the right one spreads them."""


def legacy_encoding(data: bytes, *, complete: bool) -> str | None:
    """Return the encoding of a text that is no UTF-8 and not Western; None where none is likely."""
    return next((name for name, is_likely in _WIDE if _is(name, is_likely, data, complete)), None) or _narrow(data)


def _is(name: str, is_likely: Callable[[str], bool], data: bytes, complete: bool) -> bool:  # noqa: FBT001
    try:
        return is_likely(codecs.getincrementaldecoder(name)().decode(data, complete))
    except UnicodeDecodeError:
        return False


def _foreign(text: str) -> str:
    return "".join(character for character in text if not character.isascii())


def _is_japanese(text: str) -> bool:
    foreign = _foreign(text)
    kana, half = len(_KANA.findall(foreign)), len(_HALF_KANA.findall(foreign))
    return len(foreign) >= _MIN_WIDE and kana >= len(foreign) * _MIN_KANA_SHARE and half * 10 <= kana


def _is_korean(text: str) -> bool:
    hangul, han = len(_HANGUL.findall(text)), len(_IDEOGRAPH.findall(text))
    # Chinese bytes give syllables, too, but a third of its characters are none.
    return hangul >= _MIN_KOREAN and hangul >= (hangul + han) * _MIN_HANGUL_SHARE


def _is_simplified(text: str) -> bool:
    # Accented Western text often decodes as rare Chinese characters; real Chinese text uses those of GB 2312.
    foreign = _foreign(text)
    common = foreign.encode("gb2312", "ignore").decode("gb2312")
    return bool(foreign) and len(common) >= len(foreign) * _MIN_COMMON_SHARE


def _is_traditional(text: str) -> bool:
    """By the level of the characters: those in everyday use have the lower codes."""
    codes = _foreign(text).encode("cp950", "ignore")
    common = sum(1 for lead in codes[::2] if 0xA1 <= lead <= 0xC6)
    letters = len(_LATIN.findall(text.encode("ascii", "ignore")))
    wide = len(codes) // 2
    return wide >= _MIN_WIDE and wide * 4 >= letters and common >= wide * _MIN_BIG5_SHARE


_WIDE: Final[tuple[tuple[str, Callable[[str], bool]], ...]] = (
    ("cp932", _is_japanese),
    ("euc_jp", _is_japanese),
    ("euc_kr", _is_korean),
    ("gb18030", _is_simplified),
    ("cp950", _is_traditional),
)


def _narrow(data: bytes) -> str | None:
    """Return the encoding in which most letters are those that its language uses most."""
    if len(_HIGH.findall(data)) < max(_MIN_LETTERS, len(_LATIN.findall(data))):
        return None  # in Western text the letters with marks are few
    shares = [(_share(data, name, letters), name) for name, letters in _TOP_LETTERS]
    best, name = max(shares, key=lambda found: found[0])
    return name if best >= _MIN_TOP_SHARE else None


def _share(data: bytes, name: str, letters: str) -> float:
    foreign = _foreign(data.decode(name, "replace"))
    return sum(map(foreign.count, letters)) / max(1, len(foreign))
