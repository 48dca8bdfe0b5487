"""Requests between nodes, on a bus that does what it is told."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from a2c_smcp.errors import BadRequest, InternalError, SMCPError
from a2c_smcp.server.call_router import CallRouter
from a2c_smcp.server.calls import AckArguments as Arguments
from a2c_smcp.server.calls import ReplyCallback
from a2c_smcp.server.limits import ServerLimits
from a2c_smcp.server.observer import ServerObserver
from a2c_smcp.server.offices import Identity, Member
from a2c_smcp.server.payload import Payload, RawJson
from a2c_smcp.server.registry.directory import OfficeDirectory
from a2c_smcp.server.registry.frames import (
    AbsentFrame,
    CallFrame,
    ErrorFrame,
    NodeFrame,
    ReplyFrame,
    unpack_error,
    unpack_frame,
)
from a2c_smcp.server.registry.redis_connection import CommandNotSent, RedisLost
from a2c_smcp.server.registry.remote_calls import MAX_TRIES, MAX_UNSENT_BYTES, RemoteCalls, encode_body
from a2c_smcp.server.registry.resp import RedisErrorReply

FAR = Member("o", "computer", "c", "far", "there")
REQUEST = '{"agent":"a","req_id":"r","computer":"c","timeout":9}'
ASK = CallFrame(1, "here", "far", "o", "client:get_tools", 12.0)


@dataclass
class FakeTransport:
    """Connections that remember what they were asked."""

    requests: list[tuple[str, str, Payload]] = field(default_factory=list)
    answered: list[ReplyCallback] = field(default_factory=list)

    def request(self, sid: str, event: str, payload: Payload, answered: ReplyCallback) -> int:
        self.requests.append((sid, event, payload))
        self.answered.append(answered)
        return len(self.answered)

    def forget(self, sid: str, ack: int) -> None: ...

    def notify(self, sids: Iterable[str], event: str, data: Any) -> None: ...

    def hang_up(self, sid: str, error: SMCPError, *, reconnect: bool) -> None: ...

    def challenge(self, sid: str, done: Callable[[bool], None]) -> None: ...


@dataclass
class Bus:
    """Other nodes and Redis, as the test says they are."""

    receivers: int | Exception = 1
    found: Member | Exception | None = None
    sent: list[tuple[str, NodeFrame, bytes]] = field(default_factory=list)
    looked_up: list[Callable[[Member | Exception | None], None]] = field(default_factory=list)
    slow: bool = False
    completed: bool = True

    def is_stable(self) -> bool:
        return self.completed

    def publish(self, node: str, frame: bytes, then: Callable[[Any], None]) -> None:
        self.sent.append((node, *unpack_frame(frame)))
        then(self.receivers)

    def look_up(self, office_id: str, computer: str, then: Callable[[Member | Exception | None], None]) -> None:
        self.looked_up.append(then)
        if not self.slow:
            then(self.found)


class Node:
    """A node with one member: an Agent where requests go out, a Computer where they come in."""

    def __init__(self, member: Member) -> None:
        self.transport, self.bus, self.directory = FakeTransport(), Bus(), OfficeDirectory(member.node)
        self.router = CallRouter(self.transport, ServerLimits(), ServerObserver(), lambda: 0.0)
        self.remote_calls = self.router.remote = RemoteCalls(self.router, self.directory, self.bus)
        self.router.add_member(self.router.connect(member.sid, Identity(), address="", version=None), member)
        self.directory.take(member, 1)
        self.replies: list[Arguments] = []

    def ask(self) -> None:
        self.router.route("near", "client:get_tools", RawJson(REQUEST), self.replies.append)

    def codes(self) -> list[int]:
        return [reply[0]["error"]["code"] for reply in self.replies if isinstance(reply, tuple)]


@pytest.fixture
def here() -> Node:
    return Node(Member("o", "agent", "a", "near", "here"))


@pytest.fixture
def there() -> Node:
    return Node(FAR)


def test_a_request_goes_to_the_node_that_is_known_to_have_the_computer(here: Node) -> None:
    here.directory.enter(FAR)
    here.ask()
    assert here.bus.sent == [("there", ASK, REQUEST.encode())]
    here.remote_calls.take(ReplyFrame(1), b'{"tools":[]}')
    assert here.replies == [RawJson('{"tools":[]}')]
    assert here.router.in_flight == 0


def test_a_computer_that_is_not_known_is_looked_up(here: Node) -> None:
    here.bus.found = FAR
    here.ask()
    assert here.bus.sent == [("there", ASK, REQUEST.encode())]


@pytest.mark.parametrize(
    ("found", "code"),
    [(None, 404), (Member("o", "computer", "c", "x", "here"), 404), (RedisErrorReply("OOM"), 500)],
    ids=["nowhere", "here and leaving", "Redis refused"],
)
def test_a_look_up_that_finds_nobody_ends_the_request(here: Node, found: Any, code: int) -> None:
    here.bus.found = found
    here.ask()
    assert (here.codes(), here.bus.sent, here.router.in_flight) == ([code], [], 0)


def test_a_look_up_for_an_agent_that_is_gone_leads_nowhere(here: Node) -> None:
    here.bus.slow = True
    here.ask()
    here.router.disconnect("near")
    here.bus.looked_up[0](FAR)
    assert (here.bus.sent, here.replies) == ([], [])


def test_a_node_where_nobody_listens_is_tried_so_often_and_no_more(here: Node) -> None:
    here.bus.receivers, here.bus.found = 0, FAR
    here.ask()
    assert (len(here.bus.sent), here.codes()) == (MAX_TRIES, [404])


def test_a_computer_that_was_not_there_is_looked_for_again(here: Node) -> None:
    here.directory.enter(FAR)
    here.bus.found = Member("o", "computer", "c", "new", "elsewhere")
    here.ask()
    here.remote_calls.take(AbsentFrame(1), b"")
    assert [(node, head.sid) for node, head, _ in here.bus.sent if isinstance(head, CallFrame)] == [
        ("there", "far"),
        ("elsewhere", "new"),
    ]
    here.remote_calls.lost(FAR)  # nobody waits for the first one any more
    assert here.replies == []


def test_a_request_that_redis_refuses_fails_at_once(here: Node) -> None:
    here.directory.enter(FAR)
    here.bus.receivers = RedisErrorReply("OOM")
    here.ask()
    assert here.codes() == [500]


@pytest.mark.parametrize("known", [True, False])
def test_a_request_that_was_not_sent_is_sent_once_when_redis_is_back(here: Node, known: bool) -> None:
    here.bus.receivers = here.bus.found = CommandNotSent("away")
    if known:
        here.directory.enter(FAR)
    here.ask()
    here.bus.sent.clear()
    here.bus.receivers, here.bus.found = 1, FAR
    here.remote_calls.resume()
    here.remote_calls.resume()
    assert [head for _, head, _ in here.bus.sent] == [ASK]
    here.remote_calls.take(ReplyFrame(1), b"1")
    assert here.replies == [RawJson("1")]


def test_a_request_that_may_have_been_sent_waits_for_its_answer_and_is_not_sent_again(here: Node) -> None:
    here.directory.enter(FAR)
    here.bus.receivers = RedisLost("cut")
    here.ask()
    here.remote_calls.resume()
    assert (len(here.bus.sent), here.replies) == (1, [])
    here.remote_calls.take(ReplyFrame(1), b"1")
    assert here.replies == [RawJson("1")]


@pytest.mark.parametrize("problem", [CommandNotSent("away"), RedisLost("cut")])
def test_a_request_whose_time_is_over_while_redis_is_away_says_so(here: Node, problem: Exception) -> None:
    here.directory.enter(FAR)
    here.bus.receivers = problem
    here.ask()
    here.router.tick(100)
    assert (here.codes(), here.router.in_flight) == ([500], 0)
    here.bus.sent.clear()
    here.remote_calls.resume()
    assert here.bus.sent == []


def test_a_computer_whose_node_is_not_back_yet_is_tried_again(here: Node) -> None:
    here.bus.receivers, here.bus.found, here.bus.completed = 0, FAR, False
    here.ask()
    assert here.codes() == []
    here.bus.receivers = 1
    here.remote_calls.retry()
    assert here.bus.sent[-1][1] == ASK
    here.remote_calls.take(ReplyFrame(1), b"1")
    assert here.replies == [RawJson("1")]


def test_a_computer_that_is_not_there_when_all_nodes_are_back_is_not_there(here: Node) -> None:
    here.bus.completed = False
    here.ask()
    assert here.codes() == []
    here.bus.completed = True
    here.remote_calls.retry()
    assert here.codes() == [404]


def test_losing_a_name_fails_its_requests_and_no_others(here: Node) -> None:
    here.directory.enter(FAR)
    here.ask()
    here.remote_calls.lost(Member("p", "computer", "c", "far", "there"))
    assert here.replies == []
    here.remote_calls.lost(FAR)
    assert here.codes() == [404]
    here.remote_calls.take(ReplyFrame(1), b"1")  # too late
    assert len(here.replies) == 1


def test_a_silent_node_fails_what_it_was_to_answer_without_asking_again(here: Node) -> None:
    here.directory.enter(FAR)
    here.ask()
    assert here.remote_calls.awaited_nodes() == {"there"}
    here.remote_calls.node_lost("another")
    assert here.replies == []
    here.remote_calls.node_lost("there")
    assert (here.codes(), here.remote_calls.awaited_nodes(), len(here.bus.sent)) == ([404], set(), 1)


def test_a_request_that_comes_in_reaches_the_computer_and_its_answer_goes_back(there: Node) -> None:
    there.remote_calls.take(ASK, REQUEST.encode())
    assert there.transport.requests == [("far", "client:get_tools", json.loads(REQUEST))]
    there.transport.answered[0](({"tools": []},))
    assert there.bus.sent == [("here", ReplyFrame(1), b'{"tools":[]}')]


@pytest.mark.parametrize(("sid", "office"), [("far", "another"), ("nobody", "o")])
def test_a_request_for_somebody_who_does_not_sit_there_is_sent_back(there: Node, sid: str, office: str) -> None:
    there.remote_calls.take(CallFrame(1, "here", sid, office, "client:get_tools", 12.0), REQUEST.encode())
    assert (there.transport.requests, there.bus.sent) == ([], [("here", AbsentFrame(1), b"")])


def test_what_goes_wrong_there_is_told_here(there: Node) -> None:
    there.remote_calls.take(ASK, REQUEST.encode())
    there.router.disconnect("far")
    ((node, head, body),) = there.bus.sent
    error = unpack_error(body)
    assert (node, head, error.code, error.details) == ("here", ErrorFrame(1), 404, {"computer": "c"})


def test_answers_that_could_not_be_sent_are_sent_later_and_those_beyond_the_limit_reported_lost(there: Node) -> None:
    there.bus.receivers = ConnectionError()
    for number, answer in ((1, "small"), (2, "x" * MAX_UNSENT_BYTES)):
        there.remote_calls.take(CallFrame(number, "here", "far", "o", "client:get_tools", 12.0), REQUEST.encode())
        there.transport.answered[-1]((answer,))
    there.bus.sent.clear()
    there.remote_calls.resume()
    there.remote_calls.resume()
    (first, (node, head, body)) = there.bus.sent
    assert first == ("here", ReplyFrame(1), b'"small"')
    assert (node, head, unpack_error(body).code) == ("here", ErrorFrame(2), InternalError.code)


@pytest.mark.parametrize("payload", [{"blob": b"\x00"}, [b""], {"text": "\ud800"}, RawJson("\ud800")])
def test_what_json_cannot_carry_is_refused(payload: Payload) -> None:
    with pytest.raises(BadRequest):
        encode_body(payload)
