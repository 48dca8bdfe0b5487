"""What is drawn on a page beside text: ruling lines and filled boxes, which shape tables, and pictures."""

import ctypes
import struct
from collections import deque
from dataclasses import dataclass, field
from itertools import compress, repeat
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

from a2c_smcp.documents.pdf.engine import BOX_BYTES, Engine, Matrix, is_place
from a2c_smcp.documents.pdf.frames import Frame
from a2c_smcp.documents.pdf.native import native
from a2c_smcp.documents.pdf.unread import OutlinedPath
from a2c_smcp.documents.pdf.words import Box

MAX_OBJECTS: Final = 20_000
"""Pages with more are drawings or maps: what comes later adds nothing to the text."""
MAX_PATHS: Final = 6_000
MAX_SEGMENTS: Final = 2_000
"""Of one path: a longer one draws a curve, not a table."""
MAX_IMAGES: Final = 100

_PATH, _IMAGE, _FORM = 2, 3, 5
_LINE_TO, _BEZIER_TO, _MOVE_TO = 0, 1, 2
_FLOATS, _POINT, _MODES = struct.Struct("4f"), struct.Struct("2f"), struct.Struct("2i")
_THIN: Final = 2.5
_SHORT: Final = 4.0
"""A line down that is no longer divides no cells."""
_DOT: Final = 5.0
"""What is smaller is part of a drawing."""
_BOX_SEGMENTS: Final = 5
_SAME: Final = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
"""The matrix that leaves all where it is."""
_place = itemgetter(2, 0)
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
    _sort(engine, found, page, ())
    return found


def _sort(engine: Engine, found: Drawings, holder: int, matrices: Matrices) -> None:
    is_form = bool(matrices)
    paths, images, forms = (
        native.objects_of(holder, is_form, MAX_OBJECTS) if native else _objects_of(engine, holder, is_form=is_form)
    )
    found.paths += [(handle, matrices) for handle in paths[: MAX_PATHS - len(found.paths)]]
    found.images += [(handle, matrices) for handle in images[: MAX_IMAGES - len(found.images)]]
    if len(matrices) < _MAX_DEPTH:
        for form in forms:
            _sort(engine, found, form, (_matrix(engine, form), *matrices))


def _objects_of(engine: Engine, holder: int, *, is_form: bool) -> tuple[list[int], list[int], list[int]]:
    """Return the paths, images and forms of a page or a form."""
    bare = engine.bare
    count = (engine.FPDFFormObj_CountObjects if is_form else engine.FPDFPage_CountObjects)(holder)
    get = bare.inner_object if is_form else bare.object
    handles = list(map(get, repeat(ctypes.c_void_p(holder)), range(min(count, MAX_OBJECTS))))
    kinds = list(map(bare.type, handles))
    present = set(kinds)
    paths, images, forms = (
        [handle.value for handle, own in zip(handles, kinds, strict=True) if own == kind] if kind in present else []
        for kind in (_PATH, _IMAGE, _FORM)
    )
    return paths, images, forms


def _matrix(engine: Engine, handle: int) -> tuple[float, ...]:
    matrix = Matrix()
    if not engine.FPDFPageObj_GetMatrix(handle, ctypes.addressof(matrix)):
        return _SAME
    return (matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f)


class Bounds:
    """Where drawn objects are, as shown."""

    def __init__(self, engine: Engine, frame: Frame) -> None:
        self._engine, self._bounds, self._frame = engine, engine.FPDFPageObj_GetBounds, frame
        room = engine.room()
        self._to = room.address, room.address + 4, room.address + 8, room.address + 12
        self._box = room.view[:BOX_BYTES]
        self._ways: dict[Matrices, tuple[float, ...]] = {}

    def of(self, drawn: Drawn) -> Box | None:
        """Return the box of an object; None where it has none."""
        handle, matrices = drawn
        if not self._bounds(handle, *self._to):
            return None
        left, bottom, right, top = _FLOATS.unpack(self._box)
        return self._shown(left, bottom, right, top, matrices) if is_place(left, bottom, right, top) else None

    def of_all(self, drawn: list[Drawn]) -> list[Box | None]:
        """Return the boxes of objects, in the time that asking for half of them one by one would take."""
        is_plain, e, f = self._frame.is_plain, self._frame.matrix[4], self._frame.matrix[5]
        if native:
            found: list[Box | None] = native.boxes_of(drawn, is_plain, e, f, self._shown)
            return found
        size = BOX_BYTES * len(drawn)
        room = self._engine.room(size)
        sides = [range(room.address + at, room.address + at + size, BOX_BYTES) for at in range(0, BOX_BYTES, 4)]
        known = list(map(self._bounds, [handle for handle, _ in drawn], *sides))
        boxes = _FLOATS.iter_unpack(room.view[:size])
        return [
            None
            if not is_known or not is_place(left, bottom, right, top)
            else (left + e, f - top, right + e, f - bottom)
            if is_plain and not matrices
            else self._shown(left, bottom, right, top, matrices)
            for is_known, (_, matrices), (left, bottom, right, top) in zip(known, drawn, boxes, strict=True)
        ]

    def _shown(self, left: float, bottom: float, right: float, top: float, matrices: Matrices) -> Box | None:
        frame = self._frame
        if frame.is_plain and not matrices:
            e, f = frame.matrix[4], frame.matrix[5]
            return left + e, f - top, right + e, f - bottom
        a, b, c, d, e, f = self._ways.get(matrices) or self._way(matrices)
        x0, x1 = a * left + c * bottom + e, a * right + c * top + e
        y0, y1 = b * left + d * bottom + f, b * right + d * top + f
        if not is_place(x0, y0, x1, y1):
            return None
        if x0 > x1:
            x0, x1 = x1, x0
        return (x0, y0, x1, y1) if y0 <= y1 else (x0, y1, x1, y0)

    def _way(self, matrices: Matrices) -> tuple[float, ...]:
        """Return the way from inside forms to the page as shown, as one matrix."""
        way: tuple[float, ...] = _SAME
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


class Kinds(NamedTuple):
    """Paths that are no more than a line across, those that are one down, and others with their boxes."""

    across: list[tuple[int, Rule]]
    down: list[tuple[int, Rule]]
    others: list[tuple[Drawn, Box]]


def kinds_of(drawn: list[Drawn], boxes: list[Box | None]) -> Kinds:
    """Sort paths; what is thin and short is dropped."""
    kinds = across, down, others = Kinds([], [], [])
    for path, box in zip(drawn, boxes, strict=True):
        if box is None:
            continue
        x0, y0, x1, y1 = box
        if y1 - y0 <= _THIN:
            if x1 - x0 > _DOT:
                across.append((path[0], Rule(x0, x1, (y0 + y1) / 2)))
        elif x1 - x0 <= _THIN:
            if y1 - y0 > _SHORT:
                down.append((path[0], Rule(y0, y1, (x0 + x1) / 2)))
        else:
            others.append((path, box))
    return kinds


class Paths:
    """The paths of a page, and the ruling lines that they draw; where they are, PDFium is asked once."""

    def __init__(self, engine: Engine, frame: Frame, drawn: list[Drawn]) -> None:
        self._engine, self._frame, self._drawn = engine, frame, drawn
        self._boxes: list[Box | None] | None = None
        self._kinds: Kinds | None = None
        self._thin: Rules | None = None

    def __len__(self) -> int:
        return len(self._drawn)

    def boxes(self) -> list[Box | None]:
        """Return the box of each; None where it has none."""
        if self._boxes is None:
            self._boxes = Bounds(self._engine, self._frame).of_all(self._drawn)
        return self._boxes

    def _sorted(self) -> Kinds:
        if self._kinds is None:
            self._kinds = kinds_of(self._drawn, self.boxes())
        return self._kinds

    def outlines(self, lowest: float, high: float) -> list[OutlinedPath]:
        """Return the filled paths that may be letters; `lowest` is the height of those, and above `high` of blocks."""
        engine, others = self._engine, self._sorted().others
        tall = [path for path in others if path[1][3] - path[1][1] >= lowest]
        counts = _segment_counts(engine, [handle for (handle, _), _ in tall])
        # A box has five segments, and a letter more, but for the simplest.
        kept = [(path, count) for path, count in zip(tall, counts, strict=True) if count > _BOX_SEGMENTS]
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        to = ctypes.addressof(fill), ctypes.addressof(stroke)
        found: list[OutlinedPath] = []
        for ((handle, _), box), count in kept:
            engine.FPDFPath_GetDrawMode(handle, *to)
            if fill.value:
                is_block = box[3] - box[1] > high
                found.append(OutlinedPath(box, count, self._parts(handle, count) if is_block else 1))
        return found

    def _parts(self, handle: int, count: int) -> int:
        """Return how often a path begins anew."""
        engine = self._engine
        segments = map(engine.FPDFPath_GetPathSegment, repeat(handle), range(min(count, MAX_SEGMENTS)))
        return sum(engine.FPDFPathSegment_GetType(segment) == _MOVE_TO for segment in segments)

    def thin_rules(self) -> Rules:
        """Return the ruling lines of paths that are no more than that: fewer questions, and no edges of boxes."""
        across, down, others = self._sorted()
        rules = self._thin = Rules([rule for _, rule in across], [rule for _, rule in down])
        for (_, matrices), box in others:
            if matrices:  # whether a part of a form is a line is not known from its box
                _add_edges(rules, self._frame, box)
        return rules

    def rules(self) -> Rules:
        """Return the ruling lines that paths draw."""
        rules = self._rules()
        # What is known already has had its pieces made one.
        return self._thin if self._thin == rules else rules

    def _rules(self) -> Rules:
        across, down, others = self._sorted()
        down = [line for line in down if line[1].end - line[1].start >= _DOT]
        others = [path for path in others if path[1][2] - path[1][0] >= _DOT or path[1][3] - path[1][1] >= _DOT]
        handles = [path[0] for path in (*across, *down)] + [path[0][0] for path in others]
        are_drawn = _are_drawn(self._engine, handles)
        first, second = len(across), len(across) + len(down)
        rules = Rules(
            list(compress([rule for _, rule in across], are_drawn)),
            list(compress([rule for _, rule in down], are_drawn[first:])),
        )
        others = list(compress(others, are_drawn[second:]))
        counts = _segment_counts(self._engine, [handle for (handle, _), _ in others])
        for ((handle, matrices), box), segments in zip(others, counts, strict=True):
            if segments <= _BOX_SEGMENTS:
                _add_edges(rules, self._frame, box)
            elif segments <= MAX_SEGMENTS:
                self._add_segments(rules, handle, matrices, segments)
        return rules

    def _add_segments(self, rules: Rules, handle: int, around: Matrices, count: int) -> None:
        kinds, points = _segments_of(self._engine, handle, count)
        for matrix in (_matrix(self._engine, handle), *around, self._frame.way):
            if matrix != _SAME:
                a, b, c, d, e, f = matrix
                points = [(a * x + c * y + e, b * x + d * y + f) for x, y in points]
        if not all(is_place(*point) for point in points):
            return
        for before, kind, (xa, ya), (xb, yb) in zip(kinds, kinds[1:], points, points[1:], strict=False):
            if kind != _LINE_TO or before == _BEZIER_TO:
                continue
            if -1 < yb - ya < 1:
                if not -8 <= xb - xa <= 8:
                    rules.across.append(Rule(min(xa, xb), max(xa, xb), (ya + yb) / 2))
            elif -1 < xb - xa < 1 and not -4 <= yb - ya <= 4:
                rules.down.append(Rule(min(ya, yb), max(ya, yb), (xa + xb) / 2))


def _are_drawn(engine: Engine, handles: list[int]) -> list[bool]:
    """Return which paths are filled or stroked; the others only clip."""
    if native:
        found: list[bool] = native.are_drawn(handles)
        return found
    size = _MODES.size * len(handles)
    room = engine.room(size)
    fills = range(room.address, room.address + size, _MODES.size)
    strokes = range(room.address + 4, room.address + 4 + size, _MODES.size)
    deque(map(engine.FPDFPath_GetDrawMode, handles, fills, strokes), maxlen=0)
    return [bool(fill or stroke) for fill, stroke in _MODES.iter_unpack(room.view[:size])]


def _segment_counts(engine: Engine, handles: list[int]) -> list[int]:
    """Return how many segments each path has."""
    if native:
        found: list[int] = native.segment_counts(handles)
        return found
    return list(map(engine.FPDFPath_CountSegments, handles))


def _segments_of(engine: Engine, handle: int, count: int) -> tuple[list[int], list[tuple[float, ...]]]:
    """Return the kinds of the segments of a path, and the points where they end."""
    if native:
        found: tuple[list[int], list[tuple[float, ...]]] = native.segments_of(handle, count)
        return found
    segments = list(map(engine.FPDFPath_GetPathSegment, repeat(handle), range(count)))
    kinds = list(map(engine.FPDFPathSegment_GetType, segments))
    size = _POINT.size * count
    room = engine.room(size)
    xs = range(room.address, room.address + size, _POINT.size)
    ys = range(room.address + 4, room.address + 4 + size, _POINT.size)
    deque(map(engine.FPDFPathSegment_GetPoint, segments, xs, ys), maxlen=0)
    return kinds, list(_POINT.iter_unpack(room.view[:size]))


def _add_edges(rules: Rules, frame: Frame, box: Box) -> None:
    """Add the edges of a box, unless it is the page's own."""
    x0, y0, x1, y1 = box
    wide, high = x1 - x0, y1 - y0
    if wide > 8 and high > _SHORT and not (wide > frame.width * 0.95 and high > frame.height * 0.9):
        rules.across += (Rule(x0, x1, y0), Rule(x0, x1, y1))
        rules.down += (Rule(y0, y1, x0), Rule(y0, y1, x1))


def _apply(matrix: tuple[float, ...], x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def merged(rules: list[Rule], tolerance: float = 1.5) -> list[Rule]:
    """Return rules with those that continue or cover one another made one."""
    joined: list[tuple[float, float, float]] = []
    open_rules: list[tuple[float, float, float]] = []
    for start, end, at in sorted(rules, key=_place):
        waiting = []
        for other in open_rules:
            first, last, place = other
            if at - place > tolerance:
                joined.append(other)
            elif start <= last + 3 and first <= end + 3:
                start = start if start < first else first  # noqa: PLW2901
                end = end if end > last else last  # noqa: PLW2901
                at = place  # noqa: PLW2901
            else:
                waiting.append(other)
        waiting.append((start, end, at))
        open_rules = waiting
    return sorted(map(Rule._make, joined + open_rules), key=_place)
