"""What `a2c doctor` finds."""

import importlib.metadata
import socket
from pathlib import Path

import pytest

from a2c_smcp.cli import doctor_checks
from a2c_smcp.cli.doctor_checks import (
    Finding,
    Requirement,
    clock,
    extension,
    extras,
    folders,
    model,
    ports,
    python,
    requirements,
    sandbox,
)
from a2c_smcp.common.extras import install_hint
from a2c_smcp.documents.sandbox import OFF, Confinement
from a2c_smcp.errors import DocumentError
from tests.unit.cli.running import a2c


def versions(**known: str) -> object:
    def version_of(name: str) -> str:
        if name not in known:
            raise importlib.metadata.PackageNotFoundError(name)
        return known[name]

    return version_of


def test_the_metadata_of_the_package_are_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    assert requirements(
        [
            "pydantic<3,>=2.11",
            "orjson>=3.10; extra == 'server'",
            "uvloop>=0.21; (sys_platform != 'win32') and extra == 'server'",
            'colorama; sys_platform == "win32" and extra == "cli"',
            "a2c-smcp[agent,cli]; extra == 'bridge'",
            "python-socketio[asyncio-client]<6,>=5.18; extra == 'agent'",
        ]
    ) == [
        Requirement("pydantic", "", "2.11"),
        Requirement("orjson", "server", "3.10"),
        Requirement("colorama", "cli"),
        Requirement("a2c-smcp", "bridge", "", ("agent", "cli")),
        Requirement("python-socketio", "agent", "5.18"),
    ]


def test_an_extra_is_there_with_all_that_it_includes_or_names_what_is_missing() -> None:
    wanted = [
        Requirement("pydantic", "", "2.11"),
        Requirement("a2c-smcp", "bridge", "", ("agent",)),
        Requirement("orjson", "agent", "3.10"),
        Requirement("rich", "cli", "14"),
        Requirement("mcp", "bridge", "2.3"),
    ]
    found = extras(frozenset({"bridge"}), wanted, versions(pydantic="2.12", orjson="3.9.1", rich="14.0"))  # type: ignore[arg-type]
    assert list(found) == [
        Finding("core", "ok", "libraries: 1", needed=True),
        Finding("extra bridge", "missing", "mcp, orjson 3.9.1 (older than 3.10)", True, install_hint("bridge")),
        Finding("extra agent", "absent", "orjson 3.9.1 (older than 3.10)", False, install_hint("agent")),
        Finding("extra cli", "ok", "libraries: 1"),
    ]


def test_an_old_python_is_a_problem() -> None:
    (finding,) = python((3, 10, 4))
    assert (finding.state, finding.needed) == ("problem", True)
    (finding,) = python((3, 14, 0))
    assert finding.state == "ok"


def test_a_port_that_is_taken_is_a_problem() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        (finding,) = ports(server.getsockname()[1])
        assert (finding.state, finding.needed) == ("problem", True)
    (finding,) = ports(None)
    assert finding.state == "ok"
    assert a2c("doctor", "--port", "70000").code == 2


def test_a_folder_below_a_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    *_, finding = folders(frozenset({"documents"}), {"XDG_STATE_HOME": str(tmp_path / "file" / "state")})
    assert (finding.name, finding.state) == ("state folder", "problem")


def test_a_clock_before_the_package_was_made_is_a_problem() -> None:
    (finding,) = clock(0.0)
    assert (finding.state, finding.said) == ("problem", "1970-01-01 00:00:00 UTC is before this package was installed")


def test_a_model_is_told_without_its_key() -> None:
    (finding,) = model({"A2C_LLM_BASE_URL": "https://x", "A2C_LLM_API_KEY": "secret", "A2C_LLM_MODEL": "m"})
    assert finding == Finding("model", "ok", "m writes digests")


@pytest.mark.parametrize(
    ("env", "module", "finding"),
    [
        ({}, "/x/_native.so", Finding("C extension", "ok", "/x/_native.so: PDF is read faster")),
        (
            {},
            None,
            Finding(
                "C extension",
                "absent",
                "PDF is read in Python alone",
                remedy="install the package again where there are a C compiler and the headers of Python",
            ),
        ),
        (
            {"A2C_PURE_PYTHON": "1"},
            None,
            Finding("C extension", "absent", "PDF is read in Python alone", remedy="unset A2C_PURE_PYTHON"),
        ),
    ],
    ids=["built", "not built", "not wanted"],
)
def test_the_c_extension_is_told_and_is_no_fault(env: dict[str, str], module: str | None, finding: Finding) -> None:
    assert list(extension(env, module)) == [finding]


def test_the_exit_code_says_whether_something_needed_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_checks, "python", lambda _: [Finding("Python", "problem", "old", True, "install it")])
    run = a2c("doctor", "--role", "agent")
    assert run.code == 1
    assert run.out.endswith("1 thing to see to\n")
    assert "install it" in run.out


def test_everything_is_there_on_a_machine_of_the_tests() -> None:
    run = a2c("doctor", "--role", "documents", "--json")
    assert run.code == 0
    assert '"ok": true' in run.out


NEEDED = frozenset({"documents"})
LIMITS = "parsers have limits on memory and time; "


@pytest.mark.parametrize(
    ("found", "env", "finding"),
    [
        (
            Confinement(no_new_privs=True, landlock=7, seccomp=True),
            {},
            Finding("workers", "ok", "parsers are confined by no_new_privs, Landlock (version 7), seccomp"),
        ),
        (
            Confinement(no_new_privs=True, seccomp=True),
            {},
            Finding(
                "workers",
                "absent",
                LIMITS + "active: no_new_privs, seccomp; not active: Landlock",
                remedy="use Linux 5.13 or newer with Landlock, on x86_64 or aarch64",
            ),
        ),
        (
            Confinement(),
            {OFF: "off"},
            Finding(
                "workers",
                "absent",
                LIMITS + "active: nothing more; not active: no_new_privs, Landlock, seccomp",
                remedy=f"unset {OFF}",
            ),
        ),
    ],
)
def test_what_confines_workers_is_said(found: Confinement, env: dict[str, str], finding: Finding) -> None:
    assert list(sandbox(NEEDED, env, lambda: found)) == [finding]
    assert list(sandbox(frozenset({"server"}), env, lambda: found)) == []


def test_a_worker_that_cannot_start_is_a_problem() -> None:
    def fail() -> Confinement:
        raise DocumentError("a worker process cannot be started")

    (finding,) = sandbox(NEEDED, {}, fail)
    assert (finding.state, finding.needed, finding.said) == ("problem", True, "a worker process cannot be started")


def test_the_state_of_workers_is_that_of_a_real_one() -> None:
    (finding,) = sandbox(NEEDED, {}, doctor_checks._confinement)
    assert finding.state in ("ok", "absent")
