"""Encodings are told by marks, by being valid, and by being likely."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.formats.decoding import detect_encoding, encoding_of, read_text
from a2c_smcp.errors import DocumentError

CHINESE = "本指南说明如何阅读文档，并给出示例。"


@pytest.mark.parametrize(
    ("text", "encoding", "detected"),
    [
        ("plain", "ascii", "utf-8"),
        ("", "ascii", "utf-8"),
        (CHINESE, "utf-8", "utf-8"),
        (CHINESE, "utf-8-sig", "utf-8-sig"),
        (CHINESE, "utf-16", "utf-16"),
        (CHINESE, "utf-32", "utf-32"),
        ("Saved by a program without a mark", "utf-16-le", "utf-16-le"),
        ("Saved by a program without a mark", "utf-16-be", "utf-16-be"),
        (CHINESE, "gb18030", "gb18030"),
        (CHINESE, "gbk", "gb18030"),
        ("これは漢字とカタカナの文章です。", "shift_jis", "cp932"),
        ("これは漢字とカタカナの文章です。", "euc-jp", "euc_jp"),
        ("이 문서는 인코딩을 말하지 않습니다.", "euc-kr", "euc_kr"),
        ("這是一個沒有說明編碼的檔案。", "big5", "cp950"),
        ("Этот текст не говорит о своей кодировке.", "cp1251", "cp1251"),
        ("Этот текст не говорит о своей кодировке.", "koi8-r", "koi8_r"),
        ("Αυτό το κείμενο δεν λέει την κωδικοποίηση.", "cp1253", "cp1253"),
        ("המסמך הזה לא אומר מה הקידוד שלו", "cp1255", "cp1255"),
        ("هذا النص لا يقول شيئا عن الترميز", "cp1256", "cp1256"),
        ("plain at first\n" * 6_000 + CHINESE, "gbk", "gb18030"),
        ("이 문서에는 똠방각하라는 말이 나옵니다.", "cp949", "cp949"),
        ("これは漢字とカタカナの文章です。", "iso2022_jp", "iso2022_jp_2"),
        ("plain at first\n" * 6_000 + "これは漢字の文章です。", "iso2022_jp", "iso2022_jp_2"),
        ("이 문서는 인코딩을 말하지 않습니다.", "iso2022_kr", "iso2022_kr"),
        ("Zażółć gęślą jaźń, a potem śpij spokojnie.", "cp1250", "cp1250"),
        ("Zażółć gęślą jaźń, a potem śpij spokojnie.", "iso8859_2", "iso8859_2"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy.", "cp1250", "cp1250"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy.", "iso8859_2", "iso8859_2"),
        ("Árvíztűrő tükörfúrógép, őrült kőműves műhelyében.", "iso8859_2", "cp1250"),
        ("Pijamalı hasta yağız şoföre çabucak güvendi.", "cp1254", "cp1254"),
        ("Įlinkdama fechtuotojo špaga sublykčiojusi pragręžė apvalų arbūzą.", "cp1257", "cp1257"),
        ("Этот текст не говорит о своей кодировке.", "cp866", "cp866"),
        ("Этот текст не говорит о своей кодировке.", "iso8859_5", "iso8859_5"),
        ("Этот текст не говорит о своей кодировке.", "mac_cyrillic", "mac_cyrillic"),
        ("Цей текст не говорить, якою абеткою його написано: їжак, ґанок.", "koi8_u", "koi8_u"),
        ('<p class="first">Этот текст</p> <p class="second">среди разметки</p>' * 3, "cp1251", "cp1251"),
        ("เอกสารนี้ไม่ได้บอกรหัสอักขระ", "cp874", "cp874"),
        ("Größe und Maß, für später; Übung macht müde Männer", "cp850", "cp850"),
        ("“The” — ‘quotes’…", "cp1252", "cp1252"),
        ("Een geïnteresseerde coördinator wacht op de ruïne.", "cp1252", "cp1252"),
        ("naïve café, déjà vu, “quoted”", "cp1252", "cp1252"),
        ("Größe und Maß, für später", "cp1252", "cp1252"),
    ],
)
def test_the_encoding_is_detected(text: str, encoding: str, detected: str, tmp_path: Path) -> None:
    data = text.encode(encoding)
    assert detect_encoding(data) == detected
    (tmp_path / "file").write_bytes(data)
    assert (read_text(tmp_path / "file", 1 << 20), encoding_of(tmp_path / "file")) == (text, detected)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_every_text_survives_utf_8(text: str) -> None:
    data = text.encode()
    if not data.startswith((b"%PDF-", b"GIF8")) and not text.startswith("\ufeff"):
        assert data.decode(detect_encoding(data)) == text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x00\x01\x02\x03" * 9, "it holds binary data"),
        (b"text with one \x00 in it", "it holds binary data"),
        (b"%PDF-1.7 ...", "it looks like a PDF"),
        (b"PK\x03\x04....", "it looks like a ZIP archive or an Office document"),
        (b"\x89PNG\r\n", "it looks like a PNG image"),
        (b"\x81\x8d\x8f" + b"\xff" * 9, "not text in UTF-8"),
        (b"\xff\xfe\x00\xd8\x00\xd8", "not text in UTF-8"),
        (b"\xef\xbb\xbf\xff\xfe", "not text in UTF-8"),
    ],
)
def test_bytes_that_are_no_text_are_refused_with_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        detect_encoding(data)


def test_the_head_of_a_file_may_end_inside_a_character() -> None:
    assert detect_encoding(CHINESE.encode()[:-1], complete=False) == "utf-8"


def test_a_few_damaged_characters_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes((CHINESE * 2).encode()[:-1] + b"\xff")
    assert read_text(tmp_path / "file", 1 << 20) == f"{CHINESE}{CHINESE[:-1]}\ufffd\ufffd"


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "cp1252"])
def test_a_file_that_begins_in_ascii_is_judged_by_what_follows(encoding: str, tmp_path: Path) -> None:
    text = "é" if encoding == "cp1252" else CHINESE
    (tmp_path / "file").write_bytes(b"plain text\n" * 30_000 + text.encode(encoding) + b"\nplain text\n" * 30_000)
    assert encoding_of(tmp_path / "file") == encoding


def test_a_large_file_is_refused_by_its_size(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(DocumentError, match="larger than the 1 MiB that are read"):
        read_text(tmp_path / "file", 1 << 20)


def test_line_ends_become_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a\r\nb\rc\n")
    assert read_text(tmp_path / "file", 100) == "a\nb\nc\n"
