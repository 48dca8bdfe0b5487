"""`organize_finder` over 100 000 documents, against the barest loop that finds the same and against a full sort."""

import random
from collections.abc import Iterable

from a2c_smcp.computer.finder import FinderCatalogue, organize_finder
from a2c_smcp.computer.finder.catalogue import modified_at
from a2c_smcp.smcp import DPEDocumentSummary
from benchmarks.table import Row, best

DOCUMENTS = 100_000
SERVERS = 8
BASIS = f"{DOCUMENTS} generated documents of {SERVERS} servers; best round"
KEYWORDS = ["Quarterly", "营业收入"]
HISTORY = ["server-3", "server-5", "server-3"]


def run() -> list[Row]:
    documents = _documents()
    catalogue = FinderCatalogue.of(documents)
    lowered = [_text(document).lower() for document in documents]
    needles = [keyword.lower() for keyword in KEYWORDS]
    ranks = {name: rank for rank, name in enumerate(sorted(catalogue.servers))}
    keys = [(ranks[document["server"]], -modified_at(document)) for document in documents]

    def loop(texts: Iterable[str]) -> int:
        return sum(any(needle in text for needle in needles) for text in texts)

    found = loop(lowered)
    if organize_finder(documents, KEYWORDS)[1] != found or organize_finder(catalogue, KEYWORDS)[1] != found:
        raise RuntimeError("the loop and organize_finder must find the same documents")
    return [
        Row(
            "organize_finder, catalogue, 2 keywords / loop over lower-cased texts",
            best(lambda: organize_finder(catalogue, KEYWORDS, history=HISTORY), unit="ms"),
            best(lambda: loop(lowered), unit="ms"),
            limit=1.5,
            unit="ms",
            basis=BASIS,
        ),
        Row(
            "organize_finder, list, 2 keywords / loop that lower-cases as it goes",
            best(lambda: organize_finder(documents, KEYWORDS, history=HISTORY), unit="ms"),
            best(lambda: loop(_text(document).lower() for document in documents), unit="ms"),
            limit=1.5,
            unit="ms",
            basis=BASIS,
        ),
        Row(
            "organize_finder, catalogue, first page / full sort by ready keys",
            best(lambda: organize_finder(catalogue, history=HISTORY), number=100, unit="ms"),
            best(lambda: sorted(range(DOCUMENTS), key=keys.__getitem__), repeat=3, unit="ms"),
            limit=0.05,
            unit="ms",
            basis=BASIS,
        ),
    ]


def _text(document: DPEDocumentSummary) -> str:
    return document["title"] + " " + " ".join(document["keywords"]) + " " + document["summary"]


def _documents() -> list[DPEDocumentSummary]:
    """Titles of about 30 characters, 5 keywords, summaries of about 150; every fifth document is Chinese."""
    chance = random.Random(7)
    latin = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 10))) for _ in range(3_000)]
    chinese = ["".join(chance.choices("年度财务报告合同项目服务数据分析市场运营收入成本", k=2)) for _ in range(300)]
    return [
        _document(chance, number, latin, length=20) if number % 5 else _document(chance, number, chinese, length=50)
        for number in range(DOCUMENTS)
    ]


def _document(chance: random.Random, number: int, words: list[str], length: int) -> DPEDocumentSummary:
    day, second = divmod(chance.randrange(28 * 60), 60)
    summary = " ".join(chance.choices(words, k=length))
    if chance.random() < 0.03:
        summary += chance.choice([" quarterly", " 营业收入"])
    return {
        "doc_ref": f"doc-{number}",
        "uri": f"dpe://com.example.docs/doc-{number}",
        "file_uri": f"file:///documents/{number}.pdf",
        "file_type": chance.choice(["pdf", "xlsx", "pptx"]),
        "title": " ".join(chance.choices(words, k=length // 5)).title(),
        "page_count": chance.randint(1, 400),
        "keywords": chance.choices(words, k=5),
        "summary": summary,
        "server": f"server-{chance.randrange(SERVERS)}",
        "last_modified": f"2026-{chance.randint(1, 12):02}-{1 + day:02}T08:30:{second:02}Z",
    }
