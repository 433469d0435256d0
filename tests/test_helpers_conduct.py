"""The exercise checks see how an answer works: its kernels, and what it moves."""

import helpers  # first: it decides who answers to `import cupy`

# isort: split
import cupy as cp
import numpy as np
import pytest


def passes(candidate, capsys, **options):
    assert helpers.check("99.1", candidate, **options), capsys.readouterr().out


def fails(candidate, capsys, says, **options):
    assert not helpers.check("99.1", candidate, **options)
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    for text in says:
        assert text in line, line


TWICE = r"""
extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
"""


def by_kernel(x, y):
    n = x.size
    cp.RawKernel(TWICE, "twice")(((n + 127) // 128,), (128,), (x, y, np.int32(n)))


def by_two_kernels(x, y):
    by_kernel(x, y)
    by_kernel(x, y)


def by_elementwise_kernel(x, y):
    cp.ElementwiseKernel("T x", "T y", "y = 2 * x", "doubled")(x, y)


def by_functions(x, y):
    cp.multiply(x, 2, out=y)


def by_numpy(x, y):
    y.set(2 * x.get())


def floats(rng):
    return (rng.standard_normal(2 * rng.integers(20, 90) + 1).astype(np.float32),)


DOUBLED = dict(oracle=lambda x: 2 * x, make_case=floats, contiguous=True, out=True)


@pytest.mark.parametrize("kernels", [1, (1, 2)])
@pytest.mark.parametrize("candidate", [by_kernel, by_elementwise_kernel])
def test_the_reader_s_kernels_are_counted(capsys, candidate, kernels):
    passes(candidate, capsys=capsys, kernels=kernels, stays=True, **DOUBLED)


@pytest.mark.parametrize(
    "candidate, says",
    [
        (by_two_kernels, ["2 kernels were launched (twice)", "1 will do"]),
        (by_functions, ["no kernel of yours was launched"]),
        (by_numpy, ["no kernel of yours was launched"]),
    ],
)
def test_another_number_of_kernels_is_told(capsys, candidate, says):
    fails(candidate, capsys=capsys, kernels=1, says=["case 4 of 4", *says], **DOUBLED)


def through_a_new_array(x, y):
    y[...] = cp.asarray(np.arange(x.size, dtype=np.float32)) * 0 + 2 * x


def with_a_look_at_a_value(x, y):
    cp.multiply(x, 2 if float(x[0]) < 9 else 3, out=y)


def by_a_mask(x, y):
    y[...] = x
    y[y != 0] = 2 * x[x != 0]


@pytest.mark.parametrize(
    "candidate", [by_numpy, through_a_new_array, with_a_look_at_a_value, by_a_mask]
)
def test_what_leaves_the_device_or_comes_to_it_is_told(capsys, candidate):
    passes(candidate, capsys=capsys, **DOUBLED)
    capsys.readouterr()
    says = ["case 4 of 4", "the work is to stay there"]
    fails(candidate, capsys=capsys, stays=True, says=says, **DOUBLED)


def test_functions_alone_stay_on_the_device(capsys):
    passes(by_functions, capsys=capsys, stays=True, **DOUBLED)


def total(x):
    return cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")(x)


def long_floats(rng):
    return (rng.standard_normal(2 * rng.integers(600, 900) + 1),)


def test_a_reduction_is_one_kernel(capsys):
    passes(total, capsys, oracle=lambda x: x.sum(), make_case=long_floats, atol=1e-9, kernels=1)


@pytest.mark.skipif(not helpers.can_xray(), reason="needs g++ on x86-64")
def test_a_pattern_of_accesses_is_judged_and_may_be_refused(capsys):
    source = r"""
    extern "C" __global__ void copy(const double* x, double* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = x[i];
    }"""
    kernel = cp.RawKernel(source, "copy")

    def copy(x):
        y = cp.empty(len(x))
        kernel((len(x),), (1,), (x, y, np.int32(len(x))))
        return y

    seen = []

    def one_lane(found):
        seen.append(found.kernel)
        lonely = found.total("lanes", kind="store") == found.total("requests", kind="store")
        return "its threads work alone" if lonely else None

    assert not helpers.check("1", copy, np.copy, "n", contiguous=True, pattern=one_lane)
    assert "the values are right, but its threads work alone" in capsys.readouterr().out
    assert helpers.check("1", copy, np.copy, "n", contiguous=True, pattern=lambda found: None)
    assert seen == ["copy"]


def by_two_functions(x, y):
    cp.copyto(y, x)
    y *= 2


def by_two_elementwise(x, y):
    by_elementwise_kernel(x, y)
    by_elementwise_kernel(x, y)


def by_element(x, y):
    for k in range(len(x)):
        cp.multiply(x[k : k + 1], 2, out=y[k : k + 1])


def by_a_reduction_too(x, y):
    x.sum()
    by_functions(x, y)


def test_all_launches_are_counted(capsys):
    for candidate in (by_functions, by_kernel, by_elementwise_kernel):
        passes(candidate, capsys, most_launches=1, **DOUBLED)
    for candidate in (by_two_functions, by_two_kernels, by_two_elementwise, by_a_reduction_too):
        passes(candidate, capsys, most_launches=3, **DOUBLED)
        capsys.readouterr()
        fails(candidate, capsys, ["asked 2 times where 1 will do"], most_launches=1, **DOUBLED)
    fails(by_element, capsys, ["is there a Python loop"], most_launches=12, **DOUBLED)
