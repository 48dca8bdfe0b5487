"""The contract's rules, the tests that cite them, and the page that shows both.

python tools/conformance.py            write docs/conformance.md
python tools/conformance.py --check    exit 1 on an untested rule, an unknown citation or a stale page
"""

import argparse
import ast
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = "conformance/manifest.toml"
PAGE = "docs/conformance.md"


@dataclass(frozen=True, slots=True)
class Citation:
    rule: str
    test: str
    line: int


@dataclass(slots=True)
class Rule:
    id: str
    capability: str
    says: str
    tests: list[str] = field(default_factory=list)


def citations(root: Path) -> Iterator[Citation]:
    """Every rule that a test cites by `@pytest.mark.rule(...)`, on itself, its class or its module."""
    for path in sorted((root / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        name = path.relative_to(root).as_posix()
        module = [rule for node in tree.body for rule in _pytestmark(node)]
        yield from _walk(tree.body, name, module)


def _walk(body: list[ast.stmt], prefix: str, inherited: list[str]) -> Iterator[Citation]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _walk(node.body, f"{prefix}::{node.name}", inherited + _marks(node.decorator_list))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            for rule in dict.fromkeys(inherited + _marks(node.decorator_list)):
                yield Citation(rule, f"{prefix}::{node.name}", node.lineno)


def _pytestmark(node: ast.stmt) -> list[str]:
    if not isinstance(node, ast.Assign) or not any(
        isinstance(t, ast.Name) and t.id == "pytestmark" for t in node.targets
    ):
        return []
    values = node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
    return _marks(values)


def _marks(decorators: list[ast.expr]) -> list[str]:
    return [
        argument.value
        for call in decorators
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.rule"
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]


def examine(root: Path) -> tuple[dict[str, dict[str, object]], dict[str, Rule], list[str]]:
    """Return the capabilities, the rules with their tests, and what is wrong."""
    manifest = tomllib.loads((root / MANIFEST).read_text(encoding="utf-8"))
    capabilities = manifest["capabilities"]
    rules = {key: Rule(key, row["for"], row["says"]) for key, row in manifest["rules"].items()}
    problems = [
        f"rule {r.id}: no capability {r.capability!r}" for r in rules.values() if r.capability not in capabilities
    ]
    for cited in citations(root):
        if cited.rule in rules:
            rules[cited.rule].tests.append(cited.test)
        else:
            problems.append(f"{cited.test}:{cited.line} cites rule {cited.rule!r}, which the manifest does not have")
    problems += [
        f"rule {rule.id} has no test, and its capability {rule.capability!r} is marked built: {rule.says}"
        for rule in rules.values()
        if not rule.tests and capabilities.get(rule.capability, {}).get("built")
    ]
    return capabilities, rules, problems


def page(capabilities: dict[str, dict[str, object]], rules: dict[str, Rule]) -> str:
    """The conformance page."""
    out = [
        "# Conformance",
        "",
        "Every rule of the contract and the tests that show it, generated from `conformance/manifest.toml` and",
        "the tests' own citations. A capability that is built has a test for each of its rules; the others show",
        "what is still open.",
        "",
        "| capability | state | rules | with tests |",
        "| --- | --- | ---: | ---: |",
    ]
    for key, about in capabilities.items():
        own = [rule for rule in rules.values() if rule.capability == key]
        state = "built" if about["built"] else "to come"
        out.append(f"| [{about['title']}](#{key}) | {state} | {len(own)} | {sum(bool(r.tests) for r in own)} |")
    for key, about in capabilities.items():
        out += ["", f"## {about['title']} {{#{key}}}", "", "| rule | says | shown by |", "| --- | --- | --- |"]
        out += [f"| {r.id} | {_cell(r.says)} | {_tests(r)} |" for r in rules.values() if r.capability == key]
    return "\n".join(out) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _tests(rule: Rule) -> str:
    if not rule.tests:
        return "–"
    first = rule.tests[0].rsplit("::", 1)[-1].removeprefix("test_").replace("_", " ")
    return first if len(rule.tests) == 1 else f"{first}, and more"


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when something is wrong or stale")
    check = parser.parse_args(arguments).check
    capabilities, rules, problems = examine(root)
    text = page(capabilities, rules)
    target = root / PAGE
    if check:
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            problems.append(f"stale: {PAGE} (run python tools/conformance.py)")
    else:
        target.write_text(text, encoding="utf-8")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
