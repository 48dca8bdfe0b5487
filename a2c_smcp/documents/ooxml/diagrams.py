"""SmartArt: the boxes of a diagram, what they say, and how they hang together."""

from typing import Any, Final

from a2c_smcp.documents.ooxml.drawings import body_text
from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.xml import Node, R, attribute, child, children

MAX_NODES: Final = 1_000


def read_diagram(root: Node) -> dict[str, Any]:
    """Return the content of a diagram's data part."""
    texts: dict[str, str] = {}
    for point in children(child(root, "ptLst"), "pt"):
        if attribute(point, "type", "node") in ("node", "asst") and len(texts) < MAX_NODES:
            texts[attribute(point, "modelId")] = body_text(child(point, "t"))
    parents: dict[str, str] = {}
    for connection in children(child(root, "cxnLst"), "cxn"):
        source, target = attribute(connection, "srcId"), attribute(connection, "destId")
        if attribute(connection, "type", "parOf") == "parOf" and source in texts and target in texts:
            parents[target] = source
    ids = {key: f"n{index}" for index, key in enumerate((key for key in texts if texts[key]), 1)}
    nodes = [
        {"id": ids[key], "text": texts[key]} | ({"parent": ids[parents[key]]} if parents.get(key) in ids else {})
        for key in ids
    ]
    content: dict[str, Any] = {"diagram_type": "SmartArt", "nodes": nodes}
    content["description"] = described(nodes)
    return content


def described(nodes: list[dict[str, str]]) -> str:
    """Return what the boxes say, in their order."""
    return "; ".join(" ".join(node["text"].split()) for node in nodes)


def diagram_at(package: Package, part: str, reference: Node) -> dict[str, Any] | None:
    """Return the diagram that a `dgm:relIds` points to, None where it is empty or lost."""
    target = package.target(part, reference.get(f"{R}dm"))
    root = package.optional(target) if target else None
    content = read_diagram(root) if root is not None else None
    return content if content and content["nodes"] else None
