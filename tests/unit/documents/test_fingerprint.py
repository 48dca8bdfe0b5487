"""What makes a result the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from a2c_smcp.documents import fingerprint
from a2c_smcp.documents.files import Signature
from a2c_smcp.documents.fingerprint import code_fingerprint, code_in, content_of, libraries
from a2c_smcp.documents.pdf.native import native

SIGNATURE = (1, 2, 3)


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    code_fingerprint.cache_clear()
    yield
    code_fingerprint.cache_clear()


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


@pytest.mark.parametrize("name", ["_native.so", "_native.cpython-311-x86_64-linux-gnu.so", "rules.c", "table.json"])
def test_whatever_a_reader_is_made_of_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "a_compiled_reader"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    found = set()
    for data in (b"first", b"fixed"):
        code_fingerprint.cache_clear()
        (package / name).write_bytes(data)
        found.add(code_fingerprint(("a_compiled_reader",)))
    assert len(found) == 2


def test_the_extension_of_this_package_counts_where_it_was_built() -> None:
    files = code_in(Path(fingerprint.__file__).parent)
    if native is not None:
        assert Path(str(native.__file__)) in files
    assert not any("__pycache__" in path.parts for path in files)


def test_the_libraries_that_read_files_count_with_those_that_they_need() -> None:
    needed = {"lxml", "markdown-it-py", "onnxruntime", "opencv-python-headless", "pillow", "pypdfium2"}
    assert needed | {"python-calamine", "rapidocr", "selectolax"} <= set(libraries()) | {"opencv-python-headless"}


def test_another_version_of_a_library_is_another_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = code_fingerprint()
    info = tmp_path / "selectolax-99.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: selectolax\nVersion: 99\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    code_fingerprint.cache_clear()
    assert code_fingerprint() != before


def test_a_module_without_a_file_does_no_harm() -> None:
    assert code_fingerprint(("sys",)) == code_fingerprint()
