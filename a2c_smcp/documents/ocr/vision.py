"""The engine that is a model with eyes: any endpoint that speaks the chat completions of OpenAI."""

import base64
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.documents.ocr.blocks import blocks_of
from a2c_smcp.documents.ocr.http import Answer, send_json
from a2c_smcp.documents.ocr.model import OcrBlock, OcrPage
from a2c_smcp.documents.ocr.pictures import is_blank, open_picture, png_of
from a2c_smcp.errors import DocumentError

if TYPE_CHECKING:
    from PIL.Image import Image

    from a2c_smcp.documents.ocr.base import OcrSpec

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

    def __init__(self, spec: "OcrSpec") -> None:
        url = f"{spec.url.rstrip('/').removesuffix('/chat/completions')}/chat/completions"
        self._service = spec.service(url)
        self._model = spec.model
        self._prompt = spec.prompt or PROMPT

    def read(self, png: bytes) -> OcrPage:
        """Show the picture to the model and return what it reads."""
        picture = open_picture(png)
        width, height = picture.size
        if is_blank(picture):
            return OcrPage((), self.name, width, height)
        scale = max(1.0, max(picture.size) / MAX_SIDE)
        with tempfile.TemporaryDirectory(prefix="a2c-ocr-") as folder:
            answer = send_json(self._service, self._question(picture, scale), Path(folder) / "answer")
            text = _said(answer)
        blocks = tuple(_scaled(block, scale) for block in blocks_of(text))
        return OcrPage((), self.name, width, height, blocks=blocks)

    def _question(self, picture: "Image", scale: float) -> dict[str, Any]:
        small = picture.resize([max(1, round(side / scale)) for side in picture.size]) if scale > 1 else picture
        shown = base64.b64encode(png_of(small)).decode("ascii")
        parts = [
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{shown}"}},
            {"type": "text", "text": self._prompt},
        ]
        return {
            "model": self._model,
            "messages": [{"role": "user", "content": parts}],
            "temperature": 0,
            "max_tokens": MAX_TOKENS,
        }


def _said(answer: Answer) -> str:
    """Return what the model said.

    Raises:
        DocumentError: The answer is none of a chat, or was cut off.
    """
    try:
        choice = json.loads(answer.path.read_bytes())["choices"][0]
        content = choice["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise DocumentError("the endpoint answered something that is no chat completion") from error
    if choice.get("finish_reason") == "length":
        raise DocumentError("the model did not come to an end")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return answer.mask.hide(content) if isinstance(content, str) else ""


def _scaled(block: OcrBlock, scale: float) -> OcrBlock:
    if block.box is None:
        return block
    x0, y0, x1, y1 = block.box
    return OcrBlock(block.category, block.content, (x0 * scale, y0 * scale, x1 * scale, y1 * scale))
