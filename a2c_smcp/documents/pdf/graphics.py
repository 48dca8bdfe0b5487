"""What is drawn on a page beside text: ruling lines and filled boxes, which shape tables, and pictures."""

import ctypes
import struct
from dataclasses import dataclass, field
from itertools import repeat
from typing import Final, NamedTuple, TypeAlias

from a2c_smcp.documents.pdf.engine import Engine, Handle, Matrix
from a2c_smcp.documents.pdf.frames import Frame

MAX_OBJECTS: Final = 20_000
"""Pages with more are drawings or maps: what comes later adds nothing to the text."""
MAX_PATHS: Final = 6_000
MAX_SEGMENTS: Final = 2_000
"""Of one path: a longer one draws a curve, not a table."""
MAX_IMAGES: Final = 100

_PATH, _IMAGE, _FORM = 2, 3, 5
_LINE_TO, _BEZIER_TO = 0, 1
_FLOATS = struct.Struct("4f")
_THIN: Final = 2.5
_MAX_DEPTH: Final = 4


class Rule(NamedTuple):
    """A ruling line: where along its direction it begins and ends, and where across it stands."""

    start: float
    end: float
    at: float


Matrices: TypeAlias = tuple[tuple[float, ...], ...]
Drawn: TypeAlias = tuple[int, Matrices]
"""An object of the page: its handle, and the matrices of the forms around it, the innermost first."""


@dataclass(slots=True)
class Drawings:
    """The objects of a page that are no text, by kind."""

    paths: list[Drawn] = field(default_factory=list)
    images: list[Drawn] = field(default_factory=list)


@dataclass(slots=True)
class Rules:
    """Ruling lines as shown, from the top left; edges of boxes count."""

    across: list[Rule] = field(default_factory=list)
    down: list[Rule] = field(default_factory=list)
    _joined: tuple[list[Rule], list[Rule]] | None = field(default=None, init=False, repr=False, compare=False)

    def joined(self) -> tuple[list[Rule], list[Rule]]:
        """Return those across and those down, pieces of one made one; ask when all are there."""
        if self._joined is None:
            self._joined = merged(self.across), merged(self.down)
        return self._joined


def survey(engine: Engine, page: int) -> Drawings:
    """Sort the objects of a page."""
    found = Drawings()
    count = min(engine.FPDFPage_CountObjects(page), MAX_OBJECTS)
    handles = list(map(engine.bare.object, repeat(ctypes.c_void_p(page)), range(count)))
    _sort(engine, found, handles, ())
    return found


def _sort(engine: Engine, found: Drawings, handles: list[Handle], matrices: Matrices) -> None:
    kinds = list(map(engine.bare.type, handles))
    if _PATH in kinds:
        paths = [(handle.value or 0, matrices) for handle, kind in zip(handles, kinds, strict=True) if kind == _PATH]
        found.paths += paths[: MAX_PATHS - len(found.paths)]
    if _IMAGE in kinds:
        images = [(handle.value or 0, matrices) for handle, kind in zip(handles, kinds, strict=True) if kind == _IMAGE]
        found.images += images[: MAX_IMAGES - len(found.images)]
    if _FORM not in kinds or len(matrices) >= _MAX_DEPTH:
        return
    for form, kind in zip(handles, kinds, strict=True):
        if kind == _FORM:
            count = min(engine.FPDFFormObj_CountObjects(form), MAX_OBJECTS)
            inner = list(map(engine.bare.inner_object, repeat(form), range(count)))
            _sort(engine, found, inner, (_matrix(engine, form), *matrices))


def _matrix(engine: Engine, handle: int | Handle) -> tuple[float, ...]:
    matrix = Matrix()
    if not engine.FPDFPageObj_GetMatrix(handle, ctypes.addressof(matrix)):
        return (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    return (matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f)


class Bounds:
    """Where drawn objects are, as shown."""

    def __init__(self, engine: Engine, frame: Frame) -> None:
        self._bounds, self._frame = engine.FPDFPageObj_GetBounds, frame
        self._buffer = ctypes.create_string_buffer(_FLOATS.size)
        start = ctypes.addressof(self._buffer)
        self._to = start, start + 4, start + 8, start + 12
        self._ways: dict[Matrices, tuple[float, ...]] = {}

    def of(self, drawn: Drawn) -> tuple[float, float, float, float] | None:
        """Return the box of an object; None where it has none."""
        handle, matrices = drawn
        if not self._bounds(handle, *self._to):
            return None
        left, bottom, right, top = _FLOATS.unpack(self._buffer)
        frame = self._frame
        if frame.is_plain and not matrices:
            e, f = frame.matrix[4], frame.matrix[5]
            return left + e, f - top, right + e, f - bottom
        a, b, c, d, e, f = self._ways.get(matrices) or self._way(matrices)
        x0, x1 = a * left + c * bottom + e, a * right + c * top + e
        y0, y1 = b * left + d * bottom + f, b * right + d * top + f
        if x0 > x1:
            x0, x1 = x1, x0
        return (x0, y0, x1, y1) if y0 <= y1 else (x0, y1, x1, y0)

    def is_thin(self, drawn: Drawn) -> bool:
        """Whether an object is no more than a line; of one inside a form that is not known yet."""
        handle, matrices = drawn
        if not self._bounds(handle, *self._to):
            return False
        left, bottom, right, top = _FLOATS.unpack(self._buffer)
        return top - bottom <= _THIN or right - left <= _THIN or bool(matrices)

    def _way(self, matrices: Matrices) -> tuple[float, ...]:
        """Return the way from inside forms to the page as shown, as one matrix."""
        way: tuple[float, ...] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
        for matrix in (*matrices, self._frame.matrix):
            a, b, c, d, _, _ = matrix
            way = (
                a * way[0] + c * way[1],
                b * way[0] + d * way[1],
                a * way[2] + c * way[3],
                b * way[2] + d * way[3],
                *_apply(matrix, way[4], way[5]),
            )
        self._ways[matrices] = way
        return way


def read_rules(engine: Engine, frame: Frame, paths: list[Drawn]) -> Rules:
    """Return the ruling lines that paths draw."""
    rules = Rules()
    bounds = Bounds(engine, frame)
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    to_fill, to_stroke = ctypes.addressof(fill), ctypes.addressof(stroke)
    for drawn in paths:
        box = bounds.of(drawn)
        if box is None:
            continue
        x0, y0, x1, y1 = box
        wide, high = x1 - x0, y1 - y0
        if wide < 5 and high < 5:  # a dot, a part of a drawing
            continue
        engine.FPDFPath_GetDrawMode(drawn[0], to_fill, to_stroke)
        if not fill.value and not stroke.value:  # it only clips
            continue
        segments = 5 if wide <= _THIN or high <= _THIN else engine.FPDFPath_CountSegments(drawn[0])
        if segments <= 5:
            _add_box(rules, frame, box)
        elif segments <= MAX_SEGMENTS:
            _add_segments(engine, frame, rules, drawn, segments)
    return rules


def read_thin_rules(engine: Engine, frame: Frame, paths: list[Drawn]) -> Rules:
    """Return the ruling lines of paths that are no more than that: fewer questions, and without the edges of boxes."""
    rules = Rules()
    bounds = Bounds(engine, frame)
    for drawn in paths:
        if bounds.is_thin(drawn) and (box := bounds.of(drawn)):
            _add_box(rules, frame, box)
    return rules


def _add_box(rules: Rules, frame: Frame, box: tuple[float, float, float, float]) -> None:
    x0, y0, x1, y1 = box
    wide, high = x1 - x0, y1 - y0
    if high <= _THIN:
        if wide > 5:
            rules.across.append(Rule(x0, x1, (y0 + y1) / 2))
    elif wide <= _THIN:
        if high > 4:
            rules.down.append(Rule(y0, y1, (x0 + x1) / 2))
    elif wide > 8 and high > 4 and not (wide > frame.width * 0.95 and high > frame.height * 0.9):
        rules.across += (Rule(x0, x1, y0), Rule(x0, x1, y1))
        rules.down += (Rule(y0, y1, x0), Rule(y0, y1, x1))


def _add_segments(engine: Engine, frame: Frame, rules: Rules, drawn: Drawn, count: int) -> None:
    handle, around = drawn
    matrices = (_matrix(engine, handle), *around)
    x, y = ctypes.c_float(), ctypes.c_float()
    to_x, to_y = ctypes.addressof(x), ctypes.addressof(y)
    last: tuple[float, float] | None = None
    for number in range(count):
        segment = engine.FPDFPath_GetPathSegment(handle, number)
        kind = engine.FPDFPathSegment_GetType(segment)
        engine.FPDFPathSegment_GetPoint(segment, to_x, to_y)
        point = x.value, y.value
        for matrix in matrices:
            point = _apply(matrix, *point)
        if kind == _LINE_TO and last is not None:
            x0, y0, x1, y1 = frame.box(*last, *point)
            if y1 - y0 < 1 and x1 - x0 > 8:
                rules.across.append(Rule(x0, x1, (y0 + y1) / 2))
            elif x1 - x0 < 1 and y1 - y0 > 4:
                rules.down.append(Rule(y0, y1, (x0 + x1) / 2))
        last = None if kind == _BEZIER_TO else point


def _apply(matrix: tuple[float, ...], x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def merged(rules: list[Rule], tolerance: float = 1.5) -> list[Rule]:
    """Return rules with those that continue or cover one another made one."""
    joined: list[Rule] = []
    open_rules: list[Rule] = []
    for rule in sorted(rules, key=lambda rule: (rule.at, rule.start)):
        waiting = []
        for other in open_rules:
            if rule.at - other.at > tolerance:
                joined.append(other)
            elif rule.start <= other.end + 3 and other.start <= rule.end + 3:
                rule = Rule(min(rule.start, other.start), max(rule.end, other.end), other.at)  # noqa: PLW2901
            else:
                waiting.append(other)
        open_rules = [*waiting, rule]
    return sorted(joined + open_rules, key=lambda rule: (rule.at, rule.start))
