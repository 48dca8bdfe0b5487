"""Files of three formats: recognized by shape, read whole, and refused with every problem at once."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.config.loaders import (
    LoadedConfig,
    load_config,
    parse_config,
    parse_config_text,
)
from a2c_smcp.computer.config.models import (
    ComputerConfig,
    MCPServerCommandInput,
    MCPServerConfig,
    MCPServerInput,
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
from a2c_smcp.errors import InvalidConfig

SAMPLES = Path(__file__).parents[3] / "data" / "configs"


def stdio(name: str, command: str, *args: str, env: dict[str, str] | None = None, **more: Any) -> MCPServerStdioConfig:
    parameters = MCPServerStdioParameters(command=command, args=list(args), env=env)
    return MCPServerStdioConfig(name=name, server_parameters=parameters, **more)


def streamable(name: str, url: str, headers: dict[str, str] | None = None, **more: Any) -> MCPServerConfig:
    parameters = MCPServerStreamableHttpParameters(url=url, headers=headers)
    return MCPServerStreamableHttpConfig(name=name, server_parameters=parameters, **more)


def sse(name: str, url: str, **more: Any) -> MCPServerConfig:
    return MCPSSEConfig(name=name, server_parameters=MCPSSEParameters(url=url), **more)


def config(*servers: MCPServerConfig, inputs: list[MCPServerInput] | None = None) -> ComputerConfig:
    return ComputerConfig(servers={server.name: server for server in servers}, inputs=inputs or [])


@pytest.mark.rule("5.4.claude")
def test_a_file_of_claude_desktop_loads_as_it_is() -> None:
    github = "GITHUB_PERSONAL_ACCESS_TOKEN"
    assert load_config(SAMPLES / "claude_desktop.json") == LoadedConfig(
        config(
            stdio(
                "filesystem",
                "npx",
                *("-y", "@modelcontextprotocol/server-filesystem"),
                *("/Users/username/Desktop", "/Users/username/Downloads"),
            ),
            stdio(
                "brave-search",
                "npx",
                *("-y", "@modelcontextprotocol/server-brave-search"),
                env={"APPDATA": "C:\\Users\\user\\AppData\\Roaming\\", "BRAVE_API_KEY": "BSA-EXAMPLE"},
            ),
            stdio(
                "github",
                "docker",
                *("run", "-i", "--rm", "-e", github, "ghcr.io/github/github-mcp-server"),
                env={github: "ghp_EXAMPLE"},
            ),
            stdio(
                "postgres",
                "npx",
                *("-y", "@modelcontextprotocol/server-postgres", "postgresql://reader:hunter2@localhost/mydb"),
            ),
            stdio("sqlite", "uvx", "mcp-server-sqlite", "--db-path", "/Users/username/test.db", disabled=True),
        ),
        "claude",
        ('ignored what has no meaning here: "globalShortcut", "preferences"',),
    )


@pytest.mark.rule("5.4.claude")
def test_remote_servers_of_a_claude_file_keep_their_placeholders() -> None:
    headers = '{"Authorization": "Bearer ntn_EXAMPLE", "Notion-Version": "2022-06-28"}'
    assert load_config(SAMPLES / "claude_remote.json") == LoadedConfig(
        config(
            streamable("sentry", "https://mcp.sentry.dev/mcp"),
            sse("linear", "https://mcp.linear.app/sse"),
            streamable(
                "internal",
                "${API_BASE_URL:-https://api.example.com}/mcp",
                {"Authorization": "Bearer ${API_KEY}", "X-Retries": "3"},
            ),
            stdio("notion", "npx", "-y", "@notionhq/notion-mcp-server", env={"OPENAPI_MCP_HEADERS": headers}),
        ),
        "claude",
    )


@pytest.mark.rule("5.4.claude")
def test_the_same_file_as_other_editors_write_it_loads_too() -> None:
    loaded = load_config(SAMPLES / "editors.json")
    assert loaded.config == config(
        stdio("cline", "node", "/path/to/server.js", env={"PORT": "8080", "DEBUG": "true"}),
        streamable("windsurf", "https://example.com/mcp", {"API_KEY": "value"}),
        streamable("gemini", "https://example.com/mcp", forbidden_tools=["dangerous_tool"]),
        streamable("roo", "http://127.0.0.1:5555/mcp", forbidden_tools=["memory_delete"], disabled=True),
        streamable("cursor", "https://example.com/sse", tool_meta={"search": ToolMeta(alias="web_search")}),
    )
    assert [note.split(":")[0].removeprefix("mcpServers.") for note in loaded.notes] == [
        *("cline.alwaysAllow", "cline.timeout", "cline.env.OLD"),
        *("gemini.timeout", "gemini.trust", "gemini.includeTools", "gemini.excludeTools"),
        *("roo.disabledTools", "cursor"),
    ]


@pytest.mark.rule("5.4.vscode")
def test_a_file_of_vs_code_loads_as_it_is() -> None:
    assert load_config(SAMPLES / "vscode.json") == LoadedConfig(
        config(
            stdio(
                "perplexity",
                "npx",
                "-y",
                "server-perplexity-ask",
                env={"PERPLEXITY_API_KEY": "${input:perplexity-key}"},
            ),
            streamable("github", "https://api.githubcopilot.com/mcp/"),
            sse("events", "https://${input:region}.example.com/sse"),
            stdio("gadget", "node", "${workspaceFolder}/build/index.js"),
            inputs=[
                MCPServerPromptStringInput(id="perplexity-key", description="Perplexity API Key", password=True),
                MCPServerPickStringInput(id="region", description="Region", options=["eu", "us"], default="eu"),
                MCPServerCommandInput(
                    id="branch", description="", command="extension.branch", args={"short": "true", "of": '["a"]'}
                ),
            ],
        ),
        "vscode",
        (
            'servers.perplexity.envFile: not read: move its variables into "env"',
            "servers.github.gallery: ignored: it has no meaning here",
            "servers.github.version: ignored: it has no meaning here",
            "servers.gadget.dev: ignored: it has no meaning here",
            "servers.gadget.sandboxEnabled: ignored: the server runs without a sandbox",
            "servers.gadget.sandbox: ignored: the server runs without a sandbox",
            "inputs[2].command: runs a program of that name, not a command of the editor",
        ),
    )


@pytest.mark.rule("5.1.kinds", "5.1.inputs")
def test_a_native_file_loads_with_all_its_settings() -> None:
    github = MCPServerStreamableHttpConfig(
        name="github",
        forbidden_tools=["delete_repository"],
        default_tool_meta=ToolMeta(tags=["code"]),
        tool_meta={"search": ToolMeta(auto_apply=True, alias="search_github")},
        server_parameters=MCPServerStreamableHttpParameters(
            url="https://api.githubcopilot.com/mcp/",
            headers={"Authorization": "Bearer ${input:github-token}"},
            timeout=timedelta(seconds=90),
        ),
    )
    legacy = MCPSSEConfig(
        name="legacy",
        disabled=True,
        server_parameters=MCPSSEParameters(url="http://127.0.0.1:3001/sse", timeout=10),
    )
    assert load_config(SAMPLES / "native.json") == LoadedConfig(
        config(
            github,
            stdio("browser", "npx", "-y", "@playwright/mcp@latest", env={"PORT": "8931"}, subscribe="assume"),
            legacy,
            inputs=[MCPServerPromptStringInput(id="github-token", description="GitHub token", password=True)],
        ),
        "native",
    )


NATIVE = {"type": "stdio", "server_parameters": {"command": "c"}}


@pytest.mark.parametrize(
    ("data", "loaded"),
    [
        ({"servers": {}}, LoadedConfig(config(), "native")),
        ({"servers": {}, "inputs": None}, LoadedConfig(config(), "native")),
        ({"mcpServers": {}}, LoadedConfig(config(), "claude")),
        ({"servers": {"a": NATIVE}}, LoadedConfig(config(stdio("a", "c")), "native")),
        ({"servers": {"a": NATIVE | {"name": "a"}}}, LoadedConfig(config(stdio("a", "c")), "native")),
        ({"servers": [NATIVE | {"name": "a"}]}, LoadedConfig(config(stdio("a", "c")), "native")),
        ({"servers": {"a": {"command": "c"}}}, LoadedConfig(config(stdio("a", "c")), "vscode")),
        (
            {"mcp": {"servers": {"a": {"command": "c"}}}, "editor.fontSize": 12},
            LoadedConfig(config(stdio("a", "c")), "vscode", ('ignored what has no meaning here: "editor.fontSize"',)),
        ),
        (
            {"mcp": {"servers": {}, "discovery": {}}},
            LoadedConfig(config(), "vscode", ('mcp: ignored what has no meaning here: "discovery"',)),
        ),
        (
            {"mcpServers": {}} | {f"k{index}": 0 for index in range(12)},
            LoadedConfig(
                config(),
                "claude",
                ("ignored what has no meaning here: " + ", ".join(f'"k{i}"' for i in range(10)) + " and 2 more",),
            ),
        ),
        (
            {"mcpServers": {"a": {"command": "c", "args": ["${input:k}"]}}},
            LoadedConfig(
                config(stdio("a", "c", "${input:k}")),
                "claude",
                ('mcpServers.a.args[0]: no input has the id "k"; add it to inputs',),
            ),
        ),
        (
            {
                "mcpServers": {"a": {"command": "${input:k}"}},
                "inputs": [{"type": "promptString", "id": "k", "description": "K"}],
            },
            LoadedConfig(
                config(stdio("a", "${input:k}"), inputs=[MCPServerPromptStringInput(id="k", description="K")]), "claude"
            ),
        ),
    ],
)
def test_a_format_is_told_by_its_shape(data: object, loaded: LoadedConfig) -> None:
    assert parse_config(data) == loaded


def refused(data: object) -> list[str]:
    with pytest.raises(InvalidConfig) as error:
        parse_config(data)
    assert error.value.details is not None
    lines: list[str] = error.value.details["problems"]
    return lines


HOW = 'write {"servers": {}} or {"mcpServers": {}} with your servers in it'
DEEP: list[Any] = []
for _ in range(2_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        ([], [f"is a list; {HOW}"]),
        (None, [f"is null; {HOW}"]),
        ({}, [f"has no servers; {HOW}"]),
        ({"inputs": []}, [f"has no servers; {HOW}"]),
        ({"mcpservers": {}}, ['has no servers; did you mean "mcpServers" by "mcpservers"?']),
        ({"command": "c"}, ['is a single server without a name; wrap it in {"mcpServers": {"name": …}}']),
        ({"a": {"command": "c"}}, ['has servers at its top; wrap them in {"mcpServers": {…}}']),
        ({"servers": {}, "mcpServers": {}}, ['has both "mcpServers" and "servers"; keep one of them']),
        ({"servers": {}, "mcp": {"servers": {}}}, ['has both "servers" and "mcp.servers"; keep one of them']),
        ({"servers": None}, ["servers: is null; it must be an object with a server a key"]),
        ({"mcpServers": []}, ["mcpServers: is a list; it must be an object with a server a key"]),
        (
            {"servers": {"a": NATIVE, "b": {"command": "c"}}},
            ['servers.b: is written flat; move its parameters into "server_parameters"'],
        ),
        (
            {"servers": {"a": NATIVE | {"command": "c"}}},
            ['servers.a.command: is not a known key; move it into "server_parameters"'],
        ),
        (
            {"servers": {"a": NATIVE | {"name": "b"}}},
            ['servers.a.name: is not the key of its entry; write "a", or leave it out'],
        ),
        ({"servers": {"a": NATIVE, "b": 1}}, ["servers.b: is a number; it must be an object { … }"]),
        ({"servers": {"": NATIVE}}, ['servers[""].name: must not be empty; give it a name']),
        ({"mcpServers": {"": {"command": "c"}}}, ['mcpServers[""]: must not be empty; give it a name']),
        (
            {"servers": [NATIVE | {"name": "a"}, NATIVE | {"name": "a"}, NATIVE, 1]},
            [
                'servers[1].name: "a" is the name of two servers; give each its own',
                'servers[2].name: is missing; add it, for example "github"',
                "servers[3]: is a number; it must be an object { … }",
            ],
        ),
        ({"servers": {}, "input": []}, ['input: is not a known key; did you mean "inputs"?']),
        ({"servers": {}, "zzz": []}, ["zzz: is not a known key; the keys here are servers, inputs"]),
        (
            {"servers": {}, "inputs": [{"type": "promptString", "id": "a", "description": ""}] * 2},
            ['inputs[1].id: "a" is the id of two inputs; give each its own'],
        ),
        (
            {"mcp": {"servers": {}, "inputs": [{"type": "promptString", "id": "a"}] * 2}},
            ['mcp.inputs[1].id: "a" is the id of two inputs; give each its own'],
        ),
        (
            {"mcp": {"servers": {"a": {"command": ""}}}},
            ['mcp.servers.a.command: must not be empty; name the program to start, such as "npx"'],
        ),
        ({"servers": {}, "inputs": {}}, ["inputs: is an object; it must be a list [ … ]"]),
        ({"servers": {}, "inputs": ["x"]}, ["inputs[0]: is a text; it must be an object { … }"]),
        (
            {"servers": {"a": NATIVE | {"vrl": "\ud800"}, "\udfff": {}}},
            [
                "servers.a.vrl: has half a character in it (a lone surrogate); write it in full",
                'servers["\\udfff"]: has half a character in its key; write it in full',
            ],
        ),
        ({"servers": {1: {}}}, ["servers: has a number as a key; keys are texts"]),
        ({"servers": {"a": DEEP}}, ["servers.a[0]: is nested deeper than 64 levels; flatten it"]),
    ],
)
def test_a_file_that_cannot_be_used_says_why(data: object, problems: list[str]) -> None:
    assert refused(data) == problems


def test_all_problems_of_a_file_are_told_at_once() -> None:
    assert refused(
        {
            "mcpServers": {
                "a": {"command": "", "args": "x"},
                "b": {"url": "ftp://h", "headers": {"X Y": "z"}},
                "c": {},
            },
            "inputs": [{"type": "promptstring", "id": "k"}],
        }
    ) == [
        'mcpServers.c: has neither a command nor a url; add "command" to start a program, or "url"',
        'mcpServers.a.command: must not be empty; name the program to start, such as "npx"',
        'mcpServers.a.args: is a text; it must be a list [ … ], for example ["-y", "some-package"]',
        'mcpServers.b.url: must begin with http:// or https://; write it in full, such as "https://example.com/mcp"',
        'mcpServers.b.headers["X Y"]: is not the name of an HTTP header; use letters, digits and hyphens',
        'inputs[0].type: is "promptstring", which is not known; did you mean "promptString"?',
    ]


@given(st.data())
def test_no_message_holds_a_value_that_may_be_secret(data: st.DataObject) -> None:
    secret = "hunter2-correct-horse"
    bad = st.sampled_from([[secret], {"x": secret}, [{secret: secret}], secret + "\0", secret + "\n"])
    entry = {
        "command": data.draw(st.sampled_from(["c", f"{secret}\0"])),
        "env": {"A": data.draw(bad)},
        "args": data.draw(bad),
        "cwd": data.draw(bad),
    }
    remote = {
        "url": data.draw(st.sampled_from([secret, f"ftp://{secret}", "https://h"])),
        "headers": {"A": data.draw(bad)},
    }
    with pytest.raises(InvalidConfig) as error:
        parse_config({"mcpServers": {"a": entry, "b": remote}})
    assert secret not in repr(error.value) + str(error.value)


def test_a_syntax_error_names_file_line_and_column() -> None:
    with pytest.raises(InvalidConfig) as error:
        parse_config_text('{"mcpServers": {\n  "a": {"command": npx}}}', "mcp.json")
    assert str(error.value) == (
        "mcp.json: line 2, column 20: words other than true, false and null stand in double quotes; add them"
    )
