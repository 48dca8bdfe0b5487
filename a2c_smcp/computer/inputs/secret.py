"""A value that must not be shown, and the cleaning of texts that may hold one. Pure."""

import re
from collections import OrderedDict
from typing import Final, NoReturn

from a2c_smcp.common.masking import MIN_LENGTH, spellings
from a2c_smcp.redaction import REDACTED

_SURE: Final = 8
_MOST: Final = 1_000


class Secret:
    """A text that shows itself only when asked to."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the text itself. Never log it, nor put it into an error."""
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
        raise TypeError("a secret does not leave its process")


class Redactor:
    """Knows values, and takes them out of texts written by others, such as what an MCP server prints before it dies.

    A value is found as it is, in a URL, inside a JSON text, and line by line where it has several long ones. One of
    less than eight characters counts only where it stands alone, so that "prod" does not spoil "product".
    """

    __slots__ = ("_known", "_pattern")

    def __init__(self) -> None:
        self._known: OrderedDict[Secret, None] = OrderedDict()
        self._pattern: re.Pattern[str] | None = None

    def learn(self, value: str) -> None:
        """Take this value out of texts from now on."""
        if len(value) < MIN_LENGTH or (secret := Secret(value)) in self._known:
            return
        self._known[secret] = None
        if len(self._known) > _MOST:
            self._known.popitem(last=False)
        self._pattern = None

    def redact(self, text: str) -> str:
        """Return `text` without the values that are known."""
        if not self._known:
            return text
        if self._pattern is None:
            forms = {form for secret in self._known for form in spellings(secret.reveal())}
            # The longest first: one value may be the beginning of another.
            self._pattern = re.compile("|".join(map(_matcher, sorted(forms, key=len, reverse=True))))
        return self._pattern.sub(REDACTED, text)

    def __repr__(self) -> str:
        return f"Redactor({len(self._known)} known)"


def _matcher(spelling: str) -> str:
    pattern = re.escape(spelling)
    return pattern if len(spelling) >= _SURE else rf"(?<![^\W_]){pattern}(?![^\W_])"
