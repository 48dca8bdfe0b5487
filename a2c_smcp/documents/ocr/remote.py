"""The engine behind a URL: a service that takes a picture and answers with its text."""

import tempfile
from pathlib import Path

from a2c_smcp.documents.ocr.answers import unpack
from a2c_smcp.documents.ocr.base import OcrSpec, ask_service
from a2c_smcp.documents.ocr.blocks import blocks_of
from a2c_smcp.documents.ocr.http import send_file
from a2c_smcp.documents.ocr.model import OcrPage
from a2c_smcp.documents.ocr.pictures import is_blank, open_picture


class RemoteEngine:
    """A service of the kind of dots.ocr's `/extract`."""

    name = "remote"

    def __init__(self, spec: OcrSpec) -> None:
        self._spec = spec

    def read(self, png: bytes) -> OcrPage:
        """Send the picture and return what the service reads."""
        picture = open_picture(png)
        if is_blank(picture):
            return OcrPage((), self.name, *picture.size)
        return OcrPage((), self.name, *picture.size, blocks=blocks_of(ask_service(self._spec, png)))

    def ask(self, png: bytes) -> str:
        """Send the picture and return the text of the answer."""
        fields = {"dpi": str(self._spec.dpi), "image_extract": "false"}
        with tempfile.TemporaryDirectory(prefix="a2c-ocr-") as folder:
            return unpack(send_file(self._spec.service(), "image", png, Path(folder) / "answer", fields)).text
