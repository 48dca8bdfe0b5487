"""What optional fields of a configuration take: `null`, headers of any JSON, durations of a fixed length."""

from typing import Any

import pytest

from a2c_smcp.computer import parse_config
from a2c_smcp.computer.config.models import MCPServerConfig
from a2c_smcp.errors import InvalidConfig

URL = "https://example.com/mcp"


def configured(parameters: dict[str, Any], kind: str = "streamable", **fields: Any) -> MCPServerConfig:
    server = {"type": kind, "server_parameters": parameters, **fields}
    return parse_config({"servers": {"a": server}}).config.servers["a"]


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (
            "streamable",
            {"url": URL, "headers": None, "timeout": None, "sse_read_timeout": None, "terminate_on_close": None},
        ),
        ("sse", {"url": URL, "headers": None, "timeout": None, "sse_read_timeout": None}),
        ("stdio", {"command": "x", "args": None, "env": None, "cwd": None, "encoding": None}),
    ],
)
def test_null_for_an_optional_field_is_its_default(kind: str, parameters: dict[str, Any]) -> None:
    fields = {"disabled": None, "forbidden_tools": None, "tool_meta": None, "default_tool_meta": None, "vrl": None}
    required = {name: value for name, value in parameters.items() if value is not None}
    assert configured(parameters, kind, **fields) == configured(required, kind)


def test_null_for_a_required_field_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="url"):
        configured({"url": None})


@pytest.mark.parametrize("kind", ["streamable", "sse"])
def test_headers_take_any_json_value(kind: str) -> None:
    written = {"A": "x", "B": 5, "C": True, "D": ["x", 1], "E": {"a": [1]}, "F": None}
    found = configured({"url": URL, "headers": written}, kind).server_parameters.headers  # type: ignore[union-attr]
    assert found == {"A": "x", "B": "5", "C": "true", "D": "x, 1", "E": '{"a":[1]}'}


def test_a_header_of_a_list_that_cannot_be_one_line_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="line break"):
        configured({"url": URL, "headers": {"A": ["x", "y\nInjected: z"]}})


@pytest.mark.parametrize("duration", ["P1M", "P1Y", "P1Y2M3DT4H"])
def test_a_duration_in_months_or_years_says_why_it_is_refused(duration: str) -> None:
    with pytest.raises(InvalidConfig, match="years or months, which have no fixed length"):
        configured({"url": URL, "timeout": duration})


@pytest.mark.parametrize("kind", ["streamable", "sse"])
def test_a_timeout_of_zero_is_refused(kind: str) -> None:
    with pytest.raises(InvalidConfig, match="must be longer than 0"):
        configured({"url": URL, "timeout": 0}, kind)
