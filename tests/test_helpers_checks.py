"""The exercise checks: right answers pass, and each kind of wrong answer is caught and named."""

import itertools

import helpers  # first: it decides who answers to `import cupy`

# isort: split
import cupy as cp
import numpy as np
import pytest

import gpuless
from helpers import checks, device
from helpers.guards import LAYOUTS, Guarded


def matrices(rng):
    m, k, n = 2 * rng.integers(3, 12, 3) + 1
    return rng.standard_normal((m, k)), rng.standard_normal((k, n))


def square(rng):
    n = 2 * rng.integers(3, 12) + 1
    return (rng.standard_normal((n, n)),)


def vector(rng):
    return (rng.integers(1, 1000, 2 * rng.integers(20, 90) + 1).astype(np.int32),)


def check(candidate, oracle, make_case, capsys, **options):
    options = {"rtol": 1e-12} | options
    passed = helpers.check("99.1", candidate, oracle, make_case, **options)
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
    fails(
        lambda x, k: (x * k, x.sum() + 1),
        lambda x, k: (x * k, x.sum()),
        case,
        capsys,
        says=["result 2 of 2: the value is"],
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
    guard = Guarded(1, shape, dtype, layout, values)
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


def test_a_list_of_results_will_do(capsys):
    passes(lambda x: [x, 2 * x], lambda x: (x, 2 * x), square, capsys)


@pytest.mark.parametrize(
    "dtype, good, bad", [("f4", 1e-6, 1e-4), ("f8", 1e-10, 1e-8), ("c8", 1e-6, 1e-4), ("i4", 0, 1)]
)
def test_tolerances_that_fit_the_dtype(capsys, dtype, good, bad):
    def case(rng):
        return ((rng.standard_normal(2 * rng.integers(20, 90) + 1) * 10).astype(dtype),)

    def off(by):
        return lambda x: (x * (1 + by)).astype(dtype)

    passes(off(good), lambda x: x, case, capsys, rtol=None)
    fails(off(bad), lambda x: x, case, capsys, rtol=None, says=["wrong in case 1"])


def test_atol_alone_keeps_the_usual_rtol(capsys):
    passes(lambda x: x + 0.5, lambda x: x, square, capsys, rtol=None, atol=1)


def test_numbers_that_look_alike_are_told_apart(capsys):
    def candidate(x):
        return x * (1 + 1e-9)

    line = check(candidate, lambda x: x, square, capsys)[1]
    got, expected = line.split("is ", 1)[1].split("; ")[0].split(", expected ")
    assert got != expected and float(got) == pytest.approx(float(expected), rel=1e-8)


def test_large_integers_are_written_whole(capsys):
    def case(rng):
        return (2**60 + rng.integers(0, 1000, 2 * rng.integers(3, 9) + 1),)

    line = check(lambda x: x + 1, lambda x: x, case, capsys, rtol=0)[1]
    got, expected = line.split("is ", 1)[1].split("; ")[0].split(", expected ")
    assert int(got) == int(expected) + 1


TWICE = """extern "C" __global__ void twice(const double* x, double* y, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) y[i] = 2 * x[i];
}"""


def test_a_transposed_view_given_to_a_raw_kernel_is_named(capsys):
    kernel = cp.RawKernel(TWICE, "twice")

    def candidate(x):
        y, x = cp.empty(x.shape, x.dtype), x.T
        kernel((x.size // 128 + 1,), (128,), (x, y, np.int32(len(x)), np.int32(len(x))))
        return y

    # Not symmetric in its argument, so that the guess must come from the argument transposed.
    def oracle(x):
        return 2 * x.T + np.arange(len(x))

    def wrong(x):
        return candidate(x) + cp.arange(len(x))

    says = ["answer for argument 1 transposed", "sees no strides: given x.T"]
    fails(wrong, oracle, square, capsys, contiguous=True, says=says)
    line = check(wrong, oracle, square, capsys)[1]
    assert "no strides" not in line


def test_numpy_arrays_are_tried_where_they_should_work(capsys):
    def both(x):
        return cp.get_array_module(x).cumsum(x)

    passes(both, np.cumsum, vector, capsys, numpy_too=True)
    passes(cp.cumsum, np.cumsum, vector, capsys)
    says = ["given NumPy arrays: "]
    fails(lambda x: cp.arange(x.size) + x, lambda x: np.arange(x.size) + x, vector, capsys,
          numpy_too=True, says=says)  # fmt: skip
    fails(lambda x: cp.asarray(x) + 0, lambda x: x, vector, capsys, numpy_too=True,
          says=[*says, "must be a numpy.ndarray"])  # fmt: skip


def test_arguments_may_be_changed_where_the_exercise_says_so(capsys):
    def candidate(x):
        x *= 2
        return x

    passes(candidate, lambda x: 2 * x, square, capsys, changes=True)
    fails(candidate, lambda x: 2 * x, square, capsys, says=["changed argument 1"])


def test_a_loop_over_rows_makes_too_many_arrays(capsys):
    def loop(x):
        return cp.stack([row - row.min() for row in x])

    def whole(x):
        return x - x.min(axis=1, keepdims=True)

    def oracle(x):
        return x - x.min(axis=1, keepdims=True)

    passes(whole, oracle, "mn", capsys, max_arrays=4)
    passes(loop, oracle, "mn", capsys)
    fails(loop, oracle, "mn", capsys, max_arrays=4, says=["values are right", "where 4 will do"])


def test_an_array_larger_than_the_arguments_is_caught(capsys):
    def outer(a, b):  # all products, to be added up
        return (a[:, :, None] * b[None]).sum(axis=1)

    def oracle(a, b):
        return a @ b

    passes(oracle, oracle, "mp,pn", capsys, largest=1)
    passes(outer, oracle, "mp,pn", capsys, atol=1e-9)
    fails(
        outer,
        oracle,
        "mp,pn",
        capsys,
        atol=1e-9,
        largest=2,
        says=["values are right", "times as large"],
    )


def test_a_result_that_changes_from_run_to_run_is_caught(capsys):
    calls = []

    def candidate(x):
        calls.append(x.shape)
        return x + (len(calls) == 5)

    fails(candidate, lambda x: x, square, capsys, says=["case 4 of 4", "run again", "race"])
    assert len(calls) == 5 and calls[3] == calls[4]


def test_the_second_run_is_in_another_order_where_the_standin_has_one(capsys, monkeypatch):
    order = []

    class Other:
        def __enter__(self):
            order.append("other")

        def __exit__(self, *error):
            order.pop()

    monkeypatch.setattr(gpuless, "another_order", Other, raising=False)
    fails(lambda x: x + len(order), lambda x: x, square, capsys, says=["run again"])


@pytest.mark.parametrize("by", [-1, 0, 1])
def test_writing_beside_an_array_that_the_candidate_made(capsys, monkeypatch, by):
    """As on a GPU, where nothing but the canaries guards what `cp.empty` gives."""
    monkeypatch.setattr(device, "on_gpu", True)
    kernel = cp.RawKernel(SHIFTED, "shifted")

    def candidate(x):
        y = cp.empty(x.size - 1)
        size = np.int32(y.size + (by > 0))
        kernel((x.size // 128 + 1,), (128,), (x, y, np.int32(min(by, 0)), size))
        return y if by >= 0 else x[1:].copy()

    def oracle(x):
        return x[1:].copy()

    if by == 0:
        passes(candidate, oracle, doubles, capsys, contiguous=True)
    else:
        says = ["wrote outside an array that it made; look at the bounds test"]
        fails(candidate, oracle, doubles, capsys, contiguous=True, says=says)


def test_on_a_gpu_new_memory_holds_no_earlier_result(capsys, monkeypatch):
    monkeypatch.setattr(device, "on_gpu", True)

    def lazy(x):
        size = x.size * x.itemsize
        return cp.ndarray(x.shape, x.dtype, cp.cuda.alloc(size))  # nothing is written into it

    says = ["element [0, 0] is -5.", "e+303"]
    fails(lazy, lambda x: 2 * x, square, capsys, contiguous=True, says=says)


def test_a_lost_context_is_named(capsys):
    def candidate(x):
        raise cp.cuda.runtime.CUDARuntimeError(700)

    says = ["IllegalAddress", "restart Python"]
    fails(candidate, lambda x: x, square, capsys, says=says)


def test_shapes_in_letters():
    make_case, rng = checks.shaped("mp, pn"), np.random.default_rng(3)
    cases = [make_case(rng) for _ in range(4)]
    sizes = [(a.shape[0], a.shape[1], b.shape[1]) for a, b in cases]
    assert all(a.shape[1] == b.shape[0] for a, b in cases)
    assert all(size % 2 for case in sizes for size in case)
    assert max(sizes[0]) < 60
    assert [tuple(size > 1024 for size in case) for case in sizes[1:]] == [
        (True, False, False),  # m, n and p by turns
        (False, False, True),
        (False, True, False),
    ]
    make_case = checks.shaped("nn,n")
    small, *large = [make_case(rng)[0] for _ in range(4)]
    assert small.shape[0] == small.shape[1] < 60 and all(128 < len(a) < 200 for a in large)


@pytest.mark.parametrize("text", ["", "m n", "mn,", "3n"])
def test_shapes_that_are_not_letters_are_refused(text):
    with pytest.raises(ValueError, match="letters and commas"):
        helpers.check("99.1", lambda x: x, lambda x: x, text)


def test_an_answer_returned_instead_of_written_is_named(capsys):
    says = ["nothing was written into the last argument"]
    fails(lambda x, out: x.T.copy(), lambda x: x.T, square, capsys, out=True, says=says)


def test_a_small_error_of_large_values_is_called_one_of_precision(capsys):
    def candidate(x):
        return (x * x).sum(axis=1) - x.sum(axis=1) * cp.float64(1 + 1e-7)

    def oracle(x):
        return (x * x).sum(axis=1) - x.sum(axis=1)

    fails(candidate, oracle, square, capsys, says=["look at the precision"])


def test_values_where_zeros_belong_are_no_matter_of_precision(capsys):
    passed, line = check(lambda x: x * 1, lambda x: np.where(x > 0, x, 0), square, capsys)
    assert not passed and "expected 0" in line and "precision" not in line, line


@pytest.mark.skipif(helpers.on_gpu, reason="the stand-in's order of threads")
def test_a_result_that_depends_on_the_order_of_threads_is_refused(capsys, monkeypatch):
    monkeypatch.setattr(checks.xray_watch, "can_compile", lambda: False)  # or a race is seen first
    kernel = cp.RawKernel(
        """extern "C" __global__ void shift(double *x, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i + 1 < n) x[i] = x[i + 1];
        }""",
        "shift",
    )

    def in_place(x):
        y = x.copy()
        kernel((-(-x.size // 32),), (32,), (y, np.int32(x.size)))
        return y[:-1]

    verdict = helpers.check("0.0", in_place, lambda x: x[1:], "n", contiguous=True)
    assert not verdict
    assert "run again" in capsys.readouterr().out


@pytest.mark.skipif(helpers.on_gpu, reason="a GPU would hang")
def test_a_loop_without_an_end_ends(capsys, monkeypatch):
    monkeypatch.setattr(checks, "KERNEL_SECONDS", 0.3)
    kernel = cp.RawKernel(
        """extern "C" __global__ void wait(double *x) {
            for (;;) x[0] += 1;
        }""",
        "wait",
    )

    def endless(x):
        kernel((1,), (1,), (x,))
        return x

    assert not helpers.check("0.0", endless, lambda x: x, "n", contiguous=True)
    assert "does a loop never end?" in capsys.readouterr().out


@pytest.mark.parametrize("first_fails", [1, 2, 4])
def test_cases_by_turns_stay_in_step_after_an_answer_that_fails(capsys, first_fails):
    sizes, tried = itertools.cycle([3, 5, 7, 9]), []

    def by_turns(rng):
        return (rng.standard_normal(next(sizes)),)

    def answer(x):
        tried.append(x.size)
        return x + (len(set(tried)) >= first_fails)

    fails(answer, lambda x: x, by_turns, capsys, says=[f"case {first_fails} of 4"])
    tried.clear()
    first_fails = 5
    passes(answer, lambda x: x, by_turns, capsys)
    assert list(dict.fromkeys(tried)) == [3, 5, 7, 9]


def test_a_judge_tells_every_error_in_a_line():
    @helpers.judge
    def look(answer):
        """A judge."""
        if answer is None:
            return "not done yet"
        return f"correct: {answer(cp.arange(3.0)).sum()}"

    assert look.__doc__ == "A judge."
    assert look(None) == "not done yet"
    assert look(lambda x: 2 * x) == "correct: 6.0"
    assert look("text") == "wrong: TypeError: 'str' object is not callable"
    assert look(lambda: 0).startswith("wrong: TypeError: ")

    def undone(x):
        raise NotImplementedError

    def unready(x):
        return cp.RawKernel('extern "C" __global__ void f() { one }', "f")((1,), (1,), ())

    assert look(undone) == "not done yet"
    assert look(unready).startswith("wrong: CompileException: ") and "\n" not in look(unready)
