"""Where to connect and as whom, and whom to let in: the options that commands share, and their variables."""

import json
import logging
import re
import secrets
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.cli.command import Argument, Context
from a2c_smcp.cli.terminal import Terminal, one_line
from a2c_smcp.cli.up_home import token_file
from a2c_smcp.common.running_offices import find_running
from a2c_smcp.common.state import state_folder
from a2c_smcp.errors import BadRequest, NotFound

if TYPE_CHECKING:
    import ssl

log = logging.getLogger(__name__)

URL: Final = Argument("--url", "The server to connect to.")
OFFICE: Final = Argument("--office", "The office to join.")
CREDENTIALS: Final = (
    Argument("--token", "The token to connect with; other users of the machine can see it here."),
    Argument("--token-file", "A file with the token, read again at every attempt.", metavar="FILE", completes="file"),
    Argument("--api-key", "The API key to connect with.", metavar="KEY"),
    Argument(
        "--header",
        "An HTTP header to connect with, such as access_token=KEY for servers of a2c-smcp 0.1.5 to 0.2.1; other users "
        "of the machine can see it here.",
        metavar="NAME=VALUE",
        repeated=True,
    ),
    Argument(
        "--ca",
        "A file with certificates of private CAs to trust beside those of the system (PEM).",
        metavar="FILE",
        completes="file",
    ),
)
_HEADER: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)=([\t\x20-\x7e\x80-\xff]*)")


INPUTS: Final = (
    Argument("--input", "The value of an input.", metavar="ID=VALUE", many=True),
    Argument("--input-file", "A file of such lines, or a JSON object.", metavar="FILE", completes="file"),
)
HTTP_TOKENS: Final = (
    Argument("--http-token", "What HTTP clients must send as bearer token (default: a generated one, printed)."),
    Argument("--http-token-file", "A file with that token.", metavar="FILE", convert=Path, completes="file"),
)
NO_AUTH: Final = Argument("--no-auth", "Need no token: every user of this machine can connect.", flag=True)


def given(context: Context, arguments: Namespace, name: str, env: str) -> str | None:
    """Return an option, or the variable `env` + NAME that stands for it."""
    value = getattr(arguments, name)
    return value if value is not None else context.env.get(env + name.upper()) or None


def needed(context: Context, arguments: Namespace, name: str, env: str) -> str:
    """Return an option that cannot be left out.

    Raises:
        BadRequest: Neither the option nor its variable is given.
    """
    value = given(context, arguments, name, env)
    if value is None:
        raise BadRequest(f"--{name.replace('_', '-')} is missing (or set {env}{name.upper()})")
    return value


def agent_seat(context: Context, arguments: Namespace, env: str, default: str) -> dict[str, Any]:
    """Return how an Agent joins, as arguments of its client: the office that is named, or that of the running `a2c up`.

    Args:
        default: The Agent's name where none is given.

    Raises:
        BadRequest: No office is named, and no `a2c up` is running.
    """
    name, chosen = given(context, arguments, "name", env) or default, credentials(context, arguments, env)
    url = given(context, arguments, "url", env)
    if given(context, arguments, "office", env) is None and not chosen:
        try:
            found = find_running(context.env, url)
            return {"url": found.url, "office_id": found.of_agent(name), "name": name, "token": found.token}
        except NotFound:
            if url is None:
                raise BadRequest(
                    f"--url is missing (or set {env}URL), and no `a2c up` of yours is running on this machine"
                ) from None
    return {
        "url": needed(context, arguments, "url", env),
        "office_id": needed(context, arguments, "office", env),
        "name": name,
        **chosen,
    }


def credentials(context: Context, arguments: Namespace, env: str) -> dict[str, Any]:
    """Return `token`, `api_key`, `headers` and `ssl_context`, those that are given.

    A token from a file is a callable that reads it again.

    Raises:
        BadRequest: Two tokens are given, a header is malformed, or a file cannot be used.
    """
    found = {
        "token": _token(context, arguments, env),
        "api_key": given(context, arguments, "api_key", env),
        "headers": _headers(context, arguments, env) or None,
        "ssl_context": _trust(given(context, arguments, "ca", env)),
    }
    return {key: value for key, value in found.items() if value is not None}


def _headers(context: Context, arguments: Namespace, env: str) -> dict[str, str]:
    # A variable may hold several, one on each line.
    lines = arguments.header or context.env.get(f"{env}HEADER", "").splitlines()
    headers: dict[str, str] = {}
    for line in filter(None, lines):
        match = _HEADER.fullmatch(line)
        if match is None:  # the value may be a secret, and is not repeated
            name = line.partition("=")[0]
            raise BadRequest(f"--header: {name!r} is not followed by =VALUE, or is no name of a header (NAME=VALUE)")
        headers[match[1]] = match[2].strip()
    return headers


def _trust(path: str | None) -> "ssl.SSLContext | None":
    """Return what trusts the system's certificates and those of a file."""
    if path is None:
        return None
    import ssl  # noqa: PLC0415 - help and completion need not wait for it

    trust = ssl.create_default_context()
    try:
        trust.load_verify_locations(cafile=path)
    except ssl.SSLError:
        raise BadRequest(f"--ca: {path} holds no certificates in PEM form") from None
    except OSError as error:
        raise BadRequest(f"--ca: {path} cannot be read ({type(error).__name__})") from None
    return trust


@dataclass(frozen=True, slots=True)
class Access:
    """What HTTP clients of a command must send.

    Attributes:
        token: The bearer token; None lets every user of this machine in.
        generated: Whether nobody has chosen it, so that it has to be printed.
    """

    token: str | None
    generated: bool = False

    def client_config(self, name: str, url: str) -> dict[str, Any] | None:
        """Return what to put into the configuration of an MCP client; None for a token that the user has chosen."""
        if self.token is not None and not self.generated:
            return None
        headers = {"headers": {"Authorization": f"Bearer {self.token}"}} if self.token is not None else {}
        return {"mcpServers": {name: {"type": "http", "url": url, **headers}}}

    def facts(self, name: str, url: str) -> dict[str, Any]:
        """Return what an event says about it."""
        return {"token": self.token if self.generated else None, "mcp": self.client_config(name, url)}


def http_access(context: Context, arguments: Namespace, chosen: str | None, name: str) -> Access:
    """Return what HTTP clients must send: the token that was chosen, none with `--no-auth`, or a generated one.

    A generated token is kept in the user's own folder, so that clients stay configured.

    Args:
        name: What is served; each kind has a token of its own.

    Raises:
        BadRequest: A token is given, and none is wanted.
    """
    if arguments.no_auth and chosen is not None:
        raise BadRequest("--no-auth and a token are mutually exclusive: leave one of them out")
    if arguments.no_auth or chosen is not None:
        return Access(chosen)
    try:
        kept = token_file(state_folder(context.env), f"{name}-token").read_text(encoding="ascii")
        return Access(kept.strip(), generated=True)
    except (BadRequest, OSError, UnicodeError) as error:
        log.warning("the generated token is not kept, the next start has another: %s", error)
        return Access(secrets.token_urlsafe(32), generated=True)


def access_lines(value: Any, terminal: Terminal) -> Iterator[str]:
    """Say how clients get in, from the facts of an event."""
    if value["mcp"] is None:
        return
    if value["token"] is None:
        yield "no token is needed: every user of this machine can connect (--no-auth)"
    else:
        yield f"token      {terminal.cyan(value['token'])}"
    yield "for the configuration of an MCP client:"
    yield '  {"mcpServers": {'
    for name, server in value["mcp"]["mcpServers"].items():
        yield f"    {one_line(json.dumps(name, ensure_ascii=False))}: {{"
        fields = [f"      {json.dumps(key)}: {json.dumps(field)}" for key, field in server.items()]
        yield from (f"{line}," for line in fields[:-1])
        yield from (fields[-1], "    }")
    yield "  }}"


def http_token(context: Context, arguments: Namespace, env: str) -> str | None:
    """Return the bearer token that was chosen for HTTP clients of this command, None where none is given.

    Raises:
        BadRequest: Two tokens are given, or the file cannot be read.
    """
    path: Path | None = arguments.http_token_file
    if path is None:
        return given(context, arguments, "http_token", env)
    if arguments.http_token is not None:
        raise BadRequest("--http-token, --http-token-file: one of them")
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise BadRequest(f"--http-token-file: {path} cannot be read ({type(error).__name__})") from None
    if not token:
        raise BadRequest(f"--http-token-file: {path} is empty")
    return token


def _token(context: Context, arguments: Namespace, env: str) -> str | Callable[[], str] | None:
    if arguments.token_file is None:
        return given(context, arguments, "token", env)
    if arguments.token is not None:
        raise BadRequest("--token, --token-file: one of them")
    path = Path(arguments.token_file)
    _read(path)
    return lambda: _read(path)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise BadRequest(f"--token-file: {path} cannot be read ({type(error).__name__})") from None
