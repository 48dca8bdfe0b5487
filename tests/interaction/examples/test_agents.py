"""The examples for people who write agents, run as programs."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from a2c_smcp.agent.adapters import model_name
from tests.interaction.agent.conveniences.documents_server import REPORT
from tests.interaction.examples.conftest import OFFICE
from tests.interaction.examples.model_server import model_server

EXAMPLES = Path(__file__).parents[3] / "examples"
CAP = 110


def run(name: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    unset = {key: value for key, value in os.environ.items() if not key.startswith("OPENAI_")}
    return subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments],
        env=unset | {"PYTHONPATH": str(EXAMPLES.parent), "PYTHONIOENCODING": "utf-8"} | environment,
        capture_output=True,
        encoding="utf-8",
        timeout=CAP,
        check=False,
    )


def call(name: str, call_id: str, **arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def test_an_agent_tells_what_is_in_the_office(url: str) -> None:
    done = run("agent.py", url, OFFICE)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("my-computer has 5 tools: configure, ")
    assert lines[1:3] == [
        "  A1 合同 (5 pages): dpe://com.example.docs/contract-a1",
        f"  2026 年度报告 (12 pages): {REPORT}",
    ]
    assert lines[3].startswith('<window computer="my-computer"')


def test_that_agent_takes_twenty_lines() -> None:
    text = (EXAMPLES / "agent.py").read_text(encoding="utf-8")
    code = text.partition(ast.get_docstring(ast.parse(text), clean=False) or "")[2]
    assert len([line for line in code.splitlines() if line.strip(' "')]) <= 20


def test_a_model_works_with_the_tools_of_the_office(url: str) -> None:
    configure, draw, fail = (model_name("my-computer", tool) for tool in ("configure", "fs.draw", "fail"))
    script: list[dict[str, Any]] = [
        {"tool_calls": [call(configure, "c1", config="x"), call(draw, "c2"), call(fail, "c3")]},
        {"content": "All done."},
    ]
    with model_server(*script) as model:
        done = run("tool_loop.py", url, OFFICE, "Go.", OPENAI_BASE_URL=model.url, OPENAI_API_KEY="k", OPENAI_MODEL="m")
    assert (done.returncode, done.stdout) == (0, "All done.\n"), done.stderr
    first, second = model.asked
    assert (first["model"], model.keys) == ("m", ["Bearer k", "Bearer k"])
    assert {configure, draw, fail} <= {tool["function"]["name"] for tool in first["tools"]}
    assert "def main(): ..." in first["messages"][0]["content"]
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", *["tool"] * 3, "user"]
    assert [message["content"].partition("\n")[0] for message in second["messages"][3:6]] == [
        'configure {"config": "x"}',
        "fs.draw {}",
        "Error: out of paper",
    ]
    assert second["messages"][6]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")


def test_a_researcher_reads_and_cites(url: str) -> None:
    done = run("researcher.py", url, OFFICE, "Q4")
    assert done.returncode == 0, done.stderr
    assert "| Q4 | 1,560 | +18% |" in done.stdout
    assert f"]({REPORT}/pages/0)" in done.stdout


def test_a_researcher_stays_within_its_budget_and_says_when_there_is_nothing(url: str) -> None:
    short = run("researcher.py", url, OFFICE, "Q4", "30")
    assert len(short.stdout) < 200
    assert f"]({REPORT}/pages/0)" in short.stdout
    assert run("researcher.py", url, OFFICE, "zebra").stdout == "Nothing found.\n"


def test_a_researcher_lets_a_model_answer_from_what_it_read(url: str) -> None:
    with model_server({"content": f"It rose ({REPORT}/pages/0)."}) as model:
        done = run("researcher.py", url, OFFICE, "Q4", OPENAI_BASE_URL=model.url)
    assert done.stdout == f"It rose ({REPORT}/pages/0).\n", done.stderr
    assert f"]({REPORT}/pages/0)" in model.asked[0]["messages"][0]["content"]
