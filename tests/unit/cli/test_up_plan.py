"""What `a2c up` starts, and what it tells others to type."""

import json
import os
import shlex
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.cli.up_plan import (
    READING,
    FoundConfig,
    OfficeAccess,
    agent_command,
    client_config,
    document_server,
    find_config,
    free_name,
    http_config,
    make_plan,
)
from a2c_smcp.computer import parse_config_text
from a2c_smcp.errors import BadRequest

SEAT = OfficeAccess("http://127.0.0.1:8000", "home", Path("/home/me/to ken"), "http://127.0.0.1:9/mcp", "t")
CONFIG = json.dumps({"mcpServers": {"echo": {"command": "echo"}}})


def given(**arguments: Any) -> Namespace:
    none = dict.fromkeys(("folder", "state", "digests", "config", "name", "input", "input_file"))
    return Namespace(**(none | {"no_config": False, "trust": False} | arguments))


def test_commands_find_the_office_and_say_which_where_several_run() -> None:
    assert shlex.split(agent_command(SEAT))[-2:] == ["agent", "finder"]
    words = shlex.split(agent_command(replace(SEAT, alone=False)))
    assert words[-4:] == ["agent", "finder", "--url", "http://127.0.0.1:8000"]


def test_an_mcp_client_is_told_to_start_a_bridge_or_to_use_the_one_that_runs() -> None:
    (server,) = client_config(SEAT)["mcpServers"].values()
    assert Path(server["command"]).is_absolute()
    assert server["args"][-2:] == ["mcp", "--reading-tools"]
    (server,) = http_config(SEAT)["servers"].values()
    assert server == {"type": "http", "url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer t"}}
    assert "Bearer" not in repr(SEAT)
    for config in (client_config(SEAT), http_config(SEAT)):
        assert parse_config_text(json.dumps(config)).notes == ()


def test_the_document_server_reads_without_asking_and_writes_only_with_consent() -> None:
    server = document_server(
        "documents", [Path("/a"), Path("/b c")], ["--host", "h"], {"A2C_LLM_MODEL": "m", "HOME": "x"}
    )
    assert {tool for tool, meta in server.tool_meta.items() if meta.auto_apply} == set(READING)
    assert "digest_document" not in server.tool_meta
    assert server.default_tool_meta is None
    parameters = server.server_parameters
    assert parameters.command == sys.executable
    assert parameters.args[-7:] == ["docs", "serve", "--host", "h", "--", "/a", "/b c"]
    assert parameters.env == {"A2C_LLM_MODEL": "m"}


def test_a_server_of_ones_own_keeps_its_name() -> None:
    assert free_name("documents", ["documents", "a2c-documents"]) == "a2c-a2c-documents"
    assert free_name("documents", []) == "documents"


def test_the_configuration_of_this_folder_is_found_and_another_one_told_of(tmp_path: Path) -> None:
    assert find_config(tmp_path) == FoundConfig()
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "mcp.json").write_text(CONFIG, encoding="utf-8")
    assert find_config(tmp_path) == FoundConfig(tmp_path / ".vscode" / "mcp.json")
    (tmp_path / "mcp.json").write_text(CONFIG, encoding="utf-8")
    notes = (f"{Path('.vscode') / 'mcp.json'} is left alone: --config names one file",)
    assert find_config(tmp_path) == FoundConfig(tmp_path / "mcp.json", notes)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no modes of files")
def test_a_configuration_that_others_can_write_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "mcp.json").chmod(0o666)
    assert find_config(tmp_path) == FoundConfig(None, ("mcp.json is left alone: others can write it",))


def test_by_default_this_folder_is_offered_under_the_name_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("platform.node", lambda: "desk")
    plan = make_plan(given(), {"XDG_STATE_HOME": str(tmp_path / "state")})
    assert (plan.name, plan.roots, plan.config, plan.notes) == ("desk", (tmp_path.resolve(),), None, ())


def test_a_file_that_is_found_and_cannot_be_used_is_told_of_and_one_that_is_named_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mcp.json").write_text("[]", encoding="utf-8")
    found = make_plan(given(), {})
    assert found.config is None
    assert "its MCP servers are not started: fix it" in found.notes[0]
    assert make_plan(given(config="mcp.json"), {}).config == Path("mcp.json")
    assert make_plan(given(no_config=True), {}).notes == ()


def test_what_is_started_because_it_lies_here_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mcp.json").write_text(CONFIG, encoding="utf-8")
    plan = make_plan(given(trust=True, state=str(tmp_path / "state")), {})
    assert (plan.config, "mcp.json is in this folder" in plan.notes[0]) == (tmp_path / "mcp.json", True)


def test_a_file_that_was_found_is_not_used_until_somebody_agrees_and_then_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mcp.json").write_text(CONFIG, encoding="utf-8")
    arguments, asked = given(state=str(tmp_path / "state")), []

    def ask(path: Path, starts: Any, *, answer: bool) -> bool:
        asked.append((path, list(starts)))
        return answer

    unattended = make_plan(arguments, {})
    assert unattended.config is None
    assert "you have not agreed to what it starts" in unattended.notes[0]
    assert "reason=not trusted" in caplog.text
    assert make_plan(arguments, {}, lambda *words: ask(*words, answer=False)).config is None
    assert make_plan(arguments, {}, lambda *words: ask(*words, answer=True)).config == tmp_path / "mcp.json"
    assert asked == [(tmp_path / "mcp.json", ['  server "echo": runs echo'])] * 2
    assert make_plan(arguments, {}).config == tmp_path / "mcp.json"
    (tmp_path / "mcp.json").write_text(CONFIG.replace('"echo"}', '"rm"}'), encoding="utf-8")
    assert make_plan(arguments, {}).config is None
    # A file that the user names is the user's own word.
    assert make_plan(given(config="mcp.json"), {}).config == Path("mcp.json")


def test_to_offer_the_whole_home_folder_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "all of your home folder" in make_plan(given(folder=[str(tmp_path)], no_config=True), {}).notes[0]


def test_a_folder_that_is_not_there_is_said() -> None:
    why = "There is no folder 'no-such-folder': check the path; without one, this folder is offered"
    with pytest.raises(BadRequest, match=f"^{why}$"):
        make_plan(given(folder=["no-such-folder"]), {})


@pytest.mark.parametrize("name", [".", "notes.md"])
def test_what_may_not_be_read_is_said_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "notes.md").touch()
    monkeypatch.setattr("os.access", lambda *_: False)  # the user who runs the tests may read everything
    with pytest.raises(BadRequest, match="may not be read: change its permissions, or name another folder"):
        make_plan(given(folder=[str(tmp_path / name)], no_config=True), {})
