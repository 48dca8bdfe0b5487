"""The fields of a form."""

import ctypes
from contextlib import suppress
from typing import Any, Final

from a2c_smcp.documents.pdf.annotations import MAX_ANNOTATIONS, WIDGET
from a2c_smcp.documents.pdf.cleaning import clean
from a2c_smcp.documents.pdf.engine import Engine, Rect
from a2c_smcp.documents.pdf.frames import Frame
from a2c_smcp.documents.pdf.words import Box, Piece

MAX_OPTIONS: Final = 500

_KINDS: Final = {1: "button", 2: "checkbox", 3: "radio", 4: "choice", 5: "choice", 6: "text", 7: "signature"}
_READ_ONLY, _REQUIRED = 1, 2


class FormEnvironment:
    """What PDFium needs to answer questions about fields; made for the first page that has any."""

    def __init__(self, engine: Engine, document: int) -> None:
        self._engine = engine
        # PDFium keeps a pointer to this for as long as the environment lives.
        self._info = engine.raw.FPDF_FORMFILLINFO(version=2)
        pointer = ctypes.cast(ctypes.c_void_p(document), engine.raw.FPDF_DOCUMENT)
        made = engine.raw.FPDFDOC_InitFormFillEnvironment(pointer, self._info)
        self.handle: int = ctypes.cast(made, ctypes.c_void_p).value or 0

    def close(self) -> None:
        """Give it back, before its document closes."""
        if self.handle:
            self._engine.FPDFDOC_ExitFormFillEnvironment(self.handle)
            self.handle = 0


class Fields:
    """Reads the fields of one page."""

    def __init__(self, engine: Engine, form: int, page: int, frame: Frame) -> None:
        self._engine, self._form, self._page, self._frame = engine, form, page, frame
        self._rect = Rect()

    def read(self) -> list[Piece]:
        """Return the form of the page, and its push buttons as widgets."""
        engine = self._engine
        fields: dict[str, dict[str, Any]] = {}
        boxes: list[Box] = []
        buttons: list[Piece] = []
        for index in range(min(engine.FPDFPage_GetAnnotCount(self._page), MAX_ANNOTATIONS)):
            handle = engine.FPDFPage_GetAnnot(self._page, index)
            if not handle:
                continue
            try:
                if engine.FPDFAnnot_GetSubtype(handle) == WIDGET:
                    self._widget(handle, fields, boxes, buttons)
            finally:
                engine.FPDFPage_CloseAnnot(handle)
        found = []
        if fields:
            x0s, y0s, x1s, y1s = zip(*boxes, strict=True)
            content = {"fields": list(fields.values())}
            found.append(Piece("form", content, (min(x0s), min(y0s), max(x1s), max(y1s))))
        return found + buttons

    def _widget(self, handle: int, fields: dict[str, dict[str, Any]], boxes: list[Box], buttons: list[Piece]) -> None:
        engine = self._engine
        kind = _KINDS.get(engine.FPDFAnnot_GetFormFieldType(self._form, handle), "unknown")
        name = self._told(engine.FPDFAnnot_GetFormFieldName, handle)
        label = self._told(engine.FPDFAnnot_GetFormFieldAlternateName, handle)
        engine.FPDFAnnot_GetRect(handle, ctypes.addressof(self._rect))
        box = self._frame.box(*self._rect.sides)
        if kind == "button":
            content = {"widget_type": "button", "name": name}
            buttons.append(Piece("widget", content | ({"label": label} if label else {}), box))
            return
        boxes.append(box)
        field = fields.get(name)
        if field is None:
            field = fields[name] = {"name": name, "field_type": kind}
            if label:
                field["label"] = label
            flags = engine.FPDFAnnot_GetFormFieldFlags(self._form, handle)
            if flags & _REQUIRED:
                field["required"] = True
            if flags & _READ_ONLY:
                field["read_only"] = True
        self._set_value(handle, kind, field)

    def _set_value(self, handle: int, kind: str, field: dict[str, Any]) -> None:
        engine = self._engine
        if kind == "checkbox":
            field["value"] = bool(engine.FPDFAnnot_IsChecked(self._form, handle))
        elif kind == "radio":
            options = field.setdefault("options", [])
            option = self._told(engine.FPDFAnnot_GetFormFieldExportValue, handle) or str(len(options) + 1)
            options.append(option)
            if engine.FPDFAnnot_IsChecked(self._form, handle):
                field["value"] = option
        elif kind == "choice":
            self._set_choice(handle, field)
        else:
            field["value"] = self._told(engine.FPDFAnnot_GetFormFieldValue, handle)

    def _set_choice(self, handle: int, field: dict[str, Any]) -> None:
        engine = self._engine
        count = min(max(engine.FPDFAnnot_GetOptionCount(self._form, handle), 0), MAX_OPTIONS)
        options = [
            clean(engine.string(engine.FPDFAnnot_GetOptionLabel, self._form, handle, number)) for number in range(count)
        ]
        chosen = [
            option
            for number, option in enumerate(options)
            if engine.FPDFAnnot_IsOptionSelected(self._form, handle, number)
        ]
        field["options"] = options
        value = self._told(engine.FPDFAnnot_GetFormFieldValue, handle)
        field["value"] = chosen if len(chosen) > 1 else chosen[0] if chosen else value

    def _told(self, function: Any, handle: int) -> str:
        with suppress(UnicodeError):
            return clean(self._engine.string(function, self._form, handle)).strip()
        return ""
