"""The law of the native form: what is written reads back the same."""

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.config.loaders import parse_config_text
from a2c_smcp.computer.config.models import (
    ComputerConfig,
    MCPServerCommandInput,
    MCPServerPickStringInput,
    MCPServerPromptStringInput,
    MCPServerStdioConfig,
    MCPServerStdioParameters,
    MCPServerStreamableHttpConfig,
    MCPServerStreamableHttpParameters,
    MCPSSEConfig,
    MCPSSEParameters,
    ToolMeta,
)

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
METAS = st.builds(
    ToolMeta,
    auto_apply=st.none() | st.booleans(),
    alias=st.none() | NAMES,
    tags=st.none() | st.lists(TEXTS, max_size=2),
    ret_object_mapper=st.none() | st.dictionaries(TEXTS, JSON, max_size=2),
)
URLS = st.sampled_from(["https://example.com/mcp", "${input:a}", "http://[::1]:80/x?y=z#w"])
HEADERS = st.none() | st.dictionaries(
    st.from_regex(r"[A-Za-z-]{1,8}", fullmatch=True), TEXTS.filter(lambda t: not set("\r\n") & set(t)), max_size=2
)
DURATIONS = st.timedeltas(min_value=timedelta(microseconds=1), max_value=timedelta(days=3650))
SECONDS = st.floats(min_value=0, max_value=1e6, exclude_min=True)
PARAMETERS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (
        MCPServerStdioConfig,
        st.builds(
            MCPServerStdioParameters,
            command=NAMES,
            args=st.lists(TEXTS, max_size=3),
            env=st.none() | st.dictionaries(NAMES.filter(lambda n: "=" not in n), TEXTS, max_size=2),
            cwd=st.none() | NAMES,
            encoding=st.sampled_from(["utf-8", "gbk"]),
            encoding_error_handler=st.sampled_from(["strict", "ignore", "replace"]),
        ),
    ),
    (
        MCPServerStreamableHttpConfig,
        st.builds(
            MCPServerStreamableHttpParameters,
            url=URLS,
            headers=HEADERS,
            timeout=DURATIONS,
            sse_read_timeout=DURATIONS,
            terminate_on_close=st.booleans(),
        ),
    ),
    (
        MCPSSEConfig,
        st.builds(MCPSSEParameters, url=URLS, headers=HEADERS, timeout=SECONDS, sse_read_timeout=SECONDS),
    ),
]
SERVERS = st.one_of(
    *(
        st.builds(
            kind,
            name=NAMES,
            server_parameters=parameters,
            disabled=st.booleans(),
            forbidden_tools=st.lists(NAMES, max_size=2),
            tool_meta=st.dictionaries(NAMES, METAS, max_size=2),
            default_tool_meta=st.none() | METAS,
            vrl=st.none() | TEXTS,
            subscribe=st.sampled_from(["declared", "assume"]),
        )
        for kind, parameters in PARAMETERS
    )
)
IDS = NAMES.filter(lambda name: not set("{}") & set(name))
INPUTS: st.SearchStrategy[Any] = st.one_of(
    st.builds(
        MCPServerPromptStringInput,
        id=IDS,
        description=TEXTS,
        default=st.none() | TEXTS,
        password=st.none() | st.booleans(),
    ),
    st.builds(MCPServerPickStringInput, id=IDS, description=TEXTS, options=st.lists(TEXTS, min_size=1, max_size=3)),
    st.builds(
        MCPServerCommandInput,
        id=IDS,
        description=TEXTS,
        command=NAMES,
        args=st.none() | st.dictionaries(TEXTS, TEXTS, max_size=2),
    ),
)
CONFIGS = st.builds(
    lambda servers, inputs: ComputerConfig(servers={server.name: server for server in servers}, inputs=inputs),
    st.lists(SERVERS, max_size=3, unique_by=lambda server: server.name),
    st.lists(INPUTS, max_size=3, unique_by=lambda entry: entry.id),
)


@pytest.mark.rule("5.1.kinds", "5.1.inputs")
@given(CONFIGS)
def test_a_configuration_reads_back_from_its_native_form(whole: ComputerConfig) -> None:
    loaded = parse_config_text(json.dumps(whole.model_dump(mode="json")))
    assert (loaded.config, loaded.format) == (whole, "native")
