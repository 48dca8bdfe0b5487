"""Configured values do not show."""

import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.common.masking import MIN_LENGTH
from a2c_smcp.computer.config.models import (
    MCPServerStdioConfig,
    MCPServerStdioParameters,
    MCPServerStreamableHttpConfig,
    MCPServerStreamableHttpParameters,
)
from a2c_smcp.computer.config.secret_detection import ServerMask


def stdio(*args: str, **env: str) -> MCPServerStdioConfig:
    return MCPServerStdioConfig(
        name="a", server_parameters=MCPServerStdioParameters(command="run", args=list(args), env=env)
    )


@pytest.mark.rule("5.2")
def test_what_inputs_were_replaced_by_is_hidden_and_what_stands_around_it_is_not() -> None:
    mask = ServerMask.between(
        stdio("--name=${input:name}-x", A="is ${input:a}!"), stdio("--name=Bernard-x", A="is prickly!")
    )

    assert mask.hide("Bernard-x is prickly! is that --name?") == "<redacted>-x is <redacted>! is that --name?"


def test_literal_secrets_are_hidden_and_other_settings_are_not() -> None:
    config = stdio("--port", "8080", "--token", "swordfish", API_KEY="opensesame", MODE="development")

    assert ServerMask.between(config, config).hide("swordfish opensesame 8080 development") == (
        "<redacted> <redacted> 8080 development"
    )


def test_secrets_in_urls_and_headers_are_hidden_in_either_spelling() -> None:
    def http(key: str) -> MCPServerStreamableHttpConfig:
        parameters = MCPServerStreamableHttpParameters(
            url=f"https://example.com/{key}/mcp?token=literal1", headers={"Authorization": "Bearer sh-literal"}
        )
        return MCPServerStreamableHttpConfig(name="a", server_parameters=parameters)

    mask = ServerMask.between(http("${input:key}"), http("a b c d"))

    assert mask.hide("GET https://example.com/a%20b%20c%20d/mcp?token=literal1 a b c d sh-literal") == (
        "GET https://example.com/<redacted>/mcp?token=<redacted> <redacted> <redacted>"
    )


def test_a_value_that_does_not_add_up_is_hidden_whole() -> None:
    assert ServerMask.between(stdio(A="x${input:a}"), stdio(A="something else")).hide("something else") == "<redacted>"


def test_json_is_hidden_in_depth() -> None:
    assert ServerMask(["secret"]).hide_in({"a secret": [1, None, "secrets", {"b": "fine"}]}) == {
        "a <redacted>": [1, None, "<redacted>s", {"b": "fine"}]
    }


@pytest.mark.rule("5.2")
def test_a_value_is_hidden_however_a_server_spells_it() -> None:
    value = 'a "ü"/+&'
    spelled = [value, quote(value), quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1]]

    assert ServerMask([value]).hide(" | ".join(spelled)) == " | ".join(["<redacted>"] * len(spelled))


def test_nothing_to_hide_changes_nothing() -> None:
    assert ServerMask(["", "on", "123"]).hide("on 123") == "on 123"


@given(st.text(min_size=MIN_LENGTH), st.text(), st.text())
def test_a_hidden_value_is_nowhere_in_the_text(value: str, before: str, after: str) -> None:
    hidden = ServerMask([value]).hide(before + value + after)

    assert value not in hidden.replace("<redacted>", "\0")
