"""A strict parser for JSON with comments and trailing commas; errors have line and column. Pure.

A first pass replaces comments and trailing commas with blanks, which keeps positions, and leaves the rest to the
standard parser. The same pass detects what that parser accepts or explains badly: duplicate keys, excessive nesting,
unquoted words.
"""

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, Final

from a2c_smcp.computer.config.problems import MAX_PROBLEMS, JsonPath, Problem, path_text, quoted

MAX_DEPTH: Final = 64

_TOKEN: Final = re.compile(
    r"""(?P<string>"[^"\\\n]*(?:\\.[^"\\\n]*)*")
    |(?P<space>[ \t\r\n]+)
    |(?P<mark>[\[\]{},:])
    |(?P<number>-?[0-9][0-9A-Za-z.+-]*)
    |(?P<word>-?[A-Za-z_$][\w$.-]*)
    |(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_WORDS: Final = {"true", "false", "null"}
_NEVER_CLOSED: Final = 'the text that begins here is never closed; add a "'
_EXPLAINED: Final = (
    ("Expecting ',' delimiter", "a comma, or the end of the list or object, is missing before this; add it"),
    ("Expecting ':' delimiter", 'a colon is missing after the key; write "key": value'),
    ("Expecting property name", 'a key is missing; write "key": value'),
    ("Expecting value", "a value is missing; add it, or remove the comma before it"),
    ("Extra data", "something follows the end of the document; remove it"),
    ("Unterminated string", _NEVER_CLOSED),
    ("Invalid control character", 'a line break or tab is inside a text; close the text with a ", or write \\n or \\t'),
    ("Invalid \\", "a backslash is not followed by a known letter; double it, as in C:\\\\Users"),
)


class SyntaxProblem(ValueError):
    """The text is not a valid JSON document; `problems` says where and why."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


@dataclass(slots=True)
class _Frame:
    """An open list or object: the positions of the keys seen so far, and the current key or index."""

    keys: dict[str, int] | None
    at: str | int = 0


@dataclass(slots=True)
class _Scan:
    text: str
    parts: list[str] = field(default_factory=list)
    frames: list[_Frame] = field(default_factory=list)
    before: str = ""  # the token before `last`, without blanks and comments
    last: str = ""
    last_at: int = 0
    comma: int = -1  # index of the last comma in `parts`
    repeated: list[Problem] = field(default_factory=list)
    fault: tuple[int, str] | None = None

    def run(self) -> None:
        for found in _TOKEN.finditer(self.text):
            token, kind = found.group(), found.lastgroup
            if kind == "space":
                self.parts.append(token)
            elif kind == "comment":
                self.parts.append(re.sub(r"[^\n]", " ", token))
            else:
                self._token(token, str(kind), found.start())
            if self.fault is not None:
                # Stop at the first fault: scanning on after an unclosed comment would take quadratic time.
                self.parts.append(self.text[found.end() :])
                return

    def _token(self, token: str, kind: str, at: int) -> None:
        if kind == "mark":
            self._mark(token, at)
        elif kind == "other" or (kind == "word" and token not in _WORDS):
            self.fault = (at, _explain_other(token, self.text[at : at + 2]))
        self.parts.append(token)
        self.before, self.last, self.last_at = self.last, token, at

    def _mark(self, mark: str, at: int) -> None:
        if mark in "[{":
            self.frames.append(_Frame({} if mark == "{" else None))
            if len(self.frames) > MAX_DEPTH:
                raise SyntaxProblem(
                    Problem(_line(self.text, at), f"is nested deeper than {MAX_DEPTH} levels; flatten it")
                )
        elif mark == ",":
            self.comma = len(self.parts)
            if self.frames and isinstance(self.frames[-1].at, int):
                self.frames[-1].at += 1
        elif mark == ":":
            self._key()
        else:
            # A comma without a value before it ("[,]") is not a trailing comma: the parser rejects it.
            if self.last == "," and self.before not in {"", ",", ":", "[", "{"}:
                self.parts[self.comma] = " "
            if self.frames:
                self.frames.pop()

    def _key(self) -> None:
        if not self.frames or self.frames[-1].keys is None or not self.last.startswith('"'):
            return
        try:
            key = json.loads(self.last)
        except ValueError:
            return  # the parser reports it
        frame, keys = self.frames[-1], self.frames[-1].keys
        frame.at = key
        if key in keys and len(self.repeated) <= MAX_PROBLEMS:
            place: JsonPath = tuple(frame.at for frame in self.frames)
            first, again = (self.text.count("\n", 0, at) + 1 for at in (keys[key], self.last_at))
            self.repeated.append(
                Problem(
                    path_text(place),
                    f"the key {quoted(key)} is given twice, in lines {first} and {again}; keep one of them",
                )
            )
        keys[key] = self.last_at


def parse(text: str) -> Any:
    """Return the JSON value of a text.

    Raises:
        SyntaxProblem: It is not JSON, or a key appears twice.
    """
    scan = _Scan(text)
    scan.run()
    plain = "".join(scan.parts)
    if not plain.strip():
        raise SyntaxProblem(Problem("", 'is empty; write at least {"servers": {}}'))
    try:
        value = json.loads(plain, parse_float=_finite)
    except json.JSONDecodeError as error:
        at, what = error.pos, _explain(error, plain)
        if scan.fault is not None and scan.fault[0] <= at:
            at, what = scan.fault
        raise SyntaxProblem(Problem(_line(text, at), what)) from None
    except ValueError:
        raise SyntaxProblem(Problem("", "has a number that is too large; make it smaller")) from None
    if scan.fault is not None:  # NaN and Infinity, which the parser accepts
        at, what = scan.fault
        raise SyntaxProblem(Problem(_line(text, at), what))
    if scan.repeated:
        raise SyntaxProblem(*scan.repeated)
    return value


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError
    return value


def _line(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


def _explain(error: json.JSONDecodeError, plain: str) -> str:
    if error.pos >= len(plain.rstrip()):
        return "the text ends too early; close every { and [ that is open"
    return next((what for start, what in _EXPLAINED if error.msg.startswith(start)), "is not JSON; fix it")


def _explain_other(found: str, ahead: str) -> str:
    if found in "'‘’“”„«»`":
        return 'texts stand in straight double quotes; write "…"'
    if ahead == "/*":
        return "the comment that begins here is never closed; add */"
    if found == '"':
        return _NEVER_CLOSED
    if found[0].isalpha() or found[0] in "-_$":
        return "words other than true, false and null stand in double quotes; add them"
    if found.isspace() or not found.isprintable():
        return f"an invisible character (U+{ord(found):04X}) is in the way; remove it"
    return "is not JSON; remove it"
