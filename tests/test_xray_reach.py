"""How far the x-ray looks: at parts of an element, at memory that no argument names, and at all who
read an element."""

import helpers  # first: it decides who answers to `import cupy`

# isort: split
import cupy as cp
import numpy as np
import pytest

from gpuless.xray.machine.build import can_compile

pytestmark = [
    pytest.mark.long,  # the kernels are compiled for the x-ray, one by one
    pytest.mark.skipif(not can_compile(), reason="the x-ray needs g++ on x86-64"),
]
BARRIER = "__syncthreads();"


def look(text, *args, head="", parameters="const float *x, float *y", threads=64, blocks=2):
    """The x-ray of a kernel whose body begins in line 3."""
    code = f"""{head}
extern "C" __global__ void k({parameters}) {{ int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
{text}
}}"""
    args = args or (cp.arange(4096, dtype="f4"), cp.zeros(4096, "f4"))
    return helpers.xray(cp.RawKernel(code, "k"), (blocks,), (threads,), args)


def found(text, *args, **more):
    """Kind, array and lines of each finding that does harm."""
    return {
        (r.kind, r.array, *sorted({r.first.line, r.second.line}))
        for r in look(text, *args, **more).races
        if not r.harmless
    }


# ---- parts of an element -------------------------------------------------------------------------

# Line 3 writes, @ is where a barrier belongs, and the last line looks.
PARTS = {
    "one half for all": ("__shared__ half s[64]; s[t] = x[i];\n@ y[i] = s[0];", "s"),
    "half of each pair": ("__shared__ half s[64]; s[t] = x[i];\n@ y[i] = s[t & ~1];", "s"),
    "a byte of four": (
        "__shared__ unsigned char s[64]; s[t] = t;\n@ y[i] = s[t & ~3];",
        "s",
    ),
    "a flag for a warp": (
        "__shared__ bool s[4]; if (t % 16 == 0) s[t / 16] = t > 3;\n@ if (t == 63) y[i] = s[0];",
        "s",
    ),
    "counts without atomics": (
        "__shared__ unsigned char s[16]; if (t < 16) s[t] = 0; __syncthreads(); if (t < 32)\n"
        "s[t % 4 * 4]++; @ if (t > 31) y[i] = s[t % 4 * 4];",
        "s",
    ),
    "halves in an array of float": (
        "half *s = (half *)y + 256 * blockIdx.x; s[t] = x[i];\n@ y[2000 + i] = s[t & ~1];",
        "y",
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_two_threads_at_a_part_of_a_word(name):
    text, array = PARTS[name]
    head = "#include <cuda_fp16.h>"
    races = found(text.replace("@", ""), head=head)
    assert {race[:2] for race in races} == {("race", array)}
    if "atomics" not in name:
        assert races == {("race", array, 3, 4)}
        assert not found(text.replace("@", BARRIER), head=head)


@pytest.mark.parametrize("dtype, ctype", [("c8", "float"), ("c16", "double"), ("f8", "int")])
def test_parts_of_an_element_are_told_apart(dtype, ctype):
    """Each thread writes a half of an element: no race, until one reads the other half."""
    text = f"{ctype} *p = ({ctype} *)y; p[i] = 1;\n"
    more = {"parameters": "void *y"}
    assert not found(text, cp.zeros(64, dtype), **more)
    read = text + "if (i % 2) p[i] += p[i - 1];"
    assert found(read, cp.zeros(64, dtype), **more) == {("race", "y", 3, 4)}


def test_a_byte_that_nobody_has_written_and_the_padding_of_a_struct():
    text = "__shared__ unsigned char s[64]; if (t % 4) s[t] = 1;\n__syncthreads();\ny[i] = s[t];"
    assert found(text, blocks=1) == {("unwritten", "s", 5)}
    padded = """struct A { char a; int b; }; __shared__ A s[64];
s[t].a = 1; s[t].b = t; __syncthreads();
A mine = s[63 - t]; y[i] = mine.b + mine.a;"""
    assert not look(padded).races


BEST = "struct Best { double value; int at; };"
LARGEST = """s[t].value = x[i]; s[t].at = i;
for (int d = 32; d; d /= 2) { @
if (t < d && s[t + d].value > s[t].value) s[t] = s[t + d]; }
if (t == 0) y[blockIdx.x] = s[0].at;"""


@pytest.mark.parametrize("memory", ["__shared__ Best s[64];", "extern __shared__ Best s[];"])
def test_the_padding_behind_a_member_is_nobodys_to_write(memory):
    """Of the largest value and its place, which lie in 12 of 16 bytes."""
    x, y = cp.arange(128, dtype="f4"), cp.zeros(2, "f4")

    def kernel(text):
        return cp.RawKernel(
            f"""{BEST} extern "C" __global__ void k(const float *x, float *y) {{
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t; {memory}
{text}
}}""",
            "k",
        )

    right = kernel(LARGEST.replace("@", BARRIER))
    right((2,), (64,), (x, y), shared_mem=1024)
    assert y.tolist() == [63, 127]
    assert not helpers.xray(right, (2,), (64,), (x, y), shared_mem=1024).races
    wrong = kernel(LARGEST.replace("@", ""))
    seen = helpers.xray(wrong, (2,), (64,), (x, y), shared_mem=1024)
    assert "race" in {race.kind for race in seen.races}


def test_a_member_that_nobody_has_written_is_no_padding():
    text = "__shared__ Best s[64]; s[t].value = x[i];\n__syncthreads();\n"
    text += "Best mine = s[63 - t]; y[i] = mine.at;"
    assert found(text, head=BEST) == {("unwritten", "s", 5)}


# ---- memory that no argument names ---------------------------------------------------------------


def addresses(kind, array):
    """Arguments and parameters of a kernel that comes to an array by its address."""
    address = array.data.ptr
    if kind == "an array":
        return (cp.array([address], "u8"),), "float **q", "float *p = q[0];"
    if kind == "a struct":
        held = np.array((address, 64, 0), [("p", "u8"), ("n", "i4"), ("rest", "i4")])
        return (held[()],), "A a", "float *p = a.p;"
    return (np.uint64(address),), "float *p", ""


@pytest.mark.parametrize("kind", ["an array", "a struct", "an integer"])
def test_an_array_behind_an_address(kind):
    head = "struct A { float *p; int n; };"
    array = cp.zeros(256, "f4")
    args, parameters, text = addresses(kind, array)
    more = {"parameters": parameters, "head": head}
    seen = look(text + "\np[i / 2] += i;", *args, **more)
    assert {(r.array, r.second.line) for r in seen.races} == {("an array behind an address", 4)}
    assert "is no copy: what was written there stays" in str(seen)
    seen = look(text + "\np[i] += i;", *args, **more)
    assert not seen.races
    (load,) = (a for a in seen.accesses if a.array != "q" and a.kind == "load")
    assert load.sectors == 128 * 4 // 32
    assert "is no copy" not in str(look(text + "\nif (p[i] < -1) __trap();", *args, **more))


def test_an_array_that_is_given_and_found_by_an_address():
    array, other = cp.zeros(256, "f4"), cp.zeros(256, "f4")
    for given, is_told in ((array, True), (other, False)):
        args = cp.array([array.data.ptr], "u8"), given
        seen = look("q[0][i] = y[i ^ 1];", *args, parameters="float **q, float *y")
        assert ("a race between the two is not seen" in str(seen)) == is_told


GIVEN_AWAY = {
    "read": "__shared__ float *p; float l[2] = {x[i], 1}; if (t == 5) p = l; __syncthreads();\n"
    "y[i] = p[t % 2];",
    "added to": "__shared__ float *p; float l = 0; if (t == 0) p = &l; __syncthreads();\n"
    "atomicAdd(p, 1.f);\n__syncthreads(); y[i] = l;",
    "by a shuffle": "float l = x[i]; auto a = (unsigned long long)&l;\n"
    "y[i] = *(float *)__shfl_sync(~0u, a, 0);",
}


@pytest.mark.parametrize("name", GIVEN_AWAY)
def test_a_local_variable_of_another_thread(name):
    with pytest.raises(RuntimeError, match=r"line 4 .* touches a local variable of that thread"):
        look(GIVEN_AWAY[name])


def test_a_local_variable_of_ones_own_by_its_address():
    text = "float l[8]; for (int k = 0; k < 8; k++) l[k] = x[k]; float *volatile p = l;\n"
    assert not look(text + "__syncthreads(); y[i] = p[t % 8];").races


def test_a_static_variable_of_a_function_is_not_looked_at():
    head = "__device__ int next() { static int n = 0; return n++; }"
    assert "Not looked at: memory of no name in line 1 (`__device__ int next()" in str(
        look("y[i] = next();", head=head)
    )
    constant = "__device__ int of(int k) { static const int n[2] = {3, 4}; return n[k]; }"
    assert "Not looked at" not in str(look("y[i] = of(t % 2);", head=constant))


CALLS = """typedef void (*F)(float *, int); __device__ void one(float *y, int t) { y[7] = t; }
__device__ void two(float *y, int t) { y[t] = t; } __device__ float some[4];
__device__ F f[2] = {two, one}, later; __constant__ F c = one; __device__ float *p = some;
extern "C" __global__ void set() { later = one; }
extern "C" __global__ void k(float *y, F *given) { CALL; }"""


@pytest.mark.parametrize(
    "call, array",
    [("f[1](y, threadIdx.x)", "y"), ("c(y, threadIdx.x)", "y"), ("p[0] = threadIdx.x", "some")],
)
def test_what_a_variable_points_to(call, array):
    module = cp.RawModule(code=CALLS.replace("CALL", call))
    for _ in range(2):  # it holds the same behind an x-ray
        seen = helpers.xray(
            module.get_function("k"), (1,), (64,), (cp.zeros(64, "f4"), cp.zeros(1, "u8"))
        )
        assert [race.array for race in seen.races] == [array] and not seen.notes


def test_functions_whose_addresses_were_left_elsewhere():
    module = cp.RawModule(code=CALLS.replace("CALL", "given[1](y, threadIdx.x)"))
    there = cp.ndarray(2, "u8", module.get_global("f")).copy()
    kernel, y = module.get_function("k"), cp.zeros(64, "f4")
    assert "Not looked at: what is called by an address that lies in 'given'" in str(
        helpers.xray(kernel, (1,), (64,), (y, there))
    )
    module.get_function("set")((1,), (1,), ())
    with pytest.raises(NotImplementedError, match="has put into 'later'"):
        helpers.xray(kernel, (1,), (64,), (y, there))


# ---- all who read --------------------------------------------------------------------------------

# Four wait for by a flag; one of them, @, has no fence before it.
WARPS = """__shared__ int flag; __shared__ float d; if (t == 0) { flag = 0; d = x[0]; }
__syncthreads(); int w = t / 32;
if (w) { if (t % 32 == 0) { float v = d;
y[t] = v; if (w != @) __threadfence_block(); atomicAdd(&flag, 1); } }
else if (t == 0) { while (atomicAdd(&flag, 0) < 4); __threadfence_block();
d = 2; }"""
BLOCKS = """int *flag = (int *)(y + 4000);
if (blockIdx.x) { if (t == 0) { float v = y[0];
y[100 + blockIdx.x] = v; if (blockIdx.x != @) __threadfence(); atomicAdd(flag, 1); } }
else if (t == 0) { while (atomicAdd(flag, 0) < 4); __threadfence();
y[0] = 2; }"""


@pytest.mark.parametrize("who", range(5))
@pytest.mark.parametrize("text", [WARPS, BLOCKS], ids=["warps", "blocks"])
def test_a_writer_that_waits_for_all_readers_but_one(text, who):
    shape = {"blocks": 1, "threads": 160} if text is WARPS else {"blocks": 5, "threads": 32}
    races = found(text.replace("@", str(who)), **shape)
    array, lines = ("d", (5, 8)) if text is WARPS else ("y", (4, 7))
    assert races == ({("race", array, *lines)} if who else set())
