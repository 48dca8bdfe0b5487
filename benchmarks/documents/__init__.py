"""PDF reading: what is found against hand-checked pages, beside three other readers, and what it costs beside PDFium.

Documents come from the folder that `A2C_CORPUS` names, else from `tests/data/documents`; a row of which a file is not
there is left out, and said. The others (markitdown, kreuzberg, liteparse) run in an environment of their own.
"""

import os
from pathlib import Path

from benchmarks.documents import quality, speed
from benchmarks.table import Measured

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def run() -> list[Measured]:
    corpus = Path(os.environ.get("A2C_CORPUS") or ROOT / "tests" / "data" / "documents")
    truth = HERE / "truth"
    return [*quality.run(corpus, truth), *quality.run_tables(corpus, truth / "tables"), *speed.run(corpus)]
