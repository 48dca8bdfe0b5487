"""The environments other implementations run in, each made once from its committed lock under `.cache/peers`.

`python -m tests.peers.environments` makes all of them.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "requirements" / "peers"
CACHE = ROOT / ".cache" / "peers"
# A registry that cannot be reached is known as such soon, not after the clients' own patience.
INSTALL_SECONDS = 600
TRIES = 2
"""A registry that answers badly once may do better; what it gave already is kept by its client."""

PATIENCE = 2 * INSTALL_SECONDS
"""Seconds for a test that needs an environment: whoever comes first makes it, the others wait."""


class UnavailableError(Exception):
    """An environment cannot be made on this machine; the message says why."""


@dataclass(frozen=True, slots=True)
class Environment:
    """One environment: the files that pin it, what fills its directory, and the program that runs in it."""

    name: str
    pins: tuple[str, ...]
    build: Callable[[Path], None]
    program: str

    def directory(self) -> Path:
        """Return where this environment lives; other pins or another interpreter live elsewhere."""
        digest = hashlib.sha256(f"{sys.implementation.cache_tag} {sys.platform}".encode())
        for pin in self.pins:
            digest.update((LOCKS / pin).read_bytes())
        return CACHE / f"{self.name}-{digest.hexdigest()[:16]}"


def _python(lock: str) -> Callable[[Path], None]:
    def build(directory: Path) -> None:
        _run([sys.executable, "-m", "venv", "--without-pip", str(directory)])
        python, locked = (
            str(directory / "bin" / "python"),
            ["--no-deps", "--require-hashes", "--requirement", str(LOCKS / lock)],
        )
        # uv shares its cache and links files, so that the thirteenth environment costs almost nothing.
        uv = [sys.executable, "-m", "uv", "--quiet", "pip", "install", "--python", python, *locked]
        try:
            _run(uv)
        except UnavailableError:  # pip may know a registry of which uv was not told
            pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-input", *locked]
            _run(pip, tries=TRIES)

    return build


def _node(directory: Path) -> None:
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise UnavailableError(f"{program} is not installed")
    directory.mkdir()
    for pin in ("package.json", "package-lock.json"):
        shutil.copy(LOCKS / pin, directory)
    _run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=directory, tries=TRIES)


def _run(command: list[str], *, cwd: Path | None = None, tries: int = 1) -> None:
    # The project's own interpreter settings must not leak into another's environment.
    variables = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    try:
        done = subprocess.run(
            command, cwd=cwd, env=variables, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"{' '.join(command)} took longer than {INSTALL_SECONDS} s") from error
    if done.returncode and tries > 1:
        _run(command, cwd=cwd, tries=tries - 1)
    elif done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
        raise UnavailableError(f"{' '.join(command)} failed: {last}")


RELEASES = tuple(
    f"a2c-smcp-{release}"
    for release in (
        *("0.1.2", "0.1.3", "0.1.5", "0.1.6", "0.2.1", "0.2.2"),
        *("0.3.0", "0.3.1", "0.3.2", "0.3.3", "0.4.0", "0.4.1", "0.4.2"),
    )
)
"""Every release of the published SDK, oldest first."""

ENVIRONMENTS = {
    environment.name: environment
    for environment in (
        *(
            Environment(name, (f"{name}.txt",), _python(f"{name}.txt"), "bin/python")
            for name in (*RELEASES, "documents", "mcp-1")
        ),
        Environment("socket.io-client", ("package.json", "package-lock.json"), _node, ""),
    )
}
_failures: dict[str, UnavailableError] = {}


def directory_of(name: str) -> Path:
    """Return the directory of the environment `name`, made on first use.

    Raises:
        UnavailableError: It cannot be made; asked again in this process, the same answer comes at once.
    """
    environment = ENVIRONMENTS[name]
    directory = environment.directory()
    if name in _failures:
        raise _failures[name]
    if not directory.exists():
        try:
            _make(environment, directory)
        except UnavailableError as error:
            _failures[name] = error
            raise
    return directory


def interpreter_of(name: str) -> Path:
    """Return the program that runs scripts in the environment `name`, which is made on first use."""
    directory = directory_of(name)
    if program := ENVIRONMENTS[name].program:
        return directory / program
    return Path(shutil.which("node") or "node")


def _make(environment: Environment, directory: Path) -> None:
    with _locked(CACHE / f"{environment.name}.lock"):
        if directory.exists():  # another worker made it while this one waited for the lock
            return
        unfinished = directory.with_name(f"{directory.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        environment.build(unfinished)
        unfinished.rename(directory)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)  # closing the file releases the lock, a crash included
        yield


def main() -> int:
    """Make every environment; the answer is how many could not be made."""
    failed = 0
    for name in ENVIRONMENTS:
        try:
            sys.stdout.write(f"{name}: {directory_of(name).relative_to(ROOT)}\n")
        except UnavailableError as error:
            failed += 1
            sys.stderr.write(f"{name}: {error}\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
