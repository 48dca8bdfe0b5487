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
    "agent": "a2c agent finder",
    "mcp": {"mcpServers": {"a2c-home": {"command": "/bin/a2c", "args": ["mcp", "--reading-tools"]}}},
    "mcp_http": {"servers": {"a2c-home": {"type": "http", "url": "http://127.0.0.1:3/mcp", "headers": {"A": "B"}}}},
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
        "  a2c agent finder",
        "for the configuration of Claude Desktop, or of any MCP client that starts programs:",
        '  {"mcpServers": {',
        '    "a2c-home": {',
        '      "command": "/bin/a2c",',
        '      "args": ["mcp", "--reading-tools"]',
        "    }",
        "  }}",
        "for the mcp.json of VS Code, or of any MCP client that speaks HTTP (it holds a token: keep it to yourself):",
        '  {"servers": {',
        '    "a2c-home": {',
        '      "type": "http",',
        '      "url": "http://127.0.0.1:3/mcp",',
        '      "headers": {"A": "B"}',
        "    }",
        "  }}",
        "all of them work at the same time, and stay good for the next start on these folders",
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
        (
            {
                "event": "approval",
                "agent": "ada",
                "tool": "echo",
                "server": "own",
                "seconds": 60,
                "console": "http://x",
            },
            [
                "approval needed: ada wants to call echo of own",
                "  answer within 60 s under Approvals at http://x; press Enter here for an address that opens it",
            ],
        ),
        (
            {"event": "input", "id": "k", "description": "K\x07", "hidden": True, "options": ["a"], "problem": "again"},
            [
                "again",
                "input needed: k (K\ufffd)",
                "  1) a",
                "  type its value here, which is not shown, and press Enter; or give it under Approvals in the console",
            ],
        ),
        ({"event": "stopping"}, ["stopping"]),
        ({"event": "stopped"}, ["stopped"]),
    ],
)
def test_what_happens_is_a_line_or_none(event: dict[str, Any], lines: list[str]) -> None:
    assert shown(**event) == lines


def test_a_bell_rings_at_a_terminal() -> None:
    event = {"event": "approval", "agent": "a", "tool": "t", "server": "s", "seconds": 1, "console": "c"}
    assert next(iter(show(event, Namespace(), Terminal(tty=True)))).startswith("\a")


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
