"""`parse_dpe_uri` against `urllib.parse.urlsplit` on the same strings, with and without the help of their caches."""

from collections.abc import Callable
from urllib.parse import quote, urlsplit

from a2c_smcp.uris import parse_dpe_uri, parse_window_uri
from benchmarks.table import Row, best

# More than any of the caches holds, so that going through them in turn finds nothing in a cache.
DISTINCT = 4_000
AGAIN = 10_000
EACH = f"{DISTINCT} different URIs; best round"

SHAPES = {
    "catalogue": "dpe://com.example.docs-{}",
    "document": "dpe://com.example.docs/rpt-{}?depth=pages&offset=0&limit=10",
    "page": "dpe://com.example.docs/rpt-{}/pages/0?categories=table,pivot_table&format=markdown",
    "element": "dpe://com.example.docs/rpt-{}/elements/tbl-001?format=json",
    "Chinese doc-ref, encoded": f"dpe://com.example.docs/{quote('年度报告')}-{{}}/pages/3",
    "Chinese doc-ref, raw": "dpe://com.example.docs/年度报告-{}/pages/3",
    "unusual characters": "dpe://server:80/rpt({})/elements/a!?format=json&x=a/b",
}
WINDOW = "window://com.example.browser/main/tab-{}?priority=80&fullscreen=true"


def run() -> list[Row]:
    again = SHAPES["page"].format(0)
    return [
        Row(
            "parse_dpe_uri, same page again / urlsplit",
            *_both(parse_dpe_uri, [again] * AGAIN),
            limit=3,
            basis=f"one URI {AGAIN} times",
        ),
        *(
            Row(
                f"parse_dpe_uri, distinct, {name} / urlsplit",
                *_both(parse_dpe_uri, _distinct(shape)),
                limit=3,
                basis=EACH,
            )
            for name, shape in SHAPES.items()
        ),
        Row("parse_window_uri, distinct / urlsplit", *_both(parse_window_uri, _distinct(WINDOW)), limit=3, basis=EACH),
    ]


def _distinct(shape: str) -> list[str]:
    return [shape.format(number) for number in range(DISTINCT)]


def _both(parse: Callable[[str], object], uris: list[str]) -> tuple[float, float]:
    """Return what one URI costs us and what it costs `urlsplit`."""
    return _cost(parse, uris), _cost(urlsplit, uris)


def _cost(parse: Callable[[str], object], uris: list[str]) -> float:
    def work() -> None:
        for uri in uris:
            parse(uri)

    return best(work, repeat=9) / len(uris)
