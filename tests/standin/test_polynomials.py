"""``cupy.poly1d``, the routines around it and ``cupy.polynomial``: NumPy's values, CuPy's rules."""

import inspect
import operator
import subprocess
import sys

import cupy as cp
import numpy as np
import pytest

import gpuless
import helpers

pytestmark = pytest.mark.skipif(helpers.on_gpu, reason="of the stand-in's own rules")
P, Q = np.array([0, 3.0, -2, 5, 0]), np.array([2.0, 0, -7])


def same(got, want, atol=0):
    """Of the same kind, with the same values."""
    kinds = {np.poly1d: cp.poly1d, np.ndarray: cp.ndarray}
    assert type(got) is kinds.get(type(want), type(want))
    if isinstance(want, np.poly1d):
        assert got.variable == want.variable
        got, want = got.coeffs, want.coeffs
    assert getattr(got, "dtype", None) == getattr(want, "dtype", None)
    got = got.get() if isinstance(got, cp.ndarray) else got
    np.testing.assert_allclose(got, want, atol=atol)


ROUNDED = 1e-12  # zeros of products, which are Fourier transforms in CuPy
OPERATORS = (operator.add, operator.sub, operator.mul)


@pytest.mark.parametrize("function", OPERATORS)
@pytest.mark.parametrize("other", [np.poly1d(Q), Q, 3, 2.5])
def test_arithmetic(function, other):
    to = {np.poly1d: cp.poly1d, np.ndarray: cp.asarray}.get(type(other), lambda value: value)
    atol = ROUNDED if function is operator.mul else 0
    same(function(cp.poly1d(cp.asarray(P)), to(other)), function(np.poly1d(P), other), atol)
    if not isinstance(other, np.ndarray):
        same(function(to(other), cp.poly1d(cp.asarray(P))), function(other, np.poly1d(P)), atol)


@pytest.mark.parametrize("function", OPERATORS)
def test_of_what_stands_on_the_left(function):
    polynomial = cp.poly1d(cp.asarray(P))
    sums = function(cp.ones(4), polynomial)  # by element, as NumPy has it
    assert isinstance(sums, cp.ndarray)
    assert sums.tolist() == function(np.ones(4), P[1:]).tolist()
    with pytest.raises(TypeError):
        function(np.float64(2), polynomial)
    with pytest.raises(TypeError):
        function(polynomial, P)


@pytest.mark.parametrize("name", ["polyadd", "polysub", "polymul"])
def test_routines_of_two(name):
    ours, theirs = getattr(cp, name), getattr(np, name)
    p, q = cp.asarray(P), cp.asarray(Q, "f")
    atol = 0 if name != "polymul" else 1e-5  # of single precision
    same(ours(p, q), theirs(P, Q.astype("f")), atol)
    same(ours(cp.poly1d(p), q), theirs(np.poly1d(P), Q.astype("f")), atol)
    same(ours(3, q), theirs(3, Q.astype("f")), atol)
    for bad, error in ((P, TypeError), ([1, 2], TypeError), (cp.ones((2, 2)), ValueError)):
        with pytest.raises(error):
            ours(p, bad)


def test_values():
    x = np.linspace(-2, 2, 7)
    wanted = 3 * x**3 - 2 * x**2 + 5 * x
    polynomial = cp.poly1d(cp.asarray(P))
    for got in (polynomial(cp.asarray(x)), cp.polyval(cp.asarray(P), cp.asarray(x))):
        np.testing.assert_allclose(got.get(), wanted)
    assert float(polynomial(2)) == 26 and isinstance(polynomial(2), cp.ndarray)
    same(polynomial(cp.poly1d(cp.asarray(Q))), np.poly1d(P)(np.poly1d(Q)), ROUNDED)
    for bad, error in ((P, TypeError), (cp.ones(()), TypeError), (cp.ones((2, 2)), ValueError)):
        with pytest.raises(error):
            cp.polyval(bad, cp.ones(3))


def test_what_a_polynomial_is():
    polynomial = cp.poly1d(cp.asarray(P), variable="z")
    assert (polynomial.order, len(polynomial), polynomial.o) == (3, 3, 3)
    assert polynomial.c is polynomial.coef is polynomial.coefficients is polynomial.coeffs
    assert polynomial.c.tolist() == list(polynomial) == [3, -2, 5, 0]
    assert repr(polynomial) == repr(np.poly1d(P)) and "z" in str(polynomial)
    assert polynomial.get() == np.poly1d(P) and polynomial.get().variable == "z"
    assert polynomial == cp.poly1d(polynomial) and polynomial != -polynomial
    assert cp.poly1d(polynomial).variable == "z" and cp.poly1d(np.poly1d(P), variable="y").o == 3
    assert polynomial[2] == -2 and isinstance(polynomial[2], cp.ndarray) and polynomial[9] == 0
    polynomial[5] = 7
    assert polynomial.c.tolist() == [7, 0, 3, -2, 5, 0]
    assert cp.asarray(polynomial).tolist() == polynomial.c.tolist()
    assert (cp.sqrt(cp.poly1d([4, 9])) == cp.array([2, 3])).all()
    assert cp.poly1d([0, 0]).c.tolist() == [0] and cp.poly1d(cp.zeros(0)).c.tolist() == [0]
    polynomial.set(np.poly1d([1.0, 2, 3, 4, 5, 6], variable="w"))
    assert polynomial.c.tolist() == [1, 2, 3, 4, 5, 6] and polynomial.variable == "w"
    same(cp.poly1d(cp.asarray(Q)) ** 3, np.poly1d(Q) ** 3, ROUNDED)
    same(cp.poly1d(cp.asarray(Q)) / 4, np.poly1d(Q) / 4)
    same(cp.poly1d(cp.array([2.0, 5, -1]), r=True), np.poly1d([2.0, 5, -1], r=True))


def test_what_a_polynomial_refuses():
    polynomial = cp.poly1d(cp.asarray(P))
    for work, error in (
        (lambda: cp.poly1d(cp.ones((2, 2))), ValueError),
        (lambda: polynomial**-1, ValueError),
        (lambda: polynomial**2.0, TypeError),
        (lambda: polynomial / polynomial, NotImplementedError),
        (lambda: polynomial == 3, NotImplementedError),
        (lambda: polynomial.deriv(), NotImplementedError),
        (lambda: polynomial.integ(), NotImplementedError),
        (lambda: polynomial.set(polynomial), TypeError),
        (lambda: polynomial.__setitem__(-1, 2), ValueError),
        (lambda: setattr(polynomial, "coeffs", cp.ones(3)), AttributeError),
        (lambda: hash(polynomial), TypeError),
        (lambda: np.asarray(polynomial), TypeError),
    ):
        with pytest.raises(error):
            work()


def test_roots_and_the_polynomial_of_roots():
    """CuPy finds roots only where the companion matrix is Hermitian."""
    for found in (cp.roots(cp.array([2, -1, -2])), cp.poly1d(cp.array([0, 2, -1, -2])).roots):
        wanted = np.roots([2, -1, -2])
        assert found.dtype == np.float64
        np.testing.assert_allclose(np.sort(found.get()), np.sort(wanted))
    assert cp.roots(cp.array([4.0, -2])).tolist() == [0.5] and cp.roots(cp.ones(1)).size == 0
    for bad, error in (
        (cp.array([1, 2, 3]), NotImplementedError),
        (cp.array([1.0, 0, 0, -1]), NotImplementedError),
        (cp.array([True, False]), NotImplementedError),
        (cp.ones((3, 1)), ValueError),
        (cp.ones(()), TypeError),
        (P, TypeError),
    ):
        with pytest.raises(error):
            cp.roots(bad)
    same(cp.poly(cp.array([2.0, 5, -1])), np.poly([2.0, 5, -1]))
    same(cp.poly(cp.array([[2.0, 1], [1, 3]])), np.poly([[2.0, 1], [1, 3]]))
    with pytest.raises(NotImplementedError, match="Hermitian"):
        cp.poly(cp.array([[2.0, 1], [0, 3]]))
    with pytest.raises(ValueError, match="1d or non-empty square"):
        cp.poly(cp.ones((2, 3)))


def test_a_fit_becomes_a_polynomial():
    x = np.linspace(0, 3, 11)
    fitted = cp.poly1d(cp.polyfit(cp.asarray(x), cp.asarray(2 * x**2 - x + 4), 2))
    np.testing.assert_allclose(fitted.c.get(), [2, -1, 4], rtol=1e-10)


def test_the_module_of_the_newer_ones():
    ours, theirs = cp.polynomial.polynomial, np.polynomial.polynomial
    x, c, r = np.array([0.5, -2, 3]), np.array([[1.0, 2], [0, -1], [4, 4]]), np.array([1, -2])
    d = cp.asarray
    same(ours.polyvander(d(x, "f"), 4), theirs.polyvander(x.astype("f"), 4))
    same(ours.polycompanion(d(P[::-1])), theirs.polycompanion(P[::-1]))
    same(ours.polyval(d(x), d(c)), theirs.polyval(x, c))
    same(ours.polyval(d(x[:2]), d(c), tensor=False), theirs.polyval(x[:2], c, tensor=False))
    assert float(ours.polyval(2, d(Q))) == 2 - 28
    same(ours.polyvalfromroots(d(x), d(r)), theirs.polyvalfromroots(x, r))
    for work, error in (
        (lambda: ours.polyvander(d(x), -1), ValueError),
        (lambda: ours.polyvander(d(x), 2.5), TypeError),
        (lambda: ours.polyvander(x, 2), TypeError),
        (lambda: ours.polyval(x, d(Q)), TypeError),
        (lambda: ours.polycompanion(d(Q[:1])), ValueError),
        (lambda: ours.polyvalfromroots(d(x), d(r), tensor=False), ValueError),
    ):
        with pytest.raises(error):
            work()


def test_its_helpers():
    ours, theirs = cp.polynomial.polyutils, np.polynomial.polyutils
    series = np.array([3, 0, 1e-4, 0, 0])
    same(ours.trimseq(cp.asarray(series)), theirs.trimseq(series))
    same(ours.trimcoef(cp.asarray(series), 1e-3), theirs.trimcoef(series, 1e-3))
    made = ours.as_series([cp.asarray(series), cp.array([1, 2])])
    for got, want in zip(made, theirs.as_series([series, np.array([1, 2])]), strict=True):
        same(got, want)
    given = cp.array([1.0, 2, 0])
    for part in (ours.trimcoef(given), *ours.as_series([given])):
        assert part.size == 2 and cp.shares_memory(part, given)
    for work, error in (
        (lambda: ours.trimseq(cp.ones((3, 1))), ValueError),
        (lambda: ours.trimseq(cp.ones(())), TypeError),
        (lambda: ours.trimcoef(cp.ones(3), -1), ValueError),
        (lambda: ours.as_series([cp.zeros(0)]), ValueError),
        (lambda: ours.as_series([cp.ones(3, bool)]), ValueError),
        (lambda: ours.as_series([series]), TypeError),
    ):
        with pytest.raises(error):
            work()


def test_what_is_imported_when_it_is_asked_for():
    code = """if True:
        import gpuless; gpuless.install()
        import sys, cupy
        print("cupy._core._polynomials" in sys.modules or "cupy.polynomial" in sys.modules)
        from cupy import polynomial, poly1d
        print(cupy.polynomial.polynomial.polyval(2, cupy.ones(3)), cupy.poly1d is poly1d)"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n7.0 True\n"
    for module in (cp.polynomial.polynomial, cp.polynomial.polyutils):
        made = {name for name, value in vars(module).items() if inspect.isfunction(value)}
        assert gpuless.public(module.__name__) == {n for n in made if n[0] != "_"}


def test_odd_results_are_cupys():
    p = cp.poly1d(cp.array([1.0, 2]))
    assert type(p == p) is np.bool and p != cp.poly1d(cp.ones(3))
    with pytest.raises(TypeError, match="integer"):
        cp.polynomial.polynomial.polyvander(cp.ones(2), cp.array(2))
    assert cp.linalg.cond(cp.eye(2, dtype="F"), 1).dtype == np.complex64
    with pytest.raises(cp.linalg.LinAlgError, match="empty"):
        cp.linalg.cond(cp.ones((0, 2, 2)))
    for name in ("svd", "pinv"):
        with pytest.raises(cp.linalg.LinAlgError, match="infinities"):
            getattr(cp.linalg, name)(cp.diag(cp.array([cp.inf, 1.0, 1.0])))


def test_a_fit_with_weights_leaves_their_products():
    x, y, w = cp.arange(5.0), cp.ones(5), cp.arange(1.0, 6)
    cp.polyfit(x, y, 1, w=w)
    assert (y == w).all()
    single = cp.ones((5, 2), "f")
    cp.polyfit(x, single, 1, w=w)
    assert (single == 1).all()
    assert (
        cp.polyfit(x, cp.array([0, 0.1, 0.2, 0.3, 0.1], "f"), 1, w=w / 3).tolist()
        == cp.polyfit(x, cp.array([0, 0.1, 0.2, 0.3, 0.1], "f").astype(float), 1, w=w / 3).tolist()
    )
