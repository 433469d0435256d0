"""Formulas become MathML when the book is built, or the build says which one does not."""

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "book" / "_ext"))
from formulas import mathml

NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"


def test_an_index_and_a_power_are_told_apart():
    made = ElementTree.fromstring(mathml("x_i^2 + 1", "inline"))
    (both,) = made.iter(f"{NAMESPACE}msubsup")
    assert [part.text for part in both] == ["x", "i", "2"]
    assert made.get("display") == "inline"


def test_aligned_equations_are_rows_of_a_table():
    made = ElementTree.fromstring(
        mathml(r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "block")
    )
    rows = list(made.iter(f"{NAMESPACE}mtr"))
    assert ["".join(row.itertext()) for row in rows] == ["a=b", "c=d"]


@pytest.mark.parametrize("wrong", [r"\nosuchmacro x", r"\frac{1}{", "a & b", r"\begin{aligned} a"])
def test_what_is_no_formula_is_said(wrong):
    with pytest.raises(ValueError, match="formula"):
        mathml(wrong, "inline")


def test_a_mean_has_a_line_over_all_of_it():
    made = ElementTree.fromstring(mathml(r"\overline{d \, x_i}", "inline"))
    (over,) = (e for e in made.iter(f"{NAMESPACE}mrow") if e.get("class") == "overline")
    assert "".join(over.itertext()) == "dxi"
