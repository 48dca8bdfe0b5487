"""What is drawn on a page beside text: ruling lines and filled boxes, which shape tables, and pictures."""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import repeat
from typing import Final, NamedTuple

from a2c_smcp.documents.pdf.engine import Engine, Matrix
from a2c_smcp.documents.pdf.lines import Frame

MAX_OBJECTS: Final = 20_000
"""Pages with more are drawings or maps: what comes later adds nothing to the text."""
MAX_PATHS: Final = 6_000
MAX_SEGMENTS: Final = 2_000
"""Of one path: a longer one draws a curve, not a table."""
MAX_IMAGES: Final = 100

_PATH, _IMAGE, _FORM = 2, 3, 5
_LINE_TO, _BEZIER_TO = 0, 1
_THIN: Final = 2.5
_MAX_DEPTH: Final = 4


class Rule(NamedTuple):
    """A ruling line: where along its direction it begins and ends, and where across it stands."""

    start: float
    end: float
    at: float


class Drawn(NamedTuple):
    """An object of the page: its handle, and the matrices of the forms around it, the innermost first."""

    handle: int
    matrices: tuple[tuple[float, ...], ...] = ()


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


def survey(engine: Engine, page: int) -> Drawings:
    """Sort the objects of a page."""
    found = Drawings()
    count = min(engine.FPDFPage_CountObjects(page), MAX_OBJECTS)
    handles = list(map(engine.FPDFPage_GetObject, repeat(page), range(count)))
    kinds = list(map(engine.FPDFPageObj_GetType, handles))
    if _PATH in kinds or _IMAGE in kinds or _FORM in kinds:
        _sort(engine, found, zip(handles, kinds, strict=True), ())
    return found


def _sort(
    engine: Engine, found: Drawings, objects: "Iterator[tuple[int, int]]", matrices: tuple[tuple[float, ...], ...]
) -> None:
    for handle, kind in objects:
        if kind == _PATH:
            if len(found.paths) < MAX_PATHS:
                found.paths.append(Drawn(handle, matrices))
        elif kind == _IMAGE:
            if len(found.images) < MAX_IMAGES:
                found.images.append(Drawn(handle, matrices))
        elif kind == _FORM and len(matrices) < _MAX_DEPTH:
            count = min(engine.FPDFFormObj_CountObjects(handle), MAX_OBJECTS)
            inner = [engine.FPDFFormObj_GetObject(handle, number) for number in range(count)]
            kinds = list(map(engine.FPDFPageObj_GetType, inner))
            if _PATH in kinds or _IMAGE in kinds or _FORM in kinds:
                matrix = _matrix(engine, handle)
                _sort(engine, found, zip(inner, kinds, strict=True), (matrix, *matrices))


def _matrix(engine: Engine, handle: int) -> tuple[float, ...]:
    matrix = Matrix()
    if not engine.FPDFPageObj_GetMatrix(handle, ctypes.addressof(matrix)):
        return (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    return (matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f)


class Bounds:
    """Where drawn objects are, as shown."""

    def __init__(self, engine: Engine, frame: Frame) -> None:
        self._engine, self._frame = engine, frame
        self._floats = [ctypes.c_float() for _ in range(4)]
        self._to = [ctypes.addressof(number) for number in self._floats]

    def of(self, drawn: Drawn) -> tuple[float, float, float, float] | None:
        """Return the box of an object; None where it has none."""
        if not self._engine.FPDFPageObj_GetBounds(drawn.handle, *self._to):
            return None
        left, bottom, right, top = (number.value for number in self._floats)
        for matrix in drawn.matrices:
            (left, bottom), (right, top) = _apply(matrix, left, bottom), _apply(matrix, right, top)
        return self._frame.box(left, bottom, right, top)


def read_rules(engine: Engine, frame: Frame, paths: list[Drawn]) -> Rules:
    """Return the ruling lines that paths draw."""
    rules = Rules()
    bounds = Bounds(engine, frame)
    for drawn in paths:
        box = bounds.of(drawn)
        if box is None or not _is_visible(engine, drawn.handle):
            continue
        x0, y0, x1, y1 = box
        wide, high = x1 - x0, y1 - y0
        segments = 5 if wide <= _THIN or high <= _THIN else engine.FPDFPath_CountSegments(drawn.handle)
        if segments <= 5:
            _add_box(rules, frame, box)
        elif segments <= MAX_SEGMENTS:
            _add_segments(engine, frame, rules, drawn, segments)
    return rules


def _is_visible(engine: Engine, handle: int) -> bool:
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    engine.FPDFPath_GetDrawMode(handle, ctypes.addressof(fill), ctypes.addressof(stroke))
    return bool(fill.value or stroke.value)


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
    matrices = (_matrix(engine, drawn.handle), *drawn.matrices)
    x, y = ctypes.c_float(), ctypes.c_float()
    to_x, to_y = ctypes.addressof(x), ctypes.addressof(y)
    last: tuple[float, float] | None = None
    for number in range(count):
        segment = engine.FPDFPath_GetPathSegment(drawn.handle, number)
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
