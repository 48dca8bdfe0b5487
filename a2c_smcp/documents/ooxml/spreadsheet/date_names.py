"""Names of months and weekdays in the languages that number formats name. Pure."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class DayNames:
    """The names of one language; weekdays begin with Monday. A length of 0 leaves names uncut."""

    months: tuple[str, ...]
    days: tuple[str, ...]
    month_length: int = 3
    day_length: int = 3

    def short_month(self, month: int) -> str:
        """Return the short name of a month, counted from 1."""
        name = self.months[month - 1]
        return name[: self.month_length] if self.month_length else name

    def short_day(self, weekday: int) -> str:
        """Return the short name of a weekday, counted from 0."""
        name = self.days[weekday]
        return name[: self.day_length] if self.day_length > 0 else name[self.day_length :] if self.day_length else name


def _names(months: str, days: str, month_length: int = 3, day_length: int = 3) -> DayNames:
    return DayNames(tuple(months.split()), tuple(days.split()), month_length, day_length)


_ENGLISH: Final = _names(
    "January February March April May June July August September October November December",
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
)
_CHINESE: Final = _names(
    "一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月",
    "星期一 星期二 星期三 星期四 星期五 星期六 星期日",
    0,
    -1,
)
_NAMES: Final[dict[int, DayNames]] = {
    0x04: _CHINESE,
    0x07: _names(
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
        3,
        2,
    ),
    0x0A: _names(
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "lunes martes miércoles jueves viernes sábado domingo",
    ),
    0x0C: _names(
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        4,
        3,
    ),
    0x10: _names(
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    ),
    0x11: _names(
        "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月", "月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日", 0, 1
    ),
    0x13: _names(
        "januari februari maart april mei juni juli augustus september oktober november december",
        "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
        3,
        2,
    ),
    0x16: _names(
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
    ),
}
"""By the lower ten bits of a Windows language id."""


def day_names(language: int) -> DayNames:
    """Return the names of a Windows language id; those of English where it is not known."""
    return _NAMES.get(language & 0x3FF, _ENGLISH)
