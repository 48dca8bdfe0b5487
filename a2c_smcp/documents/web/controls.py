"""Forms, single controls, sound, film and what is embedded. Pure, but for the tree it reads."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from a2c_smcp.documents.web.inline import resolve, text_of
from a2c_smcp.documents.web.parse import attribute, children, names
from a2c_smcp.types import ElementCategory

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

CONTROLS: Final = names("input select textarea button meter progress output")
MAX_FIELDS: Final = 500
MAX_URL: Final = 2_000

_FIELD_TYPES: Final = {
    "": "text",
    "search": "text",
    "submit": "button",
    "reset": "button",
    "image": "button",
    "datetime-local": "date",
    "month": "date",
    "week": "date",
}
_FILMS: Final = (
    "youtube.com",
    "youtube-nocookie.com",
    "youtu.be",
    "vimeo.com",
    "bilibili.com",
    "dailymotion.com",
    "youku.com",
)
_SOUNDS: Final = ("soundcloud.com", "spotify.com")


def form_content(form: "LexborNode", base: str = "") -> dict[str, Any]:
    """Return a form with its fields; hidden ones are left out."""
    fields = [
        field_of(node, form, base) for node in form.css(", ".join(sorted(CONTROLS)))[:MAX_FIELDS] if is_shown(node)
    ]
    content: dict[str, Any] = {"fields": _grouped(fields)}
    legend = form.css_first("legend")
    title = attribute(form, "aria-label") or attribute(form, "title") or (text_of(legend, base) if legend else "")
    if title:
        content["title"] = title
    action = attribute(form, "action")
    return content | {"action": resolve(action, base)} if action else content


def field_of(node: "LexborNode", scope: "LexborNode | None", base: str = "") -> dict[str, Any]:
    """Return a control as a field; its label is looked for in `scope`."""
    kind = attribute(node, "type").lower() if node.tag in ("input", "button") else ""
    label = label_of(node, scope, base)
    content: dict[str, Any] = {
        "name": attribute(node, "name") or attribute(node, "id") or label or node.tag or "",
        "field_type": _field_type(node, kind),
    }
    if label:
        content["label"] = label
    if node.tag == "select":
        content |= _choice(node)
    else:
        value = _value(node, kind)
        if value != "":
            content["value"] = value
    if "required" in node.attributes:
        content["required"] = True
    if "readonly" in node.attributes or "disabled" in node.attributes:
        content["read_only"] = True
    return content


def widget_content(node: "LexborNode", scope: "LexborNode | None", base: str = "") -> dict[str, Any]:
    """Return a control that stands alone."""
    field = field_of(node, scope, base)
    content = {"widget_type": field["field_type"], "name": field["name"]}
    content |= {key: field[key] for key in ("label", "value") if key in field}
    return content | {"description": ", ".join(field["options"])} if field.get("options") else content


def label_of(node: "LexborNode", scope: "LexborNode | None", base: str = "") -> str:
    """Return what a control is called on the page."""
    if node.tag == "button":
        return text_inside(node)
    identity = attribute(node, "id")
    if identity and scope is not None and '"' not in identity and "\\" not in identity:
        label = scope.css_first(f'label[for="{identity}"]')
        if label is not None:
            return text_of(label, base).text
    parent = node.parent
    for _ in range(3):
        if parent is None or parent.tag == "label":
            break
        parent = parent.parent
    if parent is not None and parent.tag == "label":
        return text_of(parent, base).text
    named = attribute(node, "aria-label") or attribute(node, "title") or attribute(node, "placeholder")
    return named or (attribute(node, "alt") if attribute(node, "type") == "image" else "")


def labels_of(form: "LexborNode") -> "list[LexborNode]":
    """Return what a form's fields and its title have taken their words from."""
    controls = form.css(", ".join(sorted(CONTROLS)))
    ids = {attribute(node, "id") for node in controls} - {""}
    inside = {ancestor for node in controls for ancestor in _above(node)}
    labels = [node for node in form.css("label") if node.mem_id in inside or attribute(node, "for") in ids]
    named = attribute(form, "aria-label") or attribute(form, "title")
    legend = form.css_first("legend") if controls and not named else None
    return [*labels, legend] if legend is not None else labels


def _above(node: "LexborNode") -> list[int]:
    above: list[int] = []
    parent = node.parent
    while parent is not None and len(above) < 4:
        above.append(parent.mem_id)
        parent = parent.parent
    return above


def is_shown(node: "LexborNode") -> bool:
    """Whether a control is one that people see."""
    return not (node.tag == "input" and attribute(node, "type").lower() == "hidden")


def media_content(node: "LexborNode", base: str = "") -> dict[str, Any]:
    """Return sound or film."""
    source = next((child for child in children(node) if child.tag == "source"), None)
    url = attribute(node, "src") or (attribute(source, "src") if source is not None else "")
    content: dict[str, Any] = {}
    if url:
        content["url"] = shown_url(resolve(url, base))
    title = attribute(node, "title") or attribute(node, "aria-label")
    if title:
        content["title"] = title
    kind = attribute(source, "type") if source is not None else ""
    if kind:
        content["mime_type"] = kind.partition(";")[0]
    fallback = text_inside(node)
    return content | {"description": fallback} if fallback else content


def embedded(node: "LexborNode", base: str = "") -> tuple[ElementCategory, dict[str, Any]]:
    """Return what an `iframe`, `embed` or `object` shows: a film, a sound or something else."""
    url = resolve(attribute(node, "src") or attribute(node, "data"), base)
    title = attribute(node, "title") or attribute(node, "name")
    kind = attribute(node, "type")
    try:
        host = urlsplit(url if "://" in url else f"https:{url}").hostname or ""
    except ValueError:
        host = ""
    fallback = text_inside(node)
    if kind.startswith("image/"):
        return "image", {"alt": title or fallback, "url": shown_url(url), "mime_type": kind}
    for category, hosts in (("video", _FILMS), ("audio", _SOUNDS)):
        if kind.startswith(f"{category}/") or any(host == known or host.endswith(f".{known}") for known in hosts):
            content = {"url": shown_url(url), "title": title, "description": fallback}
            return category, {key: value for key, value in content.items() if value}  # type: ignore[return-value]
    content = {"widget_type": node.tag or "object", "name": title, "value": shown_url(url), "description": fallback}
    return "widget", {key: value for key, value in content.items() if value}


def image_content(node: "LexborNode", base: str = "") -> dict[str, Any]:
    """Return a picture: an `img`, or a drawing in the page."""
    if node.tag == "svg":
        title, description = node.css_first("title"), node.css_first("desc")
        content = {
            "alt": text_inside(title) or attribute(node, "aria-label"),
            "description": text_inside(description),
            "text": " ".join(_drawn(node)),
            "mime_type": "image/svg+xml",
        }
        return {key: value for key, value in content.items() if value or key == "alt"}
    url = attribute(node, "src") or attribute(node, "data-src")
    if url.startswith("data:") and attribute(node, "data-src"):
        url = attribute(node, "data-src")
    content = {"alt": " ".join(attribute(node, "alt").split()), "url": shown_url(resolve(url, base))}
    told = attribute(node, "title")
    if told and told != content["alt"]:
        content["description"] = told
    if url.startswith("data:"):
        content["mime_type"] = url[5:].partition(";")[0].partition(",")[0][:80]
    sizes = {name: attribute(node, name).removesuffix("px") for name in ("width", "height")}
    return content | {name: int(size) for name, size in sizes.items() if size.isdecimal() and len(size) < 7}


def _drawn(node: "LexborNode", depth: int = 0) -> Iterator[str]:
    """Yield the words of a drawing."""
    for child in children(node):
        if child.is_text_node or depth > 40:
            text = " ".join((child.text_content or child.text(deep=True) or "").split())
            if text:
                yield text
        elif child.tag not in ("title", "desc", "style", "script"):
            yield from _drawn(child, depth + 1)


def text_inside(node: "LexborNode | None") -> str:
    """Return the bare text of a node on one line."""
    return " ".join(node.text(deep=True).split()) if node is not None else ""


def shown_url(url: str) -> str:
    """Return an address as it is told: what carries its data in itself is cut."""
    return "" if url.startswith("data:") else url[:MAX_URL]


def _field_type(node: "LexborNode", kind: str) -> str:
    match node.tag:
        case "select":
            return "choice"
        case "textarea":
            return "text"
        case "button":
            return "button"
        case "input":
            return _FIELD_TYPES.get(kind, kind)
        case _:
            return node.tag or ""


def _value(node: "LexborNode", kind: str) -> str | bool:
    if node.tag == "textarea":
        return node.text(deep=True).strip()
    if kind in ("checkbox", "radio"):
        return "checked" in node.attributes
    if kind == "password":
        return ""
    return attribute(node, "value") or (text_inside(node) if node.tag == "output" else "")


def _choice(node: "LexborNode") -> dict[str, Any]:
    options = node.css("option")
    chosen = [text_inside(option) for option in options if "selected" in option.attributes]
    content: dict[str, Any] = {"options": [text_inside(option) for option in options]}
    if not options and text_inside(node):  # badly written, but there to be read
        content["options"] = [text_inside(node)]
    if chosen:
        content["value"] = chosen if "multiple" in node.attributes else chosen[0]
    return content


def _grouped(fields: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return fields with radio buttons of one name as one field of several options."""
    grouped: list[dict[str, Any]] = []
    groups: dict[str, dict[str, Any]] = {}
    for field in fields:
        if field["field_type"] != "radio":
            grouped.append(field)
            continue
        group = groups.get(field["name"])
        if group is None:
            group = {"name": field["name"], "field_type": "radio", "options": []}
            groups[field["name"]] = group
            grouped.append(group)
        option = field.get("label") or str(field.get("value", ""))
        group["options"].append(option)
        if field.get("value") is True:
            group["value"] = option
    return grouped
