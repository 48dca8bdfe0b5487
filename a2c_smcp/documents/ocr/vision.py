"""The engine that is a model with eyes: any endpoint that speaks the chat completions of OpenAI."""

import base64
import json
import tempfile
from pathlib import Path
from typing import Any, Final

from a2c_smcp.documents.ocr.base import OcrSpec, ask_service
from a2c_smcp.documents.ocr.blocks import blocks_of
from a2c_smcp.documents.ocr.http import ServiceReply, send_json
from a2c_smcp.documents.ocr.model import OcrBlock, OcrPage, TransientOcrError
from a2c_smcp.documents.ocr.pictures import is_blank, open_picture, png_of
from a2c_smcp.errors import DocumentError

PROMPT: Final = (
    "Transcribe all text of this page as Markdown, in reading order and in its own language. Use headings, lists and "
    "tables where the page has them, and LaTeX between dollar signs for formulas. Add nothing, leave nothing out, and "
    "translate nothing. Answer with the Markdown alone; for a page without text answer with nothing."
)
MAX_SIDE: Final = 2_000
MAX_TOKENS: Final = 8_192


class VisionEngine:
    """A vision model that is asked for the text of a page; dots.ocr served by vLLM is one."""

    name = "vision"

    def __init__(self, spec: OcrSpec) -> None:
        url = f"{spec.url.rstrip('/').removesuffix('/chat/completions')}/chat/completions"
        self._spec = spec
        self._url = url

    def read(self, png: bytes) -> OcrPage:
        """Show the picture to the model and return what it reads."""
        picture = open_picture(png)
        width, height = picture.size
        if is_blank(picture):
            return OcrPage((), self.name, width, height)
        scale = max(1.0, max(picture.size) / MAX_SIDE)
        small = picture.resize([max(1, round(side / scale)) for side in picture.size]) if scale > 1 else picture
        text = ask_service(self._spec, png_of(small))
        blocks = tuple(_scaled(block, scale) for block in blocks_of(text))
        return OcrPage((), self.name, width, height, blocks=blocks)

    def ask(self, png: bytes) -> str:
        """Show the picture to the model and return what it says."""
        with tempfile.TemporaryDirectory(prefix="a2c-ocr-") as folder:
            return _said(send_json(self._spec.service(self._url), self._question(png), Path(folder) / "answer"))

    def _question(self, png: bytes) -> dict[str, Any]:
        shown = base64.b64encode(png).decode("ascii")
        parts = [
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{shown}"}},
            {"type": "text", "text": self._spec.prompt or PROMPT},
        ]
        return {
            "model": self._spec.model,
            "messages": [{"role": "user", "content": parts}],
            "temperature": 0,
            "max_tokens": MAX_TOKENS,
        }


def _said(answer: ServiceReply) -> str:
    """Return what the model said.

    Raises:
        DocumentError: The answer is none of a chat, or was cut off.
    """
    try:
        choice = json.loads(answer.path.read_bytes())["choices"][0]
        content = choice["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise TransientOcrError("the endpoint answered something that is no chat completion") from error
    reason = choice.get("finish_reason")
    if reason == "length":
        raise DocumentError("the model did not come to an end")
    if reason == "content_filter":
        raise DocumentError("the endpoint withheld the answer (content_filter)")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return answer.mask.hide(content) if isinstance(content, str) else ""


def _scaled(block: OcrBlock, scale: float) -> OcrBlock:
    if block.box is None:
        return block
    x0, y0, x1, y1 = block.box
    return OcrBlock(block.category, block.content, (x0 * scale, y0 * scale, x1 * scale, y1 * scale))
