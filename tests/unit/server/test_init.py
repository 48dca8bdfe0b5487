"""The front door."""

import subprocess
import sys

import pytest

from a2c_smcp import server


def test_the_names_are_sorted_and_each_is_there() -> None:
    assert server.__all__ == sorted(server.__all__)
    for name in server.__all__:
        assert getattr(server, name).__name__ == name


def test_every_name_can_be_found_by_looking() -> None:
    assert set(server.__all__) <= set(dir(server))


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Serve'"):
        server.Serve  # noqa: B018


def test_opening_the_door_imports_no_library() -> None:
    code = "import sys, a2c_smcp.server.settings; print({'socketio', 'jwt', 'uvicorn', 'pydantic'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
