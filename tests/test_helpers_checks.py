"""The exercise checks: right answers pass, and each kind of wrong answer is caught and named."""

import helpers  # first: it decides who answers to `import cupy`

# isort: split
import cupy as cp
import numpy as np
import pytest

from helpers.checks import LAYOUTS, _Guarded


def matrices(rng):
    m, k, n = 2 * rng.integers(3, 12, 3) + 1
    return rng.standard_normal((m, k)), rng.standard_normal((k, n))


def square(rng):
    n = 2 * rng.integers(3, 12) + 1
    return (rng.standard_normal((n, n)),)


def vector(rng):
    return (rng.integers(1, 1000, 2 * rng.integers(20, 90) + 1).astype(np.int32),)


def check(candidate, oracle, make_case, capsys, **options):
    passed = helpers.check("99.1", candidate, oracle, make_case, rtol=1e-12, **options)
    line = capsys.readouterr().out
    assert line.startswith("Exercise 99.1: ") and line.count("\n") == 1
    return passed, line.removeprefix("Exercise 99.1: ").strip()


def passes(*arguments, **options):
    passed, line = check(*arguments, **options)
    assert passed, line
    assert line == "correct on 4 cases of odd sizes"


def fails(*arguments, says, **options):
    passed, line = check(*arguments, **options)
    assert not passed
    for text in says:
        assert text in line, line


@pytest.mark.parametrize("contiguous", [False, True])
def test_a_right_answer_passes(capsys, contiguous):
    passes(
        lambda a, b: a @ b, lambda a, b: a @ b, matrices, capsys, atol=1e-12, contiguous=contiguous
    )


def test_several_results_and_scalars(capsys):
    def case(rng):
        return *vector(rng), 3

    passes(lambda x, k: (x * k, x.sum()), lambda x, k: (x * k, x.sum()), case, capsys)
    fails(
        lambda x, k: x * k,
        lambda x, k: (x * k, x.sum()),
        case,
        capsys,
        says=["1 result(s), expected 2"],
    )


def test_an_output_argument(capsys):
    def candidate(x, out):
        out[...] = x.T

    passes(candidate, lambda x: x.T, square, capsys, out=True)
    passes(candidate, lambda x: x.T, square, capsys, out=True, contiguous=True)
    fails(lambda x, out: None, lambda x: x.T, square, capsys, out=True, says=["not done yet"])


@pytest.mark.parametrize("nothing", [None, ...])
def test_not_done_yet(capsys, nothing):
    fails(lambda x: nothing, lambda x: x, square, capsys, says=["not done yet"])


def test_raising_not_implemented_is_not_done_yet(capsys):
    def skeleton(x):
        raise NotImplementedError

    passed, line = check(skeleton, lambda x: x, square, capsys)
    assert not passed and line == "not done yet"


def test_not_implemented_with_a_reason_is_told(capsys):
    def candidate(x):
        raise NotImplementedError("textures")

    fails(candidate, lambda x: x, square, capsys, says=["NotImplementedError: textures"])


def test_an_exception_is_one_line(capsys):
    def candidate(x):
        raise ValueError("first\nsecond")

    fails(candidate, lambda x: x, square, capsys, says=["case 1 of 4", "ValueError: first second"])


@pytest.mark.parametrize(
    "candidate, oracle, case, says",
    [
        (lambda x: x.T.copy(), lambda x: x.copy(), square, ["transposed"]),
        (
            lambda a, b: (a @ b).T,
            lambda a, b: a @ b,
            matrices,
            ["the shape is", "looks transposed"],
        ),
        (lambda x: cp.zeros_like(x), lambda x: 2 * x, square, ["All zeros"]),
        (lambda x: x.copy(), lambda x: 2 * x, square, ["It is argument 1, unchanged"]),
        (lambda x: x * 3, lambda x: x * 2, square, ["Every element is 1.5 times"]),
        (lambda x: cp.roll(x, 1), lambda x: x, vector, ["shifted by one along axis 0"]),
        (
            lambda x: x.astype(np.float32),
            lambda x: x,
            square,
            ["dtype is float32, expected float64"],
        ),
        (lambda x: x[:-1], lambda x: x, vector, ["the shape is"]),
        (lambda x: x.get(), lambda x: x, vector, ["numpy.ndarray; the result must be a cupy"]),
        (lambda x: float(x.sum()), lambda x: x.sum(), square, ["builtins.float"]),
        (lambda x: x * np.nan, lambda x: x, square, ["element [0, 0] is nan", "NaN"]),
        (lambda x: x + 1e-9, lambda x: x, square, ["wrong in case 1 of 4 (contiguous arrays of ("]),
    ],
)
def test_wrong_answers_are_caught_and_named(capsys, candidate, oracle, case, says):
    fails(candidate, oracle, case, capsys, says=says)


def test_the_wrong_element_is_shown_with_both_values(capsys):
    def candidate(x):
        y = x.copy()
        y[3] += 1
        return y

    fails(candidate, lambda x: x, vector, capsys, says=["element [3] is", "expected", "; 1 of"])


def test_a_missing_last_row_is_guessed(capsys):
    def candidate(x):
        y = 2 * x
        y[-1] = 0
        return y

    fails(candidate, lambda x: 2 * x, square, capsys, says=["Only the last index of axis 0"])


def test_a_nan_among_good_values_does_not_pass(capsys):
    def candidate(x):
        y = x.copy()
        y[-1, -1] = np.nan
        return y

    fails(candidate, lambda x: x, square, capsys, says=["nan"])
    fails(candidate, lambda x: x, square, capsys, atol=np.inf, says=["nan"])


def test_changing_an_argument_is_caught(capsys):
    def candidate(x):
        y = x + 1
        x += 1
        return y

    fails(candidate, lambda x: x + 1, square, capsys, says=["changed argument 1"])


@pytest.mark.parametrize("contiguous", [False, True])
def test_writing_outside_an_argument_is_caught(capsys, contiguous):
    def candidate(x):
        around = x.base if x.base is not None else x
        around.reshape(-1)[0] = 5
        return x.copy()

    fails(
        candidate, lambda x: x, vector, capsys, contiguous=contiguous, says=["outside argument 1"]
    )


SHIFTED = """extern "C" __global__ void shifted(const double* x, double* y, int first, int n) {
    int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i + 1 - first];
}"""


def shifted(first, more):
    """A kernel that reads x[1:] into y, from y[first] on, and `more` elements too many."""
    kernel = cp.RawKernel(SHIFTED, "shifted")

    def candidate(x, out):
        blocks = ((x.size + 255) // 128,)
        kernel(blocks, (128,), (x, out, np.int32(first), np.int32(x.size + more)))

    return candidate


def doubles(rng):
    return (rng.standard_normal(2 * rng.integers(20, 90) + 1),)


@pytest.mark.parametrize("first, more", [(-1, 0), (0, 1), (0, 40)])
def test_a_kernel_without_the_right_bounds_test_is_caught(capsys, first, more):
    says = ["outside the output; look at the bounds test"]
    candidate = shifted(first, more)
    fails(candidate, lambda x: x, doubles, capsys, contiguous=True, out=True, says=says)


def test_reading_outside_spoils_the_result(capsys):
    def oracle(x):
        return np.append(x[1:], 0.0)

    candidate = shifted(0, 0)
    says = ["is nan", "read from outside"]
    fails(candidate, oracle, doubles, capsys, contiguous=True, out=True, says=says)


def test_ignoring_strides_is_caught(capsys):
    source = """extern "C" __global__ void twice(const double* x, double* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = 2 * x[i];
    }"""
    kernel = cp.RawKernel(source, "twice")

    def candidate(x):
        y = cp.empty(x.shape, x.dtype)
        kernel(((x.size + 127) // 128,), (128,), (x, y, np.int32(x.size)))
        return y

    fails(candidate, lambda x: 2 * x, square, capsys, says=["wrong in case 2 of 4 (stepped arrays"])
    passes(candidate, lambda x: 2 * x, square, capsys, contiguous=True)


def test_every_case_has_another_size_and_layout(capsys):
    seen = []

    def candidate(x):
        seen.append((x.shape, x.strides[0] > 0, x.flags.c_contiguous))
        return x

    passes(candidate, lambda x: x, square, capsys)
    assert len({shape for shape, _, _ in seen}) > 1
    assert seen[0][2] and not any(contiguous for _, _, contiguous in seen[1:])
    assert not seen[3][1]


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "f2", "f4", "c8", "c16"])
@pytest.mark.parametrize("shape", [(), (3, 2, 5, 7)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_canaries_of_every_kind_of_array(dtype, shape, layout):
    values = np.random.default_rng(1).integers(0, 2, shape).astype(dtype)
    guard = _Guarded(1, shape, dtype, layout, values)
    assert np.array_equal(guard.view.get(), values) and guard.view.dtype == dtype
    assert guard.written() == (False, False)
    outside = guard.buffer.get()
    outside.reshape(-1)[-1] = 0
    guard.buffer = cp.asarray(outside)
    assert guard.written() == (False, True)


@pytest.mark.parametrize(
    "case, says",
    [
        (lambda rng: (np.ones(7),), "constant or symmetric"),
        (lambda rng: (np.eye(5),), "constant or symmetric"),
        (lambda rng: (rng.standard_normal((4, 8)),), "no array with an odd size"),
    ],
)
def test_cases_on_which_wrong_answers_pass_are_refused(case, says):
    with pytest.raises(ValueError, match=says):
        helpers.check("99.1", lambda x: x, lambda x: x, case, rtol=0)


def test_an_oracle_that_gives_nan_is_refused():
    with pytest.raises(ValueError, match="oracle gave NaN"):
        helpers.check("99.1", lambda x: x, lambda x: x * np.nan, square, rtol=0)


def test_large_integers_are_compared_exactly(capsys):
    def case(rng):
        return (2**60 + rng.integers(0, 1000, 2 * rng.integers(3, 9) + 1),)

    passed = helpers.check("99.1", lambda x: x + 1, lambda x: x, case, rtol=0)
    assert not passed
