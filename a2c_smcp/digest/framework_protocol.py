"""The protocol of the pipeline: every call takes a request's parameters and gives the standard response.

    request   {"name", "version", "params", "meta": {"trace_id"}}
    response  {"ok", "error", "data", "meta": {"trace_id", "duration_ms"}}

Big things travel as file paths. One `trace_id` goes through a whole run: whoever calls an expert or a tool passes the
whole request, or the parameters alone and the trace id beside them.
"""

import errno
import logging
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias

from typing_extensions import TypedDict

from a2c_smcp.common.masking import SecretMask
from a2c_smcp.errors import BadRequest, SMCPError
from a2c_smcp.redaction import redact_text

VERSION: Final = "v1"
AGENT: Final = "mcp_generate_digest"
INTENT_EXPERT: Final = "intent_expert"
ORCHESTRATOR: Final = "orchestrator"
AUTOINSTALLER: Final = "autoinstaller"
OUTPUT_ASSEMBLER: Final = "output_assembler"
DOTSOCR_PDF: Final = "dotsocr_pdf"
LOCAL_PDF: Final = "local_pdf"
LLM_PROXY: Final = "llm_proxy"

Params: TypeAlias = Mapping[str, Any]
Work: TypeAlias = Callable[[dict[str, Any], str], dict[str, Any]]
"""What a call does: parameters and trace id in, `data` out; what it raises becomes `error`."""

Progress: TypeAlias = Callable[[str, int, int], None]
"""Told how far a step is: its name, how many are done, of how many."""

_log = logging.getLogger(__name__)


class RequestMeta(TypedDict):
    """What is known of a request beside its parameters."""

    trace_id: str


class ExpertRequest(TypedDict):
    """A call of an expert, a tool or the language model."""

    name: str
    version: str
    params: dict[str, Any]
    meta: RequestMeta


class ResponseMeta(TypedDict):
    """Which run the response belongs to, and how long the call took."""

    trace_id: str
    duration_ms: int


class Response(TypedDict):
    """The standard response: `data` where `ok`, else `error`."""

    ok: bool
    error: str | None
    data: dict[str, Any] | None
    meta: ResponseMeta


class IntentExpert(Protocol):
    """Says what a text asks for."""

    def identify(self, params: Params) -> Response:
        """Return `intents` and `confidence` for `params["text"]`."""
        ...


class OrchestratorExpert(Protocol):
    """Gets text and images out of a PDF, by whatever tool can."""

    def orchestrate(self, params: Params, tools: "Mapping[str, ExtractionTool]") -> Response:
        """Return `images` and `text_path`."""
        ...


class AutoInstallerExpert(Protocol):
    """Sees to the libraries that a run needs."""

    def ensure(self, params: Params) -> Response:
        """Return `installed`: each package with what became of it."""
        ...


class OutputAssemblerExpert(Protocol):
    """Makes the digest of text and images."""

    def compose(self, params: Params) -> Response:
        """Return `output_md` and `images`."""
        ...


class ExtractionTool(Protocol):
    """Gets text and images out of one file."""

    def __call__(self, params: Params, *, progress: Progress | None = None) -> Response:
        """Return `images` and `text_path`."""
        ...


def new_trace_id() -> str:
    """Return a name for a run."""
    return str(uuid.uuid4())


def make_request(
    name: str, version: str = VERSION, params: Params | None = None, trace_id: str | None = None
) -> ExpertRequest:
    """Return a request; without a trace id it begins a run of its own."""
    return {
        "name": name,
        "version": version,
        "params": dict(params or {}),
        "meta": {"trace_id": trace_id or new_trace_id()},
    }


def make_response(
    ok: bool,  # noqa: FBT001 - the first field of the message
    data: Mapping[str, Any] | None = None,
    error: str | None = None,
    *,
    duration_ms: float = 0,
    trace_id: str | None = None,
) -> Response:
    """Return a response; one that is not ok always says why."""
    return {
        "ok": ok,
        "error": None if ok else error or "failed, and said nothing",
        "data": None if data is None else dict(data),
        "meta": {"trace_id": trace_id or new_trace_id(), "duration_ms": max(round(duration_ms), 0)},
    }


def respond(params: Params, work: Work) -> Response:
    """Do the work for a request or its bare parameters, and return what became of it; nothing is raised.

    A `trace_id` among bare parameters counts as the run's.
    """
    started = time.perf_counter()
    inner, trace_id = unwrap(params)
    ok, data, error = False, None, None
    try:
        data, ok = work(inner, trace_id), True
    except SMCPError as problem:
        error, data = problem.message, dict(problem.details) if problem.details else None
    except (OSError, ModuleNotFoundError) as problem:
        error = _plain(problem)
    except Exception as problem:  # noqa: BLE001 - the wall between one step and the run
        _log.exception("A step of the digest failed in an unforeseen way", extra={"trace_id": trace_id})
        error = f"unexpected {type(problem).__name__}: {problem}"
    spent = (time.perf_counter() - started) * 1000
    hidden = None if error is None else redact_text(secrets_of(inner).hide(error))
    return make_response(ok, data, hidden, duration_ms=spent, trace_id=trace_id)


def secrets_of(params: Params) -> SecretMask:
    """Return what hides the credentials among the parameters; a service or a tool may repeat them in its errors."""
    return SecretMask(str(params[name]) for name in ("ocr_key", "api_key", "password") if params.get(name))


def unwrap(params: Params) -> tuple[dict[str, Any], str]:
    """Return the parameters of a request, or of bare ones, and the trace id.

    Raises nothing: a request without sense has no parameters, and what needs them says so.
    """
    if not hasattr(params, "keys"):
        return {}, new_trace_id()
    if {"name", "version", "params"} <= params.keys() and isinstance(params["params"], Mapping):
        meta = params.get("meta")
        trace_id = meta.get("trace_id") if isinstance(meta, Mapping) else None
        return dict(params["params"]), str(trace_id or new_trace_id())
    inner = dict(params)
    return inner, str(inner.pop("trace_id", None) or new_trace_id())


def result_of(response: Response) -> dict[str, Any]:
    """Return the data of a response.

    Raises:
        BadRequest: It is not ok; the message is its error.
    """
    if not response.get("ok"):
        raise BadRequest(response.get("error") or "failed, and said nothing")
    return response.get("data") or {}


def wanted(params: Params, name: str, kind: type = str) -> Any:
    """Return a parameter that cannot be left out.

    Raises:
        BadRequest: It is missing, or of another kind.
    """
    value = params.get(name)
    if value is None or (kind is str and not value):
        raise BadRequest(f"The parameter {name!r} is missing")
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadRequest(f"The parameter {name!r} must be of type {kind.__name__}; it is {type(value).__name__}")
    return value


_NO_SPACE: Final = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would be larger than allowed",
}


def _plain(problem: OSError | ModuleNotFoundError) -> str:
    if isinstance(problem, OSError) and (why := _NO_SPACE.get(problem.errno or 0)):
        what = str(problem.filename) if problem.filename else "A file"
        return f"{what} could not be written: {why}; free some space and run again"
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.filename}: {problem.strerror}" if problem.filename else problem.strerror
    return str(problem) or type(problem).__name__
