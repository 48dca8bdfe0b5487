"""What a cell shows: a value as its number format writes it in a program with English settings. Pure.

A format has up to four sections (positive, negative, zero, text), each with its own condition where it names one. What
the width of a column does (`####`, filling with `*`) is left out, and blanks that only align are one blank.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from a2c_smcp.documents.ooxml.spreadsheet.date_names import DayNames, day_names

MAX_CODE: Final = 1_024
"""Excel allows 255 characters; longer ones are not read."""
MAX_PLACES: Final = 40
LAST_DAY: Final = 2_958_466

BUILT_IN: Final[dict[int, str]] = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    5: "$#,##0;($#,##0)",
    6: "$#,##0;[Red]($#,##0)",
    7: "$#,##0.00;($#,##0.00)",
    8: "$#,##0.00;[Red]($#,##0.00)",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    37: "#,##0;(#,##0)",
    38: "#,##0;[Red](#,##0)",
    39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;[Red](#,##0.00)",
    41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
    42: '_($* #,##0_);_($* (#,##0);_($* "-"_);_(@_)',
    43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
    44: '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)',
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
    # These follow the settings of whoever opens the file, so they are shown the one way that everybody reads alike.
    **dict.fromkeys((14, *range(27, 32), 36, 50, *range(51, 55), 57, 58), "yyyy-mm-dd"),
    22: "yyyy-mm-dd hh:mm",
    **dict.fromkeys((32, 33, 34, 35, 55, 56), "hh:mm:ss"),
}
"""The formats that a file names by number alone."""

_TOKEN = re.compile(
    r"""(?P<text>"[^"]*"?)|(?P<escaped>\\.)|(?P<space>_.)|(?P<fill>\*.)|\[(?P<elapsed>h+|m+|s+)\]|\[(?P<bracket>[^\]]*)\]
    |(?P<general>General)|(?P<half>AM/PM|A/P|上午/下午)|(?P<exponent>E[+-])
    |(?P<date>y+|m+|d+|h+|s+|e+|g+|b+|aaaa?)|(?P<digit>[0#?])|(?P<mark>[.,%/@])|(?P<number>[1-9][0-9]*)|(?P<other>.)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|=|<|>)\s*(-?[0-9.]+)")
_CURRENCY = re.compile(r"\$([^-]*)(?:-([0-9A-Fa-f]{1,8}))?.*", re.DOTALL)
_COMPARE: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": lambda value, limit: value < limit,
    ">": lambda value, limit: value > limit,
    "<=": lambda value, limit: value <= limit,
    ">=": lambda value, limit: value >= limit,
    "=": lambda value, limit: value == limit,
    "<>": lambda value, limit: value != limit,
}
_SIMPLE = re.compile(r"([+$€£¥]?)(#,##0|0)(?:\.(0{1,9}))?(%?)")
_EXACT: Final = Context(prec=400, rounding=ROUND_HALF_UP)


class _Unknown(Exception):
    """A format that is not read, such as eras and numerals of other scripts."""


class _Token(NamedTuple):
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class _Section:
    tokens: tuple[_Token, ...]
    kind: str
    condition: tuple[str, float] | None = None
    language: int = 0

    @property
    def hides_sign(self) -> bool:
        """Whether only negative numbers come here, so that the section writes the sign itself."""
        if self.condition is None:
            return False
        sign, limit = self.condition
        return (sign == "<" and limit <= 0) or (sign == "<=" and limit < 0)


def shown_number(value: float, code: str, *, since_1904: bool = False) -> str | None:
    """Return a number as its format shows it; None where the format is General, damaged, or of a kind not read."""
    try:
        if (simple := _simple(code)) is not None and abs(value) < 1e15:
            return simple(value)
        section = _section_for(value, code)
        if section is None or not math.isfinite(value):
            return None
        if section.kind == "date":
            return _tidy(_date(value, section, since_1904=since_1904))
        sign = "-" if value < 0 and not section.hides_sign else ""
        return _tidy(sign + _number(abs(value), section.tokens))
    except (_Unknown, ArithmeticError, ValueError):
        return None


@lru_cache(1_024)
def _simple(code: str) -> Callable[[float], str] | None:
    """Return what writes the formats that most cells have, many times as fast; None for all others."""
    match = _SIMPLE.fullmatch(code)
    if match is None:
        return None
    prefix, whole, decimals, percent = match.groups()
    unit = Decimal(1).scaleb(-len(decimals or ""))
    spec = ",f" if "," in whole else "f"

    def shown(value: float) -> str:
        amount = Decimal(repr(abs(value)))
        amount = (amount * 100 if percent else amount).quantize(unit, ROUND_HALF_UP)
        return f"{'-' if value < 0 else ''}{prefix}{amount:{spec}}{percent}"

    return shown


def shown_text(text: str, code: str) -> str | None:
    """Return a text as the text section of a format shows it; None where the format has none."""
    if "@" not in code and code.count(";") < 3:
        return None
    sections = _sections(code)
    if not sections or not (len(sections) == 4 or sections[-1].kind == "text"):
        return None
    return "".join(text if token == ("mark", "@") else _literal(token) for token in sections[-1].tokens).strip()


def _tidy(text: str) -> str:
    return " ".join(text.split(" ")).strip() if "  " not in text else " ".join(text.split())


# Sections


@lru_cache(1_024)
def _sections(code: str) -> tuple[_Section, ...]:
    if len(code) > MAX_CODE or code.lower() in ("", "general"):
        return ()
    found: list[list[_Token]] = [[]]
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or "other"
        if kind == "other" and match[0] == ";":
            found.append([])
        else:
            found[-1].append(_Token(kind, match[kind]))
    return tuple(map(_section, found[:4]))


def _section(tokens: list[_Token]) -> _Section:
    kept: list[_Token] = []
    condition, language = None, 0
    for token in tokens:
        if token.kind != "bracket":
            kept.append(token)
        elif (limit := _CONDITION.fullmatch(token.text)) and _is_number(limit[2]):
            condition = limit[1], float(limit[2])
        elif currency := _CURRENCY.fullmatch(token.text):
            kept.append(_Token("escaped", f"\\{currency[1]}"))
            language = int(currency[2], 16) if currency[2] else language
        elif token.text.upper().startswith(("DBNUM", "NATNUM")):
            kept.append(_Token("unknown", token.text))
    return _Section(tuple(kept), _kind(kept), condition, language)


def _kind(tokens: list[_Token]) -> str:
    kinds = {token.kind for token in tokens}
    if kinds & {"date", "elapsed", "half"}:
        return "date"
    return "text" if ("mark", "@") in tokens and "digit" not in kinds else "number"


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _section_for(value: float, code: str) -> _Section | None:
    sections = _sections(code)
    if sections and (len(sections) == 4 or sections[-1].kind == "text"):
        sections = sections[:-1]
    if not sections:
        return None
    if any(section.condition for section in sections):
        return _by_condition(value, sections)
    if len(sections) > 1 and value < 0:
        return replace(sections[1], condition=("<", 0.0))
    return sections[2] if len(sections) > 2 and value == 0 else sections[0]


def _by_condition(value: float, sections: tuple[_Section, ...]) -> _Section | None:
    for at, section in enumerate(sections):
        # The second section without a condition of its own is that of negative numbers where another one follows.
        implied = ("<", 0.0) if at == 1 and len(sections) > 2 else None
        condition = section.condition or implied
        if condition is None or _COMPARE[condition[0]](value, condition[1]):
            return replace(section, condition=condition)
    return None


def _literal(token: _Token) -> str:
    match token.kind:
        case "text":
            return token.text.strip('"')
        case "escaped":
            return token.text[1:]
        case "space":
            return " "
        case "fill":
            return ""
        case "unknown":
            raise _Unknown
    return token.text


# Numbers


def _number(value: float, tokens: tuple[_Token, ...]) -> str:
    if any(token.kind == "general" for token in tokens):
        return "".join(general(value) if token.kind == "general" else _literal(token) for token in tokens)
    places = [at for at, token in enumerate(tokens) if token.kind == "digit"]
    if not places:
        return "".join(map(_literal, tokens))
    if len(places) > MAX_PLACES:
        raise _Unknown
    amount = Decimal(repr(value)) if value < 1e15 else Decimal(value)
    amount *= 100 ** sum(token == ("mark", "%") for token in tokens)
    if any(token.kind == "exponent" for token in tokens):
        return _scientific(amount, tokens)
    slash = next((at for at, token in enumerate(tokens) if token == ("mark", "/") and at > places[0]), None)
    if slash is not None:
        return _fraction(amount, tokens, slash)
    return _decimal(amount, tokens, places)


def _decimal(amount: Decimal, tokens: tuple[_Token, ...], places: list[int]) -> str:
    point = next((at for at, token in enumerate(tokens) if token == ("mark", ".")), len(tokens))
    whole, after = [at for at in places if at < point], [at for at in places if at > point]
    commas = [at for at, token in enumerate(tokens) if token == ("mark", ",")]
    last = whole[-1] if whole else -1
    grouped = any(whole and whole[0] < at < last for at in commas)
    # Commas after the last digit show thousands, millions and so on.
    scale = sum(1 for at in commas if at > max(last, after[-1] if after else -1)) if places else 0
    scale += sum(1 for at in commas if last < at < point) if after else 0
    amount /= Decimal(1_000) ** scale
    amount = amount.quantize(Decimal(1).scaleb(-len(after)), context=_EXACT)
    digits, _, decimals = f"{amount:f}".partition(".")
    digits = digits.lstrip("0")
    shown = _whole(digits, [tokens[at].text for at in whole], grouped=grouped)
    kept = decimals.rstrip("0")
    shown += [
        decimals[at] if at < len(kept) else {"0": "0", "?": " "}.get(tokens[place].text, "")
        for at, place in enumerate(after)
    ]
    fill = dict(zip([*whole, *after], shown, strict=True))
    if not whole and digits:
        fill[point] = f"{digits}."
    return "".join(
        fill[at] if at in fill else "" if token == ("mark", ",") else _literal(token) for at, token in enumerate(tokens)
    )


def _whole(digits: str, places: list[str], *, grouped: bool) -> list[str]:
    """Return what stands at each place before the point; the first has all digits that the others have no room for."""
    room = len(places)
    padded = digits.rjust(room, "\0")
    extra = len(padded) - room if room else 0
    shown: list[str] = []
    for at, sign in enumerate(padded):
        place = places[max(0, at - extra)] if places else ""
        text = {"0": "0", "?": " "}.get(place, "") if sign == "\0" else sign
        right = len(padded) - at - 1
        if grouped and text.strip() and right and right % 3 == 0:
            text += ","
        shown.append(text)
    return ["".join(shown[: extra + 1]), *shown[extra + 1 :]] if room else []


def _scientific(amount: Decimal, tokens: tuple[_Token, ...]) -> str:
    at = next(index for index, token in enumerate(tokens) if token.kind == "exponent")
    before, mark, after = tokens[:at], tokens[at].text, tokens[at + 1 :]
    point = next((index for index, token in enumerate(before) if token == ("mark", ".")), len(before))
    step = max(1, sum(token.kind == "digit" for token in before[:point]))
    places = sum(token.kind == "digit" for token in before[point:])
    exponent = 0
    if amount:
        exponent = amount.adjusted() // step * step
        if amount.scaleb(-exponent).quantize(Decimal(1).scaleb(-places), context=_EXACT) >= Decimal(10) ** step:
            exponent += step
    mantissa = _decimal(
        amount.scaleb(-exponent), before, [i for i, token in enumerate(before) if token.kind == "digit"]
    )
    sign = "-" if exponent < 0 else "+" if mark[1] == "+" else ""
    width = [index for index, token in enumerate(after) if token.kind == "digit"]
    power = _decimal(Decimal(abs(exponent)), after, width) if width else str(abs(exponent))
    return f"{mantissa}E{sign}{power}"


def _fraction(amount: Decimal, tokens: tuple[_Token, ...], slash: int) -> str:
    def group(at: int, step: int) -> list[int]:
        found: list[int] = []
        while 0 <= at < len(tokens) and (tokens[at].kind in ("digit", "number") or not found):
            if tokens[at].kind in ("digit", "number"):
                found.append(at)
            elif tokens[at].text != " ":
                break
            at += step
        return sorted(found)

    top, bottom = group(slash - 1, -1), group(slash + 1, 1)
    if not top or not bottom:
        raise _Unknown
    whole = [at for at, token in enumerate(tokens[: top[0]]) if token.kind == "digit"]
    fixed = "".join(tokens[at].text for at in bottom)
    exact = Fraction(amount)
    units = int(exact) if whole else 0
    rest = exact - units
    if fixed.strip("0#?") and fixed.replace("?", "").isdecimal():
        denominator = int(fixed.replace("?", ""))
        numerator = math.floor(rest * denominator + Fraction(1, 2))
    else:
        near = rest.limit_denominator(10 ** min(len(bottom), 7) - 1)
        numerator, denominator = near.numerator, near.denominator
    if whole and numerator == denominator:
        units, numerator = units + 1, 0
    before, between = tokens[: (whole or top)[0]], tokens[whole[-1] + 1 : top[0]] if whole else ()
    shows = numerator or not whole
    parts = [
        *map(_literal, before),
        str(units) if units or (whole and not numerator) or any(tokens[at].text == "0" for at in whole) else "",
        *(map(_literal, between) if shows else ()),
        f"{numerator}/{denominator}" if shows else "",
        *map(_literal, tokens[bottom[-1] + 1 :]),
    ]
    return "".join(parts)


def general(value: float) -> str:
    """Return a number without a format, in the eleven characters that it is given."""
    if value.is_integer() and abs(value) < 1e11:
        return str(int(value))
    text = f"{value:.10g}" if 1e-4 <= abs(value) < 1e11 else f"{value:.6g}"
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa}E{power}" if exponent else text


# Dates and times


def _date(value: float, section: _Section, *, since_1904: bool) -> str:
    tokens = section.tokens
    elapsed = any(token.kind == "elapsed" for token in tokens)
    if value < 0 and not elapsed:
        raise _Unknown
    decimals = _second_decimals(tokens)
    seconds = Decimal(repr(abs(value))) * 86_400
    seconds = seconds.quantize(Decimal(1).scaleb(-decimals), context=_EXACT)
    moment = None if elapsed else _moment(value, seconds, since_1904=since_1904)
    clock = _Clock(seconds, moment, day_names(section.language), any(token.kind == "half" for token in tokens))
    minutes = _minutes(tokens)
    parts: list[str] = []
    skip = 0
    for at, token in enumerate(tokens):
        if skip:
            skip -= 1
        elif token == ("mark", ".") and at + 1 < len(tokens) and tokens[at + 1].text == "0":
            skip = next((n for n, one in enumerate(tokens[at + 1 :]) if one.text != "0"), len(tokens) - at - 1)
            parts.append("." + f"{seconds % 1:.{skip}f}".partition(".")[2])
        elif token.kind in ("date", "elapsed", "half"):
            parts.append(clock.part(token, is_minutes=at in minutes))
        else:
            parts.append(_literal(token))
    return ("-" if value < 0 else "") + "".join(parts)


def _second_decimals(tokens: tuple[_Token, ...]) -> int:
    """Return how many decimals of seconds a format shows."""
    for at, token in enumerate(tokens[:-1]):
        if token == ("mark", ".") and tokens[at + 1].text == "0":
            return min(3, next((n for n, one in enumerate(tokens[at + 1 :]) if one.text != "0"), len(tokens) - at - 1))
    return 0


def _moment(value: float, seconds: Decimal, *, since_1904: bool) -> datetime:
    if value >= LAST_DAY - (1_462 if since_1904 else 0):
        raise _Unknown
    days, rest = divmod(seconds, 86_400)
    # There was no 29 February 1900, but sheets count it as day 60.
    day = int(days) + (1_462 if since_1904 else 1 if days < 60 else 0)
    start = datetime(1899, 12, 30)  # noqa: DTZ001 (sheets know no time zone)
    return start + timedelta(days=day, microseconds=int(rest * 1_000_000))


def _minutes(tokens: tuple[_Token, ...]) -> set[int]:
    """Return which `m` mean minutes: those after hours and those before seconds."""
    timed = [(at, token.text[0].lower()) for at, token in enumerate(tokens) if token.kind in ("date", "elapsed")]
    found: set[int] = set()
    for number, (at, letter) in enumerate(timed):
        before = timed[number - 1][1] if number else ""
        after = timed[number + 1][1] if number + 1 < len(timed) else ""
        if letter == "m" and (before == "h" or after == "s" or tokens[at].kind == "elapsed"):
            found.add(at)
    return found


@dataclass(frozen=True, slots=True)
class _Clock:
    seconds: Decimal
    moment: datetime | None
    names: DayNames
    is_half: bool

    def part(self, token: _Token, *, is_minutes: bool) -> str:
        width, letter = len(token.text), token.text[0].lower()
        if token.kind == "half":
            return self._half(token.text)
        if token.kind == "elapsed":
            return str(int(self.seconds) // {"h": 3_600, "m": 60, "s": 1}[letter]).zfill(width)
        if letter == "h":
            hour = int(self.seconds) // 3_600 % 24
            return str((hour + 11) % 12 + 1 if self.is_half else hour).zfill(min(width, 2))
        if letter == "s":
            return str(int(self.seconds) % 60).zfill(min(width, 2))
        if is_minutes:
            return str(int(self.seconds) // 60 % 60).zfill(min(width, 2))
        return self._day(letter, width)

    def _half(self, written: str) -> str:
        is_late = int(self.seconds) // 3_600 % 24 >= 12
        first, _, second = written.partition("/")
        return second if is_late else first

    def _day(self, letter: str, width: int) -> str:
        moment = self.moment
        if moment is None:
            raise _Unknown
        if letter == "y":
            return f"{moment.year % 100:02}" if width <= 2 else f"{moment.year:04}"
        if letter == "e":
            return f"{moment.year:04}"
        if letter == "m":
            name = self.names.months[moment.month - 1]
            return [str(moment.month), f"{moment.month:02}", self.names.short_month(moment.month), name, name[0]][
                min(width, 5) - 1
            ]
        if letter in "da":
            name = self.names.days[moment.weekday()]
            if letter == "a":
                return name if width == 4 else name[-1]
            return [str(moment.day), f"{moment.day:02}", self.names.short_day(moment.weekday()), name][
                min(width, 4) - 1
            ]
        raise _Unknown
