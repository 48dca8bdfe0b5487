"""Adapters whose library is missing."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("adapter", "library", "extra"),
    [("langchain", "langchain_core", "langchain"), ("pydantic_ai", "pydantic_ai", "pydantic-ai")],
)
def test_a_missing_library_names_what_to_install(adapter: str, library: str, extra: str) -> None:
    code = f"import sys; sys.modules[{library!r}] = None; import a2c_smcp.agent.adapters.{adapter}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ModuleNotFoundError: {library}")
    assert last.endswith(f" is not installed: pip install '.[{extra}]' in the checkout of this project")
