"""Secrets planted through every source, and looked for in everything that others could read."""

import asyncio
import json
import logging
import traceback
from pathlib import Path

import pytest

from a2c_smcp.computer import ComputerConfig, MCPServerInput, public_config
from a2c_smcp.computer.config import ConfigFile, LiveConfig
from a2c_smcp.computer.inputs import (
    CallbackSource,
    CommandSource,
    EnvironmentSource,
    GivenSource,
    Inputs,
    InputSource,
    KeyringSource,
    Secret,
    Variables,
    parse_input_options,
    read_input_file,
)
from a2c_smcp.errors import InvalidConfig, SMCPError, to_wire
from tests.unit.computer.inputs.builders import command, http, pick, prompt, stdio

PLANTED = "Pl4nt3d-by-"
"""Every planted value begins so; its rest tells where it was planted."""


class Store:
    def get_password(self, service: str, username: str, /) -> str | None:
        return f"{PLANTED}keyring" if username == "keyring" else None


async def application(wanted: MCPServerInput) -> str | None:
    return f"{PLANTED}application" if wanted.id == "application" else None


def sources(folder: Path) -> list[InputSource]:
    file = folder / "values"
    file.write_text(f"file={PLANTED}file\n", encoding="utf-8")
    return [
        GivenSource(parse_input_options([f"given={PLANTED}given"])),
        GivenSource(read_input_file(file), "--input-file"),
        EnvironmentSource({"A2C_INPUT_ENVIRONMENT": f"{PLANTED}environment"}),
        KeyringSource(Store()),
        CommandSource(),
        CallbackSource(application),
    ]


DEFINITIONS: list[MCPServerInput] = [
    *(prompt(name, password=True) for name in ("given", "file", "environment", "keyring", "application", "hand")),
    prompt("default", default=f"{PLANTED}default", password=True),
    command("printf %s%s Pl4nt3d -by-command", input_id="command"),
]
EVERY = [definition.id for definition in DEFINITIONS]


def using(*ids: str) -> list[str]:
    return [f"${{input:{each}}}" for each in ids]


CONFIG = ComputerConfig(
    servers={
        "notes": stdio(
            *using(*EVERY),
            env={"KEY": "".join(using(*EVERY)), "VARIABLE": "${A_TOKEN}"},
            command="${input:given}",
            vrl="${input:given}",
        ),
        "web": http(f"https://example.com/{'/'.join(using(*EVERY))}", {"X": "${input:hand}"}),
    },
    inputs=DEFINITIONS,
)


class Seen:
    """Everything that others could read."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def value(self, *values: object) -> None:
        self.texts += [text for value in values for text in (repr(value), str(value))]

    def error(self, error: SMCPError) -> None:
        self.value(error, error.details)
        self.texts += [json.dumps(to_wire(error, form=form)) for form in ("plain", "flat", "tool")]
        self.texts.append("".join(traceback.format_exception(error)))


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    variables = Variables({"A_TOKEN": f"{PLANTED}variable"}, tmp_path, tmp_path, tmp_path)
    inputs = Inputs(DEFINITIONS, sources(tmp_path), variables=variables)
    inputs.set("hand", f"{PLANTED}hand")
    return inputs


@pytest.mark.rule("5.2")
async def test_no_value_is_in_a_log_an_error_a_listing_or_on_the_wire(
    inputs: Inputs, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    asyncio.get_running_loop().set_debug(True)
    seen = Seen()
    for config in CONFIG.servers.values():
        resolved = await inputs.resolve(config)
        # The values have arrived, each of them...
        assert all(f"{PLANTED}{each}" in resolved.model_dump_json() for each in EVERY)
        # ... and nothing shows them.
        seen.value(resolved, resolved.server_parameters)
        seen.texts.append(inputs.redact(f"the server said {resolved.model_dump_json()}"))
    seen.value(inputs, inputs.list(), *inputs._sources, inputs._found, inputs._redactor, inputs._variables)
    seen.texts += [state.source or "" for state in inputs.list()]
    seen.texts.append(json.dumps(public_config(CONFIG)))
    seen.texts.append(caplog.text)
    assert [text for text in seen.texts if PLANTED in text] == []


@pytest.mark.rule("5.2")
async def test_the_wire_shows_of_secrets_in_the_file_only_that_they_are_there() -> None:
    assert f"{PLANTED}default" not in json.dumps(public_config(CONFIG))


@pytest.mark.rule("5.2")
@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(http("${input:given}"), id="a value that is no URL"),
        pytest.param(http("https://example.com", {"X": "${input:given}\n".strip() + "${input:lines}"}), id="two lines"),
        pytest.param(stdio("${input:nul}"), id="a value with a NUL"),
        pytest.param(stdio("${input:given}", "${input:fails}"), id="a command that fails"),
        pytest.param(stdio("${input:given}", "${input:picked}"), id="no option"),
        pytest.param(stdio("${input:given}", "${input:missing}"), id="no value"),
        pytest.param(stdio("${input:given}", "${input:raises}"), id="an application that fails"),
        pytest.param(stdio("${input:given}", "${input:undefined}"), id="an input that is not defined"),
    ],
)
async def test_no_error_tells_a_value(broken: object, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def raising(wanted: MCPServerInput) -> str | None:
        if wanted.id == "raises":
            raise ValueError(f"{PLANTED}raised")
        return None

    caplog.set_level(logging.DEBUG)
    values = {"given": "given", "lines": "1\nPl4nt3d-by-2", "nul": "nul\0", "picked": "picked"}
    inputs = Inputs(
        [
            *(prompt(name) for name in ("given", "lines", "nul", "missing", "raises")),
            pick("picked", "a", "b"),
            command(f"sh -c 'echo {PLANTED}out; echo {PLANTED}err >&2; exit 1'", input_id="fails"),
        ],
        [
            GivenSource({name: Secret(PLANTED + value) for name, value in values.items()}),
            CommandSource(),
            CallbackSource(raising),
        ],
    )
    seen = Seen()
    with pytest.raises(InvalidConfig) as caught:
        await inputs.resolve(broken)  # type: ignore[arg-type]
    seen.error(caught.value)
    for input_id in ("picked", "nobody"):
        with pytest.raises(InvalidConfig) as refused:
            inputs.set(input_id, f"{PLANTED}set")
        seen.error(refused.value)
    assert [text for text in [*seen.texts, caplog.text] if PLANTED in text] == []


@pytest.mark.rule("5.2")
async def test_a_file_with_problems_is_told_without_the_secrets_in_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    file = tmp_path / "computer.json"
    good = {"type": "stdio", "server_parameters": {"command": "a", "env": {"KEY": f"{PLANTED}literal"}}}
    file.write_text(json.dumps({"servers": {"a": good}}), encoding="utf-8")
    told: list[str | None] = []
    seen = Seen()

    async def apply(changes: object, config: object) -> None:
        seen.value(changes, config)

    settings = LiveConfig(file=ConfigFile(file, grace=0, interval=0.01), apply=apply, report=told.append)
    await settings.load()
    seen.value(settings.config, settings.notes, settings.problem)
    file.write_text(f'{{"servers": {{"a": "{PLANTED}broken"}}}}', encoding="utf-8")
    with pytest.raises(InvalidConfig) as caught:
        await settings.load()
    seen.error(caught.value)
    outcome = await settings.remove_server("a", save=True)
    seen.value(outcome)
    assert outcome.note is not None
    assert [text for text in [*seen.texts, caplog.text, *map(str, told)] if PLANTED in text] == []
