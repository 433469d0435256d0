"""Chapter 38's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import re

import pytest
from chapter_cells import Chapter

from helpers.xray import can_xray

needs_xray = pytest.mark.skipif(not can_xray(), reason="needs g++ on x86-64")

chapter = Chapter.fixture("38_matmul_fast")


@needs_xray
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert "correct" in chapter.judged(number, chapter.answer(number))
    assert "correct" not in chapter.judged(number, chapter.stub(number))


ROWS = "int row = blockIdx.y * 32 + threadIdx.y;"
COLS = "int col = blockIdx.x * 32 + threadIdx.x;"
FIRST_WARP_ONLY = (
    "int other = (threadIdx.y - 1) * 32 + threadIdx.x;\n"
    "int row = blockIdx.y * 32 + (threadIdx.y ? 1 + other % 31 : 0);\n"
    "int col = blockIdx.x * 32 + (threadIdx.y ? other / 31 : threadIdx.x);"
)
NO_TILE = (
    ("    __shared__ double As[16][16], Bs[16][17];\n", ""),
    ("for (int k0 = 0; k0 < K; k0 += 16) {", "for (int k0 = 0; k0 < 0; k0++) {"),
    ("As[y][x] = row < M && k0 + x < K ? A[row * K + k0 + x] : 0;", ""),
    ("Bs[y][x] = from < N && k0 + x < K ? B[from * K + k0 + x] : 0;", ""),
    ("for (int k = 0; k < 16; k++) sum += As[y][k] * Bs[x][k];", ""),
    ("if (row < M && col < N) C[", "if (row < M && col < N) for (int k = 0; k < K; k++)\n"
     "        sum += A[row * K + k] * B[col * K + k];\n    if (row < M && col < N) C["),
)  # fmt: skip
FREE_BT = """
def product_bt(A, B):
    return A @ B.T
"""
COPY_BT = """
def product_bt(A, B):
    (M, K), N = A.shape, B.shape[0]
    Bt, C = cp.empty((K, N)), cp.empty((M, N))
    Bt[...] = B.T
    kernel = cp.RawKernel(bt_source, "product_bt")
    kernel((-(-N // 16), -(-M // 16)), (16, 16), (A, B, C, *map(np.int32, (M, N, K))))
    return C
"""
ONE_THREAD = '''
bt_source = r"""
extern "C" __global__ void product_bt(const double* A, const double* B,
                                      double* C, int M, int N, int K) {
    if (blockIdx.x || blockIdx.y || threadIdx.x || threadIdx.y) return;
    for (int row = 0; row < M; row++)
        for (int col = 0; col < N; col++) {
            double sum = 0;
            for (int k = 0; k < K; k++) sum += A[row * K + k] * B[col * K + k];
            C[row * N + col] = sum;
        }
}"""
'''
SCATTERED = (
    ("int from = blockIdx.x * 16 + y;", "int from = blockIdx.x * 16 + x;"),
    ("Bs[y][x] = from < N && k0 + x < K ? B[from * K + k0 + x] : 0;",
     "Bs[x][y] = from < N && k0 + y < K ? B[from * K + k0 + y] : 0;"),
)  # fmt: skip
NUMPY_BT = "def product_bt(A, B):\n    return cp.asarray(A.get() @ B.get().T)"
BARRIER = "        __syncthreads();\n"

WRONG = {
    "1: one warp alone": (1, [(ROWS, FIRST_WARP_ONLY), (COLS, "")], "will do"),
    "1: swapped back": (1, [("threadIdx.y;", "threadIdx.z;")], "not right|error|will do"),
    "1: a short row": (1, [("int row", "short row")], "not right|outside|error|wrong"),
    "1: a short column": (1, [("int col", "short col")], "not right|outside|error|wrong"),
    "1: the row twice": (1, [("threadIdx.x;", "threadIdx.y;")], "not right"),
    "1: no bounds": (1, [("if (row >= M || col >= N) return;", "")], "not right|outside|wrong"),
    "1: A's row for B": (1, [("B[k * N + col]", "B[col * N + k]")], "not right|wrong"),
    "2: no tile": (2, NO_TILE, "as often as tiles need"),
    "2: scattered": (2, SCATTERED, "in pieces"),
    "2: no first barrier": (2, [(BARRIER + "        for", "        for")], "wrong"),
    "2: no second barrier": (2, [("Bs[x][k];\n" + BARRIER, "Bs[x][k];\n")], "wrong"),
    "2: no zeros": (2, [("from < N && k0 + x < K ? B[from * K + k0 + x] : 0",
                         "B[from * K + k0 + x]")], "wrong"),
    "2: float tile": (2, [("__shared__ double", "__shared__ float")], "wrong"),
    "2: float sum": (2, [("double sum", "float sum")], "wrong"),
    "2: B as it is": (2, [("Bs[x][k]", "Bs[k][x]")], "wrong"),
    "2: last tile left out": (2, [("k0 < K; k0 += 16", "k0 + 16 <= K; k0 += 16")], "wrong"),
    "2: stores outside": (2, [("if (row < M && col < N) C[", "if (row < M) C[")], "wrong"),
    "2: 16 bits": (2, [("int row = ", "short row = ")], "wrong"),
    "3: always 1": (3, [("pad = 0", "pad = 1")], "wrong"),
    "3: one less": (3, [("return pad", "return pad - 1")], "wrong"),
    "4: side alone": (4, [("side, gap = 4, 64", "side, gap = 4, 4")], "not right"),
    "4: gap alone": (4, [("side, gap = 4, 64", "side, gap = 8, 64")], "not right|wrong"),
    "4: further": (4, [("side, gap = 4, 64", "side, gap = 4, 68")], "not right|wrong"),
    "5: 255 for all": (5, [("65536 // (threads * blocks)", "255")], "does not fit"),
    "5: one block": (5, [("(threads * blocks)", "threads")], "does not fit"),
    "5: high tiles": (5, [("if tm >= tn and", "if tn >= tm and")], "wrong"),
    "5: the largest": (5, [("min(fits", "max(fits")], "not the best"),
    "5: no buffers": (5, [("tm * tn + tm + tn + 30", "tm * tn")], "does not fit"),
    "6: one product": (6, [("pieces + 1", "2")], "wrong"),
    "6: always five": (6, [("cuts = ", "pieces = 5\n    cuts = ")], "wrong"),
}  # fmt: skip
ANSWERS = {
    "2: A @ B.T": (2, FREE_BT),
    "2: a transposed copy": (2, COPY_BT),
    "2: one thread": (2, ONE_THREAD),
    "2: NumPy": (2, NUMPY_BT),
    "3: a table": (3, "def smallest_pad(width):\n    return {32: 1, 33: 0, 64: 1}[width]"),
    "3: a text": (3, "def smallest_pad(width):\n    return '1'"),
    "4: one number": (4, "side, gap = 4, None"),
    "5: a bare pair": (5, "def best_tile(threads, blocks):\n    return 12, 12"),
    "5: the pair of the rungs": (5, "def best_tile(threads, blocks):\n    return 8, 8"),
    "6: A @ B": (6, "def split_k(A, B, pieces):\n    return A @ B"),
}  # fmt: skip


@needs_xray
@pytest.mark.parametrize("name", WRONG)
def test_wrong_answers_are_refused(chapter, name):
    number, changes, says = WRONG[name]
    line = chapter.judged(number, chapter.answer(number, *changes))
    assert "correct" not in line and re.search(says, line), line


@needs_xray
@pytest.mark.parametrize("name", ANSWERS)
def test_lazy_answers_are_refused(chapter, name):
    number, answer = ANSWERS[name]
    line = chapter.judged(number, answer)
    assert "correct" not in line and "wrong" in line, line


@needs_xray
@pytest.mark.parametrize(
    "number, changes",
    [
        (1, [("A[row * K + k] * B[k * N + col]", "1.0f * A[k + row * K] * B[col + N * k]")]),
        (2, [("Bs[16][17]", "Bs[16][16]")]),
        (2, [("sum += As[y][k] * Bs[x][k]", "sum = fma(As[y][k], Bs[x][k], sum)")]),
        (2, [("Bs[y][x]", "Bs[x][y]"), ("Bs[x][k]", "Bs[k][x]")]),
        (3, [("return pad", "return float(pad)")]),
        (3, [("return pad", "return cp.int64(pad)")]),
        (5, [("return min", "return cp.array(min"), ("pair[1])", "pair[1]))")]),
    ],
)
def test_right_answers_pass(chapter, number, changes):
    assert "correct" in chapter.judged(number, chapter.answer(number, *changes))


def test_a_right_answer_passes_after_one_that_failed_early(chapter):
    drops_the_rest = """def split_k(A, B, pieces):
    k = A.shape[1] // pieces
    return sum(vector(A[:, i * k : i * k + k], B[i * k : i * k + k]) for i in range(pieces))
"""
    assert "wrong in case 1" in chapter.judged(6, drops_the_rest)
    assert "correct" in chapter.judged(6, chapter.answer(6))


def test_every_wrong_product_stops_the_ladder(chapter):
    Ladder, product = chapter.names["Ladder"], chapter.names["square"]
    ladder = Ladder(64)
    with pytest.raises(ValueError, match="relative error"):
        ladder.climb("wrong", lambda A, B, C: product(A, B, C).__imul__(1.00001))
    with pytest.raises(ValueError, match="relative error"):
        ladder.climb("nothing", lambda A, B, C: C)
    assert ladder.seconds == {}
