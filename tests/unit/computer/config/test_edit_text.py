"""Edits written into the text of a native file."""

import json
from typing import Any

import pytest
from hypothesis import given

from a2c_smcp.computer import ComputerConfig, ToolMeta, parse_config_text
from a2c_smcp.computer.config.edits import EMPTY_CONFIG, ConfigEdit, NotSaved, edit_text
from a2c_smcp.errors import InvalidConfig
from tests.unit.computer.config.test_edits import CONFIGS, EDITS
from tests.unit.computer.inputs.builders import http, pick, prompt, stdio

TEXT = """{
    "$schema": "https://example.com/schema.json",
    "servers": {
        "a": {
            "type": "stdio",
            "server_parameters": {
                "command": "a",
                "args": [],
                "env": {
                    "PORT": 8080,
                    "名": "值"
                }
            },
            "disabled": false
        },
        "b": {
            "type": "sse",
            "server_parameters": {
                "url": "https://example.com/sse",
                "timeout": 10
            }
        }
    }
}
"""


def data_of(edit: ConfigEdit, text: str = TEXT) -> Any:
    return json.loads(edit_text(text, edit)[0])


def test_what_an_edit_does_not_touch_stays_as_it_was_written() -> None:
    text, loaded = edit_text(TEXT, ConfigEdit(servers={"b": None}))
    head = TEXT[: TEXT.index('        "b"')].rstrip().rstrip(",")
    assert text == f"{head}\n    }}\n}}\n"
    assert list(loaded.config.servers) == ["a"]


def test_an_empty_edit_changes_nothing() -> None:
    assert edit_text(TEXT, ConfigEdit())[0] == TEXT


def test_a_server_is_added_with_what_is_set_of_it() -> None:
    server = stdio("-y", env={"K": "${input:k}"}, tool_meta={"x": ToolMeta(alias="y")})
    assert data_of(ConfigEdit(servers={"notes": server}))["servers"]["notes"] == {
        "type": "stdio",
        "tool_meta": {"x": {"alias": "y"}},
        "server_parameters": {"command": "notes-mcp", "args": ["-y"], "env": {"K": "${input:k}"}},
    }


def test_a_server_is_replaced_in_its_place() -> None:
    data = data_of(ConfigEdit(servers={"a": http("https://example.com", name="a")}))
    assert list(data["servers"]) == ["a", "b"]
    assert data["servers"]["a"] == {"type": "streamable", "server_parameters": {"url": "https://example.com"}}


def test_a_flag_changes_nothing_else() -> None:
    before = json.loads(TEXT)["servers"]
    data = data_of(ConfigEdit(disabled={"a": True, "b": True}))
    assert data["servers"] == {"a": before["a"] | {"disabled": True}, "b": before["b"] | {"disabled": True}}
    assert "disabled" not in data_of(ConfigEdit(disabled={"a": False}))["servers"]["a"]


def test_a_flag_for_a_server_that_is_not_in_the_file_cannot_be_saved() -> None:
    for edit in (ConfigEdit(disabled={"c": True}), ConfigEdit(servers={"a": None}, disabled={"a": True})):
        with pytest.raises(NotSaved, match="the file has no server"):
            edit_text(TEXT, edit)


def test_inputs_are_added_replaced_and_removed() -> None:
    first = edit_text(TEXT, ConfigEdit(inputs={"i": prompt("i", "I", default="x"), "j": pick("j")}))[0]
    assert json.loads(first)["inputs"] == [
        {"type": "promptString", "id": "i", "description": "I", "default": "x"},
        {"type": "pickString", "id": "j", "description": "The browser", "options": ["chrome", "firefox"]},
    ]
    second = data_of(ConfigEdit(inputs={"i": prompt("i", "J", password=True), "j": None}), first)
    assert second["inputs"] == [{"type": "promptString", "id": "i", "description": "J", "password": True}]


LISTED = json.dumps(
    {"servers": [{"name": name, "type": "stdio", "server_parameters": {"command": name}} for name in ("a", "b")]}
)


def test_servers_in_a_list_stay_in_it() -> None:
    edit = ConfigEdit({"a": None, "b": stdio(name="b"), "c": stdio(name="c")}, {"c": True})
    assert data_of(edit, LISTED)["servers"] == [
        {"name": "b", "type": "stdio", "server_parameters": {"command": "notes-mcp"}},
        {"name": "c", "type": "stdio", "server_parameters": {"command": "notes-mcp"}, "disabled": True},
    ]


@pytest.mark.parametrize("indent", ["\t", " ", "    "])
def test_the_indent_of_the_file_is_kept(indent: str) -> None:
    text = json.dumps(json.loads(TEXT), indent=indent, ensure_ascii=False) + "\n"
    assert edit_text(text, ConfigEdit())[0] == text


def test_a_file_on_one_line_is_written_on_many() -> None:
    assert edit_text('{"servers": {}}', ConfigEdit())[0] == EMPTY_CONFIG


@pytest.mark.parametrize("text", ['{"servers": {}} // mine', '{"servers": {},}'])
def test_comments_are_not_written_over(text: str) -> None:
    with pytest.raises(NotSaved) as caught:
        edit_text(text, ConfigEdit(servers={"a": stdio(name="a")}))
    assert str(caught.value) == ("the file has comments or trailing commas, which saving would lose; edit it by hand")


@pytest.mark.rule("5.4.claude", "5.4.vscode")
@pytest.mark.parametrize("text", ['{"mcpServers": {}}', '{"servers": {"a": {"command": "a"}}}'])
def test_files_of_other_programs_are_not_written_over(text: str) -> None:
    with pytest.raises(NotSaved, match="other formats are never rewritten"):
        edit_text(text, ConfigEdit())


def test_a_file_with_problems_is_not_written_over() -> None:
    with pytest.raises(InvalidConfig):
        edit_text('{"servers": 1}', ConfigEdit())


@given(CONFIGS, EDITS)
def test_the_text_says_afterwards_what_the_edit_says(base: ComputerConfig, edit: ConfigEdit) -> None:
    text, _ = edit_text(EMPTY_CONFIG, ConfigEdit.of(base))
    there = edit.over(base).servers
    sound = ConfigEdit(edit.servers, {name: flag for name, flag in edit.disabled.items() if name in there}, edit.inputs)
    new, loaded = edit_text(text, sound)
    assert parse_config_text(new) == loaded
    assert loaded.config == sound.over(base)
