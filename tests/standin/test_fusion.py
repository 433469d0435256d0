"""cupy.fuse: the function's own results, and CuPy's refusals."""

import cupy as cp
import numpy as np
import pytest

RNG = np.random.default_rng(8)
X, Y = RNG.normal(size=(2, 4, 5)).astype("float32")


def both(function, *arrays):
    """The fused function on device arrays beside the plain one on NumPy arrays."""
    on_host = function(np, *(a.copy() for a in arrays))
    fused = cp.fuse(kernel_name="k")(lambda *args: function(cp, *args))
    return fused(*(cp.asarray(a) for a in arrays)), on_host


@pytest.mark.parametrize(
    "function",
    [
        lambda xp, x, y: (x - y) * (x - y) + 2 * x,
        lambda xp, x, y: xp.exp(-x) / (1 + abs(1)) ** 2 + y,
        lambda xp, x, y: xp.where(x > y, x, -y),
        lambda xp, x, y: xp.sum(x * y, axis=0),
        lambda xp, x, y: (x * y).sum(),
        lambda xp, x, y: xp.sqrt(xp.sum(x * x, axis=1)) + 1,
        lambda xp, x, y: xp.maximum(x, 0).astype("float64") + y.max(),
        lambda xp, x, y: xp.clip(x, -0.5, 0.5) + xp.copy(y)[None][...][0],
        lambda xp, x, y: x[::-1] + y[...],
        lambda xp, x, y: 1 / (2 - x) + 2.0**2 - (y % 3) // 1 + x**2,
    ],
)
def test_result(function):
    got, wanted = both(function, X, Y)
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got.get(), wanted, rtol=1e-5, atol=1e-6)


def test_several_results_and_none():
    (total, difference), wanted = both(lambda xp, x, y: (x + y, x - y), X, Y)
    np.testing.assert_array_equal(total.get(), wanted[0])
    np.testing.assert_array_equal(difference.get(), wanted[1])
    x = cp.asarray(X)

    @cp.fuse(kernel_name="double_in_place")
    def double(x):
        x *= 2

    assert double(x) is None
    np.testing.assert_array_equal(x.get(), 2 * X)


def test_output_argument_and_assignment():
    @cp.fuse
    def fill(x, z):
        cp.add(x, 1, out=z)
        x[...] = z * 2

    x, z = cp.asarray(X), cp.zeros_like(X)
    fill(x, z)
    np.testing.assert_array_equal(z.get(), X + 1)
    np.testing.assert_array_equal(x.get(), (X + 1) * 2)


def test_the_result_is_an_array_of_its_own():
    x = cp.asarray(X)
    y = cp.fuse(kernel_name="k")(lambda x: x)(x)
    y[...] = 0
    np.testing.assert_array_equal(x.get(), X)


def test_scalars_keep_their_kind():
    scale = cp.fuse(kernel_name="k")(lambda x, s, t: x * s + (t if t is not None else 1))
    y = scale(cp.asarray(X), 2.5, None)
    assert y.dtype == np.float32
    np.testing.assert_allclose(y.get(), X * np.float32(2.5) + 1)
    assert scale(cp.asarray(X), np.float64(2.5), 1).dtype == np.float64


TYPES = {
    "B*0.5": "e",
    "?*2": "b",
    "?*2+f": "f",
    "B*300": "B",
    "h*0.5": "f",
    "i*0.5": "d",
    "f*1j": "F",
}


@pytest.mark.parametrize("text", TYPES)
def test_numbers_have_the_least_type_that_a_kernel_takes(text):
    kind, _, number = text.removesuffix("+f").partition("*")
    x, y = cp.ones(3, kind), cp.ones(3, "f")
    number = complex(number) if "j" in number else float(number) if "." in number else int(number)
    for fused in (lambda x, y: x * number, lambda x, y, n=number: n * x):
        if text.endswith("+f"):
            made = cp.fuse(kernel_name="k")(lambda x, y, fused=fused: fused(x, y) + y)(x, y)
        else:
            made = cp.fuse(kernel_name="k")(fused)(x, y)
        assert made.dtype.char == TYPES[text]
    chosen = cp.fuse(kernel_name="k")(lambda x, t: cp.where(x > t, x, t * 0.5))
    assert chosen(y, 1).dtype == np.float32 and chosen(y.astype("e"), 1).dtype == np.float16


def test_without_device_arrays_it_is_the_plain_function():
    double = cp.fuse(kernel_name="k")(lambda x: x * 2)
    np.testing.assert_array_equal(double(X), 2 * X)
    assert double("ab") == "abab"


def test_nested():
    inner = cp.fuse(kernel_name="k")(lambda x: x * 2)
    outer = cp.fuse(kernel_name="k")(lambda x: inner(x) + 1)
    np.testing.assert_allclose(outer(cp.asarray(X)).get(), X * 2 + 1, rtol=1e-6)


def test_name_and_documentation():
    @cp.fuse(kernel_name="squared_diff")
    def squared(x, y):
        """About it."""
        return (x - y) * (x - y)

    assert squared.name == "squared_diff" and squared.__doc__ == "About it."
    assert repr(squared) == "<Fusion 'squared_diff'>"


CONCRETE = cp.asarray(X)
square = cp.ElementwiseKernel("T x", "T y", "y = x * x", "square")


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: x if x > 0 else -x, TypeError, "Cannot convert to Python scalar in cupy.fuse"),
        (lambda x: x * float(x), TypeError, "Cannot convert to Python scalar in cupy.fuse"),
        (lambda x: x + CONCRETE, TypeError, "Concrete ndarray is not supported in fusion."),
        (lambda x: x + X, TypeError, "Concrete ndarray is not supported in fusion."),
        (lambda x: x[1:], NotImplementedError,
         "Only full range ``x[::]`` or reverse ``x[::-1]`` is supported for basic slicing in CuPy "
         "fusion."),
        (lambda x: x[[0, 1]], IndexError,
         "Indices must be integers, slices, ellipsis, None or integer or boolean arrays."),
        (lambda x: x[0, 0, 0], IndexError, "Too many indices for array."),
        (lambda x: x.reshape(-1), AttributeError,
         "'_ArrayProxy' object has no attribute 'reshape'"),
        (lambda x: x.get(), AttributeError, "'_ArrayProxy' object has no attribute 'get'"),
        (lambda x: x * x.shape[0], NotImplementedError,
         "`shape` is not supported, currently."),
        (lambda x: cp.sum(x, axis=0, keepdims=True), NotImplementedError,
         "cupy.sum does not support `keepdims` in fusion yet."),
        (lambda x: x.astype("d", order="F"), TypeError, "order is not supported yet"),
        (lambda x: 3, ValueError,
         "The return value of fused functions must be `None`, ndarray or a tuple of ndarays."),
        (lambda x: (x, 3), ValueError,
         "The all elements of return value of fused function must be of _ArrayProxy type."),
    ],
)  # fmt: skip
def test_what_cannot_be_fused(function, error, message):
    with pytest.raises(error) as caught:
        cp.fuse(function)(cp.asarray(X))
    assert str(caught.value) == message
    more = cp.fuse(kernel_name="k")(lambda x: x + 1)
    assert more(CONCRETE).shape == X.shape  # and fusing has ended


def test_assignment_to_a_part():
    @cp.fuse
    def set_first(x):
        x[0] = 1

    with pytest.raises(ValueError, match=r"^The fusion supports `\[\.\.\.\]` or `\[:\]`\.$"):
        set_first(cp.asarray(X))


def test_kernels_and_other_functions_take_no_proxies():
    for function in (square, cp.sort, cp.linalg.norm, cp.dot):
        with pytest.raises((TypeError, AttributeError)):
            cp.fuse(kernel_name="k")(lambda x, f=function: f(x))(cp.asarray(X))


def test_argument_types():
    named = cp.fuse(kernel_name="named")(lambda x, y: x)
    with pytest.raises(TypeError) as caught:
        named(cp.asarray(X), "text")
    wanted = f"Invalid argument type for 'named': ({cp.ndarray!r}, <class 'str'>)"
    assert str(caught.value) == wanted
    with pytest.raises(TypeError, match="^Unsupported input type <class 'numpy.ndarray'>.$"):
        named(cp.asarray(X), X)


def test_a_condition_is_boolean():
    x = cp.arange(3)
    for condition, wanted in ((True, x), (False, -x), (np.bool_(True), x)):
        fused = cp.fuse(kernel_name="k")(lambda x, c=condition: cp.where(c, x, -x))
        assert fused(x).tolist() == wanted.tolist()
    for condition in (2, 0.5, np.int8(1)):
        with pytest.raises(TypeError, match="a condition is Boolean"):
            cp.fuse(kernel_name="k")(lambda x, c=condition: cp.where(c, x, -x))(x)


def test_a_copy_inside():
    x = cp.arange(3)
    assert cp.fuse(kernel_name="k")(lambda x: x.copy() + cp.copy(x))(x).tolist() == [0, 2, 4]


def test_where_takes_an_integer_that_the_type_cannot_hold():
    x = cp.array([3, 0, 7], np.uint8)
    fused = cp.fuse(kernel_name="k")(lambda x: cp.where(x > 0, x, -3))(x)
    assert fused.dtype == np.uint8 and fused.tolist() == [3, 253, 7]
    with pytest.raises(OverflowError):  # only outside of fuse
        cp.where(x > 0, x, -3)


@pytest.mark.parametrize(
    "function, dtype",
    [
        (lambda x: x / 2, "d"),
        (lambda x: 300 / x, "d"),
        (lambda x: x / 2.5, "e"),
        (lambda x: x < 300, "?"),
        (lambda x: (x == 44) | (300 != x), "?"),
        (lambda x: cp.logical_and(x, 256), "?"),
        (lambda x: cp.float_power(x, 2), "d"),
    ],
)
def test_integers_divide_and_compare_as_wide_ones(function, dtype):
    """CuPy has no kernel for these of small integers: 300 stays 300 beside them."""
    x = np.array([1, 44, 255], "B")
    found = cp.fuse(kernel_name="wide")(function)(cp.asarray(x))
    assert found.dtype == dtype
    np.testing.assert_allclose(found.get(), function(cp.asarray(x, "q")).get(), rtol=1e-3)


def test_each_result_has_an_element_for_each_of_the_arguments():
    x, y = cp.arange(4.0), cp.zeros((3, 4))

    @cp.fuse()
    def results(x, y, a):
        return x + 1, a * 2, y

    assert [one.shape for one in results(x, y, 2.5)] == [(3, 4)] * 3
    assert cp.fuse(kernel_name="both")(lambda x, y: cp.logical_and(x, x))(x, y).shape == (3, 4)
    assert results(x, y, 2.5)[1].get().tolist() == [[5.0] * 4] * 3
    with pytest.raises(ValueError, match="could not be broadcast"):
        results(x, cp.zeros(3), 1)

    @cp.fuse()
    def part(x, y):  # in CuPy another kernel, which has a shape for each
        return x[::-1]

    assert part(x, y).shape == (4,)


def test_functions_of_numbers_alone():
    @cp.fuse()
    def rounds(x):
        return cp.around(200) + cp.real(0.1), x

    assert rounds(cp.zeros(2))[0].dtype == np.float16
    with pytest.raises(TypeError):
        cp.fuse(kernel_name="minus")(lambda x, a: -a)(cp.zeros(2), True)


FACTOR = 2


def test_the_function_runs_once_for_each_combination_of_types(monkeypatch):
    runs = []

    @cp.fuse()
    def scaled(x, s):
        runs.append(x.ndim)
        y = x * FACTOR if FACTOR > 1 else -x
        y += s
        return y

    x = cp.arange(3.0)
    assert scaled(x, 1).tolist() == [1, 3, 5]
    monkeypatch.setitem(globals(), "FACTOR", 1)
    assert scaled(x + 1, 2).tolist() == [4, 6, 8]  # with what FACTOR was
    assert scaled(x[None], 2).tolist() == [[2, 1, 0]]
    assert scaled(x, 2.5).tolist() == [2.5, 1.5, 0.5]
    assert runs == [1, 2, 1]
    scaled.clear_cache()
    assert scaled(x, 1).tolist() == [1, 0, -1]
    # A boolean and an integer are one combination: the first one's type stays.
    assert scaled(x, True).tolist() == [1, 0, -1]
    which = cp.fuse(kernel_name="k")(lambda x, s: x * s)
    assert which(x, True).tolist() == which(x, 5).tolist() == [0, 1, 2]


def test_kept_steps_with_several_arrays():
    @cp.fuse()
    def steps(x, y, z):
        cp.add(x, 1, z)
        z *= cp.where(y > x, x, y)
        return cp.sum(z[::-1], axis=0), x.copy()

    for a, b in ((X, Y), (Y, X), (X[:2], X[:2] + 1)):
        z = cp.zeros_like(cp.asarray(a))
        total, copied = steps(cp.asarray(a), cp.asarray(b), z)
        np.testing.assert_allclose(z.get(), (a + 1) * np.where(b > a, a, b), rtol=1e-6)
        np.testing.assert_allclose(total.get(), z.get().sum(0), rtol=1e-5)
        assert (copied.get() == a).all()
    same = cp.asarray(X)
    increment = cp.fuse(kernel_name="k")(lambda x, z: cp.add(x, 1, z) * 2)
    increment(same, same)
    doubled = increment(cp.asarray(X), z := cp.zeros_like(same))
    np.testing.assert_array_equal(z.get(), X + 1)
    np.testing.assert_array_equal(doubled.get(), (X + 1) * 2)


def test_kernels_that_are_not_simple_stay(monkeypatch):
    """As in CuPy, whose ``clear_cache`` does not reach them."""
    reverse = cp.fuse(kernel_name="k")(lambda x: x[::-1] * FACTOR)
    x = cp.arange(3.0)
    reverse(x)
    monkeypatch.setitem(globals(), "FACTOR", 1)
    reverse.clear_cache()
    assert reverse(x).tolist() == [4, 2, 0]
    assert reverse(x[:]).tolist() == [2, 1, 0]  # of a view CuPy makes a kernel of its own


def test_extents_that_must_be_equal_for_steps_to_be_taken_again():
    runs = []

    @cp.fuse()
    def added(x, y, z):
        runs.append(1)
        return x[None, 0, ::-1][0] + y.sum(axis=1) * z

    def count(x, y, z):
        x, y, z = (cp.arange(np.prod(shape, dtype=int)).reshape(shape) for shape in (x, y, z))
        wanted = x.get()[0, ::-1] + y.get().sum(1) * z.get()
        assert added(x, y, z).get().tolist() == wanted.tolist()
        return len(runs)

    assert count((2, 3), (3, 4), (3,)) == 2  # for a simple kernel first
    assert count((4, 4), (4, 2), (4,)) == 2  # the same three are equal
    assert count((2, 3), (3, 4), (1,)) == 3
    assert count((5, 1), (1, 1), (1,)) == 3  # in CuPy of the first: all three are equal again
    assert count((2, 1), (5, 4), (5,)) == 4
    assert count((2, 1), (1, 4), (1,)) == 4


def test_an_assignment_casts_as_a_copy_does():
    def assign(x, y):
        cp.fuse(kernel_name="k")(lambda x, y: y.__setitem__(..., x))(x, y)

    message = (
        r"^Cannot cast output operand from dtype\('float32'\) to dtype\('int32'\) according to the "
        r"rule 'same_kind'$"
    )
    for given in (cp.ones(3, "f"), np.float32(1)):
        with pytest.raises(TypeError, match=message):
            assign(given, cp.zeros(3, "i"))
    for number, kind, wanted in ((2, "h", 2), (0.1, "d", float(np.float16(0.1))), (300, "q", 44)):
        y = cp.zeros(2, kind)
        assign(number, y)
        assert y.tolist() == [wanted] * 2  # of the first type of its kind
    y = cp.zeros(2, "b")
    assign(cp.array([1, 300]), y)
    assert y.tolist() == [1, 44]
    y = cp.zeros(2)
    cp.fuse(kernel_name="k")(lambda y: y[::-1].__setitem__(..., 0.1))(y)
    assert y.tolist() == [0.1] * 2  # CuPy's other kernels have a number's own type


def test_an_array_that_is_returned_twice():
    @cp.fuse()
    def twice(x):
        y = x + 1
        return y, y

    one, two = twice(cp.zeros(2))
    one += 1
    assert two.tolist() == [1, 1]
    reverse = cp.fuse(kernel_name="k")(lambda x: (x[::-1],) * 2)
    with pytest.raises(NotImplementedError, match=r"return y.copy\(\) the second time"):
        reverse(cp.zeros(2))


def test_what_is_returned_of_a_kernel_that_is_not_simple():
    x = cp.arange(3.0)
    reverse = cp.fuse(kernel_name="k")(lambda x: x[::-1])
    for _ in range(2):
        reverse(x)[0] += 1
    assert x.tolist() == [0, 1, 4]  # a view, as in CuPy


def test_a_sum_of_another_type():
    """CuPy's simple kernels drop the type, its others do not."""
    x = cp.full(3, 100, np.int8)
    with pytest.raises(NotImplementedError, match=r"make one of x.astype\(dtype\)"):
        cp.fuse(kernel_name="k")(lambda x: cp.sum(x, dtype="q"))(x)
    assert cp.fuse(kernel_name="k")(lambda x: cp.sum(x.astype("q")))(x) == 300
    assert cp.fuse(kernel_name="k")(lambda x: cp.sum(x[:], dtype="q"))(x) == 300


@pytest.mark.parametrize(
    "function",
    [
        lambda x: cp.where(x & 1, x, 0),
        lambda x: cp.clip(x, None, 1),
        lambda x: cp.add(x, 1, casting="unsafe"),
    ],
)
def test_arguments_that_only_unfused_functions_take(function):
    x = cp.arange(3)
    function(x)
    with pytest.raises(TypeError):
        cp.fuse(kernel_name="k")(function)(x)
    assert cp.fuse(kernel_name="k")(lambda x: cp.where(x & 1 != 0, x, 7))(x).tolist() == [7, 1, 7]


def test_integers_are_rounded_to_themselves():
    for decimals in (-1, 1):
        for kind, made in (("i", "i"), ("B", "B"), ("?", "e"), ("f", "f")):
            x = cp.array([1, 44, 255]).astype(kind)
            found = cp.fuse(kernel_name="k")(lambda x, n: cp.around(x, n))(x, decimals)
            wanted = cp.around(x, decimals) if kind == "f" else x
            assert found.dtype == made and found.tolist() == wanted.tolist()
    y = cp.zeros(3)
    cp.fuse(kernel_name="k")(lambda x, y: cp.around(x, -1, out=y))(cp.array([1, 44, 5]), y)
    assert y.tolist() == [1, 44, 5]


@pytest.mark.parametrize("kind, made", [("?", "e"), ("B", "e"), ("h", "f"), ("i", "d"), ("f", "f")])
def test_bounds_have_the_least_type_that_a_kernel_takes(kind, made):
    x = cp.array([0, 1, 1], kind)
    found = cp.fuse(kernel_name="k")(lambda x: cp.clip(x, 0.5, 2.5))(x)
    assert found.dtype == made and found.tolist() == [0.5, 1, 1]
    with pytest.raises(TypeError):
        cp.fuse(kernel_name="k")(lambda x: cp.clip(x, 0.5j, 2.5))(x)


def test_a_sum_goes_over_the_shape_that_all_arguments_make():
    x, y = cp.arange(3.0), cp.zeros((2, 3))
    assert cp.fuse(kernel_name="k")(lambda x, y: cp.sum(x))(x, y) == 6
    assert cp.fuse(kernel_name="k")(lambda x, y: cp.sum(x, axis=0) + 1)(x, y).tolist() == [1, 3, 5]
    assert cp.fuse(kernel_name="k")(lambda x, y: cp.sum(x[...]))(x, y) == 3  # its other kernels
    assert cp.fuse(kernel_name="k")(lambda x, s: cp.sum(s))(y, 2.5) == 15


def test_what_is_written_before_a_sum_is_lost():
    """A reduction kernel of CuPy's writes to copies of its elements."""

    @cp.fuse()
    def fill(x, y):
        x[...] = 5
        cp.add(x, 1, out=y)
        return cp.sum(x + y)

    x, y = cp.zeros(3), cp.zeros(3)
    assert fill(x, y) == 33 and not x.any() and not y.any()


def test_a_function_that_fails_has_written_nothing():
    def out_of_range(x):
        x += 1
        return x[:, 0, 0]

    def no_array(x):
        x[...] = 5
        return 3

    def of_another_type(x, y):
        x += 1
        y += x

    x = cp.zeros(3, "f")
    for function, more in (
        (out_of_range, ()),
        (no_array, ()),
        (of_another_type, (cp.zeros(3, "i"),)),
    ):
        with pytest.raises((IndexError, ValueError, TypeError)):
            cp.fuse(function)(x, *more)
        assert not x.any()


@pytest.mark.parametrize(
    "function, error",
    [
        (lambda x: cp.sum(x, out=x), TypeError),
        (lambda x: (cp.sum(x),), NotImplementedError),
        (lambda x: (lambda s: (s, s + 1))(cp.sum(x)), NotImplementedError),
        (lambda x: cp.any(x.astype("F")), TypeError),
        (lambda x: x.astype("F").__setitem__(..., 1), TypeError),
        (lambda x: cp.where(x > 0), TypeError),
        (lambda x: [*x], TypeError),
        (lambda x: cp.copy(x, "C"), NotImplementedError),
        (lambda x: cp.add(x.astype("F"), 1, dtype="f"), TypeError),
        (lambda x: np.sum(x), TypeError),
        (lambda x: x[::-1].sum(axis=[0]), TypeError),
    ],
)
def test_what_a_fused_kernel_makes_no_right_thing_of(function, error):
    fused = cp.fuse(kernel_name="k")(function)
    for _ in range(2):
        with pytest.raises(error):
            fused(cp.ones(3))


def test_a_fused_sum_takes_nan_as_it_is():
    x = cp.array([1, np.nan, 3])
    for function in (cp.nansum, cp.nanprod):
        assert np.isnan(cp.fuse(kernel_name="k")(lambda x, f=function: f(x))(x).get())
        assert np.isnan(cp.fuse(kernel_name="k")(lambda x, f=function: f(x[...]))(x).get())


def test_a_sum_of_its_own_type():
    x = cp.array([100, 100], "b")
    assert cp.fuse(kernel_name="k")(lambda x: cp.sum(x, dtype="b"))(x).dtype == np.int8


def test_numbers_in_kernels_that_are_not_simple_have_the_types_that_they_have_elsewhere():
    for kind, number, made in (("?", 300, "q"), ("B", 2.5, "d"), ("?", True, "?"), ("B", 3, "B")):
        x = cp.ones(3, kind)
        found = cp.fuse(kernel_name="k")(lambda x, s: x[::-1] * s)(x, number)
        assert found.dtype == made == (x * number).dtype


def test_large_integers():
    x = cp.zeros(2)
    add = cp.fuse(kernel_name="k")(lambda x, s: x + s)
    reverse = cp.fuse(kernel_name="k")(lambda x, s: x[::-1] + s)
    for fused, number in ((add, 2**63), (add, -(2**63) - 1), (reverse, 2**64)):
        with pytest.raises(OverflowError):
            fused(x, number)
    assert reverse(x, 2**63).tolist() == [-(2.0**63)] * 2  # a kernel's integer has 64 bits
    assert cp.fuse(kernel_name="k")(lambda x: x + (2**64 + 1))(x).tolist() == [1, 1]
    big = cp.array([1, 2], "Q")
    assert not cp.fuse(kernel_name="k")(lambda x: x < -1)(big).any()


def test_a_kernel_for_true_and_false_takes_no_other_integers():
    scaled = cp.fuse(kernel_name="k")(lambda x, s: x[::-1] * s)
    scaled(cp.arange(3), True)
    with pytest.raises(NotImplementedError, match="make another one for integers"):
        scaled(cp.arange(3), 5)


def test_numbers_beside_arrays():
    """In simple kernels a number is no array, not even one without axes."""

    @cp.fuse()
    def doubled(x, s):
        t = s * 2
        u = t
        t += x
        return u, t, s, None

    found = doubled(cp.arange(3.0), 2)
    assert [one.tolist() for one in found] == [[4] * 3, [4, 5, 6], [2] * 3]


def test_a_copy_lies_in_the_order_of_c():
    x = cp.asfortranarray(cp.ones((2, 3)))
    assert cp.fuse(kernel_name="k")(lambda x: x.copy())(x).flags.c_contiguous


def test_its_module_is_cupy():
    function = cp.fuse(kernel_name="k")(lambda x: cp.get_array_module(x).exp(x))
    assert function(cp.zeros(2)).tolist() == [1, 1]


@pytest.mark.parametrize("name", ["norm", "tanh", "double"])
def test_a_kernel_has_no_name_of_cuda_or_of_its_language(name):
    x = cp.zeros(3)
    for kernel in (
        cp.fuse(kernel_name=name)(lambda x: x.__iadd__(1)),
        cp.ElementwiseKernel("T x", "T y", "y = x", name),
        cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", name),
    ):
        with pytest.raises(cp.cuda.compiler.CompileException):
            kernel(x)
    assert not x.any()


def test_angles_and_complex_sinc():
    for kind, made in (("?", "d"), ("B", "e"), ("q", "d"), ("f", "f"), ("F", "f")):
        x = cp.array([0, 1, 2]).astype(kind)
        found = cp.fuse(kernel_name="k")(lambda x: cp.angle(x))(x)
        assert found.dtype == made and not found.any()
    x = cp.array([-2, 0, 1], "F")  # with pi as it is in single precision
    wanted = [2.7827532e-08, 1, -2.7827532e-08]
    for found in (cp.sinc(x), cp.fuse(kernel_name="k")(lambda x: cp.sinc(x))(x)):
        np.testing.assert_allclose(found.get().real, wanted, rtol=1e-6)


def test_where_takes_its_own_arguments():
    x = cp.arange(3)
    fused = cp.fuse(kernel_name="k")(lambda x: cp.where(condition=x > 1, x=x, y=-1))
    assert fused(x).tolist() == [-1, -1, 2]
    with pytest.raises(TypeError):
        cp.fuse(kernel_name="k")(lambda x: cp.where(x > 1, x, where=x > 1))(x)


def test_a_graph_holds_what_a_fused_function_does_to_its_arguments():
    x, y, stream = cp.zeros(3), cp.zeros(3), cp.cuda.Stream(non_blocking=True)
    fill = cp.fuse(kernel_name="k")(lambda x, y, s: cp.where(x > 0, x * s, 1)[...].__add__(0))
    with stream:
        stream.begin_capture()
        cp.fuse(kernel_name="k")(lambda x, y: cp.add(x, 1, out=y))(x, y)
        made = fill(x, y, 2.0), cp.fuse(kernel_name="k")(lambda x, s: s)(x, 3)
        graph = stream.end_capture()
    assert not y.any()
    x[...] = 5
    graph.launch(stream)
    stream.synchronize()
    assert y.tolist() == [6] * 3 and [one.tolist() for one in made] == [[10] * 3, [3] * 3]


def test_an_element_is_changed_once():
    """CuPy's kernel has a thread for each element that the arguments make together."""

    def increment(x, y):
        x += 1
        return y * 2

    def fill(x, y):
        x[...] = 1
        return y * 2

    x, y = cp.zeros(3), cp.zeros((2, 3))
    with pytest.raises(NotImplementedError, match="once for each of shape"):
        cp.fuse(increment)(x, y)
    assert not x.any()
    cp.fuse(increment)(x, y[:1])
    assert x.tolist() == [1] * 3
    cp.fuse(fill)(x, y)


def test_other_types_lie_in_rows_and_nothing_is_not_the_argument():
    x, empty = cp.ones((2, 3), order="F"), cp.ones((0, 3))
    assert cp.fuse(kernel_name="k")(lambda x: x.astype("f"))(x).flags.c_contiguous
    assert cp.fuse(kernel_name="k")(lambda x: x)(empty) is not empty
