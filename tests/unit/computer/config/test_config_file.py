"""A configuration file, read and written; how it is watched is shown by the interaction tests."""

from pathlib import Path

import pytest

from a2c_smcp.computer.config.config_file import ConfigFile, resolve_links
from a2c_smcp.computer.config.edits import ConfigEdit
from a2c_smcp.errors import InvalidConfig
from tests.unit.computer.config.builders import commands_of, native
from tests.unit.computer.inputs.builders import stdio


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "computer.json"
    path.write_text(native(a="a"))
    loaded = ConfigFile(str(path)).load()
    assert (commands_of(loaded.config), loaded.format) == ({"a": "a"}, "native")


def test_a_missing_file_is_an_error_or_an_empty_configuration(tmp_path: Path) -> None:
    path = tmp_path / "computer.json"
    with pytest.raises(InvalidConfig):
        ConfigFile(path).load()
    loaded = ConfigFile(path, optional=True).load()
    assert (commands_of(loaded.config), loaded.format) == ({}, "native")


def test_a_link_to_nowhere_is_an_error_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "computer.json"
    path.symlink_to("nowhere")
    with pytest.raises(InvalidConfig):
        ConfigFile(path, optional=True).load()


def test_an_edit_is_written_into_the_file_as_it_is_now(tmp_path: Path) -> None:
    path = tmp_path / "computer.json"
    path.write_text(native(a="a"))
    file = ConfigFile(path)
    file.load()
    path.write_text(native(a="a", b="b"))
    loaded = file.save(ConfigEdit(servers={"a": stdio(name="a", command="a2")}))
    assert commands_of(loaded.config) == {"a": "a2", "b": "b"}
    assert path.read_text() == native(a="a2", b="b")


def test_every_symbolic_link_on_the_path_is_resolved(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "v1").mkdir()
    (root / "v1" / "computer.json").touch()
    (root / "data").symlink_to("v1")
    (root / "etc").mkdir()
    (root / "etc" / "computer.json").symlink_to("../data/computer.json")
    (root / "absolute.json").symlink_to(root / "etc" / "computer.json")
    assert resolve_links(root / "absolute.json") == [
        root / "absolute.json",
        root / "etc" / "computer.json",
        root / "data",
        root / "v1" / "computer.json",
    ]


def test_a_plain_file_resolves_to_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path.resolve()
    monkeypatch.chdir(root)
    assert resolve_links(Path("computer.json")) == [root / "computer.json"]


def test_resolving_circular_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert len(resolve_links(tmp_path / "a")) <= 41


def test_a_state_of_the_file_is_read_again_only_if_the_file_changed(tmp_path: Path) -> None:
    path = tmp_path / "computer.json"
    path.write_text(native(a="a"))
    reads: list[str] = []
    file = ConfigFile(path, check=reads.append)
    state = file.load()
    assert file.latest(state) is state
    assert len(reads) == 1
    path.write_text(native(a="a", b="b"))
    assert commands_of(file.latest(state).config) == {"a": "a", "b": "b"}
    saved = file.save(ConfigEdit(servers={"a": stdio(name="a", command="a2")}))
    assert file.latest(state) == saved
