"""What `a2c doctor` looks at. Each check returns findings; none of them changes anything or goes to the network."""

import asyncio
import importlib.metadata
import importlib.util
import re
import shutil
import socket
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from a2c_smcp import __version__
from a2c_smcp.common.extras import PACKAGE, install_hint
from a2c_smcp.common.state import state_folder
from a2c_smcp.documents.pdf.native import PURE, native
from a2c_smcp.documents.sandbox import OFF, Confinement
from a2c_smcp.errors import SMCPError

State: TypeAlias = Literal["ok", "missing", "problem", "absent"]
"""`absent` is no fault: something that only some uses need."""

PYTHON: Final = (3, 11)
ROLES: Final[Mapping[str, tuple[str, ...]]] = {
    "up": ("server", "computer", "agent", "docserver", "digest", "console", "cli"),
    "server": ("server",),
    "computer": ("computer", "cli"),
    "agent": ("agent", "cli"),
    "bridge": ("bridge",),
    "documents": ("documents",),
    "docserver": ("docserver",),
    "digest": ("digest",),
    "ocr": ("ocr",),
    "console": ("console",),
}
"""The extras that each use of a machine needs."""

_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?\s*\(?([^;)]*)\)?\s*(?:;(.*))?")
_EXTRA: Final = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
_PLATFORM: Final = re.compile(r"sys_platform\s*(==|!=)\s*['\"]([^'\"]+)['\"]")
_AT_LEAST: Final = re.compile(r">=\s*([0-9.]+)")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        needed: Whether what the machine is for depends on it.
        remedy: What to do, where it is not ok: a command if there is one.
    """

    name: str
    state: State
    said: str
    needed: bool = False
    remedy: str = ""


def examine(env: Mapping[str, str], roles: Iterable[str] = (), port: int | None = None) -> dict[str, Any]:
    """Return every finding as JSON, and whether all that the roles need is there."""
    wanted = tuple(roles) or ("up",)
    needed = frozenset(extra for role in wanted for extra in ROLES[role])
    findings = [
        *python(sys.version_info[:3]),
        *extras(needed, requirements(importlib.metadata.requires(PACKAGE) or ())),
        *search(needed),
        *extension(env, getattr(native, "__file__", None)),
        *sandbox(needed, env, _confinement),
        *keyring(),
        *programs(needed, env),
        *folders(needed, env),
        *ports(port),
        *clock(time.time()),
        *model(env),
    ]
    wrong = [finding.name for finding in findings if finding.needed and finding.state in ("missing", "problem")]
    return {
        "ok": not wrong,
        "version": __version__,
        "roles": list(wanted),
        "wrong": wrong,
        "findings": [asdict(finding) for finding in findings],
    }


def python(version: tuple[int, ...]) -> Iterator[Finding]:
    """The interpreter."""
    said = f"{'.'.join(map(str, version))} at {sys.executable}"
    if version[:2] >= PYTHON:
        yield Finding("Python", "ok", said, needed=True)
    else:
        yield Finding("Python", "problem", said, needed=True, remedy="install Python 3.11 or newer")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A library that an extra needs."""

    name: str
    extra: str
    at_least: str = ""
    includes: tuple[str, ...] = ()
    """Extras of this package itself, where it names itself."""


def requirements(lines: Iterable[str]) -> list[Requirement]:
    """Return what the metadata of this package say it needs here, on this platform."""
    found = []
    for line in lines:
        match = _REQUIREMENT.fullmatch(line)
        if match is None:
            continue
        name, inner, versions, marker = match[1], match[2] or "", match[3] or "", match[4] or ""
        if any((sys.platform == value) != (sign == "==") for sign, value in _PLATFORM.findall(marker)):
            continue
        extra = _EXTRA.search(marker)
        least = _AT_LEAST.search(versions)
        own = tuple(part.strip() for part in inner.split(",")) if name == PACKAGE else ()
        found.append(Requirement(name, extra[1] if extra else "", least[1] if least else "", own))
    return found


def extras(
    needed: frozenset[str],
    wanted: Iterable[Requirement],
    version_of: Callable[[str], str] = importlib.metadata.version,
) -> Iterator[Finding]:
    """The libraries of the core and of every extra."""
    by_extra: dict[str, list[Requirement]] = {"": []}
    for one in wanted:
        by_extra.setdefault(one.extra, []).append(one)
    by_extra.pop("all", None)
    for extra in by_extra:
        faults = sorted({fault for one in _closure(extra, by_extra) if (fault := _fault(one, version_of))})
        name = f"extra {extra}" if extra else "core"
        must = not extra or extra in needed
        if not faults:
            yield Finding(name, "ok", f"libraries: {len(list(_closure(extra, by_extra)))}", needed=must)
        else:
            state: State = "missing" if must else "absent"
            yield Finding(name, state, ", ".join(faults), needed=must, remedy=install_hint(extra))


def _closure(extra: str, by_extra: Mapping[str, list[Requirement]]) -> Iterator[Requirement]:
    for one in by_extra.get(extra, ()):
        if one.includes:
            for inner in one.includes:
                yield from _closure(inner, by_extra)
        else:
            yield one


def _fault(one: Requirement, version_of: Callable[[str], str]) -> str:
    try:
        version = version_of(one.name)
    except importlib.metadata.PackageNotFoundError:
        return one.name
    return f"{one.name} {version} (older than {one.at_least})" if _numbers(version) < _numbers(one.at_least) else ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])


def search(needed: frozenset[str]) -> Iterator[Finding]:
    """Whether SQLite can index texts."""
    must = bool(needed & {"documents", "docserver", "digest", "console"})
    try:
        with sqlite3.connect(":memory:") as database:
            database.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
        database.close()
    except sqlite3.Error:
        remedy = "use a Python whose SQLite has FTS5, such as that of python.org or uv"
        yield Finding("search", "problem", f"SQLite {sqlite3.sqlite_version} has no FTS5", must, remedy)
        return
    yield Finding("search", "ok", f"SQLite {sqlite3.sqlite_version} with FTS5", must)


def extension(env: Mapping[str, str], module: str | None) -> Iterator[Finding]:
    """Whether PDF is read with the help of the C extension."""
    if module:
        yield Finding("C extension", "ok", f"{module}: PDF is read faster")
        return
    built = "install the package again where there are a C compiler and the headers of Python"
    yield Finding(
        "C extension", "absent", "PDF is read in Python alone", remedy=f"unset {PURE}" if env.get(PURE) else built
    )


def _confinement() -> Confinement:
    from a2c_smcp.documents.workers import confinement  # noqa: PLC0415 - only where documents are read

    return asyncio.run(confinement())


def sandbox(needed: frozenset[str], env: Mapping[str, str], ask: Callable[[], Confinement]) -> Iterator[Finding]:
    """What confines the processes that parse files, as one of them says."""
    must = bool(needed & {"documents", "docserver", "digest", "console"})
    if not must:
        return
    try:
        found = ask()
    except ModuleNotFoundError:  # told with the extra
        return
    except (SMCPError, OSError) as error:
        why = error.message if isinstance(error, SMCPError) else str(error)
        yield Finding("workers", "problem", why, needed=True, remedy="see whether this user may start processes")
        return
    parts = {
        "no_new_privs": found.no_new_privs,
        f"Landlock (version {found.landlock})" if found.landlock else "Landlock": bool(found.landlock),
        "seccomp": found.seccomp,
    }
    active = ", ".join(name for name, is_active in parts.items() if is_active)
    missing = ", ".join(name for name, is_active in parts.items() if not is_active)
    if not missing:
        yield Finding("workers", "ok", f"parsers are confined by {active}")
        return
    remedy = "use Linux 5.13 or newer with Landlock, on x86_64 or aarch64"
    said = f"parsers have limits on memory and time; active: {active or 'nothing more'}; not active: {missing}"
    yield Finding("workers", "absent", said, remedy=f"unset {OFF}" if env.get(OFF) == "off" else remedy)


def keyring() -> Iterator[Finding]:
    """Whether secrets of inputs can be kept by the system."""
    if importlib.util.find_spec("keyring") is None:
        return  # told with the extra
    import keyring as library  # noqa: PLC0415 - only where it is installed

    backend = library.get_keyring()
    if getattr(backend, "priority", 0) > 0:
        yield Finding("keyring", "ok", f"{backend.name}")
    else:
        remedy = "start a secret service, or give inputs by environment or --input-file"
        yield Finding("keyring", "absent", "the system offers no place for secrets", remedy=remedy)


def programs(needed: frozenset[str], env: Mapping[str, str]) -> Iterator[Finding]:
    """Programs that some uses need."""
    if "computer" in needed:
        yield _program("node", ("npx",), "MCP servers that are started with npx", "apt-get install nodejs npm")
        yield _program("uv", ("uvx",), "MCP servers that are started with uvx", "pip install uv")
    if "server" in needed or env.get("A2C_SERVER_REDIS"):
        use = "only where several servers form one"
        yield _program("redis", ("redis-server", "valkey-server"), use, "apt-get install redis-server")
    if (Path(__file__).parents[2] / "tests" / "browser").is_dir():
        yield _program("chromium", ("chromium",), "the tests of the console", "apt-get install chromium")


def _program(name: str, commands: tuple[str, ...], use: str, remedy: str) -> Finding:
    found = next((path for command in commands if (path := shutil.which(command))), None)
    return Finding(name, "ok", f"{found}: {use}") if found else Finding(name, "absent", use, remedy=remedy)


def folders(needed: frozenset[str], env: Mapping[str, str]) -> Iterator[Finding]:
    """Whether the folders that are written to can be."""
    from a2c_smcp.documents.database import cache_folder  # noqa: PLC0415 - the room of one check

    for name, folder, variable in (
        ("cache folder", cache_folder(), "XDG_CACHE_HOME"),
        ("state folder", state_folder(env), "XDG_STATE_HOME"),
    ):
        must = bool(needed & {"documents", "docserver", "digest", "console"})
        problem = _unwritable(folder)
        if problem:
            remedy = f"let this user write there, or set {variable} to another folder"
            yield Finding(name, "problem", f"{folder}: {problem}", must, remedy)
        else:
            yield Finding(name, "ok", str(folder), must)


def _unwritable(folder: Path) -> str:
    """Return why a file cannot be made in a folder, or in the nearest one above it that exists."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    try:
        with tempfile.TemporaryFile(dir=there):
            return ""
    except OSError as error:
        return error.strerror or type(error).__name__


def ports(port: int | None) -> Iterator[Finding]:
    """Whether this machine lets a server listen, and on the port that was named."""
    try:
        with socket.create_server(("127.0.0.1", port or 0)) as server:
            said = f"{server.getsockname()[1]} of 127.0.0.1 is free"
        yield Finding("port", "ok", said, needed=True)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or "there is no such port"
        yield Finding(
            "port", "problem", f"{port} of 127.0.0.1: {why}", True, "choose another with --port, or 0 for any"
        )


def clock(now: float) -> Iterator[Finding]:
    """Whether the clock can be right: tokens and certificates are checked by it."""
    made = Path(__file__).stat().st_mtime
    shown = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
    if now + 24 * 3600 < made:
        said = f"{shown} is before this package was installed"
        yield Finding("clock", "problem", said, True, "set the clock: timedatectl set-ntp true")
    else:
        yield Finding("clock", "ok", shown, needed=True)


def model(env: Mapping[str, str]) -> Iterator[Finding]:
    """Whether a language model is named."""
    if env.get("A2C_LLM_BASE_URL"):
        yield Finding("model", "ok", f"{env.get('A2C_LLM_MODEL') or 'the default'} writes digests")
    else:
        remedy = "set A2C_LLM_BASE_URL, A2C_LLM_API_KEY and A2C_LLM_MODEL"
        yield Finding("model", "absent", "digests are made without a language model", remedy=remedy)
