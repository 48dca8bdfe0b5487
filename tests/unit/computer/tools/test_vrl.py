"""VRL scripts in processes of their own."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.computer.tools import vrl
from a2c_smcp.computer.tools.vrl import MAX_SCRIPT, VrlError, VrlRunner, check_vrl, not_installed

SLOW = """
.n = 0
for_each(array!(.xs)) -> |_, x| { for_each(array!(.xs)) -> |_, y| { .n = .n + 1 } }
"""


@pytest.fixture
async def runner() -> Any:
    runner = VrlRunner(seconds=5, grace=60)
    yield runner
    await runner.aclose()


@pytest.fixture
def no_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "vrl_python.py").write_text("raise ImportError", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.rule("4.5")
@pytest.mark.parametrize(
    ("script", "fault"),
    [
        (".a = 1", None),
        ("", None),
        (".a = ", "syntax error (line 1, column 5)"),
        (".a = 1\n.x = 1 / 0", "unhandled fallible assignment (line 2, column 6)"),
        (".x = nothing(1)", "call to undefined function (line 1, column 6)"),
        ("(" * 5000 + "1" + ")" * 5000, "the script is nested too deep to compile"),
        ("#" * (MAX_SCRIPT + 1), "the script is longer than 64 KiB"),
        ("\ud800", "the script is not valid Unicode"),
    ],
)
def test_a_script_is_checked_when_it_is_configured(script: str, fault: str | None) -> None:
    assert check_vrl(script) == fault


def test_a_script_that_compiles_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(vrl, "CHECK_SECONDS", 0.001)
        assert check_vrl(".never = 1") == "the script takes longer than 0.001 s to compile"
    # The machine may only have been busy.
    assert check_vrl(".never = 1") is None


@pytest.mark.usefixtures("no_library")
async def test_a_missing_library_is_told_with_its_install_command(runner: VrlRunner) -> None:
    assert check_vrl(".missing = 1") == not_installed()
    with pytest.raises(VrlError, match="pip install"):
        await runner.run(".", {})


@pytest.mark.rule("4.5")
async def test_a_script_makes_json_of_an_event(runner: VrlRunner) -> None:
    assert await runner.run('.b = "日"', {"a": [1, 2.5, None, True]}) == '{"a": [1, 2.5, null, true], "b": "日"}'


async def test_a_script_runs_over_many_events_in_order(runner: VrlRunner) -> None:
    made = await asyncio.gather(*(runner.run(".", {"n": number}) for number in range(20)))
    assert made == [f'{{"n": {number}}}' for number in range(20)]


@pytest.mark.rule("4.5")
@pytest.mark.parametrize(
    ("script", "event", "why"),
    [
        (".x = parse_json!(.y)", {"y": "{"}, r'function call error for "parse_json" .* \(line 1, column 6\)'),
        ("abort", {}, r"aborted \(line 1, column 1\)"),
        (".a = ", {}, "syntax error"),
        (".", {"a": "\ud800"}, "Unsupported Python type"),
        (".", {"a": "x" * (5 << 20)}, "what the script made is larger than 4 MiB"),
        ('.v = get_env_var!("A2C_TEST_SECRET")', {}, "environment variable not found"),
    ],
)
async def test_a_script_that_fails_says_why(
    script: str, event: Any, why: str, runner: VrlRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A2C_TEST_SECRET", "hunter2")
    with pytest.raises(VrlError, match=why):
        await runner.run(script, event)
    # The worker goes on.
    with pytest.raises(VrlError, match=why):
        await runner.run(script, event)


async def test_a_script_that_takes_too_long_is_ended_and_the_next_one_runs() -> None:
    runner = VrlRunner(seconds=1, grace=60)
    with pytest.raises(VrlError, match="the script took longer than 1 s"):
        await runner.run(SLOW, {"xs": list(range(5000))})
    assert await runner.run(SLOW, {"xs": [1, 2]}) == '{"n": 4, "xs": [1, 2]}'
    await runner.aclose()


async def test_the_event_loop_runs_on_while_a_script_works(runner: VrlRunner) -> None:
    turns = 0
    running = asyncio.ensure_future(runner.run(SLOW, {"xs": list(range(300))}))
    while not running.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 100
    assert '"n": 90000' in await running


async def test_a_script_that_breaks_its_process_breaks_nothing_else(runner: VrlRunner) -> None:
    deep = "(" * 5000 + "1" + ")" * 5000
    with pytest.raises(VrlError, match="the script broke down"):
        await runner.run(deep, {})
    assert await runner.run(".a = 1", {}) == '{"a": 1}'


async def test_a_given_up_run_does_not_answer_the_next_one(runner: VrlRunner) -> None:
    given_up = asyncio.ensure_future(runner.run(SLOW, {"xs": list(range(1000))}))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(given_up, 0.2)
    assert await runner.run(SLOW, {"xs": []}) == '{"n": 0, "xs": []}'


async def test_the_least_used_worker_makes_room_for_a_new_script() -> None:
    runner = VrlRunner(workers=1, grace=60)
    assert await runner.run(".a = 1", {}) == '{"a": 1}'
    assert await runner.run(".a = 2", {}) == '{"a": 2}'
    assert await runner.run(".a = 1", {}) == '{"a": 1}'
    await runner.aclose()


async def test_without_a_program_to_start_a_run_fails(runner: VrlRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(VrlError, match="the script broke down"):
        await runner.run(".", {})


async def test_a_system_without_alarms_still_ends_a_slow_script() -> None:
    runner = VrlRunner(seconds=10, grace=-9.8)
    with pytest.raises(VrlError, match="took longer than 10 s"):
        await runner.run(SLOW, {"xs": list(range(5000))})
    await runner.aclose()
