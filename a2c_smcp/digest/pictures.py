"""The page images of a folder, and what their names say."""

import re
from pathlib import Path
from typing import Final

from a2c_smcp.digest.folders import is_own_file

IMAGES: Final = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff")
_DIGITS = re.compile(r"(\d+)")


def images_in(folder: Path) -> list[Path]:
    """Return the images of a folder, in the order of the numbers in their names; links are left out."""
    found = [path for path in folder.glob("*") if path.suffix.lower() in IMAGES and is_own_file(path)]
    return sorted(
        found, key=lambda path: [int(part) if part.isdecimal() else part for part in _DIGITS.split(path.name)]
    )


def page_of(image: Path) -> int | None:
    """Return the page that an image shows, by the number in its name."""
    match = re.search(r"(?:page|p|第)[-_ ]?0*(\d{1,6})(?!\d)", image.stem, re.IGNORECASE)
    return int(match[1]) if match else None
