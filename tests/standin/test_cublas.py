"""``cupy.cublas``: NumPy's products, by CuPy's names."""

import cupy as cp
import numpy as np
import pytest
from cupy import cublas

RNG = np.random.default_rng(9)


def some(*shape, dtype="d"):
    values = RNG.standard_normal(shape)
    return (values + (1j * RNG.standard_normal(shape) if dtype in "FD" else 0)).astype(dtype)


@pytest.mark.parametrize("dtype", "fdFD")
def test_vectors(dtype):
    x, y = some(37, dtype=dtype), some(37, dtype=dtype)
    on = [cp.asarray(x), cp.asarray(y)]
    near = {"rtol": 2e-5 if dtype in "fF" else 1e-12}
    np.testing.assert_allclose(cublas.nrm2(on[0]).get(), np.linalg.norm(x), **near)
    np.testing.assert_allclose(cublas.dotu(*on).get(), x @ y, **near)
    np.testing.assert_allclose(cublas.dotc(*on).get(), np.vdot(x, y), **near)
    size = abs(x.real) + abs(x.imag)
    np.testing.assert_allclose(cublas.asum(on[0]).get(), size.sum(), **near)
    assert cublas.iamax(on[0]) == size.argmax() + 1 and cublas.iamin(on[0]) == size.argmin() + 1
    cublas.axpy(2, *on)
    np.testing.assert_allclose(on[1].get(), 2 * x + y, **near)
    out = np.empty((), dtype.lower())
    assert cublas.nrm2(on[0], out=out) is out and out > 0
    assert cublas.nrm2(on[0]).dtype == dtype.lower()


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("transa", "NTH")
@pytest.mark.parametrize("transb", "NTH")
def test_matrices(transa, transb, order):
    op = {"N": lambda a: a, "T": lambda a: a.T, "H": lambda a: a.T.conj()}
    a = some(*((5, 3) if transa == "N" else (3, 5)), dtype="D")
    b = some(*((3, 4) if transb == "N" else (4, 3)), dtype="D")
    out = cp.asarray(some(5, 4, dtype="D"), order=order)
    want = 2j * op[transa](a) @ op[transb](b) + 0.5 * out.get()
    args = transa, transb, cp.asarray(a), cp.asarray(b)
    assert cublas.gemm(*args, out, 2j, 0.5) is out
    np.testing.assert_allclose(out.get(), want, rtol=1e-12)
    fresh = cublas.gemm(*args)
    assert fresh.flags.f_contiguous and fresh.shape == (5, 4)
    garbage = cp.full((5, 4), cp.nan, "D")
    assert np.isfinite(cublas.gemm(*args, garbage, beta=0.0).get()).all()


def test_what_lies_as_it_is_read():
    square = cp.ones((2, 2))
    x = cp.asfortranarray(cp.array([[1.0, 2], [3, 4]]))
    assert cublas.dgmm("L", square, x).tolist() == [[1, 1], [3, 3]]
    assert cublas.dgmm("R", square, cp.ones(2)).flags.c_contiguous
    assert cublas.dgmm(1, square.T[:1], cp.ones(2)).flags.f_contiguous
    with pytest.raises(ValueError, match="side"):
        cublas.dgmm("l", square, x)
    with pytest.raises(TypeError, match="trans"):
        cublas.gemm("n", "N", square, square)
    with pytest.raises(TypeError, match="complex"):
        cublas.scal(1j, cp.ones(2))
    out = cp.zeros(2, "i")
    assert cublas.iamax(cp.arange(3.0), out).tolist() == [3, 0]
    gaps, ones = cp.ones(4)[::2], cp.ones(2)
    for call in (
        lambda: cublas.nrm2(gaps),
        lambda: cublas.axpy(1, ones, gaps),
        lambda: cublas.gemv("N", 1, square, gaps, 0, ones),
        lambda: cublas.gerc(1, ones, gaps, square),
        lambda: cublas.dgmm("L", square, gaps),
    ):
        with pytest.raises(NotImplementedError, match="gaps"):
            call()
    with pytest.raises(NotImplementedError, match="memory of one"):
        cublas.gemm("N", "N", square, x, out=square)
    with pytest.raises(NotImplementedError, match="memory of one"):
        cublas.gemv("N", 1, square, ones, 0, ones)


def test_refusals():
    with pytest.raises(TypeError, match="invalid dtype"):
        cublas.nrm2(cp.arange(3))
    with pytest.raises(ValueError, match="x must be a 1D array"):
        cublas.nrm2(cp.ones((2, 2)))
    with pytest.raises(ValueError, match="same size"):
        cublas.dot(cp.ones(2), cp.ones(3))
    with pytest.raises(TypeError, match="Use dotu"):
        cublas.dot(cp.ones(2, "F"), cp.ones(2, "F"))
    with pytest.raises(TypeError, match="invalid trans"):
        cublas.gemm("X", "N", cp.eye(2), cp.eye(2))
    with pytest.raises(NotImplementedError, match="cupy.cublas.sbmv is not covered"):
        cublas.sbmv  # noqa: B018
