"""Where to connect and as whom: the options that commands with a seat in an office share, and their variables."""

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from a2c_smcp.cli.command import Argument, Context
from a2c_smcp.errors import BadRequest

URL: Final = Argument("--url", "The server to connect to.")
OFFICE: Final = Argument("--office", "The office to join.")
CREDENTIALS: Final = (
    Argument("--token", "The token to connect with; other users of the machine can see it here."),
    Argument("--token-file", "A file with the token, read again at every attempt.", metavar="FILE", completes="file"),
    Argument("--api-key", "The API key to connect with.", metavar="KEY"),
)


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


def credentials(context: Context, arguments: Namespace, env: str) -> dict[str, Any]:
    """Return `token` and `api_key`, those that are given; a token from a file is a callable that reads it again.

    Raises:
        BadRequest: Two tokens are given, or the file cannot be read.
    """
    found = {"token": _token(context, arguments, env), "api_key": given(context, arguments, "api_key", env)}
    return {key: value for key, value in found.items() if value is not None}


def http_token(context: Context, arguments: Namespace, env: str) -> str | None:
    """Return the bearer token that HTTP clients of this command need, None where none is given.

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
