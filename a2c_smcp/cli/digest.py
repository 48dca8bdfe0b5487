"""`a2c digest`, also called `mcp_generate_digest`: a PDF becomes an illustrated digest in Markdown."""

import argparse
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.cli.command import Argument, Command, Context
from a2c_smcp.cli.parsing import UsageError, positive
from a2c_smcp.cli.terminal import Terminal, one_line
from a2c_smcp.errors import BadRequest

if TYPE_CHECKING:
    from a2c_smcp.digest.pipeline import Pipeline

ENV: Final = "A2C_DIGEST_"
MAX_TEMPERATURE: Final = 2
"""What the protocol of chat completions takes."""


# What a command needs is imported when it runs: help and completion must not wait for it, nor miss it.
def run(context: Context, arguments: Namespace) -> Any:
    """Make the digest, and return the standard response."""
    from a2c_smcp.cli.progress_bars import Bars  # noqa: PLC0415

    with Bars(context, quiet=arguments.quiet) as bars:
        return _pipeline(context, arguments).run(_params(context, arguments), progress=bars.tell)


def _ranges(text: str | None) -> Any:
    from a2c_smcp.digest.output_assembler import parse_ranges  # noqa: PLC0415

    try:
        return parse_ranges(text) if text else None
    except BadRequest as error:
        raise UsageError(f"argument --section_ranges: {error.message}", (COMMAND,)) from None


def _params(context: Context, arguments: Namespace) -> dict[str, Any]:
    allowed = True if arguments.install else None if _attended(context, arguments) else False
    params: dict[str, Any] = {
        "pdf_path": arguments.pdf,
        "out_dir": arguments.out_dir,
        "folder": arguments.folder,
        "output_md": arguments.output_md,
        "task": arguments.task,
        "dpi": arguments.dpi,
        "section_ranges": _ranges(arguments.section_ranges),
        "no_fallback": arguments.no_fallback or None,
        "use_existing_images": arguments.use_existing_images or None,
        "ocr_url": arguments.ocr_url or context.env.get(f"{ENV}OCR_URL") or None,
        "ocr_key": context.env.get(f"{ENV}OCR_KEY") or None,
        "allow_http": arguments.allow_http or None,
        "ocr": False if arguments.no_ocr else None,
        "password": context.env.get(f"{ENV}PASSWORD") or None,
        "model": arguments.model,
        "system": arguments.system,
        "temperature": arguments.temperature,
        "max_tokens": arguments.max_tokens,
        "instructions": arguments.instructions,
        "allow_install": allowed,
    }
    return {name: value for name, value in params.items() if value is not None}


def _pipeline(context: Context, arguments: Namespace) -> "Pipeline":
    from a2c_smcp.digest.installer import AutoInstallerExpert  # noqa: PLC0415
    from a2c_smcp.digest.llm_proxy import LlmProxy, LlmSettings  # noqa: PLC0415
    from a2c_smcp.digest.pipeline import Pipeline  # noqa: PLC0415

    settings = LlmSettings.from_environment(
        context.env, base_url=arguments.llm_url, model=arguments.model, allow_http=arguments.allow_http
    )
    if arguments.no_model:
        settings = LlmSettings()

    def confirm(names: Sequence[str]) -> bool:
        context.stderr.write(f"Install {', '.join(names)} into this environment? [y/N] ")
        context.stderr.flush()
        return context.stdin.readline().strip().lower() in ("y", "yes", "j", "是")

    attended = _attended(context, arguments)
    return Pipeline(installer=AutoInstallerExpert(confirm if attended else None), llm=LlmProxy(settings))


def _attended(context: Context, arguments: Namespace) -> bool:
    return bool(not arguments.json and context.stdin.isatty() and context.stderr.isatty())


def show(value: Any, _: Namespace, terminal: Terminal) -> Iterable[str]:
    """Say where the digest is and how it came about, or why there is none."""
    if not value["ok"]:
        yield f"failed: {one_line(str(value['error']))}"
        return
    data = value["data"]
    if "pages" not in data:
        yield "installed: " + ", ".join(f"{name} {state}" for name, state in data["installed"])
        return
    yield f"{terminal.bold(one_line(data.get('output_md') or data.get('text_path') or data['folder']))}"
    ways = {str(page["path"]) for page in data["pages"]}
    told = f"{len(data['pages'])} pages, read: {', '.join(sorted(ways))}"
    if "sections" in data:
        told += f"; {len(data['sections'])} sections, by: {data['by']}"
    yield told
    yield from _notes(data)
    if usage := data.get("usage"):
        yield "tokens: " + ", ".join(f"{name} {count}" for name, count in usage.items())


def _notes(data: dict[str, Any]) -> Iterable[str]:
    if data["status"] == "partial":
        unread = data.get("unread") or [page for page in data["pages"] if page.get("unread")]
        yield f"partial: {len(unread)} of {data['page_count'] or len(data['pages'])} pages could not be read"
    if data["path"] == "local" and (why := str(data.get("why") or "")).startswith("the remote"):
        yield f"note: {one_line(why)}"
    for section in data.get("sections", ()):
        if section.get("error"):
            first, last = section["pages"]
            yield f"note: the model failed for pages {first}-{last}: {one_line(section['error'])}"
    for page in data["pages"]:
        if page.get("why") and page["why"] != data.get("why"):
            yield f"note: page {page['page']} ({page['path']}): {one_line(str(page['why']))}"


def _temperature(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= MAX_TEMPERATURE:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to {MAX_TEMPERATURE}")
    return value


def main() -> None:
    """Run `mcp_generate_digest`, which is `a2c digest`."""
    from a2c_smcp.cli.main import main as a2c  # noqa: PLC0415

    sys.exit(a2c(["digest", *sys.argv[1:]]))


COMMAND: Final = Command(
    name="digest",
    summary="Make an illustrated Markdown digest of a PDF.",
    help=(
        "Text and page images come from the OCR service that --ocr_url names, page by page from this machine where "
        "that fails, and from this machine alone without one. Each section is written by the model that --llm_url, or "
        "A2C_LLM_BASE_URL, A2C_LLM_API_KEY and A2C_LLM_MODEL, name; without one it holds headings, key sentences, "
        "tables and images. Nothing leaves the machine unless you name a service. A run that was stopped goes on where "
        "it was. Pages that could not be read are named, and the exit code is 3 then. "
        f"{ENV}OCR_URL, {ENV}OCR_KEY and {ENV}PASSWORD stand for the service, its key, and the password of the PDF."
    ),
    arguments=(
        Argument("--pdf", "The PDF.", metavar="FILE", required=True, completes="file"),
        Argument(
            "--task", "What to do, in your words; it decides which steps run (default: a digest).", metavar="TEXT"
        ),
        Argument(
            "--out_dir",
            "Where images and texts go, each digest in a folder of its own (default: NAME_digest).",
            metavar="DIR",
            completes="directory",
        ),
        Argument("--folder", "The digest's own folder inside --out_dir; . is --out_dir itself.", metavar="NAME"),
        Argument(
            "--output_md", "Where the digest goes (default: in its own folder).", metavar="FILE", completes="file"
        ),
        Argument("--dpi", "The resolution of page images.", metavar="N", convert=positive, default=180),
        Argument("--section_ranges", "The pages of each section: [[1,5],[6,10]] or 1-5,6-10.", metavar="RANGES"),
        Argument("--ocr_url", "An OCR service, such as `a2c ocr` on another machine.", metavar="URL"),
        Argument("--no_fallback", "Fail where the service does, instead of reading here.", flag=True),
        Argument("--use_existing_images", "Take the images of --out_dir, and extract none.", flag=True),
        Argument("--no_ocr", "Do not read scans on this machine.", flag=True),
        Argument("--llm_url", "An OpenAI-compatible endpoint, up to /v1.", metavar="URL"),
        Argument("--model", "The model to write with."),
        Argument("--system", "What the model is told that it is.", metavar="TEXT"),
        Argument("--temperature", "How freely the model writes, 0 to 2.", metavar="N", convert=_temperature),
        Argument("--max_tokens", "The longest answer of the model.", metavar="N", convert=positive),
        Argument("--no_model", "Write without a model, even if one is configured.", flag=True),
        Argument("--instructions", "What the model should heed.", metavar="TEXT"),
        Argument("--allow_http", "Let plain http:// be used to other machines.", flag=True),
        Argument("--install", "Install libraries that are missing, without asking.", flag=True),
        Argument("--quiet", "No progress.", flag=True),
    ),
    handler=run,
    show=show,
    failed=lambda value: not value["ok"],
    partial=lambda value: (value["data"] or {}).get("status") == "partial",
    extra="digest",
    examples=(
        "a2c digest --pdf guide.pdf",
        "a2c digest --pdf guide.pdf --out_dir digest_images --output_md guide.md --dpi 180 --section_ranges 1-5,6-10",
        "a2c digest --pdf scan.pdf --ocr_url https://ocr.example.com/extract --json",
    ),
)
