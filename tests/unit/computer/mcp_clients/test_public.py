"""What leaves the Computer: placeholders stay, literal secrets do not."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from a2c_smcp.computer.mcp_clients.loaders import parse_config
from a2c_smcp.computer.mcp_clients.model import (
    ComputerConfig,
    MCPServerCommandInput,
    MCPServerInput,
    MCPServerPickStringInput,
    MCPServerPromptStringInput,
    strings_of,
)
from a2c_smcp.computer.mcp_clients.public import public_config, redact_args, redact_named, redact_value
from a2c_smcp.redaction import MAX_TEXT
from a2c_smcp.smcp import GET_CONFIG_EVENT, parse_reply

HIDDEN = "<redacted>"
MIXED = "a1b2c3d4e5f6"


@pytest.mark.rule("5.2.redacted")
@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("BRAVE_API_KEY", "x", HIDDEN),
        ("GITHUB_TOKEN", "x", HIDDEN),
        ("GITHUBTOKEN", "x", HIDDEN),
        ("TOKEN2", "x", HIDDEN),
        ("OPENAI_KEY", "x", HIDDEN),
        ("dbPassword", "x", HIDDEN),
        ("GITHUB_PAT", "x", HIDDEN),
        ("数据库密码", "x", HIDDEN),
        ("X-Api-Key", "x", HIDDEN),
        ("Authorization", "Bearer x", f"Bearer {HIDDEN}"),
        ("Authorization", "Bearer ${input:token}", "Bearer ${input:token}"),
        ("Authorization", "Basic ${input:user}:${input:password}", "Basic ${input:user}:${input:password}"),
        ("TOKEN", "${env:TOKEN}", "${env:TOKEN}"),
        ("TOKEN", "${TOKEN:-x}", f"${{TOKEN:-{HIDDEN}}}"),
        ("TOKEN", "x${input:rest}", f"{HIDDEN}${{input:rest}}"),
        ("TOKEN", "${ghp_0123456789abcdefghijkl}", HIDDEN),
        ("TOKEN", "", ""),
        ("PORT", "8080", "8080"),
        ("DEBUG", "true", "true"),
        ("LANG", "zh_CN.UTF-8", "zh_CN.UTF-8"),
        ("MODEL", "claude-3-5-sonnet-20241022", "claude-3-5-sonnet-20241022"),
        ("MAX_TOKENS", "4096", "4096"),
        ("GIT_AUTHOR", "Me", "Me"),
        ("HOST", "${HOST:-db01.example.com}", "${HOST:-db01.example.com}"),
        ("PATH", "/usr/bin:/opt/tool2/bin", "/usr/bin:/opt/tool2/bin"),
        ("FOLDER", "C:\\Users\\me2\\x", "C:\\Users\\me2\\x"),
    ],
)
def test_a_named_value_is_judged_by_its_name_first(name: str, value: str, shown: str) -> None:
    assert redact_named(name, value) == shown


@pytest.mark.rule("5.2.redacted")
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (MIXED, HIDDEN),
        ("sk-proj-abcdefghijklmnop", HIDDEN),
        ("123e4567-e89b-12d3-a456-426614174000", HIDDEN),
        ("/tmp/3fb3a5e0412195503fb3a5e041219550", HIDDEN),
        (f"x ${{input:y}} {MIXED}", f"{HIDDEN}${{input:y}}{HIDDEN}"),
        (f"${{X:-{MIXED}}}", f"${{X:-{HIDDEN}}}"),
        ("${API_KEY:-x}", f"${{API_KEY:-{HIDDEN}}}"),
        pytest.param(f"${{X:-{'word ' * MAX_TEXT}}}", f"${{X:-{HIDDEN}}}", id="long default"),
        pytest.param("word " * MAX_TEXT, HIDDEN, id="long text"),
        pytest.param("${input:a}" * 2_000, HIDDEN, id="many placeholders"),
        ('Traceback (most recent call last)\n  File "x", line 1', HIDDEN),
        ("host=db user=me password=x", f"host=db user=me password={HIDDEN}"),
        ("Server=db;Password=x;Port=1", f"Server=db;Password={HIDDEN}"),
        ("Authorization: Token x y", f"Authorization: Token {HIDDEN}"),
        ("server --api-key x --port 1", f"server --api-key {HIDDEN}"),
        ("run --token ${input:t}", "run --token ${input:t}"),
        ('{"Authorization": "Bearer x", "v": 1}', f'{{"Authorization": "Bearer {HIDDEN}", "v": 1}}'),
        ('{"a": {"pin": 1234, "key": null}}', f'{{"a": {{"pin": "{HIDDEN}", "key": null}}}}'),
        ('["--token", "x"]', f'["--token", "{HIDDEN}"]'),
        (f'[1, "{MIXED}"]', f'[1, "{HIDDEN}"]'),
        ('{"a":  "b"}', '{"a":  "b"}'),
        ('{"token": broken', f'{{"token": {HIDDEN}'),
        pytest.param("[" * 1_500, "[" * 1_500, id="deep"),
        ("hello world", "hello world"),
    ],
)
def test_a_text_is_judged_by_its_shape(value: str, shown: str) -> None:
    assert redact_value(value) == shown


@pytest.mark.rule("5.2.redacted")
@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.com/mcp?page=2#top", "https://example.com/mcp?page=2#top"),
        ("https://me:x@example.com/mcp", f"https://{HIDDEN}@example.com/mcp"),
        ("https://x@example.com", f"https://{HIDDEN}@example.com"),
        ("https://@example.com", "https://@example.com"),
        ("https://${input:u}:${input:p}@example.com", "https://${input:u}:${input:p}@example.com"),
        ("https://${input:u}:x@example.com", f"https://${{input:u}}{HIDDEN}@example.com"),
        ("postgres://u:p/w@db/x", f"postgres://{HIDDEN}"),
        ("postgres://u:p@w@db:5432/x", f"postgres://{HIDDEN}@db:5432/x"),
        ("https://[::1]:80/mcp", "https://[::1]:80/mcp"),
        ("https://h/mcp?api_key=x&a=b", f"https://h/mcp?api_key={HIDDEN}&a=b"),
        ("https://h/mcp?a=b;sig=x", f"https://h/mcp?a=b;sig={HIDDEN}"),
        ("https://h/mcp?api%5Fkey=x", f"https://h/mcp?api%5Fkey={HIDDEN}"),
        ("https://h/mcp?key=${input:k}", "https://h/mcp?key=${input:k}"),
        (f"https://h/mcp?{MIXED}", f"https://h/mcp?{HIDDEN}"),
        (f"https://h/mcp?q={MIXED}", f"https://h/mcp?q={HIDDEN}"),
        ("https://h/mcp?next=https%3A%2F%2Fu%3Ap%40i", f"https://h/mcp?next={HIDDEN}"),
        ("https://h/mcp#access_token=x", f"https://h/mcp#access_token={HIDDEN}"),
        (f"https://h/s/{MIXED}/mcp", f"https://h/s/{HIDDEN}/mcp"),
        ("https://${input:host}:${env:PORT}/${/}mcp", "https://${input:host}:${env:PORT}/${/}mcp"),
        ("${API:-https://api.example.com}/mcp", "${API:-https://api.example.com}/mcp"),
        ("${API:-https://u:p@api.example.com}/mcp", f"${{API:-{HIDDEN}}}/mcp"),
    ],
)
def test_a_url_loses_its_credentials_and_keeps_the_rest(url: str, shown: str) -> None:
    assert redact_value(url) == shown


@pytest.mark.rule("5.2.redacted")
@pytest.mark.parametrize(
    ("args", "shown"),
    [
        (["-y", "@scope/server-github@1.2.3"], ["-y", "@scope/server-github@1.2.3"]),
        (["--token=x"], [f"--token={HIDDEN}"]),
        (["--api-key", "x", "y"], ["--api-key", HIDDEN, "y"]),
        (["--token", "--password", "x"], ["--token", HIDDEN, HIDDEN]),
        (["--token=${input:t}", "--secret", "${input:s}"], ["--token=${input:t}", "--secret", "${input:s}"]),
        (["-e", "GITHUB_TOKEN=x"], ["-e", f"GITHUB_TOKEN={HIDDEN}"]),
        (["-e", "GITHUB_TOKEN", "image"], ["-e", "GITHUB_TOKEN", "image"]),
        (["--header", "Authorization: Token x"], ["--header", f"Authorization: Token {HIDDEN}"]),
        (["--header=X-Api-Key: x"], [f"--header=X-Api-Key: {HIDDEN}"]),
        (["--url=https://u:p@h/x"], [f"--url=https://{HIDDEN}@h/x"]),
        (["postgresql://u:p@h/db"], [f"postgresql://{HIDDEN}@h/db"]),
        (["--port=8080", "--verbose"], ["--port=8080", "--verbose"]),
        ([], []),
    ],
)
def test_arguments_lose_the_values_of_secret_flags(args: list[str], shown: list[str]) -> None:
    assert redact_args(args) == shown


@pytest.mark.rule("5.2.redacted")
@pytest.mark.parametrize(
    ("entry", "changed"),
    [
        (MCPServerPromptStringInput(id="a", description="", default="x", password=True), {"default": HIDDEN}),
        (MCPServerPromptStringInput(id="api-key", description="", default="x"), {"default": HIDDEN}),
        (MCPServerPromptStringInput(id="region", description="", default="eu"), {}),
        (MCPServerPromptStringInput(id="region", description="", password=True), {}),
        (MCPServerPickStringInput(id="env", description="", options=["dev"], default="dev"), {}),
        (
            MCPServerCommandInput(id="c", description="", command="run --token x", args={"key": "x", "n": "1"}),
            {"command": f"run --token {HIDDEN}", "args": {"key": HIDDEN, "n": "1"}},
        ),
        (MCPServerCommandInput(id="c", description="", command="run"), {}),
    ],
)
def test_inputs_keep_their_flags_and_lose_their_secrets(entry: MCPServerInput, changed: dict[str, Any]) -> None:
    public = public_config(ComputerConfig(inputs=[entry]))
    assert dict(public) == {"inputs": [entry.model_dump(mode="json") | changed], "servers": {}}


@pytest.mark.rule("5.2.redacted")
def test_the_wire_form_of_a_whole_configuration() -> None:
    config = parse_config(
        {
            "mcpServers": {
                "local": {
                    "command": "npx",
                    "args": ["--token", "hunter2"],
                    "env": {"API_KEY": "hunter2", "PORT": 1},
                    "cwd": "/d",
                },
                "remote": {"url": "https://h/mcp?key=hunter2", "headers": {"Authorization": "Bearer ${input:k}"}},
            },
            "inputs": [{"type": "promptString", "id": "k", "password": True, "default": "hunter2"}],
        }
    ).config
    base = {
        "disabled": False,
        "forbidden_tools": [],
        "tool_meta": {},
        "default_tool_meta": None,
        "vrl": None,
        "subscribe": "declared",
        "start_timeout": None,
    }
    assert public_config(config) == {
        "inputs": [{"type": "promptString", "id": "k", "description": "", "default": HIDDEN, "password": True}],
        "servers": {
            "local": base
            | {
                "name": "local",
                "type": "stdio",
                "server_parameters": {
                    "command": "npx",
                    "args": ["--token", HIDDEN],
                    "env": {"API_KEY": HIDDEN, "PORT": "1"},
                    "cwd": "/d",
                    "encoding": "utf-8",
                    "encoding_error_handler": "strict",
                },
            },
            "remote": base
            | {
                "name": "remote",
                "type": "streamable",
                "server_parameters": {
                    "url": f"https://h/mcp?key={HIDDEN}",
                    "headers": {"Authorization": "Bearer ${input:k}"},
                    "timeout": "PT30S",
                    "sse_read_timeout": "PT5M",
                    "terminate_on_close": True,
                },
            },
        },
    }


# Anything can be a secret under a name that says so; elsewhere it has the shape of one. The mark tells a piece of a
# secret from a word that the configuration holds anyway.
MARK = "¶"
PIECES = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n$"), max_size=12)
ANY = st.builds(lambda left, right: f"{left}{MARK}{right}", PIECES, PIECES)
SHAPED = st.from_regex(r"(?:[A-Za-z][0-9]){6,16}", fullmatch=True)
SECRET_NAMES = st.sampled_from(["API_KEY", "github_token", "DB_PASSWORD", "clientSecret", "AUTH", "X-Api-Key"])
PLAIN_NAMES = st.sampled_from(["A", "MODE", "X-Trace", "url"])
AROUND = st.sampled_from(["", "Bearer ", "${input:a}", "${env:B}:", "Token "])
AFTER = st.sampled_from(["", "${input:z}", " "])


@st.composite
def planted(draw: st.DrawFn) -> tuple[list[str], dict[str, Any]]:
    """Secrets, and a configuration that holds each of them somewhere it could be found in real life."""
    any_, shaped = draw(ANY), draw(SHAPED)
    name, plain = draw(SECRET_NAMES), draw(PLAIN_NAMES)
    around, after = draw(AROUND), draw(AFTER)
    escaped = quote(any_, safe="")
    args = draw(
        st.sampled_from(
            [
                [f"--{name}={any_}"],
                [f"--{name}", any_],
                ["-e", f"{name}={any_}"],
                ["--header", f"{name}: {around}{any_}"],
                [f"x {shaped}", f"--a={shaped}"],
                [json.dumps({plain: [{name: any_}, shaped]})],
                [f"https://me:{escaped}@h/x", f"git+https://{escaped}@h/x"],
                ["-c", f"run --{name} {any_}"],
            ]
        )
    )
    url = draw(
        st.sampled_from(
            [
                f"https://me:{escaped}@h/mcp",
                f"https://h/mcp?{name}={escaped}",
                f"https://h/mcp?a=b&q={shaped}",
                f"https://h/{shaped}/mcp",
                f"https://h/mcp#{name}={escaped}",
                f"https://${{input:host}}/{shaped}",
            ]
        )
    )
    data = {
        "mcpServers": {
            "local": {
                "command": "npx",
                "args": args,
                "env": {name: around + any_ + after, plain: around + shaped + after},
            },
            "remote": {"url": url, "headers": {name: around + any_ + after, plain: shaped + after}},
        },
        "inputs": [{"type": "promptString", "id": "p", "password": True, "default": any_}],
    }
    return [any_, escaped, shaped], data


@pytest.mark.rule("5.2.redacted")
@given(planted())
def test_no_planted_secret_leaves_the_computer(case: tuple[list[str], dict[str, Any]]) -> None:
    secrets, data = case
    public = public_config(parse_config(data).config)
    signs = [*secrets, MARK, quote(MARK)]
    assert [(place, sign) for place, text in strings_of(public) for sign in signs if sign in text] == []


@pytest.mark.rule("5.2.redacted")
@given(st.text(max_size=60))
@example("\U000f0000${input:a}")
@example("https://[")
def test_redaction_takes_any_text_and_does_nothing_the_second_time(text: str) -> None:
    once = redact_value(text)
    assert redact_value(once) == once


@pytest.mark.rule("5.2.redacted")
@given(st.lists(st.sampled_from(["${input:a}", "${env:B}", "${C}", "${workspaceFolder}", "x", "Bearer "]), max_size=6))
def test_every_placeholder_stays(parts: list[str]) -> None:
    placeholders = [part for part in parts if part.startswith("$")]
    shown = redact_named("TOKEN", "".join(parts))
    assert [part for part in placeholders if part not in shown] == []


@pytest.mark.rule("5.2.redacted")
def test_the_wire_form_is_a_reply_that_the_table_takes() -> None:
    config = parse_config({"mcpServers": {"a": {"command": "c"}, "b": {"url": "https://h"}}}).config
    reply = public_config(config)
    assert parse_reply(GET_CONFIG_EVENT, reply)
