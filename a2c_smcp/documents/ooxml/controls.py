"""ActiveX controls, whichever kind of document they stand in: what kind they are and how they are called."""

from typing import Any, Final

from a2c_smcp.documents.ooxml.drafts import Draft
from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.xml import attribute

# The classes of the controls that come with Office; their own data is binary.
_CLASSES: Final = {
    "8BD21D10-EC42-11CE-9E0D-00AA006002F3": "text",
    "8BD21D20-EC42-11CE-9E0D-00AA006002F3": "list",
    "8BD21D30-EC42-11CE-9E0D-00AA006002F3": "dropdown",
    "8BD21D40-EC42-11CE-9E0D-00AA006002F3": "checkbox",
    "8BD21D50-EC42-11CE-9E0D-00AA006002F3": "radio",
    "8BD21D60-EC42-11CE-9E0D-00AA006002F3": "toggle",
    "D7053240-CE69-11CD-A777-00DD01143C57": "button",
    "978C9E23-D4B0-11CE-BF2D-00AA003F40D0": "label",
    "DFD181E0-5E2F-11CE-A449-00AA004A803D": "scrollbar",
    "79176FB0-B7F2-11CE-97EF-00AA006D2776": "spinner",
}


def control_at(package: Package, target: str | None, name: str = "") -> Draft:
    """Return the control that a part describes."""
    root = package.optional(target) if target else None
    kind = _CLASSES.get(attribute(root, "classid").strip("{}").upper(), "control") if root is not None else "control"
    content: dict[str, Any] = {"widget_type": kind}
    return Draft("widget", content | ({"name": name} if name else {}))
