"""Settings of a server. Command line, environment variables, TOML keys and documentation derive from the fields.

The command line overrides the environment (`A2C_SERVER_PORT`), which overrides the file (TOML: `port = 8000`).
pydantic validates the values; it is imported on first use, so help and completion do not wait for it.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from a2c_smcp.common.addresses import LOOPBACK, in_url, is_loopback
from a2c_smcp.errors import InvalidConfig
from a2c_smcp.server.limits import ServerLimits
from a2c_smcp.server.setting_types import (
    ApiKeys,
    FilePath,
    Flag,
    Hosts,
    LogFormat,
    LogLevel,
    Networks,
    Option,
    Origins,
    Port,
    PositiveSeconds,
    Seconds,
    Text,
    UrlPath,
    options_of,
    setting,
    split_list,
)

ENV: Final = "A2C_SERVER_"
ENDPOINTS: Final = ("/healthz", "/readyz", "/metrics", "/console")
MAX_SHOWN: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How a server runs. `of` and `load` validate the values; the constructor does not."""

    host: Text = setting("The address to listen on.", "127.0.0.1")
    port: Port = setting("The port to listen on; 0 picks a free one.", 8000)
    path: UrlPath = setting("The HTTP path of Socket.IO.", "/socket.io")
    api_keys: ApiKeys = setting(
        "API keys of clients. Other users of this machine can read a command line: prefer the environment or a file.",
        (),
        metavar="KEY",
        secret=True,
        alias="api_key",
    )
    api_key_file: FilePath | None = setting("A file of API keys, one a line.", None, metavar="FILE")
    token_keys: FilePath | None = setting("The keys of signed tokens, made by `a2c token key`.", None, metavar="FILE")
    insecure: Flag = setting("Accept clients without credentials, although other machines can connect.", False)
    redis: Text | None = setting(
        "Form one logical server with all others on this Redis.", None, metavar="URL", secret=True
    )
    redis_lease: PositiveSeconds = setting(
        "How long a node keeps its members without Redis; its agents are disconnected a fifth earlier.",
        5,
        metavar="TIME",
    )
    limits: ServerLimits = field(default_factory=ServerLimits)
    allowed_origins: Origins = setting(
        "Origins of web pages that may connect, like https://app.example.com; none by default.",
        (),
        metavar="ORIGIN",
    )
    allowed_hosts: Hosts = setting(
        "Allowed names in the Host header; by default loopback names on a loopback address, else any.",
        (),
        metavar="HOST",
    )
    trust_proxy: Networks = setting(
        "Addresses or networks of proxies whose X-Forwarded-For is trusted.", (), metavar="ADDRESS"
    )
    tls_cert: FilePath | None = setting("The certificate chain, in PEM.", None, metavar="FILE")
    tls_key: FilePath | None = setting("The private key of the certificate, in PEM.", None, metavar="FILE")
    log_format: LogFormat = setting("The format of the log.", "text")
    log_level: LogLevel = setting("The lowest level that is logged; debug adds the messages of exceptions.", "info")
    audit_log: FilePath | None = setting("Append joins, leaves, refusals and calls to this file.", None, metavar="FILE")
    otel: Flag = setting("Send OpenTelemetry spans to where the OTEL_* variables say.", False)
    drain: Seconds = setting("How long shutdown waits for calls in progress.", 10, metavar="TIME")
    ping_interval: PositiveSeconds = setting("Time between two pings of a client.", 25, metavar="TIME")
    ping_timeout: PositiveSeconds = setting("Time in which a client must answer a ping.", 20, metavar="TIME")
    metrics_token: Text | None = setting("The bearer token for /metrics.", None, metavar="TOKEN", secret=True)
    metrics_public: Flag = setting("Serve /metrics without a token.", False)
    console_token: Text | None = setting(
        "The token for the read-only operator page at /console; without it the page is off.",
        None,
        metavar="TOKEN",
        secret=True,
    )

    @classmethod
    def of(cls, **options: Any) -> "ServerSettings":
        """Return settings from Python values; `limits` is a `ServerLimits` or a mapping.

        Raises:
            InvalidConfig: An option is unknown or a value invalid; the message has one line for each.
        """
        limits = options.pop("limits", None)
        given = [SettingValue(name, name, value) for name, value in options.items() if value is not None]
        if isinstance(limits, Mapping):
            given += [SettingValue(f"limits.{name}", f"limits.{name}", value) for name, value in limits.items()]
        elif isinstance(limits, ServerLimits):
            given += [SettingValue("limits", f"limits.{one.name}", getattr(limits, one.name)) for one in fields(limits)]
        problems: list[str] = []
        return _build(_validated(given, problems), problems)

    @property
    def authenticated(self) -> bool:
        """Whether a client needs credentials."""
        return bool(self.api_keys or self.api_key_file or self.token_keys)

    @property
    def scheme(self) -> str:
        """The scheme of this server's URLs."""
        return "https" if self.tls_cert else "http"

    @property
    def hosts(self) -> frozenset[str]:
        """The allowed names in the Host header; empty for any.

        A server on a loopback address accepts its own names only: a web page whose name was pointed at this machine
        (DNS rebinding) sends that page's name.
        """
        if "*" in self.allowed_hosts:
            return frozenset()
        own = LOOPBACK | {in_url(self.host.lower())}
        return frozenset(self.allowed_hosts) or (own if is_loopback(self.host) else frozenset())

    def problems(self, *, authenticated: bool = False) -> Iterator[str]:
        """Yield a line for each combination of settings that cannot be used.

        Args:
            authenticated: The application supplies an authentication provider.
        """
        if not (authenticated or self.authenticated or self.insecure or is_loopback(self.host)):
            yield (
                f"host: other machines can connect to {self.host}, but no credentials are configured. Choose one: "
                "--api-key KEY (or A2C_SERVER_API_KEY), --token-keys FILE (`a2c token key` makes one), "
                "or --insecure to accept everybody"
            )
        if (self.tls_cert is None) != (self.tls_key is None):
            yield "tls_cert, tls_key: set both or neither"
        if self.limits.frame_bytes < self.limits.message_bytes:
            yield "limits: frame_bytes must not be below message_bytes"
        if self.path in ENDPOINTS:
            yield f"path: {self.path} is reserved"


OPTIONS: Final = tuple(options_of(ServerSettings))
LIMITS: Final = tuple(options_of(ServerLimits, "limits."))
_BY_NAME: Final = {name: one for one in (*OPTIONS, *LIMITS) for name in (one.name, one.alias) if name}
# Kubernetes sets these in every container when a service is called a2c-server.
_SERVICE_LINK: Final = re.compile(r"(SERVICE_(HOST|PORT)|PORT_\d+_TCP|PORT=tcp:).*")


def load(given: Mapping[str, Any], env: Mapping[str, str]) -> ServerSettings:
    """Return the settings of the command line, the environment and a file together.

    Args:
        given: Values of the command line by option, None or False where it was not given; `config` names the file,
            `limits` is a list of `name=value`.

    Raises:
        InvalidConfig: The message has one line for each problem.
    """
    problems: list[str] = []
    config = given.get("config") or env.get(f"{ENV}CONFIG")
    values: dict[str, Any] = {}
    if config:
        values |= _validated(_file(Path(config), problems), problems)
    values |= _validated(_environment(env), problems)
    values |= _validated(_command_line(given, problems), problems)
    return _build(values, problems, check=True)


class SettingValue(NamedTuple):
    """A value before validation: where it was given, the option's name, and the value."""

    where: str
    name: str
    value: object


def _command_line(given: Mapping[str, Any], problems: list[str]) -> Iterator[SettingValue]:
    for option in OPTIONS:
        value = given.get(option.alias or option.name)
        if value is not None and value is not False:
            yield SettingValue(option.cli_name, option.name, value)
    for pair in given.get("limits") or ():
        name, equals, value = pair.partition("=")
        if equals:
            yield SettingValue(f"--limits {name}", f"limits.{name}", value)
        else:
            problems.append(f"--limits {name}: write it as NAME=VALUE")


def _environment(env: Mapping[str, str]) -> Iterator[SettingValue]:
    for variable in sorted(env):
        name = variable.removeprefix(ENV)
        if name in (variable, "CONFIG") or _SERVICE_LINK.fullmatch(f"{name}={env[variable]}"):
            continue
        limit = name.removeprefix("LIMITS_")
        yield SettingValue(variable, name.lower() if limit == name else f"limits.{limit.lower()}", env[variable])


def _file(path: Path, problems: list[str]) -> Iterator[SettingValue]:
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except OSError as error:
        problems.append(f"{path}: {error.strerror}")
        return
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(f"{path}: not TOML: {error}")
        return
    limits = table.pop("limits", {})
    if not isinstance(limits, dict):
        problems.append(f"{path}: limits: should be a table")
        limits = {}
    for name, value in table.items():
        yield SettingValue(f"{path}: {name}", name.replace("-", "_"), value)
    for name, value in limits.items():
        yield SettingValue(f"{path}: limits.{name}", f"limits.{name.replace('-', '_')}", value)


def _validated(given: Iterable[SettingValue], problems: list[str]) -> dict[str, Any]:
    """Return the validated values of one source by option; append a line for each problem."""
    raw: dict[str, Any] = {}
    sources: dict[str, SettingValue] = {}
    for one in given:
        option = _BY_NAME.get(one.name)
        if option is None:
            problems.append(f"{one.where}: unknown setting{_suggestion(one.name)}")
            continue
        raw[option.name] = _joined(raw[option.name], one.value) if option.name in raw else one.value
        sources[option.name] = one
    if not raw:
        return {}
    from pydantic import ValidationError  # noqa: PLC0415 - slow to import

    limits = {name.removeprefix("limits."): value for name, value in raw.items() if name.startswith("limits.")}
    rest = {name: value for name, value in raw.items() if not name.startswith("limits.")}
    try:
        checked = _adapter().validate_python({**rest, "limits": limits})
    except ValidationError as error:
        problems += [_line(details, sources) for details in error.errors(include_url=False)]
        return {}
    return {
        name: getattr(checked.limits if name.startswith("limits.") else checked, name.removeprefix("limits."))
        for name in raw
    }


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter  # noqa: PLC0415 - slow to import

    return TypeAdapter(ServerSettings)


def _joined(first: Any, second: Any) -> Any:
    # A list may be given under both of its names.
    try:
        return [*split_list(first), *split_list(second)]
    except ValueError:
        return second


def _build(values: Mapping[str, Any], problems: list[str], *, check: bool = False) -> ServerSettings:
    if not problems:
        limits = {name.removeprefix("limits."): value for name, value in values.items() if name.startswith("limits.")}
        rest = {name: value for name, value in values.items() if not name.startswith("limits.")}
        settings = ServerSettings(limits=ServerLimits(**limits), **rest)
        problems = list(settings.problems()) if check else []
        if not problems:
            return settings
    raise InvalidConfig("\n".join(problems))


def _line(details: Mapping[str, Any], sources: Mapping[str, SettingValue]) -> str:
    """Return a problem that pydantic found as a line: where, the value unless it is secret, what it should be."""
    location = details["loc"]
    depth = 2 if location[0] == "limits" else 1
    option = _BY_NAME[".".join(map(str, location[:depth]))]
    words = str(details["ctx"]["error"]) if details["type"] == "value_error" else str(details["msg"])
    words = re.sub(r"^(Input|String|List|Tuple) ", "", words)
    parts = [f"item {part + 1}" if isinstance(part, int) else str(part) for part in location[depth:]]
    source = sources[option.name]
    shown = _shown(option, details["input"] if parts else source.value)
    subject = " ".join([*([", ".join(parts)] if parts else []), *([shown] if shown else [])]) or "value"
    return f"{source.where}: {subject} {words[:1].lower()}{words[1:]}"


def _shown(option: Option, value: object) -> str:
    return "" if option.secret or not isinstance(value, str | int | float) else f"{value!r:.{MAX_SHOWN}}"


def _suggestion(name: str) -> str:
    nearest = difflib.get_close_matches(name, _BY_NAME, n=1)
    return f"; did you mean {nearest[0]}?" if nearest else ""
