"""Which values are probably secrets, by their names and shapes."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from a2c_smcp.computer.config.secret_detection import redact_args, redact_named, redact_value
from a2c_smcp.redaction import MAX_TEXT

HIDDEN = "<redacted>"
MIXED = "a1b2c3d4e5f6"


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


@given(st.text(max_size=60))
@example("\U000f0000${input:a}")
@example("https://[")
def test_redaction_takes_any_text_and_does_nothing_the_second_time(text: str) -> None:
    once = redact_value(text)
    assert redact_value(once) == once


@given(st.lists(st.sampled_from(["${input:a}", "${env:B}", "${C}", "${workspaceFolder}", "x", "Bearer "]), max_size=6))
def test_every_placeholder_stays(parts: list[str]) -> None:
    placeholders = [part for part in parts if part.startswith("$")]
    shown = redact_named("TOKEN", "".join(parts))
    assert [part for part in placeholders if part not in shown] == []
