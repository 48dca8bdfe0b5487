"""What leaves the Computer: placeholders stay, literals do not."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.config.loaders import parse_config
from a2c_smcp.computer.config.models import (
    ComputerConfig,
    MCPServerCommandInput,
    MCPServerInput,
    MCPServerPickStringInput,
    MCPServerPromptStringInput,
    strings_of,
)
from a2c_smcp.computer.config.public_view import public_args, public_config, public_named, public_url
from a2c_smcp.smcp import GET_CONFIG_EVENT, parse_reply

HIDDEN = "<redacted>"
MIXED = "a1b2c3d4e5f6"


@pytest.mark.rule("5.2.redacted")
@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        *[(name, "hunter2", HIDDEN) for name in ("MYKEY", "OAUTH", "PASSWRD", "MODE", "X-Custom", "PATH", "数据")],
        ("MODE", "swordfish", HIDDEN),
        ("Authorization", "Bearer x", f"Bearer {HIDDEN}"),
        ("Authorization", "Bearer ${input:token}", "Bearer ${input:token}"),
        ("Authorization", "Basic ${input:user}:${input:password}", "Basic ${input:user}:${input:password}"),
        ("A", "${env:TOKEN}", "${env:TOKEN}"),
        ("A", "${TOKEN:-x}", f"${{TOKEN:-{HIDDEN}}}"),
        ("HOST", "${HOST:-db01.example.com}", f"${{HOST:-{HIDDEN}}}"),
        ("A", "x${input:rest}", f"{HIDDEN}${{input:rest}}"),
        ("A", "${my secret!}", HIDDEN),
        ("A", "", ""),
        ("DEBUG", "true", "true"),
        ("A", "Info", "Info"),
        ("LANG", "zh_CN.UTF-8", "zh_CN.UTF-8"),
        ("PORT", "8080", "8080"),
        ("PORT", MIXED, HIDDEN),
        ("Accept", "application/json", "application/json"),
    ],
)
def test_the_value_of_a_variable_or_header_is_redacted_unless_it_is_known_to_be_harmless(
    name: str, value: str, shown: str
) -> None:
    assert public_named(name, value) == shown


@pytest.mark.rule("5.2.redacted")
@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.com/mcp", "https://example.com/mcp"),
        ("https://example.com:8080/api/v1/mcp-server", "https://example.com:8080/api/v1/mcp-server"),
        ("https://[::1]:80/mcp", "https://[::1]:80/mcp"),
        ("https://me:x@example.com/mcp", f"https://{HIDDEN}@example.com/mcp"),
        ("https://x@example.com", f"https://{HIDDEN}@example.com"),
        ("https://${input:u}:${input:p}@example.com", "https://${input:u}:${input:p}@example.com"),
        ("postgres://u:p/w@db/x", f"postgres://{HIDDEN}"),
        ("https://h/mcp?code=hunter", f"https://h/mcp?code={HIDDEN}"),
        ("https://h/mcp?page=2&debug=true", f"https://h/mcp?page={HIDDEN}&debug=true"),
        ("https://h/mcp?hunter", f"https://h/mcp?{HIDDEN}"),
        ("https://h/mcp?key=${input:k}", "https://h/mcp?key=${input:k}"),
        ("https://h/mcp?key=${K:-x}", f"https://h/mcp?key=${{K:-{HIDDEN}}}"),
        ("https://h/mcp#hunter", f"https://h/mcp#{HIDDEN}"),
        ("https://h/s/hunter2/mcp", f"https://h/s/{HIDDEN}/mcp"),
        (f"https://h/s/{MIXED}/mcp", f"https://h/s/{HIDDEN}/mcp"),
        ("https://h/bot123456:AAEhBOweik/send", f"https://h/{HIDDEN}/send"),
        ("https://h/services/T00000000/B00000000/XXXXXXXXXXXX", f"https://h/services/{HIDDEN}/{HIDDEN}/{HIDDEN}"),
        ("https://h/token/swordfish/mcp", f"https://h/token/{HIDDEN}/mcp"),
        ("https://h/p%40ss/mcp", f"https://h/{HIDDEN}/mcp"),
        (f"https://{MIXED}.example.com/mcp", f"https://{HIDDEN}.example.com/mcp"),
        ("https://${input:host}:${env:PORT}/${/}mcp", f"https://${{input:host}}:${{env:PORT}}/${{/}}{HIDDEN}"),
        ("${input:base}/mcp?x=y", f"${{input:base}}/mcp?x={HIDDEN}"),
        ("${API:-https://u:p@api.example.com}/mcp", f"${{API:-{HIDDEN}}}/mcp"),
    ],
)
def test_of_a_url_only_the_host_and_plain_words_of_its_path_stay(url: str, shown: str) -> None:
    assert public_url(url) == shown


@pytest.mark.rule("5.2.redacted")
@pytest.mark.parametrize(
    ("command", "args", "shown"),
    [
        ("npx", ["-y", "@scope/server-github@1.2.3"], ["-y", "@scope/server-github@1.2.3"]),
        ("npx", ["-y", "@upstash/context7-mcp", "hunter2"], ["-y", "@upstash/context7-mcp", HIDDEN]),
        (
            "uvx",
            ["--from", "git-tools", "mcp-server-git", "--stdio"],
            ["--from", "git-tools", "mcp-server-git", "--stdio"],
        ),
        ("python3", ["-u", "-m", "server", "/srv/docs"], ["-u", "-m", "server", "/srv/docs"]),
        ("mysql", ["-p", "hunter2"], ["-p", HIDDEN]),
        ("mysql", ["-phunter2", "-u", "root"], [f"-p{HIDDEN}", "-u", HIDDEN]),
        ("mysql", ["-p", "swordfish"], ["-p", HIDDEN]),
        ("x", ["--whatever", "swordfish"], ["--whatever", HIDDEN]),
        ("x", ["--whatever=swordfish"], [f"--whatever={HIDDEN}"]),
        ("x", ["--hunter2xyz"], [HIDDEN]),
        ("x", ["NAME=swordfish", "alice:swordfish"], [f"NAME={HIDDEN}", HIDDEN]),
        ("x", ["--port", "8080", "--root", "/srv/docs"], ["--port", "8080", "--root", "/srv/docs"]),
        ("x", ["--password", "/srv/docs"], ["--password", HIDDEN]),
        ("x", ["--token=${input:t}", "--secret", "${input:s}"], ["--token=${input:t}", "--secret", "${input:s}"]),
        (
            "docker",
            ["run", "-i", "--rm", "-e", "API_KEY", "mcp/fetch"],
            ["run", "-i", "--rm", "-e", "API_KEY", "mcp/fetch"],
        ),
        (
            "docker",
            ["run", "-e", "API_KEY=x", "mcp/fetch:latest"],
            ["run", "-e", f"API_KEY={HIDDEN}", "mcp/fetch:latest"],
        ),
        ("x", ["--header", "X-Custom: swordfish"], ["--header", f"X-Custom: {HIDDEN}"]),
        ("x", ["--header", "Authorization: Bearer ${input:t}"], ["--header", "Authorization: Bearer ${input:t}"]),
        ("sh", ["-c", "curl -u me:pw https://h"], ["-c", HIDDEN]),
        ("x", ['{"a": ["swordfish", 1234, true, null]}'], [f'{{"a": ["{HIDDEN}", "{HIDDEN}", true, null]}}']),
        ("x", ["postgresql://u:p@h/db", "--", "1234"], [f"postgresql://{HIDDEN}@h/db", "--", HIDDEN]),
        (
            "x",
            ["${workspaceFolder}/docs", "/a/${input:b}", "\\¶"],
            ["${workspaceFolder}/docs", "/a/${input:b}", HIDDEN],
        ),
        ("x", [], []),
    ],
)
def test_arguments_that_may_hold_a_value_lose_it(command: str, args: list[str], shown: list[str]) -> None:
    assert public_args(args, command) == shown


@pytest.mark.rule("5.2.redacted")
@pytest.mark.parametrize(
    ("entry", "changed"),
    [
        (MCPServerPromptStringInput(id="a", description="", default="x", password=True), {"default": HIDDEN}),
        (MCPServerPromptStringInput(id="api-key", description="", default="x"), {"default": HIDDEN}),
        (MCPServerPromptStringInput(id="region", description="", default="eu"), {"default": HIDDEN}),
        (MCPServerPromptStringInput(id="region", description="", default="${env:REGION}"), {}),
        (MCPServerPromptStringInput(id="debug", description="", default="true"), {}),
        (MCPServerPromptStringInput(id="region", description="", password=True), {}),
        (MCPServerPickStringInput(id="env", description="", options=["dev"], default="dev"), {}),
        (
            MCPServerPickStringInput(id="env", description="", options=["dev", MIXED], default=MIXED),
            {"options": ["dev", HIDDEN], "default": HIDDEN},
        ),
        (
            MCPServerCommandInput(id="c", description="", command="run --token x", args={"key": "x", "n": "1"}),
            {"command": f"run {HIDDEN}", "args": {"key": HIDDEN, "n": "1"}},
        ),
        (
            MCPServerCommandInput(id="c", description="", command="curl -s https://h/hunter2", args={"u": "me:pw"}),
            {"command": f"curl {HIDDEN}", "args": {"u": HIDDEN}},
        ),
        (
            MCPServerCommandInput(id="c", description="", command="pass ${input:which}", args={"n": "${env:N}"}),
            {},
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
        "max_message": None,
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
                ["-p", any_],
                [f"-p{any_}"],
                [f"--{plain}", any_],
                [f"{plain}={any_}"],
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
                f"https://h/mcp?code={escaped}",
                f"https://h/{escaped}/mcp",
                f"https://${{input:host}}/{shaped}",
            ]
        )
    )
    data = {
        "mcpServers": {
            "local": {
                "command": "npx",
                "args": args,
                "env": {name: around + any_ + after, plain: around + any_ + after, "P": around + shaped + after},
            },
            "remote": {"url": url, "headers": {name: around + any_ + after, plain: any_ + after}},
        },
        "inputs": [
            {"type": "promptString", "id": "p", "password": True, "default": any_},
            {"type": "promptString", "id": "q", "default": any_},
            {"type": "command", "id": "c", "command": f"run {any_}", "args": {"a": any_}},
        ],
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
def test_the_wire_form_is_a_reply_that_the_table_takes() -> None:
    config = parse_config({"mcpServers": {"a": {"command": "c"}, "b": {"url": "https://h"}}}).config
    reply = public_config(config)
    assert parse_reply(GET_CONFIG_EVENT, reply)
