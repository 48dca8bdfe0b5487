"""MathML as LaTeX: what its author annotated, else the usual constructs. Pure, but for the tree it reads."""

from typing import TYPE_CHECKING, Final

from a2c_smcp.documents.web.parse import attribute, children

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_MAX_DEPTH: Final = 30
# How many parts a construct has, and how they are written.
_CONSTRUCTS: Final = {
    "mfrac": (2, r"\frac{{{0}}}{{{1}}}"),
    "msup": (2, "{0}^{{{1}}}"),
    "msub": (2, "{0}_{{{1}}}"),
    "mover": (2, r"\overset{{{1}}}{{{0}}}"),
    "munder": (2, "{0}_{{{1}}}"),
    "msubsup": (3, "{0}_{{{1}}}^{{{2}}}"),
    "munderover": (3, "{0}_{{{1}}}^{{{2}}}"),
    "mroot": (2, r"\sqrt[{1}]{{{0}}}"),
}


def latex_of(math: "LexborNode") -> str:
    """Return the LaTeX of a formula."""
    for node in math.css("annotation"):
        if "tex" in attribute(node, "encoding").lower():
            return _unwrapped(node.text(deep=True))
    alternative = attribute(math, "alttext")
    return _unwrapped(alternative) if alternative else _row(math, 0).strip()


def _unwrapped(tex: str) -> str:
    tex = " ".join(tex.split()).strip("$").strip()
    inner = tex.removeprefix(r"{\displaystyle").removesuffix("}").strip()
    return inner if tex.startswith(r"{\displaystyle") else tex


def _row(node: "LexborNode", depth: int) -> str:
    return " ".join(filter(None, (_one(child, depth) for child in children(node))))


def _one(node: "LexborNode", depth: int) -> str:
    tag = node.tag or ""
    if node.is_text_node:
        return (node.text_content or "").strip()
    if depth > _MAX_DEPTH:
        return " ".join(node.text(deep=True).split())
    parts = [_one(child, depth + 1) for child in children(node) if not child.is_text_node]
    count, pattern = _CONSTRUCTS.get(tag, (-1, ""))
    if len(parts) == count:
        return pattern.format(*parts)
    match tag:
        case "msqrt":
            return rf"\sqrt{{{_row(node, depth + 1)}}}"
        case "mtr":
            return " & ".join(parts)
        case "mtable":
            lines = r" \\ ".join(parts)
            return rf"\begin{{matrix}} {lines} \end{{matrix}}"
        case "mtext":
            return rf"\text{{{node.text(deep=True).strip()}}}"
        case "annotation" | "annotation-xml":
            return ""
        case _:
            return _row(node, depth + 1)
