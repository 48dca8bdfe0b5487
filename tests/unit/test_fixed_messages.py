"""Redaction leaves our own words alone: what every error of this package says passes it unchanged, values aside."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2c_smcp import errors
from a2c_smcp.redaction import redact_text

PACKAGE = Path(errors.__file__).parent
ERRORS = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
MAKERS = ERRORS | {
    "ArgumentTypeError",
    "HTTPException",
    "NotSaved",
    "PlainTextResponse",
    "Problem",
    "Unresolved",
    "UsageError",
    "ValueError",
    "wrong",
}
VALUE = "7"
"""Stands for whatever a message is about."""


def messages() -> Iterator[tuple[str, str]]:
    """Yield the fixed text of every error that is made anywhere, with where."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and name_of(node.func) in MAKERS):
                continue
            for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
                for text in texts(argument):
                    yield f"{path.relative_to(PACKAGE)}:{node.lineno}", text


def name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def texts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else VALUE for part in values)
        case ast.IfExp(body=body, orelse=other):
            yield from (*texts(body), *texts(other))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from (*texts(left), *texts(right))


def test_there_are_messages_to_look_at() -> None:
    assert len(list(messages())) > 500


def test_no_error_of_ours_is_mangled_by_redaction() -> None:
    mangled = {where: redact_text(text) for where, text in messages() if redact_text(text) != text}
    assert mangled == {}


@pytest.mark.parametrize(
    "text",
    [
        "Send the metrics token as `Authorization: Bearer TOKEN`",
        "authorization: TOKEN",
        "Send the token of this service as `Authorization: Bearer …`",
        "Bearer token missing or wrong",
        "set A2C_AGENT_TOKEN=… or pass --token-file FILE",
        "pass --api-key KEY",
    ],
)
def test_a_placeholder_is_no_secret(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Authorization: Bearer abcTOKEN", "Authorization: <redacted>"),
        ("Authorization: Bearer TOKEN-17", "Authorization: <redacted>"),
        ("bearer tokens4me", "bearer <redacted>"),
        ("password: KEYstone", "password: <redacted>"),
    ],
)
def test_what_only_begins_or_ends_like_a_placeholder_is_a_secret(text: str, left: str) -> None:
    assert redact_text(text) == left
