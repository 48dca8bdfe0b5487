"""A message, its body and what is attached to it."""

import email
import email.policy
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message
from typing import Any, Final, TypeAlias

from a2c_smcp.documents.formats.base import Description, PagedDocument
from a2c_smcp.documents.formats.elements import ElementMaker, clip
from a2c_smcp.documents.mail.body import body_elements
from a2c_smcp.documents.mail.headers import SHOWN, date_of, header, text_of_bytes
from a2c_smcp.documents.model import Element, Page
from a2c_smcp.documents.web.page import elements_of_html, head_of
from a2c_smcp.documents.web.parse import decode, parse
from a2c_smcp.errors import DocumentError
from a2c_smcp.types import ElementCategory

MAX_PARTS: Final = 1_000
MAX_NESTED: Final = 8
MAX_TEXT: Final = 1 << 20
"""Longer texts that are attached are told of, not shown."""

ELEMENTS_A_PAGE: Final = 400

_HEADER_LINES: Final = tuple(f"{name}: " for name in SHOWN)

_SHOWN_TEXTS: Final = frozenset({"text/plain", "text/enriched", "text/markdown"})

Mail: TypeAlias = "Message[str, str]"


@dataclass(slots=True)
class MessageParts:
    """What a message is made of."""

    plain: list[Mail] = field(default_factory=list)
    html: list[Mail] = field(default_factory=list)
    attached: list[Mail] = field(default_factory=list)
    nested: list[Mail] = field(default_factory=list)


class MailDocument(PagedDocument):
    """A mail whose attached pictures can be had."""

    def __init__(self, description: Description, pages: list[Page], pictures: dict[str, Mail]) -> None:
        super().__init__(description, pages)
        self._pictures = pictures

    def element_image(self, element_id: str) -> tuple[str, bytes] | None:
        """Return the MIME type and the bytes of an element's picture."""
        part = self._pictures.get(element_id)
        return (part.get_content_type(), payload(part)) if part is not None else None


def open_mail(data: bytes) -> MailDocument:
    """Return a mail as a document.

    Raises:
        DocumentError: It is no mail, or built to keep its readers busy.
    """
    try:
        message = email.message_from_bytes(data, policy=email.policy.compat32)
        if not message.keys() and not data.strip():
            raise DocumentError("empty: it holds no message")
        if not any(message.get(name) for name in (*SHOWN, "Content-Type", "Received", "Message-ID", "MIME-Version")):
            raise DocumentError("not a mail: it begins with no header that mails have")
        return _Reader().read(message)
    except RecursionError as error:
        raise DocumentError("its parts nest too deeply") from error


def payload(part: Mail) -> bytes:
    """Return the bytes of a part; damaged ones as far as they go."""
    try:
        data = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError):
        return b""
    return data if isinstance(data, bytes) else b""


class _Reader:
    def __init__(self) -> None:
        self._maker = ElementMaker()
        self._pages: list[Page] = []
        self._pictures: dict[str, Mail] = {}
        self._names: list[str] = []

    def read(self, message: Mail) -> MailDocument:
        self._message(message, 0)
        subject = header(message, "Subject")
        sender = header(message, "From")
        texts = (e.content["text"] for e in self._pages[0].elements if e.category == "text")
        start = next((text for text in texts if not text.startswith(_HEADER_LINES)), "")
        keywords = [word.strip() for word in header(message, "Keywords").split(",") if word.strip()]
        description = Description(
            title=subject or self._title,
            page_count=len(self._pages),
            keywords=tuple(dict.fromkeys([*keywords, *self._names]))[:20],
            summary=clip(": ".join(filter(None, (sender, start))), 200),
        )
        return MailDocument(description, self._pages, self._pictures)

    _title = ""

    def _message(self, message: Mail, depth: int) -> None:
        subject = header(message, "Subject")
        elements = [self._maker.make("heading", {"level": 1, "text": subject})] if subject else []
        lines = [f"{name}: {header(message, name)}" for name in SHOWN[:-1] if header(message, name)]
        if lines:
            date = date_of(message)
            elements.append(self._maker.make("text", {"text": "\n".join(lines)}, {"date": date} if date else {}))
        parts = MessageParts()
        _sort(message, parts)
        elements += self._body(parts)
        texts: list[tuple[str, Element]] = []
        for part in parts.attached:
            element = self._attachment(part)
            elements.append(element)
            text = _text_in(part)
            if text:
                texts.append((_name_of(part), self._maker.make("code", {"text": text})))
        self._add(subject or "Message", elements)
        for name, element in texts:
            self._add(name, [element])
        for nested in parts.nested:
            if depth >= MAX_NESTED:
                raise DocumentError(f"more than {MAX_NESTED} messages inside each other")
            self._message(nested, depth + 1)

    def _body(self, parts: MessageParts) -> list[Element]:
        elements: list[Element] = []
        if any(payload(part).strip() for part in parts.html):
            for part in parts.html:
                html = decode(payload(part), _charset(part))
                self._title = self._title or head_of(parse(html)).title
                found = elements_of_html(html, self._maker)
                elements += found
                self._find_pictures(found, parts)
            # A plain twin says the same; other plain parts (a list's footer) say more.
            plain = parts.plain[len(parts.html) :] if len(parts.plain) > len(parts.html) else []
        else:
            plain = parts.plain
        for part in plain:
            flowed = str(part.get_param("format", "")).lower() == "flowed"
            elements += body_elements(text_of_bytes(payload(part), _charset(part)), self._maker, flowed=flowed)
        return elements

    def _find_pictures(self, elements: list[Element], parts: MessageParts) -> None:
        """Remember the parts that pictures in the text point to; they are not attachments, then."""
        by_id = {f"cid:{(part.get('Content-ID') or '').strip().strip('<>')}": part for part in parts.attached}
        by_place = {part.get("Content-Location", ""): part for part in parts.attached if part.get("Content-Location")}
        shown: set[int] = set()
        for element in elements:
            url = element.content.get("url", "")
            part = by_id.get(url) or by_place.get(url) if element.category == "image" and url else None
            if part is not None:
                self._pictures[element.id] = part
                shown.add(id(part))
        parts.attached = [part for part in parts.attached if id(part) not in shown]

    def _attachment(self, part: Mail) -> Element:
        name, kind = _name_of(part), part.get_content_type()
        self._names.append(name)
        size = len(payload(part))
        metadata = {"attachment": True, "bytes": size, "mime_type": kind}
        category: ElementCategory = "widget"
        content: dict[str, Any] = {
            "widget_type": "attachment",
            "name": name,
            "description": f"{name} ({kind}, {_size(size)})",
        }
        match kind.partition("/")[0]:
            case "image":
                category, content = "image", {"alt": name, "mime_type": kind}
            case "audio":
                category, content = "audio", {"title": name, "mime_type": kind}
            case "video":
                category, content = "video", {"title": name, "mime_type": kind}
        element = self._maker.make(category, content, metadata)
        if category == "image":
            self._pictures[element.id] = part
        return element

    def _add(self, title: str, elements: list[Element]) -> None:
        for start in range(0, max(len(elements), 1), ELEMENTS_A_PAGE):
            shown = clip(title, 80) if not start else f"{clip(title, 80)} ({start // ELEMENTS_A_PAGE + 1})"
            self._pages.append(Page(len(self._pages), shown, tuple(elements[start : start + ELEMENTS_A_PAGE])))


def _sort(message: Mail, parts: MessageParts) -> None:
    for number, part in enumerate(_leaves(message, 0)):
        if number > MAX_PARTS:
            raise DocumentError(f"more than the {MAX_PARTS} parts that are read of a mail")
        kind = part.get_content_type()
        attached = part.get_content_disposition() == "attachment" or bool(part.get_filename())
        if kind == "message/rfc822":
            inner = part.get_payload()
            parts.nested += [one for one in inner if isinstance(one, Message)] if isinstance(inner, list) else []
        elif kind == "text/html" and not attached:
            parts.html.append(part)
        elif kind.startswith("multipart/") or (kind in _SHOWN_TEXTS and not attached):
            parts.plain.append(part)  # several parts that cannot be told apart are still there to be read
        else:
            parts.attached.append(part)


def _leaves(message: Mail, depth: int) -> Iterator[Mail]:
    """Yield the parts that hold something, those of messages inside excepted."""
    # The text of a part is not asked for here: that would be decoded in whatever charset the part claims.
    inner = message.get_payload() if message.is_multipart() else None
    if message.get_content_type() == "message/rfc822":
        yield message
    elif isinstance(inner, list):
        if depth > 50:
            raise DocumentError("its parts nest too deeply")
        for part in inner:
            if isinstance(part, Message):
                yield from _leaves(part, depth + 1)
    else:
        yield message


def _text_in(part: Mail) -> str:
    if not part.get_content_type().startswith("text/") and part.get_content_type() != "application/json":
        return ""
    data = payload(part)
    return text_of_bytes(data, _charset(part)).replace("\r\n", "\n").strip("\n") if len(data) <= MAX_TEXT else ""


def _name_of(part: Mail) -> str:
    try:
        name = part.get_filename() or ""
    except (ValueError, LookupError, TypeError):
        name = ""
    decoded = header_text(name)
    # A path in a name is somebody's trick.
    return decoded.replace("\\", "/").rpartition("/")[2].strip() or f"unnamed {part.get_content_type()}"


def header_text(written: str) -> str:
    """Return encoded words as text."""
    carrier: Mail = Message()
    carrier["X"] = written.replace("\n", " ").replace("\r", " ")
    return header(carrier, "X")


def _charset(part: Mail) -> str:
    return str(part.get_param("charset", "") or "")


def _size(count: int) -> str:
    return (
        f"{count} bytes"
        if count < 1024
        else f"{count / 1024:.0f} kB"
        if count < 1 << 20
        else f"{count / (1 << 20):.1f} MB"
    )
