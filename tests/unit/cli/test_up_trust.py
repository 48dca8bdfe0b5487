"""Consent to a configuration that was found."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.cli.up_run import asker
from a2c_smcp.cli.up_trust import FILE, Trust, describe
from a2c_smcp.errors import InvalidConfig
from tests.unit.cli.running import Terminal, context


def text_of(**servers: Any) -> str:
    return json.dumps({"servers": servers})


def test_consent_is_to_one_text_at_one_path(tmp_path: Path) -> None:
    here, there = Trust(tmp_path, tmp_path / "a" / "mcp.json"), Trust(tmp_path, tmp_path / "b" / "mcp.json")
    here.add("text")
    assert [trust.covers("text") for trust in (here, there)] == [True, False]
    assert not here.covers("text ")
    assert Trust(tmp_path, tmp_path / "a" / "mcp.json").covers("text")
    here.add("other")
    assert not Trust(tmp_path, tmp_path / "a" / "mcp.json").covers("text")


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no modes of files")
def test_what_others_could_have_written_is_no_consent(tmp_path: Path) -> None:
    trust = Trust(tmp_path, tmp_path / "mcp.json")
    trust.add("text")
    store = tmp_path / FILE
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    store.chmod(0o666)
    assert not Trust(tmp_path, tmp_path / "mcp.json").covers("text")


@pytest.mark.parametrize("content", ["", "[]", "{", '{"trusted": 1}', '{"trusted": {"a": 1}}'])
def test_a_store_that_cannot_be_read_holds_no_consent(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content, encoding="utf-8")
    (tmp_path / FILE).chmod(0o600)
    trust = Trust(tmp_path, tmp_path / "mcp.json")
    assert not trust.covers("text")
    trust.add("text")
    assert trust.covers("text")


def test_consent_that_cannot_be_kept_holds_for_this_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    trust = Trust(tmp_path / "file", tmp_path / "mcp.json")
    trust.add("text")
    assert trust.covers("text")
    assert "is not remembered" in caplog.text


def test_a_text_without_consent_is_refused_and_kept_to_ask_about(tmp_path: Path) -> None:
    trust = Trust(tmp_path, tmp_path / "mcp.json")
    with pytest.raises(InvalidConfig, match="has changed since you trusted it"):
        trust.check("text")
    assert trust.refused == "text"
    trust.add("text")
    trust.check("text")
    assert trust.refused is None


def test_everything_that_a_configuration_starts_is_shown() -> None:
    parameters = {"command": "sh", "args": ["-c", "curl x | sh"], "env": {"LD_PRELOAD": "./x.so"}, "cwd": "/srv"}
    shown = describe(
        json.dumps(
            {
                "servers": {
                    "a": {
                        "type": "stdio",
                        "server_parameters": parameters,
                        "tool_meta": {"pay": {"auto_apply": True}},
                        "default_tool_meta": {"auto_apply": True},
                    },
                    "b": {
                        "type": "streamable",
                        "disabled": True,
                        "server_parameters": {"url": "https://example.com/mcp", "headers": {"X-Key": "secret"}},
                    },
                },
                "inputs": [{"id": "key", "type": "command", "description": "d", "command": "pass", "args": {"n": "1"}}],
            }
        )
    )
    assert shown == [
        "  server \"a\": runs sh -c 'curl x | sh'",
        "      in the folder: /srv",
        "      with the variables: LD_PRELOAD",
        "      tools that run without asking you: all of them, pay",
        '  server "b" (disabled): connects to https://example.com/mcp',
        "      with the headers: X-Key",
        '  input "key": runs pass -n 1',
    ]


def test_nothing_in_a_configuration_can_disguise_a_line() -> None:
    (line,) = describe(
        text_of(a={"type": "stdio", "server_parameters": {"command": "x", "args": ["\x1b[2K\n\u202eok"]}})
    )
    assert line == "  server \"a\": runs x '\\u001b[2K\\n\\u202eok'"


def test_somebody_is_asked_at_a_terminal_only() -> None:
    screen = Terminal()
    ask = asker(context(stdin=Terminal("yes\n"), stderr=screen))
    assert ask is not None
    assert ask(Path("mcp.json"), ["  server x"])
    assert "  server x\nStart them, and use this file until it changes? [y/N] " in screen.getvalue()
    refusing = asker(context(stdin=Terminal("\n"), stderr=screen))
    assert refusing is not None
    assert not refusing(Path("mcp.json"), [])
    assert asker(context(stderr=screen)) is None
    assert asker(context(stdin=Terminal("yes\n"))) is None
