"""`a2c agent` in an office with two real Computers."""

import base64
import io
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.cli.main import main
from a2c_smcp.cli.table import COMMANDS
from tests.interaction.computer.conftest import office_config
from tests.interaction.server.conftest import run_server, stop_server
from tests.interaction.server.programs import ROOT, command, environment
from tests.unit.cli.running import Run, Terminal, a2c

OFFICE = "lab"
BOARD = "window://{0}/board?priority=50"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose office has the Computers `den` and `desk`, each with an MCP server of its name."""
    process, running = run_server("ready", tmp_path_factory.mktemp("relay"))
    with ExitStack() as stack:
        stack.callback(stop_server, process)
        for name in ("den", "desk"):
            stack.enter_context(_Computer(name, running.url, tmp_path_factory.mktemp(name)))
        yield running.url


class _Computer:
    """An `a2c computer` that runs until the end of the block."""

    def __init__(self, name: str, url: str, folder: Path) -> None:
        config = office_config(name).model_dump(mode="json", exclude_none=True)
        path = folder / "mcp.json"
        path.write_text(json.dumps({"servers": config["servers"]}))
        words = ["--config", str(path), "--url", url, "--office", OFFICE, "--name", name, "--headless", "--json"]
        self._process = subprocess.Popen(
            command("computer", *words), cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> None:
        states = {"server": "", "connection": ""}
        assert self._process.stdout is not None
        while states != {"server": "running", "connection": "joined"}:
            event = json.loads(self._process.stdout.readline())
            states[event["event"]] = event.get("state", "")
            states.pop("ready", None)

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate(timeout=60)


@pytest.fixture
def agent(url: str, tmp_path: Path) -> Any:
    def run(*words: str, typed: str | None = None) -> Run:
        env = {"XDG_STATE_HOME": str(tmp_path / "state")}
        env |= {"A2C_AGENT_URL": url, "A2C_AGENT_OFFICE": OFFICE, "NO_COLOR": "1", "COLUMNS": "200", "PAGER": ""}
        return a2c("agent", *words, typed=typed, env=env)

    return run


def test_it_lists_who_is_there(agent: Any) -> None:
    run = agent("rooms")
    lines = [line.split()[:2] for line in run.out.splitlines()]
    assert sorted(lines) == [["agent", "a2c-agent"], ["computer", "den"], ["computer", "desk"], ["office", "lab"]]


def test_it_lists_the_tools_of_every_computer(agent: Any) -> None:
    value = json.loads(agent("tools", "--json").out)
    assert [one["computer"] for one in value] == ["den", "desk"]
    assert {"echo", "write"} <= {tool["name"] for tool in value[1]["tools"]}
    assert agent("tools", "--computer", "den", "--schema").out.splitlines()[:2] == ["den", "  echo  echo it"]


def test_a_tool_is_called_with_arguments_of_any_form(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = ("--computer", "desk")
    assert agent("call", "echo", "text=a = b", *desk) == (0, "a = b\n", "")
    assert agent("call", "echo", '{"text": "世界"}', *desk) == (0, "世界\n", "")
    value = json.loads(agent("call", "echo", "text=x", "--json", *desk).out)
    assert (value["content"], value["isError"]) == ([{"type": "text", "text": "x"}], False)


def test_a_tool_of_two_computers_needs_one_of_them_named(agent: Any) -> None:
    message = "error 400: 2 Computers have a tool 'echo': den, desk; name one with --computer\n"
    assert agent("call", "echo", "text=x") == (1, "", message)


@pytest.mark.parametrize(("option", "last"), [((), "\r1\n"), (("--json",), "")], ids=["for people", "for programs"])
def test_progress_is_shown_on_the_terminal(url: str, option: tuple[str, ...], last: str) -> None:
    errors = Terminal()
    words = ["agent", "call", "progress", "steps=2", "--computer", "desk", "--url", url, "--office", OFFICE, *option]
    assert main(words, stdin=io.StringIO(), stdout=io.StringIO(), stderr=errors, env={}, commands=COMMANDS) == 0
    assert errors.getvalue()[-3:] == last


def test_a_tool_that_fails_is_told_by_the_exit_code(agent: Any) -> None:
    assert agent("call", "fail", "--computer", "desk") == (1, "the tool failed:\nit failed\n", "")
    run = agent("call", "fail", "--computer", "desk", "--json")
    assert (run.code, json.loads(run.out)["isError"]) == (1, True)


def test_an_unknown_tool_and_an_unknown_computer_say_what_to_do(agent: Any) -> None:
    run = agent("call", "nothing", "--computer", "desk")
    assert (run.code, run.err.splitlines()) == (
        1,
        [
            "error 4001: There is no tool 'nothing'",
            "  tool_name: nothing, near: []",
            "hint: `a2c agent tools` lists the tools",
        ],
    )
    run = agent("call", "nothing")
    assert run.err.startswith("error 4001: There is no tool 'nothing' at the 2 Computers of the office\n")
    run = agent("tools", "--computer", "nobody")
    assert (run.code, "404" in run.err, "a2c agent rooms" in run.err) == (1, True, True)


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("text", "'text' is no argument; write NAME=VALUE, or all arguments as one JSON object"),
        ("{", "the arguments are no JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    ],
)
def test_arguments_that_cannot_be_read_are_refused(agent: Any, word: str, why: str) -> None:
    assert agent("call", "echo", word, "--computer", "desk").err == f"error 400: {why}\n"


def test_the_desktop_is_shown_by_computer(agent: Any) -> None:
    assert agent("call", "write", "text=on the board", "--computer", "desk").code == 0
    value = {one["computer"]: one["windows"] for one in json.loads(agent("desktop", "--json").out)}
    assert value["desk"] == [f"{BOARD.format('desk')}\n\non the board"]
    assert agent("desktop", "--computer", "den", "--window", "window://none").out == "den\nno windows\n"


def test_documents_are_found_by_words(agent: Any) -> None:
    run = agent("finder", "cheat", "--computer", "desk")
    assert run.out.splitlines() == [
        "desk  1 document",
        "  1. URI cheat sheet  md, 3 pages  dpe://desk/guides-uri-cheat-sheet.md",
    ]
    value = json.loads(agent("finder", "--type", "csv", "--json").out)
    assert [(one["computer"], one["total_count"]) for one in value] == [("den", 1), ("desk", 1)]


def test_a_document_is_read_from_whoever_has_it(agent: Any, tmp_path: Path) -> None:
    run = agent("read", "dpe://desk/glossary.txt/pages/0")
    assert (run.code, run.out.splitlines()[0]) == (0, "# Glossary of A2C-SMCP")
    contents = json.loads(agent("read", "dpe://den/glossary.txt", "--json").out)
    assert json.loads(contents[0]["text"])["title"] == "Glossary of A2C-SMCP"
    target = tmp_path / "page.json"
    assert agent("read", "dpe://den/glossary.txt/pages/0", "--output", str(target)).code == 0
    assert json.loads(target.read_text())["page_index"] == 0
    assert agent("read", "dpe://desk/nothing").err.startswith("error 4201: ")


def test_a_window_is_read_from_whoever_has_it(agent: Any) -> None:
    assert agent("read", BOARD.format("desk")).code == 0
    assert agent("read", BOARD.format("den")).code == 0


@pytest.mark.parametrize("verb", ["tools", "desktop", "finder"])
def test_an_office_without_computers_has_nothing_to_list(agent: Any, verb: str) -> None:
    hint = "hint: the office 'empty' is empty: no Computer is in it; check --office, or start a Computer there: "
    told = f"{hint}a2c computer --office NAME\n"
    assert agent(verb, "--office", "empty") == (0, "no Computer is in the office\n", told)
    assert agent(verb, "--office", "empty", "--json") == (0, "[]\n", told)


@pytest.mark.rule("1.4.notify")
@pytest.mark.parametrize("verb", [("rooms",), ("tools",), ("call", "echo"), ("read", "dpe://x/y")])
def test_an_empty_office_suggests_one_that_the_user_has_used_and_no_other(agent: Any, verb: tuple[str, ...]) -> None:
    first = agent(*verb, "--office", "lba").err  # the office "lab" is full, and nobody here has been in it
    assert ("is empty" in first, "lab" in first) == (True, False)
    assert agent("rooms").err == ""
    meant = "hint: the office 'lba' is empty: no Computer is in it; did you mean 'lab', which you used at this server"
    assert agent(*verb, "--office", "lba").err.startswith(meant)
    assert "used at this server before: 'lab'" in agent(*verb, "--office", "elsewhere").err


def test_a_server_that_cannot_be_reached_is_told_once() -> None:
    command_line = command("agent", "rooms", "--url", "http://nowhere.invalid", "--office", OFFICE)
    done = subprocess.run(command_line, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    told = "The host name in http://nowhere.invalid cannot be resolved: check the address and the network"
    assert done.stderr == f"error 500: {told}\n"


def test_without_a_server_or_an_office_it_says_what_is_missing(tmp_path: Path) -> None:
    told = "--url is missing (or set A2C_AGENT_URL), and no `a2c up` of yours is running on this machine"
    env = {"XDG_STATE_HOME": str(tmp_path)}
    assert a2c("agent", "rooms", env=env).err == f"error 400: {told}\n"
    assert "--office is missing" in a2c("agent", "rooms", "--url", "http://127.0.0.1:9", env=env).err
    run = a2c("agent", "rooms", "--url", "http://127.0.0.1:9", "--office", "x")
    assert (run.code, run.err.startswith("error 500: "), "Traceback" in run.err) == (1, True, False)


def test_a_person_walks_from_the_catalogue_to_an_element_and_back(agent: Any) -> None:
    typed = "/cheat\n1\n2\n1\nu\nt\nr\nu\nu\n99\nwhat\ndpe://desk/nothing\n?\nq\n"
    run = agent("finder", "--computer", "desk", typed=typed)
    assert run.code == 0
    steps = run.out.split("a2c> ")
    assert "URI cheat sheet" in steps[1]
    assert "dpe://desk/guides-uri-cheat-sheet.md/pages/1" in steps[2]
    assert "heading" in steps[3]
    assert steps[4].startswith("#")
    assert steps[5] == steps[3]
    assert [line[:4] for line in steps[6].splitlines() if "─ " in line][-1] == "   └"
    assert steps[6].count("\n└─ ") == 1
    assert steps[7].startswith("#")
    assert "pages/1" in steps[8]
    assert steps[9].startswith("documents of desk")
    assert [step.strip() for step in steps[10:12]] == [
        "there is no line 99 in the list",
        "'what' is not understood; ? helps",
    ]
    assert steps[12].startswith("error 4201: ")
    assert "go up" in steps[13]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_watching_tells_what_changes_until_it_is_interrupted(url: str, end: signal.Signals) -> None:
    words = ["agent", "watch", "--url", url, "--office", OFFICE, "--json"]
    with subprocess.Popen(command(*words), cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        names = sorted(member["name"] for member in first["data"]["sessions"])
        assert (first["event"], names) == ("joined", ["a2c-agent", "den", "desk"])
        process.send_signal(end)
        assert process.wait(30) == 130


def test_binary_results_are_saved(agent: Any, tmp_path: Path) -> None:
    from a2c_smcp.cli.agent_call import _saved

    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "x"},
        {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"png").decode()},
        {"type": "resource", "resource": {"uri": "a:b", "blob": base64.b64encode(b"?").decode()}},
    ]
    paths = [Path(path) for path in _saved(blocks, tmp_path / "new")]
    assert [(path.name, path.read_bytes()) for path in paths] == [("result-2.png", b"png"), ("result-3.bin", b"?")]


def test_a_connection_failure_names_the_url_with_json_too() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        words = ["agent", "rooms", "--url", url, "--office", "lab", "--name", "ada", "--json"]
        done = subprocess.run(
            [sys.executable, "-m", "a2c_smcp.cli", *words], capture_output=True, text=True, timeout=120, check=False
        )
    assert (done.returncode, url in json.loads(done.stdout)["error"]["message"]) == (1, True), done.stdout
