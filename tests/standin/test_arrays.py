"""Arrays of the stand-in against NumPy, and against CuPy's documented differences from NumPy."""

import copy
import operator
import pickle

import cupy as cp
import cupyx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

DTYPES = [np.dtype(c) for c in "?bhilBHILefdFD"]
NUMBERS = [d for d in DTYPES if d.kind in "iuf"]
few = settings(max_examples=60, deadline=None)


def values(dtype, shape):
    """Numbers of any dtype that no operation below overflows on."""
    return np.random.default_rng(sum(shape)).integers(0, 5, shape).astype(dtype)


@st.composite
def views(draw, dtypes=DTYPES):
    """A NumPy array and how it is laid out: sliced, reversed or transposed."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=3, max_side=5))
    array = values(dtype, tuple(2 * n for n in shape))
    steps = draw(st.tuples(*(st.sampled_from([1, 2, -1]) for _ in shape)))
    view = array[(*(slice(None, None, s) for s in steps), ...)]
    return view.transpose(draw(st.permutations(range(view.ndim))))


def on_device(view):
    """The same view of the same base array, made by the stand-in's own slicing."""
    base = view if view.base is None else view.base
    device = cp.asarray(base)
    assert np.array_equal(device.get(), base)
    offset = view.ctypes.data - base.ctypes.data
    return cp.ndarray(view.shape, view.dtype, device.data + offset, view.strides)


def same(ours, theirs, exact=True):
    assert isinstance(ours, cp.ndarray)
    theirs = np.asarray(theirs)
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    if exact:
        np.testing.assert_array_equal(ours.get(), theirs)
    else:
        np.testing.assert_allclose(ours.get(), theirs, rtol=1e-3)


@few
@given(views())
def test_layout_is_numpys(a):
    ours = on_device(a)
    same(ours, a)
    assert ours.strides == a.strides
    assert ours.flags.c_contiguous == a.flags.c_contiguous
    assert ours.flags.f_contiguous == a.flags.f_contiguous
    same(ours.T, a.T)
    same(ours.copy(), a)
    same(ours.ravel(), a.ravel())
    assert ours.copy().flags.c_contiguous


@pytest.mark.parametrize("name", ["add", "mul", "truediv", "lt", "eq"])
@few
@given(a=views(), b=views())
def test_binary_operators_broadcast_and_promote(name, a, b):
    operation = getattr(operator, name)
    try:
        with np.errstate(all="ignore"):
            expected = operation(a, b)
    except ValueError:
        with pytest.raises(ValueError, match="operands could not be broadcast together"):
            operation(on_device(a), on_device(b))
        return
    ours = operation(on_device(a), on_device(b))
    same(ours, expected)
    assert ours.flags.c_contiguous


@few
@given(a=views(NUMBERS), scalar=st.sampled_from([2, 2.5, np.float32(3), np.int16(2), True]))
def test_scalars_promote_as_in_numpy_2(a, scalar):
    same(on_device(a) * scalar, a * scalar)
    same(scalar + on_device(a), scalar + a)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "argmax", "any", "cumsum"])
@few
@given(a=views(NUMBERS), data=st.data())
def test_reductions(name, a, data):
    axis = data.draw(st.sampled_from([None, *range(a.ndim)]))
    with np.errstate(all="ignore"):
        expected = getattr(a, name)(axis=axis)
    same(getattr(on_device(a), name)(axis=axis), expected, exact=False)
    same(getattr(cp, name)(on_device(a), axis=axis), expected, exact=False)


@few
@given(a=views(), data=st.data())
def test_basic_indexing_gives_views(a, data):
    index = data.draw(hnp.basic_indices(a.shape, allow_newaxis=True))
    ours = on_device(a)
    picked = ours[index]
    same(picked, a[index])
    if picked.size:
        picked[...] = 1
        assert bool((ours[index] == 1).all())


@few
@given(a=views(), data=st.data())
def test_index_arrays_give_copies(a, data):
    if not a.ndim:
        return
    index = data.draw(
        hnp.integer_array_indices(a.shape, result_shape=hnp.array_shapes(max_dims=2, max_side=4))
    )
    ours = on_device(a)
    same(ours[tuple(cp.asarray(i) for i in index)], a[index])
    same(ours[index], a[index])  # NumPy arrays may index
    mask = a.astype(bool)
    same(ours[cp.asarray(mask)], a[mask])


@few
@given(a=views(NUMBERS), dtype=st.sampled_from(DTYPES), order=st.sampled_from("CFK"))
def test_astype(a, dtype, order):
    ours = on_device(a).astype(dtype, order=order)
    same(ours, a.astype(dtype))
    assert ours.flags.f_contiguous or order != "F"
    assert ours.flags.c_contiguous or order != "C"


IMPLICIT = (
    "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy "
    "array explicitly."
)
NUMPY = "Unsupported type <class 'numpy.ndarray'>"
LIST = "Unsupported type <class 'list'>"


@pytest.mark.parametrize(
    ("mistake", "error", "message"),
    [
        (lambda a, h: np.asarray(a), TypeError, IMPLICIT),
        (lambda a, h: np.array(a), TypeError, IMPLICIT),
        (lambda a, h: a + h, TypeError, NUMPY),
        (lambda a, h: h + a, TypeError, NUMPY),
        (lambda a, h: h < a, TypeError, NUMPY),
        (lambda a, h: cp.sin(h), TypeError, NUMPY),
        (lambda a, h: cp.cumsum(h), TypeError, NUMPY),
        (lambda a, h: cp.sum([1.0]), AttributeError, "'list' object has no attribute 'sum'"),
        (lambda a, h: cp.where(h, a, a), TypeError, NUMPY),
        (lambda a, h: cp.concatenate([a, h]), TypeError, NUMPY),
        (lambda a, h: cp.dot(a, h), TypeError, NUMPY),
        (lambda a, h: cp.copyto(a, h), ValueError, "non-scalar numpy.ndarray"),
        (lambda a, h: cp.add([1.0], a), TypeError, LIST),
        (lambda a, h: cp.add(a, a, out=h), TypeError, "Output arguments type must be cupy.ndarray"),
        (lambda a, h: cp.add(a, a, cp.empty(5)), ValueError, "operands could not be broadcast"),
        (
            lambda a, h: a.__setitem__(slice(0, 3), h[:3]),
            ValueError,
            "non-scalar numpy.ndarray cannot be used for fill",
        ),
        (lambda a, h: a.fill(cp.ones(4)), ValueError, "non-scalar cupy.ndarray cannot be used"),
        (lambda a, h: a[4], IndexError, "Index 4 is out of bounds for axis 0 with size 4"),
        (lambda a, h: a[0, 0], IndexError, "too many indices for array: array is 1-dimensional"),
        (lambda a, h: a[1.5], IndexError, "only integers, slices"),
        (lambda a, h: a[cp.ones(4)], IndexError, "arrays used as indices must be of integer or"),
        (lambda a, h: cp.zeros(3, object), ValueError, "Unsupported dtype object"),
        (lambda a, h: cp.array(["a"]), ValueError, "Unsupported dtype <U1"),
        (lambda a, h: cp.empty(-1), ValueError, "Negative dimensions are not allowed"),
        (lambda a, h: bool(a), ValueError, "The truth value of an array with more than one"),
        (lambda a, h: a.item(), ValueError, "can only convert an array of size 1"),
        (lambda a, h: iter(a[0]), TypeError, "iteration over a 0-d array"),
        (lambda a, h: len(a[0]), TypeError, "len() of unsized object"),
        (lambda a, h: a.set(h.astype("f")), TypeError, "float32 array cannot be set to float64"),
        (lambda a, h: a.set([1]), TypeError, "Only numpy.ndarray can be set to cupy.ndarray"),
        (lambda a, h: a.get(out=h[:3]), ValueError, "Shape mismatch. Expected shape: (4,)"),
        (lambda a, h: a.astype(int, casting="safe"), TypeError, "casting is not supported yet"),
        (lambda a, h: a.sum(where=a > 1), TypeError, "unexpected keyword argument 'where'"),
        (lambda a, h: cp.add(a, a, where=a > 1), TypeError, "Wrong arguments"),
        (lambda a, h: cp.sin(a, a, a), TypeError, "Wrong number of arguments for 'cupy_sin'."),
        (lambda a, h: cp.maximum.reduce(a), NotImplementedError, "`cupy_maximum.reduce` is not"),
        (lambda a, h: hash(a), TypeError, "unhashable type"),
    ],
)
def test_mistakes_raise_as_in_cupy(mistake, error, message):
    with pytest.raises(error) as caught:
        mistake(cp.arange(4.0), np.arange(4.0))
    assert message in str(caught.value)


def test_output_of_the_wrong_shape_or_type():
    with pytest.raises(ValueError, match="Out shape is mismatched"):
        cp.add(cp.ones(3), 1, cp.ones(1))
    with pytest.raises(TypeError, match="Cannot cast output operand from dtype"):
        whole = cp.arange(3)
        whole += 0.5


def test_results_are_0d_arrays_never_scalars():
    a = cp.arange(6.0).reshape(2, 3)
    for result in (a.sum(), a[1, 2], a.max(), a.argmax(), cp.dot(a[0], a[0]), cp.allclose(a, a)):
        assert type(result) is cp.ndarray
        assert result.shape == ()
    element = a[1, 2]
    element[...] = 9
    assert float(a[1, 2]) == 9
    assert int(a.sum()) == 19
    assert [float(x) for x in a[0]] == [0, 1, 2]


def test_index_arrays_out_of_range_wrap():
    a = cp.arange(5)
    assert a[cp.array([5, 7, -6])].tolist() == [0, 2, 4]
    a[np.array([6])] = 10
    assert int(a[1]) == 10
    assert cp.take(a, cp.array([9])).tolist() == [4]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "i8", "u8"])
def test_indices_of_each_type_wrap(dtype):
    a, last = cp.arange(300), np.iinfo(dtype).max
    index = cp.array([last], dtype)
    assert a[index].tolist() == a.take(index).tolist() == [last % 300]


def test_sequences_are_indices():
    a = cp.arange(6).reshape(2, 3)
    assert a[(0, 1), range(1, 3)].tolist() == [1, 5] and a[(), :].shape == (0, 3)
    assert a.take([]).shape == (0,) and cp.take(a, (), 1).shape == (2, 0)


def test_huge_indices_wrap_at_once():
    a, huge = cp.arange(5), cp.array([2**62 + 1, -(2**62)])
    assert a[huge].tolist() == a.take(huge).tolist() == cp.take(a, huge, 0).tolist() == [0, 1]
    cp.put(a, huge, cp.array([7, 8]))
    assert a.tolist() == [7, 8, 2, 3, 4]
    assert cp.choose(huge % 7, cp.array([[1, 1], [2, 2]]), mode="wrap").shape == (2,)
    assert cp.choose(huge, cp.array([[1, 1], [2, 2]]), mode="wrap").tolist() == [2, 1]


def test_host_arrays_may_be_assigned_through_an_index_array():
    a = cp.zeros(4)
    a[cp.array([0, 2])] = np.array([1.0, 2.0])
    assert a.tolist() == [1, 0, 2, 0]
    a[:2] = np.float32(5)
    a[-1] = np.array(7)
    assert a.tolist() == [5, 5, 2, 7]


def test_numpys_functions_dispatch():
    a = cp.arange(3.0)
    same(np.sin(a), np.sin(np.arange(3.0)))
    same(np.sum(a), np.float64(3))
    same(np.float32(2) * a, 2 * np.arange(3.0))
    same(np.fft.fft(a), np.fft.fft(np.arange(3.0)))
    same(np.linalg.norm(a), np.linalg.norm(np.arange(3.0)))
    same(np.add.reduce(a), np.float64(3))
    assert cp.get_array_module(a) is cp
    assert cp.get_array_module(np.ones(3), 1) is np


def test_a_partner_that_opted_out_of_numpys_dispatch_gets_the_reflected_call():
    class Partner:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "reflected"

    assert cp.ones(2) + Partner() == "reflected"


def test_device_and_host_never_share_memory():
    host = np.zeros(3)
    device = cp.asarray(host)
    host[:] = 1
    back = device.get()
    assert back.tolist() == [0, 0, 0]
    back[:] = 2
    assert device.tolist() == [0, 0, 0]


def test_views_share_memory_and_know_their_base():
    a = cp.zeros((2, 3))
    row = a[1]
    row += 1
    assert a.sum() == 3
    assert row.base is a and row[1:].base is a and a.base is None
    assert row.data.ptr == a.data.ptr + 24
    assert cp.may_share_memory(a, row)
    assert cp.asarray(a) is a and cp.array(a) is not a


def test_in_place_operators_write_in_place():
    a = cp.arange(4)
    alias = a
    pointer = a.data.ptr
    a += 1
    a *= cp.array([1, 2, 3, 4])
    a -= 1
    a //= 2
    a **= 2
    assert a is alias and a.data.ptr == pointer
    assert a.tolist() == [0, 1, 16, 49]


@pytest.mark.parametrize("dtype", DTYPES)
def test_pickle_copy_and_repr(dtype):
    a = cp.asarray(values(dtype, (3, 2)))
    same(pickle.loads(pickle.dumps(a)), a.get())
    same(copy.copy(a), a.get())
    same(copy.deepcopy(a), a.get())
    assert repr(a) == repr(a.get())
    assert str(a) == str(a.get())


def test_new_memory_is_not_zero():
    assert np.isnan(cp.empty(3).get()).all()
    assert np.isnan(cp.empty(3, "F").get()).all()
    assert (cp.empty(100, "i").get() == np.int32(-1515870811)).all()
    assert cp.empty(3, bool).get().all()
    assert cp.empty_like(cp.zeros((2, 2), "f")).dtype == np.float32


def test_no_numpy_warning_about_arithmetic(recwarn):
    a = cp.array([0.0, -1.0, 1e308])
    (1 / a, cp.log(a), a * a, a.astype(int))
    assert not recwarn.list


FUNCTIONS = [
    "concatenate([a, b])",
    "stack([a, b], axis=1)",
    "where(a > 2, a, -1)",
    "einsum('ij,kj->ik', a, b)",
    "tensordot(a, b, axes=([0, 1], [0, 1]))",
    "matmul(a, b.T)",
    "dot(a, b.T)",
    "outer(a, b)",
    "take_along_axis(a, xp.argsort(a, axis=1), axis=1)",
    "clip(a, 1, 3)",
    "percentile(a, [10, 50])",
    "pad(a, 1)",
    "roll(a, 1, axis=0)",
    "flip(a)",
    "broadcast_to(a[0], (4, 5))",
    "meshgrid(a[0], b[0])[1]",
    "unique(a)",
    "nonzero(a > 2)[0]",
    "searchsorted(xp.sort(a[0]), b[0])",
    "bincount(a[0].astype(int))",
    "histogram(a, bins=4)[0]",
    "cov(a)",
    "tril(a[:, :3])",
    "diag(a[0])",
    "eye(3, k=1)",
    "linspace(0, 1, 7)",
    "arange(2, 9, 2)",
    "full((2, 2), 7)",
    "full_like(a, 3)",
    "linalg.norm(a, axis=1)",
    "linalg.solve(a[:, :3] + 9 * xp.eye(3), b[:, 0])",
    "linalg.svd(a)[1]",
    "linalg.qr(a)[1]",
    "linalg.cholesky(xp.eye(3) * 4)",
    "linalg.eigh(a @ a.T)[0]",
    "fft.fft(a)",
    "fft.irfft(xp.fft.rfft(a))",
    "fft.fftfreq(8, 0.5)",
    "fft.fftshift(a)",
    "ix_([0, 1], [2])[0]",
    "mgrid[0:3, 0:2]",
    "logaddexp(a, b)",
    "nan_to_num(a / 0)",
    "median(a, axis=0)",
    "std(a, axis=1)",
    "argmin(a, axis=1)",
    "convolve(a[0], b[0])",
    "interp(xp.linspace(0, 4, 9), xp.arange(5.0), a[0])",
    "gradient(a[0])",
    "count_nonzero(a)",
]


@pytest.mark.parametrize("expression", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_functions_agree_with_numpy(expression, dtype):
    def evaluate(xp):
        rng = np.random.default_rng(3)
        a, b = (xp.asarray(rng.integers(0, 5, (3, 5)).astype(dtype)) for _ in "ab")
        prefix = "" if expression.startswith("xp.") else "xp."
        with np.errstate(all="ignore"):
            return eval(prefix + expression, {"xp": xp, "a": a, "b": b})

    expected = np.asarray(evaluate(np))
    ours = evaluate(cp)
    assert isinstance(ours, cp.ndarray)
    assert (ours.shape, ours.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(ours.get(), expected, rtol=1e-5, atol=1e-6)


def test_functions_that_write():
    a = cp.zeros((2, 3))
    cp.copyto(a, 2)
    cp.put(a, cp.array([0, 7]), 5)  # 7 wraps to 1
    cp.put_along_axis(a, cp.array([[2], [2]]), 9, axis=1)
    assert a.tolist() == [[5, 5, 9], [2, 2, 9]]
    cp.fill_diagonal(a, 1)
    a.sort(axis=1)
    assert a.tolist() == [[1, 5, 9], [1, 2, 9]]
    total = cp.empty(())
    assert cp.sum(a, out=total) is total and float(total) == 27
    a.flat[1] = 0
    assert a[0].tolist() == [1, 0, 9]


def test_repeated_indices_are_all_added():
    a = cp.zeros(3)
    cupyx.scatter_add(a, cp.array([0, 0, 2]), 1)
    cp.add.at(a, cp.array([2, 2]), cp.array([1.0, 1.0]))
    assert a.tolist() == [2, 0, 3]
    cupyx.scatter_max(a, cp.array([0, 0]), cp.array([7.0, 5.0]))
    assert a.tolist() == [7, 0, 3]


def test_ufuncs():
    a = cp.arange(1.0, 4.0)
    assert repr(cp.add) == "<ufunc 'cupy_add'>"
    assert cp.multiply.outer(a, a).shape == (3, 3)
    assert cp.add.accumulate(a).tolist() == [1, 3, 6]
    quotient, rest = divmod(cp.array([7, -7]), 4)
    assert quotient.tolist() == [1, -2] and rest.tolist() == [3, 1]
    assert cp.add(a, a, dtype="f").dtype == np.float32
    same(cupyx.rsqrt(a), 1 / np.sqrt(np.arange(1.0, 4.0)))
    assert (cp.array([1, 2, -1]) ** cp.array([-1, -1, -3])).tolist() == [1, 0, -1]


def test_save_and_load(tmp_path):
    a = cp.arange(6).reshape(2, 3)
    cp.save(tmp_path / "a.npy", a)
    same(cp.load(tmp_path / "a.npy"), a.get())
    cp.savez(tmp_path / "b.npz", x=a)
    same(cp.load(tmp_path / "b.npz")["x"], a.get())


def test_missing_names():
    with pytest.raises(NotImplementedError, match=r"cupy\.DataSource is not covered.*COVERED"):
        cp.DataSource()
    with pytest.raises(NotImplementedError, match=r"cupyx\.tools"):
        cupyx.tools  # noqa: B018
    with pytest.raises(NotImplementedError, match=r"cupy\.cuda\.jitify"):
        cp.cuda.jitify  # noqa: B018
    with pytest.raises(AttributeError, match="module 'cupy' has no attribute 'no_such_name'"):
        cp.no_such_name  # noqa: B018
    assert not hasattr(cp, "__wrapped__")


def test_it_says_what_it_is(capsys):
    assert cp.is_standin is True
    assert cp.is_available() is False and cp.cuda.is_available() is False
    assert cp.__version__.endswith("+standin")
    cp.show_config()
    assert "CPU stand-in, no GPU" in capsys.readouterr().out
    assert cp.cuda.runtime.getDeviceProperties(0)["name"] == b"CPU stand-in (no GPU)"


def test_views_by_strides():
    a = cp.arange(6.0)
    windows = cp.lib.stride_tricks.sliding_window_view(a, 3)
    same(windows, np.lib.stride_tricks.sliding_window_view(np.arange(6.0), 3))
    a[2] = 9
    assert windows[0, 2] == windows[2, 0] == 9 and windows.base is None
    assert cp.lib.stride_tricks.as_strided(a, (2, 3), (8, 8)).tolist() == [[0, 1, 9], [1, 9, 3]]
    with pytest.raises(ValueError, match="leave the memory of the array"):
        cp.lib.stride_tricks.as_strided(a, (2, 3), (24, 16))


def test_the_array_itself_where_nothing_is_to_be_done():
    a = cp.ones((2, 3))
    assert a.squeeze() is cp.squeeze(a) is cp.moveaxis(a, 1, 1) is cp.rollaxis(a, 0) is a
    assert cp.split(a, 1)[0] is a and cp.require(a.T[::2]).base is a
    for own in (a.flatten(), cp.array(a, ndmin=3), cp.from_dlpack(a), cp.require(a, None, "O")):
        assert own.base is None and own.flags.owndata and own is not a
    point, line = cp.array(2.0), cp.ones(1)
    assert point.T is point and line.T is line and line.reduced_view() is line
    assert cp.nan_to_num(point, copy=False) is point
    assert cp.broadcast(a, point).values[0] is a
    assert cp.moveaxis(a, (0, 1), (0, 1)).base is a and cp.flip(point).base is point


def test_a_sign_of_booleans():
    with pytest.warns(DeprecationWarning, match="ill-defined"):
        assert (+cp.array([True, False])).tolist() == [True, False]
    with pytest.raises(TypeError):
        cp.positive(cp.array([True]))


def test_a_diagonal_can_be_written_to():
    a = cp.zeros((2, 3))
    cp.diagonal(a)[:] = 1
    a.diagonal(1)[...] += 2
    assert a.tolist() == [[1, 2, 0], [0, 1, 2]]


def test_arrays_without_axes():
    a = cp.array(1.5)
    assert cp.clip(a, -1, 1).shape == a.clip(2).shape == ()
    places = cp.unravel_index(cp.array([[1, 7], [3, 2]]).argmax(), (2, 2))
    assert [(p.shape, int(p)) for p in places] == [((), 0), ((), 1)]
    assert cp.unravel_index(cp.arange(1), ()) == ()
    with pytest.raises(ValueError, match="Unsupported dtype"):
        cp.ones(3)["name"]


def test_the_class_has_its_public_name():
    assert repr(type(cp.ones(1))) == "<class 'cupy.ndarray'>"


def test_a_class_made_from_it_is_refused():
    class Mine(cp.ndarray):
        pass

    a = cp.ones(3)
    for make in (lambda: Mine(3), lambda: a.view(Mine), lambda: a.view("f", type=Mine)):
        with pytest.raises(NotImplementedError, match=r"not cover subclasses of .* \(Mine\)$"):
            make()
    assert a.view(cp.ndarray).base is a


def test_a_function_that_pads_is_given_parts_of_a_device_array():
    def fill(part, pair, axis, options):
        assert isinstance(part, cp.ndarray) and type(pair[0]) is int
        part[: pair[0]] = cp.sum(part) + options.get("more", 0)

    assert cp.pad(cp.arange(3), (1, 0), fill, more=4).tolist() == [7, 0, 1, 2]


def test_a_function_that_masks_is_given_ones_on_the_device():
    rows, columns = cp.mask_indices(2, lambda a, k: a * cp.array([k, 0], a.dtype), 3)
    assert rows.tolist() == [0, 1] and columns.tolist() == [0, 0]


# ---- smaller things that CuPy's own tests ask for ------------------------------------------------


def test_flags_tell_and_cannot_be_set():
    a = cp.zeros((3, 2))
    for view, c, f, own in ((a, True, False, True), (a.T, False, True, False)):
        flags = view.flags
        assert (flags.c_contiguous, flags["F_CONTIGUOUS"], flags.owndata) == (c, f, own)
        assert (flags.fnc, flags.forc) == (f and not c, c or f)
        for name in ("c_contiguous", "f_contiguous", "owndata", "fnc"):
            with pytest.raises(AttributeError):
                setattr(flags, name, True)
    assert (
        str(cp.zeros(3).flags).split()
        == "C_CONTIGUOUS : True F_CONTIGUOUS : True OWNDATA : True".split()
    )


@pytest.mark.parametrize("save", [cp.savez, cp.savez_compressed])
def test_an_npz_file_is_read_array_by_array(tmp_path, save):
    x, y = cp.arange(6, dtype="i2").reshape(2, 3), cp.asarray([1.5, 2j])
    save(tmp_path / "both.npz", x, y=y)
    with cp.load(tmp_path / "both.npz") as both:
        assert sorted(both.npz_file) == ["arr_0", "y"]
        assert not hasattr(both, "files") and not hasattr(both, "keys"), "CuPy's has neither"
        assert isinstance(both["y"], cp.ndarray)
        np.testing.assert_array_equal(both["arr_0"].get(), x.get())
        np.testing.assert_array_equal(both["y"].get(), y.get())
    with pytest.raises(ValueError, match="allow_pickle"):
        cp.save(tmp_path / "object.npy", {1}, allow_pickle=False)


def test_the_least_type_of_a_device_array_is_its_own():
    a = cp.asarray([1, 2], "i8")
    assert cp.min_scalar_type(a) == np.int64 and cp.min_scalar_type(a.get()[0]) == np.uint8
    assert cp.min_scalar_type([a, cp.asarray([1.0, 2.0])]) == np.float64
    assert cp.min_scalar_type(-129) == np.int16


def test_grids_between_device_arrays():
    first, last = np.zeros((4, 1)), np.arange(4.0)[:, None]
    got = cp.mgrid[cp.asarray(first) : cp.asarray(last) : 3j]
    np.testing.assert_array_equal(got.get(), np.mgrid[first:last:3j])
    got = cp.ogrid[0:3, cp.asarray(1) : 5]
    assert [part.shape for part in got] == [(3, 1), (1, 4)] and got[1].tolist() == [[1, 2, 3, 4]]


def test_views_without_elements_have_a_base():
    a = cp.zeros((3, 0, 2), complex)
    for view in (a.real, a.imag, a[1:], cp.einsum("ijk->kji", a), cp.transpose(a)):
        assert view.base is a and view.size == 0
    b = cp.ones((2, 3))
    assert cp.split(b, [2])[1].base is b and cp.byte_bounds(a) == (a.data.ptr, a.data.ptr)


@pytest.mark.parametrize("optimize", [False, True, ["einsum_path", (0, 1), (0, 1)]])
def test_einsum_converts_its_operands_first(optimize):
    """100 * 100 does not fit into eight bits, but the result is a float32."""
    a, b = cp.full((2, 3), 100, "i1"), cp.full((3, 2), 100, "i1")
    got = cp.einsum("ij,jk,kl", a, b, cp.ones((2, 4), "f4"), optimize=optimize)
    assert got.dtype == np.float32 and (got == 60_000).all()


@pytest.mark.parametrize(
    "name, allowed",
    [
        ("scatter_add", "iIlLqQefd"),
        ("scatter_max", "iIlLqQfd"),
        ("scatter_min", "iIlLqQfd"),
    ],
)
def test_scatters_are_for_the_types_that_a_gpu_adds_at_once(name, allowed):
    """Source: CuPy 14.2.0, cupy/_core/_routines_indexing.pyx."""
    for kind in "?bBhHiIlLqQefdFD":
        a, once = cp.zeros(3, kind), lambda a: getattr(cupyx, name)(a, cp.array([0, 0]), 1)
        if kind in allowed:
            once(a)
            assert a[0] == {"scatter_add": 2, "scatter_max": 1, "scatter_min": 0}[name]
        else:
            with pytest.raises(TypeError, match=str(a.dtype)):
                once(a)
    with pytest.raises(TypeError, match="float32"):
        cp.subtract.at(cp.zeros(3, "f"), cp.array([0, 0]), 1)


def test_a_mask_needs_no_atomic_function():
    x, mask = cp.zeros(3, np.float16), np.array([True, False, True])
    cp.maximum.at(x, mask, cp.array(1, np.float16))
    assert x.tolist() == [1, 0, 1]
    with pytest.raises(TypeError, match="float16"):
        cp.maximum.at(x, cp.array([0, 2]), cp.array(1, np.float16))


def test_an_array_without_axes_is_an_index_and_the_end_of_a_slice():
    x = cp.arange(10)
    end = cp.array(7, dtype=np.int16)
    assert x[cp.array(1) : end : cp.array(2)].tolist() == [1, 3, 5]
    x[: cp.array(3)] = -1
    assert x.tolist() == [-1] * 3 + list(range(3, 10))
    assert x[: cp.array(2.0)].tolist() == [-1, -1]
    with pytest.raises(TypeError):
        x[: cp.array([1, 2])]
    for call in (range, operator.index, [0, 1].__getitem__):  # nowhere else
        with pytest.raises(TypeError):
            call(cp.array(1))


OVERLAP = {
    "forwards": lambda a: a.__setitem__(slice(1, None), a[:-1]),
    "backwards": lambda a: a.__setitem__(slice(None, -1), a[1:]),
    "rows": lambda a: a.reshape(4, 3).__setitem__(slice(1, None), a.reshape(4, 3)[:-1]),
    "copyto": lambda a: cp.copyto(a[1:], a[:-1]),
    "places": lambda a: a.__setitem__(cp.array([3, 2, 1, 0]), a[:4]),
    "mask": lambda a: a.__setitem__(a > 7, a[::-1][:4]),
}


@pytest.mark.parametrize("name", OVERLAP)
def test_an_assignment_that_writes_what_it_reads(name):
    """CuPy copies memory, or scatters, in no order; its universal functions take a copy first."""
    with pytest.raises(ValueError, match="take a copy first"):
        OVERLAP[name](cp.arange(12))


def test_assignments_within_an_array():
    wanted = np.arange(12)
    a = cp.asarray(wanted)
    for x in (a, wanted):
        x[:6] = x[6:]
        x[:] = x
        x[1:] = x[:-1].copy()
        x[2::2] = x[:-2:2]
        x[...] = x[::-1]
        x[1:] += x[:-1]
        x[[0, 1]] = x[[1, 0]]
        x.reshape(4, 3)[:, 1:] = x.reshape(4, 3)[:, :-1]
        x.reshape(4, 3)[[0, 2]] = x.reshape(4, 3)[0]
        x[x > 20] = x[0]
    assert a.tolist() == wanted.tolist()
