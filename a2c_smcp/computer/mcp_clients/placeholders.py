"""Placeholders: the `${…}` parts of a text that stand for a value found later. Pure.

    ${input:id}   an input of the configuration      ${env:NAME}, ${NAME}, ${NAME:-default}   the environment
    ${workspaceFolder}, ${userHome}, …   what editors predefine

Nothing here resolves them: a configuration carries them as they are.
"""

import re
from typing import Final

PLACEHOLDER: Final = re.compile(r"\$\{(?P<name>[^{}]*)\}")
_INPUT: Final = re.compile(r"\$\{input:(?P<id>[^{}]*)\}")


def has_placeholder(text: str) -> bool:
    """Whether any part of a text stands for a value found later."""
    return PLACEHOLDER.search(text) is not None


def input_ids(text: str) -> list[str]:
    """Return the ids of the `${input:id}` in a text, in order, with repetitions."""
    return _INPUT.findall(text)
