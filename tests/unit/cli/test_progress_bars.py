"""How far something is, on a terminal."""

import io

from a2c_smcp.cli.command import Context
from a2c_smcp.cli.progress_bars import Gauge
from tests.unit.cli.running import Terminal


def at(stderr: io.StringIO, columns: int = 80) -> Context:
    return Context((), io.StringIO(), io.StringIO(), stderr, {"COLUMNS": str(columns)})


def test_a_gauge_is_written_over_itself() -> None:
    out = Terminal()
    with Gauge(at(out)) as gauge:
        gauge.tell(1, 2, "reading")
        gauge.tell(2, 2)
    half = f"\r[{'#' * 15}{'.' * 15}]  50% reading"
    assert out.getvalue() == f"{half}\r[{'#' * 30}] 100%{' ' * len(' reading')}\n"


def test_where_the_end_is_unknown_the_number_is_shown() -> None:
    out = Terminal()
    with Gauge(at(out)) as gauge:
        gauge.tell(1_500, None, "files")
    assert out.getvalue() == "\r1500 files\n"


def test_a_share_stays_between_nothing_and_all() -> None:
    out = Terminal()
    with Gauge(at(out)) as gauge:
        gauge.tell(-1, 10)
        gauge.tell(11, 10)
    assert out.getvalue() == f"\r[{'.' * 30}]   0%\r[{'#' * 30}] 100%\n"


def test_the_words_of_a_tool_stay_on_their_line_and_drive_no_terminal() -> None:
    out = Terminal()
    with Gauge(at(out, 40)) as gauge:
        gauge.tell(1, None, "one\ntwo \x1b[2J" + "x" * 100)
    assert out.getvalue() == f"\r1 one two \ufffd[2J{'x' * 24}…\n"


def test_nothing_is_written_where_nobody_sits_or_nothing_was_told() -> None:
    plain, silent = io.StringIO(), Terminal()
    with Gauge(at(plain)) as gauge:
        gauge.tell(1, 2)
    with Gauge(at(silent)):
        pass
    assert (gauge.shown, plain.getvalue(), silent.getvalue()) == (False, "", "")
