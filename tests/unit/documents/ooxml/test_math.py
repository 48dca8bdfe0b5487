"""Equations as LaTeX."""

import pytest

from a2c_smcp.documents.ooxml.math import latex
from a2c_smcp.documents.ooxml.xml import parse
from tests.unit.documents.ooxml.office import MATH


def run(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


X, Y, N = run("x"), run("y"), run("n")
SUM = f"<m:sub>{X}</m:sub><m:sup>{N}</m:sup><m:e>{Y}</m:e>"


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        (run("x+1"), "x+1"),
        (run("α≤β"), r"\alpha \leq \beta"),
        (run("2πr"), r"2\pi r"),
        (run("50%"), r"50\%"),
        ("<m:r><m:rPr><m:nor/></m:rPr><m:t>if so</m:t></m:r>", r"\text{if so}"),
        (f"<m:f><m:num>{X}</m:num><m:den>{Y}</m:den></m:f>", r"\frac{x}{y}"),
        (f'<m:f><m:fPr><m:type m:val="lin"/></m:fPr><m:num>{X}</m:num><m:den>{Y}</m:den></m:f>', "x/y"),
        (f'<m:f><m:fPr><m:type m:val="noBar"/></m:fPr><m:num>{N}</m:num><m:den>{X}</m:den></m:f>', r"\binom{n}{x}"),
        (f"<m:sSup><m:e>{X}</m:e><m:sup>{run('2')}</m:sup></m:sSup>", "x^{2}"),
        (f"<m:sSub><m:e>{X}</m:e><m:sub>{N}</m:sub></m:sSub>", "x_{n}"),
        (f"<m:sSup><m:e>{run('x+y')}</m:e><m:sup>{N}</m:sup></m:sSup>", "{x+y}^{n}"),
        (f"<m:sSubSup><m:e>{X}</m:e><m:sub>{N}</m:sub><m:sup>{Y}</m:sup></m:sSubSup>", "x_{n}^{y}"),
        (f"<m:sPre><m:sub>{N}</m:sub><m:sup>{Y}</m:sup><m:e>{X}</m:e></m:sPre>", "{}_{n}^{y}x"),
        (f"<m:rad><m:deg/><m:e>{X}</m:e></m:rad>", r"\sqrt{x}"),
        (f"<m:rad><m:deg>{N}</m:deg><m:e>{X}</m:e></m:rad>", r"\sqrt[n]{x}"),
        (
            f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>{SUM}</m:nary>',
            r"\sum_{x}^{n} y",
        ),
        (f"<m:nary><m:e>{X}</m:e></m:nary>", r"\int x"),
        (f"<m:d><m:e>{X}</m:e><m:e>{Y}</m:e></m:d>", r"\left( x|y \right)"),
        (
            f'<m:d><m:dPr><m:begChr m:val="{{"/><m:endChr m:val=""/></m:dPr><m:e>{X}</m:e></m:d>',
            r"\left\{ x \right.",
        ),
        (f"<m:func><m:fName>{run('sin')}</m:fName><m:e>{X}</m:e></m:func>", r"\sin x"),
        (f'<m:acc><m:accPr><m:chr m:val="⃗"/></m:accPr><m:e>{X}</m:e></m:acc>', r"\vec{x}"),
        (f"<m:bar><m:e>{X}</m:e></m:bar>", r"\overline{x}"),
        (f"<m:limLow><m:e>{run('lim')}</m:e><m:lim>{run('x→0')}</m:lim></m:limLow>", r"\lim_{x\to 0}"),
        (
            f"<m:m><m:mr><m:e>{X}</m:e><m:e>{Y}</m:e></m:mr><m:mr><m:e>{N}</m:e><m:e>{X}</m:e></m:mr></m:m>",
            r"\begin{matrix} x & y \\ n & x \end{matrix}",
        ),
        (f"<m:eqArr><m:e>{X}</m:e><m:e>{Y}</m:e></m:eqArr>", r"\begin{aligned} x \\ y \end{aligned}"),
        (f"<m:box><m:boxPr/><m:e>{X}</m:e></m:box>", "x"),
    ],
)
def test_an_equation_becomes_latex(xml: str, text: str) -> None:
    assert latex(parse(f'<m:oMath xmlns:m="{MATH}">{xml}</m:oMath>'.encode())) == text


def test_a_paragraph_of_equations_is_one_formula_of_several_lines() -> None:
    xml = f'<m:oMathPara xmlns:m="{MATH}"><m:oMath>{X}</m:oMath><m:oMath>{Y}</m:oMath></m:oMathPara>'
    assert latex(parse(xml.encode())) == r"x \\ y"
