"""What makes a result the same."""

from pathlib import Path

import pytest

from a2c_smcp.documents import fingerprint
from a2c_smcp.documents.files import Signature
from a2c_smcp.documents.fingerprint import code_fingerprint, content_of

SIGNATURE = (1, 2, 3)


def content(path: Path, signature: Signature) -> bytes:
    with path.open("rb") as file:
        return content_of(file.fileno(), signature)


def test_a_content_is_its_bytes_wherever_they_are(tmp_path: Path) -> None:
    one, two, other = tmp_path / "one", tmp_path / "two", tmp_path / "other"
    one.write_bytes(b"same")
    two.write_bytes(b"same")
    other.write_bytes(b"else")
    assert content(one, SIGNATURE) == content(two, (4, 5, 6))
    assert content(one, SIGNATURE) != content(other, SIGNATURE)


@pytest.mark.parametrize(
    ("data", "signature", "same"),
    [
        (b"a" * 100, SIGNATURE, True),
        (b"a" * 100, (9, 2, 3), False),
        (b"b" + b"a" * 99, SIGNATURE, False),
        (b"a" * 99 + b"b", SIGNATURE, False),
        (b"a" * 101, SIGNATURE, False),
    ],
    ids=["same", "written", "head", "tail", "size"],
)
def test_of_a_large_file_the_ends_the_size_and_the_time_must_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, signature: tuple[int, int, int], same: bool
) -> None:
    monkeypatch.setattr(fingerprint, "WHOLE", 50)
    monkeypatch.setattr(fingerprint, "_END", 10)
    file, other = tmp_path / "file", tmp_path / "other"
    file.write_bytes(b"a" * 100)
    other.write_bytes(data)
    assert (content(file, SIGNATURE) == content(other, signature)) is same


def test_other_code_is_another_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "a_reader_elsewhere.py").write_text("X = 1\n", encoding="utf-8")
    with_module = code_fingerprint(("a_reader_elsewhere",))
    code_fingerprint.cache_clear()
    (tmp_path / "a_reader_elsewhere.py").write_text("X = 2\n", encoding="utf-8")
    assert len({code_fingerprint(), with_module, code_fingerprint(("a_reader_elsewhere",))}) == 3


def test_a_module_without_a_file_does_no_harm() -> None:
    assert code_fingerprint(("sys",)) == code_fingerprint()
