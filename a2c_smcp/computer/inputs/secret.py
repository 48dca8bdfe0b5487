"""Secret values, and their redaction in text. Pure."""

import re
from collections import OrderedDict
from typing import Final, NoReturn

from a2c_smcp.common.masking import MIN_LENGTH, spellings
from a2c_smcp.redaction import REDACTED

_SUBSTRING_LENGTH: Final = 8
_MAX_VALUES: Final = 1_000


class Secret:
    """A string that `repr`, `format` and pickling do not reveal."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the string. Never log it or put it into an error."""
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return "<secret>"

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret cannot be pickled")


class Redactor:
    """Redacts known values in text, such as the output of an MCP server.

    A value is found verbatim, URL-encoded, JSON-encoded, and line by line if it has several long lines. A value of less
    than eight characters matches only as a whole word, so that "prod" does not match in "product".
    """

    __slots__ = ("_known", "_pattern")

    def __init__(self) -> None:
        self._known: OrderedDict[Secret, None] = OrderedDict()
        self._pattern: re.Pattern[str] | None = None

    def learn(self, value: str) -> None:
        """Redact this value from now on."""
        if len(value) < MIN_LENGTH or (secret := Secret(value)) in self._known:
            return
        self._known[secret] = None
        if len(self._known) > _MAX_VALUES:
            self._known.popitem(last=False)
        self._pattern = None

    def redact(self, text: str) -> str:
        """Return `text` without the known values."""
        if not self._known:
            return text
        if self._pattern is None:
            forms = {form for secret in self._known for form in spellings(secret.reveal())}
            # The longest first, because one value may be the prefix of another.
            self._pattern = re.compile("|".join(map(_matcher, sorted(forms, key=len, reverse=True))))
        return self._pattern.sub(REDACTED, text)

    def __repr__(self) -> str:
        return f"Redactor({len(self._known)} known)"


def _matcher(spelling: str) -> str:
    pattern = re.escape(spelling)
    return pattern if len(spelling) >= _SUBSTRING_LENGTH else rf"(?<![^\W_]){pattern}(?![^\W_])"
