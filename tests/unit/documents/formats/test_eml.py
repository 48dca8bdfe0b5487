"""Mail: who wrote what to whom, what is quoted, what is attached."""

import base64
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.base import Description, Illustrated, OpenDocument
from a2c_smcp.documents.formats.eml import FORMAT
from a2c_smcp.documents.model import Element
from a2c_smcp.errors import DocumentError

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HEAD = b"From: A <a@x.org>\r\nTo: b@x.org\r\nSubject: Hi\r\n"


def opened(folder: Path, data: bytes) -> OpenDocument:
    path = folder / "a.eml"
    path.write_bytes(data)
    return FORMAT.open(path)


def elements(document: OpenDocument, page: int = 0) -> list[Element]:
    found = list(document.page(page).elements)
    for element in found:
        validate_content(element.category, dict(element.content))
    return found


def contents(document: OpenDocument) -> list[tuple[str, Any]]:
    return [(element.category, dict(element.content)) for element in elements(document)[2:]]


def test_a_plain_message(tmp_path: Path) -> None:
    document = opened(
        tmp_path, HEAD + b"Date: Mon, 22 Aug 2016 16:56:09 +0300\r\n\r\nHello,\r\n\r\nsome text\r\nhere.\r\n"
    )
    heading, head, *_ = elements(document)
    assert document.describe() == Description("Hi", 1, (), "A <a@x.org>: Hello,")
    assert (heading.category, heading.content) == ("heading", {"level": 1, "text": "Hi"})
    assert head.content == {"text": "From: A <a@x.org>\nTo: b@x.org\nDate: Mon, 22 Aug 2016 16:56:09 +0300"}
    assert head.metadata == {"date": "2016-08-22T16:56:09+03:00"}
    assert contents(document) == [("text", {"text": "Hello,"}), ("text", {"text": "some text\nhere."})]


def test_what_is_quoted_says_so_and_how_deep(tmp_path: Path) -> None:
    document = opened(tmp_path, HEAD + b"\r\nAnswer\r\n> Question\r\n>> Older\r\n")
    assert [(element.content["text"], element.metadata) for element in elements(document)[2:]] == [
        ("Answer", {}),
        ("Question", {"quoted": True, "level": 1}),
        ("Older", {"quoted": True, "level": 2}),
    ]


def test_lists_and_rules_in_plain_text(tmp_path: Path) -> None:
    document = opened(tmp_path, HEAD + b"\r\n- one\r\n- two\r\n\r\n2. b\r\n3. c\r\n\r\n-----------\r\n")
    assert contents(document) == [
        ("list", {"ordered": False, "items": ["one", "two"]}),
        ("list", {"ordered": True, "items": ["b", "c"], "start": 2}),
        ("separator", {"separator_type": "line"}),
    ]


def test_flowed_lines_are_joined(tmp_path: Path) -> None:
    head = HEAD + b"Content-Type: text/plain; format=flowed\r\n\r\n"
    assert contents(opened(tmp_path, head + b"one \r\nparagraph\r\n")) == [("text", {"text": "one paragraph"})]


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        (b"=?utf-8?B?5L2g5aW9?=", "你好"),
        (b"=?iso-8859-1?Q?Gr=FC=DFe?=\r\n =?utf-8?Q?_und_mehr?=", "Grüße und mehr"),
        ("你好世界，再见".encode("gb18030"), "你好世界，再见"),
        ("Grüße".encode(), "Grüße"),
        (b"=?unknown-9?Q?abc?=", "abc"),
        (b"=?utf-8?B?!!!?=", "=?utf-8?B?!!!?="),
    ],
)
def test_subjects_are_decoded_whoever_wrote_them(tmp_path: Path, subject: bytes, text: str) -> None:
    document = opened(tmp_path, b"From: a@x.org\r\nSubject: " + subject + b"\r\n\r\nx")
    assert document.describe().title == text


@pytest.mark.parametrize(
    ("charset", "body"),
    [
        (b"gb2312", "你好，世界".encode("gb18030")),
        (b"utf-8", "你好，世界".encode()),
        (b"nonsense", "你好，世界".encode()),
        (b"us-ascii", "你好，世界".encode()),
    ],
)
def test_bodies_are_decoded_even_where_the_charset_is_wrong(tmp_path: Path, charset: bytes, body: bytes) -> None:
    head = HEAD + b"Content-Type: text/plain; charset=" + charset + b"\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
    assert contents(opened(tmp_path, head + body)) == [("text", {"text": "你好，世界"})]


def composed() -> EmailMessage:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@x.org", "All kinds"
    message.set_content("plain twin")
    message.add_alternative("<h2>Title</h2><p>Text</p><img src='cid:logo' alt=Logo>", subtype="html")
    html = message.get_payload()[1]  # type: ignore[index]
    html.add_related(PNG, "image", "png", cid="<logo>")  # type: ignore[union-attr]
    message.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="报告.pdf")
    message.add_attachment(PNG, maintype="image", subtype="png", filename="../../x.png")
    message.add_attachment("a,b\n1,2", subtype="csv", filename="t.csv")
    inner = EmailMessage()
    inner["From"], inner["Subject"] = "c@x.org", "Inside"
    inner.set_content("inner text")
    message.add_attachment(inner)
    return message


def test_html_attachments_and_a_message_inside(tmp_path: Path) -> None:
    document = opened(tmp_path, composed().as_bytes())
    assert [entry.title for entry in document.entries(0, 10)] == ["All kinds", "t.csv", "Inside"]
    assert contents(document) == [
        ("heading", {"level": 2, "text": "Title"}),
        ("text", {"text": "Text"}),
        ("image", {"alt": "Logo", "url": "cid:logo"}),
        (
            "widget",
            {"widget_type": "attachment", "name": "报告.pdf", "description": "报告.pdf (application/pdf, 4 bytes)"},
        ),
        ("image", {"alt": "x.png", "mime_type": "image/png"}),
        ("widget", {"widget_type": "attachment", "name": "t.csv", "description": "t.csv (text/csv, 8 bytes)"}),
    ]
    assert elements(document, 1)[0].content == {"text": "a,b\n1,2"}
    assert elements(document, 2)[-1].content == {"text": "inner text"}


def test_pictures_in_the_text_and_attached_can_be_had(tmp_path: Path) -> None:
    document = opened(tmp_path, composed().as_bytes())
    assert isinstance(document, Illustrated)
    assert document.element_image("img-001") == ("image/png", PNG)
    assert document.element_image("img-002") == ("image/png", PNG)
    assert document.element_image("h-001") is None


def test_a_saved_web_page_is_read_too(tmp_path: Path) -> None:
    body = (
        b"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=B\r\n\r\n--B\r\n"
        b"Content-Type: text/html\r\n\r\n<title>Saved</title><h1>Page</h1>\r\n--B--\r\n"
    )
    document = opened(tmp_path, body)
    assert (FORMAT.file_type("x.mhtml"), document.describe().title) == ("mhtml", "Saved")


def nested(depth: int) -> bytes:
    body = b"From: a@x.org\r\n\r\nend"
    for level in range(depth):
        head = f"From: a@x.org\r\nContent-Type: multipart/mixed; boundary=B{level}\r\n\r\n"
        inner = f"--B{level}\r\nContent-Type: message/rfc822\r\n\r\n"
        body = (head + inner).encode() + body + f"\r\n--B{level}--\r\n".encode()
    return body


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"just some text that is no mail at all\n", "not a mail"),
        (nested(20), "inside each other"),
        (
            HEAD
            + b"Content-Type: multipart/mixed; boundary=B\r\n\r\n"
            + b"--B\r\nContent-Type: text/plain\r\n\r\nx\r\n" * 1_200,
            "parts",
        ),
    ],
)
def test_hostile_and_wrong_files_are_refused(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(DocumentError, match=why):
        opened(tmp_path, data)


@pytest.mark.parametrize(
    "rest",
    [
        b"Content-Type: multipart/mixed\r\n\r\nno boundary",
        b"Content-Transfer-Encoding: base64\r\n\r\n!!!!",
        b"Content-Type: text/html\r\n\r\n",
        b"Content-Type: multipart/mixed; boundary=B\r\n\r\n--B\r\n\r\ncut",
        b'Content-Type: text/plain; charset="no\0such"\r\nContent-Transfer-Encoding: base64\r\n\r\n!\xff',
        b"Date: never\r\nContent-Disposition: attachment; filename*=bogus''%ZZ\r\n\r\nx",
    ],
)
def test_damaged_mails_are_read_as_far_as_they_go(tmp_path: Path, rest: bytes) -> None:
    assert elements(opened(tmp_path, HEAD + rest))[0].content == {"level": 1, "text": "Hi"}


def test_a_mail_without_sender_and_subject_is_told_by_how_it_begins(tmp_path: Path) -> None:
    document = opened(tmp_path, b"Content-Type: text/plain\r\n\r\nA first line")
    assert document.describe() == Description("", 1, (), "A first line")


def test_parts_that_cannot_be_told_apart_are_read_as_text(tmp_path: Path) -> None:
    document = opened(tmp_path, HEAD + b"Content-Type: multipart/mixed; boundary=B\r\n\r\nText without its boundary")
    assert contents(document) == [("text", {"text": "Text without its boundary"})]


def test_a_message_that_is_nothing_but_another_gives_both(tmp_path: Path) -> None:
    inner = b"From: c@x.org\r\nSubject: Inside\r\n\r\ninner text"
    document = opened(tmp_path, HEAD + b"Content-Type: message/rfc822\r\n\r\n" + inner)
    assert [entry.title for entry in document.entries(0, 9)] == ["Hi", "Inside"]
