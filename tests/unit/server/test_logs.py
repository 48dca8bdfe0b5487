"""The log of the program."""

import io
import json
import logging
import logging.config
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn.config

from a2c_smcp.errors import BadRequest, NotFound
from a2c_smcp.server.logs import REFUSALS_PER_SECOND, EventLogger, JsonFormatter, TextFormatter, configure
from a2c_smcp.server.observer import UnknownClient
from a2c_smcp.server.offices import Member

AGENT = Member("office 1", "agent", "ada", "s-1")
WHO = UnknownClient("s-1", "192.0.2.1", AGENT)


def break_down() -> None:
    words = " ".join(["the", "words"])
    try:
        dict[str, str]()[words]
    except KeyError as error:
        raise RuntimeError(words) from error


def raised(message: str) -> logging.LogRecord:
    record = record_of(message)
    try:
        break_down()
    except RuntimeError:
        record.exc_info = sys.exc_info()
    return record


def record_of(message: str = "hello", *arguments: object, **extra: Any) -> logging.LogRecord:
    record = logging.LogRecord("a2c.test", logging.INFO, "x.py", 1, message, arguments, None)
    record.created = 1_738_324_800.25
    vars(record).update(extra)
    return record


@pytest.fixture
def quiet() -> Iterator[io.StringIO]:
    """A place for the log; whatever `configure` changes is put back."""
    root = logging.getLogger()
    names = ["asyncio", "engineio", "socketio", "uvicorn", "uvicorn.access", "uvicorn.error", "websockets"]
    before = (list(root.handlers), root.level, [logging.getLogger(name).level for name in names])
    yield io.StringIO()
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    for name, level in zip(names, before[2], strict=True):
        logging.getLogger(name).setLevel(level)
    logging.captureWarnings(False)


def test_a_line_of_text_has_the_ids_as_fields() -> None:
    record = record_of("refused: %s", "why", req_id="r-1", sid="s-1", office="office 1", code=404, address=None)
    assert TextFormatter().format(record) == (
        '2025-01-31T12:00:00.250Z INFO a2c.test refused: why office="office 1" req_id=r-1 code=404 sid=s-1'
    )


def test_a_line_of_json_has_the_ids_as_fields() -> None:
    record = record_of("refused: %s", "why", req_id="r-1", sid="s-1", office="办公室", code=404)
    assert json.loads(JsonFormatter().format(record)) == {
        "time": "2025-01-31T12:00:00.250Z",
        "level": "info",
        "logger": "a2c.test",
        "message": "refused: why",
        "office": "办公室",
        "req_id": "r-1",
        "code": 404,
        "sid": "s-1",
    }


@pytest.mark.parametrize("formatter", [TextFormatter(), JsonFormatter()])
@pytest.mark.parametrize(
    "text", ["a\nb", "a\r\x1b[2Jb", "a\u2028b", "\ud800", "\x00", "\u202ebad", "a\u200bb", "\U000e0041"]
)
def test_nothing_that_somebody_sent_can_fake_a_line(formatter: logging.Formatter, text: str) -> None:
    line = formatter.format(record_of(text, req_id=text))
    assert len(line.splitlines()) == 1
    assert line.isprintable()


@pytest.mark.parametrize("formatter", [TextFormatter, JsonFormatter])
def test_an_unexpected_error_is_logged_with_its_traceback_and_without_its_message(
    formatter: type[TextFormatter] | type[JsonFormatter],
) -> None:
    entry = formatter().format(raised("it failed\n"))
    assert "it failed (RuntimeError)" in entry
    assert "Traceback (most recent call last)" in entry
    assert "in break_down" in entry
    assert "KeyError" in entry  # what caused it
    assert "the words" not in entry


def test_a_traceback_in_text_is_indented_so_that_it_can_be_no_line_of_its_own() -> None:
    first, *rest = TextFormatter(messages=True).format(raised("it failed")).splitlines()
    assert first.endswith("it failed (RuntimeError)")
    assert all(line.startswith("    ") for line in rest)


def test_the_message_of_an_error_is_logged_for_debugging() -> None:
    assert "the words" in TextFormatter(messages=True).format(raised("it failed"))
    assert "the words" in json.loads(JsonFormatter(messages=True).format(raised("it failed")))["traceback"]


def test_the_program_logs_in_the_form_and_from_the_level_it_was_told(quiet: io.StringIO) -> None:
    configure("json", "info", quiet)
    logging.getLogger("a2c_smcp.server.x").info("told", extra={"req_id": "r-1"})
    logging.getLogger("a2c_smcp.server.x").debug("not told")
    (line,) = quiet.getvalue().splitlines()
    assert json.loads(line)["req_id"] == "r-1"


@pytest.mark.parametrize("name", ["uvicorn.error", "websockets.server", "engineio.any", "asyncio"])
def test_what_libraries_say_of_frames_and_urls_is_not_logged_even_for_debugging(name: str, quiet: io.StringIO) -> None:
    configure("text", "debug", quiet)
    logging.getLogger(name).info("GET /socket.io/?token=tiger")
    logging.getLogger(name).warning("told")
    assert [line.rsplit(" ", 1)[1] for line in quiet.getvalue().splitlines()] == ["told"]


def test_a_library_that_was_given_a_way_of_its_own_is_heard_like_the_others(quiet: io.StringIO) -> None:
    logging.config.dictConfig(uvicorn.config.LOGGING_CONFIG)
    configure("text", "info", quiet)
    logging.getLogger("uvicorn.error").warning("told")
    assert quiet.getvalue().endswith(" told\n")


@pytest.mark.parametrize(
    "message",
    [
        "ASGI callable returned without completing handshake.",
        "Invalid session tiger (further occurrences of this error will be logged with level INFO)",
    ],
)
def test_what_libraries_say_of_clients_mistakes_is_no_news(message: str, quiet: io.StringIO) -> None:
    configure("text", "info", quiet)
    logging.getLogger("uvicorn.error").error(message)
    assert quiet.getvalue() == ""


def test_a_higher_level_silences_libraries_too(quiet: io.StringIO) -> None:
    configure("text", "error", quiet)
    logging.getLogger("uvicorn.error").warning("not told")
    assert quiet.getvalue() == ""


def test_joins_and_leaves_are_logged_with_their_ids(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    EventLogger().joined(AGENT, "192.0.2.1")
    EventLogger().left(AGENT, "left")
    fields = [(one.getMessage(), vars(one)["office"], vars(one)["agent"], vars(one)["sid"]) for one in caplog.records]
    assert fields == [("joined", "office 1", "ada", "s-1"), ("left: left", "office 1", "ada", "s-1")]


@pytest.mark.rule("3.4")
def test_each_error_is_logged_with_its_request(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    EventLogger().failed("client:tool_call", NotFound("No computer 'desk' in this office"), WHO, "r-1")
    EventLogger().refused("client:tool_call", BadRequest("agent: missing"), UnknownClient("s-9", "192.0.2.9"), "r-2")
    failed, refused = [TextFormatter().format(record).split(" ", 3)[3] for record in caplog.records]
    assert failed == (
        "failed: No computer 'desk' in this office event=client:tool_call "
        'office="office 1" agent=ada req_id=r-1 code=404 sid=s-1 address=192.0.2.1'
    )
    assert refused == "refused: agent: missing event=client:tool_call req_id=r-2 code=400 sid=s-9 address=192.0.2.9"


def test_the_name_of_an_event_may_be_anything_and_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    EventLogger().refused("tiger!", BadRequest("Unknown event 'tiger!'"), None, None)
    assert [record.getMessage() for record in caplog.records] == ["refused: Bad request"]


def test_secrets_in_a_reason_are_taken_out(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    EventLogger().refused("connect", BadRequest("bad token=tiger-tiger"), None, None)
    assert "tiger" not in caplog.text


def test_a_flood_of_refusals_is_counted(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    caplog.set_level(logging.INFO)
    now = [5.0]
    monkeypatch.setattr("a2c_smcp.server.logs.time.monotonic", lambda: now[0])
    events = EventLogger()
    for _ in range(REFUSALS_PER_SECOND + 7):
        events.refused("connect", BadRequest(), None, None)
    now[0] += 1
    events.refused("connect", BadRequest(), None, None)
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == REFUSALS_PER_SECOND + 2
    assert messages[-2] == "refusals suppressed: count=7"


def test_nothing_is_made_for_a_log_that_does_not_want_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    EventLogger().refused("connect", BadRequest(), None, None)
    assert caplog.records == []
