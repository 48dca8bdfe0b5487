"""What a text costs a model in tokens, and how to cut it to a budget. Pure.

Every model family counts differently and its tokenizer may not be at hand, so there is an estimate that needs no
vocabulary; whoever has the tokenizer passes its counter instead (`count=lambda text: len(encoding.encode(text))`).
"""

import string
from collections.abc import Callable
from typing import Final, TypeAlias

TokenCounter: TypeAlias = Callable[[str], int]
"""Says how many tokens a text is."""

# In twelfths of a token. Words come to four letters a token; figures, signs and line ends are denser. Beyond ASCII it
# goes by bytes of UTF-8: a Chinese, Japanese or Korean character has three, which makes it one token.
_LETTER: Final = 3
_SIGN: Final = 6
_WIDE: Final = 4
_TOKEN: Final = 12

_LETTERS: Final = f"{string.ascii_letters} ".encode()
_ASCII: Final = bytes(range(128))

_FENCE: Final = "```"
_MARK: Final = "…"
# Where a text is best cut, and how much of it may be lost for that.
_BREAKS: Final = (("\n\n", 0.5), ("\n", 0.3), ("。", 0.3), (". ", 0.3), (" ", 0.2))


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text is, rather too many than too few.

    Four letters of a European language, two figures or signs, or one Chinese character make a token. The whole never
    costs more than its parts together, nor less than any one of them.
    """
    raw = text.encode("utf-8", "surrogatepass")
    wide = 0 if text.isascii() else len(raw.translate(None, _ASCII))
    signs = len(raw.translate(None, _LETTERS)) - wide
    letters = len(raw) - wide - signs
    return -(-(letters * _LETTER + signs * _SIGN + wide * _WIDE) // _TOKEN)


def cut(text: str, budget: int, count: TokenCounter = estimate_tokens) -> str:
    """Return the longest beginning of a text that costs at most `budget`, ending where a reader would pause.

    A text that was cut ends with an ellipsis, after the end of a code block that was cut through.
    """
    if count(text) <= budget:
        return text
    low, high = 0, len(text)
    while low < high:  # the longest that fits lies between them
        middle = (low + high + 1) // 2
        if count(_ended(text[:middle])) <= budget:
            low = middle
        else:
            high = middle - 1
    if low == 0:
        return ""
    tidy = _ended(_paused(text[:low]))
    return tidy if count(tidy) <= budget else _ended(text[:low])


def _paused(text: str) -> str:
    for pause, loss in _BREAKS:
        end = text.rfind(pause)
        if end > len(text) * (1 - loss):
            return text[: end + len(pause)]
    return text


def _ended(text: str) -> str:
    text = text.rstrip()
    open_block = sum(line.lstrip().startswith(_FENCE) for line in text.splitlines()) % 2
    if open_block:
        return f"{text}\n{_FENCE}\n{_MARK}"
    return f"{text}\n\n{_MARK}" if "\n" in text else f"{text}{_MARK}"
