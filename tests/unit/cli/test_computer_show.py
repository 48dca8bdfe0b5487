"""What a person sees of the Computer's commands."""

from typing import Any

import pytest

from a2c_smcp.cli import computer_show as show
from a2c_smcp.cli.terminal import Terminal, columns

PLAIN = Terminal()
SERVER = {"name": "files", "state": "running", "restarts": 0, "problem": None, "advice": None}
CONNECTION = {"state": "joined", "office_id": "lab", "retry_in": None, "problem": None, "advice": None}
QUESTION = {
    "number": 3,
    "confirmation": {
        "server": "files",
        "tool": "rm",
        "agent": "ada",
        "arguments": {"path": "a\u202eb\x1b[2J", "名": "世界"},
        "seconds": 30.0,
        "changes": (),
    },
}


CHANGED = (
    "note: tool pay of bank changed since auto_apply was set (description): its calls need confirmation; "
    "approvals shows what changed and how to accept it"
)


def test_status_names_what_needs_care() -> None:
    value = {
        "name": "desk",
        "connection": None,
        "servers": [SERVER | {"state": "failed", "restarts": 5, "problem": "it died", "advice": "see its log"}],
        "undeclared": ["docs"],
        "left_out": {"windows": {"logs": 7}, "documents": {"docs": 2}},
        "unlisted": {"notes": "it did not answer"},
        "tool_names": [
            {"tool": "x", "servers": ["a", "b"], "problem": "two tools want it.", "advice": "Set an alias."}
        ],
        "changed_tools": [{"listed": "pay", "server": "bank", "fields": ["description"]}],
        "configuration": {"problem": "mcp.json: no JSON", "notes": ["a note"]},
    }
    assert list(show.status(value, PLAIN)) == [
        "desk",
        "connection: none",
        "server files: failed after 5 restarts: it died (see its log)",
        "note: docs has windows or documents but does not declare that it can be subscribed to",
        "note: logs lists more windows than are read: 7 of the lowest priority are left out",
        "note: 2 documents of docs have summaries or keywords that are searched only in part",
        "note: the tools of notes are not known: it did not answer",
        "note: tool 'x' of a and b: two tools want it. (Set an alias.)",
        CHANGED,
        "configuration: mcp.json: no JSON",
        "note: a note",
    ]


@pytest.mark.rule("4.4")
def test_a_question_shows_exactly_what_will_run() -> None:
    assert list(show.approval(QUESTION, PLAIN)) == [
        'approval 3: agent "ada" wants to run "rm" of server "files" with',
        "  {",
        '    "path": "a\\u202eb\\u001b[2J",',
        '    "名": "世界"',
        "  }",
        "approvals approve 3 once|always, or approvals refuse 3, within 30 s",
    ]


@pytest.mark.rule("4.4")
@pytest.mark.parametrize(
    ("arguments", "size"),
    [
        ({"text": "x" * 5_000}, "5,020 characters in 3 lines"),
        ({"items": list(range(100))}, "914 characters in 104 lines"),
        ({"text": "y" * 1_700 + "; rm -rf ~"}, "1,730 characters in 3 lines"),
    ],
)
def test_of_a_long_question_the_beginning_is_shown_and_how_long_it_is(arguments: Any, size: str) -> None:
    question = {"number": 3, "confirmation": QUESTION["confirmation"] | {"arguments": arguments}}  # type: ignore[operator]
    *shown, told, how = show.approval(question, PLAIN)
    assert len("".join(shown)) < 2_000
    assert told == f"… {size}: approvals show 3 prints all of them"
    assert how == "then approvals approve 3 once|always; or approvals refuse 3, within 30 s"
    whole = list(show.whole_approval(question, PLAIN))
    assert [line for line in whole if line.startswith("  ")] == show.decided_on(question["confirmation"])


@pytest.mark.rule("4.4")
def test_a_question_about_a_changed_tool_shows_what_changed() -> None:
    lines = ["description:", "- Pays.", "+ Pays\u200b."]
    question = QUESTION | {"confirmation": QUESTION["confirmation"] | {"changes": lines}}  # type: ignore[operator]
    assert list(show.approval(question, PLAIN))[5:9] == [
        "its definition changed since you allowed it; always accepts the new one:",
        "  description:",
        "  - Pays.",
        "  + Pays\\u200b.",
    ]


@pytest.mark.parametrize(
    ("event", "lines"),
    [
        (
            {"event": "ready", "name": "desk", "servers": ["a"], "notes": ["b"]},
            ["computer desk: 1 server, Ctrl-C ends", "note: b"],
        ),
        ({"event": "server"} | SERVER, ["server files: running"]),
        ({"event": "connection"} | CONNECTION, ["connection: joined lab"]),
        (
            {"event": "connection"}
            | CONNECTION
            | {"state": "waiting", "problem": "no", "advice": "look", "retry_in": 2.04},
            ["connection: waiting lab: no (look); next attempt in 2.0 s"],
        ),
        ({"event": "configuration", "problem": None}, ["configuration: in use again"]),
        ({"event": "stopped"}, ["stopped"]),
    ],
)
def test_an_event_is_a_line(event: dict[str, Any], lines: list[str]) -> None:
    assert list(show.event(event, PLAIN)) == lines


@pytest.mark.parametrize(
    ("lines", "value", "shown"),
    [
        (show.tools, [{"name": "echo", "description": "says\nit"}, {"name": "x"}], ["echo  says it", "x"]),
        (show.tools, [], ["no tools"]),
        (show.desktop, ["window://a/b\n\ntext"], ["window://a/b\n\ntext"]),
        (show.desktop, [], ["no windows"]),
        (
            show.finder,
            {"documents": [{"uri": "dpe://a/b", "title": "B"}], "total_count": 2, "unavailable": ["c"]},
            ["dpe://a/b  B", "1 of 2 documents", "note: server c cannot be asked now"],
        ),
        (
            show.contents,
            [{"text": "a\x1b[2J"}, {"blob": "AAAA", "mimeType": "image/png"}],
            ["a\ufffd[2J", "(image/png, about 3 bytes; --json shows it)"],
        ),
        (
            show.result,
            {"isError": True, "content": [{"type": "text", "text": "no"}, {"type": "image"}]},
            ["the tool failed:", "no", "(image)"],
        ),
        (
            show.history,
            [{"timestamp": "t", "server": "s", "tool": "x", "parameters": {"a": 1}, "success": False, "error": "e"}],
            ['t  s/x {"a": 1}  failed: e'],
        ),
        (show.history, [], ["no calls yet"]),
        (
            show.inputs,
            [{"id": "key", "type": "promptString", "description": "A key", "source": "--input"}],
            ["key  promptString  a value from --input  A key"],
        ),
        (show.inputs, [], ["no inputs"]),
        (show.input_set, {"id": "key", "restarted": ["a", "b"]}, ["set; restarted: a, b"]),
        (show.forgotten, {"forgotten": True}, ["forgotten: 1 value; servers that run keep what they were given"]),
        (show.server, None, ["removed"]),
        (show.server, SERVER | {"note": "not saved"}, ["server files: running", "note: not saved"]),
        (
            show.approvals,
            {"pending": [], "standing": [{"office": "lab", "agent": "ada", "server": "s", "tool": "t"}], "changed": []},
            ["always: s/t for agent ada in office lab", "nothing waits"],
        ),
        (
            show.approvals,
            {
                "pending": [],
                "standing": [],
                "changed": [{"server": "s", "tool": "t", "listed": "t", "lines": ["a:"], "digest": "0" * 64}],
            },
            ["changed since auto_apply was set: s/t", "  a:", "approvals accept t 000000000000", "nothing waits"],
        ),
        (show.accepted, {"server": "s", "tool": "t", "lines": ["title:"]}, ["accepted: s/t as it is now", "  title:"]),
        (show.answered, {"number": 1, "answer": "once"}, ["1: once"]),
        (show.withdrawn, {"withdrawn": 2}, ["withdrawn: 2"]),
        (show.plain, {"a": "b"}, ["{", '  "a": "b"', "}"]),
        (show.plain, None, []),
    ],
)
def test_a_value_is_lines(lines: Any, value: Any, shown: list[str]) -> None:
    assert list(lines(value, PLAIN)) == shown


def test_a_result_shows_texts_and_tells_what_and_where_the_rest_is() -> None:
    content = [
        {"type": "text", "text": "hello"},
        {"type": "resource", "resource": {"uri": "file:///notes", "text": "a note"}},
        {"type": "resource", "resource": {"uri": "file:///x", "mimeType": "application/pdf", "blob": "AAAA"}},
        {"type": "image", "mimeType": "image/png", "data": "AAAAAAAA"},
        {"type": "resource_link", "uri": "dpe://docs/report", "name": "report"},
        {"type": "hologram"},
    ]
    assert list(show.result({"content": content, "isError": False}, PLAIN)) == [
        "hello",
        "a note",
        "(resource: application/pdf, about 3 bytes; --json shows it)",
        "(image: image/png, about 6 bytes; --json shows it)",
        "(link: dpe://docs/report report)",
        "(hologram)",
    ]


def test_a_tool_stays_on_its_line_also_with_a_wide_name() -> None:
    narrow = Terminal(tty=True, width=30)
    (line,) = show.tools([{"name": "名前名前", "description": "it does something at great length"}], narrow, indent=2)
    assert columns(line) + 2 < 30
