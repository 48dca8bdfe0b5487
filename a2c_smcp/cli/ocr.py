"""`a2c ocr`: an OCR service for a team, behind the remote OCR protocol."""

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import Any, Final

from a2c_smcp.cli.command import Argument, Command, Context
from a2c_smcp.cli.connect_options import NO_AUTH, http_access
from a2c_smcp.cli.parsing import positive
from a2c_smcp.cli.terminal import Terminal
from a2c_smcp.common.addresses import is_loopback
from a2c_smcp.common.extras import install_hint
from a2c_smcp.errors import BadRequest

ENV: Final = "A2C_OCR_"


# What the command needs is imported when it runs: help and completion must not wait for it, nor miss it.
def run(context: Context, arguments: Namespace) -> Iterator[Any]:
    """Serve until a signal; yield where."""
    from a2c_smcp.digest.ocr_service import OcrServiceSettings, create_app  # noqa: PLC0415
    from a2c_smcp.documents.ocr.base import OcrPolicy, OcrSpec  # noqa: PLC0415
    from a2c_smcp.web.listening import bind, serve_until_told, url_of  # noqa: PLC0415

    if arguments.no_auth and not is_loopback(arguments.host):
        raise BadRequest(f"{arguments.host} can be reached by others: leave --no-auth or --host out")
    access = http_access(context, arguments, context.env.get(f"{ENV}TOKEN") or None, "ocr")
    settings: dict[str, Any] = {"at_once": arguments.at_once, "max_bytes": arguments.max_mb << 20}
    settings["token"] = access.token or ""
    if arguments.vision_url:
        spec = OcrSpec(
            "vision",
            url=arguments.vision_url,
            model=arguments.vision_model or "",
            key=context.env.get(f"{ENV}VISION_KEY", ""),
            allow_http="loopback",
        )
        settings["ocr"] = OcrPolicy((spec, OcrSpec("local")))
    service = OcrServiceSettings(**settings)
    sockets = bind(arguments.host, arguments.port)
    url = url_of(arguments.host, sockets)
    engines = [spec.kind for spec in service.ocr.engines] if service.ocr is not None else []
    token = access.token if access.generated else None
    yield {"event": "ready", "url": f"{url}/extract", "engines": engines, "pid": os.getpid(), "token": token}
    serve_until_told(create_app(service), sockets, lifespan="auto", timeout_graceful_shutdown=None)
    yield {"event": "stopped"}


def show(value: Any, _: Namespace, terminal: Terminal) -> Iterable[str]:
    """A line for each event."""
    if value["event"] == "ready":
        engines = ", ".join(value["engines"]) or f"none: {install_hint('ocr')} to read scans"
        yield f"OCR service at {terminal.cyan(value['url'])} (engines: {engines}); Ctrl-C ends"
        header = ""
        if value["token"] is not None:
            yield f"token      {terminal.cyan(value['token'])} (clients: A2C_DIGEST_OCR_KEY or A2C_DOCS_OCR_KEY)"
            header = f"-H 'Authorization: Bearer {value['token']}' "
        yield f"try: curl {header}-F pdf=@scan.pdf -F task=pdf_ocr {value['url']}"
    else:
        yield value["event"]


COMMAND: Final = Command(
    name="ocr",
    summary="Run an OCR service for `a2c digest` and `a2c docs`.",
    help=(
        "POST a file to /extract as multipart form: `pdf` or `image`, with task=pdf_ocr or image_ocr, dpi and "
        "image_extract. It answers JSON, or a ZIP archive or plain text with response=zip or text. "
        f"{ENV}TOKEN is the bearer token that clients need; without it one is generated and printed. --no-auth lets "
        "every user of this machine in."
    ),
    arguments=(
        Argument("--host", "The address to listen at.", default="127.0.0.1"),
        Argument("--port", "The port; 0 takes a free one.", metavar="N", convert=int, default=8008),
        NO_AUTH,
        Argument("--vision-url", "An OpenAI-compatible vision endpoint to ask first.", metavar="URL"),
        Argument("--vision-model", "Its model.", metavar="NAME"),
        Argument("--at-once", "Documents that are read at a time.", metavar="N", convert=positive, default=2),
        Argument("--max-mb", "The largest upload, in MiB.", metavar="N", convert=positive, default=200),
    ),
    handler=run,
    show=show,
    stream=True,
    extra="digest,ocr",
    examples=("a2c ocr", "A2C_OCR_TOKEN=secret a2c ocr --host 0.0.0.0 --port 8008"),
)
