"""Settings of the whole suite."""

import os
import signal
import tempfile
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# What is ignored here, as behind `nohup` or a shell's `&`, would be ignored by every program that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What Computers and commands remember between two runs is that of the suite, not of the developer.
_state = tempfile.TemporaryDirectory(prefix="a2c-tests-state-")
os.environ["XDG_STATE_HOME"] = _state.name

# The same examples every time, so that no change is refused for what chance finds elsewhere; `make fuzz` looks further.
settings.register_profile(
    "default",
    deadline=None,
    derandomize="A2C_FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")


def pytest_configure(config: pytest.Config) -> None:
    """Let no program that a test starts write into the home of whoever runs the tests."""
    state = tempfile.TemporaryDirectory(prefix="a2c-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(state.cleanup)
    os.environ["XDG_STATE_HOME"] = state.name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    """In strict mode (CI) a test skipped for a missing part has failed."""
    return _strict((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):  # type: ignore[no-untyped-def]
    """The same for a module that skips itself."""
    return _strict((yield))


def _strict(report: Any) -> Any:
    if os.environ.get("A2C_STRICT") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in strict mode: {report.longrepr}"
    return report
