"""References: short, stable, unique, and safe in a URI."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.files import SourceFile
from a2c_smcp.documents.formats.text import FORMAT
from a2c_smcp.documents.refs import assign_refs, ref_of
from a2c_smcp.uris.dpe import build_dpe_uri, parse_dpe_uri

HOST = "com.example.docs"


@pytest.mark.parametrize(
    ("relative", "ref"),
    [
        ("notes.md", "notes.md"),
        ("Annual Report (2026).md", "annual-report-2026.md"),
        ("a/b/c.csv", "a-b-c.csv"),
        ("v1.2/README", "v1.2-readme"),
        ("snake_case.txt", "snake_case.txt"),
    ],
)
def test_a_reference_is_short_and_readable(relative: str, ref: str) -> None:
    assert ref_of(relative) == ref


@pytest.mark.parametrize("relative", ["文档.md", "résumé.md", "x" * 200 + ".md", "---.md", "a/" * 60 + "b.md"])
def test_a_reference_that_loses_much_of_the_path_carries_a_digest(relative: str) -> None:
    assert re.fullmatch(r"[a-z0-9.-]{0,42}-[0-9a-f]{6}\.md", ref_of(relative))


def test_one_name_in_two_unicode_forms_is_one_reference() -> None:
    assert ref_of("e\u0301.md") == ref_of("\u00e9.md")


def sources(*relatives: str) -> list[SourceFile]:
    return [SourceFile(Path(f"/{n}") / path, path, FORMAT, "txt") for n, path in enumerate(relatives)]


def test_of_two_paths_with_one_reference_the_second_gets_a_digest() -> None:
    refs = list(assign_refs(sources("a/b.md", "a-b.md", "c.md")))
    assert refs[0] == "a-b.md"
    assert re.fullmatch(r"a-b-[0-9a-f]{6}\.md", refs[1])
    assert refs[2] == "c.md"


@given(st.lists(st.text(st.characters(exclude_characters="\x00"), min_size=1), max_size=20))
def test_references_are_unique_stable_and_safe_in_a_uri(relatives: list[str]) -> None:
    files = sources(*relatives, *relatives)  # equal paths below different roots, too
    refs = assign_refs(files)
    assert list(refs.values()) == files
    assert list(assign_refs(files)) == list(refs)
    for ref in refs:
        assert len(ref) <= 72
        assert parse_dpe_uri(build_dpe_uri(HOST, ref)).doc_ref == ref
        assert build_dpe_uri(HOST, ref) == f"dpe://{HOST}/{ref}"
