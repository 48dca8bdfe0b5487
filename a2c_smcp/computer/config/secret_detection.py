"""Detects configuration values that are probably secrets, by name and shape, and masks them in text. Pure.

A value counts as a secret if its name says so ("API_KEY", "--token", "?sig="), if it looks like one (a known prefix, a
long run of letters mixed with digits, a URL with a password), or if it is too long to judge. These heuristics decide
what is masked in logs and errors, where masking every configured word would make them unreadable. What leaves the
Computer follows the stricter rules of `public_view`.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Self
from urllib.parse import unquote_plus

from a2c_smcp.common.masking import SecretMask
from a2c_smcp.computer.config.field_types import PLACEHOLDER
from a2c_smcp.computer.config.models import MCPServerConfig, strings_of
from a2c_smcp.redaction import MAX_TEXT, REDACTED, TRACEBACK, names_a_secret, redact_text

# Names that mean a secret in settings although the words are harmless in general text.
_SECRET_NAME: Final = re.compile(
    r"(?:^|[-_.\s])(?:key|keys|pat|pin|otp|salt|seed|mnemonic|dsn|creds?|sig)(?:$|[-_.\s])"
    r"|password|passwd|secret|apikey|token[\W_\d]*$|密码|密钥|口令|令牌|凭证",
    re.IGNORECASE,
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_RUN: Final = re.compile(r"[A-Za-z0-9]+")
_LONG_RUN: Final = 10
_LONG_RUN_IN_PATH: Final = 24
_UUID: Final = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)
PATH: Final = re.compile(r"(?:~|\.{1,2})?[\\/](?![\\/])|[A-Za-z]:[\\/]|file:///")
_SCHEME: Final = re.compile(r"(?P<scheme>(?:bearer|basic|digest|token|apikey)\s+)(?=\S)", re.IGNORECASE)
_PAIR: Final = re.compile(r"(?<![\w.])(?P<name>\w[\w.-]*)[\"']?\s*[=:：＝]\s*|(?<!\S)--?(?P<flag>\w[\w.-]*)\s+(?=\S)")
URL: Final = re.compile(
    r"(?P<scheme>[A-Za-z][\w+.-]*://)(?:(?P<user>[^/?#]*)@)?(?P<host>[^/?#@]*)"
    r"(?P<path>[^?#]*)(?P<query>\?[^#]*)?(?P<fragment>#.*)?",
    re.DOTALL,
)

# While a string is examined, a private-use character stands for each placeholder, so that its braces and colons do not
# count in a URL: _KEPT + index keeps the placeholder as written, _HIDDEN + index hides its default value.
_KEPT: Final = 0xF0000
_HIDDEN: Final = 0x100000
_MARKS: Final = re.compile("[\U000f0000-\U000f03ff]")
_MAX_PLACEHOLDERS: Final = 1024
_PLACEHOLDER_NAME: Final = re.compile(r"(?:[A-Za-z]+:)?[\w./ -]{0,64}")


def redacted_parameters(server: MCPServerConfig) -> dict[str, Any]:
    """Return the parameters of a server with probable secrets redacted."""
    parameters: dict[str, Any] = server.model_dump(mode="json")["server_parameters"]
    for key, value in parameters.items():
        match key, value:
            case "command" | "url", str():
                parameters[key] = redact_value(value)
            case "args", list():
                parameters[key] = redact_args(value)
            case "env" | "headers", dict():
                parameters[key] = {name: redact_named(name, item) for name, item in value.items()}
    return parameters


def redact_named(name: str, value: str) -> str:
    """Return a named value, redacted if its name or its shape suggests a secret."""
    return outside_placeholders(hide, value) if is_secret_name(name) else redact_value(value)


def redact_args(args: Sequence[str]) -> list[str]:
    """Return command arguments without probable secrets: `--token=abc` and `--api-key abc` lose their value."""
    public = []
    for index, arg in enumerate(args):
        before = args[index - 1] if index else ""
        if before.startswith("-") and "=" not in before and is_secret_name(before):
            public.append(outside_placeholders(hide, arg))
        elif arg.startswith("-") and "=" in arg:
            flag, _, value = arg.partition("=")
            public.append(f"{flag}={redact_named(flag, value)}")
        else:
            public.append(redact_value(arg))
    return public


def redact_value(value: str) -> str:
    """Return a string without the parts whose shape suggests a secret."""
    if value.lstrip()[:1] in {"{", "["} and (public := _redact_json(value)) is not None:
        return public
    return outside_placeholders(_redact, value)


def _redact_json(text: str) -> str | None:
    try:
        value = json.loads(text)
        public = _redact_tree(value)
    except (ValueError, RecursionError):
        return None
    return text if public == value else json.dumps(public, ensure_ascii=False)


def _redact_tree(value: Any) -> Any:
    match value:
        case str():
            return redact_value(value)
        case dict():
            return {key: _redact_member(key, item) for key, item in value.items()}
        case list() if all(isinstance(item, str) for item in value):
            return redact_args(value)
        case list():
            return [_redact_tree(item) for item in value]
        case _:
            return value


def _redact_member(key: str, item: Any) -> Any:
    if isinstance(item, str):
        return redact_named(key, item)
    return REDACTED if item is not None and is_secret_name(key) else _redact_tree(item)


def outside_placeholders(judge: Callable[[str], str], value: str, *, defaults: bool = True) -> str:
    """Apply `judge` to a string in which each placeholder is one character, then restore the placeholders.

    Args:
        defaults: Whether a restored placeholder keeps its default value.
    """
    placeholders = list(PLACEHOLDER.finditer(value))
    if len(placeholders) > _MAX_PLACEHOLDERS:
        return REDACTED
    marks = {}
    for index, found in enumerate(placeholders):
        marks[chr(_KEPT + index)] = _public_placeholder(found["name"], hide=not defaults)
        marks[chr(_HIDDEN + index)] = _public_placeholder(found["name"], hide=True)
    order = iter(range(len(placeholders)))
    public = judge(PLACEHOLDER.sub(lambda _: chr(_KEPT + next(order)), value))
    return "".join(marks.get(char, char) for char in public)


def _public_placeholder(inner: str, *, hide: bool = False) -> str:
    name, dash, default = inner.partition(":-")
    if not name.startswith("input:") and (_PLACEHOLDER_NAME.fullmatch(name) is None or looks_secret(name)):
        return REDACTED
    if dash and (hide or is_secret_name(name) or looks_secret(default)):
        return f"${{{name}:-{REDACTED}}}"
    return f"${{{inner}}}"


def _redact(text: str) -> str:
    if len(text) > MAX_TEXT:
        return hide(text)
    if url := URL.fullmatch(text):
        return _redact_url(url)
    for pair in _PAIR.finditer(text):
        if is_secret_name(pair["name"] or pair["flag"]):
            return text[: pair.end()] + hide(text[pair.end() :])
    return hide(text) if looks_secret(text) else text


def _redact_url(url: re.Match[str]) -> str:
    user, host, rest = url["user"], url["host"], url.group()[url.end("host") :]
    # A password that contains / ? or # ends the host too early: the apparent port is then part of the password.
    if ":" in host.rpartition("]")[2] and "@" in rest:
        return url["scheme"] + REDACTED
    path = "/".join(hide(part) if looks_secret(unquote_plus(part)) else part for part in url["path"].split("/"))
    return "".join(
        [
            url["scheme"],
            f"{hide(user)}@" if user is not None else "",
            host,
            path,
            _redact_query(url["query"] or ""),
            _redact_query(url["fragment"] or ""),
        ]
    )


def _redact_query(query: str) -> str:
    return query[:1] + "".join(_redact_parameter(part) for part in re.split(r"([&;])", query[1:]))


def _redact_parameter(part: str) -> str:
    name, equals, value = part.partition("=")
    if not equals:
        return hide(part) if looks_secret(unquote_plus(part)) else part
    plain = unquote_plus(value)
    if is_secret_name(unquote_plus(name)) or _redact(plain) != plain:
        return f"{name}={hide(value)}"
    return part


def is_secret_name(name: str) -> bool:
    """Whether a value of this name is probably a secret."""
    words = _CAMEL.sub("_", name.lstrip("-/"))
    return names_a_secret(words) or _SECRET_NAME.search(words) is not None


def looks_secret(text: str) -> bool:
    """Whether a string looks like a secret."""
    text = _MARKS.sub(" ", text).replace(REDACTED, " ")
    if len(text) > MAX_TEXT:
        return True
    redacted = redact_text(text)
    if REDACTED in redacted or redacted == TRACEBACK:
        return True
    in_path = PATH.match(text) is not None
    long = _LONG_RUN_IN_PATH if in_path else _LONG_RUN
    mixed = any(len(run) >= long and _is_mixed(run) for run in _RUN.findall(text))
    return mixed or (not in_path and _UUID.search(text) is not None)


def _is_mixed(run: str) -> bool:
    digits = sum(char.isdigit() for char in run)
    return 2 <= digits < len(run)


def hide(text: str) -> str:
    """Redact a string except its placeholders and an authentication scheme such as "Bearer"."""
    if not text:
        return text
    scheme = _SCHEME.match(text)
    lead = scheme["scheme"] if scheme else ""
    pieces = re.split(f"({_MARKS.pattern})", text[len(lead) :])
    if len(pieces) == 1:
        return lead + REDACTED
    return lead + "".join(
        _hide_literal(piece) if index % 2 == 0 else chr(ord(piece) - _KEPT + _HIDDEN)
        for index, piece in enumerate(pieces)
    )


def _hide_literal(text: str) -> str:
    # A separator between placeholders ("${input:user}:${input:password}") reveals nothing.
    return text if len(text) <= 2 and set(text) <= set(" :,;/.@_-=|") else REDACTED


_REDACTED_PART: Final = re.compile(f"{PLACEHOLDER.pattern}|{re.escape(REDACTED)}".replace("(?P<name>", "(?:"))


class ServerMask(SecretMask):
    """Masks the secrets of one server: the values of its placeholders and its probable literal secrets."""

    @classmethod
    def between(cls, configured: MCPServerConfig, resolved: MCPServerConfig) -> Self:
        """Return the mask for the values that resolving a configuration inserted, and for its literal secrets."""
        shown = dict(strings_of(redacted_parameters(configured)))
        texts = strings_of(resolved.server_parameters.model_dump(mode="json"))
        return cls(value for place, text in texts for value in _masked_values(shown.get(place, ""), text))


def _masked_values(shown: str, text: str) -> Iterator[str]:
    if shown == text:
        return
    match = re.fullmatch("(.*?)".join(re.escape(part) for part in _REDACTED_PART.split(shown)), text, re.DOTALL)
    # If the parts cannot be aligned, mask the whole string.
    yield from match.groups() if match else [text]
