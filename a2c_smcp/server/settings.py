"""Everything that a server can be told, in one table: command line, environment, file and documentation derive from it.

The command line goes over the environment (`A2C_SERVER_PORT`), the environment over the file (TOML: `port = 8000`).
Nothing heavy is imported here, because help and completion need the table.
"""

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from a2c_smcp.common.addresses import LOOPBACK, in_url, is_loopback
from a2c_smcp.errors import InvalidConfig
from a2c_smcp.server import values
from a2c_smcp.server.limits import ServerLimits
from a2c_smcp.server.values import ApiKey

ENV: Final = "A2C_SERVER_"
ENDPOINTS: Final = ("/healthz", "/readyz", "/metrics", "/console")

LogFormat: TypeAlias = Literal["text", "json"]
LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How a server runs; `OPTIONS` explains the fields. Build one with `of` or `load`, which check the values."""

    host: str = "127.0.0.1"
    port: int = 8000
    path: str = "/socket.io"
    api_keys: tuple[ApiKey, ...] = field(default=(), repr=False)
    api_key_file: Path | None = None
    token_keys: Path | None = None
    insecure: bool = False
    redis: str | None = field(default=None, repr=False)
    redis_lease: float = 5
    limits: ServerLimits = field(default_factory=ServerLimits)
    allowed_origins: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    trust_proxy: tuple[str, ...] = ()
    tls_cert: Path | None = None
    tls_key: Path | None = None
    log_format: LogFormat = "text"
    log_level: LogLevel = "info"
    audit_log: Path | None = None
    otel: bool = False
    drain: float = 10
    ping_interval: float = 25
    ping_timeout: float = 20
    metrics_token: str | None = field(default=None, repr=False)
    metrics_public: bool = False
    console_token: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, **options: Any) -> "ServerSettings":
        """Settings from Python values; `limits` is a `ServerLimits` or a mapping.

        Raises:
            InvalidConfig: An unknown option or a bad value; one line for each.
        """
        limits = options.pop("limits", None)
        entries = [Entry(name, name, value) for name, value in options.items() if value is not None]
        if isinstance(limits, Mapping):
            entries += [Entry(f"limits.{name}", f"limits.{name}", value) for name, value in limits.items()]
        wrong: list[str] = []
        found = _converted([entries], wrong)
        if isinstance(limits, ServerLimits):
            found |= {f"limits.{one.name}": getattr(limits, one.name) for one in fields(ServerLimits)}
        return _settings(found, wrong)

    @property
    def authenticated(self) -> bool:
        """Whether a client needs credentials."""
        return bool(self.api_keys or self.api_key_file or self.token_keys)

    @property
    def scheme(self) -> str:
        """What URLs of this server begin with."""
        return "https" if self.tls_cert else "http"

    @property
    def hosts(self) -> frozenset[str]:
        """The names that a request's Host header may have; empty for any.

        A server on a loopback address answers to its own names only: a web page whose name was pointed at this
        machine (DNS rebinding) sends that page's name.
        """
        if "*" in self.allowed_hosts:
            return frozenset()
        own = LOOPBACK | {in_url(self.host.lower())}
        return frozenset(self.allowed_hosts) or (own if is_loopback(self.host) else frozenset())

    def problems(self, *, authenticated: bool = False) -> Iterator[str]:
        """Yield what does not go together, a line each.

        Args:
            authenticated: A provider made in Python says who may connect.
        """
        if not (authenticated or self.authenticated or self.insecure or is_loopback(self.host)):
            yield (
                f"host: other machines can reach {self.host}, and nothing says who may connect. Choose one: "
                "--api-key KEY (or A2C_SERVER_API_KEY), --token-keys FILE (`a2c token key` makes one), "
                "or --insecure to let everybody in"
            )
        if (self.tls_cert is None) != (self.tls_key is None):
            yield "tls_cert, tls_key: both or neither"
        if self.limits.frame_bytes < self.limits.message_bytes:
            yield "limits: frame_bytes must not be below message_bytes"
        if self.path in ENDPOINTS:
            yield f"path: {self.path} is taken"


@dataclass(frozen=True, slots=True)
class Option:
    """A row of the table. `name` is the field, the key in a file and, in upper case, the end of the variable.

    Attributes:
        alias: A second name, which is also the one on the command line.
        secret: Its value is never shown.
    """

    name: str
    help: str
    convert: Callable[[object], Any] = values.text
    metavar: str = ""
    flag: bool = False
    many: bool = False
    choices: tuple[str, ...] = ()
    secret: bool = False
    alias: str = ""

    @property
    def words(self) -> str:
        """Its name on the command line."""
        return "--" + (self.alias or self.name).replace("_", "-")

    @property
    def default(self) -> Any:
        """Its value when nobody says otherwise."""
        group, _, rest = self.name.rpartition(".")
        return getattr(ServerLimits() if group else ServerSettings(), rest)


_FORMATS: Final = ("text", "json")
_LEVELS: Final = ("debug", "info", "warning", "error")
OPTIONS: Final[tuple[Option, ...]] = (
    Option("host", "The address to listen on."),
    Option("port", "The port to listen on; 0 picks a free one.", values.port),
    Option("path", "The HTTP path of Socket.IO.", values.url_path),
    Option(
        "api_keys",
        "Keys that let a client in. Others on this machine can see a command line: prefer the environment or a file.",
        values.api_keys,
        metavar="KEY",
        many=True,
        secret=True,
        alias="api_key",
    ),
    Option("api_key_file", "A file of such keys, one a line.", values.file, "FILE"),
    Option("token_keys", "The keys of signed tokens, made by `a2c token key`.", values.file, "FILE"),
    Option("insecure", "Let everybody in, although other machines can reach this server.", values.flag, flag=True),
    Option("redis", "Form one logical server with all others on this Redis.", metavar="URL", secret=True),
    Option(
        "redis_lease",
        "How long a node keeps its seats without Redis; its agents are disconnected a fifth earlier.",
        values.positive_seconds,
        "TIME",
    ),
    Option(
        "allowed_origins",
        "Web pages that may connect, like https://app.example.com; none by default, not even of the same origin.",
        values.origins,
        "ORIGIN",
        many=True,
    ),
    Option(
        "allowed_hosts",
        "Names by which this server may be called; on a loopback address only loopback names by default, else any.",
        values.hosts,
        "HOST",
        many=True,
    ),
    Option(
        "trust_proxy",
        "Proxies, as addresses or networks, whose X-Forwarded-For is believed.",
        values.networks,
        "ADDRESS",
        many=True,
    ),
    Option("tls_cert", "The certificate chain, in PEM.", values.file, "FILE"),
    Option("tls_key", "Its private key, in PEM.", values.file, "FILE"),
    Option("log_format", "How the log looks.", values.choice(*_FORMATS), choices=_FORMATS),
    Option("log_level", "What is logged; debug adds the messages of errors.", values.choice(*_LEVELS), choices=_LEVELS),
    Option("audit_log", "Append joins, leaves, refusals and calls to this file.", values.file, "FILE"),
    Option("otel", "Send OpenTelemetry spans; the OTEL_* variables say where to.", values.flag, flag=True),
    Option("drain", "How long a server that is told to end waits for calls under way.", values.seconds, "TIME"),
    Option("ping_interval", "How often a client is asked for a sign of life.", values.positive_seconds, "TIME"),
    Option("ping_timeout", "How long it may take to give it.", values.positive_seconds, "TIME"),
    Option("metrics_token", "The bearer token that opens /metrics.", metavar="TOKEN", secret=True),
    Option("metrics_public", "Open /metrics to everybody.", values.flag, flag=True),
    Option(
        "console_token",
        "The token that opens /console, a page to look at; without it there is none.",
        metavar="TOKEN",
        secret=True,
    ),
)
LIMITS: Final[tuple[Option, ...]] = (
    Option("limits.message_bytes", "The largest message passed on; larger ones are refused.", values.size),
    Option("limits.frame_bytes", "The largest frame read at all; a larger one ends its connection.", values.size),
    Option("limits.backlog_bytes", "What may wait for a slow client, requests up to half; more ends it.", values.size),
    Option(
        "limits.backlog_total_bytes",
        "What may wait for all clients together; beyond it the slowest is disconnected.",
        values.size,
    ),
    Option("limits.requests_per_second", "Requests of one connection.", values.amount),
    Option("limits.office_requests_per_second", "Requests of one office.", values.amount),
    Option("limits.in_flight", "Requests of one connection that wait for an answer.", values.amount),
    Option("limits.connections_per_address", "Connections of one network address, idle ones too.", values.amount),
    Option("limits.early_bytes", "The largest frame or body of a client that has not joined an office.", values.size),
    Option("limits.header_seconds", "How long a client may take to send a request's header.", values.positive_seconds),
    Option("limits.hello_seconds", "How long a new client may take to be let in.", values.positive_seconds),
    Option("limits.joins_per_second", "Joins and leaves of one connection.", values.amount),
    Option("limits.default_timeout", "The wait for a reply to a request without a time-out.", values.positive_seconds),
    Option("limits.max_timeout", "The longest time-out a request may ask for.", values.positive_seconds),
    Option("limits.timeout_margin", "What is granted on top, for the way there and back.", values.seconds),
)
_BY_NAME: Final = {name: one for one in (*OPTIONS, *LIMITS) for name in (one.name, one.alias) if name}
# What Kubernetes puts into every container when a service is called a2c-server.
_SERVICE_LINK: Final = re.compile(r"(SERVICE_(HOST|PORT)|PORT_\d+_TCP|PORT=tcp:).*")


def load(given: Mapping[str, Any], env: Mapping[str, str]) -> ServerSettings:
    """Return the settings that the command line, the environment and a file make together.

    Args:
        given: Raw values of the command line by option, None or False where it is silent; `config` names the file,
            `limits` is a list of `name=value`.

    Raises:
        InvalidConfig: The message has one line for each thing to mend.
    """
    wrong: list[str] = []
    config = given.get("config") or env.get(f"{ENV}CONFIG")
    file = list(_file(Path(config), wrong)) if config else []
    found = _converted([file, list(_environment(env)), list(_command_line(given, wrong))], wrong)
    return _settings(found, wrong, check=True)


class Entry(NamedTuple):
    """A raw value: where it stands, in words, the option meant, and the value."""

    where: str
    name: str
    value: object


def _command_line(given: Mapping[str, Any], wrong: list[str]) -> Iterator[Entry]:
    for option in OPTIONS:
        value = given.get(option.alias or option.name)
        if value is not None and value is not False:
            yield Entry(option.words, option.name, value)
    for pair in given.get("limits") or ():
        name, equals, value = pair.partition("=")
        if equals:
            yield Entry(f"--limits {name}", f"limits.{name}", value)
        else:
            wrong.append(f"--limits {name}: write it as NAME=VALUE")


def _environment(env: Mapping[str, str]) -> Iterator[Entry]:
    for variable in sorted(env):
        name = variable.removeprefix(ENV)
        if name in (variable, "CONFIG") or _SERVICE_LINK.fullmatch(f"{name}={env[variable]}"):
            continue
        limit = name.removeprefix("LIMITS_")
        yield Entry(variable, name.lower() if limit == name else f"limits.{limit.lower()}", env[variable])


def _file(path: Path, wrong: list[str]) -> Iterator[Entry]:
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except OSError as error:
        wrong.append(f"{path}: {error.strerror}")
        return
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        wrong.append(f"{path}: not TOML: {error}")
        return
    limits = table.pop("limits", {})
    if not isinstance(limits, dict):
        wrong.append(f"{path}: limits: is not a table")
        limits = {}
    for name, value in table.items():
        yield Entry(f"{path}: {name}", name.replace("-", "_"), value)
    for name, value in limits.items():
        yield Entry(f"{path}: limits.{name}", f"limits.{name.replace('-', '_')}", value)


def _converted(sources: Iterable[Sequence[Entry]], wrong: list[str]) -> dict[str, Any]:
    # Later sources go over earlier ones; within one, a list may be given under both of its names.
    found: dict[str, Any] = {}
    for source in sources:
        here: dict[str, Any] = {}
        for entry in source:
            option = _BY_NAME.get(entry.name)
            if option is None:
                wrong.append(f"{entry.where}: there is no such setting{_suggestion(entry.name)}")
                continue
            try:
                value = option.convert(entry.value)
            except ValueError as error:
                wrong.append(f"{entry.where}: {_shown(option, entry.value)}{error}")
                continue
            here[option.name] = here.get(option.name, ()) + value if option.many else value
        found |= here
    return found


def _settings(found: Mapping[str, Any], wrong: list[str], *, check: bool = False) -> ServerSettings:
    if not wrong:
        limits = {name.removeprefix("limits."): value for name, value in found.items() if name.startswith("limits.")}
        rest = {name: value for name, value in found.items() if not name.startswith("limits.")}
        settings = ServerSettings(limits=ServerLimits(**limits), **rest)
        wrong = list(settings.problems()) if check else []
        if not wrong:
            return settings
    raise InvalidConfig("\n".join(wrong))


def _shown(option: Option, value: object) -> str:
    return "" if option.secret or option.many or not isinstance(value, str | int | float) else f"{value!r:.60} "


def _suggestion(name: str) -> str:
    nearest = difflib.get_close_matches(name, _BY_NAME, n=1)
    return f"; did you mean {nearest[0]}?" if nearest else ""
