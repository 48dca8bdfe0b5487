"""Which of the encodings before Unicode a text is in, by how its letters and characters are spread. Pure."""

import codecs
import re
from collections.abc import Callable
from typing import Final

from a2c_smcp.documents.formats.alphabets import narrow_encoding

_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fc]")
_HALF_KANA = re.compile("[\uff61-\uff9f]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_IDEOGRAPH = re.compile("[\u4e00-\u9fff]")
_RUN = re.compile("[^\x00-\x7f]{3,}")
_LATIN = re.compile(rb"[A-Za-z]")

_MIN_WIDE: Final = 4
_MIN_KOREAN: Final = 12
_MIN_KANA_SHARE: Final = 0.15
_MIN_HANGUL_SHARE: Final = 0.95
_MIN_COMMON_SHARE: Final = 0.8
_MIN_EVERYDAY_SHARE: Final = 0.8
_RARE_FROM: Final = 0xD8
"""The first byte of characters of the second level of GB 2312, which any text has few of."""
_MIN_BIG5_SHARE: Final = 0.9


def legacy_encoding(data: bytes, *, complete: bool) -> str | None:
    """Return the encoding of a text that is no UTF-8 and not Western; None where none is likely."""
    wide = next((name for name, is_likely in _WIDE if _is(name, is_likely, data, complete)), None)
    return wide or narrow_encoding(data)


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
    common = foreign.encode("gb2312", "ignore")[::2]
    everyday = sum(1 for lead in common if lead < _RARE_FROM)
    is_chance = len(foreign) < _MIN_WIDE and len(_LATIN.findall(text.encode("ascii", "ignore"))) > len(foreign) * 20
    is_common = len(common) >= len(foreign) * _MIN_COMMON_SHARE and everyday >= len(common) * _MIN_EVERYDAY_SHARE
    return bool(foreign) and not is_chance and is_common


def _is_traditional(text: str) -> bool:
    """By the level of the characters: those in everyday use have the lower codes."""
    codes = _foreign(text).encode("cp950", "ignore")
    common = sum(1 for lead in codes[::2] if 0xA1 <= lead <= 0xC6)
    wide = len(codes) // 2
    # Accents of Western text make single characters, each with the letter that follows.
    in_runs = sum(map(len, _RUN.findall(text)))
    return wide >= _MIN_WIDE and in_runs * 2 >= wide and common >= wide * _MIN_BIG5_SHARE


_WIDE: Final[tuple[tuple[str, Callable[[str], bool]], ...]] = (
    ("cp932", _is_japanese),
    ("euc_jp", _is_japanese),
    ("euc_kr", _is_korean),
    ("cp949", _is_korean),
    ("gb18030", _is_simplified),
    ("cp950", _is_traditional),
)
