"""What is found on hand-checked pages: by our reader in the whole file, by the others in a file of that page alone."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pypdfium2

from a2c_smcp.documents.formats.pdf import FORMAT
from benchmarks.documents.outcome import Outcome, TruePage, of_elements, of_markdown, read_truth
from benchmarks.documents.scores import adjacency, begins, f1, in_order, matches
from benchmarks.table import LeftOut, Measured, Row
from tests.peers.environments import ENVIRONMENTS, Environment, UnavailableError, _python, interpreter_of

PEERS = ("markitdown", "kreuzberg", "liteparse")
SCRIPT = Path(__file__).with_name("peer_readers.py")
DATA = Path(__file__).parents[2] / "tests" / "data" / "documents"
SECONDS = 300
ENVIRONMENTS.setdefault(
    "documents", Environment("documents", ("documents.txt",), _python("documents.txt"), "bin/python")
)


@dataclass(slots=True)
class Tally:
    """Right, found and true things, summed over pages."""

    right: int = 0
    found: int = 0
    true: int = 0

    def add(self, right: int, found: int, true: int) -> None:
        self.right, self.found, self.true = self.right + right, self.found + found, self.true + true

    @property
    def recall(self) -> float:
        return self.right / self.true if self.true else 1.0

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0


@dataclass(slots=True)
class Result:
    """The scores of one reader."""

    outlined: Tally = field(default_factory=Tally)
    bare: Tally = field(default_factory=Tally)
    tables: list[float] = field(default_factory=list)
    false_tables: int = 0
    items: Tally = field(default_factory=Tally)
    order: Tally = field(default_factory=Tally)
    notes: Tally = field(default_factory=Tally)

    @property
    def table_mean(self) -> float:
        return sum(self.tables) / len(self.tables) if self.tables else 0.0

    @property
    def heading_precision(self) -> float:
        found = self.outlined.found + self.bare.found
        return (self.outlined.right + self.bare.right) / found if found else 0.0


def run(corpus: Path, truth: Path) -> list[Measured]:
    pages = read_truth(truth)
    if missing := _missing(corpus, pages):
        return [LeftOut("PDF headings, tables, lists, reading order and footnotes", len(_files(pages)), missing)]
    results = {"a2c-smcp": _ours(corpus, pages), **_peers(corpus, pages)}
    _print(results, len(pages), len({page.file for page in pages}))
    ours = results["a2c-smcp"]
    return [
        _row(name, value, limit, basis(pages, count, things))
        for name, value, limit, count, things in (
            ("headings, recall, files with an outline", ours.outlined.recall, 0.95, ours.outlined.true, "headings"),
            ("headings, recall, files without", ours.bare.recall, 0.85, ours.bare.true, "headings"),
            ("headings, precision", ours.heading_precision, 0.75, ours.outlined.found + ours.bare.found, "headings"),
            ("tables, mean F1 of cell adjacency", ours.table_mean, 0.85, len(ours.tables), "tables"),
            ("list items, recall", ours.items.recall, 0.85, ours.items.true, "items"),
            ("paragraphs in reading order", ours.order.recall, 0.95, ours.order.true, "pairs"),
            ("footnotes, recall", ours.notes.recall, 0.85, ours.notes.true, "footnotes"),
        )
    ]


def run_tables(corpus: Path, truth: Path) -> list[Measured]:
    """Return how well tables are read on pages whose tables alone are known, in files used while developing and others.

    A file is one or the other by the digest of its name; what the others hold was written down from pictures of their
    pages, and the reader was never changed for them.
    """
    rows: list[Measured] = []
    for folder, name in (("tuned", "other files"), ("unseen", "files not used while developing")):
        pages, title = read_truth(truth / folder), f"tables, {name}, mean F1 of cell adjacency"
        if missing := _missing(corpus, pages):
            rows.append(LeftOut(f"PDF {title}", len(_files(pages)), missing))
            continue
        results = {"a2c-smcp": _ours(corpus, pages), **_peers(corpus, pages)}
        _print_tables(results, pages, name)
        ours = results["a2c-smcp"]
        rows.append(_row(title, ours.table_mean, 0.85, basis(pages, len(ours.tables), "tables")))
    return rows


def _files(pages: Sequence[TruePage]) -> list[str]:
    return sorted({page.file for page in pages})


def _missing(corpus: Path, pages: Sequence[TruePage]) -> list[str]:
    """Return the documents of these pages that are not there."""
    return sorted({page.file for page in pages if not _path(corpus, page).is_file()})


def basis(pages: Sequence[TruePage], count: int, things: str) -> str:
    """Return what a row of these pages is measured on."""
    files = _files(pages)
    return f"{count} {things} on {len(pages)} pages of {len(files)} files: {', '.join(files)}"


def _path(corpus: Path, page: TruePage) -> Path:
    """Return where a document is: in the folder of more of them, or in the repository."""
    path = corpus / page.file
    return path if path.is_file() else DATA / page.file


def _row(name: str, value: float, limit: float, measured_on: str) -> Row:
    return Row(f"PDF {name}", value, 1.0, limit, unit="", at_least=True, basis=measured_on)


def _ours(corpus: Path, pages: Sequence[TruePage]) -> Result:
    result = Result()
    for page in pages:
        path = _path(corpus, page)
        document = FORMAT.open(path)
        score(result, page, of_elements(document.page(page.index).elements), outlined=_is_outlined(path))
    return result


def _is_outlined(path: Path) -> bool:
    document = pypdfium2.PdfDocument(path)
    try:
        return next(iter(document.get_toc()), None) is not None
    finally:
        document.close()


def _peers(corpus: Path, pages: Sequence[TruePage]) -> dict[str, Result]:
    try:
        interpreter = interpreter_of("documents")
    except UnavailableError as error:
        print(f"quality: the other readers are skipped: {error}", file=sys.stderr)
        return {}
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        single = {
            (page.file, page.index): _single(_path(corpus, page), page.index, Path(folder, f"{number}.pdf"))
            for number, page in enumerate(pages)
        }
        for name in PEERS:
            read = _read(interpreter, name, [str(path) for path in single.values()])
            result = results[name] = Result()
            for page in pages:
                outcome = of_markdown(read.get(str(single[page.file, page.index]), ""))
                # They do not tell footnotes from text: that the text is there counts.
                outcome.notes = outcome.text.splitlines()
                score(result, page, outcome, outlined=_is_outlined(_path(corpus, page)))
    return results


def _single(path: Path, index: int, target: Path) -> Path:
    source, copy = pypdfium2.PdfDocument(path), pypdfium2.PdfDocument.new()
    copy.import_pages(source, [index])
    copy.save(target)
    copy.close()
    source.close()
    return target


def _read(interpreter: Path, name: str, paths: Sequence[str]) -> Mapping[str, str]:
    try:
        done = subprocess.run(
            [str(interpreter), str(SCRIPT), name],
            input=json.dumps(paths),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
    except (subprocess.SubprocessError, OSError) as error:
        print(f"quality: {name} failed: {type(error).__name__}", file=sys.stderr)
        return {}
    read: Mapping[str, str] = json.loads(done.stdout)
    return read


def score(result: Result, page: TruePage, outcome: Outcome, *, outlined: bool) -> None:
    """Add what a reader found on a page to its result."""
    truth = page.outcome
    headings = result.outlined if outlined else result.bare
    headings.add(matches(outcome.headings, truth.headings), len(outcome.headings), len(truth.headings))
    if truth.tables:
        result.tables.append(f1(adjacency(outcome.tables), adjacency(truth.tables)))
    else:
        result.false_tables += len(outcome.tables)
    items = begins([text for _, text in outcome.items], [text for _, text in truth.items])
    result.items.add(items, len(outcome.items), len(truth.items))
    right, pairs = in_order(outcome.text, truth.texts)
    result.order.add(right, pairs, pairs)
    result.notes.add(begins(outcome.notes, truth.notes), len(outcome.notes), len(truth.notes))


def _print(results: Mapping[str, Result], pages: int, files: int) -> None:
    print(f"\nPDF quality on {pages} hand-checked pages of {files} files\n", file=sys.stderr)
    print(
        "| reader | headings R, outline | R, none | P | tables F1 | false tables | list items | order | notes |",
        file=sys.stderr,
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |", file=sys.stderr)
    for name, result in results.items():
        print(
            f"| {name} | {result.outlined.recall:.2f} | {result.bare.recall:.2f} | {result.heading_precision:.2f} "
            f"| {result.table_mean:.2f} | {result.false_tables} | {result.items.recall:.2f} "
            f"| {result.order.recall:.2f} | {result.notes.recall:.2f} |",
            file=sys.stderr,
        )
    print(file=sys.stderr)


def _print_tables(results: Mapping[str, Result], pages: Sequence[TruePage], name: str) -> None:
    count = sum(len(page.outcome.tables) for page in pages)
    print(f"\n{count} tables on {len(pages)} pages of {len({page.file for page in pages})} {name}\n", file=sys.stderr)
    print("| reader | tables F1 | false tables |", file=sys.stderr)
    print("| --- | ---: | ---: |", file=sys.stderr)
    for reader, result in results.items():
        print(f"| {reader} | {result.table_mean:.2f} | {result.false_tables} |", file=sys.stderr)
    print(file=sys.stderr)
