"""The table of functions: methods against NumPy's, what each function takes, and every name."""

import importlib

import cupy as cp
import cupyx
import numpy as np
import pytest
from cupy.linalg import LinAlgError

import gpuless

RNG = np.random.default_rng(5)
CUBE = RNG.permutation(60).reshape(3, 5, 4).astype(float)  # asymmetric, no value twice
ROWS = np.array([2, 0, 0])

METHODS = [
    ("all", ()),
    ("any", (1,)),
    ("argmax", (1,)),
    ("argmin", ()),
    ("argsort", (0,)),
    ("astype", ("f",)),
    ("clip", (7, 31)),
    ("clip", (None, 31)),
    ("compress", ([False, True, True], 0)),
    ("compress", (CUBE[:, 0, 0] > 20, 0)),
    ("compress", (CUBE.ravel() > 20,)),
    ("conj", ()),
    ("cumprod", (1,)),
    ("cumsum", (2,)),
    ("diagonal", (1, 1, 2)),
    ("dot", (RNG.integers(0, 9, (4, 2)).astype(float),)),
    ("flatten", ("F",)),
    ("max", (1,)),
    ("mean", ((0, 2),)),
    ("min", (0,)),
    ("nonzero", ()),
    ("prod", (2,)),
    ("ravel", ("F",)),
    ("repeat", (3, 1)),
    ("reshape", (5, 12)),
    ("round", (1,)),
    ("squeeze", ()),
    ("std", (1,)),
    ("std", (1, "d", None, 1)),
    ("sum", ((1, 2),)),
    ("swapaxes", (0, 2)),
    ("take", (ROWS, 1)),
    ("take", ([3, 1],)),
    ("trace", (1, 2, 1)),
    ("transpose", (2, 0, 1)),
    ("var", (0, None, None, 1)),
]


def on(xp, value):
    return xp.asarray(value) if isinstance(value, np.ndarray) else value


def same(ours, theirs):
    ours = ours if isinstance(ours, tuple) else (ours,)
    theirs = theirs if isinstance(theirs, tuple) else (theirs,)
    for a, b in zip(ours, theirs, strict=True):
        assert isinstance(a, cp.ndarray)
        assert (a.shape, a.dtype) == (np.shape(b), np.asarray(b).dtype)
        np.testing.assert_allclose(a.get(), b, rtol=1e-12)


@pytest.mark.parametrize(("name", "arguments"), METHODS)
def test_methods_are_numpys(name, arguments):
    array = CUBE if name != "dot" else CUBE[0]
    expected = getattr(array, name)(*arguments)
    same(getattr(cp.asarray(array), name)(*(on(cp, value) for value in arguments)), expected)


def test_methods_on_one_axis():
    line = np.array([7.0, 1.0, 5.0, 3.0, 9.0])
    ours = cp.asarray(line)
    same(ours.compress(ours > 4), line.compress(line > 4))
    same(ours.searchsorted(cp.asarray([4.0, 8.0])), line.searchsorted([4.0, 8.0]))
    same(cp.sort(ours).searchsorted(cp.asarray([4.0, 8.0]), "right"), np.array([2, 4]))
    same(ours.argpartition(2)[:1], line.argpartition(2)[:1])
    rows = cp.stack([ours[:3], ours[1:4], ours[2:]])
    same(cp.asarray([2, 0, 1]).choose(rows), np.array([5.0, 1.0, 3.0]))
    same(ours.argmax(None, None, "i"), np.int32(4))  # CuPy's order: axis, out, dtype
    same(ours.argmin(dtype=np.int8), np.int8(1))
    out = cp.empty((), int)
    assert ours.argmax(0, out) is out and int(out) == 4
    ours.put([1, -1], cp.asarray([2.0, 4.0]))
    assert ours.tolist() == [7, 2, 5, 3, 4]
    with pytest.raises(ValueError, match="condition must be a 1-d array"):
        ours.compress(ours[None] > 4)


QUIET = [
    lambda xp, a: xp.sum(a),
    lambda xp, a: xp.mean(a, axis=0),
    lambda xp, a: xp.max(a, 1),
    lambda xp, a: xp.amin(a),
    lambda xp, a: xp.std(a, ddof=1),
    lambda xp, a: xp.clip(a, 1, 3),
    lambda xp, a: xp.reshape(a, (4, 3)),
    lambda xp, a: xp.take(a, [1, 0]),
    lambda xp, a: xp.sort(a),
    lambda xp, a: xp.compress([True, False, True], a, axis=0),
    lambda xp, a: xp.dot(a, a.T),
    lambda xp, a: xp.array_equal(a, a),
]


@pytest.mark.parametrize("call", QUIET)
def test_what_calls_a_method_leaves_a_host_array_to_numpy(call):
    host = RNG.random((3, 4))
    ours, theirs = call(cp, host), call(np, host)
    assert type(ours) is type(theirs) and np.array_equal(ours, theirs)


def test_host_and_device_do_not_mix_there():
    host, device = np.ones((3, 3)), cp.ones((3, 3))
    for call in (lambda: cp.dot(host, device), lambda: cp.dot(device, host)):
        with pytest.raises(TypeError, match="Unsupported type <class 'numpy.ndarray'>"):
            call()


def test_what_copies_to_the_device():
    host, device = np.array([1.0, 2.0, np.nan]), cp.asarray([1.0, 2.5, np.nan])
    same(cp.isclose(device, host), np.array([True, False, False]))
    same(cp.isclose(host, device, equal_nan=True), np.array([True, False, True]))
    same(cp.allclose(host[:1], [1.0]), np.True_)
    same(cp.append(device, [3.0]), np.array([1.0, 2.5, np.nan, 3.0]))
    same(cp.vstack([host, device])[0], host)
    same(cp.tril(np.ones((2, 2))), np.tril(np.ones((2, 2))))
    same(cp.diff(host[:2]), np.array([1.0]))


def test_bytes_in_the_other_order_are_swapped_on_the_way(tmp_path):
    big = np.arange(3, dtype=">i4")
    same(cp.asarray(big), np.arange(3, dtype="i"))
    big.tofile(tmp_path / "big")
    same(cp.fromfile(tmp_path / "big", ">i4") * 2, np.array([0, 2, 4], "i"))
    with pytest.raises(ValueError, match="big-endian"):
        cp.zeros(3, ">i4")


def test_what_offers_device_memory_is_taken():
    class Offer:
        array = cp.arange(3.0)
        __cuda_array_interface__ = array.__cuda_array_interface__
        __array__ = None

    assert np.array_equal(cp.asnumpy(Offer()), [0, 1, 2])
    out = cp.empty(3)
    assert cp.add(Offer(), 1, out) is out and out.tolist() == [1, 2, 3]
    assert (out - Offer()).tolist() == [1, 1, 1] and (cp.sqrt(Offer(), dtype="f").dtype == "f")
    assert cp.shares_memory(cp.atleast_1d(Offer()), Offer.array)
    with pytest.raises(TypeError, match="Unsupported type"):
        cp.add(Offer(), np.ones(3))
    with pytest.raises(TypeError):
        out @ Offer()


def test_joining_between_brackets():
    a, b = np.array([3, 1, 2]), np.array([9, 8, 7])
    same(cp.r_[cp.asarray(a), 5, cp.asarray(b)], np.r_[a, 5, b])
    same(cp.c_[cp.asarray(a), cp.asarray(b)], np.c_[a, b])
    with pytest.raises(NotImplementedError):
        cp.r_[1:3]


def test_small_functions_of_cupy():
    square = CUBE[0, :4]
    ours = cp.asarray(square)
    same(cp.diag_indices_from(ours), np.diag_indices_from(square))
    same(cp.kron(ours[0], 3), np.kron(square[0], 3))
    same(cp.linalg.cross(ours[0, :3], ours[1, :3]), np.linalg.cross(square[0, :3], square[1, :3]))
    same(cp.linalg.matrix_transpose(ours), square.T)
    same(cp.msort(ours), np.sort(square, axis=0))
    same(cp.asfarray(cp.asarray([1, 2])), np.array([1.0, 2.0]))
    same(cp.astype(ours, "f"), square.astype("f"))
    same(
        cp.piecewise(ours, [ours > 40, ours < 9], [1, 2, 7]),
        np.piecewise(square, [square > 40, square < 9], [1, 2, 7]),
    )
    with pytest.raises(NotImplementedError, match="Callable functions"):
        cp.piecewise(ours, [ours > 2], [lambda x: x])
    with pytest.raises(ValueError, match="either 1 or 2 functions are expected"):
        cp.piecewise(ours, [ours > 2], [1, 2, 3])
    first, second = ours > 40, ours > 20
    same(
        cp.select([first, second], [ours, -ours], 5),
        np.select([square > 40, square > 20], [square, -square], 5),
    )
    with pytest.raises(TypeError, match="lists of cupy ndarrays"):
        cp.select([first], [3])
    with pytest.raises(ValueError, match="invalid entry 0 in condlist"):
        cp.select([ours], [ours])
    with pytest.raises(ValueError, match="must not contain Infs or NaNs"):
        cp.asarray_chkfinite([1.0, np.inf])
    flat = ours.flat
    assert iter(flat) is flat and [float(x) for x in flat] == square.ravel().tolist()
    with pytest.raises(IndexError):
        ours.flat[True]
    same(
        cp.apply_along_axis(lambda line: line[::-1] - line.max(), 0, ours),
        square[::-1] - square.max(0),
    )
    same(cp.apply_along_axis(cp.diag, 1, ours), np.apply_along_axis(np.diag, 1, square))
    rows = cp.arange(6.0).reshape(2, 3)
    cp.apply_along_axis(lambda row: cp.subtract(row, row[0], out=row), 1, rows)  # a view
    assert rows.tolist() == [[0, 1, 2], [0, 1, 2]]
    same(cp.apply_over_axes(cp.sum, cp.asarray(CUBE), [0, 2]), CUBE.sum((0, 2), keepdims=True))
    together = cp.broadcast(ours[:, None], ours[:3, :1])
    assert (together.shape, together.nd, together.size) == ((4, 3, 4), 3, 48)
    assert together.values[1].shape == (4, 3, 4)
    same(ours.ptp(1), np.ptp(square, 1))
    assert cp.require(ours.T, "f", ["C", "O"]).flags.c_contiguous
    assert cp.require(ours[1:], requirements="O").base is None
    with pytest.raises(ValueError, match="Cannot specify both"):
        cp.require(ours, requirements=["C", "F"])


def test_eigenvalues_of_half_precision():
    matrix = np.array([[2.0, 1.0], [1.0, 3.0]])
    values, vectors = cp.linalg.eigh(cp.asarray(matrix, "e"))
    assert values.dtype == vectors.dtype == np.float16
    np.testing.assert_allclose(values.get(), np.linalg.eigvalsh(matrix), rtol=2e-3)
    assert cp.linalg.eigvalsh(cp.asarray(matrix, "e")).dtype == np.float16


def test_a_matrix_without_an_answer_gives_nan_and_raises_where_asked_to():
    bad, good = np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([[2.0, 1.0], [1.0, 3.0]])
    stack, right = cp.asarray([bad, good]), cp.asarray([[1.0], [2.0]])
    assert cp.isnan(cp.linalg.inv(cp.asarray(bad))).all()
    assert cp.isnan(cp.linalg.solve(cp.asarray(bad), right)).all()
    assert cp.isnan(cp.linalg.cholesky(cp.asarray(-good))).all()
    ours = cp.linalg.inv(stack)
    assert cp.isnan(ours[0]).all()
    same(ours[1], np.linalg.inv(good))
    assert cp.linalg.inv(cp.asarray(bad.astype("f"))).dtype == np.float32
    with cupyx.errstate(linalg="raise"):
        for call in (cp.linalg.inv, cp.linalg.cholesky):
            with pytest.raises(LinAlgError):
                call(cp.asarray(-bad))
    assert cupyx.geterr()["linalg"] == "ignore"
    with pytest.raises(LinAlgError, match="Last 2 dimensions of the array must be square"):
        cp.linalg.inv(cp.ones((2, 3)))
    with pytest.raises(LinAlgError):
        cp.linalg.tensorinv(cp.ones((2, 3, 5, 1)))
    with pytest.raises(LinAlgError, match="cupy.linalg only supports cupy.ndarray"):
        cp.linalg.inv(good)


def test_decompositions_are_plain_tuples_and_eigenvalues_complex():
    matrix = cp.asarray(np.diag([3.0, 1.0, 2.0]))
    for name in ("svd", "qr", "eigh", "slogdet", "eig"):
        assert type(getattr(cp.linalg, name)(matrix)) is tuple
    values, vectors = cp.linalg.eig(matrix.astype("f"))
    assert values.dtype == vectors.dtype == np.complex64
    assert sorted(cp.linalg.eigvals(matrix).get().real) == [1, 2, 3]
    assert cp.linalg.eigvals(matrix).dtype == np.complex128
    with pytest.raises(ValueError, match="UPLO"):
        cp.linalg.eigh(matrix, "l")


KEYWORDS = {  # of NumPy's that CuPy's functions have under another name, or not at all
    "flip": {"m": 0}, "std": {"correction": 1}, "linalg.svd": {"hermitian": True},
    "linalg.pinv": {"hermitian": True}, "cov": {"m": 0}, "argpartition": {"kth": 1, "kind": "a"},
    "isin": {"test_elements": 0, "kind": "sort"}, "lexsort": {"axis": 0},
}  # fmt: skip


@pytest.mark.parametrize("name", KEYWORDS)
def test_keywords_of_numpys_alone_are_refused(name):
    function, a = cp, cp.eye(3)
    for part in name.split("."):
        function = getattr(function, part)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        function(a, **{key: a if value == 0 else value for key, value in KEYWORDS[name].items()})
    with pytest.raises(TypeError, match="kwargs"):
        cp.einsum("ij->i", a, out=cp.empty(3))
    assert cp.flip(a=a).shape == cp.rot90(a=a).shape == cp.reshape(a, newshape=(3, 3)).shape


MODULES = {  # and how many public names of each may be lacking
    "cupy": 19,
    "cupy.linalg": 0,
    "cupy.fft": 0,
    "cupy.random": 0,
    "cupy.cuda": 40,
    "cupy.cuda.runtime": 400,
    "cupy.cuda.driver": 90,
    "cupy.cuda.device": 6,
    "cupyx.distributed": 0,
    "cupy.testing": 0,
    "cupyx": 13,
}


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_of_cupy_is_there_or_named_by_an_error(module):
    found = importlib.import_module(module)
    known = gpuless.public(module)
    lacking = []
    for name in sorted(known):
        try:
            getattr(found, name)
        except NotImplementedError as error:
            assert f"{module}.{name} is not covered" in str(error)
            lacking.append(name)
    assert len(lacking) <= MODULES[module], lacking
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'arrray'"):
        found.arrray  # noqa: B018


def test_cupy_offers_nothing_that_cupy_has_not():
    """What runs here and has no name on a GPU would be a trap."""
    offered = {name for name in vars(cp) if not name.startswith("_")}
    modules = {name.split(".")[1] for name in gpuless.public("modules") if "." in name}
    assert offered - gpuless.public("cupy") - modules == {"annotations", "is_standin"}
    for module in (cp.linalg, cp.random, cp.fft):
        functions = {n for n, f in vars(module).items() if n[0] != "_" and f.__doc__}
        rows = {n for n in functions if "As NumPy's" in module.__dict__[n].__doc__}
        assert len(rows) > 15 and rows <= gpuless.public(module.__name__)


@pytest.mark.parametrize(
    "name",
    """cupyx.scipy.interpolate cupyx.jit.cub cupyx.optimizing cupyx.tools cupyx.cusparse cupy.typing
    cupy.cuda.cub cupy_backends.cuda.libs cupy_backends.cuda.stream""".split(),
)
def test_modules_that_cupy_alone_has_are_named_by_the_error(name):
    parent, _, child = name.rpartition(".")
    with pytest.raises(NotImplementedError, match=f"^{name} is not covered by the CPU stand-in"):
        exec(f"import {name}")
    with pytest.raises(NotImplementedError, match=f"^{name} is not covered"):
        exec(f"from {parent} import {child}")
    with pytest.raises(
        ModuleNotFoundError
    ):  # as libraries expect that only look whether it is there
        exec(f"import {name}")
    with pytest.raises(ModuleNotFoundError):
        exec("import cupyx.scippy")


def test_the_profiler_comes_with_cupyx():
    assert callable(cupyx.profiler.benchmark)
    for module, name in (("cupyx", "tools"), ("cupy", "typing"), ("cupy", "DataSource")):
        with pytest.raises(NotImplementedError, match=f"^{module}.{name} is not covered"):
            getattr({"cupy": cp, "cupyx": cupyx}[module], name)


def test_an_axis_by_place():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    b = cp.asarray(a)
    assert np.array_equal(cp.concatenate([b, b + 1], 1).get(), np.concatenate([a, a + 1], 1))
    out = cp.zeros((4, 3), np.float32)
    assert cp.concatenate([b, b], 0, out) is out and (out[2:] == b).all()


def test_what_is_taken_from_nothing():
    none = cp.zeros((0, 0))
    for made in (none.take([0], axis=0), cp.compress([1, 0], none, axis=0)):
        assert made.shape == (1, 0)
    with pytest.raises(IndexError):
        cp.zeros((0, 3)).take([0], axis=0)
