"""What the project depends on: the licences, and the versions without known vulnerabilities.

python tools/dependencies.py            write THIRD_PARTY.md
python tools/dependencies.py --check    exit 1 when THIRD_PARTY.md is stale, or when pyproject.toml or the lock file
                                        allows a version that requirements/advisories.toml names as vulnerable
python tools/dependencies.py --audit    ask pip-audit about the locked versions; without its data, say so and exit 0
"""

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = "THIRD_PARTY.md"
LOCK: Final = "requirements/constraints.txt"
ADVISORIES: Final = "requirements/advisories.toml"
AUDIT_SECONDS: Final = 120

HEAD: Final = """# Third-party software

A2C-SMCP is licensed under [Apache-2.0](LICENSE) and contains no third-party source code. Its extras install the
following packages (CPython 3.11 on Linux), each under its own licence. The wheel of `pypdfium2` contains PDFium
(BSD-3-Clause and Apache-2.0), the wheel of `rapidocr` the PP-OCR models (Apache-2.0).

`tools/dependencies.py` writes this page from the metadata of the locked packages.

| package | licence | extras |
| --- | --- | --- |
"""

# Packages whose metadata names no licence, or a vague one; taken from their licence files.
_LICENCES: Final = {
    "colorama": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
    "jsonpointer": "BSD-3-Clause",
    "omegaconf": "BSD-3-Clause",
    "prompt-toolkit": "BSD-3-Clause",
    "protobuf": "BSD-3-Clause",
}
_SPELLINGS: Final = {
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}

Project = Mapping[str, Any]


def project(root: Path = ROOT) -> Project:
    """Return the `[project]` table and the dependency groups of pyproject.toml."""
    table = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    return {**table["project"], "dependency-groups": table.get("dependency-groups", {})}


def closure(*extras: str, of: Project | None = None) -> set[str]:
    """Return the distributions that an installation with these extras has on this platform."""
    table = project() if of is None else of
    waiting = [Requirement(line) for line in table["dependencies"]]
    waiting += [Requirement(line) for extra in extras for line in table["optional-dependencies"][extra]]
    found: set[str] = set()
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        one = waiting.pop()
        name, wanted = canonicalize_name(one.name), frozenset(one.extras)
        if (name, wanted) in seen or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        seen.add((name, wanted))
        if name == "a2c-smcp":
            waiting += [Requirement(line) for extra in wanted for line in table["optional-dependencies"][extra]]
            continue
        found.add(name)
        waiting += _requires(name, wanted)
    return found


@cache
def _requires(name: str, extras: frozenset[str]) -> list[Requirement]:
    try:
        lines = metadata.requires(name) or ()
    except metadata.PackageNotFoundError:  # not for this platform
        return []
    return [
        Requirement(f"{one.name}[{','.join(one.extras)}]" if one.extras else one.name)
        for one in map(Requirement, lines)
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]


def licence(name: str) -> str | None:
    """Return the licence that a package declares, or None where it is not installed."""
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return None
    if known := _LICENCES.get(name):
        return known
    fields = about.json
    declared = str(fields.get("license_expression") or fields.get("license") or "").strip().partition("\n")[0]
    if not declared or declared == "UNKNOWN":
        classifiers = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or () if "License ::" in line]
        declared = " OR ".join(_SPELLINGS.get(line, line) for line in classifiers) or "see the package"
    return _SPELLINGS.get(declared, declared)


def page(of: Project) -> str:
    """Return THIRD_PARTY.md for the packages that are installed here."""
    extras = [extra for extra in of["optional-dependencies"] if extra != "all"]
    owners: dict[str, list[str]] = {name: ["(always)"] for name in closure(of=of)}
    for extra in extras:
        for name in closure(extra, of=of):
            if owners.setdefault(name, []) != ["(always)"]:
                owners[name].append(extra)
    rows = [f"| {name} | {licence(name)} | {', '.join(owners[name])} |" for name in sorted(owners) if licence(name)]
    return HEAD + "\n".join(rows) + "\n"


def vulnerable(of: Project, lock: str, advisories: Mapping[str, Any]) -> Iterator[str]:
    """Yield what allows, or pins, a version with a known vulnerability."""
    safe = {canonicalize_name(name): Version(row["version"]) for name, row in advisories["safe"].items()}
    groups = {**of["optional-dependencies"], **of["dependency-groups"], "dependencies": of["dependencies"]}
    for group, lines in groups.items():
        for one in map(Requirement, lines):
            lowest = safe.get(canonicalize_name(one.name))
            if lowest and _floor(one) < lowest:
                yield f"pyproject.toml, {group}: {one} allows versions below {lowest} ({_why(advisories, one.name)})"
    for name, version in re.findall(r"^([a-z0-9.-]+)==([^\s;]+)", lock, flags=re.MULTILINE):
        lowest = safe.get(canonicalize_name(name))
        if lowest and Version(version) < lowest:
            yield f"{LOCK}: {name} {version} is below {lowest} ({_why(advisories, name)}); run make lock"


def _floor(requirement: Requirement) -> Version:
    lower = [Version(one.version) for one in requirement.specifier if one.operator in {">=", "~=", "=="}]
    return max(lower, default=Version("0"))


def _why(advisories: Mapping[str, Any], name: str) -> str:
    return ", ".join(advisories["safe"][canonicalize_name(name)]["advisories"][:2])


def audit(root: Path = ROOT) -> tuple[int, str]:
    """Ask pip-audit about the locked versions: the exit status and what to print."""
    command = [sys.executable, "-P", "-m", "pip_audit", "--requirement", LOCK, "--disable-pip", "--no-deps"]
    command += ["--format", "json", "--progress-spinner", "off", "--timeout", "10"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=AUDIT_SECONDS, check=False)
        answers = json.loads(done.stdout)["dependencies"]
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired):
        answers = []
    known = [answer for answer in answers if "skip_reason" not in answer]
    if not known:
        return 0, f"pip-audit: no advisory data could be reached; {ADVISORIES} was checked instead"
    found = [
        f"{answer['name']} {answer['version']}: {hole['id']}, fixed in {', '.join(hole['fix_versions']) or 'none'}"
        for answer in known
        for hole in answer["vulns"]
    ]
    return (1, "\n".join(found)) if found else (0, f"pip-audit: {len(known)} locked packages, no known vulnerability")


def main(arguments: list[str], root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--audit", action="store_true")
    options = parser.parse_args(arguments)
    table = project(root)
    if not (options.check or options.audit):
        (root / PAGE).write_text(page(table), encoding="utf-8")
        return 0
    status = 0
    if options.check:
        lock = (root / LOCK).read_text("utf-8")
        problems = list(vulnerable(table, lock, tomllib.loads((root / ADVISORIES).read_text("utf-8"))))
        # Other platforms and Pythons bring other packages; the page is that of one.
        if (
            sys.platform == "linux"
            and sys.version_info[:2] == (3, 11)
            and (root / PAGE).read_text("utf-8") != page(table)
        ):
            problems.append(f"{PAGE} is stale: run python tools/dependencies.py")
        for problem in problems:
            print(problem, file=sys.stderr)
        status = bool(problems)
    if options.audit:
        found, text = audit(root)
        print(text, file=sys.stderr if found else sys.stdout)
        status = status or found
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
