"""What the pages tell readers to type exists: commands, options, targets of make."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2c_smcp.cli.parsing import CommandMissing, UsageError, parse
from a2c_smcp.cli.table import COMMANDS
from tests.docs.pages import PAGES, ROOT, Block, blocks, name_of, prose

SHELLS = ("console", "sh", "bash", "shell")
ENDS = re.compile(r"[|&;<>()]+")
SETTING = re.compile(r"\w+=.*", re.DOTALL)
OTHERS = {"--no-deps", "--vault"}  # options of programs that are not ours
PROGRAMS = {"a2c": (), "mcp_generate_digest": ("digest",)}


def lines(block: Block) -> Iterator[str]:
    text = block.text.replace("\\\n", " ")
    if block.language == "console":
        yield from (line[2:] for line in text.splitlines() if line.startswith("$ "))
    else:
        yield from (line for line in text.splitlines() if not line.lstrip().startswith("#"))


def commands(line: str) -> Iterator[list[str]]:
    """Yield the simple commands of a line, without what stands before or after them."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if not ENDS.fullmatch(word):
            words.append(word)
            continue
        while words and SETTING.fullmatch(words[0]):
            del words[0]
        if words:
            yield words
        words = []


def of_ours(words: list[str]) -> list[str] | None:
    """Return what a command line asks of our program, or nothing where it is another's."""
    if words[0] == "npx" and "a2c" in words:
        words = words[words.index("a2c") :]
    name = Path(words[0]).name
    return [*PROGRAMS[name], *words[1:]] if name in PROGRAMS else None


TYPED = [
    (f"{block.place} {line.strip()}"[:100], words)
    for page in PAGES
    for block in blocks(page, *SHELLS)
    for line in lines(block)
    for words in commands(line)
]
OURS = [(place, ours) for place, words in TYPED if (ours := of_ours(words))]
MADE = [(place, words[1:]) for place, words in TYPED if words[0] == "make"]


@pytest.mark.parametrize(("place", "words"), OURS, ids=[place for place, _ in OURS])
def test_a_command_line_of_the_documentation_is_understood(place: str, words: list[str]) -> None:
    if words != ["--version"]:
        assert parse(words, COMMANDS).path


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_within_sentences_exist(page: Path) -> None:
    wrong = []
    for code in re.findall(r"`a2c ([^`\n]+)`", prose(page)):
        if code == "--version":
            continue
        try:
            parse(shlex.split(code), COMMANDS)
        except CommandMissing:
            continue  # a noun, spoken of as such
        except UsageError as problem:
            if not re.search("missing|required|expected", str(problem)):
                wrong.append(f"a2c {code}: {problem}")
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_targets_of_make_exist(page: Path) -> None:
    known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    spoken = set(re.findall(r"`make ([\w-]+)`", prose(page)))
    typed = {words[0] for place, words in MADE if words and place.startswith(f"{name_of(page)}:")}
    assert (spoken | typed) - known == set()


def options() -> set[str]:
    known: set[str] = {"--json", "--help", "--version"}
    rows = list(COMMANDS)
    while rows:
        row = rows.pop()
        rows += row.commands
        known |= {argument.name for argument in row.arguments if argument.is_option}
    return known


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_options_within_sentences_exist(page: Path) -> None:
    code = re.findall(r"`(--[^`\n]+)`", prose(page))
    spoken = {re.split(r"[ =]", words)[0] for words in code}
    assert spoken - options() - OTHERS == set()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_variables_within_pages_exist(page: Path) -> None:
    reference = (ROOT / "docs" / "reference" / "environment.md").read_text(encoding="utf-8")
    spoken = set(re.findall(r"\bA2C_[A-Z]+(?:_[A-Z]+)+\b", page.read_text(encoding="utf-8")))
    known = {name for name in spoken if f"`{name}`" in reference or name.startswith("A2C_INPUT_")}
    assert spoken - known - {"A2C_SERVER_CONFIG"} == set()
