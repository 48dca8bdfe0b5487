"""The conformance manifest and its page."""

from pathlib import Path

import pytest

from tools.conformance import citations, main

MANIFEST = """
[capabilities]
core = {{ title = "Core", built = {built} }}
[rules]
"1.1" = {{ for = "core", says = "It works." }}
"""


def project(tmp_path: Path, *, built: bool, test: str) -> Path:
    for folder in ("conformance", "docs", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "conformance/manifest.toml").write_text(MANIFEST.format(built=str(built).lower()), encoding="utf-8")
    (tmp_path / "tests/test_it.py").write_text(test, encoding="utf-8")
    return tmp_path


CITING = 'import pytest\n\n@pytest.mark.rule("1.1")\ndef test_it_works() -> None: ...\n'


def test_a_rule_with_a_test_passes_and_its_page_names_the_test(tmp_path: Path) -> None:
    root = project(tmp_path, built=True, test=CITING)
    assert main([], root) == 0
    assert main(["--check"], root) == 0
    assert "| 1.1 | It works. | it works |" in (root / "docs/conformance.md").read_text(encoding="utf-8")


def test_a_built_rule_that_nobody_tests_fails_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = project(tmp_path, built=True, test="def test_other() -> None: ...\n")
    main([], root)
    assert main(["--check"], root) == 1
    assert "rule 1.1 has no test" in capsys.readouterr().err


def test_a_rule_to_come_may_be_untested(tmp_path: Path) -> None:
    root = project(tmp_path, built=False, test="")
    main([], root)
    assert main(["--check"], root) == 0


def test_citing_an_unknown_rule_fails_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = project(tmp_path, built=False, test=CITING.replace("1.1", "9.9"))
    main([], root)
    assert main(["--check"], root) == 1
    assert "cites rule '9.9'" in capsys.readouterr().err


def test_a_stale_page_fails_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = project(tmp_path, built=True, test=CITING)
    assert main(["--check"], root) == 1
    assert "stale: docs/conformance.md" in capsys.readouterr().err


def test_citations_count_on_functions_classes_and_modules(tmp_path: Path) -> None:
    source = (
        'import pytest\n\npytestmark = pytest.mark.rule("1")\n\n'
        '@pytest.mark.rule("2", "3")\nclass TestIt:\n    @pytest.mark.rule("4")\n    def test_it(self): ...\n'
    )
    root = project(tmp_path, built=False, test=source)
    assert [cited.rule for cited in citations(root)] == ["1", "2", "3", "4"]
