"""MathML as LaTeX."""

import pytest

from a2c_smcp.documents.web.mathml import latex_of
from a2c_smcp.documents.web.parse import parse


@pytest.mark.parametrize(
    ("mathml", "latex"),
    [
        ("<mi>x</mi><mo>+</mo><mn>1</mn>", "x + 1"),
        ("<msup><mi>x</mi><mn>2</mn></msup>", "x^{2}"),
        ("<msub><mi>x</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub>", "x_{i j}"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_{i}^{2}"),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover>", "∑_{i}^{n}"),
        ("<munder><mi>lim</mi><mi>n</mi></munder>", "lim_{n}"),
        ("<mover><mi>x</mi><mo>^</mo></mover>", r"\overset{^}{x}"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", r"\sqrt[3]{x}"),
        ("<msqrt><mi>x</mi><mo>+</mo><mi>y</mi></msqrt>", r"\sqrt{x + y}"),
        ("<mtext>if so</mtext>", r"\text{if so}"),
        (
            "<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd><mi>c</mi></mtd></mtr></mtable>",
            r"\begin{matrix} a & b \\ c \end{matrix}",
        ),
        (
            "<semantics><mi>x</mi><annotation encoding='application/x-tex'>{\\displaystyle y^2}</annotation>",
            "y^2",
        ),
        ("<semantics><mi>x</mi><annotation encoding='text/plain'>no</annotation></semantics>", "x"),
        ("<mfrac><mi>x</mi></mfrac>", "x"),
    ],
)
def test_a_formula(mathml: str, latex: str) -> None:
    node = parse(f"<math>{mathml}</math>").css_first("math")
    assert node is not None
    assert latex_of(node) == latex


def test_formulas_nested_without_end_keep_their_text() -> None:
    node = parse("<math>" + "<mrow>" * 200 + "<mi>x</mi>").css_first("math")
    assert node is not None
    assert latex_of(node) == "x"
