"""Arrays that are misaligned: a GPU's kernels read and write none, so that none may pass here."""

import cupy as cp
import cupyx
import numpy as np
import pytest
from cupyx.scipy import sparse

import helpers

pytestmark = pytest.mark.skipif(helpers.on_gpu, reason="a GPU stops the whole program there")
RAW = np.arange(64, dtype="u1")
GOOD = cp.ones(8, "f4")
PLACES = cp.array([0, 1])
COPY = cp.ElementwiseKernel("T a", "T b", "b = a", "copy_aligned")
SUM = cp.ReductionKernel("T a", "T b", "a", "a + b", "b = a", "0", "sum_aligned")
DOUBLE = cp.fuse(kernel_name="doubled")(lambda a: a * 2)


def floats():
    return cp.asarray(RAW)[5:37].view("f4")


USES = {
    "ufunc": lambda x: x * 2,
    "ufunc's out": lambda x: cp.add(GOOD, GOOD, out=x),
    "function": lambda x: cp.where(GOOD > 0, x, GOOD),
    "reduction": lambda x: x.sum(),
    "reduction's out": lambda x: cp.sum(cp.ones((2, 8), "f4"), 0, out=x),
    "taking": lambda x: x[PLACES],
    "indices": lambda x: GOOD[x.view("i4")],
    "setting": lambda x: x.__setitem__(PLACES, 1),
    "setting a part": lambda x: x.__setitem__(slice(2), 3),
    "cast": lambda x: x.astype("f8"),
    "other order": lambda x: x.reshape(2, 4).copy("F"),
    "a part to the host": lambda x: x[::2].get(),
    "filling": lambda x: x.fill(3),
    "sorting": lambda x: x.sort(),
    "put": lambda x: cp.put(x, PLACES, 1),
    "copyto": lambda x: cp.copyto(x, 2),
    "putmask": lambda x: cp.putmask(x, GOOD > 0, 2),
    "joining": lambda x: cp.concatenate([GOOD, x]),
    "list": lambda x: cp.array([x, x]),
    "ElementwiseKernel": COPY,
    "ElementwiseKernel's output": lambda x: COPY(GOOD, x),
    "ReductionKernel": SUM,
    "fuse": DOUBLE,
    "scatter_add": lambda x: cupyx.scatter_add(x, PLACES, 1),
    "product": lambda x: GOOD @ x,
    "shuffle": lambda x: cp.random.shuffle(x),
    "sparse": lambda x: sparse.eye(8, format="csr") @ x,
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_what_a_kernel_would_read_or_write_misaligned_is_refused(use):
    with pytest.raises(RuntimeError, match="misaligned access: (float|int)32 is .* begins 1 past"):
        use(floats())


@pytest.mark.parametrize("kind, real", [("D", "d"), ("F", "f")])
def test_complex_numbers_want_multiples_of_their_whole_size(kind, real):
    numbers = cp.arange(9, dtype=real)[1:].view(kind)
    with pytest.raises(RuntimeError, match="misaligned access: complex"):
        numbers * 1
    assert (numbers.imag + 0).tolist() == [2, 4, 6, 8]
    assert (cp.arange(4, dtype=kind)[1:] * 1).tolist() == [1, 2, 3]


def test_pointers_and_strides_may_be_misaligned_too():
    memory = cp.zeros(8, "f4").data
    for array in (
        cp.ndarray(2, "f4", memory + 2),
        cp.ndarray(2, "f4", memory, strides=(6,)),
        cp.ndarray(2, "f4", strides=(2,)),
        cp.lib.stride_tricks.as_strided(GOOD, (2,), (6,)),
    ):
        with pytest.raises(RuntimeError, match="misaligned access"):
            array + 1


def test_what_copies_bytes_or_makes_views_takes_misaligned_arrays():
    x = floats()
    assert x.get().tobytes() == bytes(RAW[5:37]) and repr(x) == repr(x.get())
    assert (x.view("u1") + 1).tolist() == (RAW[5:37] + 1).tolist()
    assert (x.copy() == cp.array(x)).all()
    x[:] = GOOD
    GOOD[:] = x
    x.fill(0)
    x[...] = 0
    x.set(np.ones(8, "f4"))
    assert x.reshape(2, 4).T.shape == cp.transpose(cp.reshape(x, (2, 4))).shape
    assert x.get().tolist() == [1] * 8 and (x[:0] * 2).size == 0 == x[:0].sum()
