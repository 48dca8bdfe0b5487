"""The page about inputs: what stands in it is true."""

import re
import sys
from pathlib import Path

import pytest

from a2c_smcp.computer import parse_config_text, undefined_inputs
from a2c_smcp.computer.inputs import EnvironmentSource, GivenSource, Inputs, KeyringSource
from a2c_smcp.errors import InvalidConfig

PAGE = (Path(__file__).parents[4] / "docs/how-to/inputs-and-secrets.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", blocks("python"), ids=["inputs", "settings"])
def test_a_block_of_the_page_runs(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    monkeypatch.delenv("A2C_INPUT_NOTES_KEY", raising=False)
    exec(compile(code, "inputs-and-secrets.md", "exec"), {"__name__": "__main__"})


def test_the_file_of_the_page_loads_and_defines_what_it_uses() -> None:
    (text,) = blocks("json")
    loaded = parse_config_text(text)
    assert (loaded.format, loaded.notes, undefined_inputs(loaded.config)) == ("native", (), {})


@pytest.mark.rule("5.2")
async def test_the_message_of_the_page_is_the_one_that_is_told() -> None:
    class Empty:
        def get_password(self, service: str, username: str, /) -> str | None:
            return None

    config = parse_config_text(blocks("json")[0]).config
    inputs = Inputs(config.inputs, [GivenSource({}), EnvironmentSource({}), KeyringSource(Empty())])
    with pytest.raises(InvalidConfig) as caught:
        await inputs.resolve(config.servers["github"])
    assert str(caught.value).split() == blocks("text")[0].split()
