"""Which engines read a picture, and in what order.

A policy is plain data, so that it can be sent to a worker process; engines are built there once, on first use. Workers
have neither network nor keys: they hand the picture to their service's process, which asks the OCR service for them.
"""

import hashlib
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final, Literal, Protocol, TypeAlias, cast

from a2c_smcp.documents.ocr.http import AllowHttp, Service, check_url
from a2c_smcp.documents.ocr.layout import elements_of
from a2c_smcp.documents.ocr.model import Box, OcrBlock, OcrLine, OcrPage, TransientOcrError
from a2c_smcp.documents.ocr.quality import fault_of
from a2c_smcp.errors import BadRequest, DocumentError

__all__ = [
    "LOCAL_MEMORY",
    "TURN_ON",
    "Box",
    "EngineKind",
    "OcrBlock",
    "OcrEngine",
    "OcrLine",
    "OcrPage",
    "OcrPolicy",
    "OcrSpec",
    "TransientOcrError",
    "ask_service",
    "ask_through",
    "elements_of",
    "engine_of",
    "read_with_fallback",
]

EngineKind: TypeAlias = Literal["remote", "vision", "local"]

LOCAL_MEMORY: Final = 1_400 << 20
"""What the local engine may add to the memory of a process that uses it, in bytes."""

TURN_ON: Final = "No text was read from this picture: OCR is off. Turn it on with an OCR policy (a2c docs --ocr local)."
"""What an image element says where no policy was given."""

_ENGINES: Final[Mapping[EngineKind, tuple[str, str]]] = {
    "remote": ("a2c_smcp.documents.ocr.remote", "RemoteEngine"),
    "vision": ("a2c_smcp.documents.ocr.vision", "VisionEngine"),
    "local": ("a2c_smcp.documents.ocr.local", "LocalEngine"),
}


class OcrEngine(Protocol):
    """Something that reads pictures of pages. It blocks, so it runs in a worker process."""

    name: str

    def read(self, png: bytes) -> OcrPage:
        """Return what stands on the picture; a picture without text gives a page without lines and blocks.

        Raises:
            DocumentError: It cannot be read; the message says why.
            ModuleNotFoundError: A library is missing; the message names the install command.
        """
        ...


class OcrService(OcrEngine, Protocol):
    """An engine that another machine runs."""

    def ask(self, png: bytes) -> str:
        """Send a picture and return the text of the answer, without the key that was sent along.

        Raises:
            DocumentError: The service could not be reached, refused, or answered nothing of use.
            ModuleNotFoundError: A library is missing; the message names the install command.
        """
        ...


@dataclass(frozen=True, slots=True)
class OcrSpec:
    """One engine and its settings.

    Attributes:
        url: Where a `remote` service takes requests, or the base URL of a `vision` endpoint (up to and with `/v1`).
        key: The credential that is sent along as a bearer token; never shown.
        model: The model of a `vision` endpoint.
        prompt: What a `vision` endpoint is asked, instead of a request for Markdown.
        timeout: Seconds that a page may take with a service, repetitions included; the next engine needs time, too.
        retries: How often a request that failed for a passing reason is sent again.
        backoff: Seconds before the first repetition; each further one waits twice as long.
        allow_http: Whether `http://` is good enough: "never", on "loopback" only, or "always".
        dpi: What a `remote` service is told of the picture's resolution.
        threads: How many threads the `local` engine uses.

    Raises:
        BadRequest: Something is missing or makes no sense.
    """

    kind: EngineKind
    url: str = ""
    key: str = field(default="", repr=False)
    model: str = ""
    prompt: str = ""
    timeout: float = 60.0
    retries: int = 2
    backoff: float = 0.5
    allow_http: AllowHttp = "never"
    dpi: int = 200
    threads: int = 2

    def __post_init__(self) -> None:
        if self.kind not in _ENGINES:
            raise BadRequest(f"There is no OCR engine {self.kind!r}; known are {', '.join(_ENGINES)}")
        if self.kind != "local" and not self.url:
            raise BadRequest(f"The OCR engine {self.kind!r} needs the URL of its service")
        if self.url:
            check_url(self.url, self.allow_http)
        if self.kind == "vision" and not self.model:
            raise BadRequest("The OCR engine 'vision' needs the name of a model")
        if self.timeout <= 0 or self.retries < 0 or self.backoff < 0 or self.threads < 1 or self.dpi < 1:
            raise BadRequest(
                "Time-out, threads and DPI of an OCR engine must be above 0, retries and back-off not below it"
            )

    def service(self, url: str = "") -> Service:
        """Return how the service is to be asked, at `url` where that is not its own."""
        return Service(
            url or self.url,
            self.key,
            timeout=self.timeout,
            retries=self.retries,
            backoff=self.backoff,
            allow_http=self.allow_http,
            patience=self.timeout,
        )


@dataclass(frozen=True, slots=True)
class OcrPolicy:
    """The engines to ask, in this order, until one has read the page.

    Raises:
        BadRequest: There is none.
    """

    engines: tuple[OcrSpec, ...]

    def __post_init__(self) -> None:
        if not self.engines:
            raise BadRequest("An OCR policy needs at least one engine; leave the policy out to read without OCR")

    @property
    def is_local(self) -> bool:
        """Whether a process with this policy may need `LOCAL_MEMORY`."""
        return any(spec.kind == "local" for spec in self.engines)

    @property
    def without_keys(self) -> "OcrPolicy":
        """The same for a process that must not know the keys."""
        if not any(spec.key for spec in self.engines):
            return self
        return OcrPolicy(tuple(replace(spec, key="") for spec in self.engines))

    @property
    def fingerprint(self) -> str:
        """A short name of what this policy reads, the same in every process; results may be cached under it."""
        told = repr([(spec.kind, spec.url, spec.model, spec.prompt, spec.dpi) for spec in self.engines])
        return hashlib.sha256(told.encode()).hexdigest()[:12]


def read_with_fallback(policy: OcrPolicy, png: bytes) -> OcrPage:
    """Return the page as the first engine that can has read it; `failures` says what the earlier ones met.

    Text that is empty or repeats itself without end counts as failure. Where every engine has answered and found
    nothing, the picture is taken to be without text.

    Raises:
        DocumentError: No engine could read it.
        TransientOcrError: Nor did one of them get to it, for a reason that may pass.
        ModuleNotFoundError: A library is missing, and no other engine could read it.
    """
    failures: list[str] = []
    empty: OcrPage | None = None
    missing: ModuleNotFoundError | None = None
    may_pass = False
    for spec in policy.engines:
        try:
            page = engine_of(spec).read(png)
        except ModuleNotFoundError as error:
            missing, may_pass = error, True
            failures.append(f"{spec.kind}: {error}")
            continue
        except DocumentError as error:
            may_pass = may_pass or isinstance(error, TransientOcrError)
            failures.append(f"{spec.kind}: {error}")
            continue
        fault = fault_of(page)
        if not fault:
            return replace(page, failures=tuple(failures))
        failures.append(f"{spec.kind}: {fault}")
        if not page.lines and not page.blocks:
            empty = empty or page
    if empty and not may_pass:
        return replace(empty, failures=tuple(failures))
    if missing and len(policy.engines) == 1:
        raise missing
    problem = TransientOcrError if may_pass else DocumentError
    raise problem(f"no OCR engine could read it ({'; '.join(failures)})")


_asks: list[Callable[[OcrSpec, bytes], str]] = []


def ask_through(function: Callable[[OcrSpec, bytes], str]) -> None:
    """Let this function ask services from now on, in a process without a network."""
    _asks[:] = [function]


def ask_service(spec: OcrSpec, png: bytes) -> str:
    """Return the text that a service reads from a picture, asked from here or through whoever has the network.

    Raises:
        DocumentError: The service could not be reached, refused, or answered nothing of use.
        ModuleNotFoundError: A library is missing; the message names the install command.
    """
    return _asks[0](spec, png) if _asks else cast("OcrService", engine_of(spec)).ask(png)


@cache
def engine_of(spec: OcrSpec) -> OcrEngine:
    """Return the engine of a spec, which this process builds once."""
    module, name = _ENGINES[spec.kind]
    return cast("OcrEngine", getattr(importlib.import_module(module), name)(spec))
