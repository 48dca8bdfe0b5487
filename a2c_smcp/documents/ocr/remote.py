"""The engine behind a URL: a service that takes a picture and answers with its text."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from a2c_smcp.documents.ocr.answers import unpack
from a2c_smcp.documents.ocr.blocks import blocks_of
from a2c_smcp.documents.ocr.http import send_file
from a2c_smcp.documents.ocr.model import OcrPage
from a2c_smcp.documents.ocr.pictures import is_blank, open_picture

if TYPE_CHECKING:
    from a2c_smcp.documents.ocr.base import OcrSpec


class RemoteEngine:
    """A service of the kind of dots.ocr's `/extract`."""

    name = "remote"

    def __init__(self, spec: "OcrSpec") -> None:
        self._service = spec.service()
        self._dpi = spec.dpi

    def read(self, png: bytes) -> OcrPage:
        """Send the picture and return what the service reads."""
        picture = open_picture(png)
        if is_blank(picture):
            return OcrPage((), self.name, *picture.size)
        fields = {"dpi": str(self._dpi), "image_extract": "false"}
        with tempfile.TemporaryDirectory(prefix="a2c-ocr-") as folder:
            answer = send_file(self._service, "image", png, Path(folder) / "answer", fields)
            text = unpack(answer).text
        return OcrPage((), self.name, *picture.size, blocks=blocks_of(text))
