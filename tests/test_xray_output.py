"""What the x-ray says, draws and refuses, and how it is asked in another process."""

import ctypes
import pickle

import helpers  # first: it decides who answers to `import cupy`

# isort: split
import cupy as cp
import numpy as np
import pytest

import gpuless
from gpuless.xray import table, watch, worker
from gpuless.xray.look import look as look_at
from gpuless.xray.machine import build
from gpuless.xray.make import make
from helpers.xray import picture

pytestmark = pytest.mark.skipif(not build.can_compile(), reason="the x-ray needs g++ on x86-64")

GATHER = cp.RawKernel(
    r"""extern "C" __global__ void gather(const float *x, float *y, int stride) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[2 * t] = x[stride * t];
    __syncthreads();
    if (t < 24) y[t] = s[2 * t];
}""",
    "gather",
)


def arguments(stride=8):
    return cp.arange(512, dtype="f4"), cp.zeros(32, "f4"), np.int32(stride)


def look(stride=8):
    return helpers.xray(GATHER, (1,), (32,), arguments(stride))


def test_accesses_are_told_as_they_were_written():
    """With the names of macros, not what these stand for, where an access can be found again."""
    source = r"""
    #define TILE 8
    #define AT(i) x[(i) * TILE]
    extern "C" __global__ void k(float *x, float *y) {
        __shared__ float s[TILE][TILE + 1];
        int t = threadIdx.x;
        s[t / TILE][t % TILE] = x[t * TILE] + x[t];
        __syncthreads();
        y[t] = s[t % TILE][t / TILE] + AT(t);
    }"""
    args = cp.zeros(512, "f4"), cp.zeros(64, "f4")
    seen = helpers.xray(cp.RawKernel(source, "k"), (1,), (64,), args)
    assert {(a.line, a.kind, a.text) for a in seen.accesses} == {
        (7, "store", "s[t / TILE][t % TILE]"),
        (7, "load", "x[t * TILE]"),
        (7, "load", "x[t]"),
        (9, "store", "y[t]"),
        (9, "load", "s[t % TILE][t / TILE]"),
        (9, "load", "x[(t) * 8]"),
    }


def test_two_kernels_with_one_text_have_lines_of_their_own():
    one = """extern "C" __global__ void first(const float *A, float *B) {
    B[threadIdx.x / 2] = A[threadIdx.x];
}
"""
    code = one + one.replace("first", "second").replace("A", "c").replace("B", "d")
    for name, line, array in (("first", 2, "B"), ("second", 5, "d")):
        args = cp.arange(64, dtype="f4"), cp.zeros(64, "f4")
        (race,) = helpers.xray(cp.RawModule(code=code).get_function(name), (1,), (64,), args).races
        assert (race.first.line, race.second.line, race.array) == (line, line, array)


def test_the_arrays_stay_as_they_are():
    args = arguments()
    helpers.xray(GATHER, (1,), (32,), args)
    assert not args[1].any() and (args[0] == cp.arange(512)).all()


def test_the_table_has_every_line_with_its_numbers():
    text = str(look())
    rows = {line.split("·")[1].split("  ")[0].strip(): line.split() for line in text.split("\n")
            if "·" in line}  # fmt: skip
    assert rows["load x[stride * t]"][-6:] == ["32", "128", "B", "32", "12.5%", "8"]
    assert rows["store s[2 * t], shared"][-5:] == ["1", "32", "128", "B", "2"]
    assert rows["store y[t]"][-6:] == ["1", "24", "96", "B", "3", "100%"]
    assert "     4  s[2 * t] = x[stride * t];" in text
    assert "gather: 1 block of (32, 1, 1) threads" in text
    assert "bank conflicts in line 4, 6: 4 passes where 2 would do" in text
    assert "moved 35 sectors, 1.12 kB" in text
    assert "No races" in text and table.CAVEAT in " ".join(text.split())


def test_a_notebook_gets_a_table_in_html(monkeypatch):
    shown = []
    monkeypatch.setattr("helpers.display.emit", lambda data, metadata=None: shown.append(data))
    look()._ipython_display_()
    (data,) = shown
    assert "<table" in data["text/html"] and "x[stride * t]" in data["text/html"]
    assert data["text/plain"] == str(look())


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "in line 4: 32 of 32 lanes touch 32 sectors of 32 bytes and use 12.5%"),
        (1, "32 of 32 lanes ask 16 of 32 banks, at most 2 different words in one bank"),
        (3, "load s[2 * t], shared in line 6: 24 of 32 lanes"),
    ],
)
def test_a_picture_says_in_words_what_it_shows(number, words):
    found = sorted(look().accesses, key=lambda a: (a.line, a.shared, a.array))
    figure, alt = picture.draw(found[number])
    assert words in alt and "\n" not in alt
    axes = figure.axes[0]
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert len(dots) == 32
    grey = [line for line in dots if line.get_color() == "#bbbbbb"]
    assert len(grey) == (8 if "24 of" in alt else 0)


def test_a_picture_of_far_sectors_leaves_out_what_lies_between():
    x = cp.zeros(32 * 1000, "f4")
    kernel = cp.RawKernel(
        'extern "C" __global__ void far(const float *x, float *y) '
        "{ y[threadIdx.x] = x[1000 * threadIdx.x]; }",
        "far",
    )
    found = helpers.xray(kernel, (1,), (32,), (x, cp.zeros(32, "f4")))
    load = next(a for a in found.accesses if a.kind == "load")
    figure, alt = picture.draw(load)
    assert alt.endswith("only those touched are drawn.")
    assert len(figure.axes[0].patches) == 32 + 32 * 4  # boxes, and a mark for each byte asked


def test_another_process_says_the_same():
    asked = make(GATHER, (1,), (32,), arguments(), shared_mem=0, blocks=None, keywords={})
    assert worker.run_elsewhere(pickle.loads(pickle.dumps(asked))) == look()


def test_another_process_says_what_is_wrong():
    bad = (cp.arange(512, dtype="f4"), cp.zeros(32, "f4"), np.int32(1000))
    asked = make(GATHER, (1,), (32,), bad, shared_mem=0, blocks=None, keywords={})
    with pytest.raises(RuntimeError, match=r"thread \(1, 0, 0\), line 4: reads x\[1000\], outside"):
        worker.run_elsewhere(asked)


@pytest.mark.parametrize(
    ("args", "error", "words"),
    [
        ((1000,), RuntimeError, r"line 4: reads x\[1000\], outside the array 'x'"),
        ((8.5,), TypeError, "argument 3 .* got the float 8.5"),
        ((), TypeError, "takes 3 arguments .* but 2 were given"),
    ],
)
def test_a_bad_launch_is_told_as_the_stand_in_tells_it(args, error, words):
    args = [np.int32(a) if isinstance(a, int) else a for a in args]
    with pytest.raises(error, match=words):
        helpers.xray(GATHER, (1,), (32,), (*arguments()[:2], *args))
    assert not look().races  # and the next one works


@pytest.mark.parametrize(
    ("grid", "block", "args"),
    [
        ((), (32,), None),
        (1, (32,), None),
        ((1,), (1025,), None),
        ((1,), (32, 33), None),
        ((1,), (32,), (np.ones(512, "f4"), None, np.int32(1))),
        ((1,), (32,), (None, None, "3")),
        ((0,), (32,), None),  # CuPy takes no block for one
    ],
)
def test_an_x_ray_says_what_a_launch_says(grid, block, args):
    args = tuple(
        b if a is None else a for a, b in zip(args or [None] * 3, arguments(), strict=True)
    )
    said = []
    for call in (GATHER, lambda *launch: helpers.xray(GATHER, *launch)):
        try:
            call(grid, block, args)
            said.append(None)
        except Exception as error:
            said.append((type(error), str(error)))
    assert said[0] == said[1]
    assert (said[0] is None) == (grid == (0,))


def test_a_kernel_that_does_not_end():
    kernel = cp.RawKernel(
        'extern "C" __global__ void k(volatile int *x) { while (x[0] == 0) x[1]++; }', "k"
    )
    with gpuless.time_limit(0.3), pytest.raises(RuntimeError, match="kernel 'k'"):
        helpers.xray(kernel, (1,), (1,), (cp.zeros(2, "i4"),))


def test_a_block_that_does_more_than_can_be_kept():
    kernel = cp.RawKernel(
        """extern "C" __global__ void k(const float *x, float *y) {
        float s = 0;
        for (int i = 0; i < 512; i++) s += x[i];
        __syncthreads();
        y[threadIdx.x] = s; }""",
        "k",
    )
    most = ctypes.c_int64.in_dll(build.listener(), "xray_most_held")
    before, most.value = most.value, 4000
    try:
        with pytest.raises(RuntimeError, match="keeps 4000 steps .* a smaller launch"):
            helpers.xray(kernel, (1,), (32,), arguments()[:2])
        assert not helpers.xray(kernel, (1,), (3,), arguments()[:2]).races
    finally:
        most.value = before


def test_what_is_no_kernel_or_no_launch():
    with pytest.raises(TypeError, match="takes a RawKernel.*not a builtins.function"):
        helpers.xray(lambda: 0)
    with pytest.raises(TypeError, match="a RawKernel needs"):
        helpers.xray(GATHER, (1,))
    with pytest.raises(TypeError, match=r"by xray\(kernel, grid, block, args\)"):
        helpers.xray(GATHER, (1,), (32,), arguments(), 3)
    with pytest.raises(Exception, match="1025|limit|cudaErrorInvalid|INVALID"):
        helpers.xray(GATHER, (1,), (1025,), arguments())


def test_without_a_compiler_it_says_what_to_install(monkeypatch):
    def none():
        raise RuntimeError("none")

    args = arguments()  # before: they may need the compiler
    monkeypatch.setattr("gpuless.engine.compiler.find_compiler", none)
    with pytest.raises(RuntimeError, match="needs g\\+\\+.*no C\\+\\+ compiler.*apt-get install g"):
        helpers.xray(GATHER, (1,), (32,), args)


SUM = cp.RawKernel(
    r"""extern "C" __global__ void product(
        const double *a, const double *x, double *y, int m, int n) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && col < n)
        ADD;
}""".replace("ADD", "y[row] += a[row * n + col] * x[col]"),
    "product",
)
ATOMIC = cp.RawKernel(
    SUM.code.replace("y[row] += a[row * n + col] * x[col]",
                     "atomicAdd(&y[row], a[row * n + col] * x[col])"),
    "product",
)  # fmt: skip


def by(kernel):
    def product(a, x):
        m, n = a.shape
        y = cp.zeros(m)
        kernel((-(-n // 16), -(-m // 16)), (16, 16), (a, x, y, np.int32(m), np.int32(n)))
        return y

    return product


def test_a_solution_that_races_is_refused_with_both_lines(capsys):
    assert not helpers.check("10.4", by(SUM), np.matmul, "mn,n", contiguous=True)
    said = capsys.readouterr().out
    assert "right, but by luck: kernel 'product' has a race at y[0]" in said
    assert "writes it in line 6" in said and "reads it in line 6" in said
    assert "thread (0, 0, 0)" in said and "thread (1, 0, 0)" in said


def test_the_right_solution_passes(capsys):
    assert helpers.check("10.4", by(ATOMIC), np.matmul, "mn,n", contiguous=True)


def test_a_racing_elementwise_kernel_is_refused(capsys):
    count = cp.ElementwiseKernel("int32 k", "raw int32 bins", "bins[k] += 1", "count")

    def counted(k):
        bins = cp.zeros(8, "i4")
        count(k, bins)
        return bins

    def case(rng):
        return (rng.integers(0, 8, 51).astype("i4"),)

    def oracle(k):
        return np.bincount(k, minlength=8).astype("i4")

    assert not helpers.check("0.0", counted, oracle, case)
    assert "race at bins[" in capsys.readouterr().out


class Sealed(type):
    """Like CuPy's classes, which are compiled: nothing of them can be replaced."""

    def __setattr__(cls, name, value):
        raise TypeError(f"cannot set {name!r} attribute of immutable type {cls.__name__!r}")


@pytest.fixture
def like_cupy(monkeypatch):
    """`cupy` as it is with a GPU: not the stand-in, with classes that cannot be taught to tell."""

    def sealed(kind, **methods):
        made = type.__new__(Sealed, kind.__name__, (kind,), methods)
        monkeypatch.setattr(cp, kind.__name__, made)
        return made

    raw, module = sealed(cp.RawKernel), cp.RawModule

    def get_function(self, name):
        kernel = raw.__new__(raw)
        kernel.__dict__.update(module.get_function(self, name).__dict__)
        return kernel

    sealed(cp.ElementwiseKernel)
    sealed(cp.ReductionKernel)
    sealed(module, get_function=get_function)
    monkeypatch.setattr("gpuless.is_active", lambda: False)


def by_global():
    """The function's kernel is a global variable, as in a notebook."""
    names = {"kernel": cp.RawKernel(SUM.code, "product"), "cp": cp, "np": np}
    return type(_product)(_product.__code__, names), names


def _product(a, x):
    y = cp.zeros(len(a))
    sizes = np.int32(len(a)), np.int32(len(x))
    kernel((-(-len(x) // 16), -(-len(a) // 16)), (16, 16), (a, x, y, *sizes))  # noqa: F821
    return y


MAKERS = {
    "global": lambda: by_global()[0],
    "around it": lambda: by(cp.RawKernel(SUM.code, "product")),
    "made in it": lambda: lambda a, x: by(cp.RawKernel(SUM.code, "product"))(a, x),
    "of a module in it": lambda: (
        lambda a, x: by(cp.RawModule(code=SUM.code).get_function("product"))(a, x)
    ),
}


@pytest.mark.parametrize("maker", MAKERS.values(), ids=list(MAKERS))
def test_with_a_gpu_a_solution_that_races_is_refused(maker, like_cupy, capsys):
    assert not helpers.check("10.4", maker(), np.matmul, "mn,n", contiguous=True, n_cases=1)
    assert "by luck: kernel 'product' has a race at y[0]" in capsys.readouterr().out


def test_with_a_gpu_the_right_solution_passes_and_nothing_stays_replaced(like_cupy):
    function, names = by_global()
    kernel = names["kernel"] = cp.RawKernel(ATOMIC.code, "product")
    kinds = cp.RawKernel, cp.ElementwiseKernel, cp.ReductionKernel, cp.RawModule
    assert helpers.check("10.4", function, np.matmul, "mn,n", contiguous=True, n_cases=1)
    assert names["kernel"] is kernel
    assert kinds == (cp.RawKernel, cp.ElementwiseKernel, cp.ReductionKernel, cp.RawModule)


def test_with_a_gpu_what_is_launched_later_is_not_noted(like_cupy):
    made = []

    def function(x):
        made.append(cp.ElementwiseKernel("T x", "T y", "y = 2 * x", "twice"))
        return made[0](x)

    with watch.launches(function) as noted:
        function(cp.ones(3))
    made.append(cp.ElementwiseKernel("T x", "T y", "y = 3 * x", "thrice"))
    assert made[0](cp.ones(5)).sum() == 10 and made[1](cp.ones(5)).sum() == 15
    assert [one.spec["name"] for one in noted] == ["twice"]


def test_with_a_gpu_a_kernel_may_be_told_from_others_inside(like_cupy):
    total = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")

    def function(x):
        assert isinstance(total, cp.ReductionKernel)
        assert not isinstance(total, cp.RawKernel) and total.name == "total"
        return total(x)

    with watch.launches(function) as noted:
        assert function(cp.ones(7)) == 7
    assert [one.kind for one in noted] == ["reduction"]
    assert watch.first_race(noted) is None


def test_without_a_compiler_the_check_looks_at_results_alone(like_cupy, monkeypatch, capsys):
    monkeypatch.setattr(watch, "can_compile", lambda: False)
    assert helpers.check("0.0", lambda x: x + 1, lambda x: x + 1, "n")
    assert capsys.readouterr().out == "Exercise 0.0: correct on 4 cases of odd sizes\n"


@pytest.mark.long
def test_an_x_ray_that_does_not_end_in_time_is_given_up(like_cupy):
    kernel = cp.RawKernel(
        'extern "C" __global__ void k(volatile int *x) { while (x[0] == 0) x[1]++; }', "k"
    )
    asked = make(kernel, (1,), (1,), (cp.zeros(2, "i4"),), shared_mem=0, blocks=None, keywords={})
    with pytest.raises(RuntimeError, match="did not end in 4 s"):
        look_at(asked, 4)
