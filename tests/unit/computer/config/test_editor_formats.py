"""Servers and inputs as editors write them, in native form."""

from typing import Any

import pytest

from a2c_smcp.computer.config.editor_formats import Findings, Origin, read_inputs, read_server
from a2c_smcp.computer.config.problems import JsonPath

AT: JsonPath = ("mcpServers", "x")


def read(entry: object) -> tuple[dict[str, Any] | None, Findings]:
    found = Findings()
    result = read_server("x", entry, AT, found)
    return (result[0] if result else None), found


def notes(entry: object) -> list[str]:
    return [note.removeprefix("mcpServers.x") for note in read(entry)[1].notes]


def problems(entry: object) -> list[str]:
    server, found = read(entry)
    assert server is None
    return [str(problem).removeprefix("mcpServers.x") for problem in found.problems]


STDIO = {"name": "x", "type": "stdio", "server_parameters": {"command": "c"}}
HTTP = {"name": "x", "type": "streamable", "server_parameters": {"url": "https://h"}}
SSE = HTTP | {"type": "sse"}


@pytest.mark.rule("5.4.claude", "5.4.vscode")
@pytest.mark.parametrize(
    ("entry", "server"),
    [
        ({"command": "c"}, STDIO),
        ({"type": "stdio", "command": "c"}, STDIO),
        ({"transport": "stdio", "command": "c"}, STDIO),
        ({"command": "c", "args": None, "env": None, "cwd": None}, STDIO),
        (
            {"command": "c", "args": ["-y"], "env": {"A": 1}, "cwd": "/d"},
            STDIO | {"server_parameters": {"command": "c", "args": ["-y"], "env": {"A": 1}, "cwd": "/d"}},
        ),
        ({"url": "https://h"}, HTTP),
        ({"serverUrl": "https://h"}, HTTP),
        ({"httpUrl": "https://h"}, HTTP),
        ({"type": "http", "url": "https://h"}, HTTP),
        ({"type": "streamable-http", "url": "https://h"}, HTTP),
        ({"type": "streamableHttp", "url": "https://h"}, HTTP),
        ({"type": "sse", "url": "https://h"}, SSE),
        (
            {"url": "https://h", "headers": {"A": "b"}},
            HTTP | {"server_parameters": {"url": "https://h", "headers": {"A": "b"}}},
        ),
        ({"command": "c", "disabled": True}, STDIO | {"disabled": True}),
        ({"command": "c", "enabled": False}, STDIO | {"disabled": True}),
        (
            {"command": "c", "tool_meta": {"t": {}}, "subscribe": "assume"},
            STDIO | {"tool_meta": {"t": {}}, "subscribe": "assume"},
        ),
    ],
)
def test_a_flat_server_becomes_a_native_one(entry: object, server: dict[str, Any]) -> None:
    assert read(entry) == (server, Findings())


@pytest.mark.rule("5.4.claude")
def test_tools_that_an_editor_switched_off_are_forbidden() -> None:
    entry = {"command": "c", "forbidden_tools": ["a"], "disabledTools": ["a", "b"], "excludeTools": ["c"]}
    assert read(entry)[0] == STDIO | {"forbidden_tools": ["a", "b", "c"]}
    assert notes(entry) == ['.disabledTools: read as "forbidden_tools"', '.excludeTools: read as "forbidden_tools"']


CONSENT = 'ignored: consent given in an editor does not extend to Agents; set "auto_apply" in "tool_meta"'
LOGIN = 'ignored: no login is run here; put a token into "headers"'


@pytest.mark.rule("5.4.claude", "5.4.vscode")
@pytest.mark.parametrize(
    ("extra", "note"),
    [
        ({"autoApprove": ["t"]}, f".autoApprove: {CONSENT}"),
        ({"alwaysAllow": ["t"]}, f".alwaysAllow: {CONSENT}"),
        ({"envFile": ".env"}, '.envFile: not read: move its variables into "env"'),
        ({"sandboxEnabled": True}, ".sandboxEnabled: ignored: the server runs without a sandbox"),
        ({"oauth": {}}, f".oauth: {LOGIN}"),
        ({"timeout": 60}, ".timeout: ignored: programs count it differently; the caller's own timeout holds"),
        (
            {"includeTools": ["t"]},
            '.includeTools: ignored: every tool is offered; name the unwanted ones in "forbidden_tools"',
        ),
        ({"dev": {}}, ".dev: ignored: it has no meaning here"),
        ({"gallery": True}, ".gallery: ignored: it has no meaning here"),
        ({"argz": []}, '.argz: ignored: it is not a known key; did you mean "args"?'),
        ({"qqq": 1}, ".qqq: ignored: it is not a known key"),
        ({"headers": {}}, '.headers: ignored: a server of kind "stdio" has none'),
        ({"env": {"A": None}}, ".env.A: ignored: it is null"),
    ],
)
def test_what_has_no_meaning_here_is_noted(extra: dict[str, Any], note: str) -> None:
    assert notes({"command": "c"} | extra) == [note]


def test_every_tool_is_what_a_star_means() -> None:
    assert notes({"command": "c", "tools": ["*"]}) == []


def test_of_two_addresses_the_first_known_one_is_used() -> None:
    assert notes({"url": "https://h", "serverUrl": "https://i"}) == ['.serverUrl: ignored: "url" is used']


def test_an_address_that_looks_like_sse_without_a_type_is_noted() -> None:
    assert notes({"url": "https://h/sse"}) == [
        ': read as streamable HTTP; if the server speaks only SSE, add "type": "sse"'
    ]


NEITHER = ': has neither a command nor a url; add "command" to start a program, or "url"'


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ([], ': is a list; it must be an object such as {"command": "npx"}'),
        ({}, NEITHER),
        ({"zzz": 1}, NEITHER),
        ({"comand": "x"}, f'{NEITHER} (did you mean "command" by "comand"?)'),
        ({"command": "c", "url": "u"}, ": has both a command and a url; keep the one that is meant"),
        ({"type": "ws", "url": "u"}, '.type: is "ws", which is not known; write "stdio", "http" or "sse"'),
        ({"type": "htttp", "url": "u"}, '.type: is "htttp", which is not known; did you mean "http"?'),
        ({"type": 1, "url": "u"}, '.type: is a number; write "stdio", "http" or "sse"'),
        ({"type": "stdio", "url": "u"}, '.type: is "stdio", but the server has a url; write "http"'),
        ({"transport": "sse", "command": "c"}, '.transport: is "sse", but the server has a command; write "stdio"'),
        (
            {"server_parameters": {}},
            ': is in the native form; put it under "servers" instead of "mcpServers"',
        ),
    ],
)
def test_a_server_that_cannot_be_told_is_a_problem(entry: object, problem: str) -> None:
    assert problems(entry) == [problem]


@pytest.mark.parametrize(
    ("entry", "native", "place"),
    [
        ({"serverUrl": "u"}, ("server_parameters", "url"), (*AT, "serverUrl")),
        ({"command": "c"}, ("server_parameters", "args", 0), (*AT, "args", 0)),
        ({"command": "c"}, ("server_parameters",), AT),
        ({"command": "c"}, ("name",), AT),
        ({"command": "c", "enabled": 1}, ("disabled",), (*AT, "enabled")),
        ({"command": "c", "disabledTools": "t"}, ("forbidden_tools",), (*AT, "disabledTools")),
        ({"command": "c", "disabledTools": [1]}, ("forbidden_tools", 0), (*AT, "disabledTools", 0)),
    ],
)
def test_a_place_in_the_native_form_leads_back_to_the_file(entry: object, native: JsonPath, place: JsonPath) -> None:
    result = read_server("x", entry, AT, Findings())
    assert result is not None
    assert result[1].locate(native) == place


def test_a_native_server_stands_where_it_stands() -> None:
    assert Origin(("servers", 0)).locate(("server_parameters", "url")) == ("servers", 0, "server_parameters", "url")


@pytest.mark.rule("5.4.vscode", "5.1.inputs")
@pytest.mark.parametrize(
    ("entry", "native", "told"),
    [
        (
            {"type": "promptString", "id": "a", "description": "A", "password": True, "default": None},
            {"type": "promptString", "id": "a", "description": "A", "password": True},
            [],
        ),
        ({"type": "promptString", "id": "a"}, {"type": "promptString", "id": "a", "description": ""}, []),
        (
            {"type": "pickString", "id": "a", "options": [{"label": "B", "value": "b"}, "c"], "default": "b"},
            {"type": "pickString", "id": "a", "description": "", "options": ["b", "c"], "default": "b"},
            [],
        ),
        (
            {"type": "command", "id": "a", "command": "ext.run", "args": {"n": 1, "o": {"p": []}, "q": None, "r": "s"}},
            {
                "type": "command",
                "id": "a",
                "description": "",
                "command": "ext.run",
                "args": {"n": "1", "o": '{"p": []}', "r": "s"},
            },
            ["inputs[0].command: runs a program of that name, not a command of the editor"],
        ),
        (
            {"type": "command", "id": "a", "command": "ext.run", "args": ["x"]},
            {"type": "command", "id": "a", "description": "", "command": "ext.run"},
            [
                "inputs[0].command: runs a program of that name, not a command of the editor",
                "inputs[0].args: ignored: arguments are given by name, as an object",
            ],
        ),
        (
            {"type": "promptString", "id": "a", "placeHolder": "x"},
            {"type": "promptString", "id": "a", "description": ""},
            ["inputs[0].placeHolder: ignored: it has no meaning here"],
        ),
        (
            {"type": "command", "id": "a", "description": "A", "command": "run"},
            {"type": "command", "id": "a", "description": "A", "command": "run"},
            ["inputs[0].command: runs a program of that name, not a command of the editor"],
        ),
        ({"type": "other", "id": "a"}, {"type": "other", "id": "a"}, []),
        ("x", "x", []),
    ],
)
def test_an_input_of_an_editor_becomes_a_native_one(entry: object, native: object, told: list[str]) -> None:
    found = Findings()
    assert read_inputs([entry], ("inputs",), found) == [native]
    assert found.notes == told


def test_inputs_that_are_no_list_are_left_to_the_model() -> None:
    assert read_inputs({}, ("inputs",), Findings()) == {}
