"""What is looked for, in the language of FTS5. Pure.

Words of scripts without blanks (Chinese, Japanese, Korean, Thai …) are indexed by the character and looked for as a
row of them, so that a word of two characters is found wherever it stands.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from a2c_smcp.errors import BadRequest

MAX_QUERY: Final = 1_000
MAX_TERMS: Final = 32

_JOINT: Final = "\u200b"
"""Stands between characters that are words of their own; the tokenizer parts there, and readers do not see it."""

_UNBROKEN: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u3100-\u318f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_PART = re.compile(rf"(?<=[{_UNBROKEN}])(?=\w)|(?<=\w)(?=[{_UNBROKEN}])")
# With the marks over letters that may stand on their own; signs between words stay as they are for who reads them.
_WORD = re.compile(r"[\w\u0300-\u036f]+")
_IS_UNBROKEN = re.compile(rf"[{_UNBROKEN}]")
_TERM = re.compile(r'["“”„]([^"“”„]*)["“”„]?|([^\s"“”„]+)')
_MIN_STEM: Final = 4


@dataclass(frozen=True, slots=True)
class Term:
    """A word or a phrase to look for."""

    text: str
    phrase: bool = False
    begins: bool = False

    def written(self, *, loosely: bool) -> str:
        """Return the term for FTS5; loosely, a word also finds the longer ones that begin with it."""
        text = self.text.replace('"', " ")
        prefix = self.begins or (
            loosely and not self.phrase and len(text) >= _MIN_STEM and not _IS_UNBROKEN.search(text)
        )
        return f'"{text}"*' if prefix else f'"{text}"'


def parted(text: str) -> str:
    """Return a text as it is indexed: compatible letters made one, and words without blanks taken apart."""
    whole = text.encode("utf-8", "replace").decode()  # half characters cannot be stored
    return _PART.sub(_JOINT, _WORD.sub(lambda word: unicodedata.normalize("NFKC", word[0]), whole))


def joined(text: str) -> str:
    """Return a piece of indexed text as it is read."""
    return text.replace(_JOINT, "")


def terms_of(query: str) -> list[Term]:
    """Return what a query asks for: words, `"phrases in quotes"`, and `beginn*`.

    Raises:
        BadRequest: There is no word in it, or too many.
    """
    if len(query) > MAX_QUERY:
        raise BadRequest(f"A query is at most {MAX_QUERY} characters long; this one has {len(query)}")
    terms = []
    for match in _TERM.finditer(query.replace("\0", " ")):
        phrase, word = match.groups()
        text = phrase if word is None else word
        if any(character.isalnum() for character in text):
            begins = word is not None and word.endswith("*")
            terms.append(Term(parted(text.rstrip("*") if begins else text), phrase=word is None, begins=begins))
    if not terms:
        raise BadRequest("The query has no word to look for")
    if len(terms) > MAX_TERMS:
        raise BadRequest(f"A query is at most {MAX_TERMS} words and phrases; this one has {len(terms)}")
    return terms


def attempts(query: str) -> list[str]:
    """Return what to try until something is found: all words, all words or longer ones, any of the words.

    Phrases are asked for in each attempt.

    Raises:
        BadRequest: There is no word in the query, or too many.
    """
    terms = terms_of(query)
    exact = " AND ".join(term.written(loosely=False) for term in terms)
    loose = " AND ".join(term.written(loosely=True) for term in terms)
    phrases = [term.written(loosely=True) for term in terms if term.phrase]
    words = " OR ".join(term.written(loosely=True) for term in terms if not term.phrase)
    anything = " AND ".join(phrases + ([f"({words})"] if words else []))
    return list(dict.fromkeys([exact, loose, anything]))
