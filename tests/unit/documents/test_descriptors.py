"""Files by descriptor: no link leads out of a root, and what is open stays what it was."""

import os
import zipfile
from pathlib import Path

import pytest

from a2c_smcp.documents import descriptors
from a2c_smcp.documents.catalogue import scan
from a2c_smcp.documents.descriptors import Descriptor, HeldPath, open_beneath, read_at, regular_file
from a2c_smcp.documents.excludes import Excludes
from a2c_smcp.documents.files import find_files


@pytest.fixture(params=["openat2", "step by step"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "step by step":
        monkeypatch.setattr(descriptors, "_has_openat2", lambda: False)
    elif not descriptors._has_openat2():
        pytest.skip("this kernel has no openat2")
    return str(request.param)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    (made / "inside").mkdir(parents=True)
    (made / "inside" / "file.txt").write_text("inside", encoding="utf-8")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file.txt").write_text("outside", encoding="utf-8")
    return made


def read(root: Path, relative: str) -> str:
    opened = Descriptor(open_beneath(str(root), relative))
    return os.read(opened.number, 100).decode()


@pytest.mark.usefixtures("way")
def test_a_file_below_the_root_is_opened(root: Path) -> None:
    assert read(root, "inside/file.txt") == "inside"
    assert read(root / "inside", "file.txt") == "inside"
    os.close(open_beneath(str(root), "", folder=True))


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("relative", ["../outside/file.txt", "inside/../../outside/file.txt", "gone", "inside/gone"])
def test_nothing_else_is(root: Path, relative: str) -> None:
    with pytest.raises(OSError, match=r"Errno"):
        read(root, relative)


@pytest.mark.usefixtures("way")
def test_no_link_is_followed_whatever_it_leads_to(root: Path) -> None:
    (root / "file.txt").symlink_to(root / "inside" / "file.txt")
    (root / "folder").symlink_to(root.parent / "outside", target_is_directory=True)
    (root.parent / "way").symlink_to(root, target_is_directory=True)
    (root / "magic").symlink_to("/proc/self/cwd", target_is_directory=True)
    for place, relative in (
        (root, "file.txt"),
        (root, "folder/file.txt"),
        (root.parent / "way", "inside/file.txt"),
        (root, "magic/etc/hostname"),
    ):
        with pytest.raises(OSError, match=r"Errno"):
            read(place, relative)


@pytest.mark.usefixtures("way")
def test_only_files_are_files(root: Path) -> None:
    os.mkfifo(root / "pipe")
    for name in ("pipe", "inside"):
        with pytest.raises(OSError, match=r"Errno"):
            regular_file(str(root), name)


def test_a_name_with_a_zero_byte_is_refused(root: Path) -> None:
    with pytest.raises((OSError, ValueError)):
        open_beneath(str(root), "inside\0/file.txt")


def test_an_open_file_is_read_wherever_its_path_leads_now(root: Path) -> None:
    opened, status = regular_file(str(root), "inside/file.txt")
    (root / "inside").rename(root / "moved")
    (root / "inside").symlink_to(root.parent / "outside", target_is_directory=True)
    path = HeldPath(str(root / "inside" / "file.txt"), opened)
    assert (path.name, path.suffix, path.stem) == ("file.txt", ".txt", "file")
    assert path.stat().st_ino == status.st_ino
    assert (path.read_text(encoding="utf-8"), path.read_bytes()) == ("inside", b"inside")
    with path.open("rb") as one, path.open("rb") as two:
        assert (one.read(2), two.read(4), one.read(), two.seek(-2, os.SEEK_END)) == (b"in", b"insi", b"side", 4)
    with path.open(encoding="utf-8", newline="") as text:
        assert text.readlines() == ["inside"]
    with path.open("rb", 0) as raw:
        assert (raw.read(3), raw.tell()) == (b"ins", 3)
    with pytest.raises(OSError, match="Read-only"):
        path.open("w")
    assert type(path.parent / "x") is not HeldPath or not hasattr(path.parent / "x", "held")


@pytest.mark.parametrize("has_preadv", [True, False])
def test_a_place_in_a_file_is_read_into_a_buffer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_preadv: bool
) -> None:
    if not has_preadv:
        monkeypatch.delattr(os, "preadv")
    (tmp_path / "file").write_bytes(b"0123456789")
    opened, _ = regular_file(str(tmp_path), "file")
    buffer = bytearray(4)
    assert (read_at(opened.number, buffer, 3), bytes(buffer)) == (4, b"3456")
    assert (read_at(opened.number, buffer, 8), bytes(buffer)) == (2, b"8956")


def test_an_archive_can_be_read_by_descriptor(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(50):
            archive.writestr(f"part{number}", os.urandom(5_000) + b"x" * 90_000)
    opened, _ = regular_file(str(tmp_path), "a.zip")
    with HeldPath(str(tmp_path / "a.zip"), opened).open("rb") as file, zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None


def test_a_folder_that_becomes_a_link_while_it_is_walked_is_not_entered(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Excludes.hides

    def swap(self: Excludes, name: str, *, folder: bool) -> bool:
        if name == "inside" and not (root / name).is_symlink():
            (root / name).rename(root.parent / "moved")
            (root / name).symlink_to(root.parent / "outside", target_is_directory=True)
        return real(self, name, folder=folder)

    monkeypatch.setattr(Excludes, "hides", swap)
    assert list(find_files([root])) == []
    assert scan([root], Excludes()) == {}


def test_ignore_files_that_are_links_are_not_read(root: Path) -> None:
    (root.parent / "outside" / "rules").write_text("inside\n", encoding="utf-8")
    (root / ".gitignore").symlink_to(root.parent / "outside" / "rules")
    assert [file.relative for file in find_files([root])] == ["inside/file.txt"]


def test_folders_nested_very_deep_end_the_walk_there(tmp_path: Path) -> None:
    here = tmp_path
    for number in range(460):
        here = here / "d"
        here.mkdir()
        if number in (10, 459):
            (here / "file.txt").write_text("x", encoding="utf-8")
    assert len(list(find_files([tmp_path]))) == 1
