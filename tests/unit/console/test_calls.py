"""The log of calls."""

from datetime import datetime
from typing import Any

from a2c_smcp.computer.tools.progress import CallEvent, CallStage
from a2c_smcp.console.calls import KEPT, MAX_SHOWN, CallLog


def step(stage: CallStage, req_id: str = "r", **facts: Any) -> CallEvent:
    return CallEvent(stage, "ada", req_id, "echo", "office", "echo", facts.pop("seconds", 0.0), **facts)


def test_a_call_is_one_entry_from_its_question_to_its_result() -> None:
    log = CallLog()
    log(step(CallStage.ASKED, arguments={"text": "hi"}))
    log(step(CallStage.STARTED, seconds=1.0))
    log(step(CallStage.PROGRESS, seconds=1.5, progress=(1, 2, "half")))
    log(step(CallStage.DONE, seconds=2.25, result={"content": []}))
    (call,) = log.latest()
    assert datetime.fromisoformat(call.pop("began")).tzinfo is not None
    assert call == {
        "id": 1,
        "agent": "ada",
        "req_id": "r",
        "tool": "echo",
        "server": "office",
        "stage": "done",
        "seconds": 2.25,
        "error": None,
        "ended": True,
        "progress": [1, 2, "half"],
    }
    whole = log.find(1)
    assert whole is not None
    assert (whole["arguments"], whole["result"]) == ('{\n  "text": "hi"\n}', {"content": []})


def test_the_same_id_again_is_another_call() -> None:
    log = CallLog()
    for _ in range(2):
        log(step(CallStage.STARTED))
        log(step(CallStage.DONE))
    assert [call["id"] for call in log.latest()] == [2, 1]


def test_only_the_latest_are_kept() -> None:
    log = CallLog()
    for number in range(KEPT + 5):
        log(step(CallStage.STARTED, f"r{number}"))
    assert (len(log.latest()), log.latest()[0]["id"], log.find(5)) == (KEPT, KEPT + 5, None)
    log(step(CallStage.DONE, "r0"))  # one that is forgotten ends all the same
    assert log.latest()[0]["stage"] == "done"


def test_of_a_large_result_the_beginning_is_kept() -> None:
    log = CallLog()
    log(step(CallStage.DONE, arguments={"text": "x" * MAX_SHOWN}, result={"content": ["y" * MAX_SHOWN]}))
    call = log.find(1)
    assert call is not None
    assert len(call["arguments"]) < MAX_SHOWN + 100
    assert (len(call["result"]["shortened"]), call["result"]["characters"] > MAX_SHOWN) == (MAX_SHOWN, True)


def test_every_step_is_told() -> None:
    told: list[int] = []
    log = CallLog(lambda: told.append(1))
    log(step(CallStage.STARTED))
    log(step(CallStage.DONE))
    assert len(told) == 2
