"""`a2c doctor` as a program."""

import json

from tests.interaction.server.programs import a2c


def test_it_tells_as_json_what_is_there() -> None:
    run = a2c("doctor", "--json", "--role", "server", env={"XDG_STATE_HOME": "/"})
    value = json.loads(run.stdout)
    assert (run.returncode, value["ok"], value["wrong"]) == (0, True, [])
    states = {finding["name"]: finding["state"] for finding in value["findings"]}
    assert states["Python"] == states["extra server"] == states["search"] == states["clock"] == "ok"


def test_something_needed_that_is_missing_is_exit_code_1_and_a_remedy() -> None:
    run = a2c("doctor", "--port", "0", "--role", "documents", env={"XDG_STATE_HOME": "/dev/null"})
    assert run.returncode == 1
    assert "state folder       problem" in run.stdout
    assert "set XDG_STATE_HOME to another folder" in run.stdout
