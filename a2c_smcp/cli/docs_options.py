"""What commands that read folders share: which files, who reads scans, and passwords."""

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from a2c_smcp.cli.command import Argument, Context
from a2c_smcp.errors import BadRequest

if TYPE_CHECKING:
    from a2c_smcp.documents.ocr.base import OcrPolicy

ENV: Final = "A2C_DOCS_"
LOCAL: Final = "local"


def ocr_policy(context: Context, arguments: Namespace) -> "OcrPolicy | None":
    """Return which engines read pictures, in the order given; None where none is named.

    Raises:
        BadRequest: A service is named that cannot be used.
    """
    if not arguments.ocr:
        return None
    from a2c_smcp.documents.ocr.base import OcrPolicy, OcrSpec  # noqa: PLC0415

    key, model = context.env.get(f"{ENV}OCR_KEY", ""), arguments.ocr_model or ""
    plain = next((name for name in arguments.ocr if _goes_out_in_the_open(name)), None)
    if plain is not None and not arguments.ocr_allow_http:
        raise BadRequest(f"--ocr: {plain} would send documents unencrypted; use https, or add --ocr-allow-http")
    kind: Any = "vision" if model else "remote"
    allowed: Any = "always" if arguments.ocr_allow_http else "loopback"
    specs = [
        OcrSpec("local") if name == LOCAL else OcrSpec(kind, url=name, key=key, model=model, allow_http=allowed)
        for name in arguments.ocr
    ]
    return OcrPolicy(tuple(specs))


def _goes_out_in_the_open(name: str) -> bool:
    parts = urlsplit(name)
    return parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1")


def passwords(context: Context, arguments: Namespace) -> Callable[[str], str | None] | None:
    """Return what gives the password of an encrypted document, by its `doc_ref`.

    Raises:
        BadRequest: A variable that is named is not set.
    """
    if not arguments.password_env:
        return None
    known: dict[str, str] = {}
    for words in arguments.password_env:
        ref, named, variable = words.rpartition("=")
        value = context.env.get(variable)
        if value is None:
            raise BadRequest(f"--password-env: the variable {variable} is not set")
        known[ref if named else ""] = value
    return lambda doc_ref: known.get(doc_ref, known.get(""))


def engine(text: str) -> str:
    """Convert the name of an OCR engine: `local`, or the URL of a service."""
    if text != LOCAL and not text.startswith(("http://", "https://")):
        raise ArgumentTypeError(f"{text!r} is no OCR engine: write local, or the URL of a service")
    return text


FOLDERS: Final = Argument("folder", "A folder to look in, or a single file.", many=True, completes="directory")
HOST: Final = Argument("--host", "The host of the URIs.", default="a2c.docs")
EXCLUDE: Final = Argument(
    "--exclude", "Leave out what this pattern of .gitignore matches.", metavar="PATTERN", many=True
)
DIGESTS: Final = Argument(
    "--digests",
    "Let clients have digests of PDFs made; they are put here, and offered too.",
    metavar="DIR",
    completes="directory",
)
OCR: Final = (
    Argument(
        "--ocr",
        "Who reads scans and pictures: local, or the URL of a service; several are tried in this order.",
        metavar="local|URL",
        many=True,
        convert=engine,
    ),
    Argument("--ocr-model", "The URLs are vision endpoints; ask this model.", metavar="MODEL"),
    Argument("--ocr-allow-http", "Let plain http:// be used to other machines.", flag=True),
)
PASSWORD: Final = Argument(
    "--password-env",
    "The variable with the password of encrypted files, or DOC_REF=VARIABLE for one of them.",
    metavar="VARIABLE",
    many=True,
)
