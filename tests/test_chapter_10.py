"""Chapter 10's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import re

import pytest
from chapter_cells import Chapter
from marks import long_but

from helpers.xray import can_xray

needs_xray = pytest.mark.skipif(not can_xray(), reason="needs g++ on x86-64")

chapter = Chapter.fixture("10_matmul_kernel")


SOURCES = {1: "backwards", 2: "bt", 3: "rectangular", 6: "mixed"}
KERNELS = {1: ("backwards_kernel", "backwards"), 2: ("bt_kernel", "product_bt")}
KERNELS |= {3: ("rectangular", "rectangular"), 6: ("mixed", "mixed")}


def kernel(chapter, number, *changes):
    """Return source that makes the kernel of a solution anew, with text exchanged."""
    text = chapter.names[f"{SOURCES[number]}_source"]
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    handle, name = KERNELS[number]
    return f'{handle} = cp.RawKernel(r"""{text}""", "{name}")\n'


def refused(line, says):
    assert "correct" not in line and re.search(says, line), line


@pytest.mark.parametrize("number", range(1, 7))
def test_solutions_pass_and_stubs_do_not(chapter, number):
    stub = chapter.cells[f"exercise-{number}"]
    assert "correct" in chapter.judged(number, "")
    assert "correct" not in chapter.judged(number, stub)


LIBRARY = {
    "reversed view": (1, "def backwards(x):\n    return x[::-1]\n", "no kernel"),
    "cp.flip": (1, "def backwards(x):\n    return cp.flip(x)\n", "no kernel"),
    "a @ b.T": (2, "def product_bt(a, b):\n    return a @ b.T\n", "no kernel"),
    "a @ b": (3, "def product_rectangular(a, b):\n    return a @ b\n", "no kernel"),
    "a @ x": (5, "def matrix_times_vector(a, x):\n    return a @ x\n", "no kernel"),
    "a * x, summed": (
        5,
        "def matrix_times_vector(a, x):\n    return (a * x).sum(axis=1)\n",
        "arrays were made|no kernel",
    ),
    "columns in Python": (
        5,
        """def matrix_times_vector(a, x):
    y = cp.zeros(len(a))
    for j in range(len(x)):
        y += a[:, j] * x[j]
    return y
""",
        "arrays were made|no kernel",
    ),
    "cast of matmul": (
        6,
        "def product_mixed(a, b):\n    return cp.matmul(a, b, dtype='f8').astype('f4')\n",
        "the precision",  # CuPy multiplies in float32 and casts then
    ),
    "a transposed copy": (
        2,
        "def product_bt(a, b):\n    return multiply(matmul_f64, a, cp.ascontiguousarray(b.T))\n",
        "arrays were made",
    ),
    "float64 copies": (
        6,
        "def product_mixed(a, b):\n"
        "    a, b = a.astype('f8'), b.astype('f8')\n"
        "    return multiply(matmul_f64, a, b).astype('f4')\n",
        "arrays were made",
    ),
}


@pytest.mark.parametrize("name", LIBRARY)
def test_library_functions_in_place_of_a_kernel(chapter, name):
    number, answer, says = LIBRARY[name]
    refused(chapter.judged(number, answer), says)


NUMPY = {
    1: "def backwards(x):\n    return cp.asarray(np.flip(x.get()))\n",
    2: "def product_bt(a, b):\n    return cp.asarray(a.get() @ b.get().T)\n",
    3: "def product_rectangular(a, b):\n    return cp.asarray(a.get() @ b.get())\n",
    5: "def matrix_times_vector(a, x):\n    return cp.asarray(a.get() @ x.get())\n",
    6: "def product_mixed(a, b):\n    return cp.asarray(exact(a.get(), b.get()))\n",
}


@pytest.mark.parametrize("number", NUMPY)
def test_numpy_inside(chapter, number):
    refused(chapter.judged(number, NUMPY[number]), "leave the device|kernel")


def test_a_kernel_launched_for_show_beside_numpy(chapter):
    answer = """
def backwards(x):
    y = cp.empty(len(x))
    backwards_kernel((1,), (1,), (x, y, np.int32(len(x))))
    return cp.asarray(np.flip(x.get()))
"""
    refused(chapter.judged(1, answer), "arrays were made|leave the device|one thread")


INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
BODY = "if (i >= n) return;\n    y[i] = x[n - 1 - i];"
BACKWARDS = {
    "one thread does all": (
        [(BODY, "if (i == 0) for (int k = 0; k < n; k++) y[k] = x[n - 1 - k];")],
        "one works|race",
    ),
    "every thread does all": (
        [(BODY, "for (int k = 0; k < n; k++) y[k] = x[n - 1 - k];")],
        "many times",
    ),
    "off by one": ([("n - 1 - i", "n - i")], "outside|reads|expected"),
    "no bounds test": ([("if (i >= n) return;", "")], "outside|reads|writes|bounds"),
    "the first block's": ([(INDEX, "int i = threadIdx.x;")], "expected|race"),
    "forwards": ([("x[n - 1 - i]", "x[i]")], "expected"),
    "first missing": ([("if (i >= n)", "if (i >= n || i == 0)")], "never written|expected"),
    "last missing": ([("if (i >= n)", "if (i >= n - 1)")], "never written|expected"),
    "16 bits, signed bytes": ([(INDEX, INDEX.replace("int", "signed char"))], "expected|reads"),
    "in place": ([("y[i] = x[n - 1 - i]", "((double*)x)[i] = x[n - 1 - i]")], "."),
    "a float on the way": ([("y[i] = x", "y[i] = (float)x")], "expected"),
}


@needs_xray
@pytest.mark.parametrize("name", long_but(list(BACKWARDS)[:4], BACKWARDS))
def test_backwards_that_are_wrong(chapter, name):
    changes, says = BACKWARDS[name]
    refused(chapter.judged(1, kernel(chapter, 1, *changes)), says)


def test_backwards_in_a_grid_stride_loop_or_small_blocks_is_right(chapter):
    strided = BODY.replace("if (i >= n) return;", "for (; i < n; i += gridDim.x * blockDim.x)")
    assert "correct" in chapter.judged(1, kernel(chapter, 1, (BODY, strided)))
    answer = """
def backwards(x):
    n, y = len(x), cp.empty_like(x)
    backwards_kernel((-(-n // 4),), (4,), (x, y, np.int32(n)))
    return y
"""
    assert "correct" in chapter.judged(1, answer)


@needs_xray
@pytest.mark.parametrize(
    "launch, says", [("(n,), (1,)", "one works"), ("(10,), (128,)", "never written|expected")]
)
def test_grids_of_lone_threads_or_written_as_a_number_are_refused(chapter, launch, says):
    lines = f"n, y = len(x), cp.empty_like(x)\n    backwards_kernel({launch}, (x, y, np.int32(n)))"
    refused(chapter.judged(1, f"def backwards(x):\n    {lines}\n    return y\n"), says)
    sizes = "m, n = a.shape\n    y = cp.empty(m)"
    launch = f"matvec({launch.replace('n', 'm')}, (a, x, y, np.int32(m), np.int32(n)))"
    lines = f"{sizes}\n    {launch}\n    return y"
    refused(chapter.judged(5, f"def matrix_times_vector(a, x):\n    {lines}\n"), says)


TRANSPOSED = {
    "a's rows for b": ([("b[col * n + k]", "b[row * n + k]")], "expected"),
    "a transposed": ([("a[row * n + k]", "a[k * n + row]")], "expected"),
    "and, not or": ([("||", "&&")], "outside|reads|writes|expected"),
    "no bounds test": ([("if (row >= n || col >= n) return;", "")], "outside|reads|writes"),
    "a float sum": ([("double sum", "float sum")], "expected"),
    "16 bits": ([("c[row * n + col]", "c[(short)(row * n + col)]")], "outside|writes|expected"),
    "one too few": ([("k < n", "k < n - 1")], "expected"),
    "result transposed": ([("c[row * n + col]", "c[col * n + row]")], "expected|transposed"),
}


@pytest.mark.parametrize("name", long_but(list(TRANSPOSED)[:3], TRANSPOSED))
def test_products_with_the_transpose_that_are_wrong(chapter, name):
    changes, says = TRANSPOSED[name]
    refused(chapter.judged(2, kernel(chapter, 2, *changes)), says)


PADDED = """
def product_rectangular(a, b):
    n = max(*a.shape, *b.shape)
    left, right = cp.zeros((n, n)), cp.zeros((n, n))
    left[: a.shape[0], : a.shape[1]] = a
    right[: b.shape[0], : b.shape[1]] = b
    return multiply(matmul_f64, left, right)[: len(a), : b.shape[1]].copy()
"""
ROW, COL = "blockIdx.y * blockDim.y + threadIdx.y", "blockIdx.x * blockDim.x + threadIdx.x"
SWAPPED = [(ROW, "HERE"), (COL, ROW), ("HERE", COL)]
SWAPPED_LAUNCH = """
def product_rectangular(a, b):
    (m, p), n = a.shape, b.shape[1]
    c = cp.empty((m, n))
    sizes = (np.int32(m), np.int32(p), np.int32(n))
    rectangular((-(-m // 16), -(-n // 16)), (16, 16), (a, b, c, *sizes))
    return c
"""
RECTANGULAR = {
    "grid swapped": ([], SWAPPED_LAUNCH, "never written|expected"),
    "padded": ([], PADDED, "arrays were made"),
    "x as the row": (SWAPPED, SWAPPED_LAUNCH, "far apart"),
    "a's stride is n": ([("a[row * p + k]", "a[row * n + k]")], "", "expected|reads|outside"),
    "b's stride is p": ([("b[k * n + col]", "b[k * p + col]")], "", "expected|reads|outside"),
    "c's stride is m": ([("c[row * n + col]", "c[row * m + col]")], "", "race|expected|writes"),
    "sum over n": ([("k < p", "k < n")], "", "expected|reads|outside"),
    "bounds exchanged": ([("row >= m || col >= n", "row >= n || col >= m")], "", "."),
    "and, not or": ([("||", "&&")], "", "outside|reads|writes|race|expected"),
    "no bounds": ([("if (row >= m || col >= n) return;", "")], "", "outside|reads|writes|race"),
    "16 bits": (
        [("c[row * n + col]", "c[(short)(row * n + col)]")],
        "",
        "outside|writes|expected",
    ),
    "a float sum": ([("double sum", "float sum")], "", "expected"),
}


@needs_xray
@pytest.mark.parametrize("name", long_but(list(RECTANGULAR)[2:5], RECTANGULAR))
def test_rectangular_products_that_are_wrong(chapter, name):
    changes, launch, says = RECTANGULAR[name]
    refused(chapter.judged(3, kernel(chapter, 3, *changes) + launch), says)


def test_rectangular_product_in_other_blocks_is_right(chapter):
    launch = SWAPPED_LAUNCH.replace("(-(-m // 16), -(-n // 16)), (16, 16)", "GRID")
    for block in ((32, 8), (8, 32), (64, 1)):
        grid = f"(-(-n // {block[0]}), -(-m // {block[1]})), {block}"
        assert "correct" in chapter.judged(3, launch.replace("GRID", grid)), block


BOUNDS = {
    "always arithmetic": 'return "arithmetic", 2 * m * n / flops',
    "always memory": 'return "memory", (m * n + m + n) * itemsize / bandwidth',
    "n operations": 'return max((n * m / flops, "arithmetic"), (M, "memory"))[::-1]',
    "no vectors": 'return max((A, "arithmetic"), (m * n * itemsize / bandwidth, "memory"))[::-1]',
    "no result": (
        'return max((A, "arithmetic"), ((m * n + n) * itemsize / bandwidth, "memory"))[::-1]'
    ),
    "y as long as x": (
        'return max((A, "arithmetic"), ((m * n + 2 * n) * itemsize / bandwidth, "memory"))[::-1]'
    ),
    "8 bytes": 'return max((A, "arithmetic"), (M / itemsize * 8, "memory"))[::-1]',
    "the smaller": 'return min((A, "arithmetic"), (M, "memory"))[::-1]',
    "both": 'return max((A, "arithmetic"), (M, "memory"))[1], A + M',
    "name alone": 'return max((A, "arithmetic"), (M, "memory"))[1]',
    "exchanged": 'return max((A, "memory"), (M, "arithmetic"))[::-1]',
    "nothing": "return None",
    "seconds first": 'return max((A, "arithmetic"), (M, "memory"))',
    "NaN": 'return "memory", float("nan")',
}
BOUND = """
def bound_of_matvec(m, n, itemsize, flops, bandwidth):
    A, M = 2 * m * n / flops, (m * n + m + n) * itemsize / bandwidth
    {line}
"""


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_that_are_wrong(chapter, name):
    refused(chapter.judged(4, BOUND.format(line=BOUNDS[name])), "wrong")


def test_a_bound_of_numpy_numbers_is_right(chapter):
    line = 'return max((np.float64(A), "arithmetic"), (np.float64(M), "memory"))[::-1]'
    assert "correct" in chapter.judged(4, BOUND.format(line=line))


MATVEC = '''
matvec = cp.RawKernel(r"""
extern "C" __global__
void matvec(const double* a, const double* x, double* y, int m, int n) {{
    {body}
}}""", "matvec")
'''
BODIES = {
    "every thread does all": (
        "for (int r = 0; r < m; r++) { double s = 0; "
        "for (int j = 0; j < n; j++) s += a[r * n + j] * x[j]; y[r] = s; }",
        "race|many times",
    ),
    "race": (
        "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i / 4 >= m) return; y[i / 4] = 0; "
        "for (int j = i % 4; j < n; j += 4) y[i / 4] += a[i / 4 * n + j] * x[j];",
        "race|expected",
    ),
    "m for n": (
        "int r = blockIdx.x * blockDim.x + threadIdx.x; if (r >= m) return; double s = 0; "
        "for (int j = 0; j < n; j++) s += a[r * m + j] * x[j]; y[r] = s;",
        "expected|reads|outside",
    ),
}


@needs_xray
@pytest.mark.parametrize("name", BODIES)
def test_matrix_times_vector_that_is_wrong(chapter, name):
    body, says = BODIES[name]
    refused(chapter.judged(5, MATVEC.format(body=body)), says)


MIXED = {
    "a float sum": [("double sum", "float sum")],
    "rounded products": [("(double)a", "a")],
    "cast of the product": [
        ("(double)a[row * n + k] * b[k * n + col]", "(double)(a[row * n + k] * b[k * n + col])")
    ],
}


@pytest.mark.parametrize("name", MIXED)
def test_sums_that_are_not_better(chapter, name):
    refused(chapter.judged(6, kernel(chapter, 6, *MIXED[name])), "expected")


WARP_A_ROW = (
    "int r = blockIdx.x * 4 + threadIdx.x / 32; if (r >= m) return; double s = 0; "
    "for (int j = threadIdx.x % 32; j < n; j += 32) s += a[r * n + j] * x[j]; "
    "for (int d = 16; d; d /= 2) s += __shfl_down_sync(0xffffffff, s, d); "
    "if (threadIdx.x % 32 == 0) y[r] = s;"
)
ATOMIC = (
    "int r = blockIdx.x; for (int j = threadIdx.x; j < n; j += blockDim.x) "
    "atomicAdd(y + r, a[r * n + j] * x[j]);"
)
ROW_A_BLOCK = """
def matrix_times_vector(a, x):
    m, n = a.shape
    y = cp.zeros(m)
    matvec((m,), (128,), (a, x, y, np.int32(m), np.int32(n)))
    return y
"""


@pytest.mark.parametrize("body", [WARP_A_ROW, ATOMIC])
def test_matrix_times_vector_by_many_threads_a_row_is_right(chapter, body):
    answer = MATVEC.format(body=body) + ROW_A_BLOCK
    assert "correct" in chapter.judged(5, answer)


def test_a_better_sum_by_fma_is_right(chapter):
    old = "sum += (double)a[row * n + k] * b[k * n + col]"
    new = "sum = fma((double)a[row * n + k], (double)b[k * n + col], sum)"
    assert "correct" in chapter.judged(6, kernel(chapter, 6, (old, new)))
