"""Source code: parts by what they define, nothing lost, in pages of a sane length."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.code.outline import chunks_of, name_of
from a2c_smcp.documents.formats.base import Description, OpenDocument
from a2c_smcp.documents.formats.code import FORMAT, LINES_A_PAGE, language_of
from a2c_smcp.errors import DocumentError

PROGRAM = '''"""What lives here.

More of it.
"""

import os


@decorated
def first(a: int) -> int:
    """Return it."""
    b = a
    c = b
    d = c
    e = d
    f = e
    g = f
    h = g
    return h


class Second:
    """A class."""

    def method(self) -> None:
        pass

    def other(self) -> None:
        a = 1
        b = 2
        c = 3
        d = 4
        return None
'''


def opened(folder: Path, text: str | bytes, name: str = "a.py") -> OpenDocument:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return FORMAT.open(path)


def test_definitions_are_elements_with_their_lines(tmp_path: Path) -> None:
    document = opened(tmp_path, PROGRAM)
    found = [(e.metadata.get("symbol"), e.metadata["source_lines"]) for e in document.page(0).elements]
    assert found == [(None, [1, 6]), ("first", [9, 19]), ("Second", [22, 33])]
    assert document.page(0).elements[1].content["text"].startswith("@decorated\ndef first")
    assert document.page(0).elements[1].content["language"] == "python"


def test_the_docstring_tells_the_title(tmp_path: Path) -> None:
    assert opened(tmp_path, PROGRAM).describe() == Description(
        "What lives here.", 1, ("first", "Second"), "python, 33 lines: What lives here. More of it."
    )


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("a.js", "// Draws the page\nfunction a() {}\n", "Draws the page"),
        ("a.c", "/*\n * Sorts things\n */\nint x;\n", "Sorts things"),
        ("a.sh", "#!/bin/sh\n# Backs it up\nls\n", "Backs it up"),
        ("a.go", "// Copyright 2024 Somebody\npackage x\n", ""),
        ("a.py", "import os\n", ""),
    ],
)
def test_a_comment_at_the_head_tells_the_title_unless_it_is_a_licence(
    tmp_path: Path, name: str, text: str, title: str
) -> None:
    assert opened(tmp_path, text, name).describe().title == title


@pytest.mark.parametrize(
    ("language", "line", "name"),
    [
        ("python", "async def go(a):", "go"),
        ("python", "class A(B):", "A"),
        ("javascript", "export default function draw(x) {", "draw"),
        ("javascript", "const run = async () => {", "run"),
        ("typescript", "export interface Shape {", "Shape"),
        ("go", "func (s *Server) Start() error {", "Start"),
        ("rust", "pub(crate) fn parse<T>(x: T) -> T {", "parse<T>"),
        ("rust", "impl Display for X {", "Display"),
        ("java", "public final class Main {", "Main"),
        ("c", "static int add(int a, int b)", "add"),
        ("c", "return add(1, 2);", ""),
        ("cpp", "void Widget::paint(Canvas& c) {", "Widget::paint"),
        ("sql", "CREATE TABLE IF NOT EXISTS users (", "users"),
        ("toml", "[tool.ruff]", "tool.ruff"),
        ("yaml", "services:", "services"),
        ("make", "build: src", "build"),
        ("make", "FLAGS := -O2", ""),
        ("css", ".button:hover {", ".button:hover"),
        ("bash", "deploy() {", "deploy"),
        ("latex", r"\section{Introduction}", "Introduction"),
        ("python", "x = 1", ""),
    ],
)
def test_a_line_defines_a_name(language: str, line: str, name: str) -> None:
    assert name_of(line, language) == name


@pytest.mark.parametrize(
    ("name", "file_type", "language"),
    [
        ("x.PY", "py", "python"),
        ("x.tsx", "tsx", "typescript"),
        ("Dockerfile", "dockerfile", "dockerfile"),
        ("CMakeLists.txt", "txt", "cmake"),
        ("x.yml", "yml", "yaml"),
        ("x.bin", None, None),
        ("py", None, None),
    ],
)
def test_languages_by_name(name: str, file_type: str | None, language: str | None) -> None:
    assert (FORMAT.file_type(name), language_of(name)) == (file_type, language)


def test_a_long_file_has_several_pages(tmp_path: Path) -> None:
    functions = "\n\n".join(f"def f{n}():\n" + "\n".join(f"    a{i} = {i}" for i in range(60)) for n in range(12))
    document = opened(tmp_path, functions)
    pages = [document.page(index) for index in range(document.describe().page_count)]
    assert [page.title for page in pages] == ["f0, f1, f2, f3", "f4, f5, f6, f7", "f8, f9, f10, f11"]
    for page in pages:
        first, last = page.elements[0].metadata["source_lines"][0], page.elements[-1].metadata["source_lines"][1]
        assert last - first < LINES_A_PAGE


def test_one_endless_line_is_cut(tmp_path: Path) -> None:
    document = opened(tmp_path, "x=1;" * 50_000, "a.js")
    found = [
        e.content["text"] for index in range(document.describe().page_count) for e in document.page(index).elements
    ]
    assert "".join(found) == "x=1;" * 50_000
    assert max(map(len, found)) <= 20_000


def test_binary_and_oversized_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="not text"):
        opened(tmp_path, bytes(range(256)) * 10)
    with pytest.raises(DocumentError, match="larger"):
        opened(tmp_path, b"x" * (9 << 20))


def test_an_empty_file_has_no_pages(tmp_path: Path) -> None:
    assert opened(tmp_path, "").describe() == Description(summary="Empty file")


pieces = st.sampled_from(
    ["def a():", "    x = 1", "", "class B:", "    def c(self):", "        pass", "# note", "@deco", "y = 2"]
)


@given(st.lists(pieces, max_size=80), st.sampled_from(["python", "javascript", "yaml", "c", "xml"]))
def test_the_parts_together_are_the_file(lines: list[str], language: str) -> None:
    text = "\n".join(lines)
    chunks = list(chunks_of(text, language))
    assert re.sub(r"\n+", "\n", "\n".join(chunk.text for chunk in chunks)).strip("\n") == re.sub(
        r"\n+", "\n", text
    ).strip("\n")
    places = [(chunk.first, chunk.last) for chunk in chunks]
    assert places == sorted(places)
    for chunk in chunks:
        assert chunk.text == "\n".join(lines[chunk.first - 1 : chunk.last])
