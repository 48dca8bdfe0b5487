"""Boxes of PDF space as a page shows them."""

import pytest

from a2c_smcp.documents.pdf.frames import Frame

# As PDFium tells it, in whole sixteenths of a point: a little off for most sizes.
PLAIN = Frame(600.0, 800.0, (1.0001, 0.0, 0.0, -0.9999, 0.0, 800.0), is_plain=True)
TURNED = Frame(800.0, 600.0, (0.0, 1.0, 1.0, 0.0, 0.0, 0.0), is_plain=False)


@pytest.mark.parametrize(
    ("frame", "box", "shown"),
    [
        (PLAIN, (100.0, 200.0, 150.0, 212.0), (100.0, 588.0, 150.0, 600.0)),
        (PLAIN, (150.0, 212.0, 100.0, 200.0), (100.0, 588.0, 150.0, 600.0)),
        (TURNED, (100.0, 200.0, 150.0, 212.0), (200.0, 100.0, 212.0, 150.0)),
        (TURNED, (150.0, 212.0, 100.0, 200.0), (200.0, 100.0, 212.0, 150.0)),
    ],
    ids=["plain", "plain, corners exchanged", "turned", "turned, corners exchanged"],
)
def test_a_box_is_shown_from_its_upper_left_corner(
    frame: Frame, box: tuple[float, float, float, float], shown: tuple[float, float, float, float]
) -> None:
    assert frame.box(*box) == shown
