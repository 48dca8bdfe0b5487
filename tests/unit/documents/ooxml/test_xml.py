"""Trees of parts: nothing expands, nothing is fetched, and Strict files look like the others."""

import pytest

from a2c_smcp.documents.ooxml.xml import A, attribute, child, is_on, local, parse, resolve_alternates, text_of, value_of
from a2c_smcp.errors import DocumentError

DOCTYPE = '<!DOCTYPE a [<!ENTITY b "boom">]><a>&b;</a>'
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"


@pytest.mark.parametrize(
    "data",
    [
        DOCTYPE.encode(),
        f"<?xml version='1.0'?>\n<!-- x --> {DOCTYPE}".encode(),
        b"\xef\xbb\xbf" + DOCTYPE.encode(),
        DOCTYPE.encode("utf-16"),
        DOCTYPE.encode("utf-16-le"),
        DOCTYPE.encode("utf-16-be"),
        DOCTYPE.replace("DOCTYPE", "doctype").encode(),
        b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
    ],
)
def test_a_document_type_is_refused_in_every_encoding(data: bytes) -> None:
    with pytest.raises(DocumentError, match="it defines XML entities"):
        parse(data)


@pytest.mark.parametrize("data", [b"", b"plain", b"<a>", b"<a>&unknown;</a><b/>", b"<a b=\xff/>"])
def test_what_is_no_xml_is_refused(data: bytes) -> None:
    with pytest.raises(DocumentError, match="its part is not valid XML"):
        parse(data, what="its part")


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(DocumentError, match="is not valid XML"):
        parse(b"<a>" * 100_000 + b"</a>" * 100_000)


def test_strict_namespaces_are_read_as_the_usual_ones() -> None:
    root = parse(b'<a:p xmlns:a="http://purl.oclc.org/ooxml/drawingml/main"/>')
    assert root.tag == f"{A}p"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_text_is_read_in_every_encoding(encoding: str) -> None:
    assert text_of(parse('<?xml version="1.0"?><a>数据 &amp; more</a>'.encode(encoding))) == "数据 & more"


def alternate(choices: str) -> list[str]:
    root = resolve_alternates(
        parse(f'<a xmlns:mc="{MC}"><mc:AlternateContent>{choices}</mc:AlternateContent></a>'.encode())
    )
    return [local(node) for node in root]


@pytest.mark.parametrize(
    ("choices", "kept"),
    [
        ('<mc:Choice Requires="wps"><x/><y/></mc:Choice><mc:Fallback><z/></mc:Fallback>', ["x", "y"]),
        ('<mc:Choice Requires="am3d"><x/></mc:Choice><mc:Fallback><z/></mc:Fallback>', ["z"]),
        ('<mc:Choice Requires="wps"/><mc:Fallback><z/></mc:Fallback>', ["z"]),
        ('<mc:Choice Requires="am3d"><x/></mc:Choice>', []),
    ],
)
def test_of_alternatives_one_stays(choices: str, kept: list[str]) -> None:
    assert alternate(choices) == kept


def test_attributes_are_found_with_and_without_a_namespace() -> None:
    root = parse(b'<a xmlns:w="urn:w" w:val="1" other="2"><w:b w:val="3"/></a>')
    assert (attribute(root, "val"), attribute(root, "other"), attribute(root, "none", "4")) == ("1", "2", "4")
    assert value_of(root, "b") == "3"
    assert child(root, "b", "c") is None


@pytest.mark.parametrize(("text", "on"), [(None, True), ("1", True), ("true", True), ("0", False), ("false", False)])
def test_a_mark_without_a_value_is_on(text: str | None, on: bool) -> None:
    assert is_on(text) is on
