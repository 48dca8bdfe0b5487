"""From bytes to a tree."""

import pytest

from a2c_smcp.documents.web.parse import attribute, codec_of, decode, parse
from a2c_smcp.errors import DocumentError


@pytest.mark.parametrize(
    ("charset", "codec"),
    [
        ("UTF-8", "utf-8"),
        ('"gb2312"', "gb18030"),
        ("ISO-8859-1", "cp1252"),
        ("shift_jis", "cp932"),
        ("nonsense", ""),
        ("", ""),
        ("zip", ""),
        ("utf-7", ""),
        ("unicode_escape", ""),
    ],
)
def test_names_of_encodings(charset: str, codec: str) -> None:
    assert codec_of(charset) == codec


@pytest.mark.parametrize(
    ("data", "declared", "text"),
    [
        ("日本".encode("cp932"), "shift_jis", "日本"),
        ("日本".encode("iso-2022-jp"), "iso-2022-jp", "日本"),
        (b'<?xml version="1.0" encoding="windows-1251"?>' + "Привет".encode("cp1251"), "", "Привет"),
        ("Grüße".encode(), "iso-8859-1", "Grüße"),
    ],
)
def test_declared_encodings_are_used_unless_it_is_utf8(data: bytes, declared: str, text: str) -> None:
    assert decode(data, declared).endswith(text)


def test_binary_data_is_refused() -> None:
    with pytest.raises(DocumentError, match="binary"):
        decode(b"<p>\0\0\0")


def test_scripts_do_not_count_as_nesting() -> None:
    html = "<script>" + "'<div>' + " * 10_000 + "</script><p id=' x '>text"
    node = parse(html).css_first("p")
    assert node is not None
    assert (attribute(node, "id"), attribute(node, "class")) == ("x", "")


def test_drawings_of_many_shapes_do_not_count_as_nesting() -> None:
    assert parse("<svg>" + "<g><path d='m'/><rect/></g>" * 5_000 + "</svg>").css_first("svg") is not None


def test_slashes_do_not_hide_nesting() -> None:
    with pytest.raises(DocumentError, match="deeper"):
        parse("<svg>" + "<div/>" * 5_000)
