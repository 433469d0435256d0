"""How new arrays lie in memory, which a kernel sees: as CuPy 14.2's own functions leave them."""

import cupy as cp
import cupyx.scipy.fft
import cupyx.scipy.fftpack
import cupyx.scipy.special
import numpy as np
import pytest

import helpers

pytestmark = pytest.mark.skipif(helpers.on_gpu, reason="the stand-in's own arrays")
ARRAY = np.arange(60, dtype="f8").reshape(3, 4, 5)
C, F = cp.asarray(ARRAY[0]), cp.asfortranarray(cp.asarray(ARRAY[0]))
PICK, MASK = cp.array([3, 0]), cp.array([True, False, True, True, False])
TALL = cp.asarray(np.cos(ARRAY[0, :, :3] ** 2))  # of four rows
SQUARE = cp.asfortranarray(cp.eye(4) + cp.asarray(ARRAY[0, :, :4]))

IN_C = {
    "columns": lambda x: x[:, PICK],
    "columns by a mask": lambda x: x[:, MASK],
    "columns by a list": lambda x: x[:, [1, 2, 0]],
    "between": lambda x: cp.asarray(ARRAY)[:, PICK, 1:],
    "sort": lambda x: cp.sort(x, axis=0),
    "partition": lambda x: cp.partition(x, 1),
    "argwhere": lambda x: cp.argwhere(x > 2),
    "concatenate": lambda x: cp.concatenate([x, x]),
    "append": lambda x: cp.append(x, x, axis=1),
    "stack": lambda x: cp.stack([x, x], axis=-1),
    "hstack": lambda x: cp.hstack([x, x]),
    "clip": lambda x: x.clip(2, 5),
    "round": lambda x: x.round(1),
    "diff": lambda x: cp.diff(x, axis=0),
    "isclose": lambda x: cp.isclose(x, x),
    "isreal": cp.isreal,
    "msort": cp.msort,
    "delete": lambda x: cp.delete(x, 1, axis=0),
    "take_along_axis": lambda x: cp.take_along_axis(x, x.argsort(axis=0), axis=0),
    "sinc": cp.sinc,
    "cumsum of rows": lambda x: x.cumsum(axis=1),
    "cumsum": lambda x: x.cumsum(axis=0),
    "cumprod": lambda x: cp.cumprod(x, 0),
    "nancumsum": lambda x: cp.nancumsum(x, axis=-2),
    "cumulative_sum": lambda x: cp.cumulative_sum(x, axis=0, include_initial=True),
    "sum over no axis": lambda x: x.sum(axis=()),
    "r_": lambda x: cp.r_[x, x],
    "c_": lambda x: cp.c_[x, x],
    "where": lambda x: cp.where(cp.asfortranarray(x > 3), x, 0),
    "triu": cp.triu,
    "softmax": lambda x: cupyx.scipy.special.softmax(x, axis=1),
    "log_softmax": lambda x: cupyx.scipy.special.log_softmax(x, axis=0),
    "polyval": lambda x: cp.polyval(cp.arange(3.0), x),
}
AS_GIVEN = {
    "nan_to_num": cp.nan_to_num,
    "unwrap": cp.unwrap,
    "gradient": lambda x: cp.gradient(x)[0],
}
IN_F = {
    "argsort": lambda x: x.argsort(axis=0),
    "apply_along_axis": lambda x: cp.apply_along_axis(cp.flip, 0, x),
    "argpartition": lambda x: cp.argpartition(x, 1, axis=0),
}


@pytest.mark.parametrize("given", [C, F], ids=["C", "F"])
@pytest.mark.parametrize("name", [*IN_C, *IN_F])
def test_new_arrays(name, given):
    made = (IN_C | IN_F)[name](given)
    flags = made.flags
    assert made.ndim > 1 and flags.c_contiguous is not flags.f_contiguous
    assert flags.c_contiguous is (name in IN_C)


@pytest.mark.parametrize("name", AS_GIVEN)
def test_new_arrays_in_the_order_of_the_given_one(name):
    turned = cp.asarray(ARRAY).transpose(1, 2, 0)
    for given in (C, F, turned):
        assert AS_GIVEN[name](given).strides == given.strides


CUB_SUMS, OTHER_SUMS = "sum prod max min ptp mean average".split(), "any var nansum median".split()


@pytest.mark.parametrize("name", CUB_SUMS + OTHER_SUMS)
def test_reductions_over_some_axes(name):
    """In C's order; what cuB sums over the first axes of an array in F is in F."""
    function, in_f = getattr(cp, name), cp.asfortranarray(cp.asarray(ARRAY))
    for given in (cp.asarray(ARRAY), in_f, cp.asarray(ARRAY).transpose(2, 0, 1)):
        for axis in range(3):
            made, flags = function(given, axis=axis), function(given, axis=axis).flags
            by_cub = name in CUB_SUMS and given is in_f and axis == 0
            assert flags.f_contiguous is by_cub and flags.c_contiguous is not by_cub
            wanted = getattr(np, name)(given.get(order="A"), axis=axis)
            np.testing.assert_allclose(made.get(), wanted)
    few = in_f.astype("i4")
    assert cp.sum(few, axis=0).flags.c_contiguous and cp.mean(few, axis=0).flags.c_contiguous
    assert cp.max(few, axis=0).flags.f_contiguous
    assert cp.sum(few, axis=0, dtype="i4").flags.f_contiguous


X, Y = cp.asarray(ARRAY), cp.asarray(ARRAY.reshape(3, 5, 4))
# By name: the result, and the order of its axes in memory.
SUMS = {
    "product": (lambda: cp.einsum("ij,jk->ik", X[0], Y[0]), (1, 0)),
    "turned product": (lambda: cp.einsum("ij,jk->ki", X[0], Y[0]), (0, 1)),
    "no label of the result": (lambda: cp.einsum("ij,jk", X[0], Y[0]), (1, 0)),
    "labels as numbers": (lambda: cp.einsum(X[0], [0, 1], Y[0], [1, 2]), (1, 0)),
    "batches": (lambda: cp.einsum("bij,bjk->bik", X, Y), (0, 2, 1)),
    "any batches": (lambda: cp.einsum("...ij,...jk->...ik", X, Y), (0, 2, 1)),
    "batches last": (lambda: cp.einsum("bij,bjk->ikb", X, Y), (2, 1, 0)),
    "elements": (lambda: cp.einsum("ij,ij->ji", F, F), (0, 1)),
    "a row": (lambda: cp.einsum("ij,j->ij", F, F[0]), (0, 1)),
    "one of one row": (lambda: cp.einsum("ij,jk->ik", X[0, :1], Y[0]), (0, 1)),
    "rows on a path": (lambda: cp.einsum("ebc,cd", X, X[0, :1].T, optimize=True), (0, 1, 2)),
    "sum of one": (lambda: cp.einsum("bij->ji", X), (1, 0)),
    "three": (lambda: cp.einsum("ij,jk,kl->il", X[0], Y[0], X[0]), (1, 0)),
    "three on a path": (lambda: cp.einsum("ij,jk,kl->il", X[0], Y[0], X[0], optimize=True), (0, 1)),
}


@pytest.mark.parametrize("name", SUMS)
def test_einsum(name):
    made, axes = SUMS[name][0](), SUMS[name][1]
    assert made.transpose(axes).flags.c_contiguous


def test_what_libraries_leave_by_columns():
    stack, sides = cp.stack([SQUARE, SQUARE + 1]), cp.asarray(ARRAY[:2, :, :3])
    made = cp.linalg.solve(stack, sides)
    assert made.strides == (96, 8, 32) and cp.allclose(stack @ made, sides)
    assert cp.random.multivariate_normal(cp.zeros(2), cp.eye(2), 5).strides == (8, 40)


def test_a_diagonal_is_a_copy():
    square = cp.eye(3)
    made = cp.diag(square)
    made[:] = 5
    assert made.flags.c_contiguous and square[0, 0] == 1 and cp.diag(square, 1).tolist() == [0, 0]


def test_a_kernel_sees_columns_as_on_a_gpu():
    code = """extern "C" __global__ void k(const double *x, double *y) {
        y[threadIdx.x] = x[threadIdx.x];
    }"""
    columns, seen = C[:, PICK], cp.zeros(8)
    cp.RawKernel(code, "k")((1,), (8,), (columns, seen))
    assert seen.tolist() == [3, 0, 8, 5, 13, 10, 18, 15]


def test_sums_along_the_middle_axis():
    made = cp.asarray(ARRAY).cumsum(axis=1)
    np.testing.assert_array_equal(made.get(), ARRAY.cumsum(axis=1))
    assert made.strides == (160, 8, 32)
    out = cp.zeros((3, 4, 5))
    assert cp.cumsum(cp.asarray(ARRAY), axis=1, out=out) is out and out.flags.c_contiguous
    np.testing.assert_array_equal(out.get(), ARRAY.cumsum(axis=1))
    assert cp.cumulative_sum(out, axis=1).strides == made.strides


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "nancumsum", "cumulative_sum"])
def test_a_running_sum_in_an_out_is_a_view_of_it(name):
    function, out = getattr(cp, name), cp.zeros((3, 4, 5))
    for axis in (0, 2):
        made = function(cp.asarray(ARRAY), axis=axis, out=out)
        assert made is not out and made.base is out and made.strides == out.strides
    apart = cp.zeros((3, 4, 10))[..., ::2]
    assert function(cp.asarray(ARRAY), axis=0, out=apart) is apart


def test_percentiles_in_an_out_are_a_view_of_it():
    x, out = cp.asarray(ARRAY), cp.zeros((2, 4, 5))
    made = cp.percentile(x, [25, 50], axis=0, out=out)
    assert made is not out and made.base is out and out.any()
    assert cp.percentile(x, [25, 50], axis=0, out=out, method="lower") is out
    assert cp.percentile(x, [25, 50], axis=0, out=out, keepdims=True).shape == (2, 1, 4, 5)
    turned = cp.zeros((2, 4, 5), order="F")
    assert cp.percentile(x, [25, 50], axis=0, out=turned).flags.c_contiguous
    whole, out = x.astype(int), cp.zeros(5)
    made = cp.median(whole, axis=(0, 1), out=out)
    assert made is not out and made.base is out and cp.median(whole[0], axis=0, out=out) is out


def test_products_of_stacks_in_f_lie_in_c():
    stack = cp.asfortranarray(cp.ones((2, 2, 3, 3)) + 9 * cp.eye(3))
    solvers = (cp.linalg.cholesky, lambda x: cp.linalg.svd(x)[2], lambda x: x @ x)
    for function in (*solvers, lambda x: cp.linalg.matrix_power(x, 3)):
        assert function(stack).flags.c_contiguous
    assert cp.linalg.qr(stack, mode="raw")[1].flags.c_contiguous
    whole, singular = cp.linalg.solve(stack, stack), cp.linalg.solve(stack * 0, stack)
    assert whole.strides == singular.strides == (144, 72, 8, 24)


def test_an_average_lies_as_a_mean_also_with_its_weight():
    made, weight = cp.average(cp.asfortranarray(cp.asarray(ARRAY)), axis=0, returned=True)
    assert made.flags.f_contiguous and weight.flags.c_contiguous and (weight == 3).all()


@pytest.mark.parametrize("find", [cp.nonzero, cp.where, lambda x: x.nonzero()])
def test_places_are_columns_of_one_array(find):
    found = find(C % 3 == 1)
    for mine, theirs in zip(found, np.nonzero(ARRAY[0] % 3 == 1), strict=True):
        np.testing.assert_array_equal(mine.get(), theirs)
        assert mine.strides == (16,)
    assert cp.nonzero(C[0])[0].strides == (8,)
    with pytest.raises(ValueError, match="0d"):
        find(cp.array(3))


LINALG = {
    "inv": (cp.linalg.inv, True, False),
    "solve": (lambda a: cp.linalg.solve(a, a), True, True),
    "eigh": (lambda a: cp.linalg.eigh(a)[1], True, True),
    "q": (lambda a: cp.linalg.qr(a)[0], True, True),
    "r": (lambda a: cp.linalg.qr(a)[1], True, True),
    "u": (lambda a: cp.linalg.svd(a)[0], False, False),
    "wide v": (lambda a: cp.linalg.svd(a[:3])[2], False, False),
    "tall u": (lambda a: cp.linalg.svd(a[:, :3])[0], True, True),
    "cholesky": (lambda a: cp.linalg.cholesky(a @ a.T), False, False),
}


@pytest.mark.parametrize("name", LINALG)
def test_matrices_of_cusolver(name):
    function, of_f, of_c = LINALG[name]
    assert function(SQUARE).flags.f_contiguous is of_f
    assert function(cp.ascontiguousarray(SQUARE)).flags.f_contiguous is of_c


@pytest.mark.parametrize(
    ("made", "strides"),
    [
        (lambda: cp.linalg.qr(TALL)[1], (8, 32)),
        (lambda: cp.linalg.qr(TALL, "r"), (8, 32)),
        (lambda: cp.linalg.qr(TALL, "raw")[0], (32, 8)),
        (lambda: cp.linalg.qr(TALL.T)[1], (8, 24)),
        (lambda: cp.linalg.qr(cp.stack([TALL.T] * 2))[0], (96, 8, 24)),
        (lambda: cp.linalg.svd(TALL)[2], (8, 32)),
        (lambda: cp.linalg.svd(TALL, full_matrices=False)[2], (8, 24)),
        (lambda: cp.linalg.svd(TALL.T)[0], (32, 8)),
        (lambda: cp.linalg.svd(TALL.T, full_matrices=False)[0], (24, 8)),
        (lambda: cp.linalg.svd(cp.stack([TALL.T] * 2), full_matrices=False)[2], (128, 32, 8)),
        (lambda: cp.linalg.eigh(cp.stack([SQUARE] * 2))[1], (128, 8, 32)),
        (lambda: cp.fft.rfft2(cp.ones((2, 3, 4)), axes=(1, 0)), (192, 16, 48)),
        (lambda: cupyx.scipy.fft.fft(TALL.T, axis=0), (16, 48)),
        (lambda: cupyx.scipy.fft.rfft2(cp.asarray(TALL, order="F")), (16, 64)),
        (lambda: cupyx.scipy.fftpack.fft(TALL.T, axis=0), (16, 48)),
    ],
)
def test_strides_of_matrices_and_transforms(made, strides):
    assert made().strides == strides


def test_parts_of_a_decomposition_have_their_values():
    for matrix in (TALL, TALL.T, cp.stack([TALL, 2 * TALL]), cp.stack([TALL.T, TALL.T + 1])):
        q, r = cp.linalg.qr(matrix)
        np.testing.assert_allclose((q @ r).get(), matrix.get(), atol=1e-12)
        u, s, v = cp.linalg.svd(matrix, full_matrices=False)
        np.testing.assert_allclose(((u * s[..., None, :]) @ v).get(), matrix.get(), atol=1e-12)


def test_a_complex_number_into_real_ones_is_refused():
    x = cp.ones(3)
    for index in (0, slice(1, 3), PICK[:1] - 3, x > 0):
        with pytest.raises(TypeError):
            x[index] = 1j
    assert x.tolist() == [1, 1, 1]


CUBE = cp.asarray(ARRAY)
# By name: a call, and the order of the result's axes in memory, from the widest stride down.
TRANSFORMS = {
    "fft": (lambda a: cp.fft.fft(a, axis=0), (2, 1, 0)),
    "ifft of the middle": (lambda a: cp.fft.ifft(a, axis=1), (0, 2, 1)),
    "fft of the last": (lambda a: cp.fft.fft(a), (0, 1, 2)),
    "rfft": (lambda a: cp.fft.rfft(a, axis=0), (2, 1, 0)),
    "irfft": (lambda a: cp.fft.irfft(a, 8, 1), (0, 2, 1)),
    "hfft": (lambda a: cp.fft.hfft(a, axis=0), (2, 1, 0)),
    "ihfft": (lambda a: cp.fft.ihfft(a, axis=0), (0, 1, 2)),
    "fftn at once": (lambda a: cp.fft.fftn(a), (0, 1, 2)),
    "fft2 of the first two": (lambda a: cp.fft.fft2(a, axes=(1, 0)), (0, 1, 2)),
    "fft2 of the outer two": (lambda a: cp.fft.fft2(a, axes=(2, 0)), (2, 1, 0)),
    "rfft2 of the outer two": (lambda a: cp.fft.rfft2(a, axes=(0, 2)), (2, 1, 0)),
    "irfft2 of the outer two": (lambda a: cp.fft.irfft2(a, axes=(2, 0)), (2, 1, 0)),
    "fftn of F": (lambda a: cp.fft.fftn(cp.asfortranarray(a)), (2, 1, 0)),
    "rfftn of F": (lambda a: cp.fft.rfftn(cp.asfortranarray(a)), (0, 2, 1)),
    "irfftn of F": (lambda a: cp.fft.irfftn(cp.asfortranarray(a)), (0, 1, 2)),
    "roll": (lambda a: cp.roll(a.transpose(1, 2, 0), 2, 1), (2, 0, 1)),
    "roll of all": (lambda a: cp.roll(a.transpose(1, 2, 0), 2), (0, 1, 2)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    call, axes = TRANSFORMS[name]
    made = call(CUBE)
    assert sorted(range(3), key=lambda axis: -made.strides[axis]) == list(axes)
    assert made.transpose(axes).flags.c_contiguous


def test_grids_are_of_device_arrays():
    first, second = cp.meshgrid(cp.arange(3), cp.arange(2), indexing="ij")
    assert first.flags.c_contiguous and second.flags.c_contiguous
    with pytest.raises(AttributeError, match="ndim"):
        cp.meshgrid(range(3), range(2))
    with pytest.raises(ValueError, match="has to be cupy.ndarray"):
        cp.meshgrid(np.arange(3), np.arange(2))
    with pytest.raises(ValueError, match="has to be 1d"):
        cp.meshgrid(cp.array(3), cp.arange(2))
    only = cp.arange(3)
    assert cp.meshgrid(only)[0] is only


PAIR, CUBE = cp.arange(2.0), cp.ones((3, 3, 3)) + cp.eye(3)
STRIDES = {
    "atleast_2d": (lambda: cp.atleast_2d(PAIR), (16, 8)),
    "atleast_3d": (lambda: cp.atleast_3d(C), (40, 8, 8)),
    "zeros": (lambda: cp.zeros((2, 3), order="A"), (8, 16)),
    "ones": (lambda: cp.ones((2, 3), order="A"), (8, 16)),
    "linspace": (lambda: cp.linspace(PAIR, 3, 7, axis=1), (8, 16)),
    "linspace of columns": (lambda: cp.linspace(F, 3, 7, axis=1), (40, 160, 8)),
    "logspace": (lambda: cp.logspace(PAIR, 3, 7, axis=1), (56, 8)),
    "astype": (lambda: C[:, ::2].astype(float, order="A", copy=False), (24, 8)),
    "array": (lambda: cp.array(C[::-1], order="A", copy=None), (40, 8)),
    "array of turned columns": (lambda: cp.array(ARRAY[0, :, ::2].T, "f"), (16, 4)),
    "asarray of a repeated row": (lambda: cp.asarray(np.broadcast_to(1.0, (2, 3))), (24, 8)),
    "roll by an array": (lambda: cp.roll(F, cp.array(1), 0), (40, 8)),
    "tile once": (lambda: cp.tile(cp.asarray(ARRAY).transpose(1, 0, 2), 1), (40, 160, 8)),
    "windows": (
        lambda: cp.lib.stride_tricks.sliding_window_view(C, (2, 3), axis=(1, 0)),
        (40, 8, 40, 8),  # in the order of the axes
    ),
    "cross": (lambda: cp.cross(CUBE, CUBE, axis=0), (8, 72, 24)),
    "linalg.cross": (lambda: cp.linalg.cross(CUBE, CUBE, axis=0), (8, 72, 24)),
    "matmul": (lambda: cp.matmul(*[CUBE[0]] * 2, axes=[(0, 1), (0, 1), (1, 0)]), (24, 8)),
    "matrix_power": (lambda: cp.linalg.matrix_power(CUBE.swapaxes(0, 1), 0), (24, 72, 8)),
    "polyvander": (lambda: cp.polynomial.polynomial.polyvander(CUBE[0], 1), (24, 8, 72)),
    "tensorinv": (lambda: cp.linalg.tensorinv(cp.asfortranarray(CUBE[0]), 1), (8, 24)),
}


@pytest.mark.parametrize("name", STRIDES)
def test_strides(name):
    call, strides = STRIDES[name]
    assert call().strides == strides


def test_several_at_least():
    assert type(cp.atleast_1d(1, C)) is list and cp.atleast_1d(C) is C
    assert type(cp.meshgrid(PAIR, PAIR, sparse=True, copy=False)) is tuple


def test_no_shape_is_the_shape_of_the_model():
    model = cp.ones((2, 3))
    for like in (cp.zeros_like, cp.ones_like, cp.empty_like):
        assert like(model, shape=()).shape == (2, 3) and like(model, shape=(0,)).shape == (0,)
    assert cp.full_like(model, 4, shape=()).shape == (2, 3)


@pytest.mark.parametrize("order", "KA")
def test_the_order_of_nothing_is_fortrans(order):
    for made in (cp.empty((2, 3), order=order), cp.zeros((2, 3), order=order)):
        assert made.strides == (8, 16)


def test_the_power_of_minus_one_is_the_inverse():
    square = cp.asarray(ARRAY[0, :3, :3]) + cp.eye(3)
    assert cp.linalg.matrix_power(square, -1).strides == cp.linalg.inv(square).strides
    np.testing.assert_allclose(
        (cp.linalg.matrix_power(square, -2) @ square @ square).get(), np.eye(3), atol=1e-9
    )


def test_numbers_of_matrices_lie_in_rows():
    a, linalg = cp.asfortranarray(cp.ones((2, 3, 4, 4)) + cp.eye(4)), cp.linalg
    assert linalg.svd(a)[1].flags.c_contiguous and linalg.eigh(a)[0].flags.c_contiguous
    for name in ("det", "cond", "matrix_rank", "eigvalsh"):
        assert getattr(linalg, name)(a).flags.c_contiguous, name
    assert linalg.slogdet(a)[0].flags.c_contiguous
    assert linalg.svd(a, compute_uv=False).flags.c_contiguous
