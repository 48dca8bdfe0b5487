"""The tables of decisions in the reference are true."""

import re
from pathlib import Path

import pytest

from a2c_smcp.errors import InvalidDPEUri, InvalidWindowUri
from a2c_smcp.uris import parse_dpe_uri, parse_window_uri

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "uris.md"
ROW = re.compile(r"\| `(?P<uri>[^`]+)` \| (?:`(?P<canonical>[^`]+)`|rule (?P<rule>\d)) \|")

ROWS = [
    (match["uri"], match["canonical"] or int(match["rule"]))
    for match in ROW.finditer(PAGE.read_text(encoding="utf-8").partition("## Decisions")[2])
]


@pytest.mark.parametrize(("uri", "reading"), ROWS)
def test_a_documented_uri_reads_as_the_reference_says(uri: str, reading: str | int) -> None:
    parse = parse_window_uri if uri[0] == "w" else parse_dpe_uri
    found: str | int
    try:
        found = str(parse(uri))
    except (InvalidDPEUri, InvalidWindowUri) as error:
        found = (error.details or {})["rule"]
    assert found == reading


def test_the_reference_decides_many_corners() -> None:
    assert len(ROWS) > 50
