"""The licences of dependencies, and the versions without known vulnerabilities."""

import tomllib
from typing import Any

import pytest

from tools.dependencies import ADVISORIES, HEAD, LOCK, ROOT, closure, licence, page, project, vulnerable

SAFE = {"safe": {"pillow": {"version": "12.3.0", "advisories": ["CVE-1"]}}}


def table(*dependencies: str) -> dict[str, Any]:
    return {"dependencies": list(dependencies), "optional-dependencies": {}, "dependency-groups": {}}


def recorded() -> dict[str, Any]:
    return tomllib.loads((ROOT / ADVISORIES).read_text("utf-8"))


def test_no_requirement_and_no_locked_version_has_a_recorded_vulnerability() -> None:
    assert list(vulnerable(project(), (ROOT / LOCK).read_text("utf-8"), recorded())) == []


@pytest.mark.parametrize("requirement", ["pillow", "pillow>=11", "pillow<14", "Pillow>=12.2,<14", "pillow~=12.2"])
def test_a_floor_below_the_safe_version_is_refused(requirement: str) -> None:
    (problem,) = vulnerable(table(requirement), "", SAFE)
    assert "allows versions below 12.3.0 (CVE-1)" in problem


@pytest.mark.parametrize("requirement", ["pillow>=12.3", "pillow>=13,<14", "pillow==12.3.0", "lxml"])
def test_a_floor_at_or_above_the_safe_version_passes(requirement: str) -> None:
    assert list(vulnerable(table(requirement), "", SAFE)) == []


def test_a_locked_version_below_the_safe_one_is_refused() -> None:
    (problem,) = vulnerable(table(), "pillow==12.2.0 \\\n    --hash=sha256:00\n", SAFE)
    assert problem.startswith("requirements/constraints.txt: pillow 12.2.0 is below 12.3.0")


def test_every_row_of_the_record_names_its_advisories() -> None:
    assert [name for name, row in recorded()["safe"].items() if not row["advisories"]] == []


def test_each_package_of_the_page_has_a_licence() -> None:
    rows = [line.split(" | ") for line in page(project()).removeprefix(HEAD).splitlines()]
    assert {row[0].removeprefix("| ") for row in rows} >= {"pydantic", "mcp", "pypdfium2", "starlette"}
    assert [row[0] for row in rows if row[1] in {"", "None", "see the package"}] == []


def test_vrl_is_an_extra_of_its_own() -> None:
    assert "vrl-python" not in closure("computer")
    assert "vrl-python" in closure("vrl")
    assert licence("vrl-python") == "MIT"
