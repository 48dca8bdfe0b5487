"""The public view of a configuration: what Agents may see. Pure.

Placeholders are kept. Literals are redacted in `env`, in `headers`, in the user information, query and fragment of a
URL, after a flag, in `KEY=VALUE`, in the command line of a `command` input and in the default of an input, unless the
value or its name is on a short list of harmless ones. Elsewhere (programs, packages, paths, the path of a URL) only
plain words are kept. When in doubt a value is redacted: an Agent rarely needs it, and a leak harms the owner.
"""

import json
import re
from collections.abc import Iterator, Sequence
from ntpath import basename
from typing import Any, Final, cast
from urllib.parse import unquote_plus

from a2c_smcp.computer.config.field_types import PLACEHOLDER
from a2c_smcp.computer.config.models import ComputerConfig, MCPServerConfig, MCPServerInput
from a2c_smcp.computer.config.secret_detection import (
    PATH,
    URL,
    hide,
    is_secret_name,
    looks_secret,
    outside_placeholders,
    redact_named,
    redact_value,
)
from a2c_smcp.messages import GetComputerConfigRet
from a2c_smcp.redaction import MAX_TEXT, REDACTED

HARMLESS_VALUES: Final = frozenset(
    [
        "0",
        "1",
        "true",
        "false",
        "yes",
        "no",
        "on",
        "off",
        "none",
        "null",
        "auto",
        "debug",
        "info",
        "warn",
        "warning",
        "error",
        "critical",
        "trace",
        "production",
        "development",
        "test",
        "stdio",
        "sse",
        "http",
        "utf-8",
        "utf8",
        "json",
        "text",
    ]
)
HARMLESS_NAMES: Final = frozenset(
    # Variables.
    [
        "lang",
        "language",
        "lc_all",
        "lc_ctype",
        "tz",
        "term",
        "node_env",
        "log_level",
        "loglevel",
        "port",
        "no_color",
        "force_color",
        "pythonunbuffered",
        "pythonioencoding",
        "pythonutf8",
        "pythonwarnings",
        "accept",
        "accept-language",
        "accept-encoding",
        "content-type",
        "cache-control",
        "mcp-protocol-version",
    ]
)
_PLAIN_FLAGS: Final = frozenset(
    [
        "-m",
        "--module",
        "--from",
        "--with",
        "--package",
        "--directory",
        "--project",
        "--python",
        "--port",
        "--transport",
        "--log-level",
        "--loglevel",
        "--root",
        "--folder",
        "--path",
        "--dir",
        "--cwd",
        "--file",
        "--config",
        "--platform",
        "--network",
        "--host",
        "--name",
    ]
)
"""Flags whose value is a package, a path or a number."""

_BARE_FLAGS: Final = frozenset(
    [
        "-y",
        "--yes",
        "-i",
        "-t",
        "-it",
        "-ti",
        "--rm",
        "--init",
        "-q",
        "-qq",
        "--quiet",
        "--verbose",
        "-vv",
        "-vvv",
        "--debug",
        "--stdio",
        "--",
        "--interactive",
        "--tty",
    ]
)
"""Flags without a value."""

_PYTHON_FLAGS: Final = frozenset(["-u", "-I", "-E", "-s", "-S", "-B", "-O", "-P"])
_KNOWN_SHORT: Final = frozenset(["-it", "-ti", "-vv", "-vvv", "-qq", "-jar", "-cp", "-rm"])
_LAUNCHERS: Final = frozenset(
    [
        "npx",
        "npm",
        "pnpm",
        "yarn",
        "bunx",
        "bun",
        "uvx",
        "uv",
        "pipx",
        "node",
        "deno",
        "python",
        "python3",
        "docker",
        "podman",
        "java",
    ]
)

_MARK: Final = "\U000f0000-\U000f03ff"
_ONLY_PLACEHOLDERS: Final = re.compile(rf"[{_MARK}]*")
_PAIR: Final = re.compile(r"(?P<name>[A-Za-z_][\w.-]{0,63})=(?P<value>.*)", re.DOTALL)
_HEADER: Final = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9-]{0,63}):(?P<gap>\s*)(?P<value>.*)", re.DOTALL)
_FLAG: Final = re.compile(r"(?P<flag>--?[A-Za-z][A-Za-z-]*)=(?P<value>.*)", re.DOTALL)
_LONG: Final = re.compile(r"--[A-Za-z]+(?:-[A-Za-z]+){0,5}")
_SPLIT: Final = re.compile(r"[-_.+]|(?<=[a-z])(?=[A-Z])")
_WORD: Final = re.compile(r"[A-Za-z]{2,20}|v?\d{1,3}|[a-z]|oauth2|s3|k8s")
_VOWEL: Final = re.compile(r"[aeiouy]", re.IGNORECASE)
_MAX_WORDS: Final = 6
_MAX_PLAIN: Final = 60
_SHORT_WORD: Final = 5
_PLACE: Final = re.compile(r"[\w .@+~:/\\-]*")
_FILE: Final = re.compile(r"[\w./\\-]+\.[A-Za-z]{1,5}")
_PACKAGE: Final = re.compile(
    r"(?:@(?P<scope>[\w.-]+)/)?(?P<name>[\w.-]+(?:/[\w.-]+)*)(?:(?P<at>[@:]|==)(?P<version>[\w.-]+))?"
)
_VERSION: Final = re.compile(r"latest|next|v?\d+(?:\.\d+){0,3}(?:-(?:alpha|beta|rc)\.?\d*)?")
_HOST: Final = re.compile(rf"(?:[\w.-]|[{_MARK}])*|\[[0-9A-Fa-f:.]+\]")


def public_config(config: ComputerConfig) -> GetComputerConfigRet:
    """Return the reply to `client:get_config`: placeholders unresolved, literal secrets redacted."""
    return cast(
        "GetComputerConfigRet",
        {
            "inputs": [_public_input(entry) for entry in config.inputs],
            "servers": {name: _public_server(server) for name, server in config.servers.items()},
        },
    )


def _public_server(server: MCPServerConfig) -> dict[str, Any]:
    public = server.model_dump(mode="json")
    parameters = public["server_parameters"]
    for key, value in parameters.items():
        match key, value:
            case "url", str():
                parameters[key] = public_url(value)
            case "command" | "cwd", str():
                parameters[key] = redact_value(value)
            case "args", list():
                parameters[key] = public_args(value, parameters["command"])
            case "env" | "headers", dict():
                parameters[key] = {name: public_named(name, item) for name, item in value.items()}
    return public


def _public_input(entry: MCPServerInput) -> dict[str, Any]:
    public = entry.model_dump(mode="json")
    public["description"] = redact_value(entry.description) if looks_secret(entry.description) else entry.description
    match entry.type:
        case "promptString" if entry.default is not None:
            public["default"] = REDACTED if entry.password and entry.default else public_value(entry.default)
        case "pickString":
            public["options"] = [_public_choice(option) for option in entry.options]
            public["default"] = None if entry.default is None else _public_choice(entry.default)
        case "command":
            program, gap, rest = entry.command.partition(" ")
            public["command"] = redact_value(program) + gap + public_value(rest)
            if entry.args is not None:
                public["args"] = {name: public_value(item) for name, item in entry.args.items()}
    return public


def _public_choice(text: str) -> str:
    return text if _is_plain(text) else public_value(text)


def public_value(value: str) -> str:
    """Return a literal for the public view: only harmless values and placeholders are kept."""
    return value if value.lower() in HARMLESS_VALUES else outside_placeholders(hide, value, defaults=False)


def public_named(name: str, value: str) -> str:
    """Return the value of a variable or header for the public view."""
    if name.lower() in HARMLESS_NAMES and redact_named(name, value) == value:
        return value
    return public_value(value)


def public_url(url: str) -> str:
    """Return a URL for the public view: scheme, host, plain words of its path, and the names in its query."""
    return outside_placeholders(_url, url, defaults=False) if len(url) <= MAX_TEXT else REDACTED


def public_args(args: Sequence[str], command: str = "") -> list[str]:
    """Return command arguments for the public view."""
    return list(_args(args, basename(command).lower().removesuffix(".exe")))


def _args(args: Sequence[str], program: str) -> Iterator[str]:
    flag: str | None = None  # the flag whose value comes next
    named = program not in _LAUNCHERS  # whether the program or package to run has been named
    bare = _BARE_FLAGS | (_PYTHON_FLAGS if program.startswith("python") else frozenset())
    for arg in args:
        if arg.startswith("-") and arg != "-":
            yield _flag(arg)
            flag = None if arg in bare or "=" in arg or _is_short_with_value(arg) else arg
        elif flag is not None:
            yield _flag_value(flag, arg)
            named, flag = named or flag == "-m", None
        elif not named and not _PAIR.fullmatch(arg):
            # `uv run`, `docker run`, `npm exec`: the word before the program.
            named = arg not in ("run", "exec", "tool", "dlx", "x")
            yield redact_value(arg)
        else:
            yield _positional(arg)


def _flag(arg: str) -> str:
    if found := _FLAG.fullmatch(arg):
        return f"{found['flag']}={_flag_value(found['flag'], found['value'])}"
    if arg == "--" or arg in _KNOWN_SHORT or len(arg) == 2:
        return arg
    if arg.startswith("--"):
        return arg if _LONG.fullmatch(arg) and not looks_secret(arg) else public_value(arg)
    return arg[:2] + public_value(arg[2:])


def _is_short_with_value(arg: str) -> bool:
    return not arg.startswith("--") and len(arg) > 2 and arg not in _KNOWN_SHORT


def _flag_value(flag: str, value: str) -> str:
    if flag in _PLAIN_FLAGS and ((value.isdecimal() and len(value) <= 5) or _is_target(value)):
        return redact_value(value)
    if flag == "-e" and _is_name(value):
        return value  # `docker run -e NAME`: the name of a variable that is passed on
    return _structured(value) or public_value(value)


def _is_name(value: str) -> bool:
    return re.fullmatch(r"[A-Z][A-Z_]{2,40}", value) is not None and not looks_secret(value)


def _positional(arg: str) -> str:
    if (public := _structured(arg)) is not None:
        return public
    kept = _is_plain(arg) or _is_target(arg)
    return arg if kept and redact_value(arg) == arg else public_value(arg)


def _structured(value: str) -> str | None:
    """Redact a value whose structure (JSON, URL, pair, header) shows which part may be a secret; None for others."""
    if value.lstrip()[:1] in {"{", "["} and (public := _json(value)) is not None:
        return public
    if "://" in value and URL.fullmatch(value):
        return public_url(value)
    if found := _PAIR.fullmatch(value):
        return f"{found['name']}={public_named(found['name'], found['value'])}"
    if (found := _HEADER.fullmatch(value)) and (found["gap"] or is_secret_name(found["name"])):
        return f"{found['name']}:{found['gap']}{public_named(found['name'], found['value'])}"
    return None


def _is_target(arg: str) -> bool:
    """Whether an argument names a package, an image, or a file of a known kind."""
    if not arg or looks_secret(arg):
        return False
    bare = PLACEHOLDER.sub("", arg) if ":-" not in arg else arg
    if (PATH.match(bare) and _PLACE.fullmatch(bare)) or (_FILE.fullmatch(arg) and not arg[0].isdigit()):
        return redact_value(arg) == arg
    found = _PACKAGE.fullmatch(arg)
    if found is None or (found["version"] and not _VERSION.fullmatch(found["version"])):
        return False
    return all(_is_plain(part) for part in [found["scope"] or "a", *found["name"].split("/")])


def _json(text: str) -> str | None:
    try:
        public = _tree(json.loads(text))
    except (ValueError, RecursionError):
        return None
    return json.dumps(public, ensure_ascii=False)


def _tree(value: Any) -> Any:
    match value:
        case None | bool():
            return value
        case str():
            return public_value(value)
        case dict():
            return {key: _tree(item) for key, item in value.items()}
        case list():
            return [_tree(item) for item in value]
        case _:
            return REDACTED


def _url(text: str) -> str:
    url = URL.fullmatch(text)
    if url is None:
        path, rest = _before_query(text)
        base, slash, segments = path.partition("/")
        lead = base if _ONLY_PLACEHOLDERS.fullmatch(base) else hide(base)
        return lead + slash + _segments(segments) + _query(rest)
    user, host, rest = url["user"], url["host"], text[url.end("host") :]
    # A password that contains / ? or # ends the host too early: the apparent port is then part of the password.
    if ":" in host.rpartition("]")[2] and "@" in rest:
        return url["scheme"] + REDACTED
    return "".join(
        [
            url["scheme"],
            f"{hide(user)}@" if user is not None else "",
            _host(host),
            _segments(url["path"]),
            _query(url["query"] or ""),
            _query(url["fragment"] or ""),
        ]
    )


def _before_query(text: str) -> tuple[str, str]:
    at = min((at for at in (text.find("?"), text.find("#")) if at >= 0), default=len(text))
    return text[:at], text[at:]


def _host(host: str) -> str:
    name, colon, port = host.rpartition(":") if re.search(r":[^:\]]*\Z", host) else (host, "", "")
    if not _HOST.fullmatch(name):
        return hide(host)
    shown = ".".join(hide(label) if looks_secret(label) else label for label in name.split("."))
    return shown + colon + (port if port.isdecimal() or _ONLY_PLACEHOLDERS.fullmatch(port) else hide(port))


def _segments(path: str) -> str:
    shown: list[str] = []
    before = ""
    for segment in path.split("/"):
        plain = not is_secret_name(before) and (_is_plain(segment) or _ONLY_PLACEHOLDERS.fullmatch(segment))
        shown.append(segment if plain else hide(segment))
        before = segment
    return "/".join(shown)


def _query(query: str) -> str:
    return query[:1] + "".join(
        part if index % 2 else _parameter(part) for index, part in enumerate(re.split(r"([&;])", query[1:]))
    )


def _parameter(part: str) -> str:
    name, equals, value = part.partition("=")
    if not equals:
        return hide(part)
    shown = name if _is_plain(unquote_plus(name)) or is_secret_name(unquote_plus(name)) else hide(name)
    return f"{shown}={value if value.lower() in HARMLESS_VALUES else hide(value)}"


def _is_plain(text: str) -> bool:
    """Whether a string consists of a few words; random strings contain digits or lack vowels."""
    if not text or len(text) > _MAX_PLAIN:
        return not text
    words = [word for word in _SPLIT.split(text) if word]
    if not words or len(words) > _MAX_WORDS or not all(_WORD.fullmatch(word) for word in words):
        return False
    return all(len(word) <= _SHORT_WORD or _VOWEL.search(word) for word in words)
