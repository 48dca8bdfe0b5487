"""Which files and folders are left out, in the language of `.gitignore`.

Asked in this order, the first that has an opinion decides: the patterns that were given, then the `.a2cignore` and the
`.gitignore` of the file's own folder, of the folder above and so on up to the root. What is in a folder that is left
out is never asked for.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from a2c_smcp.documents.descriptors import open_in
from a2c_smcp.documents.formats.base import require
from a2c_smcp.errors import BadRequest

IGNORE_FILES: Final = (".a2cignore", ".gitignore")
FOLDERS: Final = frozenset(
    {"node_modules", "bower_components", "__pycache__", "__MACOSX", "site-packages", "venv", "$RECYCLE.BIN"}
    | {"System Volume Information", "lost+found"}
)
"""Folders of things that nobody wrote to be read. Hidden ones (`.git`, `.venv`) are left out in any case."""

_OFFICE_LOCK: Final = "~$"
_MAX_IGNORE_FILE: Final = 256 << 10
_MAX_STARS: Final = 10
"""A pattern of many stars can take for ever to try; nobody needs it, but a hostile folder may bring it along."""


@dataclass(frozen=True, slots=True)
class ExcludeRules:
    """The patterns of one place; `prefix` is its path below the root, with a slash at the end, or empty."""

    prefix: str
    spec: Any


@dataclass(frozen=True, slots=True)
class Excludes:
    """What to leave out of one folder and, by `below`, of the folders in it."""

    given: tuple[ExcludeRules, ...] = ()
    found: tuple[ExcludeRules, ...] = ()
    prefix: str = ""

    @classmethod
    def of(cls, patterns: Sequence[str] = ()) -> "Excludes":
        """Return what these patterns leave out below a root.

        Raises:
            BadRequest: One of them is no pattern.
        """
        for pattern in patterns:
            if not _is_sound(pattern):
                raise BadRequest(f"{pattern!r} cannot be used to leave out files: write it as in a .gitignore")
        return cls((ExcludeRules("", _compile(patterns)),) if patterns else ())

    def reading(self, entries: "Iterable[os.DirEntry[str]]", folder: int | str) -> "Excludes":
        """Return the rules together with the ignore files among the entries of a folder, open or by its path."""
        files = {entry.name for entry in entries if entry.name in IGNORE_FILES and is_file(entry)}
        own = tuple(ExcludeRules(self.prefix, _load(folder, name)) for name in IGNORE_FILES if name in files)
        return replace(self, found=(*own, *self.found)) if own else self

    def below(self, name: str) -> "Excludes":
        """Return the rules of a folder in this one."""
        return replace(self, prefix=f"{self.prefix}{name}/")

    def hides(self, name: str, *, folder: bool) -> bool:
        """Whether an entry of this folder is left out."""
        if name.startswith((".", _OFFICE_LOCK)) or (folder and name in FOLDERS):
            return True
        if not self.given and not self.found:
            return False
        path = f"{self.prefix}{name}/" if folder else f"{self.prefix}{name}"
        for rules in (*self.given, *self.found):
            verdict = rules.spec.check_file(path[len(rules.prefix) :]).include
            if verdict is not None:
                return bool(verdict)
        return False


def is_file(entry: "os.DirEntry[str]") -> bool:
    """Whether an entry is a file itself; a link to one is not."""
    try:
        return entry.is_file(follow_symlinks=False)
    except OSError:
        return False


def _load(folder: int | str, name: str) -> Any:
    try:
        place = open_in(folder, name) if isinstance(folder, int) else Path(folder, name)
        with open(place, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - a descriptor, mostly
            lines = file.read(_MAX_IGNORE_FILE).splitlines()
    except OSError:
        lines = []
    return _compile([line for line in lines if _is_sound(line)])


def _is_sound(pattern: str) -> bool:
    try:
        _compile([pattern])
    except ValueError:
        return False
    return pattern.count("*") <= _MAX_STARS


def _compile(patterns: Sequence[str]) -> Any:
    return require("pathspec", "documents").GitIgnoreSpec.from_lines(patterns)
