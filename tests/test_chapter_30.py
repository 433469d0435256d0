"""Chapter 30's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import re

import pytest
from chapter_cells import Chapter
from marks import long_but

chapter = Chapter.fixture("30_elementwise_kernel")


def refused(line, says):
    assert "correct" not in line and re.search(says, line), line


IN_NUMPY = """
def {f}(*a):
    a = [v.get() if hasattr(v, "get") else v for v in a]
    return cp.asarray({f}_numpy(*a))
"""


def elementwise(name, inputs, outputs, operation, call):
    """Return source: a kernel `k` of these texts, and a function `name` that calls it."""
    return f'''k = cp.ElementwiseKernel("{inputs}", "{outputs}", """{operation}""", "k")
def {name}
    {call}
'''


def test_solutions_pass_and_stubs_do_not(chapter):
    for number in range(1, 7):
        assert "correct" in chapter.judged(number, ""), number
        stub = chapter.cells[f"exercise-{number}"]
        assert "correct" not in chapter.judged(number, stub), number


LEAKY = "leaky(x, alpha):"
DISTANCES = "distances(ax, ay, bx, by):"
LENGTHS = "lengths(x, w):"
TURN = "turn(x, y, phi):"
STEP = "step(p, g, v, eta, mu):"
LOCAL = "T c = cos(phi), s = sin(phi);"
PAIRS = "return k(ax[:, None], ay[:, None], bx, by)"
LENGTHS_KERNEL = (
    'k = cp.ReductionKernel("T x, T w", "T d", {0}, "k")\ndef lengths(x, w):\n    {1}\n'
)


def leaky(operation, inputs="T x, T alpha", outputs="T z", call="return k(x, alpha)"):
    return elementwise(LEAKY, inputs, outputs, operation, call)


def pairs(operation, inputs="T ax, T ay, T bx, T by", outputs="T d", call=PAIRS):
    return elementwise(DISTANCES, inputs, outputs, operation, call)


def turn(operation, call="k(x, y, phi, x, y)"):
    return elementwise(TURN, "T x, T y, T phi", "T x_new, T y_new", LOCAL + operation, call)


def step(operation, call="k(p, g, v, eta, mu, p, v)"):
    inputs = "T p, T g, T v, T eta, T mu"
    return elementwise(STEP, inputs, "T p_new, T v_new", operation, call)


def lengths(pieces, call="return k(x, w, axis=1)"):
    return LENGTHS_KERNEL.format(pieces, call)


def largest(mapped, reduced, after="d = a", identity="0"):
    texts = ", ".join(f'"{x}"' for x in ("T x, T y", "T d", mapped, reduced, after, identity, "k"))
    return f"strict_difference = cp.ReductionKernel({texts})\n"


DIFFERENCE = "x > y ? x - y : y - x"
WEIGHTED = '"w * x * x", "a + b", "d = sqrt(a)", "0"'
FUSED = """
def leaky(x, alpha):
    return cp.fuse(kernel_name="leaky")(lambda x: cp.where(x > 0, x, alpha * x))(x)
"""
BY_HYPOT = """
def distances(ax, ay, bx, by):
    return cp.hypot(ax[:, None] - bx, ay[:, None] - by)
"""
HALVES = """
a = cp.ElementwiseKernel("T x, T y, T p", "T z", "z = x * cos(p) - y * sin(p)")
b = cp.ElementwiseKernel("T x, T y, T p", "T z", "z = x * sin(p) + y * cos(p)")
def turn(x, y, phi):
    left = a(x, y, phi)
    b(x, y, phi, y)
    x[:] = left
"""
TURNED_IN_NUMPY = """
def turn(x, y, phi):
    a, b, _ = turn_numpy(x.get(), y.get(), phi.get())
    x[:], y[:] = cp.asarray(a), cp.asarray(b)
"""
TWO_STEPS = """
a = cp.ElementwiseKernel("T v, T g, T mu", "T v_new", "v_new = mu * v + g", "a")
b = cp.ElementwiseKernel("T p, T v, T eta", "T p_new", "p_new = p - eta * v", "b")
def step(p, g, v, eta, mu):
    a(v, g, mu, v)
    b(p, v, eta, p)
"""
SQUARES_FIRST = """
k = cp.ReductionKernel("T x", "T d", "x", "a + b", "d = sqrt(a)", "0", "k")
def lengths(x, w):
    return k(w * x * x, axis=1)
"""
DOUBLES = lengths(WEIGHTED).replace("T x, T w", "float64 x, float64 w").replace("T d", "float64 d")
LARGEST_BY_ARRAYS = """
def strict_difference(x, y, axis):
    return cp.abs(x - y).max(axis=axis)
"""
LARGEST_IN_NUMPY = """
def strict_difference(x, y, axis):
    return cp.asarray(np.abs(x.get() - y.get()).max(axis=axis))
"""
# exercise, what is wrong, the answer, what the refusal says
WRONG = [
    (1, "everything in NumPy", IN_NUMPY.format(f="leaky"), "leave"),
    (
        1,
        "array functions",
        "def leaky(x, a):\n return cp.where(x > 0, x, a * x)",
        "new array|kernel",
    ),
    (1, "one array function", "def leaky(x, a):\n return cp.maximum(x, a * x)", "new array|kernel"),
    (1, "the oracle", "leaky = leaky_numpy", "wrong"),
    (1, "nothing", "def leaky(x, a):\n return None", "not done yet"),
    (1, "fused", FUSED, "kernel|array"),
    (
        1,
        "float64 only",
        leaky("z = x > 0 ? x : alpha * x", "float64 x, float64 alpha", "float64 z"),
        "mismatched",
    ),
    (
        1,
        "float32 only",
        leaky("z = x > 0 ? x : alpha * x", "float32 x, float32 alpha", "float32 z"),
        "mismatched",
    ),
    (1, "alpha of float32", leaky("z = x > 0 ? x : alpha * x", "T x, float32 alpha"), "expected"),
    (1, "all are leaky", leaky("z = alpha * x"), "expected"),
    (1, "rectified only", leaky("z = x > 0 ? x : 0"), "expected"),
    (1, "the wrong way round", leaky("z = x > 0 ? alpha * x : x"), "expected"),
    (
        1,
        "changes its input",
        leaky("z = x > 0 ? x : alpha * x", call="return k(x, alpha, x)"),
        "changed argument",
    ),
    (
        1,
        "twice",
        leaky("z = x > 0 ? x : alpha * x", call="k(x, alpha); return k(x, alpha)"),
        "new array|kernels",
    ),
    (
        1,
        "through a copy",
        leaky("z = x > 0 ? x : alpha * x", call="return k(x.copy(), alpha)"),
        "new array",
    ),
    (1, "an integer alpha", leaky("z = x > 0 ? x : alpha * x", "T x, int32 alpha"), "expected"),
    (2, "everything in NumPy", IN_NUMPY.format(f="distances"), "leave"),
    (2, "array functions", BY_HYPOT, "new array|kernel"),
    (
        2,
        "differences first",
        pairs(
            "d = hypot(ax, ay)", "T ax, T ay", call="return k(ax[:, None] - bx, ay[:, None] - by)"
        ),
        "new array",
    ),
    (
        2,
        "float64 only",
        pairs(
            "d = hypot(ax - bx, ay - by)",
            "float64 ax, float64 ay, float64 bx, float64 by",
            "float64 d",
        ),
        "mismatched",
    ),
    (
        2,
        "transposed",
        pairs("d = hypot(ax - bx, ay - by)", call="return k(ax, ay, bx[:, None], by[:, None])"),
        "shape",
    ),
    (
        2,
        "no columns",
        pairs("d = hypot(ax - bx, ay - by)", call="return k(ax, ay, bx, by)"),
        "broadcast",
    ),
    (2, "squares", pairs("T x = ax - bx, y = ay - by; d = x * x + y * y"), "expected"),
    (2, "a sum", pairs("d = fabs(ax - bx) + fabs(ay - by)"), "expected"),
    (2, "mixed up", pairs("d = hypot(ax - by, ay - bx)"), "expected"),
    (
        2,
        "rows in a loop",
        pairs(
            "d = hypot(ax - bx, ay - by)",
            call="return cp.stack([k(a, b, bx, by) for a, b in zip(ax, ay)])",
        ),
        "new array|kernels",
    ),
    (
        3,
        "the book's own rotation",
        turn("x_new = x * c - y * s; y_new = x * s + y * c;"),
        "expected",
    ),
    (3, "the other line first", turn("y_new = x * s + y * c; x_new = x * c - y * s;"), "expected"),
    (
        3,
        "copies outside",
        turn("x_new = x * c - y * s; y_new = x * s + y * c;", "k(x.copy(), y, phi, x, y)"),
        "new array",
    ),
    (
        3,
        "new arrays",
        turn("x_new = x * c - y * s; y_new = x * s + y * c;", "return k(x, y, phi)"),
        "expected",
    ),
    (
        3,
        "new arrays, copied back",
        turn("x_new = x * c - y * s; y_new = x * s + y * c;", "x[:], y[:] = k(x, y, phi)"),
        "new array",
    ),
    (
        3,
        "a reference is no copy",
        turn("const T& old = x; x_new = x * c - y * s; y_new = old * s + y * c;"),
        "expected",
    ),
    (
        3,
        "the wrong one is kept",
        turn("T old = y; x_new = x * c - old * s; y_new = x * s + old * c;"),
        "expected",
    ),
    (
        3,
        "backwards",
        turn("T old = x; x_new = x * c + y * s; y_new = y * c - old * s;"),
        "expected",
    ),
    (
        3,
        "into phi",
        turn("x_new = x * c - y * s; y_new = x * s + y * c;", "k(x, y, phi, phi, y)"),
        "expected",
    ),
    (3, "in NumPy", TURNED_IN_NUMPY, "new array"),
    (3, "in halves", HALVES, "new array|kernels"),
    (4, "array functions", "def step(*a):\n step_functions(*a)", "new array|kernel"),
    (
        4,
        "written twice, read after",
        step("v_new = mu * v + g; p_new = p - eta * (mu * v + g)"),
        "expected",
    ),
    (4, "the old velocity", step("p_new = p - eta * v; v_new = mu * v + g"), "expected"),
    (
        4,
        "new arrays",
        step("v_new = mu * v + g; p_new = p - eta * v_new", "return k(p, g, v, eta, mu)"),
        "expected",
    ),
    (
        4,
        "new arrays, copied back",
        step("v_new = mu * v + g; p_new = p - eta * v_new", "p[:], v[:] = k(p, g, v, eta, mu)"),
        "new array",
    ),
    (4, "two kernels", TWO_STEPS, "2 kernels"),
    (4, "rates exchanged", step("v_new = eta * v + g; p_new = p - mu * v_new"), "expected"),
    (4, "uphill", step("v_new = mu * v + g; p_new = p + eta * v_new"), "expected"),
    (
        4,
        "outputs exchanged",
        step("v_new = mu * v + g; p_new = p - eta * v_new", "k(p, g, v, eta, mu, v, p)"),
        "expected",
    ),
    (
        4,
        "into the gradient",
        step("v_new = mu * v + g; p_new = p - eta * v_new", "k(p, g, v, eta, mu, p, g)"),
        "expected",
    ),
    (5, "everything in NumPy", IN_NUMPY.format(f="lengths"), "leave"),
    (
        5,
        "array functions",
        "def lengths(x, w):\n return cp.sqrt((w * x * x).sum(axis=1))",
        "new array|kernel",
    ),
    (5, "a product", "def lengths(x, w):\n return cp.sqrt((x * x) @ w)", "new array|kernel"),
    (5, "squares first", SQUARES_FIRST, "new array"),
    (
        5,
        "the root outside",
        lengths('"w * x * x", "a + b", "d = a", "0"', "return cp.sqrt(k(x, w, axis=1))"),
        "new array",
    ),
    (5, "no root", lengths('"w * x * x", "a + b", "d = a", "0"'), "expected"),
    (5, "the root first", lengths('"sqrt(w) * x", "a + b", "d = a", "0"'), "expected"),
    (5, "weights squared", lengths('"w * w * x * x", "a + b", "d = sqrt(a)", "0"'), "expected"),
    (5, "another identity", lengths('"w * x * x", "a + b", "d = sqrt(a)", "1"'), "expected"),
    (5, "columns", lengths(WEIGHTED, "return k(x, w, axis=0)"), "shape"),
    (5, "one number", lengths(WEIGHTED, "return k(x, w)"), "shape"),
    (
        5,
        "rows in a loop",
        lengths(WEIGHTED, "return cp.stack([k(row, w) for row in x])"),
        "new array|kernels",
    ),
    (5, "float64 only", DOUBLES, "mismatched"),
    (6, "max", largest(DIFFERENCE, "max(a, b)"), "expected"),
    (6, "fmax", largest(DIFFERENCE, "fmax(a, b)"), "expected"),
    (6, "a larger", largest(DIFFERENCE, "a > b ? a : b"), "expected"),
    (6, "b larger", largest(DIFFERENCE, "a < b ? b : a"), "expected"),
    (6, "only b is looked at", largest(DIFFERENCE, "a > b && b == b ? a : b"), "expected"),
    (6, "afterwards", largest(DIFFERENCE, "max(a, b)", "d = a != a ? a : a"), "expected"),
    (6, "always NaN", largest(DIFFERENCE, "a + b * (0.0 / 0.0)"), "expected"),
    (
        6,
        "only of x",
        largest("x != x ? x : fabs(x - y) > 0 ? fabs(x - y) : 0", "a > b || a != a ? a : b"),
        "expected",
    ),
    (6, "array functions", LARGEST_BY_ARRAYS, "kernel"),
    (6, "in NumPy", LARGEST_IN_NUMPY, "leave|kernel"),
]
NAMES = [f"30.{number} {what}" for number, what, *_ in WRONG]
FEW = [name for name in NAMES if "NumPy" in name or "functions" in name or "own" in name]


@pytest.mark.parametrize("name", long_but(FEW, NAMES))
def test_wrong_and_lazy_answers_are_refused(chapter, name):
    number, _, answer, says = WRONG[NAMES.index(name)]
    refused(chapter.judged(number, answer), says)


RIGHT = [
    (1, "by max, which holds below 1", leaky("z = max(x, alpha * x)")),
    (1, "by if", leaky("z = x; if (z < 0) z *= alpha")),
    (2, "by sqrt", pairs("T x = ax - bx, y = ay - by; d = sqrt(x * x + y * y)")),
    (
        2,
        "into an array",
        pairs(
            "d = hypot(ax - bx, ay - by)",
            call=f"d = cp.empty((ax.size, bx.size), ax.dtype); {PAIRS.replace('by)', 'by, d)')}",
        ),
    ),
    (3, "both are kept", turn("T a = x, b = y; x_new = a * c - b * s; y_new = a * s + b * c;")),
    (3, "the result is kept", turn("T t = x * c - y * s; y_new = x * s + y * c; x_new = t;")),
    (4, "the velocity is kept", step("T w = mu * v + g; p_new = p - eta * w; v_new = w")),
    (4, "the parameters first", step("p_new = p - eta * (mu * v + g); v_new = mu * v + g")),
    (4, "the reference is used", step("v_new = mu * v + g; p_new = p - eta * v")),
    (5, "keeping the axis", lengths(WEIGHTED, "return k(x, w, axis=1, keepdims=True)[:, 0]")),
    (5, "of the transposed", lengths(WEIGHTED, "return k(x.T, w[:, None], axis=0)")),
    (6, "b is the NaN", largest(DIFFERENCE, "b > a || b != b ? b : a")),
    (6, "by isnan", largest("fabs(x - y)", "isnan(a) ? a : isnan(b) ? b : max(a, b)")),
    (6, "a sum keeps it", largest("fabs(x - y)", "a != a || b != b ? a + b : max(a, b)")),
]
RIGHT_NAMES = [f"30.{number} {what}" for number, what, _ in RIGHT]


@pytest.mark.parametrize("name", long_but(RIGHT_NAMES[::4], RIGHT_NAMES))
def test_right_answers_are_taken(chapter, name):
    number, _, answer = RIGHT[RIGHT_NAMES.index(name)]
    assert "correct" in chapter.judged(number, answer)
