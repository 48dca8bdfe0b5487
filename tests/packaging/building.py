"""A copy of the project to build, so that nothing is left behind in the checkout."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "a2c_smcp"


def copy(folder: Path) -> Path:
    """Return `folder` with what a wheel is made of, as a fresh checkout has it."""
    shutil.copytree(PACKAGE, folder / "a2c_smcp", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def run(words: list[str], cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a program that ends well."""
    done = subprocess.run(
        words, cwd=cwd, env=os.environ | env, capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def build(target: str, project: Path, dist: Path, **env: str) -> tuple[Path, str]:
    """Return what hatchling built of a project, and what it said meanwhile."""
    done = run([sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(dist)], project, **env)
    (built,) = dist.iterdir()
    return built, done.stderr.removesuffix(f"{built}\n")
