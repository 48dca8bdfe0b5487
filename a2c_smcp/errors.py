"""Every error of the protocol, and its form on the wire.

    SMCPError                       500  and any code a newer peer may send
    ├── BadRequest (ValueError)     400
    │   ├── InvalidConfig           400  a configuration somebody can mend
    │   └── InvalidWindowUri        400  a `window://` URI broke one of its five rules
    ├── Unauthorized                401
    ├── Forbidden                   403
    ├── NotFound                    404
    │   └── ComputerLost            404  the Server has no such Computer in the sender's office, or lost it under a call
    ├── RequestTimeout              408  (TimeoutError)
    ├── RateLimited                 429
    ├── InternalError               500
    ├── ToolError
    │   ├── ToolNotFound            4001
    │   ├── ToolDisabled            4002
    │   ├── ToolFailed              4003
    │   ├── ToolTimeout             4004 (TimeoutError)
    │   ├── ConfirmationRequired    4005
    │   └── ToolStarting            4006 its MCP server is still starting
    ├── OfficeError
    │   ├── OfficeFull              4101
    │   ├── OfficeNotFound          4102
    │   ├── NotInOffice             4103
    │   └── CrossOffice             4104
    └── DocumentError
        ├── DocumentNotFound        4201
        ├── PageOutOfRange          4202
        ├── ElementNotFound         4203
        └── InvalidDPEUri           4204 (ValueError)

`to_wire` and `from_wire` are inverses, so that an Agent catches what a Computer raised. What must not leave
the process (secrets, host paths, internal addresses, stack traces) is taken out by `to_wire`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias

from a2c_smcp.redaction import redact, redact_text

WireForm: TypeAlias = Literal["plain", "flat", "tool"]
"""How an error ack looks. `flat` and `tool` are `plain` plus what released clients read: see `to_wire`."""


class SMCPError(Exception):
    """Something the protocol has a code for.

    `SMCPError(4201, "No such document")` makes the error of a code: here a `DocumentNotFound`.

    Attributes:
        message: What went wrong, in words a person can act on.
        details: Facts that help to fix the call; never secrets.
        req_id: The request that failed, where known.
    """

    code: int = 500
    kind: ClassVar[str | None] = None
    """Tells a class from others of its code on the wire."""
    title: ClassVar[str] = "Error"

    def __new__(cls, message: str | int | None = None, *_: Any, **__: Any) -> Self:  # noqa: D102
        chosen: Any = BY_CODE.get(message, cls) if cls is SMCPError and isinstance(message, int) else cls
        made: Self = super(SMCPError, chosen).__new__(chosen)
        return made

    def __init__(
        self,
        message: str | int | None = None,
        text: str | None = None,
        *,
        details: Mapping[str, Any] | None = None,
        req_id: str | None = None,
        code: int | None = None,
    ) -> None:
        if isinstance(message, int):
            code = message
            message = text
        self.message = message if message is not None else self.title
        self.details: dict[str, Any] | None = dict(details) if details else None
        self.req_id = req_id
        if code is not None:
            self.code = code
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        return f"{type(self).__name__}(code={self.code}, message={self.message!r}, details={self.details!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors cross process borders, and are copied for each who waits, with whatever else a subclass knows.
        return type(self), (self.message,), vars(self)


class BadRequest(SMCPError, ValueError):
    """A message or an argument that breaks the contract."""

    code = 400
    title = "Bad request"


class InvalidConfig(BadRequest):
    """A configuration that cannot be used; the message names every place to mend."""

    title = "Invalid configuration"


class InvalidWindowUri(BadRequest):
    """A `window://` URI broke one of the five rules."""

    title = "Invalid window URI"


class Unauthorized(SMCPError):
    """No credentials, or wrong ones."""

    code = 401
    title = "Unauthorized"


class Forbidden(SMCPError):
    """The sender may not do this, whoever it claims to be."""

    code = 403
    title = "Forbidden"


class NotFound(SMCPError):
    """What was asked for does not exist."""

    code = 404
    title = "Not found"


class ComputerLost(NotFound):
    """The sender's office has no Computer of that name, or it left before it answered. Only the Server says so."""

    kind = "computer_lost"
    title = "Computer not found"


class RequestTimeout(SMCPError, TimeoutError):
    """No answer within the request's time."""

    code = 408
    title = "Request timed out"


class RateLimited(SMCPError):
    """A limit was exceeded; the message says which."""

    code = 429
    title = "Rate limited"


class InternalError(SMCPError):
    """Something failed that the caller cannot mend."""

    code = 500
    title = "Internal error"


class ToolError(SMCPError):
    """A tool call that did not give a result."""


class ToolNotFound(ToolError):
    """No enabled MCP server has a tool of that name."""

    code = 4001
    title = "Tool not found"


class ToolDisabled(ToolError):
    """The tool is in its server's `forbidden_tools`."""

    code = 4002
    title = "Tool disabled"


class ToolFailed(ToolError):
    """The tool ran and failed, or its MCP server died."""

    code = 4003
    title = "Tool failed"


class ToolTimeout(ToolError, TimeoutError):
    """The tool did not finish in its time and was cancelled."""

    code = 4004
    title = "Tool timed out"


class ConfirmationRequired(ToolError):
    """The owner of the Computer refused, or nobody was there to ask."""

    code = 4005
    title = "Confirmation required"


class ToolStarting(ToolError):
    """The MCP server that may have the tool is still starting; `details["retry_after"]` says when to try again."""

    code = 4006
    title = "Tool starting"


class OfficeError(SMCPError):
    """A rule about offices was broken."""


class OfficeFull(OfficeError):
    """The office has an Agent already."""

    code = 4101
    title = "Office full"


class OfficeNotFound(OfficeError):
    """No such office."""

    code = 4102
    title = "Office not found"


class NotInOffice(OfficeError):
    """The sender has joined no office."""

    code = 4103
    title = "Not in an office"


class CrossOffice(OfficeError):
    """A payload names an office other than the sender's."""

    code = 4104
    title = "Cross-office access"


class DocumentError(SMCPError):
    """A `dpe://` resource could not be read."""


class DocumentNotFound(DocumentError):
    """No document has that reference."""

    code = 4201
    title = "Document not found"


class PageOutOfRange(DocumentError):
    """The document has fewer pages."""

    code = 4202
    title = "Page out of range"


class ElementNotFound(DocumentError):
    """The document has no element of that id."""

    code = 4203
    title = "Element not found"


class InvalidDPEUri(DocumentError, ValueError):
    """A `dpe://` URI broke one of the eight rules."""

    code = 4204
    title = "Invalid DPE URI"


def _tree(root: type[SMCPError]) -> Iterator[type[SMCPError]]:
    yield root
    for child in root.__subclasses__():
        yield from _tree(child)


# A code belongs to the class that declares it; of the three that share 400, the general one speaks on the wire.
BY_CODE: Final[Mapping[int, type[SMCPError]]] = {
    kind.code: kind for kind in reversed([k for k in _tree(SMCPError) if "code" in vars(k) and k is not SMCPError])
}


BY_KIND: Final[Mapping[str, type[SMCPError]]] = {kind.kind: kind for kind in _tree(SMCPError) if kind.kind is not None}


def to_wire(error: SMCPError, req_id: str | None = None, *, form: WireForm = "plain") -> dict[str, Any]:
    """Return the error ack: `{"error": {"code", "message", "details"?}, "req_id"?}`.

    Args:
        req_id: The request answered; by default the one the error carries.
        form: `flat` repeats code and message at the top and has no `req_id`, `tool` adds the fields of a
            `CallToolResult`: the forms that released clients read on `client:*` and on `client:tool_call`. They take
            any other ack with their `req_id` for a result, and read an empty list.
    """
    message = redact_text(error.message)
    body: dict[str, Any] = {"code": error.code, "message": message}
    if error.kind is not None:
        body["kind"] = error.kind
    if error.details:
        body["details"] = redact(error.details)
    ack: dict[str, Any] = {"error": body}
    if form == "flat":
        return ack | {"code": error.code, "message": message}
    if form == "tool":
        ack |= {"content": [{"type": "text", "text": message}], "isError": True}
    req_id = req_id if req_id is not None else error.req_id
    if req_id is not None:
        ack["req_id"] = req_id
    return ack


def make_finder_error(code: int, message: str, details: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the error ack of a code: `{"error": {"code", "message", "details"?}}`."""
    return to_wire(SMCPError(code, message, details=details))


SmcpError = SMCPError
"""The name that the Finder guide uses."""


def is_error(ack: object) -> bool:
    """Whether an ack is an error in any form that a released peer sends."""
    return isinstance(ack, Mapping) and _body_of(ack) is not None


def from_wire(ack: Mapping[str, Any]) -> SMCPError:
    """Return the error that `to_wire` told, as the class that owns its code.

    An unknown code gives a plain `SMCPError` that carries it; an ack that is no error an `InternalError`.
    """
    body = _body_of(ack)
    if body is None:
        return InternalError("The peer answered with something that is neither a result nor an error")
    code, message, details = body["code"], body.get("message"), body.get("details")
    req_id = ack.get("req_id")
    kind = BY_KIND.get(str(body.get("kind")))
    return (kind if kind is not None and kind.code == code else BY_CODE.get(code, SMCPError))(
        message if isinstance(message, str) else None,
        details=details if isinstance(details, Mapping) else None,
        req_id=req_id if isinstance(req_id, str) else None,
        code=code,
    )


def _body_of(ack: Mapping[str, Any]) -> Mapping[str, Any] | None:
    inner = ack.get("error")
    if isinstance(inner, Mapping):
        return inner if _is_code(inner.get("code")) else None
    if _is_code(ack.get("code")) and isinstance(ack.get("message"), str):
        return ack
    return None


def _is_code(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
