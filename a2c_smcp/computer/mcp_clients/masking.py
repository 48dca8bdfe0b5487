"""Hides the values a server was configured with from every text that is shown or sent. Pure.

Patterns (`a2c_smcp.redaction`) cannot know a secret that looks like a word. Here the values themselves are known: what
`${input:id}` was replaced by, and the literals that `public_config` would not show.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, Self

from a2c_smcp.computer.mcp_clients.model import ComputerConfig, MCPServerConfig, strings_of
from a2c_smcp.computer.mcp_clients.placeholders import PLACEHOLDER
from a2c_smcp.computer.mcp_clients.public import public_config
from a2c_smcp.computer.spellings import MIN_LENGTH, spellings
from a2c_smcp.redaction import REDACTED

_HIDDEN: Final = re.compile(f"{PLACEHOLDER.pattern}|{re.escape(REDACTED)}".replace("(?P<name>", "(?:"))


class Mask:
    """The values to hide."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        found = {form for value in values if len(value) >= MIN_LENGTH for form in spellings(value)}
        # The longest first, so that a value that contains another is hidden whole.
        parts = [re.escape(value) for value in sorted(found, key=len, reverse=True)]
        self._pattern = re.compile("|".join(parts)) if parts else None

    @classmethod
    def between(cls, configured: MCPServerConfig, resolved: MCPServerConfig) -> Self:
        """Return the mask for what resolving a configuration put in, and for its literal secrets."""
        public = public_config(ComputerConfig(servers={configured.name: configured}))["servers"][configured.name]
        shown = dict(strings_of(public["server_parameters"]))
        texts = strings_of(resolved.server_parameters.model_dump(mode="json"))
        return cls(value for place, text in texts for value in _hidden(shown.get(place, ""), text))

    def hide(self, text: str) -> str:
        """Return `text` with every value to hide replaced."""
        return text if self._pattern is None else self._pattern.sub(REDACTED, text)

    def hide_in(self, value: Any) -> Any:
        """Return a JSON value with every value to hide replaced in its texts and keys."""
        match value:
            case str():
                return self.hide(value)
            case list():
                return [self.hide_in(item) for item in value]
            case dict():
                return {self.hide(key): self.hide_in(item) for key, item in value.items()}
            case _:
                return value


def _hidden(shown: str, text: str) -> Iterator[str]:
    if shown == text:
        return
    match = re.fullmatch("(.*?)".join(re.escape(part) for part in _HIDDEN.split(shown)), text, re.DOTALL)
    # Where the parts do not add up, the whole is hidden rather than guessed at.
    yield from match.groups() if match else [text]
