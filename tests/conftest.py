"""Settings of the whole suite."""

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# The same examples every time, so that no change is refused for what chance finds elsewhere; `make fuzz` looks further.
settings.register_profile(
    "default",
    deadline=None,
    derandomize="A2C_FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")


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
