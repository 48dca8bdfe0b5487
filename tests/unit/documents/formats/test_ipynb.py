"""Notebooks: text, code, and everything that cells put out."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.base import Description, Illustrated, OpenDocument
from a2c_smcp.documents.formats.ipynb import FORMAT
from a2c_smcp.errors import DocumentError

PICTURE = base64.b64encode(b"PNG").decode()


def opened(folder: Path, notebook: object) -> OpenDocument:
    path = folder / "a.ipynb"
    path.write_text(notebook if isinstance(notebook, str) else json.dumps(notebook), encoding="utf-8")
    return FORMAT.open(path)


def code(*outputs: dict[str, Any], source: str = "x") -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": 3, "source": [source], "outputs": list(outputs)}


def markdown(*lines: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": list(lines)}


def contents(document: OpenDocument) -> list[tuple[str, Any]]:
    found = [e for index in range(document.describe().page_count) for e in document.page(index).elements]
    for element in found:
        validate_content(element.category, dict(element.content))
    return [(element.category, dict(element.content)) for element in found]


@pytest.mark.parametrize(
    ("output", "category", "content"),
    [
        ({"output_type": "stream", "text": ["a\n", "b\n"]}, "code", {"text": "a\nb"}),
        ({"output_type": "stream", "text": "10%\r50%\r100%\n"}, "code", {"text": "100%"}),
        ({"output_type": "stream", "text": "\x1b[31mred\x1b[0m"}, "code", {"text": "red"}),
        ({"output_type": "execute_result", "data": {"text/plain": "42"}}, "code", {"text": "42"}),
        (
            {"output_type": "display_data", "data": {"image/png": PICTURE, "text/plain": "<Figure>"}},
            "image",
            {"alt": "<Figure>", "mime_type": "image/png"},
        ),
        (
            {
                "output_type": "execute_result",
                "data": {"text/html": "<table><tr><th>a<tr><td>1</table>", "text/plain": "   a\n0  1"},
            },
            "table",
            {"headers": ["a"], "rows": [["1"]]},
        ),
        (
            {"output_type": "display_data", "data": {"text/html": "<script>1</script>", "text/plain": "<obj>"}},
            "code",
            {"text": "<obj>"},
        ),
        (
            {"output_type": "execute_result", "data": {"text/latex": "$$x^2$$"}},
            "formula",
            {"expression": "x^2", "notation": "latex"},
        ),
        ({"output_type": "display_data", "data": {"text/markdown": "# Hi"}}, "heading", {"level": 1, "text": "Hi"}),
        ({"output_type": "display_data", "data": {"application/json": {"a": 1}}}, "code", {"text": '{\n "a": 1\n}'}),
        (
            {
                "output_type": "display_data",
                "data": {
                    "application/vnd.plotly.v1+json": {
                        "data": [{"type": "bar", "name": "Sales"}],
                        "layout": {"title": {"text": "Year"}},
                    }
                },
            },
            "chart",
            {"chart_type": "bar", "title": "Year", "data_summary": "1 series: Sales"},
        ),
        (
            {
                "output_type": "display_data",
                "data": {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "Slider()"},
            },
            "widget",
            {"widget_type": "jupyter", "description": "Slider()"},
        ),
        (
            {
                "output_type": "error",
                "ename": "ValueError",
                "evalue": "no",
                "traceback": ["\x1b[0;31mValueError\x1b[0m: no"],
            },
            "code",
            {"text": "ValueError: no"},
        ),
    ],
)
def test_outputs_of_every_kind(tmp_path: Path, output: dict[str, Any], category: str, content: dict[str, Any]) -> None:
    document = opened(tmp_path, {"cells": [code(output)]})
    assert contents(document) == [("code", {"text": "x", "language": "python"}), (category, content)]


def test_an_error_is_told_by_its_name_and_not_by_the_rule_above_its_trace(tmp_path: Path) -> None:
    error = {"output_type": "error", "ename": "NameError", "evalue": "name 'x'", "traceback": ["-" * 75, "NameError"]}
    document = opened(tmp_path, {"cells": [code(error)]})
    assert document.page(0).elements[1].summary == "NameError: name 'x'"


def test_headings_of_the_text_begin_pages(tmp_path: Path) -> None:
    cells = [markdown("# Study\n", "Intro"), markdown("## Data"), code(), markdown("## Model"), code()]
    document = opened(tmp_path, {"cells": cells, "metadata": {"language_info": {"name": "R"}}})
    assert [entry.title for entry in document.entries(0, 9)] == ["Study", "Data", "Model"]
    assert document.describe() == Description("Study", 3, ("r", "Data", "Model"), "Intro")


def test_code_says_its_cell_and_count(tmp_path: Path) -> None:
    [element] = opened(tmp_path, {"cells": [code()]}).page(0).elements
    assert element.metadata == {"cell": 0, "execution_count": 3}


def test_pictures_of_outputs_and_attachments_can_be_had(tmp_path: Path) -> None:
    cell = markdown("![x](attachment:a.png)") | {"attachments": {"a.png": {"image/png": PICTURE}}}
    output = {"output_type": "display_data", "data": {"image/jpeg": [PICTURE]}}
    document = opened(tmp_path, {"cells": [cell, code(output)]})
    assert isinstance(document, Illustrated)
    assert document.element_image("img-001") == ("image/png", b"PNG")
    assert document.element_image("img-002") == ("image/jpeg", b"PNG")
    assert document.element_image("code-001") is None


def test_an_old_notebook_is_read_too(tmp_path: Path) -> None:
    old = {
        "nbformat": 3,
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 2, "source": "Old"},
                    {
                        "cell_type": "code",
                        "input": "1+1",
                        "language": "python",
                        "prompt_number": 1,
                        "outputs": [{"output_type": "pyout", "text": "2"}],
                    },
                ]
            }
        ],
    }
    assert contents(opened(tmp_path, old)) == [
        ("heading", {"level": 2, "text": "Old"}),
        ("code", {"text": "1+1", "language": "python"}),
        ("code", {"text": "2"}),
    ]


@pytest.mark.parametrize(
    "notebook",
    ["", "{", "[" * 100_000, "[]", "{}", '{"cells": 1}', '{"worksheets": 1}', "1"],
)
def test_files_that_are_no_notebook_are_refused(tmp_path: Path, notebook: str) -> None:
    with pytest.raises(DocumentError, match="not a notebook"):
        opened(tmp_path, notebook)


def test_nonsense_in_cells_is_passed_over(tmp_path: Path) -> None:
    cells = [1, None, {}, {"cell_type": "code"}, {"cell_type": "code", "outputs": [1, {"output_type": "what"}]}, code()]
    assert contents(opened(tmp_path, {"cells": cells})) == [("code", {"text": "x", "language": "python"})]


def test_an_endless_output_is_cut_and_says_so(tmp_path: Path) -> None:
    document = opened(tmp_path, {"cells": [code({"output_type": "stream", "text": "x" * 200_000})]})
    assert contents(document)[1][1]["text"].endswith("… 100000 more characters")


def test_lines_of_version_2_come_without_their_ends(tmp_path: Path) -> None:
    cells = [{"cell_type": "markdown", "source": ["# Title", "", "Some text", "goes on."]}]
    document = opened(tmp_path, {"nbformat": 2, "worksheets": [{"cells": cells}]})
    assert contents(document) == [("heading", {"level": 1, "text": "Title"}), ("text", {"text": "Some text goes on."})]


def test_chunks_that_a_progress_bar_wrote_stay_on_their_line(tmp_path: Path) -> None:
    document = opened(
        tmp_path, {"cells": [code({"output_type": "stream", "text": ["10%\r", "90%\r", "done"]}, source="")]}
    )
    assert contents(document) == [("code", {"text": "done"})]


def test_a_drawing_without_words_has_a_summary_and_its_source(tmp_path: Path) -> None:
    drawing = {"output_type": "display_data", "data": {"image/svg+xml": ["<svg>\n", "</svg>"]}}
    document = opened(tmp_path, {"cells": [code(drawing, source="")]})
    [element] = document.page(0).elements
    assert element.summary == "SVG image"
    assert isinstance(document, Illustrated)
    assert document.element_image(element.id) == ("image/svg+xml", b"<svg>\n</svg>")
