"""`a2c up`: its command line and its lines for a person."""

from argparse import Namespace
from io import StringIO
from typing import Any

import pytest

from a2c_smcp.cli.main import main
from a2c_smcp.cli.terminal import Terminal
from a2c_smcp.cli.up import show
from tests.unit.cli.running import Terminal as Screen
from tests.unit.cli.running import a2c

READY = {
    "event": "ready",
    "console": "http://127.0.0.1:1/#token=t",
    "url": "http://127.0.0.1:2",
    "office": "home",
    "name": "desk",
    "folders": ["/docs"],
    "config": "mcp.json",
    "servers": ["echo", "documents"],
    "notes": ["look out"],
    "agent": "a2c agent finder --url http://127.0.0.1:2",
    "mcp": {"mcpServers": {"a2c-home": {"command": "/bin/a2c", "args": ["mcp", "--office", "home"]}}},
}


def shown(**event: Any) -> list[str]:
    return list(show(event, Namespace(), Terminal()))


def test_all_that_a_person_needs_is_on_the_first_screen() -> None:
    assert shown(**READY) == [
        "desk is up: 2 MCP servers, Ctrl-C ends all of it",
        "console    http://127.0.0.1:1/#token=t",
        "           opens once, in one browser; press Enter here for a new address",
        "documents  /docs",
        "servers    of mcp.json: echo, documents",
        "office     home at http://127.0.0.1:2",
        "note: look out",
        "",
        "look around from another terminal:",
        "  a2c agent finder --url http://127.0.0.1:2",
        "for the configuration of Claude Desktop, or of any client that speaks MCP:",
        '  {"mcpServers": {',
        '    "a2c-home": {',
        '      "command": "/bin/a2c",',
        '      "args": ["mcp", "--office", "home"]',
        "    }",
        "  }}",
        "an office has one Agent at a time; with --port this configuration stays good",
        "",
    ]


@pytest.mark.parametrize(
    ("event", "lines"),
    [
        ({"event": "console", "console": "http://x"}, ["console: http://x"]),
        ({"event": "server", "name": "a", "state": "starting", "problem": None, "advice": None}, []),
        ({"event": "server", "name": "a", "state": "running", "problem": None, "advice": None}, ["server a: running"]),
        (
            {"event": "server", "name": "a", "state": "failed", "problem": "it\x1b[2J", "advice": "mend it"},
            ["server a: failed: it\ufffd[2J (mend it)"],
        ),
        ({"event": "connection", "state": "joined", "problem": None}, []),
        ({"event": "connection", "state": "waiting", "problem": "gone"}, ["connection: waiting: gone"]),
        ({"event": "configuration", "problem": None}, ["configuration: in use again"]),
        ({"event": "indexing", "indexed": 3, "total": 9}, ["3 of 9 documents can be searched"]),
        (
            {"event": "indexing", "indexed": 0, "total": 0},
            ["there is no document that can be read: add files, they are found while this runs"],
        ),
        ({"event": "demo", "words": "joins"}, ["demo agent joins"]),
        ({"event": "stopping"}, ["stopping"]),
        ({"event": "stopped"}, ["stopped"]),
    ],
)
def test_what_happens_is_a_line_or_none(event: dict[str, Any], lines: list[str]) -> None:
    assert shown(**event) == lines


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["--port", "70000"], 2, "no port"),
        (["--port", "x"], 2, "no port"),
        (["no-such-folder"], 1, "There is no folder 'no-such-folder'"),
    ],
)
def test_what_cannot_be_is_said_at_once(words: list[str], code: int, why: str) -> None:
    run = a2c("up", *words)
    assert (run.code, why in run.err) == (code, True)


def test_whoever_waits_at_a_terminal_is_told_at_once_that_it_starts() -> None:
    screen = Screen()
    main(["up", "no-such-folder"], stdin=StringIO(), stdout=StringIO(), stderr=screen, env={"NO_COLOR": "1"})
    assert screen.getvalue().splitlines()[0] == "starting …"
