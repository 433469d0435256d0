"""``cupy.vectorize``: a function of numbers as a kernel, with a kernel's types."""

import cupy as cp
import numpy as np
import pytest
from translated import collatz

import helpers

pytestmark = pytest.mark.skipif(helpers.on_gpu, reason="of the stand-in's own translator")
NUMBERS = np.array([0, 1, 5, 6, 7, 27, 97, -3])


def first_divisor(n, limit):
    found = 0
    for d in range(2, limit):
        if n % d != 0:
            continue
        found = d
        break
    return found


def early(x):
    if x < 0:
        return -x
    for i in range(3):
        x += i
        if x > 7:
            return x * 10
    return x


def halves(x, y):
    a, b = y / 2, x
    return a, b - 1


@pytest.mark.parametrize("function, more", [(collatz, ()), (first_divisor, (7,)), (early, ())])
def test_loops_and_branches_are_pythons(function, more):
    found = cp.vectorize(function)(cp.asarray(NUMBERS), *more)
    assert found.dtype == np.int64
    assert found.get().tolist() == [function(int(n), *more) for n in NUMBERS]


def test_arguments_broadcast_and_tuples_come_back_as_arrays():
    x, y = cp.arange(3, dtype="f")[:, None], cp.arange(5, dtype="f")
    first, second = cp.vectorize(halves)(x, y)
    assert first.shape == second.shape == (3, 5)
    assert np.array_equal(first.get(), np.broadcast_to(np.arange(5) / 2, (3, 5)))
    assert np.array_equal(second.get(), np.broadcast_to(np.arange(3)[:, None] - 1, (3, 5)))
    assert cp.vectorize(lambda a: a + 1)(cp.zeros(0, "i")).shape == (0,)


def test_types_are_those_of_the_arguments_not_of_the_values():
    """Numbers in the text are int64 and float64, as in CuPy's kernel; all branches count."""
    single = cp.arange(3, dtype="f")
    assert cp.vectorize(lambda x: x + 1)(single).dtype == np.float64
    assert cp.vectorize(lambda x: x if x > 0 else 0)(single).dtype == np.float32

    def two_types(x):
        if x > 100:  # no element is
            return 1
        return x

    with pytest.raises(ValueError, match="Failed to infer the return type: long long or float"):
        cp.vectorize(two_types)(single)

    def narrower(n):
        n = n / 2
        return n

    with pytest.raises(TypeError, match="Cannot cast from 'float64' to int32"):
        cp.vectorize(narrower)(cp.arange(3, dtype="i"))


def sums(x, y):
    return float((x + x) // y), float(-(x + y)), (x + x) * 1000, x + x


def test_small_integers_are_an_int_until_they_are_kept():
    """As in C++: 200 + 200 is no 144 of ``uint8`` before it is a variable or a result."""
    big, two = cp.array([200], "B"), cp.array([2], "B")
    found = cp.vectorize(sums)(big, two)
    assert [one.get().tolist() for one in found] == [[200.0], [-202.0], [400_000], [144]]
    assert [one.dtype.name for one in found] == ["float64", "float64", "int64", "uint8"]


def chooses(x):
    return 1 if True else x


def test_it_is_what_the_translator_of_kernels_makes_of_it():
    assert cp.vectorize(lambda x: ~x)(cp.array([True, False])).get().tolist() == [True, True]
    with pytest.raises(AttributeError, match="conditional expression of a constant"):
        cp.vectorize(chooses)(cp.arange(3))
    with pytest.raises(NotImplementedError, match="`cupy_sign` is not supported"):
        cp.vectorize(lambda x: cp.sign(x))(cp.arange(3.0))
    with pytest.raises(ValueError, match="Loop size is undecided"):
        cp.vectorize(lambda x: x + 1)(3)


def test_the_functions_of_errors():
    from cupyx.scipy import special

    x = cp.array([0.5, 1.0], "f")
    found = cp.vectorize(lambda x: special.erf(x) - special.erfc(x))(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.get(), (special.erf(x) - special.erfc(x)).get(), rtol=1e-6)


def sets_sometimes(x):
    if x > 0:
        y = x
    return y


def test_a_variable_that_was_not_set_is_garbage():
    found = cp.vectorize(sets_sometimes)(cp.array([1.5, -2.0])).get()
    assert found[0] == 1.5 and abs(found[1]) > 1e100


def test_what_cannot_be_a_kernel_is_refused():
    x = cp.arange(3.0)

    def calls(x):
        return print(x)

    def nests(x):
        def inner():
            return 1

        return x

    def names(x):
        return x + unknown  # noqa: F821

    def nothing(x):
        x + 1  # noqa: B018

    for function, error, text in (
        (calls, TypeError, "Invalid function call 'print'"),
        (nests, NotImplementedError, "Nested functions"),
        (names, NameError, "unknown"),
        (nothing, TypeError, "Invalid return type: void"),
        (lambda x: 1 < x < 2, NotImplementedError, "Comparison of 3 or more"),
        (lambda x, *more: x, NotImplementedError, "args"),
        (lambda x, y: x, TypeError, "takes 2 positional arguments but 1 were given"),
    ):
        with pytest.raises(error, match=text):
            cp.vectorize(function)(x)
    with pytest.raises(TypeError, match="Unsupported type"):
        cp.vectorize(collatz)(x.get())
    with pytest.raises(NotImplementedError):
        cp.vectorize(collatz, otypes="d")(x)
    for option in ("excluded", "signature"):
        with pytest.raises(NotImplementedError, match=option):
            cp.vectorize(collatz, **{option: "x"})
