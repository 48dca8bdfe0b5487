"""How a document reads, as text to compare; run as a module it writes the golden files anew."""

from pathlib import Path

from a2c_smcp.documents.formats.base import OpenDocument
from a2c_smcp.documents.formats.registry import format_of
from a2c_smcp.documents.render.markdown import element_markdown

DATA = Path(__file__).parents[2] / "data" / "documents"
GOLDEN = Path(__file__).parent / "golden"


def opened(path: Path) -> OpenDocument:
    known = format_of(path.name)
    assert known is not None
    return known[0].open(path)


def told(path: Path) -> str:
    document = opened(path)
    about = document.describe()
    lines = [f"title: {about.title}", f"keywords: {', '.join(about.keywords)}", f"summary: {about.summary}"]
    for index in range(about.page_count):
        page = document.page(index)
        lines += ["", f"== page {index}: {page.title}"]
        for element in page.elements:
            lines += ["", f"-- {element.id}: {element.summary}", element_markdown(element)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for golden in sorted(GOLDEN.glob("*.txt")):
        golden.write_text(told(DATA / golden.stem), encoding="utf-8")
