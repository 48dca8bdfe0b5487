"""What changed on a desktop, and whom it concerns. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from a2c_smcp.bridge.uris import Place

WINDOW: Final = "window"
DOCUMENT: Final = "dpe"


def windows_of(desktop: Sequence[str]) -> dict[str, str]:
    """Return the windows of a rendered desktop: URI to text."""
    return {uri: text for uri, _, text in (window.partition("\n\n") for window in desktop)}


def scheme_of(uri: str) -> str:
    """Return the scheme in lower case; empty when there is none."""
    scheme, colon, _ = uri.partition(":")
    return scheme.lower() if colon else ""


def concerned(
    subscriptions: Iterable[tuple[str, Place]], computer: str, is_meant: Callable[[str], bool] = lambda _: True
) -> list[str]:
    """Return the URIs, as their subscribers wrote them, of the meant resources of a Computer."""
    return [uri for uri, place in subscriptions if place.computer in (None, computer) and is_meant(place.uri)]


def is_changed(before: Mapping[str, str], after: Mapping[str, str], uri: str) -> bool:
    """Whether a window may have changed. One that neither desktop shows (another is in full screen) may have."""
    if scheme_of(uri) != WINDOW:
        return False
    return uri not in after or before.get(uri) != after[uri]
