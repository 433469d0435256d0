"""The four jobs with Triton: a program says what a block does, not what a thread does."""

import torch
import triton
import triton.language as tl

CANNOT = (
    "It cannot name a thread, a warp's lane or a place in shared memory: what is not a tile of a "
    "power of two and an operation on whole tiles is awkward or impossible."
)


def versions():
    return {"Triton": triton.__version__, "PyTorch": torch.__version__}


def put(array):
    return torch.from_numpy(array).cuda()


def get(tensor):
    return tensor.cpu().numpy()


def wait(result):
    torch.cuda.synchronize()


@triton.jit
def add_twice_kernel(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(z + i, tl.load(x + i, inside) + 2 * tl.load(y + i, inside), inside)


def add_twice(x, y, out):
    add_twice_kernel[(triton.cdiv(out.numel(), 1024),)](x, y, out, out.numel(), BLOCK=1024)
    return out


@triton.jit
def stencil_kernel(x, weights, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    first, w = tl.program_id(1) * ROWS, weights
    one_more = tl.zeros((COLUMNS,), tl.float32)  # sums that want one row more
    two_more = tl.zeros((COLUMNS,), tl.float32)  # or two
    for k in tl.static_range(ROWS + 2):
        row = first - 1 + k
        at, inside = x + row * columns + column, (row >= 0) & (row < rows) & (column < columns)
        a = tl.load(at - 1, inside & (column > 0), other=0)
        b = tl.load(at, inside, other=0)
        c = tl.load(at + 1, inside & (column + 1 < columns), other=0)
        done = one_more + tl.load(w + 6) * a + tl.load(w + 7) * b + tl.load(w + 8) * c
        one_more = two_more + tl.load(w + 3) * a + tl.load(w + 4) * b + tl.load(w + 5) * c
        two_more = tl.load(w) * a + tl.load(w + 1) * b + tl.load(w + 2) * c
        if k > 1:
            inside = (row - 1 < rows) & (column < columns)
            tl.store(out + (row - 1) * columns + column, done, inside)


def stencil(x, weights, out):
    rows, columns = x.shape
    grid = triton.cdiv(columns, 512), triton.cdiv(rows, 8)
    stencil_kernel[grid](x, weights, out, rows, columns, ROWS=8, COLUMNS=512)
    return out


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    start = tl.program_id(0).to(tl.int64) * columns
    row = tl.load(x + start + i, i < columns, other=-float("inf"))
    e = tl.exp(row - tl.max(row, 0))
    tl.store(out + start + i, e / tl.sum(e, 0), i < columns)


def softmax(x, out):
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    softmax_kernel[(rows,)](x, out, columns, BLOCK=block, num_warps=8)
    return out


@triton.jit
def dense_kernel(a, b, bias, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # Blocks that run at once lie in bands of eight rows of tiles, and share them in the L2 cache.
    number, wide = tl.program_id(0), tl.cdiv(N, BN)
    band = number // (8 * wide)
    tall = tl.minimum(tl.cdiv(M, BM) - band * 8, 8)
    row = (band * 8 + number % (8 * wide) % tall) * BM + tl.arange(0, BM)
    column = number % (8 * wide) // tall * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    at_a = a + (row % M)[:, None] * K + k[None, :]
    at_b = b + k[:, None] * N + (column % N)[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        tile_a = tl.load(at_a, k[None, :] < K - k0, other=0)
        tile_b = tl.load(at_b, k[:, None] < K - k0, other=0)
        total = tl.dot(tile_a, tile_b, total)
        at_a += BK
        at_b += BK * N
    total = tl.maximum(total + tl.load(bias + column % N)[None, :].to(tl.float32), 0)
    inside = (row < M)[:, None] & (column < N)[None, :]
    tl.store(out + row[:, None] * N + column[None, :], total.to(tl.float16), inside)


def dense(a, b, bias, out):
    (m, k), n = a.shape, b.shape[1]
    grid = (triton.cdiv(m, 128) * triton.cdiv(n, 256),)
    tile = {"BM": 128, "BN": 256, "BK": 64, "num_warps": 8, "num_stages": 3}
    dense_kernel[grid](a, b, bias, out, m, n, k, **tile)
    return out
