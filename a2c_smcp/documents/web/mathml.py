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
        if any(kind in attribute(node, "encoding").lower() for kind in ("x-tex", "latex")):
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
    if node.is_text_node:
        return (node.text_content or "").strip()
    tag = node.tag or ""
    if tag in ("annotation", "annotation-xml"):
        return ""
    if depth > _MAX_DEPTH:
        return " ".join(node.text(deep=True).split())
    # Once each: reading a part twice at every level would double the work with each of them.
    inner = [(child.is_text_node, _one(child, depth + 1)) for child in children(node)]
    parts = [text for is_text, text in inner if not is_text]
    row = " ".join(text for _, text in inner if text)
    count, pattern = _CONSTRUCTS.get(tag, (-1, ""))
    if len(parts) == count:
        return pattern.format(*parts)
    match tag:
        case "msqrt":
            return rf"\sqrt{{{row}}}"
        case "mtr":
            return " & ".join(parts)
        case "mtable":
            lines = r" \\ ".join(parts)
            return rf"\begin{{matrix}} {lines} \end{{matrix}}"
        case "mtext":
            return rf"\text{{{row}}}"
        case _:
            return row
