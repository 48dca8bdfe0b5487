"""Hides the values a server was configured with from every text that is shown or sent. Pure.

The values are what `${input:id}` was replaced by, and the literals that are probably secrets.
"""

import re
from collections.abc import Iterator
from typing import Final, Self

from a2c_smcp.common import masking
from a2c_smcp.computer.mcp_clients.guesses import guessed_secrets
from a2c_smcp.computer.mcp_clients.model import MCPServerConfig, strings_of
from a2c_smcp.computer.mcp_clients.placeholders import PLACEHOLDER
from a2c_smcp.redaction import REDACTED

_HIDDEN: Final = re.compile(f"{PLACEHOLDER.pattern}|{re.escape(REDACTED)}".replace("(?P<name>", "(?:"))


class Mask(masking.SecretMask):
    """The values that one server was configured with."""

    @classmethod
    def between(cls, configured: MCPServerConfig, resolved: MCPServerConfig) -> Self:
        """Return the mask for what resolving a configuration put in, and for its literal secrets."""
        shown = dict(strings_of(guessed_secrets(configured)))
        texts = strings_of(resolved.server_parameters.model_dump(mode="json"))
        return cls(value for place, text in texts for value in _hidden(shown.get(place, ""), text))


def _hidden(shown: str, text: str) -> Iterator[str]:
    if shown == text:
        return
    match = re.fullmatch("(.*?)".join(re.escape(part) for part in _HIDDEN.split(shown)), text, re.DOTALL)
    # Where the parts do not add up, the whole is hidden rather than guessed at.
    yield from match.groups() if match else [text]
