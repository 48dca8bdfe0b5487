"""Run `pip install` and say how far it is: how many packages of how many, in a line each few seconds.

python tools/install.py --no-deps --require-hashes -r requirements/constraints.txt

What pip prints is shown only where it fails. It names the index that packages come from, which is nobody's business.
"""

import itertools
import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TextIO

EVERY: Final = 10.0
"""Seconds between two lines."""
KEPT: Final = 40
"""Lines of pip that are shown where it fails."""

_STEP = re.compile(r"(?:Collecting|Requirement already satisfied:|Ignoring) (?P<name>[A-Za-z0-9][\w.-]*)")
_LISTED = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[[\w,-]+\])?\s*==", re.MULTILINE)
_URL = re.compile(r"https?://\S+")


class Progress:
    """Counts packages and says how far it is, now and then.

    Args:
        total: How many packages there are; 0 where nobody knows.
    """

    def __init__(self, total: int, out: TextIO, clock: object = time.monotonic) -> None:
        self._total, self._out = total, out
        self._clock = clock if callable(clock) else time.monotonic
        self._began = self._told = self._clock()
        self._names: set[str] = set()
        self._phase = ""

    def heard(self, line: str) -> None:
        """Take a line of pip."""
        if step := _STEP.match(line):
            self._names.add(_normal(step["name"]))
        elif line.startswith("Installing collected packages: "):
            self._phase = f"unpacking {line.count(',') + 1} packages"
            if self._total:
                self.tell()

    def tick(self) -> None:
        """Say how far it is, if that was not said for a while."""
        if self._clock() - self._told >= EVERY:
            self.tell()

    def tell(self) -> None:
        """Say how far it is."""
        self._told = self._clock()
        known = f" of {self._total}" if self._total else ""
        phase = self._phase or f"fetching {len(self._names)}{known} packages"
        print(f"  {phase}, {self._told - self._began:.0f} s", file=self._out, flush=True)

    def done(self) -> None:
        """Say that it is over."""
        print(f"  installed, {self._clock() - self._began:.0f} s", file=self._out, flush=True)


def listed(arguments: Iterable[str]) -> int:
    """Return how many packages the requirement files among the arguments of pip name."""
    words = list(arguments)
    files = [Path(word) for flag, word in itertools.pairwise(words) if flag in ("-r", "--requirement")]
    texts = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
    return len({_normal(name) for text in texts for name in _LISTED.findall(text)})


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def install(command: list[str], total: int, out: TextIO) -> int:
    """Run a command that installs, and return its exit code."""
    progress, last = Progress(total, out), deque[str](maxlen=KEPT)
    over = threading.Event()

    def tick() -> None:
        while not over.wait(1.0):
            progress.tick()

    ticking = threading.Thread(target=tick, daemon=True)
    ticking.start()
    try:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as process:
            for line in process.stdout or ():
                last.append(_URL.sub("…", line))
                progress.heard(line)
            code = process.wait()
    finally:
        over.set()
        ticking.join()
    if code:
        out.writelines(last)
        print(f"pip install failed with exit code {code}", file=out)
    else:
        progress.done()
    return code


def main(arguments: list[str]) -> int:
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    return install([*pip, *arguments], listed(arguments), sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
