"""Tool definitions: fingerprints, and the difference of two definitions. Pure."""

import difflib
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from a2c_smcp.computer.config.models import BaseMCPServerConfig
from a2c_smcp.computer.ports import Json

FIELDS: Final = ("title", "description", "inputSchema", "outputSchema", "annotations")
"""The fields of a definition besides the name: everything that a person or a model sees."""

MAX_KEPT: Final = 256 << 10
"""The longest definition that is saved, in characters of JSON; of longer ones only the fingerprint is saved."""

MAX_COMPARED: Final = 2_000
MAX_LINES: Final = 400

_canonical: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def fingerprint(*parts: Any) -> str:
    """Return a hash of the JSON of `parts`, independent of the order of keys."""
    return hashlib.sha256(_canonical(parts).encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class Definition:
    """The definition of a tool. Definitions with the same fingerprint are equal."""

    tool: Json = field(default_factory=dict)

    @cached_property
    def fields(self) -> Json:
        """The fields that the fingerprint covers."""
        return {name: self.tool[name] for name in FIELDS if self.tool.get(name) is not None}

    @cached_property
    def _text(self) -> str:
        return _canonical([self.tool.get("name"), self.fields])

    @cached_property
    def digest(self) -> str:
        """The fingerprint of name and definition."""
        return hashlib.sha256(self._text.encode()).hexdigest()

    @cached_property
    def repeatable(self) -> bool:
        """Whether the server declares the tool as read-only or idempotent."""
        hints = self.tool.get("annotations") or {}
        return hints.get("readOnlyHint") is True or hints.get("idempotentHint") is True

    def to_saved(self) -> Json:
        """Return the form that is saved: the fingerprint, and the fields unless they are too long."""
        return {"digest": self.digest, "fields": self.fields if len(self._text) <= MAX_KEPT else None}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Definition) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def runs_as(config: BaseMCPServerConfig) -> str:
    """Return a fingerprint of the program or URL of a server; its variables and headers may change."""
    parameters: Any = getattr(config, "server_parameters", None)
    where = [getattr(parameters, name, None) for name in ("command", "args", "cwd", "url")]
    return fingerprint(config.name, getattr(config, "type", None), where)


def changed_fields(before: Json | None, now: Definition) -> list[str]:
    """Return the names of the fields that differ."""
    if before is None:
        return ["definition"]
    return [name for name in FIELDS if before.get(name) != now.fields.get(name)]


def change_lines(before: Json | None, now: Definition) -> list[str]:
    """Return the difference as lines: the field, then removed lines after `-` and added lines after `+`."""
    if before is None:
        return ["the definition changed; the earlier one was too long to keep"]
    lines = [
        line for name in changed_fields(before, now) for line in _field(name, before.get(name), now.fields.get(name))
    ]
    more = len(lines) - MAX_LINES
    return lines if more <= 0 else [*lines[:MAX_LINES], f"… and {more} more lines"]


def _field(name: str, before: Any, after: Any) -> Iterator[str]:
    yield f"{name}:"
    old, new = _lines(before), _lines(after)
    if max(len(old), len(new)) > MAX_COMPARED:
        # The time of the comparison is quadratic in the length.
        yield from (f"- {line}" for line in old[: MAX_LINES // 4])
        yield from (f"+ {line}" for line in new[: MAX_LINES // 4])
        yield f"… {len(old)} lines before, {len(new)} lines now"
        return
    for line in list(difflib.unified_diff(old, new, lineterm="", n=1))[2:]:
        if not line.startswith("@@"):
            yield f"{line[:1]} {line[1:]}"


def _lines(value: Any) -> list[str]:
    if value is None:
        return []
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
    return text.split("\n")
