"""Memory that a kernel makes itself: local arrays, variables of the module, what malloc gives, and
what it prints. An overrun names the array and leaves the interpreter unharmed.
"""

import re

import cupy as cp
import numpy as np
import pytest
from cupy.cuda.compiler import CompileException

import gpuless
from gpuless.engine import KernelError, compiler

exact = pytest.mark.skipif(not compiler.has_shadow(), reason="no shadow memory on this system")
FILL = """__device__ __noinline__ void fill(float *a, int first, int last) {
    for (int i = first; i != last; i += first < last ? 1 : -1) a[i] = i;
}
"""
BARRIER = pytest.mark.parametrize("barrier", ["", "__syncthreads();"], ids=["plain", "fibers"])


def kernel(body, parameters="", before=""):
    return cp.RawKernel(f'{before}extern "C" __global__ void k({parameters}) {{\n{body}\n}}', "k")


def complaint(k, *args, grid=(1,), block=(1,)):
    with pytest.raises(KernelError) as caught:
        k(grid, block, args)
    return str(caught.value)


# ---- local arrays ----------------------------------------------------------------------------


@exact
@BARRIER
@pytest.mark.parametrize(
    ("first", "last", "place"),
    [
        (0, 8, "just past its end"),
        (0, 100_000, "just past its end"),
        (9, 11, "8 bytes past its end"),
        (0, -50_000, "4 bytes before its start"),
    ],
)
def test_an_overrun_of_a_local_array(barrier, first, last, place):
    """Through a pointer, where the compiler does not know how long the array is."""
    body = f"double other[3] = {{}}; float a[7]; {barrier} fill(a, first, last);\n{barrier}"
    body += "y[threadIdx.x] = a[1] + other[threadIdx.x % 3];"
    k = kernel(body, "float *y, int first, int last", FILL)
    y = cp.zeros(40, np.float32)
    for _ in range(30):  # stacks that were left in the middle are as good as new
        text = complaint(k, y, first, last, block=(40,))
        assert f"line 2: writes outside the local array 'a' of 28 bytes, {place}" in text
        k((1,), (40,), (y, 0, 7))
        assert (y == 1).all()


@exact
@BARRIER
@pytest.mark.parametrize(
    ("index", "place"),
    [
        (5000, "19984 bytes past its end"),
        (200, "784 bytes past its end"),
        (100_000, "399984 bytes past its end"),
        (-500, "2000 bytes before its start"),
        (-5000, "20000 bytes before its start"),
    ],
)
def test_far_from_a_local_array_in_the_stacks_themselves(barrier, index, place):
    """Below what is in use, above where the stack begins, and in the stack of another thread."""
    body = f"int a[4] = {{}}; put(a, i);\n{barrier} y[threadIdx.x] = a[2];"
    put = "__device__ __noinline__ void put(int *a, int i) { a[i] = 7; }\n"
    k = kernel(body, "float *y, int i", put)
    y = cp.zeros(3, np.float32)
    for _ in range(3):
        text = complaint(k, y, index, block=(3,))
        assert f"line 1: writes outside the local array 'a' of 16 bytes, {place}" in text
        k((1,), (3,), (y, 2))
        assert (y == 7).all()


@exact
def test_structs_on_the_stack_and_deep_calls():
    """What a stack holds besides arrays is open: copies of arguments, frames of any depth."""
    before = """struct Big { int a[40]; };
    __device__ __noinline__ int sum(Big b, int depth) {
        int *p = b.a, total = 0;
        for (int i = 0; i < 40; ++i) total += p[i];
        p[depth % 40] += 1;
        return depth ? total + sum(b, depth - 1) : total;
    }
    """
    body = "Big b; for (int i = 0; i < 40; ++i) b.a[i] = i * threadIdx.x;\n"
    body += "BARRIER y[threadIdx.x] = sum(b, n);"
    y = cp.zeros(5, np.int32)
    for barrier in ("", "__syncthreads();"):
        k = kernel(body.replace("BARRIER", barrier), "int *y, int n", before)
        for n in (0, 3, 50):
            k((1,), (5,), (y, n))
            added = n * (n + 1) // 2  # a call finds as many ones more as there were calls before it
            assert y.tolist() == [780 * t * (n + 1) + added for t in range(5)]


@exact
def test_a_copy_that_is_too_long_for_a_local_array():
    k = kernel("float a[4]; memcpy(a, y, n); y[0] = a[1];", "float *y, int n")
    y = cp.arange(64, dtype=np.float32)
    assert "line 2: writes outside the local array 'a' of 16 bytes" in complaint(k, y, 200)
    k((1,), (1,), (y, 16))
    assert y[0] == 1


@exact
def test_an_overrun_in_an_elementwise_kernel():
    k = cp.ElementwiseKernel(
        "float32 x, int32 n", "float32 y", "float a[5]; fill(a, 0, n); y = x + a[3];", preamble=FILL
    )
    with pytest.raises(KernelError, match="the local array 'a' of 20 bytes, just past its end"):
        k(cp.ones(10, np.float32), 6)
    assert (k(cp.ones(10, np.float32), 5) == 4).all()


@BARRIER
def test_how_much_a_thread_can_hold(barrier):
    body = f"float a[N]; for (int i = 0; i < N; ++i) a[i] = i; {barrier} y[threadIdx.x] = a[N - 3];"
    source = f'extern "C" __global__ void k(float *y) {{ {body} }}'
    y = cp.zeros(33, np.float32)
    fits, too_large = (20_000, 40_000) if barrier else (131_072, 3_000_000)  # floats
    cp.RawKernel(source, "k", (f"-DN={fits}",))((1,), (33,), (y,))
    assert (y == fits - 3).all()
    with pytest.raises(KernelError, match="line 1: more local memory than the stand-in gives"):
        cp.RawKernel(source, "k", (f"-DN={too_large}",))((1,), (33,), (y,))


ENDED = {
    "{ int a = n; p = &a; } y[0] = *p;": True,
    "{ int a[4]; for (int i = 0; i < 4; ++i) a[i] = i; p = a + n; } *p = 5; y[0] = *p;": True,
    "p = last(n); y[0] = *p;": True,
    "auto made = [&]() { int a = n; return [&a]() { return a + 1; }; }; y[0] = made()();": True,
    "kept(n, &p); y[0] = *p;": True,
    "int &r = *p; { int a = n; p = &a; y[0] = *p; } y[1] = r;": False,
    "for (int i = 0; i < n; ++i) { int a[3]; p = a + i % 3; *p = i; y[0] += *p; }": False,
    "int all[5]; { int *q = all + 1; *q = n; p = q; } y[0] = *p;": False,
}


@pytest.mark.skipif(
    compiler.find_compiler().family != "gcc" or compiler.find_compiler().major < 12,
    reason="g++ 12 says so",
)
@pytest.mark.parametrize("body", ENDED)
def test_the_address_of_what_has_ended(body, only_the_standin):
    before = """__device__ int *last(int n) { int a[3]; int *q = a + n % 3; *q = n; return q; }
    __device__ void kept(int n, int **p) { int a[3]; a[n % 3] = n; *p = a; }
    """
    k = kernel(f"int *p = y; {body}", "int *y, int n", before)
    if not ENDED[body]:
        return k.compile()
    with pytest.raises(CompileException, match="error: its scope has ended: .* 'a'"):
        k.compile()


def test_the_size_of_a_local_array_is_a_constant():
    k = kernel("int n = 4;\nfloat a[n]; a[0] = 1; y[0] = a[0];", "float *y")
    with pytest.raises(
        CompileException, match=r"k.cu\(3\): error: .*variable.length array"
    ) as error:
        k((1,), (1,), (cp.zeros(1, np.float32),))
    assert "[-W" not in str(error.value)


# ---- variables of the module -----------------------------------------------------------------


@exact
@pytest.mark.parametrize("kind", ["__device__", "__constant__"])
def test_an_overrun_of_a_variable_of_the_module(kind):
    before = f"{kind} float table[10], other[3];\n"
    y = cp.zeros(1, np.float32)
    if kind == "__device__":  # a kernel only reads the other kind
        k = kernel("fill((float *)table, 0, n); y[0] = table[3] + other[1];", "float *y, int n",
                   before + FILL)  # fmt: skip
        text = complaint(k, y, 11)
        assert "line 3: writes outside 'table' of 40 bytes, 40 bytes from its start" in text
        k((1,), (1,), (y, 10))
        assert y[0] == 3
    k = kernel("y[0] = other[1]; const float *p = table; for (int i = 0; i < n; ++i) y[0] += p[i];",
               "float *y, int n", before)  # fmt: skip
    text = complaint(k, y, 11)
    assert "line 3: reads outside 'table' of 40 bytes, 40 bytes from its start" in text
    k((1,), (1,), (y, 10))
    assert y[0] == 0


FILLED = """__device__ __noinline__ int filled(int n) {
    int a[4], *p = a;
    for (int i = 0; i < n; ++i) p[i] = i;
    return a[2];
}
"""


@pytest.mark.parametrize(
    "variable",
    [
        "__device__ int v = filled(400);",
        "__device__ int v = filled(100000);",
        "__constant__ int w[2] = {1, filled(400)}, v = 3;",
        "struct S { int a; __device__ S(int n) : a(filled(n)) {} };__device__ S s(400);"
        "__device__ int v;",
        "__device__ int endless() { int n = 0; while (true) ++n; return n; }"
        "__device__ int v = endless();",
    ],
)
def test_a_variable_that_would_be_computed(variable, only_the_standin):
    """As on a GPU. It would run when the module is loaded, where nothing catches a fault."""
    shared = "__shared__ int s[3]; s[0] = v; y[0] = s[0];"
    for body in ("y[0] = v;", shared):
        k = kernel(body, "int *y", f"{FILLED}{variable}\n")
        for _ in range(2):
            with pytest.raises(CompileException, match=r"k\.cu\(\d+\): error: dynamic init"):
                k((1,), (1,), (cp.zeros(1, np.int32),))


def test_variables_that_need_no_computing():
    before = """struct Pair { int a; float b; };
    __device__ Pair pair = {3, 1.f / 4};
    __device__ int table[3] = {1, 2, 40}, *last = table + 2;
    __constant__ double half = 2 * 0.25;
    """
    k = kernel(
        "y[0] = pair.a + pair.b + *last + half; __shared__ int s; s = 1;", "float *y", before
    )
    y = cp.zeros(1, np.float32)
    k((1,), (1,), (y,))
    assert y[0] == 43.75


def test_an_array_without_elements():
    k = kernel("y[i] = 1;", "float *y, int i")
    for i in (0, 1000):
        assert "array without elements" in complaint(k, cp.zeros(0, np.float32), i)


# ---- malloc and new --------------------------------------------------------------------------


def test_malloc_and_new():
    """Every thread makes a list of its own; the lists are freed by another launch."""
    source = """
    struct Item {
        int value;
        Item *next;
        __device__ Item(int value, Item *next) : value(value), next(next) {}
    };
    extern "C" __global__ void make(Item **lists, int n) {
        Item *first = nullptr;
        for (int i = 0; i < n; ++i) first = new Item(threadIdx.x * i, first);
        lists[threadIdx.x] = first;
    }
    extern "C" __global__ void sum(Item **lists, int *sums) {
        Item *item = lists[threadIdx.x];
        int *scratch = (int *)malloc(2 * sizeof(int)), total = 0;
        while (item) {
            scratch[1] = item->value;
            total += scratch[1];
            Item *next = item->next;
            delete item;
            item = next;
        }
        free(scratch);
        free(nullptr);
        sums[threadIdx.x] = total;
    }"""
    module = cp.RawModule(code=source)
    lists, sums = cp.zeros(50, np.uint64), cp.zeros(50, np.int32)
    for n in (1, 7, 300):
        module.get_function("make")((1,), (50,), (lists, n))
        module.get_function("sum")((1,), (50,), (lists, sums))
        assert sums.tolist() == [t * n * (n - 1) // 2 for t in range(50)]


@exact
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a[n] = 7;", "line 3: writes memory outside of what malloc or new gave it"),
        (
            "for (int i = 0; i < 100000; ++i) a[i] = 7;",
            "line 3: writes memory outside of what malloc",
        ),
        ("y[0] = a[-1];", "line 3: reads memory outside of what malloc or new gave it"),
        ("free(a); y[0] = a[1];", "line 3: reads memory outside of what malloc or new gave it"),
        ("free(a); free(a);", "line 3: the same memory is freed twice"),
        ("free(a + 4);", "line 3: free or delete of an address that malloc or new did not give"),
        ("delete y;", "line 3: free or delete of an address that malloc or new did not give"),
    ],
)
@pytest.mark.parametrize("how", ["(float *)malloc(n * sizeof(float))", "new float[n]"])
def test_faults_with_malloc(how, body, message):
    k = kernel(f"float *a = {how};\n{body}", "float *y, int n")
    for _ in range(20):
        assert message in complaint(k, cp.zeros(3, np.float32), 5)


def test_the_heap_is_as_small_as_on_a_gpu():
    """8 MiB; what does not fit is a null pointer, and what is freed can be had again."""
    k = kernel(
        """int n = 0;
        void **last = nullptr;
        for (;;) {
            void **piece = (void **)malloc(bytes);
            if (!piece) break;
            *piece = last, last = piece, ++n;
        }
        for (void **next; last; last = next) next = (void **)*last, free(last);
        count[0] = n;""",
        "int *count, long long bytes",
    )
    count = cp.zeros(1, np.int32)
    for bytes_each in (1000, 1 << 20, 8, 1000, 9 << 20, 1 << 62):
        k((1,), (1,), (count, bytes_each))
        most = 8 * 2**20 // bytes_each
        assert (most // 8 if bytes_each == 8 else 0.7 * most) <= int(count[0]) <= most


# ---- what is printed -------------------------------------------------------------------------


def test_a_fault_in_printf_names_the_line(capsys):
    assert re.search("line 2: .*null pointer", complaint(kernel('printf("%s", (char *)8);')))


@pytest.mark.parametrize(
    "arguments",
    [
        '"%zu", 1ul',
        '"%zu %d", 1ul, 2',
        '"%hhd%% %f", 1, 2.0',
        '"%d %hhd", 1, 2',
        '"%.*f", 3, 0.5',
        '"%q"',
    ],
)
def test_what_cudas_printf_misreads(arguments):
    """On an H200 ``%zu`` and ``%q`` came out as they stand, and other numbers were garbage."""
    with pytest.raises(RuntimeError, match="sizes h, l and ll"):
        kernel(f"printf({arguments});")((1,), (1,), ())
    kernel('printf("%5d %-*d %.2f %hd %lld %lu%%", 1, 6, 2, 0.5, 3, 4ll, 5ul);')((1,), (1,), ())


def test_a_printf_that_writes_without_end():
    k = kernel('printf("%*d", width, 1);', "int width")
    with gpuless.time_limit(0.3):
        assert re.search(
            "line 2: printf has written for too long: is a width", complaint(k, 2**31 - 9)
        )
    k((1,), (1,), (3,))


def test_printing_without_end(capsys):
    """A GPU keeps about a mebibyte of it; so does the stand-in, and says what is missing."""
    body = 'for (int i = 0; i < n; ++i) printf("%d of %d\\n", i, n);'
    kernel(body, "int n")((1,), (1,), (200_000,))
    printed = capsys.readouterr().out
    whole = "".join(f"{i} of 200000\n" for i in range(200_000))
    start, note = printed.split("\n[")
    assert whole.startswith(start) and 2**20 - 20 < len(start) <= 2**20
    lost = re.match(r"([\d,]+) more bytes of what 'k' printed are lost", note)
    assert int(lost[1].replace(",", "")) == len(whole) - len(start)
    kernel(body, "int n")((1,), (1,), (2,))
    assert capsys.readouterr().out == "0 of 2\n1 of 2\n"


def test_printing_where_there_is_no_output(monkeypatch):
    """As of ``print``: a program without a window to write to has no ``sys.stdout``."""
    monkeypatch.setattr("sys.stdout", None)
    kernel('printf("%d\\n", n);', "int n")((1,), (1,), (200_000,))
