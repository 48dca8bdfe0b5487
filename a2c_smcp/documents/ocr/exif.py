"""What a picture says of itself: when, where and with what it was taken, and what its author wrote."""

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_FACT: Final = 500

# Tags of EXIF 2.3 (CIPA DC-008), in the order they are told.
_TAGS: Final = {
    0x9C9B: "title",
    0x010E: "description",
    0x9003: "taken",
    0x0132: "changed",
    0x010F: "maker",
    0x0110: "model",
    0x013B: "artist",
    0x8298: "copyright",
    0x0131: "software",
    0x9C9E: "keywords",
}
_EXIF: Final = 0x8769
_GPS: Final = 0x8825
_TEXTS: Final = {"Title": "title", "Description": "description", "Author": "artist", "Copyright": "copyright"}


def facts_of(picture: "Image") -> dict[str, str]:
    """Return what is known, as short texts; damaged metadata is passed over."""
    facts: dict[str, str] = {}
    for key, name in _TEXTS.items():
        _keep(facts, name, picture.info.get(key))
    _keep(facts, "description", picture.info.get("comment"))
    try:
        exif = picture.getexif()
        tags: dict[int, Any] = {**exif, **exif.get_ifd(_EXIF)}
        place = exif.get_ifd(_GPS)
    except Exception:  # noqa: BLE001 - the library raises anything over damaged tags, which nobody needs
        return facts
    for tag, name in _TAGS.items():
        _keep(facts, name, tags.get(tag))
    _keep(facts, "position", _position(place))
    return facts


def _keep(facts: dict[str, str], name: str, value: Any) -> None:
    if isinstance(value, (bytes, tuple)):
        data = bytes(value) if all(isinstance(part, int) and 0 <= part < 256 for part in value) else b""
        value = data.decode("utf-16-le" if data[1::2].count(0) > len(data) / 4 else "utf-8", errors="replace")
    text = " ".join(str(value).replace("\0", " ").split()) if value is not None else ""
    if text and name not in facts:
        facts[name] = text[:MAX_FACT]


def _position(place: dict[int, Any]) -> str | None:
    """Return latitude and longitude in degrees."""
    try:
        degrees = [sum(float(part) / 60**power for power, part in enumerate(place[tag])) for tag in (2, 4)]
        signs = [-1 if place[tag] in ("S", "W") else 1 for tag in (1, 3)]
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None
    return ", ".join(f"{sign * value:.5f}" for sign, value in zip(signs, degrees, strict=True))
