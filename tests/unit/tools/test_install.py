"""`make up` on a new machine says how far it is."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

from tools.install import EVERY, Progress, install, listed

ROOT = Path(__file__).parents[3]


def test_what_a_requirement_file_names_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "locked.txt"
    text = "# head\nhttpx==1.0 \\\n    --hash=sha256:ab\nmcp[cli]==2.3 ; python_version < '4'\n"
    text += "mcp==2.4 ; python_version > '4'\n"
    file.write_text(text, encoding="utf-8")
    assert listed(["--no-deps", "-r", str(file)]) == 2
    assert listed(["--editable", "."]) == 0
    assert listed(["-r", "requirements/constraints.txt"]) > 50


def test_progress_is_said_every_few_seconds_and_when_the_next_step_begins() -> None:
    out, now = io.StringIO(), [0.0]
    progress = Progress(3, out, lambda: now[0])
    progress.heard("Looking in indexes: https://index.example/simple")
    progress.heard("Collecting httpx==1.0 (from -r locked.txt (line 2))")
    progress.tick()
    assert out.getvalue() == ""
    now[0] = EVERY
    progress.tick()
    progress.heard("Requirement already satisfied: mcp==2.3 in ./lib (from -r locked.txt (line 4))")
    progress.heard("Ignoring pywin32: markers 'x' don't match your environment")
    progress.heard("Installing collected packages: httpx, mcp")
    now[0] = 12.0
    progress.done()
    assert out.getvalue().splitlines() == [
        "  fetching 1 of 3 packages, 10 s",
        "  unpacking 2 packages, 10 s",
        "  installed, 12 s",
    ]


@pytest.mark.parametrize("code", [0, 3])
def test_what_pip_says_is_shown_where_it_fails_and_never_where_packages_come_from(code: int) -> None:
    out = io.StringIO()
    script = f"print('Looking in indexes: https://index.example/simple\\nno such file'); raise SystemExit({code})"
    assert install([sys.executable, "-c", script], 0, out) == code
    assert "index.example" not in out.getvalue()
    assert ("no such file" in out.getvalue()) == bool(code)


def test_make_shows_what_it_is_doing_while_it_installs() -> None:
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", "up"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    steps = done.stdout.splitlines()
    said = [index for index, step in enumerate(steps) if step.startswith("echo")]
    works = [index for index, step in enumerate(steps) if "tools/install.py" in step or "hatchling" in step]
    assert len(works) >= 2
    assert all(work - 1 in said for work in works), done.stdout
    assert "pip install -q --disable-pip-version-check --no-deps --require-hashes" not in done.stdout
