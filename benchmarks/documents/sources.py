"""Gets the documents that the truth of tables names out of Debian packages.

`python -m benchmarks.documents.sources FOLDER`, then `A2C_CORPUS=FOLDER python -m benchmarks documents`.

They are too large, or not free enough, to lie in the repository. A package of another version may hold another file,
whose pages the truth does not know: it is left out, and said.
"""

import csv
import gzip
import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LIST = Path(__file__).with_name("truth") / "tables" / "sources.tsv"
SECONDS = 300


class Source(NamedTuple):
    """A document: its name here, the package that holds it, its path in there, and its digest once unpacked."""

    file: str
    package: str
    path: str
    sha256: str


def sources() -> list[Source]:
    with LIST.open(encoding="utf-8", newline="") as lines:
        return [Source(**row) for row in csv.DictReader(lines, delimiter="\t")]


def fetch(folder: Path) -> Iterator[str]:
    """Put the documents into a folder; yields what could not be had, and why."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [source for source in sources() if not (folder / source.file).is_file()]
    for package in sorted({source.package for source in missing}):
        with tempfile.TemporaryDirectory() as room:
            try:
                _unpack(package, Path(room))
            except (subprocess.SubprocessError, OSError) as error:
                yield f"{package}: {type(error).__name__}"
                continue
            for source in missing:
                if source.package == package and (problem := _take(Path(room), source, folder)):
                    yield f"{source.file}: {problem}"


def _unpack(package: str, room: Path) -> None:
    def run(*command: str) -> None:
        subprocess.run(command, cwd=room, check=True, timeout=SECONDS, capture_output=True)

    run("apt-get", "download", package)
    for archive in room.glob("*.deb"):
        run("dpkg-deb", "-x", str(archive), str(room))


def _take(room: Path, source: Source, folder: Path) -> str:
    """Copy a document into the folder; returns what is wrong with it."""
    path = room / source.path
    if not path.is_file():
        return f"not in {source.package}"
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    if hashlib.sha256(data).hexdigest() != source.sha256:
        return f"{source.package} has another version of it"
    (folder / source.file).write_bytes(data)
    return ""


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m benchmarks.documents.sources FOLDER", file=sys.stderr)
        return 2
    problems = list(fetch(Path(arguments[0])))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
