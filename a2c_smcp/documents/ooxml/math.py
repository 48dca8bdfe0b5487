r"""Equations of Office as LaTeX: `m:f` becomes `\frac{…}{…}`, symbols their commands, and words stay words."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from a2c_smcp.documents.ooxml.xml import Node, attribute, child, children, local, text_of, value_of

_SYMBOLS: Final = {
    "×": r"\times", "·": r"\cdot", "⋅": r"\cdot", "÷": r"\div", "±": r"\pm", "∓": r"\mp", "≤": r"\leq", "≥": r"\geq",
    "≠": r"\neq", "≈": r"\approx", "≡": r"\equiv", "∼": r"\sim", "∝": r"\propto", "∞": r"\infty", "∂": r"\partial",
    "∇": r"\nabla", "∈": r"\in", "∉": r"\notin", "⊂": r"\subset", "⊆": r"\subseteq", "∪": r"\cup", "∩": r"\cap",
    "∅": r"\emptyset", "∀": r"\forall", "∃": r"\exists", "¬": r"\neg", "∧": r"\wedge", "∨": r"\vee", "→": r"\to",
    "←": r"\leftarrow", "↔": r"\leftrightarrow", "⇒": r"\Rightarrow", "⇔": r"\Leftrightarrow", "…": r"\ldots",
    "⋯": r"\cdots", "∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint",
    "⋃": r"\bigcup", "⋂": r"\bigcap", "√": r"\sqrt{}", "ℝ": r"\mathbb{R}", "ℕ": r"\mathbb{N}", "ℤ": r"\mathbb{Z}",
    "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}", "ℏ": r"\hbar", "°": r"^{\circ}", "′": "'", "−": "-", "∗": "*",
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\varepsilon", "ϵ": r"\epsilon",
    "ζ": r"\zeta", "η": r"\eta", "θ": r"\theta", "ϑ": r"\vartheta", "ι": r"\iota", "κ": r"\kappa", "λ": r"\lambda",
    "μ": r"\mu", "ν": r"\nu", "ξ": r"\xi", "π": r"\pi", "ρ": r"\rho", "σ": r"\sigma", "ς": r"\varsigma",
    "τ": r"\tau", "υ": r"\upsilon", "φ": r"\varphi", "ϕ": r"\phi", "χ": r"\chi", "ψ": r"\psi", "ω": r"\omega",
    "Γ": r"\Gamma", "Δ": r"\Delta", "Θ": r"\Theta", "Λ": r"\Lambda", "Ξ": r"\Xi", "Π": r"\Pi", "Σ": r"\Sigma",
    "Φ": r"\Phi", "Ψ": r"\Psi", "Ω": r"\Omega",
    "#": r"\#", "%": r"\%", "&": r"\&", "{": r"\{", "}": r"\}", "\\": r"\backslash",
}  # fmt: skip
_ACCENTS: Final = {
    "\u0300": "grave", "\u0301": "acute", "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar",
    "\u0307": "dot", "\u0308": "ddot", "\u030c": "check", "\u20d7": "vec", "\u20db": "dddot", "¯": "bar", "^": "hat",
    "~": "tilde", "→": "vec", "": "hat",
}  # fmt: skip
_FUNCTIONS: Final = frozenset(
    [
        "sin",
        "cos",
        "tan",
        "cot",
        "sec",
        "csc",
        "sinh",
        "cosh",
        "tanh",
        "coth",
        "arcsin",
        "arccos",
        "arctan",
        "log",
        "ln",
        "lg",
        "exp",
        "lim",
        "max",
        "min",
        "sup",
        "inf",
        "det",
        "gcd",
    ]
)
_FENCES: Final = {"{": r"\{", "}": r"\}", "⟨": r"\langle", "⟩": r"\rangle", "‖": r"\|", "": "."}
_BREAK: Final = r" \\ "


def latex(node: Node) -> str:
    """Return an `m:oMath`, or several in an `m:oMathPara`, as LaTeX."""
    if local(node) == "oMathPara":
        return _BREAK.join(filter(None, (latex(one) for one in children(node, "oMath"))))
    return " ".join(_inside(node).split())


def _inside(node: Node | None) -> str:
    return "".join(_convert(part) for part in node) if node is not None else ""


def _convert(node: Node) -> str:
    name = local(node)
    if name in _CONVERTERS:
        return _CONVERTERS[name](node)
    # Properties show nothing; whatever else holds the parts of an equation is looked into.
    return "" if name.endswith("Pr") else _inside(node) if len(node) else _symbols(text_of(node))


def _run(node: Node) -> str:
    text = "".join(text_of(part) for part in children(node, "t"))
    is_normal = child(node, "rPr", "nor") is not None
    if is_normal and len(text.strip()) > 1:
        return rf"\text{{{text}}}"
    return _symbols(text)


def _symbols(text: str) -> str:
    return "".join(_symbol(letter) for letter in text)


def _symbol(letter: str) -> str:
    command = _SYMBOLS.get(letter, letter)
    return f"{command} " if command[:1] == "\\" and len(command) > 2 else command


def _fraction(node: Node) -> str:
    over, under = _inside(child(node, "num")), _inside(child(node, "den"))
    match value_of(node, "fPr", "type"):
        case "lin" | "skw":
            return f"{over}/{under}"
        case "noBar":
            return rf"\binom{{{over}}}{{{under}}}"
    return rf"\frac{{{over}}}{{{under}}}"


def _root(node: Node) -> str:
    degree = _inside(child(node, "deg")).strip()
    return rf"\sqrt[{degree}]{{{_inside(child(node, 'e'))}}}" if degree else rf"\sqrt{{{_inside(child(node, 'e'))}}}"


def _script(*marks: tuple[str, str]) -> Callable[[Node], str]:
    def convert(node: Node) -> str:
        scripts = "".join(f"{mark}{{{_inside(child(node, name)).strip()}}}" for name, mark in marks)
        return f"{_base(node)}{scripts}"

    return convert


def _base(node: Node) -> str:
    base = _inside(child(node, "e")).strip()
    return base if len(base) <= 1 or re.fullmatch(r"\\?[A-Za-z]+", base) else f"{{{base}}}"


def _before(node: Node) -> str:
    scripts = f"_{{{_inside(child(node, 'sub'))}}}^{{{_inside(child(node, 'sup'))}}}"
    return f"{{}}{scripts}{_inside(child(node, 'e'))}"


def _large(node: Node) -> str:
    sign = value_of(node, "naryPr", "chr", default="∫")
    text = _SYMBOLS.get(sign, sign)
    for name, mark in (("sub", "_"), ("sup", "^")):
        if limit := _inside(child(node, name)).strip():
            text += f"{mark}{{{limit}}}"
    return f"{text} {_inside(child(node, 'e'))}"


def _delimited(node: Node) -> str:
    properties = child(node, "dPr")
    opening, closing = _fence(properties, "begChr", "("), _fence(properties, "endChr", ")")
    between = value_of(properties, "sepChr", default="|") if child(properties, "sepChr") is not None else "|"
    parts = [_inside(part) for part in children(node, "e")]
    return rf"\left{_FENCES.get(opening, opening)} {between.join(parts)} \right{_FENCES.get(closing, closing)}"


def _fence(properties: Node | None, name: str, default: str) -> str:
    found = child(properties, name)
    return attribute(found, "val") if found is not None else default


def _function(node: Node) -> str:
    name = _inside(child(node, "fName")).strip()
    word = re.match(r"[A-Za-z]+", name)
    if word and word[0] in _FUNCTIONS:
        name = f"\\{name}"
    return f"{name} {_inside(child(node, 'e'))}"


def _accent(node: Node) -> str:
    mark = _ACCENTS.get(value_of(node, "accPr", "chr", default="\u0302"), "hat")
    return rf"\{mark}{{{_inside(child(node, 'e'))}}}"


def _bar(node: Node) -> str:
    command = "underline" if value_of(node, "barPr", "pos") == "bot" else "overline"
    return rf"\{command}{{{_inside(child(node, 'e'))}}}"


def _grouped(node: Node) -> str:
    command = "overbrace" if value_of(node, "groupChrPr", "pos") == "top" else "underbrace"
    return rf"\{command}{{{_inside(child(node, 'e'))}}}"


def _limit(mark: str) -> Callable[[Node], str]:
    def convert(node: Node) -> str:
        base = _inside(child(node, "e")).strip()
        base = f"\\{base}" if base in _FUNCTIONS else base
        return f"{base}{mark}{{{_inside(child(node, 'lim')).strip()}}}"

    return convert


def _matrix(node: Node) -> str:
    rows = [" & ".join(_inside(cell) for cell in children(row, "e")) for row in children(node, "mr")]
    return rf"\begin{{matrix}} {_BREAK.join(rows)} \end{{matrix}}"


def _lines(node: Node) -> str:
    rows = [_inside(row) for row in children(node, "e")]
    return rf"\begin{{aligned}} {_BREAK.join(rows)} \end{{aligned}}"


_CONVERTERS: Final[Mapping[str, Callable[[Node], str]]] = {
    "r": _run,
    "f": _fraction,
    "rad": _root,
    "sSup": _script(("sup", "^")),
    "sSub": _script(("sub", "_")),
    "sSubSup": _script(("sub", "_"), ("sup", "^")),
    "sPre": _before,
    "nary": _large,
    "d": _delimited,
    "func": _function,
    "acc": _accent,
    "bar": _bar,
    "groupChr": _grouped,
    "limLow": _limit("_"),
    "limUpp": _limit("^"),
    "m": _matrix,
    "eqArr": _lines,
}
