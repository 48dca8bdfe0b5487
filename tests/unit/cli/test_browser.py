"""Walking at the prompt: with streams of our own, and once at a real pseudo-terminal."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from a2c_smcp.cli.browser import HELP
from a2c_smcp.cli.list_prompt import PROMPT
from tests.unit.cli.running import EXAMPLES, a2c

PLAIN = {"NO_COLOR": "1", "COLUMNS": "160"}


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "book.md").write_text("# One\n\nfirst words\n\n# Two\n\nsecond words\n", encoding="utf-8")
    (tmp_path / "long.csv").write_text("n\n" + "\n".join(f"{n}" for n in range(450)), encoding="utf-8")
    return str(tmp_path)


def answers(folder: str, *typed: str, limit: int = 20) -> list[str]:
    """What was said after each prompt, the quitting left out."""
    run = a2c("docs", folder, "--limit", str(limit), typed="".join(f"{line}\n" for line in typed), env=PLAIN)
    assert (run.code, run.err) == (0, "")
    return run.out.split(PROMPT)[1 : len(typed) + 1]


def test_the_prompt_comes_after_the_tree_and_ends_with_the_input(folder: str) -> None:
    run = a2c("docs", folder, typed="", env=PLAIN)
    assert run.out.endswith(f"\nnumber or URI opens · u up · /word searches · ? help · q quits\n{PROMPT}\n")


def test_q_quits(folder: str) -> None:
    assert a2c("docs", folder, typed="q\n1\n", env=PLAIN).out.endswith(f"q quits\n{PROMPT}")


def test_a_number_opens_a_document_then_a_page_then_an_element(folder: str) -> None:
    assert answers(folder, "1", "2", "2") == [
        (
            "One  md, 2 pages  dpe://a2c.docs/book.md\n"
            "first words\n"
            "  1. One  (2 elements)  dpe://a2c.docs/book.md/pages/0\n"
            "  2. Two  (2 elements)  dpe://a2c.docs/book.md/pages/1\n"
        ),
        (
            "Two  (2 elements)  dpe://a2c.docs/book.md/pages/1\n"
            "  1. h-002  heading  Two  dpe://a2c.docs/book.md/elements/h-002\n"
            "  2. txt-002  text  second words  dpe://a2c.docs/book.md/elements/txt-002\n"
        ),
        "second words\n",
    ]


def test_after_an_element_the_numbers_are_still_those_of_its_page(folder: str) -> None:
    assert answers(folder, "1", "2", "2", "1")[-1] == "# Two\n"


def test_a_uri_opens_what_it_names(folder: str) -> None:
    assert answers(folder, "dpe://a2c.docs/book.md/elements/txt-001") == ["first words\n"]


def test_u_goes_up_from_the_element_to_the_catalogue(folder: str) -> None:
    said = answers(folder, "dpe://a2c.docs/book.md/elements/txt-002", "u", "u", "u", "u")
    assert [text.splitlines()[0] for text in said[1:]] == [
        "Two  (2 elements)  dpe://a2c.docs/book.md/pages/1",
        "One  md, 2 pages  dpe://a2c.docs/book.md",
        "2 documents  dpe://a2c.docs",
        "2 documents  dpe://a2c.docs",
    ]


def test_a_search_finds_documents_pages_and_elements_whatever_the_case(folder: str) -> None:
    assert answers(folder, "/TWO", "/words") == [
        (
            "found for 'TWO'\n"
            "  1. One  md, 2 pages  dpe://a2c.docs/book.md\n"
            "  2. Two  (2 elements)  dpe://a2c.docs/book.md/pages/1\n"
            "  3. h-002  heading  Two  dpe://a2c.docs/book.md/elements/h-002\n"
        ),
        (
            "found for 'words'\n"
            "  1. One  md, 2 pages  dpe://a2c.docs/book.md\n"
            "  2. txt-001  text  first words  dpe://a2c.docs/book.md/elements/txt-001\n"
            "  3. txt-002  text  second words  dpe://a2c.docs/book.md/elements/txt-002\n"
        ),
    ]


def test_a_search_finds_chinese() -> None:
    assert "4 rows × 3 columns: 错误码, 含义, 处理办法" in answers(EXAMPLES, "/错误码")[0]


def test_a_search_goes_on_past_a_page_that_cannot_be_read(folder: str) -> None:
    Image.new("RGB", (20, 20)).save(f"{folder}/bad.png")
    data = Path(folder, "bad.png").read_bytes()
    Path(folder, "bad.png").write_bytes(data[:-20])
    assert answers(folder, "/second")[-1].startswith("found for 'second'\n  1. txt-002  text  second words")


def test_a_search_that_finds_nothing_says_so(folder: str) -> None:
    assert answers(folder, "/xyzzy") == ["found for 'xyzzy'\n     nothing\n"]


def test_what_was_found_can_be_opened_by_its_number(folder: str) -> None:
    assert answers(folder, "/second", "1")[-1] == "second words\n"


def test_a_long_list_comes_in_parts(folder: str) -> None:
    assert answers(folder, "1", "m", "m", limit=1) == [
        (
            "One  md, 2 pages  dpe://a2c.docs/book.md\n"
            "first words\n"
            "  1. One  (2 elements)  dpe://a2c.docs/book.md/pages/0\n"
            "     … m shows more\n"
        ),
        "  2. Two  (2 elements)  dpe://a2c.docs/book.md/pages/1\n",
        "     nothing more\n",
    ]


def test_r_reads_the_whole_page(folder: str) -> None:
    assert answers(folder, "dpe://a2c.docs/book.md/pages/1", "r")[-1] == "# Two\n\nsecond words\n"


def test_a_long_table_says_where_it_goes_on(folder: str) -> None:
    said = answers(folder, "dpe://a2c.docs/long.csv/elements/tbl-001")[0]
    assert said.endswith("goes on at dpe://a2c.docs/long.csv/elements/tbl-001-r201\n")


def test_help_lists_what_can_be_typed(folder: str) -> None:
    assert answers(folder, "?") == [f"{HELP}\n"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", ""),
        ("9", "there is no line 9 in the list\n"),
        ("0", "there is no line 0 in the list\n"),
        ("xyzzy", "'xyzzy' is not understood; ? helps\n"),
        ("dpe://a2c.docs/book.md/pages/9", "error 4202: 'book.md' has no page 9: it has 2 pages, counted from 0\n"),
        ("dpe://other", "error 4201: There are no documents at 'other'; here they are at dpe://a2c.docs\n"),
    ],
)
def test_a_mistake_is_answered_and_the_walk_goes_on(folder: str, typed: str, said: str) -> None:
    assert answers(folder, typed, "1")[0] == said


def test_a_document_that_appears_while_walking_is_found(folder: str, tmp_path: Path) -> None:
    def typed() -> str:
        (tmp_path / "new.txt").write_text("new", encoding="utf-8")
        return "dpe://a2c.docs/new.txt/elements/txt-001\n"

    assert a2c("docs", folder, typed=typed(), env=PLAIN).out.endswith(f"{PROMPT}new\n{PROMPT}\n")


def test_at_a_real_terminal_one_can_walk_and_leave_with_ctrl_d() -> None:
    main, side = pty.openpty()
    command = [str(Path(sys.executable).with_name("a2c")), "docs", EXAMPLES]
    process = subprocess.Popen(command, stdin=side, stdout=side, stderr=side, start_new_session=True)
    os.close(side)
    try:
        assert "5 documents" in read_until(main, PROMPT)
        os.write(main, b"1\n")
        opened = read_until(main, PROMPT)
        assert "\x1b[1mGlossary of A2C-SMCP\x1b[0m" in opened
        os.write(main, b"\x04")
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()
        os.close(main)


def read_until(descriptor: int, mark: str, seconds: float = 60) -> str:
    """Read from a terminal until it has written `mark`."""
    data, deadline = b"", time.monotonic() + seconds
    while not re.search(re.escape(mark.encode()) + rb"$", data):
        ready, _, _ = select.select([descriptor], [], [], max(deadline - time.monotonic(), 0))
        if not ready:
            raise TimeoutError(data.decode(errors="replace"))
        data += os.read(descriptor, 4096)
    return data.decode()
