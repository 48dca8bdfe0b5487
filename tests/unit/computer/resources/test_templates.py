"""Which resource templates a URI fits."""

import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.resources.templates import fits, literal_length

PAGE = "dpe://com.example.docs/{doc_ref}/pages/{page_index}"


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        (PAGE, "dpe://com.example.docs/rpt-2026/pages/0"),
        (PAGE, "dpe://com.example.docs/a%2Fb/pages/12"),
        ("dpe://{host}/{doc}", "dpe://h/d"),
        ("file:///{+path}", "file:///a/b/c.txt"),
        ("file:///{path*}", "file:///a/b/c.txt"),
        ("file://{/path}", "file:///a"),
        ("a{x}b{y}c", "aXbYbZc"),
        ("repo://{owner}/{name}{?ref,depth}", "repo://o/n"),
        ("repo://{owner}/{name}{?ref,depth}", "repo://o/n?ref=main"),
        ("doc:x{#part}", "doc:x#2"),
        ("q:?a=1{&b}", "q:?a=1"),
        ("memo:today", "memo:today"),
        ("", ""),
    ],
)
def test_a_uri_that_fits(template: str, uri: str) -> None:
    assert fits(uri, template)


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        (PAGE, "dpe://com.example.docs/rpt-2026"),
        (PAGE, "dpe://com.example.docs/rpt-2026/pages/"),
        (PAGE, "dpe://com.example.docs/a/b/pages/0"),
        (PAGE, "dpe://com.example.docs/a/pages/0?format=text"),
        ("dpe://{host}", "dpe://h/d"),
        ("memo:today", "memo:tomorrow"),
        ("memo:today", "memo:today!"),
        ("repo://{owner}{?ref}", "other://o?ref=main"),
        ("{+any}" * 400, "memo:today"),
    ],
)
def test_a_uri_that_does_not_fit(template: str, uri: str) -> None:
    assert not fits(uri, template)


def test_the_part_that_is_written_out_tells_how_special_a_template_is() -> None:
    assert literal_length(PAGE) > literal_length("dpe://{host}/{doc_ref}/pages/{page_index}") > literal_length("{+any}")


def test_a_hostile_template_costs_no_more_than_a_kind_one() -> None:
    template, uri = "x{a}" * 300, "x" * 16_000 + "/"
    began = time.process_time()
    assert not fits(uri, template)
    assert time.process_time() - began < 1


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5), st.text(alphabet="ab/:-", min_size=1))
def test_every_expansion_of_a_template_fits_it(values: list[str], literal: str) -> None:
    template = literal.join(f"{{v{number}}}" for number in range(len(values)))
    assert fits(literal.join(quote(value, safe="", errors="replace") for value in values), template)


@given(st.text(), st.text())
def test_any_two_strings_can_be_compared(uri: str, template: str) -> None:
    assert fits(uri, template) in {True, False}
