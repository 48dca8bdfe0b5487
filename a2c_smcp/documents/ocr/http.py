"""Talking to an OCR service over HTTP: safely, patiently, and with the answer on disk.

Nothing is preset: without a URL nobody is asked. The URL has to be `https://`; plain HTTP is taken only where the
caller says so. Redirects are not followed, since they could lead a credential elsewhere.
"""

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from a2c_smcp.common.addresses import is_loopback
from a2c_smcp.common.backoff import backoff_delay
from a2c_smcp.common.masking import SecretMask
from a2c_smcp.documents.formats.base import require
from a2c_smcp.documents.ocr.model import TransientOcrError
from a2c_smcp.errors import BadRequest, DocumentError
from a2c_smcp.web.http_exchange import AnswerTooLarge, DeadlineExceeded, ExchangeError, Reply, Unreachable, post

AllowHttp: TypeAlias = Literal["never", "loopback", "always"]

MAX_ANSWER: Final = 64 << 20
"""Of one page; whoever sends whole documents asks for more."""

MAX_WAIT: Final = 30.0
PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers that may be another the next time."""

_ABOUT_THE_PICTURE: Final = frozenset({400, 413, 415, 422})
"""Refusals that the same picture gets again. All others are about the service, its address or its key."""


@dataclass(frozen=True, slots=True)
class Service:
    """Where a service is and how patient its caller.

    Attributes:
        timeout: Seconds for one attempt, from the name lookup to the last byte.
        patience: Seconds for all attempts together, for callers who have another service to ask; 0 is no limit.
        retries: How often an attempt that failed for a passing reason is repeated.
        backoff: Seconds before the first repetition; each further one waits twice as long.
        max_answer: How many bytes an answer may have.

    Raises:
        BadRequest: The URL cannot be used.
    """

    url: str
    key: str = field(default="", repr=False)
    timeout: float = 120.0
    retries: int = 2
    backoff: float = 0.5
    allow_http: AllowHttp = "never"
    max_answer: int = MAX_ANSWER
    patience: float = 0.0

    def __post_init__(self) -> None:
        check_url(self.url, self.allow_http)


@dataclass(frozen=True, slots=True)
class ServiceReply:
    """What a service answered, in a file.

    Attributes:
        mask: Hides the key that the service was sent, which it may send back in its text or its errors.
    """

    path: Path
    content_type: str
    mask: SecretMask = field(default_factory=SecretMask, compare=False)


def check_url(url: str, allow_http: AllowHttp = "never") -> None:
    """Refuse addresses that are no good for documents to be sent to.

    Raises:
        BadRequest: The address is none, is not encrypted, or carries a password.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        raise BadRequest("The URL of the OCR service cannot be read") from error
    if parts.scheme not in ("http", "https") or not host:
        raise BadRequest("The URL of the OCR service has to begin with https://")
    if parts.username or parts.password:
        raise BadRequest("Give the credential of the OCR service as its key, not in its URL")
    if parts.scheme == "http" and not (allow_http == "always" or (allow_http == "loopback" and is_loopback(host))):
        raise BadRequest(
            "The URL of the OCR service is not encrypted (http://): use https://, or allow plain HTTP in so many words"
        )


def send_file(
    service: Service,
    kind: Literal["image", "pdf"],
    file: Path | bytes,
    into: Path,
    fields: Mapping[str, str] | None = None,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> ServiceReply:
    """Upload a picture or a PDF as the service expects it, and keep its answer in the file `into`.

    `fields` come along as form fields, such as `dpi` and `image_extract`; `task` is set by `kind`.

    Raises:
        DocumentError: The service could not be reached, refused, or answered too much.
    """
    name, mime = ("page.png", "image/png") if kind == "image" else ("document.pdf", "application/pdf")
    form = {"task": f"{kind}_ocr", **(fields or {})}

    def attempt(seconds: float) -> ServiceReply:
        with _readable(file) as body:
            return _exchange(service, into, seconds, files={kind: (name, body, mime)}, data=form)

    return _patiently(service, attempt, sleep)


def send_json(
    service: Service, body: Mapping[str, Any], into: Path, *, sleep: Callable[[float], None] = time.sleep
) -> ServiceReply:
    """Post JSON and keep the answer in the file `into`.

    Raises:
        DocumentError: The service could not be reached, refused, or answered too much.
    """
    return _patiently(service, lambda seconds: _exchange(service, into, seconds, json=body), sleep)


class _Passing(Exception):
    """An attempt failed for a reason that may pass."""

    def __init__(self, why: str, wait: float = 0.0) -> None:
        super().__init__(why)
        self.wait = wait


def _patiently(
    service: Service, attempt: Callable[[float], ServiceReply], sleep: Callable[[float], None]
) -> ServiceReply:
    require("httpx", "ocr")
    end = time.monotonic() + (service.patience or math.inf)
    for repetition in range(service.retries + 1):
        try:
            return attempt(min(service.timeout, end - time.monotonic()))
        except _Passing as error:
            # Not all callers that failed together come back together.
            pause = backoff_delay(repetition, base=service.backoff, longest=MAX_WAIT)
            pause *= random.uniform(1.0, 1.5)  # noqa: S311
            pause = min(max(pause, error.wait), MAX_WAIT)
            if repetition == service.retries or time.monotonic() + pause >= end:
                raise TransientOcrError(str(error)) from error
            sleep(pause)
    raise TransientOcrError("the service was not asked")


def _exchange(service: Service, into: Path, seconds: float, **request: Any) -> ServiceReply:
    headers = {"Authorization": f"Bearer {service.key}"} if service.key else {}
    headers["Accept"] = "application/json, application/zip, text/markdown, text/plain;q=0.9, */*;q=0.1"
    try:
        with into.open("wb") as file:
            reply = post(service.url, file, seconds=seconds, limit=service.max_answer, headers=headers, **request)
    except DeadlineExceeded as error:
        raise _Passing(f"the service did not answer within {seconds:.3g} seconds") from error
    except Unreachable as error:
        raise _Passing(f"the service cannot be reached ({error})") from error
    except AnswerTooLarge as error:
        raise DocumentError(f"the service answered more than {service.max_answer >> 20} MiB") from error
    except ExchangeError as error:
        raise TransientOcrError(f"the service cannot be used ({error})") from error
    _check_status(reply)
    content_type = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    return ServiceReply(into, content_type, SecretMask([service.key]))


def _check_status(reply: Reply) -> None:
    status = reply.status
    if status in PASSING:
        raise _Passing(f"the service answered {status}", _retry_after(reply.headers.get("retry-after", "")))
    if status in (401, 403):
        raise TransientOcrError(f"the service answered {status}: it wants another key")
    if 300 <= status < 400:
        raise TransientOcrError(f"the service answered {status}: give the URL that it redirects to")
    if status in _ABOUT_THE_PICTURE:
        raise DocumentError(f"the service answered {status}")
    if not 200 <= status < 300:
        raise TransientOcrError(f"the service answered {status}")


def _retry_after(written: str) -> float:
    return float(written) if written.isdecimal() and len(written) < 6 else 0.0


@contextmanager
def _readable(file: Path | bytes) -> Iterator[IO[bytes] | bytes]:
    if isinstance(file, bytes):
        yield file
    else:
        with file.open("rb") as stream:
            yield stream
