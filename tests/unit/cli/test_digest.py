"""`a2c digest`: progress, and the question before something is installed."""

import io

import pytest

from a2c_smcp.cli import digest
from a2c_smcp.cli.command import Context
from a2c_smcp.cli.parsing import parse
from a2c_smcp.cli.progress_bars import Bars
from a2c_smcp.cli.table import COMMANDS
from a2c_smcp.digest import installer
from tests.unit.cli.running import Terminal


def at(typed: str, stderr: io.StringIO) -> Context:
    return Context(COMMANDS, Terminal(typed), Terminal(), stderr, {})


def test_each_step_has_a_bar_that_grows_in_place() -> None:
    out = Terminal()
    with Bars(at("", out)) as bars:
        bars.tell("pages", 0, 4)
        bars.tell("pages", 2, 4)
        bars.tell("sections", 1, 1)
    assert out.getvalue() == (
        f"\rpages      [{'.' * 30}] 0/4\rpages      [{'#' * 15}{'.' * 15}] 2/4\n\rsections   [{'#' * 30}] 1/1\n"
    )


@pytest.mark.parametrize(("stream", "quiet"), [(io.StringIO(), False), (Terminal(), True)])
def test_nobody_is_shown_bars_who_cannot_see_them_or_wants_none(stream: io.StringIO, quiet: bool) -> None:
    with Bars(at("", stream), quiet=quiet) as bars:
        bars.tell("pages", 1, 2)
    assert stream.getvalue() == ""


@pytest.mark.parametrize(("typed", "installs"), [("y\n", [["isal"]]), ("n\n", []), ("", [])])
def test_a_person_is_asked_before_something_is_installed(
    typed: str, installs: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[list[str]] = []
    monkeypatch.setattr(installer, "_is_there", lambda name: name != "isal")
    monkeypatch.setattr(installer, "_install", lambda names, _: done.append(list(names)))
    out = Terminal()
    arguments = parse(["digest", "--pdf", "x.pdf"], COMMANDS).arguments
    response = digest._pipeline(at(typed, out), arguments).installer.ensure({"packages": ["isal"]})
    assert (done, out.getvalue()) == (installs, "Install isal into this environment? [y/N] ")
    assert response["ok"] is False
