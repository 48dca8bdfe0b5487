"""Files as they are found on disks."""

import os
from pathlib import Path

import pytest

from a2c_smcp.computer.config.files import MAX_BYTES, _unreadable
from a2c_smcp.computer.config.loaders import LoadedConfig, load_config
from a2c_smcp.computer.config.models import ComputerConfig
from a2c_smcp.errors import InvalidConfig


@pytest.mark.parametrize(
    ("raw", "notes"),
    [
        (b'{"servers": {}}', ()),
        (b'\xef\xbb\xbf{"servers": {}}', ()),
        ('{"servers": {}}'.encode("utf-16"), ("read as UTF-16; other programs expect UTF-8",)),
        (b"\xfe\xff" + '{"servers": {}}'.encode("utf-16-be"), ("read as UTF-16; other programs expect UTF-8",)),
        ('{"servers": {}}'.encode("utf-32"), ("read as UTF-32; other programs expect UTF-8",)),
    ],
)
def test_a_file_may_begin_with_a_byte_order_mark(raw: bytes, notes: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(raw)
    assert load_config(str(path)) == LoadedConfig(ComputerConfig(), "native", notes)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"", 'is empty; write at least {"servers": {}}'),
        (b'{\n"\xff": 1}', "is not UTF-8 text (line 2); save it as UTF-8"),
        ('{"servers": {}}'.encode("utf-16-le"), "is not UTF-8 text (it has NUL bytes); save it as UTF-8"),
        pytest.param(b" " * (MAX_BYTES + 1), "is larger than 4 MB; a configuration is much smaller", id="huge"),
    ],
)
def test_a_file_that_is_no_text_is_refused(raw: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(raw)
    with pytest.raises(InvalidConfig) as error:
        load_config(path)
    assert str(error.value) == f"{path}: {problem}"


def test_the_largest_file_allowed_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"servers": {}}'.ljust(MAX_BYTES))
    assert load_config(path).config == ComputerConfig()


def unreadable(path: Path) -> str:
    with pytest.raises(InvalidConfig) as error:
        load_config(path)
    return str(error.value).removeprefix(f"{path}: ")


def test_a_missing_file_is_told() -> None:
    assert unreadable(Path("no-such-directory/a.json")) == "does not exist; check the path"


def test_a_directory_is_told(tmp_path: Path) -> None:
    assert unreadable(tmp_path) == "is a directory; name the file in it"


def test_a_pipe_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert unreadable(tmp_path / "pipe") == "is not a regular file; name one"


def test_a_path_that_cannot_be_looked_up_is_told(tmp_path: Path) -> None:
    assert unreadable(tmp_path / ("x" * 300)) == "cannot be read (File name too long); check the path"


def test_a_path_with_a_nul_in_it_is_told() -> None:
    assert unreadable(Path("a\0b")) == "is not a path (it has a NUL in it); check it"


def test_a_file_without_permission_is_told() -> None:
    # Not by a file of mode 000, which root reads all the same.
    assert _unreadable(PermissionError()) == "may not be read; check its permissions"
