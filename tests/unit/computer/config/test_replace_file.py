"""Files replaced as a whole."""

from pathlib import Path

import pytest

from a2c_smcp.computer.config.files import replace_file
from tests.unit.computer.config.builders import mode_of


def test_a_new_file_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new"
    replace_file(path, "文\r\n")
    assert path.read_bytes() == "文\r\n".encode()
    assert mode_of(path) == 0o600


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o660])
def test_a_file_keeps_its_mode(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    replace_file(path, "new")
    assert (path.read_text(), mode_of(path)) == ("new", mode)


def test_whoever_reads_the_old_file_sees_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with path.open() as reader:
        replace_file(path, "new")
        assert reader.read() == "old"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "file", tmp_path / "link"
    target.write_text("old")
    link.symlink_to("real/file")
    replace_file(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_what_cannot_be_written_stays_and_nothing_is_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        replace_file(path, "new")
    assert [*tmp_path.iterdir()] == [path]


def test_a_directory_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "gone" / "file", "new")
