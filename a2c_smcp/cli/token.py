"""`a2c token`: signed tokens that bind a client to a role, a name and an office."""

from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, get_args

from a2c_smcp.cli.command import Argument, Command, Context
from a2c_smcp.cli.parsing import positive
from a2c_smcp.cli.terminal import Terminal, one_line
from a2c_smcp.types import Role

_TIMES: Final = {"iat": "signed", "nbf": "valid from", "exp": "expires"}


# What a command needs is imported when it runs: help and completion must not wait for it, nor miss it.
def create(_: Context, arguments: Namespace) -> Any:
    """Return a new token and what it says."""
    from a2c_smcp.server.jwt_tokens import load_keys, peek_token, sign_token  # noqa: PLC0415

    key = load_keys(arguments.key_file)[0]
    token = sign_token(key, role=arguments.role, name=arguments.name, office_id=arguments.office, ttl=arguments.ttl)
    return {"token": token, "kid": key.kid, "claims": peek_token(token)[1]}


def make_key(_: Context, arguments: Namespace) -> Any:
    """Write a key file, or put a new key before those of one; return its ids."""
    from a2c_smcp.server.jwt_tokens import TokenKey, load_keys, write_keys  # noqa: PLC0415

    kept = load_keys(arguments.out)[: arguments.keep - 1] if arguments.rotate else []
    keys = [TokenKey.new(), *kept]
    write_keys(arguments.out, keys, replace=arguments.rotate)
    return {"file": str(arguments.out), "signs": keys[0].kid, "verify": [key.kid for key in keys]}


def inspect(context: Context, arguments: Namespace) -> Any:
    """Return what a token says, and whether it is valid if there are keys to tell."""
    from a2c_smcp.errors import Unauthorized  # noqa: PLC0415
    from a2c_smcp.server.jwt_tokens import load_keys, peek_token, read_token  # noqa: PLC0415

    token = (context.stdin.read() if arguments.token == "-" else arguments.token).strip()  # noqa: S105
    header, claims = peek_token(token)
    found: dict[str, Any] = {"header": header, "claims": claims}
    if arguments.key_file is not None:
        try:
            read_token(token, load_keys(arguments.key_file), leeway=0)
            found |= {"valid": True}
        except Unauthorized as error:
            found |= {"valid": False, "reason": error.message}
    return found


def show_token(value: Any, _: Namespace, __: Terminal) -> Iterable[str]:
    """Only the token, so that a shell can take it."""
    return [value["token"]]


def show_key(value: Any, _: Namespace, terminal: Terminal) -> Iterable[str]:
    """What was written."""
    older = value["verify"][1:]
    more = f"; {', '.join(older)} still verif{'y' if len(older) > 1 else 'ies'}" if older else ""
    return [f"{value['file']}: {terminal.cyan(value['signs'])} signs{more}"]


def show_claims(value: Any, _: Namespace, terminal: Terminal) -> Iterable[str]:
    """A line for each thing that the token says."""
    rows = {"key": value["header"].get("kid")} | value["claims"]
    if "valid" in value:
        rows["valid"] = "yes" if value["valid"] else f"no: {value['reason']}"
    else:
        rows["valid"] = "not verified: no --key-file"
    for name, fact in rows.items():
        yield f"{terminal.dim(f'{_TIMES.get(name, name):<11}')} {one_line(_written(name, fact))}"


def _written(name: str, fact: Any) -> str:
    if name in _TIMES and isinstance(fact, int | float) and 0 <= fact < 1e11:
        return f"{datetime.fromtimestamp(fact, UTC):%Y-%m-%d %H:%M:%S} UTC"
    return str(fact)


def span(text: str) -> float:
    """Convert a time to live."""
    from a2c_smcp.common.durations import parse_seconds  # noqa: PLC0415

    try:
        return parse_seconds(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} {error}") from None


COMMAND: Final = Command(
    name="token",
    summary="Make and look into signed tokens, which bind a client to a role, a name and an office.",
    commands=(
        Command(
            name="create",
            summary="Sign a token.",
            arguments=(
                Argument("--role", "What its bearer is.", choices=get_args(Role), required=True),
                Argument("--name", "The name it joins with.", required=True),
                Argument("--office", "The office it joins.", metavar="OFFICE_ID", required=True),
                Argument("--ttl", "How long it is valid: 30m, 12h, 7d.", metavar="TIME", convert=span, default="12h"),
                Argument(
                    "--key-file",
                    "The keys; the first one signs.",
                    metavar="FILE",
                    convert=Path,
                    required=True,
                    completes="file",
                ),
            ),
            handler=create,
            show=show_token,
            extra="server",
            examples=(
                "a2c token create --role agent --name ada --office lab --key-file keys.json",
                "a2c token create --role computer --name desk --office lab --ttl 7d --key-file keys.json --json",
            ),
        ),
        Command(
            name="key",
            summary="Make a key that signs tokens.",
            help="The file can be read by its owner only. Give it to `a2c server --token-keys`.",
            arguments=(
                Argument("--out", "The file to write.", metavar="FILE", convert=Path, required=True, completes="file"),
                Argument("--rotate", "Put the new key before those that the file has.", flag=True),
                Argument("--keep", "The most keys to keep when rotating.", metavar="N", convert=positive, default=2),
            ),
            handler=make_key,
            show=show_key,
            extra="server",
            examples=("a2c token key --out keys.json", "a2c token key --out keys.json --rotate"),
        ),
        Command(
            name="inspect",
            summary="Show what a token says.",
            arguments=(
                Argument("token", "The token; - reads it from standard input."),
                Argument("--key-file", "Verify it with these keys.", metavar="FILE", convert=Path, completes="file"),
            ),
            handler=inspect,
            show=show_claims,
            extra="server",
            examples=("a2c token inspect - --key-file keys.json < token.txt",),
        ),
    ),
)
