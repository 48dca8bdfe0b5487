"""Who did what and when."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.errors import RateLimited, Unauthorized
from a2c_smcp.server.audit import REFUSALS_PER_SECOND, AuditLog
from a2c_smcp.server.observer import UnknownClient
from a2c_smcp.server.offices import Member
from a2c_smcp.server.payload import RequestHead

MOMENT = 1_738_324_800.25
AGENT = Member("office-1", "agent", "ada", "s-1")
WHO = UnknownClient("s-1", "192.0.2.1", AGENT)
HEAD = RequestHead(agent="ada", req_id="r-1", computer="desk")
TIME = {"time": "2025-01-31T12:00:00.250Z"}


class Clock:
    """A clock that is set by hand."""

    now = MOMENT

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def audit(path: Path, clock: Clock) -> Iterator[AuditLog]:
    log = AuditLog(path, clock)
    yield log
    log.close()


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_claimed_name_is_recorded_beside_the_joined_one(audit: AuditLog, path: Path) -> None:
    audit.sender_replaced("client:get_tools", "eve", WHO)
    who = {"office": "office-1", "agent": "ada", "sid": "s-1", "address": "192.0.2.1"}
    assert records(path) == [
        TIME | {"what": "misnamed", "event": "client:get_tools"} | who | {"claimed": "eve"},
    ]


def test_joins_and_leaves_say_who_where_and_from(audit: AuditLog, path: Path) -> None:
    audit.joined(AGENT, "192.0.2.1")
    audit.left(AGENT, "ping timeout")
    who = {"office": "office-1", "agent": "ada", "sid": "s-1"}
    assert records(path) == [
        TIME | {"what": "join"} | who | {"address": "192.0.2.1"},
        TIME | {"what": "leave"} | who | {"reason": "ping timeout"},
    ]


def test_a_call_says_who_whom_what_and_how_it_ended(audit: AuditLog, path: Path) -> None:
    audit.answered("client:tool_call", "408", 1.23456789, WHO, HEAD)
    assert records(path) == [
        TIME
        | {"what": "call", "event": "client:tool_call", "office": "office-1", "agent": "ada", "sid": "s-1"}
        | {"address": "192.0.2.1", "computer": "desk", "req_id": "r-1", "outcome": "408", "seconds": 1.234568}
    ]


def test_a_refusal_says_what_and_the_code(audit: AuditLog, path: Path) -> None:
    audit.refused("client:get_tools", RateLimited("no"), WHO, "r-1")
    audit.refused("connect", Unauthorized("no"), UnknownClient("s-9", "192.0.2.9"), None)
    audit.refused("connect", Unauthorized("no"), None, None)
    assert records(path) == [
        TIME
        | {"what": "refused", "event": "client:get_tools", "office": "office-1", "agent": "ada", "sid": "s-1"}
        | {"address": "192.0.2.1", "req_id": "r-1", "code": 429},
        TIME | {"what": "refused", "event": "connect", "sid": "s-9", "address": "192.0.2.9", "code": 401},
        TIME | {"what": "refused", "event": "connect", "code": 401},
    ]


def test_the_name_of_an_event_may_be_anything_and_is_not_repeated(audit: AuditLog, path: Path) -> None:
    audit.refused("my password is tiger", RateLimited("my password is tiger"), WHO, None)
    assert "tiger" not in path.read_text()


@pytest.mark.parametrize(
    "name", ['a"b', "line\nbreak", "中文", "\ud800", "a\\b", "a\u202eb", "a\u200bb", "\U000e0041中"]
)
def test_any_name_stays_on_its_line_and_reads_back(audit: AuditLog, path: Path, name: str) -> None:
    audit.answered("client:tool_call", "ok", 0, WHO, RequestHead(agent="ada", req_id=name, computer=name))
    (record,) = records(path)
    assert (record["computer"], record["req_id"]) == (name, name)
    assert path.read_text().removesuffix("\n").isprintable()


def test_a_flood_of_refusals_is_counted(audit: AuditLog, path: Path, clock: Clock) -> None:
    for _ in range(REFUSALS_PER_SECOND + 5):
        audit.refused("connect", Unauthorized(), None, None)
    clock.now += 1
    audit.refused("connect", Unauthorized(), None, None)
    found = records(path)
    assert len(found) == REFUSALS_PER_SECOND + 2
    assert found[-2]["count"] == 5


def test_lines_are_in_the_file_at_once_and_after_those_before(audit: AuditLog, path: Path, clock: Clock) -> None:
    audit.joined(AGENT, "")
    second = AuditLog(path, clock)
    second.joined(AGENT, "")
    second.close()
    assert len(records(path)) == 2


def test_a_file_that_was_moved_away_is_begun_again(audit: AuditLog, path: Path) -> None:
    audit.joined(AGENT, "")
    moved = path.rename(path.with_suffix(".1"))
    audit.left(AGENT, "left")
    audit.reopen()
    audit.joined(AGENT, "")
    assert [record["what"] for record in records(moved)] == ["join", "leave"]
    assert [record["what"] for record in records(path)] == ["join"]


def test_a_file_that_cannot_be_opened_again_stays_in_use(audit: AuditLog, path: Path) -> None:
    moved = path.rename(path.with_suffix(".1"))
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        audit.reopen()
    audit.joined(AGENT, "")
    assert len(records(moved)) == 1


def test_a_full_disk_is_told_once_and_holds_up_nothing(caplog: pytest.LogCaptureFixture) -> None:
    audit = AuditLog(Path("/dev/full"))
    for _ in range(3):
        audit.joined(AGENT, "")
    audit.close()
    assert [record.getMessage() for record in caplog.records] == [
        "audit log not writable: reason='no space left on device'"
    ]
    assert (audit.problem, audit.lost) == ("the audit log is not writable: no space left on device", 3)


def test_a_line_that_a_full_disk_took_in_part_spoils_no_other(audit: AuditLog, path: Path) -> None:
    whole, audit._file = audit._file, _Small(audit._file)  # type: ignore[assignment]
    audit.joined(AGENT, "")
    assert audit.problem is not None
    audit._file = whole
    audit.joined(AGENT, "")
    torn, last = path.read_text().splitlines()
    assert not torn.endswith("}")
    assert json.loads(last)["what"] == "join"
    assert audit.lost == 1
    assert "problem" not in {name for name, value in vars(audit).items() if value is not None}


class _Small:
    """A file on a disk with room for ten bytes."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, line: bytes) -> int:
        return int(self._file.write(line[:10]))


def test_a_file_that_cannot_be_written_is_told_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        AuditLog(tmp_path / "none" / "audit.jsonl")
