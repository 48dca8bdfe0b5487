"""The row of `a2c server`; running it is tested with real processes."""

import pytest

from a2c_smcp.cli.server import COMMAND
from a2c_smcp.server.settings import LIMITS, OPTIONS
from tests.unit.cli.running import a2c


def test_every_setting_is_an_option() -> None:
    names = {argument.name for argument in COMMAND.arguments}
    assert names == {option.cli_name for option in OPTIONS} | {"--limits", "--config"}


def test_help_tells_the_defaults_and_the_names_of_the_limits() -> None:
    shown = a2c("server", "--help").out
    assert "(default: 8000)" in shown
    assert all(option.name.removeprefix("limits.") in shown for option in LIMITS)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["--port", "none"],
            "error 400: --port: 'none' should be a valid integer, unable to parse string as an integer\n",
        ),
        (["--tls-cert", "x"], "error 400: tls_cert, tls_key: set both or neither\n"),
    ],
)
def test_a_mistake_is_a_line(words: list[str], line: str) -> None:
    assert a2c("server", *words) == (1, "", line)


def test_the_environment_is_that_of_the_command() -> None:
    run = a2c("server", env={"A2C_SERVER_PORT": "none"})
    assert (run.code, run.err.count("A2C_SERVER_PORT")) == (1, 1)
