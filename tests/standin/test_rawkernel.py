"""RawKernel and RawModule: what they compute, what they accept, and what they refuse."""

import io
import pickle
from contextlib import redirect_stdout

import cupy as cp
import numpy as np
import pytest
from cupy.cuda.compiler import CompileException
from cupy.cuda.driver import CUDADriverError

from gpuless.engine import compiler

RNG = np.random.default_rng(20)


def kernel(body, parameters="", before="", name="k", **keywords):
    """A kernel of that body, which stands in line 2 of its source."""
    source = f'{before}extern "C" __global__ void {name}({parameters}) {{\n{body}\n}}'
    return cp.RawKernel(source, name, **keywords)


# ---- results -------------------------------------------------------------------------------------

NAIVE = r"""
extern "C" __global__ void matmul(const REAL* a, const REAL* b, REAL* c, int m, int k, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        REAL sum = 0;
        for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
        c[row * n + col] = sum;
    }
}
"""
TILED = r"""
extern "C" __global__ void matmul(const REAL* a, const REAL* b, REAL* c, int m, int k, int n) {
    __shared__ REAL as[TILE][TILE], bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    REAL sum = 0;
    for (int t = 0; t < k; t += TILE) {
        as[ty][tx] = row < m && t + tx < k ? a[row * k + t + tx] : REAL(0);
        bs[ty][tx] = t + ty < k && col < n ? b[(t + ty) * n + col] : REAL(0);
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}
"""


@pytest.mark.parametrize("source", [NAIVE, TILED], ids=["naive", "tiled"])
@pytest.mark.parametrize("dtype, ctype, rtol", [("f8", "double", 1e-13), ("f4", "float", 1e-5)])
@pytest.mark.parametrize("shape", [(1, 1, 1), (17, 33, 5), (32, 8, 47)])
def test_matrix_product(source, dtype, ctype, rtol, shape):
    m, k, n = shape
    a, b = RNG.random((m, k)).astype(dtype), RNG.random((k, n)).astype(dtype)
    c = cp.empty((m, n), dtype)
    multiply = cp.RawKernel(source, "matmul", (f"-DREAL={ctype}", "-DTILE=8"))
    grid = (-(-n // 8), -(-m // 8))
    multiply(grid, (8, 8), (cp.asarray(a), cp.asarray(b), c, m, k, n))
    np.testing.assert_allclose(c.get(), a @ b, rtol=rtol)


@pytest.mark.parametrize("kept", ["first", "second"])
def test_a_missing_barrier_shows(kept):
    """With one barrier of the tiled product left out the result is wrong, or a tile is read before
    it is written, which is an error."""
    first, second = TILED.index("__syncthreads();"), TILED.rindex("__syncthreads();")
    cut = second if kept == "first" else first
    source = TILED[:cut] + TILED[cut + len("__syncthreads();") :]
    a, b = RNG.random((2, 24, 24))
    c = cp.empty((24, 24))
    multiply = cp.RawKernel(source, "matmul", ("-DREAL=double", "-DTILE=8"))
    args = (cp.asarray(a), cp.asarray(b), c, 24, 24, 24)
    if kept == "first" or not compiler.has_shadow():
        multiply((3, 3), (8, 8), args)
        assert not np.allclose(c.get(), a @ b)
    else:
        with pytest.raises(RuntimeError, match="'as', shared memory that no thread of the block"):
            multiply((3, 3), (8, 8), args)


def test_built_in_variables_in_three_dimensions():
    where = cp.zeros((2 * 3 * 4 * 5 * 3 * 2, 12), "u4")
    body = """
    dim3 g = gridDim, b = blockDim;
    unsigned block = (blockIdx.z * g.y + blockIdx.y) * g.x + blockIdx.x;
    unsigned thread = (threadIdx.z * b.y + threadIdx.y) * b.x + threadIdx.x;
    unsigned *o = out + 12 * (block * b.x * b.y * b.z + thread);
    o[0] = threadIdx.x; o[1] = threadIdx.y; o[2] = threadIdx.z;
    o[3] = blockIdx.x; o[4] = blockIdx.y; o[5] = blockIdx.z;
    o[6] = b.x; o[7] = b.y; o[8] = b.z; o[9] = g.x; o[10] = g.y; o[11] = g.z;"""
    kernel(body, "unsigned *out")((2, 3, 4), (5, 3, 2), (where,))
    got = where.get()
    blocks = np.stack(np.unravel_index(np.arange(24), (4, 3, 2))[::-1], axis=1)
    threads = np.stack(np.unravel_index(np.arange(30), (2, 3, 5))[::-1], axis=1)
    np.testing.assert_array_equal(got[:, :3], np.tile(threads, (24, 1)))
    np.testing.assert_array_equal(got[:, 3:6], np.repeat(blocks, 30, axis=0))
    np.testing.assert_array_equal(got[:, 6:], np.tile([5, 3, 2, 2, 3, 4], (720, 1)))


def test_attributes_are_set_once():
    source = 'extern "C" __global__ void k() {}'
    kernel, module = cp.RawKernel(source, "k"), cp.RawModule(code=source)
    for one, name in [(kernel, "name"), (kernel, "foo"), (module, "code"), (kernel, "attributes")]:
        with pytest.raises(AttributeError):
            setattr(one, name, "z")
    kernel.max_dynamic_shared_size_bytes = 1024
    with pytest.raises(TypeError):
        cp.RawKernel(source, np.str_("k"))
    with pytest.warns(DeprecationWarning, match="jitify"):
        cp.RawKernel(source, "k", jitify=False)

    class Own(cp.RawKernel):
        pass

    own = Own(source, "k")
    own.calls = own.calls = 1
    own((1,), (1,), ())
    with pytest.raises(AttributeError):
        own.name = "z"


def test_views_keep_their_offset_and_lose_their_strides():
    x = cp.asarray(np.arange(12.0).reshape(3, 4))
    out = cp.zeros(3)
    copy = kernel("out[threadIdx.x] = x[threadIdx.x];", "const double *x, double *out")
    copy((1,), (3,), (x[1:], out))
    assert out.get().tolist() == [4, 5, 6]
    copy((1,), (3,), (x.T, out))
    assert out.get().tolist() == [0, 1, 2]


def test_every_kind_of_argument():
    parameters = (
        "double *o, bool b, signed char c, unsigned short h, int i, long long l, float f, "
        "double d, unsigned long long u"
    )
    body = "o[0]=b; o[1]=c; o[2]=h; o[3]=i; o[4]=l; o[5]=f; o[6]=d; o[7]=(double)(u >> 1);"
    k = kernel(body, parameters)
    out = cp.zeros(8)
    k((1,), (1,), (out, True, -7, np.uint16(65000), -5, -(2**40), np.float32(0.5), 2.25, 2**64 - 2))
    assert out.get().tolist() == [1, -7, 65000, -5, -(2**40), 0.5, 2.25, float(2**63 - 1)]
    k(
        (1,),
        (1,),
        (
            out.data,
            np.bool_(0),
            np.int8(3),
            4,
            np.int64(9),
            1,
            np.float32(2),
            np.float64(3),
            np.uint64(8),
        ),
    )
    assert out.get().tolist() == [0, 3, 4, 9, 1, 2, 3, 4]


def test_structs_by_value_and_complex_numbers():
    before = "struct Pair { double a; int b; };\n"
    out = cp.zeros(3)
    k = kernel("o[0] = p.a; o[1] = p.b; o[2] = z.y;", "double *o, Pair p, double2 z", before)
    pair = np.zeros(1, np.dtype([("a", "f8"), ("b", "i4")], align=True))
    pair["a"], pair["b"] = 1.5, -3
    k((1,), (1,), (out, pair, 4 + 0.25j))
    assert out.get().tolist() == [1.5, -3, 0.25]
    k((1,), (1,), (out, pair[0], np.complex128(2j)))
    assert out.get().tolist() == [1.5, -3, 2]


def test_vector_loads():
    x = RNG.random(64).astype("f4")
    out = cp.zeros(16, "f4")
    body = """float4 v = reinterpret_cast<const float4 *>(x)[threadIdx.x];
    o[threadIdx.x] = v.x + 2 * v.y + 4 * v.z + 8 * v.w;"""
    kernel(body, "const float *x, float *o")((1,), (16,), (cp.asarray(x), out))
    np.testing.assert_allclose(
        out.get(), x.reshape(16, 4) @ np.array([1, 2, 4, 8], "f4"), rtol=1e-6
    )
    same = kernel("o[threadIdx.x] = x[threadIdx.x].w;", "const float4 *x, float *o")
    same((1,), (16,), (cp.asarray(x), out))
    np.testing.assert_array_equal(out.get(), x[3::4])


def test_names_of_the_c_library_are_free():
    before = "__device__ float index(float x) { return x + 1; }\n__device__ int wait = 3;\n"
    out = cp.zeros(1, "f4")
    kernel("o[0] = index(2.0f) * wait;", "float *o", before, name="div")((1,), (1,), (out,))
    assert out.get()[0] == 9


def test_graph_capture_launches_later():
    x = cp.zeros(5, "i4")
    add = kernel("x[threadIdx.x] += step;", "int *x, int step")
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        add((1,), (5,), (x, 1))
        add((1,), (3,), (x, 10))
        graph = stream.end_capture()
    assert x.get().tolist() == [0] * 5
    graph.launch()
    graph.launch()
    assert x.get().tolist() == [22, 22, 22, 2, 2]


# ---- atomics, printing, constants, templates ----------------------------------------------------


def test_histogram():
    values = RNG.integers(0, 7, 1003)
    counts = cp.zeros(7, "i4")
    body = """int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[x[i]], 1);"""
    kernel(body, "const long long *x, int *counts, int n")(
        (-(-1003 // 128),), (128,), (cp.asarray(values), counts, 1003)
    )
    np.testing.assert_array_equal(counts.get(), np.bincount(values, minlength=7))


ATOMICS = {
    "atomicAdd": (lambda a, x: a + x, "int unsigned ull float double"),
    "atomicSub": (lambda a, x: a - x, "int unsigned"),
    "atomicMin": (min, "int unsigned ull"),
    "atomicMax": (max, "int unsigned ull"),
    "atomicExch": (lambda a, x: x, "int unsigned ull float"),
    "atomicAnd": (lambda a, x: a & x, "int unsigned ull"),
    "atomicOr": (lambda a, x: a | x, "int unsigned ull"),
    "atomicXor": (lambda a, x: a ^ x, "int unsigned ull"),
    "atomicInc": (lambda a, x: 0 if a >= x else a + 1, "unsigned"),
    "atomicDec": (lambda a, x: x if a == 0 or a > x else a - 1, "unsigned"),
}
CTYPES = {"ull": "unsigned long long"}
DTYPES = {"int": "i4", "unsigned": "u4", "ull": "u8", "float": "f4", "double": "f8"}


@pytest.mark.parametrize(
    "name, ctype", [(n, t) for n, (_, types) in ATOMICS.items() for t in types.split()]
)
def test_atomic_functions(name, ctype):
    """The cell holds what the operations give one after another; each returns the old value."""
    operate = ATOMICS[name][0]
    values = [13, 6, 9, 2, 21, 1, 12]
    cell, old = cp.asarray(np.array([5], DTYPES[ctype])), cp.zeros(7, DTYPES[ctype])
    k = kernel(
        f"old[threadIdx.x] = {name}(cell, x[threadIdx.x]);",
        "T *cell, T *old, const T *x",
        f"typedef {CTYPES.get(ctype, ctype)} T;",
    )
    k((1,), (7,), (cell, old, cp.asarray(np.array(values, DTYPES[ctype]))))
    expected = [5]
    for value in values:
        result = operate(expected[-1], value)
        expected.append(result % 2**32 if ctype == "unsigned" else result)
    assert old.get().tolist() == expected[:-1]
    assert cell.get()[0] == expected[-1]


def test_compare_and_swap():
    cell, old = cp.asarray(np.array([2], "i4")), cp.zeros(4, "i4")
    body = "old[threadIdx.x] = atomicCAS(cell, (int)threadIdx.x, 10 + (int)threadIdx.x);"
    kernel(body, "int *cell, int *old")((1,), (4,), (cell, old))
    assert (cell.get()[0], old.get().tolist()) == (12, [2, 2, 2, 12])


def test_what_a_kernel_prints_reaches_stdout():
    k = kernel('printf("%d of %s: %.2f\\n", threadIdx.x, "two", 0.5 * threadIdx.x);')
    out = io.StringIO()
    with redirect_stdout(out):
        k((1,), (2,), ())
        k((1,), (1,), ())
    assert out.getvalue() == "0 of two: 0.00\n1 of two: 0.50\n0 of two: 0.00\n"


def test_long_prints_are_complete():
    k = kernel('printf("%d %0500d\\n", threadIdx.x, threadIdx.x); __syncthreads();')
    out = io.StringIO()
    with redirect_stdout(out):
        k((2,), (100,), ())
    assert out.getvalue() == 2 * "".join(f"{i} {i:0500d}\n" for i in range(100))


MODULE = r"""
// __constant__ float commented[2];
__constant__ float weights[3];
__device__ int counter = 4, other;
template <typename T, int N> __global__ void scale(T *x) { x[threadIdx.x] *= N; }
extern "C" {
__global__ void __launch_bounds__(64) dot(const float *x, float *o) {
    o[threadIdx.x] = x[threadIdx.x] * weights[threadIdx.x % 3];
}
__global__ void count(int *o) { o[0] = atomicAdd(&counter, 2); o[1] = other; }
}
__global__ void mangled(int *o) { o[0] = 1; }
"""


def test_a_function_that_is_only_declared(only_the_standin):
    code = """__device__ float elsewhere(float x);
    extern "C" __global__ void k(float *x) { x[0] = elsewhere(x[1]); }"""
    for _ in range(2):
        with pytest.raises(CompileException, match="Unresolved extern function '.*elsewhere"):
            cp.RawKernel(code, "k")((1,), (1,), (cp.zeros(2, np.float32),))


def test_module_constants_and_globals():
    module = cp.RawModule(code=MODULE)
    weights = cp.ndarray(3, "f4", module.get_global("weights"))
    weights[...] = cp.asarray(np.array([2, 3, 5], "f4"))
    x, out = np.arange(1, 8, dtype="f4"), cp.zeros(7, "f4")
    module.get_function("dot")((1,), (7,), (cp.asarray(x), out))
    np.testing.assert_array_equal(out.get(), x * np.array([2, 3, 5, 2, 3, 5, 2], "f4"))
    counted = cp.zeros(2, "i4")
    cp.ndarray(1, "i4", module.get_global("other")).fill(8)
    first = cp.ndarray(1, "i4", module.get_global("counter"))
    before = int(first[0])
    module.get_function("count")((1,), (1,), (counted,))
    assert counted.get().tolist() == [before, 8] and int(first[0]) == before + 2
    with pytest.raises(CUDADriverError, match="^CUDA_ERROR_NOT_FOUND: named symbol not found"):
        module.get_global("commented")


def test_templates_by_name_expression():
    module = cp.RawModule(code=MODULE, name_expressions=("scale<float, 3>", "scale<long long, 2>"))
    x, y = cp.asarray(np.arange(5, dtype="f4")), cp.asarray(np.arange(5))
    module.get_function("scale<float, 3>")((1,), (5,), (x,))
    module.get_function("scale<long long, 2>")((1,), (5,), (y,))
    assert x.get().tolist() == [0, 3, 6, 9, 12] and y.get().tolist() == [0, 2, 4, 6, 8]
    for name in ("scale<double, 3>", "scale", "mangled", "absent"):
        with pytest.raises(CUDADriverError, match="CUDA_ERROR_NOT_FOUND") as caught:
            module.get_function(name)
    assert "dot, count" in caught.value.__notes__[0]


def test_module_arguments():
    for arguments in ({}, {"code": MODULE, "path": "x.ptx"}):
        with pytest.raises(TypeError, match="Exactly one of `code` and `path`"):
            cp.RawModule(**arguments)
    with pytest.raises(ValueError, match="need CUDA C"):
        cp.RawModule(path="x.ptx", name_expressions=("f",))
    with pytest.raises(NotImplementedError, match="path"):
        cp.RawModule(path="x.ptx")
    with pytest.raises(TypeError, match="expected tuple, got list"):
        cp.RawModule(code=MODULE, options=["-DN=1"])


def test_pickling():
    k = kernel("x[0] = N;", "int *x", options=("-DN=12",))
    x = cp.zeros(1, "i4")
    pickle.loads(pickle.dumps(k))((1,), (1,), (x,))
    assert x.get()[0] == 12
    with pytest.raises(pickle.UnpicklingError, match="not supported by the current CuPy version"):
        k.__setstate__({**k.__getstate__(), "raw_ver": 1})


def test_attributes():
    k = kernel(
        "__shared__ float s[100]; s[threadIdx.x] = 1; __syncthreads(); x[0] = s[1];", "float *x"
    )
    assert k.attributes["max_threads_per_block"] == 1024
    assert 400 <= k.attributes["shared_size_bytes"] < 500
    left = 48 * 1024 - k.attributes["shared_size_bytes"]  # so an H200 says too
    assert k.attributes["max_dynamic_shared_size_bytes"] == left
    assert k.attributes["preferred_shared_memory_carveout"] == -1
    k.max_dynamic_shared_size_bytes = 100_000
    k.preferred_shared_memory_carveout = 50
    assert k.attributes["max_dynamic_shared_size_bytes"] == 100_000
    assert k.attributes["preferred_shared_memory_carveout"] == 50
    k.compile()
    assert cp.RawKernel(k.code, k.name).attributes == k.attributes, "of one compiled kernel"
    with pytest.raises(CUDADriverError, match="CUDA_ERROR_INVALID_VALUE"):
        k.max_dynamic_shared_size_bytes = 228 * 1024
    with pytest.raises(CUDADriverError, match="CUDA_ERROR_INVALID_VALUE"):
        k.preferred_shared_memory_carveout = 101


# ---- refusals ------------------------------------------------------------------------------------


def test_compile_errors_have_the_readers_lines(only_the_standin):
    source = """#define N 3
/* a comment
   of two lines */
extern "C" __global__ void k(float *x) {

    x[0] = missing;
    other(N);
}
"""
    with pytest.raises(CompileException) as caught:
        cp.RawKernel(source, "k").compile()
    message = str(caught.value)
    first, second = (line for line in message.splitlines() if line.startswith("k.cu("))
    assert first.startswith("k.cu(6): error: ") and "'missing'" in first
    assert second.startswith("k.cu(7): error: ") and "'other'" in second
    assert message.endswith('2 errors detected in the compilation of "k.cu".\n')
    dumped = io.StringIO()
    caught.value.dump(dumped)
    assert "6     x[0] = missing;" in dumped.getvalue()


@pytest.mark.parametrize("header", ["cmath", "stdio.h", "vector"])
def test_headers_that_nvrtc_does_not_have(header):
    if header == "stdio.h" and compiler.find_compiler().family == "zig":
        pytest.xfail("zig searches the system's C headers whatever it is told")
    with pytest.raises(
        CompileException, match=rf'k.cu\(2\): .*could not open source file "{header}"'
    ):
        kernel("", before=f"\n#include <{header}>\n").compile()


def test_missing_kernel():
    with pytest.raises(CUDADriverError, match="^CUDA_ERROR_NOT_FOUND: named symbol not found"):
        cp.RawKernel('extern "C" __global__ void k() {}', "other").compile()
    with pytest.raises(CUDADriverError, match="CUDA_ERROR_NOT_FOUND") as caught:
        cp.RawKernel("__global__ void k() {}", "k").compile()
    assert 'extern "C"' in caught.value.__notes__[0]


@pytest.mark.parametrize(
    "body, what",
    [
        ('asm("nop;");', "inline PTX"),
        ("k<<<1, 1>>>();", "dynamic parallelism"),
        ("__cluster_dims__(2);", "clusters, which need compute capability 9.0"),
        ("cuda::barrier<cuda::thread_scope_block> a;", "libcu"),
        ("cub::BlockReduce<int, 32> r;", "CUB"),
    ],
)
def test_what_is_not_covered_is_named(body, what):
    with pytest.raises(NotImplementedError, match=rf"k.cu\(2\): .*{what}"):
        kernel(body).compile()


ARGUMENTS = [
    ("int *x, int n", (None,), "takes 2 arguments \\(int\\*, int\\) but 1 was given"),
    ("", (3, 4), "takes 0 arguments \\(\\) but 2 were given"),
    ("float f", (1.5,), r"argument 1 of kernel 'k' \(float\) got the float 1.5, .* np.float32"),
    ("float f", (np.float64(1.5),), "got a numpy.float64"),
    ("float f", (2,), "got the int 2"),
    ("double f", (np.float32(1.5),), r"got a numpy.float32.*np.float64"),
    ("int n", (2.0,), r"got the float 2.0.*np.int32"),
    ("int n", (True,), "got the bool True, which CuPy passes as one byte"),
    ("long long n", (np.int32(2),), "got a numpy.int32 of 4 bytes.*np.int64"),
    ("bool b", (1,), "got the int 1.*np.bool_"),
    ("float *x", (1,), "got the integer 1.*pass a cupy.ndarray"),
    ("int n", (None,), "got None"),
    ("float *x", (np.zeros(3),), r"You are trying to pass a numpy.ndarray of shape \(3,\)"),
    ("int n", (np.ones(1, ">i4"),), "got a numpy.ndarray of >i4.*other order.*np.int32"),
    ("float4 v", (np.zeros(1),), "got a numpy.ndarray of 8 bytes.*16 bytes"),
    ("float *x", ([1.0],), "^Unsupported type <class 'list'>$"),
]


@pytest.mark.parametrize("parameters, arguments, message", ARGUMENTS)
def test_wrong_arguments(parameters, arguments, message):
    with pytest.raises(TypeError, match=message):
        kernel("", parameters)((1,), (1,), arguments)


@pytest.mark.parametrize("value", [2**31 + 2**31, -(2**31) - 1, 2**40])
def test_integers_that_do_not_fit(value):
    with pytest.raises(OverflowError, match="argument 1 .* does not fit into 4 bytes"):
        kernel("", "int n")((1,), (1,), (value,))


@pytest.mark.parametrize(
    "ctype, good, bad",
    [
        ("float", "f4 c8", "f8 i4 f2 ?"),
        ("double", "f8 c16", "f4 i8 c8"),
        ("int", "i4 u4", "i8 f4 i2 f8"),
        ("unsigned short", "u2 i2 f2", "u4 i8"),
        ("long long", "i8 u8", "i4 f8"),
        ("bool", "? u1 i1", "i4"),
        ("char", "i1 u1 f8 i4", ""),
        ("unsigned char", "i1 u1 f8 i4", ""),
        ("void", "f4 f8 i4", ""),
        ("float2", "f4 c8 f8", ""),
    ],
)
def test_dtypes_of_arrays(ctype, good, bad):
    k = kernel("", f"const {ctype} *x")
    for dtype in good.split():
        k((1,), (1,), (cp.zeros(4, dtype),))
    for dtype in bad.split():
        with pytest.raises(TypeError, match=f"got a cupy.ndarray of {np.dtype(dtype)}"):
            k((1,), (1,), (cp.zeros(4, dtype),))


@pytest.mark.parametrize(
    "grid, block, shared, why",
    [
        ((1,), (1025,), 0, "1025 threads; the limit is 1024"),
        ((1,), (32, 33), 0, "1056 threads"),
        ((1,), (1, 1, 65), 0, "1024, 1024, 64"),
        ((1, 65536), (1,), 0, "65535"),
        ((1,), (1,), 48 * 1024 + 1, "max_dynamic_shared_size_bytes"),
    ],
)
def test_launches_that_a_gpu_refuses(grid, block, shared, why):
    with pytest.raises(CUDADriverError, match="CUDA_ERROR_INVALID_VALUE") as caught:
        kernel("")(grid, block, (), shared_mem=shared)
    assert str(caught.value) == "CUDA_ERROR_INVALID_VALUE: invalid argument"
    assert "kernel 'k'" in caught.value.__notes__[0] and why in caught.value.__notes__[0]


def test_launch_bounds_are_kept():
    source = 'extern "C" __global__ void __launch_bounds__(64) k() {}'
    k = cp.RawKernel(source, "k")
    k((1,), (64,), ())
    with pytest.raises(CUDADriverError, match="INVALID_VALUE"):
        k((1,), (65,), ())
    assert k.max_threads_per_block == 64


@pytest.mark.parametrize("bounds", ["THREADS", "THREADS, 2", "64, BLOCKS", "n"])
def test_launch_bounds_of_unknown_names_are_refused(bounds):
    source = f'extern "C" __global__ __launch_bounds__({bounds}) void k(int n) {{}}'
    with pytest.raises(CompileException, match="was not declared|is undefined|undeclared"):
        cp.RawKernel(source, "k")((1,), (1,), (np.int32(1),))


@pytest.mark.parametrize("bounds", ["64", "32 * 2", "T", "64, 2", "sizeof(int) * 16"])
def test_launch_bounds_are_what_the_compiler_knows(bounds):
    source = (
        f'constexpr int T = 64; extern "C" __global__ __launch_bounds__({bounds}) void k() {{}}'
    )
    cp.RawKernel(source, "k")((1,), (64,), ())


def test_launch_bounds_of_a_template():
    source = "template <int T> __global__ void __launch_bounds__(T) k(int *x) { *x = T; }"
    x = cp.zeros(1, np.int32)
    module = cp.RawModule(code=source, name_expressions=["k<64>"])
    module.get_function("k<64>")((1,), (1,), (x,))
    assert x.get()[0] == 64


def test_grid_and_block_are_tuples_and_at_least_one():
    k = kernel("x[0] += 1;", "int *x")
    x = cp.zeros(1, "i4")
    for grid, block in ((1, (1,)), ((1,), [1]), (None, (1,))):
        with pytest.raises(TypeError, match="expected tuple"):
            k(grid, block, (x,))
    k((0,), (1, 0), (x,))  # CuPy makes it 1
    assert x.get()[0] == 1


def test_too_much_static_shared_memory(only_the_standin):
    k = kernel("__shared__ float s[12289]; s[threadIdx.x] = x[0]; x[1] = s[0];", "float *x")
    with pytest.raises(
        CompileException, match=r"too much shared data \(0xc0.. bytes, 0xc000 max\)"
    ):
        k.compile()


def test_more_dynamic_shared_memory_on_request():
    k = kernel("extern __shared__ double s[]; s[n - 1] = 3; x[0] = s[n - 1];", "double *x, int n")
    x = cp.zeros(1)
    k.max_dynamic_shared_size_bytes = 200_000
    k((1,), (1,), (x, 25_000), shared_mem=200_000)
    assert x.get()[0] == 3


# ---- faults: each names the kernel, the block and the thread, and Python lives on ----------------

FAULTS = [
    (
        "x[(long long)i * 100000000000] = 1;",
        r"thread \(1, 0, 0\), line 2: .*belongs to none of its arrays",
    ),
    ("if (i == 5) *(int *)nullptr = 1;", r"thread \(5, 0, 0\).*null pointer"),
    ("x[i] = 7 / (i - 3);", r"thread \(3, 0, 0\).*integer division by zero"),
    (
        "__shared__ int s[4]; s[i] = 1; x[0] = s[i];",
        r"thread \(4, 0, 0\), line 2: index 4 is outside an array of type 'int\[4\]'",
    ),
    (
        "int s[6]; for (int j = 0; j < 6; ++j) s[j] = j; x[0] = s[i];",
        r"thread \(6, 0, 0\), line 2: index 6 is outside an array of type 'int\[6\]'",
    ),
    ("assert(i < 2);", r"thread \(2, 0, 0\).*line 2: Assertion `i < 2` failed"),
    ("if (i == 7) __trap();", r"thread \(7, 0, 0\).*__trap"),
    (
        "extern __shared__ int d[]; d[i] = 1;",
        r"thread \(4, 0, 0\), line 2: writes outside the 16 bytes of its dynamic shared memory",
    ),
]


@pytest.mark.parametrize("barrier", ["", "__syncthreads();"], ids=["loop", "fibers"])
@pytest.mark.parametrize("body, message", FAULTS)
def test_faults(body, message, barrier):
    k = kernel(f"int i = threadIdx.x; if (blockIdx.x == 1) {{ {body} }} {barrier}", "int *x")
    x = cp.zeros(8, "i4")
    for _ in range(2):  # the second time shows that the first left nothing broken
        with pytest.raises(RuntimeError, match=rf"kernel 'k', block \(1, 0, 0\), {message}"):
            k((2,), (8,), (x,), shared_mem=16)
    after = kernel("x[threadIdx.x] = threadIdx.x; __syncthreads();", "int *x")
    after((1,), (8,), (x,))
    assert x.get().tolist() == list(range(8))


def test_a_large_local_array_is_refused_by_name():
    body = """char c[300000];
    for (int j = 0; j < 300000; ++j) c[j] = j;
    __syncthreads();
    x[0] = c[x[1]];"""
    with pytest.raises(RuntimeError, match="local memory"):
        kernel(body, "int *x")((1,), (2,), (cp.zeros(2, "i4"),))


def test_a_variable_without_a_first_value_is_seen():
    """A sum that nobody set to zero: the beginner must not get the right result by luck."""
    family = compiler.find_compiler()
    if family.family == "gcc" and family.major < 12:
        pytest.skip("this compiler leaves the register as it is")
    source = """extern "C" __global__ void sum(const float *x, float *y, int n) {
        float total;
        for (int i = 0; i < n; ++i) total += x[i];
        y[threadIdx.x] = total;
    }"""
    y = cp.zeros(3, "f4")
    cp.RawKernel(source, "sum")((1,), (3,), (cp.arange(5, dtype="f4"), y, np.int32(5)))
    assert not np.isclose(y.get(), 10).any()


@pytest.mark.parametrize("wrong", [3.5, "4", None, np.float32(2), 1j])
def test_sizes_of_a_launch_are_integers(wrong):
    """CuPy's first sizes are Py_ssize_t, so that a float is refused, whole or not."""
    kernel = cp.RawKernel('extern "C" __global__ void k() {}', "k")
    for grid, block in (
        ((wrong,), (1,)),
        ((1, wrong), (1,)),
        ((1,), (wrong,)),
        ((1,), (1, 1, wrong)),
    ):
        with pytest.raises(TypeError, match="integer"):
            kernel(grid, block, ())
    kernel((np.int64(2), True), (np.uint8(3),), ())


def test_two_sources_share_no_variables():
    code = """__device__ int turns = 5;
    extern "C" __global__ void k(int *y) { y[0] = turns++; } // %s"""
    y = cp.zeros(1, "i")
    for comment in ("one", "another"):
        module = cp.RawModule(code=code % comment)
        seen = []
        for _ in range(2):
            module.get_function("k")((1,), (1,), (y,))
            seen.append(int(y[0]))
        assert seen == [5, 6]


def test_kernels_of_one_source_share_its_variables():
    """Whatever they are called, as in CuPy; a cooperative kernel is of another module."""
    source = """
__device__ int count;
extern "C" __global__ void one(int *y) { y[0] = count++; }
extern "C" __global__ void other(int *y) { y[0] = count++; }"""
    y = cp.zeros(1, "i4")
    kernels = [
        cp.RawKernel(source, "one"),
        cp.RawKernel(source, "other"),
        cp.RawModule(code=source).get_function("one"),
        cp.RawKernel(source, "one", enable_cooperative_groups=True),
    ]
    seen = []
    for kernel in kernels:
        kernel((1,), (1,), (y,))
        seen.append(int(y[0]))
    assert seen == [0, 1, 2, 0]
