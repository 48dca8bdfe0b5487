"""No line installs the package of another project: the name of this one belongs to somebody else in package indexes."""

import re
import subprocess

import pytest

from tests.docs.pages import ROOT

BY_NAME = re.compile(
    r"\b(?:pip3?|pipx|uv|uvx|poetry|pdm|conda|mamba)\b[^\n&|;]*?(?<![\w./-])a2c[-_]smcp(?:\[|[=<>~!]=|[\"'`\s]|$)",
    re.MULTILINE,
)
"""An installer with the name of the package; a path to a wheel or a checkout is none."""

PEERS = ("requirements/", "tests/peers/", "tests/docs/test_install_lines.py", "CHANGELOG.md")
"""Where the releases of the other project are installed on purpose, to be tested against, or spoken about."""


def texts() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    names = listed.stdout.decode().splitlines()
    return [name for name in names if not name.startswith(PEERS) and (ROOT / name).is_file()]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("$ pip install 'a2c-smcp[server]'", True),
        ("pip install a2c-smcp", True),
        ("python -m pip install -q a2c_smcp==1.0", True),
        ("uv tool install a2c-smcp", True),
        ("uv add 'a2c-smcp[agent]'", True),
        ("pipx install a2c-smcp", True),
        ("$ pip install '.[server]'", False),
        ("pip install './a2c_smcp-1.0.0-py3-none-any.whl[ocr]'", False),
        ("$ git clone …/a2c-smcp && cd a2c-smcp", False),
    ],
)
def test_a_line_that_installs_by_name_is_recognized(line: str, *, found: bool) -> None:
    assert bool(BY_NAME.search(line)) is found


def test_nothing_installs_the_package_by_name() -> None:
    found = []
    for name in texts():
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{name}: {match[0]}" for match in BY_NAME.finditer(text)]
    assert found == []
