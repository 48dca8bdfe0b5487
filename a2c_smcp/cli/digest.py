"""`a2c digest`, also called `mcp_generate_digest`: a PDF becomes an illustrated digest in Markdown."""

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


# What a command needs is imported when it runs: help and completion must not wait for it, nor miss it.
def run(context: Context, arguments: Namespace) -> Any:
    """Make the digest, and return the standard response."""
    from a2c_smcp.cli.bars import Bars  # noqa: PLC0415

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
        "output_md": arguments.output_md,
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
    yield f"{terminal.bold(one_line(data['output_md']))}"
    ways = {str(page["path"]) for page in data["pages"]}
    pages, sections = len(data["pages"]), len(data["sections"])
    yield f"{pages} pages, read: {', '.join(sorted(ways))}; {sections} sections, by: {data['by']}"
    if data["path"] == "local" and (why := str(data.get("why") or "")).startswith("the remote"):
        yield f"note: {one_line(why)}"
    for section in data["sections"]:
        if section.get("error"):
            first, last = section["pages"]
            yield f"note: the model failed for pages {first}-{last}: {one_line(section['error'])}"
    for page in data["pages"]:
        if page.get("why") and page["why"] != data.get("why"):
            yield f"note: page {page['page']} ({page['path']}): {one_line(str(page['why']))}"
    if usage := data.get("usage"):
        yield "tokens: " + ", ".join(f"{name} {count}" for name, count in usage.items())


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
        "it was. "
        f"{ENV}OCR_URL, {ENV}OCR_KEY and {ENV}PASSWORD stand for the service, its key, and the password of the PDF."
    ),
    arguments=(
        Argument("--pdf", "The PDF.", metavar="FILE", required=True, completes="file"),
        Argument(
            "--out_dir", "Where images and texts go (default: NAME_digest).", metavar="DIR", completes="directory"
        ),
        Argument("--output_md", "Where the digest goes (default: in --out_dir).", metavar="FILE", completes="file"),
        Argument("--dpi", "The resolution of page images.", metavar="N", convert=positive, default=180),
        Argument("--section_ranges", "The pages of each section: [[1,5],[6,10]] or 1-5,6-10.", metavar="RANGES"),
        Argument("--ocr_url", "An OCR service, such as `a2c ocr` on another machine.", metavar="URL"),
        Argument("--no_fallback", "Fail where the service does, instead of reading here.", flag=True),
        Argument("--use_existing_images", "Take the images of --out_dir, and extract none.", flag=True),
        Argument("--no_ocr", "Do not read scans on this machine.", flag=True),
        Argument("--llm_url", "An OpenAI-compatible endpoint, up to /v1.", metavar="URL"),
        Argument("--model", "The model to write with."),
        Argument("--no_model", "Write without a model, even if one is configured.", flag=True),
        Argument("--instructions", "What the model should heed.", metavar="TEXT"),
        Argument("--allow_http", "Let plain http:// be used to other machines.", flag=True),
        Argument("--install", "Install libraries that are missing, without asking.", flag=True),
        Argument("--quiet", "No progress.", flag=True),
    ),
    handler=run,
    show=show,
    failed=lambda value: not value["ok"],
    extra="digest",
    examples=(
        "a2c digest --pdf guide.pdf",
        "a2c digest --pdf guide.pdf --out_dir digest_images --output_md guide.md --dpi 180 --section_ranges 1-5,6-10",
        "a2c digest --pdf scan.pdf --ocr_url https://ocr.example.com/extract --json",
    ),
)
