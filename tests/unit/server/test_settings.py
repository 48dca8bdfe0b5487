"""What a server can be told, and by whom."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.errors import InvalidConfig
from a2c_smcp.server.limits import ServerLimits
from a2c_smcp.server.setting_types import ApiKey
from a2c_smcp.server.settings import LIMITS, OPTIONS, ServerSettings, load


def lines_of(caught: pytest.ExceptionInfo[InvalidConfig]) -> list[str]:
    return str(caught.value).splitlines()


def test_without_a_word_the_server_is_for_this_machine_only() -> None:
    assert load({}, {}) == ServerSettings()
    assert ServerSettings().host == "127.0.0.1"


def test_the_table_has_every_setting_and_every_limit() -> None:
    assert {option.name for option in OPTIONS} | {"limits"} == {one.name for one in fields(ServerSettings)}
    assert {option.name for option in LIMITS} == {f"limits.{one.name}" for one in fields(ServerLimits)}


def test_the_default_of_each_setting_is_valid() -> None:
    defaults = {option.name: option.default for option in OPTIONS if option.default is not None}
    limits = {option.name.removeprefix("limits."): option.default for option in LIMITS}
    assert ServerSettings.of(**defaults, limits=limits) == ServerSettings()


def test_the_command_line_goes_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text('port = 1\npath = "/file"\ndrain = 3\n[limits]\nin_flight = 1\njoins_per_second = 1\n')
    env = {"A2C_SERVER_PORT": "2", "A2C_SERVER_PATH": "/env", "A2C_SERVER_LIMITS_IN_FLIGHT": "2", "HOME": "/"}
    settings = load({"config": str(file), "port": "3", "limits": None}, env)
    assert settings == ServerSettings(
        port=3, path="/env", drain=3, limits=ServerLimits(in_flight=2, joins_per_second=1)
    )


def test_the_environment_may_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text("port = 1\n")
    assert load({}, {"A2C_SERVER_CONFIG": str(file)}).port == 1


def test_everything_can_be_set_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text(
        """
        host = "0.0.0.0"
        port = 9000
        path = "a2c/socket.io/"
        api_keys = ["one", { key = "two", role = "agent", office_id = "office-1" }]
        api-key-file = "keys.txt"
        token_keys = "keys.json"
        insecure = true
        redis = "redis://localhost"
        allowed_origins = ["https://App.example.com/"]
        allowed_hosts = ["a2c.example.com", "[::1]"]
        trust_proxy = ["10.0.0.0/8"]
        tls_cert = "cert.pem"
        tls_key = "key.pem"
        log_format = "json"
        log_level = "DEBUG"
        audit_log = "audit.jsonl"
        otel = true
        drain = "1m"
        ping_interval = 10
        ping_timeout = 0.5
        metrics_token = "m"
        metrics_public = false
        [limits]
        message_bytes = "8MB"
        default_timeout = "30s"
        """
    )
    assert load({"config": str(file)}, {}) == ServerSettings(
        host="0.0.0.0",
        port=9000,
        path="/a2c/socket.io",
        api_keys=(ApiKey("one"), ApiKey("two", "agent", office_id="office-1")),
        api_key_file=Path("keys.txt"),
        token_keys=Path("keys.json"),
        insecure=True,
        redis="redis://localhost",
        allowed_origins=("https://app.example.com",),
        allowed_hosts=("a2c.example.com", "[::1]"),
        trust_proxy=("10.0.0.0/8",),
        tls_cert=Path("cert.pem"),
        tls_key=Path("key.pem"),
        log_format="json",
        log_level="debug",
        audit_log=Path("audit.jsonl"),
        otel=True,
        drain=60,
        ping_interval=10,
        ping_timeout=0.5,
        metrics_token="m",
        limits=ServerLimits(message_bytes=8_000_000, default_timeout=30),
    )


def test_everything_can_be_set_by_the_environment() -> None:
    env = {
        "A2C_SERVER_HOST": "::",
        "A2C_SERVER_API_KEY": "one",
        "A2C_SERVER_API_KEYS": "two, three",
        "A2C_SERVER_ALLOWED_ORIGINS": "https://a.example,https://b.example",
        "A2C_SERVER_INSECURE": "no",
        "A2C_SERVER_METRICS_PUBLIC": "1",
        "A2C_SERVER_LIMITS_TIMEOUT_MARGIN": "500ms",
    }
    assert load({}, env) == ServerSettings(
        host="::",
        api_keys=(ApiKey("one"), ApiKey("two"), ApiKey("three")),
        allowed_origins=("https://a.example", "https://b.example"),
        metrics_public=True,
        limits=ServerLimits(timeout_margin=0.5),
    )


def test_everything_can_be_set_on_the_command_line() -> None:
    given = {"api_key": ["one", "two"], "limits": ["message_bytes=1MB", "in_flight=7"], "otel": True, "insecure": False}
    assert load(given, {}) == ServerSettings(
        api_keys=(ApiKey("one"), ApiKey("two")), otel=True, limits=ServerLimits(message_bytes=1_000_000, in_flight=7)
    )


def test_what_kubernetes_sets_for_a_service_of_our_name_is_no_setting() -> None:
    env = {
        "A2C_SERVER_PORT": "tcp://10.0.0.1:8000",
        "A2C_SERVER_SERVICE_HOST": "10.0.0.1",
        "A2C_SERVER_SERVICE_PORT_HTTP": "8000",
        "A2C_SERVER_PORT_8000_TCP_ADDR": "10.0.0.1",
    }
    assert load({}, env) == ServerSettings()


@pytest.mark.parametrize(
    ("given", "env", "line"),
    [
        ({"port": "http"}, {}, "--port: 'http' should be a valid integer, unable to parse string as an integer"),
        ({"port": "65536"}, {}, "--port: '65536' should be less than or equal to 65535"),
        ({"path": "/a b"}, {}, "--path: '/a b' should be a path like /socket.io"),
        ({"path": "/"}, {}, "--path: '/' should be a path like /socket.io"),
        ({"path": "/metrics"}, {}, "path: /metrics is reserved"),
        ({"limits": ["in_flight"]}, {}, "--limits in_flight: write it as NAME=VALUE"),
        (
            {"limits": ["in_fligth=3"]},
            {},
            "--limits in_fligth: unknown setting; did you mean limits.in_flight?",
        ),
        ({"limits": ["in_flight=-1"]}, {}, "--limits in_flight: '-1' should be greater than or equal to 0"),
        (
            {"limits": ["in_flight=many"]},
            {},
            "--limits in_flight: 'many' should be a valid integer, unable to parse string as an integer",
        ),
        ({"limits": ["message_bytes=0"]}, {}, "--limits message_bytes: '0' should be greater than 0"),
        ({"limits": ["frame_bytes=1MB"]}, {}, "limits: frame_bytes must not be below message_bytes"),
        ({}, {"A2C_SERVER_PROT": "1"}, "A2C_SERVER_PROT: unknown setting; did you mean port?"),
        (
            {},
            {"A2C_SERVER_OTEL": "maybe"},
            "A2C_SERVER_OTEL: 'maybe' should be a valid boolean, unable to interpret input",
        ),
        ({}, {"A2C_SERVER_LOG_FORMAT": "xml"}, "A2C_SERVER_LOG_FORMAT: 'xml' should be 'text' or 'json'"),
        ({}, {"A2C_SERVER_HOST": ""}, "A2C_SERVER_HOST: '' should have at least 1 character"),
        (
            {},
            {"A2C_SERVER_DRAIN": "soon"},
            "A2C_SERVER_DRAIN: 'soon' should be a duration like 30, 250ms, 5m, 12h or 7d",
        ),
        ({}, {"A2C_SERVER_PING_TIMEOUT": "0"}, "A2C_SERVER_PING_TIMEOUT: '0' should be greater than 0"),
        (
            {"allowed_origins": ["app.example.com"]},
            {},
            "--allowed-origins: item 1 'app.example.com' should be an origin like https://app.example.com",
        ),
        (
            {"allowed_hosts": ["a.example:80"]},
            {},
            "--allowed-hosts: item 1 'a.example:80' should be a host name without a port",
        ),
        ({"trust_proxy": ["proxy"]}, {}, "--trust-proxy: item 1 'proxy' should be an address or a network"),
        ({"tls_cert": "cert.pem"}, {}, "tls_cert, tls_key: set both or neither"),
        (
            {"api_key": ["two words"]},
            {},
            "--api-key: item 1, key should consist of printable ASCII characters without spaces",
        ),
    ],
)
def test_a_bad_value_gives_a_line_that_says_where_and_what(given: Any, env: dict[str, str], line: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        load(given, env)
    assert lines_of(caught) == [line]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("prot = 1", "prot: unknown setting; did you mean port?"),
        ("port = true", "port: True should be a number"),
        ("host = 1", "host: 1 should be a valid string"),
        ("otel = 2", "otel: 2 should be a valid boolean, unable to interpret input"),
        ("limits = 1", "limits: should be a table"),
        ("[limits]\nin_flight = true", "limits.in_flight: True should be a number"),
        ("allowed_hosts = 7", "allowed_hosts: 7 should be a list, or text with commas"),
        ("api_keys = 7", "api_keys: value should be a list, or text with commas"),
        ("api_keys = [7]", "api_keys: item 1 should be a key, or a table of key, role, name and office_id"),
        (
            "api_keys = [{ key = 'a', nmae = 'b' }]",
            "api_keys: item 1, nmae unexpected keyword argument",
        ),
        ("api_keys = [{ key = 'a', role = 'boss' }]", "api_keys: item 1, role should be 'computer' or 'agent'"),
        ("api_keys = [{ key = 'a', name = 7 }]", "api_keys: item 1, name should be a valid string"),
        ("port =", "not TOML: Invalid value (at end of document)"),
    ],
)
def test_a_bad_file_gives_a_line_that_says_where_and_what(text: str, line: str, tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text(text)
    with pytest.raises(InvalidConfig) as caught:
        load({"config": str(file)}, {})
    assert lines_of(caught) == [f"{file}: {line}"]


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig) as caught:
        load({"config": str(tmp_path / "none.toml")}, {})
    assert lines_of(caught) == [f"{tmp_path / 'none.toml'}: No such file or directory"]


def test_every_mistake_is_told_at_once() -> None:
    with pytest.raises(InvalidConfig) as caught:
        load({"port": "x", "path": "/"}, {"A2C_SERVER_FOO": "1", "A2C_SERVER_OTEL": "x"})
    assert len(lines_of(caught)) == 4


@pytest.mark.parametrize("given", [{"api_key": ["se cret"]}, {"redis": ""}, {"metrics_token": ""}])
def test_the_value_of_a_secret_is_never_shown(given: Any) -> None:
    with pytest.raises(InvalidConfig) as caught:
        load(given, {})
    assert "se cret" not in str(caught.value)


def test_secrets_are_not_in_the_representation() -> None:
    settings = ServerSettings.of(api_keys=["s3cret"], redis="redis://:s3cret@h", metrics_token="s3cret")
    assert "s3cret" not in repr(settings)
    assert "s3cret" not in repr(settings.api_keys)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "a2c.example.com"])
def test_a_server_for_other_machines_needs_to_know_who_may_connect(host: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        load({"host": host}, {})
    (line,) = lines_of(caught)
    assert all(word in line for word in (host, "--api-key", "--token-keys", "--insecure"))


@pytest.mark.parametrize(
    "more", [{"api_key": ["k"]}, {"api_key_file": "f"}, {"token_keys": "f"}, {"insecure": True}, {"host": "::1"}]
)
def test_authentication_insecurity_or_loopback_settle_it(more: dict[str, Any]) -> None:
    given = {"host": "0.0.0.0"} | more
    assert load(given, {}).host == given["host"]


def test_a_loopback_server_answers_to_loopback_names_only() -> None:
    assert ServerSettings(host="127.0.0.2").hosts == {"localhost", "127.0.0.1", "[::1]", "127.0.0.2"}
    assert ServerSettings(host="::1").hosts == {"localhost", "127.0.0.1", "[::1]"}


@pytest.mark.parametrize(
    ("settings", "hosts"),
    [
        (ServerSettings(host="0.0.0.0"), set()),
        (ServerSettings(allowed_hosts=("*",)), set()),
        (ServerSettings(allowed_hosts=("a.example",)), {"a.example"}),
        (ServerSettings(host="0.0.0.0", allowed_hosts=("a.example",)), {"a.example"}),
    ],
)
def test_names_may_be_listed_and_elsewhere_any_will_do(settings: ServerSettings, hosts: set[str]) -> None:
    assert settings.hosts == hosts


def test_settings_can_be_made_in_python() -> None:
    assert ServerSettings.of(
        port="0", api_keys=["k"], limits={"in_flight": 3}, drain="5s", redis=None, tls_cert=Path("c"), tls_key="k"
    ) == ServerSettings(
        port=0,
        api_keys=(ApiKey("k"),),
        limits=ServerLimits(in_flight=3),
        drain=5,
        tls_cert=Path("c"),
        tls_key=Path("k"),
    )
    assert ServerSettings.of(limits=ServerLimits(in_flight=9), api_key="k", api_keys=[ApiKey("l")]) == ServerSettings(
        limits=ServerLimits(in_flight=9), api_keys=(ApiKey("k"), ApiKey("l"))
    )


def test_mistakes_in_python_are_told_like_all_others() -> None:
    with pytest.raises(InvalidConfig) as caught:
        ServerSettings.of(prot=1, limits={"in_flight": -1})
    assert lines_of(caught) == [
        "prot: unknown setting; did you mean port?",
        "limits.in_flight: -1 should be greater than or equal to 0",
    ]


def test_the_scheme_follows_the_certificate() -> None:
    assert ServerSettings().scheme == "http"
    assert ServerSettings(tls_cert=Path("c"), tls_key=Path("k")).scheme == "https"


def test_the_reference_lists_every_setting_with_its_default() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "server.md").read_text(encoding="utf-8")
    rows = {line for line in page.splitlines() if line.startswith("| `")}
    for option in (*OPTIONS, *LIMITS):
        default = "" if option.default in (None, (), False) else f"`{option.default}`"
        assert f"| `{option.name.removeprefix('limits.')}` | {option.help} | {default} |" in rows
