"""The call router with a port that only writes down what it is told."""

import asyncio
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.errors import RateLimited, SMCPError
from a2c_smcp.server.call_router import CallRouter
from a2c_smcp.server.calls import AckArguments, ReplyCallback
from a2c_smcp.server.limits import ServerLimits
from a2c_smcp.server.observer import FAILURES_PER_SECOND, ServerObserver, ServerObservers
from a2c_smcp.server.offices import Identity, Member
from a2c_smcp.server.payload import RawJson

PAYLOAD = {"agent": "a", "req_id": "r", "computer": "c", "timeout": 10}


class FakeTransport:
    """A transport that records requests until they are answered."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self.requests: dict[int, tuple[str, str, Any, ReplyCallback]] = {}
        self.notifications: list[tuple[tuple[str, ...], str, Any]] = []
        self.hung_up: list[str] = []

    def request(self, sid: str, event: str, payload: Any, answered: ReplyCallback) -> int:
        number = next(self._numbers)
        self.requests[number] = (sid, event, payload, answered)
        return number

    def forget(self, sid: str, ack: int) -> None:
        self.requests.pop(ack, None)

    def notify(self, sids: Iterable[str], event: str, data: Any) -> None:
        self.notifications.append((tuple(sids), event, data))

    def hang_up(self, sid: str, error: SMCPError, *, reconnect: bool) -> None:
        self.hung_up.append(sid)

    def challenge(self, sid: str, done: Callable[[bool], None]) -> None:
        raise NotImplementedError


class RecordingObserver(ServerObserver):
    def __init__(self) -> None:
        self.now = 1_000.0
        self.outcomes: list[str] = []

    def wall_clock(self) -> float:
        return self.now

    def answered(self, event: str, outcome: str, seconds: float, who: Any, head: Any) -> None:
        self.outcomes.append(outcome)


class Scene:
    """A call router with an Agent `a` and a Computer `c` in office `o`."""

    def __init__(self, **limits: Any) -> None:
        self.now = 0.0
        self.transport, self.recorder = FakeTransport(), RecordingObserver()
        self.router = CallRouter(self.transport, ServerLimits(**limits), self.recorder, lambda: self.now)
        self.join("a", "agent", "a")
        self.join("c", "computer", "c")
        self.answers: list[AckArguments] = []

    def join(self, sid: str, role: Any, name: str, office: str = "o") -> None:
        connection = self.router.connect(sid, Identity(), address="192.0.2.1", version=None)
        self.router.add_member(connection, Member(office, role, name, sid))

    def ask(self, payload: Any = PAYLOAD, event: str = "client:tool_call", sid: str = "a") -> None:
        self.router.route(sid, event, payload, self.answers.append)

    def code(self) -> int:
        answer = self.answers[-1]
        assert isinstance(answer, tuple)
        code: int = answer[0]["error"]["code"]
        return code

    def answer(self, answer: AckArguments) -> None:
        _, _, _, answered = next(iter(self.transport.requests.values()))
        answered(answer)


@pytest.mark.rule("2.1.forward")
@pytest.mark.parametrize("answer", [({"tools": []},), RawJson('{"tools":[]}'), (1, 2), (False,), RawJson("0")])
def test_the_answer_of_the_computer_is_the_answer_to_the_agent(answer: AckArguments) -> None:
    scene = Scene()
    scene.ask()
    assert [(sid, event, payload) for sid, event, payload, _ in scene.transport.requests.values()] == [
        ("c", "client:tool_call", PAYLOAD)
    ]
    scene.answer(answer)
    assert (scene.answers, scene.recorder.outcomes, scene.router.in_flight) == ([answer], ["ok"], 0)


@pytest.mark.parametrize("answer", [(), (None,), RawJson(""), RawJson("null")])
def test_an_empty_answer_is_an_error(answer: AckArguments) -> None:
    scene = Scene()
    scene.ask()
    scene.answer(answer)
    assert scene.code() == 400


@pytest.mark.rule("1.6.inflight")
def test_losing_the_computer_fails_its_calls_and_only_those() -> None:
    scene = Scene()
    scene.join("d", "computer", "d")
    scene.ask()
    scene.ask(PAYLOAD | {"computer": "d"})
    scene.router.disconnect("c")
    assert (scene.code(), len(scene.answers), scene.router.in_flight) == (404, 1, 1)


def test_an_agent_that_goes_is_not_answered_any_more() -> None:
    scene = Scene()
    scene.ask()
    _, _, _, answered = scene.transport.requests[1]
    scene.router.disconnect("a")
    answered(("late",))
    assert (scene.answers, scene.recorder.outcomes, scene.router.in_flight, scene.transport.requests) == (
        [],
        ["gone"],
        0,
        {},
    )


@pytest.mark.rule("2.1.timeout")
def test_a_call_runs_out_after_its_time_and_the_margin() -> None:
    scene = Scene()
    scene.ask()
    _, _, _, answered = scene.transport.requests[1]
    scene.router.tick(11.9)
    assert scene.answers == []
    scene.router.tick(12.5)
    assert scene.code() == 408
    answered(("late",))
    scene.router.tick(100)
    assert (len(scene.answers), scene.recorder.outcomes, scene.transport.requests) == (1, ["408"], {})


def test_calls_in_flight_are_limited_until_some_are_answered() -> None:
    scene = Scene(in_flight=2)
    for _ in range(3):
        scene.ask()
    assert (scene.code(), scene.router.in_flight) == (429, 2)
    scene.answer(("ok",))
    scene.ask()
    assert scene.router.in_flight == 2


def test_an_office_has_a_rate_of_its_own() -> None:
    scene = Scene(office_requests_per_second=1)
    for _ in range(3):
        scene.ask()
    assert scene.code() == 429
    scene.join("a2", "agent", "a", "other")
    scene.ask(sid="a2")
    assert scene.code() == 404


def test_an_address_has_a_limit_of_connections_that_leaving_frees() -> None:
    scene = Scene(connections_per_address=2)
    with pytest.raises(RateLimited):
        scene.join("x", "computer", "x")
    scene.router.disconnect("c")
    scene.join("x", "computer", "x")


@pytest.mark.parametrize(("size", "code"), [(999, None), (1_001, 400)])
def test_a_request_over_the_message_limit_is_not_passed_on(size: int, code: int | None) -> None:
    scene = Scene(message_bytes=1_000)
    head = '{"agent":"a","req_id":"r","computer":"c","params":""}'
    scene.ask(RawJson(head.replace('""', '"' + "x" * (size - len(head)) + '"')))
    assert (bool(scene.transport.requests), scene.code() if scene.answers else None) == (code is None, code)


def test_a_reply_over_the_message_limit_is_not_passed_on() -> None:
    scene = Scene(message_bytes=1_000)
    scene.ask()
    scene.answer(RawJson('"' + "x" * 1_000 + '"'))
    assert scene.code() == 400


def test_expired_credentials_end_the_connection() -> None:
    scene = Scene()
    scene.router.connect("e", Identity(expires=2_000), address="", version=None)
    scene.router.tick(0)
    assert scene.transport.hung_up == []
    scene.recorder.now = 2_000
    scene.ask(sid="e")
    assert scene.code() == 401
    scene.router.tick(0)
    assert scene.transport.hung_up == ["e"]


@pytest.mark.rule("2.notify")
def test_a_broadcast_leaves_its_sender_and_other_offices_out() -> None:
    scene = Scene()
    scene.join("x", "computer", "x", "elsewhere")
    scene.router.broadcast("o", "notify:update_config", {"computer": "c"}, "c")
    assert scene.transport.notifications == [(("a",), "notify:update_config", {"computer": "c"})]


steps = st.lists(st.sampled_from(["ask", "answer", "lose c", "join c", "lose a", "join a", "tick"]), max_size=40)


@given(steps)
def test_every_request_is_answered_once_or_its_agent_is_gone(script: list[str]) -> None:
    scene = Scene()
    requests = 0
    for step in script:
        if step == "ask" and "a" in scene.router.connections:
            requests += 1
            scene.ask()
        elif step == "answer" and scene.transport.requests:
            scene.answer(("ok",))
        elif step.startswith("lose"):
            scene.router.disconnect(step[-1])
            office = scene.router.offices.get("o")
            if office is not None:
                for member in [s for s in office if s.sid == step[-1]]:
                    office.remove(member)
        elif step.startswith("join") and step[-1] not in scene.router.connections:
            scene.join(step[-1], "agent" if step[-1] == "a" else "computer", step[-1])
        elif step == "tick":
            scene.now += 5
            scene.router.tick(scene.now)
    assert len(scene.router._deadlines) == scene.router.in_flight
    gone = scene.recorder.outcomes.count("gone")
    assert len(scene.answers) + gone + scene.router.in_flight == requests
    assert len(scene.transport.requests) == scene.router.in_flight


# Code of others


class Faulty(ServerObserver):
    """An observer whose every method fails, also with what only tasks raise."""

    def connections(self, number: int) -> None:
        raise RuntimeError

    def offices(self, number: int) -> None:
        raise RuntimeError

    def refused(self, *_: object) -> None:
        raise asyncio.CancelledError

    def failed(self, *_: object) -> None:
        raise KeyError("x")

    def answered(self, *_: object) -> None:
        raise RuntimeError

    def wall_clock(self) -> float:
        raise RuntimeError


def faulty_scene() -> Scene:
    scene = Scene()
    scene.router.observer = ServerObservers(Faulty())
    return scene


def test_observers_that_fail_change_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    scene = faulty_scene()
    scene.join("d", "computer", "d")
    scene.ask()
    scene.answer(("done",))
    scene.ask("nonsense")
    scene.ask(PAYLOAD | {"computer": "nobody"})
    scene.ask()
    scene.router.tick(100)
    assert scene.answers[0] == ("done",)
    assert [answer[0]["error"]["code"] for answer in scene.answers[1:]] == [400, 404, 408]  # type: ignore[index]
    assert scene.router.in_flight == 0
    assert all(record.exc_info for record in caplog.records)


def test_an_observer_that_is_a_coroutine_function_is_reported_and_not_left_unawaited(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Asynchronous(ServerObserver):
        async def answered(self, *_: object) -> None:  # type: ignore[override]
            raise NotImplementedError

    ServerObservers(Asynchronous()).answered("client:get_tools", "ok", 0.1, None, None)  # type: ignore[arg-type]
    assert "must be a plain function" in caplog.text


def test_an_observer_that_always_fails_does_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    observer = ServerObservers(Faulty())
    for _ in range(1_000):
        observer.connections(1)
    assert 0 < len(caplog.records) <= 2 * (FAILURES_PER_SECOND + 1)


def test_a_clock_that_fails_is_replaced() -> None:
    assert ServerObservers(Faulty()).wall_clock() > 1e9


def test_a_reply_that_cannot_be_sent_keeps_no_other_call_from_its_answer(caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene()

    def broken(_: AckArguments) -> None:
        raise ValueError("the socket is gone")

    scene.router.route("a", "client:tool_call", PAYLOAD, broken)
    scene.ask()
    scene.router.tick(100)
    assert scene.code() == 408
    scene.router.route("a", "client:tool_call", PAYLOAD, broken)
    scene.ask()
    scene.router.disconnect("c")
    assert scene.code() == 404
    assert all(record.exc_info for record in caplog.records)


def test_a_request_that_cannot_be_forwarded_is_answered_and_forgotten(caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene()

    def broken(*_: object) -> int:
        raise KeyError("no such connection")

    scene.transport.request = broken  # type: ignore[method-assign, assignment]
    scene.ask()
    assert (scene.code(), scene.router.in_flight) == (500, 0)
    assert caplog.records[0].exc_info


def test_a_time_out_that_ends_calls_of_a_later_slot_stops_nothing() -> None:
    scene = Scene()
    scene.ask(PAYLOAD | {"timeout": 1})
    scene.ask(PAYLOAD | {"timeout": 5})
    fail = scene.router.fail
    first: list[Any] = []

    def fail_and_lose(call: Any, error: Any) -> None:
        if not first:
            first.append(call)
            scene.router.disconnect("c")  # what it was to answer is over, the call of the later slot too
        fail(call, error)

    scene.router.fail = fail_and_lose  # type: ignore[method-assign]
    scene.router.tick(100)
    assert (len(scene.answers), scene.router.in_flight) == (2, 0)


def test_a_request_of_another_node_that_cannot_be_forwarded_is_refused_and_forgotten() -> None:
    scene = Scene()

    def broken(*_: object) -> int:
        raise KeyError("no such connection")

    scene.transport.request = broken  # type: ignore[method-assign, assignment]
    refused: list[Any] = []
    assert scene.router.serve(
        "c", "o", "client:get_tools", PAYLOAD, seconds=10, reply=scene.answers.append, refuse=refused.append
    )
    assert ([error.code for error in refused], scene.answers, scene.router.in_flight) == ([500], [], 0)
    assert not scene.router.connections["c"].incoming
