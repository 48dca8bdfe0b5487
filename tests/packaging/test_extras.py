"""Each room imports with its own extra alone: whoever installs one role needs nothing of another."""

import json
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from a2c_smcp.cli.completion import nodes
from a2c_smcp.cli.table import COMMANDS
from tools.dependencies import closure, project

pytestmark = pytest.mark.timeout(600)  # importing everything takes a busy machine minutes

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "a2c_smcp"

ROOMS = {
    "agent": "agent",
    "bridge": "bridge",
    "computer": "computer",
    "console": "console",
    "digest": "digest",
    "docserver": "docserver",
    "documents": "documents",
    "server": "server",
}
"""A room, and the extra that its users install."""

OWN_EXTRA = {
    "a2c_smcp.agent.adapters.langchain": ("langchain",),
    "a2c_smcp.agent.adapters.pydantic_ai": ("pydantic-ai",),
    "a2c_smcp.server.tracing": ("server", "otel"),
    "a2c_smcp.cli.agent_run": ("agent", "cli"),
    "a2c_smcp.cli.agent_call": ("agent", "cli"),
    "a2c_smcp.cli.agent_browser": ("agent", "cli"),
    "a2c_smcp.cli.progress_bars": ("digest", "cli"),
    "a2c_smcp.cli.computer_run": ("computer", "cli"),
    "a2c_smcp.cli.computer_shell": ("computer", "cli"),
    "a2c_smcp.cli.digest_tool": ("docserver",),
    "a2c_smcp.cli.up_run": ("all",),
    "a2c_smcp.cli.demo_server": ("docserver",),
}
"""Modules with an extra to themselves, and those behind a command, with what the command says it needs."""

TOP = ("a2c_smcp", "a2c_smcp.cli.main", "a2c_smcp.cli.reference", "a2c_smcp.cli.doctor_checks")
"""What works with the core alone: help, completion, and finding out what is missing."""

IMPORT = """
import importlib, json, sys
hidden, modules = json.load(sys.stdin)

class Wall:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Wall())
failed = {}
for module in modules:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        failed[module] = error.name
print(json.dumps(failed))
"""


@cache
def hidden_without(*extras: str) -> list[str]:
    """Return the modules that an installation with these extras does not have."""
    allowed = closure(*extras)
    return [
        module
        for module, owners in _owners().items()
        if module != "a2c_smcp" and not {canonicalize_name(owner) for owner in owners} & allowed
    ]


@cache
def _owners() -> dict[str, list[str]]:
    return dict(metadata.packages_distributions())


def modules_of(room: str) -> list[str]:
    paths = sorted((PACKAGE / room).rglob("*.py"))
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths]
    return [name for name in names if name not in OWN_EXTRA and not name.endswith(("__main__", "watchdog"))]


def failures(modules: list[str], *extras: str) -> dict[str, str]:
    """Return which of these modules cannot be imported with these extras, and for want of what."""
    run = subprocess.run(
        [sys.executable, "-c", IMPORT],
        input=json.dumps([hidden_without(*extras), modules]),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=500,
        check=True,
    )
    found: dict[str, str] = json.loads(run.stdout)
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_with_its_own_extra_alone(room: str) -> None:
    below = modules_of("connection") if room == "agent" else []
    assert failures([*below, *modules_of(room)], ROOMS[room]) == {}


@pytest.mark.parametrize("extras", sorted(set(OWN_EXTRA.values())), ids=",".join)
def test_a_module_imports_with_its_own_extras(extras: tuple[str, ...]) -> None:
    assert failures([module for module, own in OWN_EXTRA.items() if own == extras], *extras) == {}


def test_every_extra_that_a_command_names_exists() -> None:
    named = {extra for _, command in nodes(COMMANDS) for extra in command.extra.split(",") if extra}
    assert named <= set(project()["optional-dependencies"])


def test_help_and_the_doctor_need_nothing_but_the_core() -> None:
    assert failures(list(TOP)) == {}


def test_the_wall_hides_what_is_not_asked_for() -> None:
    assert failures(["a2c_smcp.server.app", "a2c_smcp.errors"]).keys() == {"a2c_smcp.server.app"}


def test_all_is_every_extra_but_those_of_other_peoples_frameworks() -> None:
    extras = project()["optional-dependencies"]
    (everything,) = map(Requirement, extras["all"])
    assert set(extras) - {"all"} - everything.extras == {"langchain", "pydantic-ai"}
