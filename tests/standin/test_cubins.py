"""Kernels whose numbers are known, as machine code for several GPUs; needs no GPU."""

import ctypes
import io
import struct

import cubins
import cupy_oldest
import nvrtc
import pytest
from cupy._core._launch import CARRAY
from cupy.cuda.compiler import CompileException
from elftools.elf.elffile import ELFFile

from gpuless import nvrtc as compiler

pytestmark = pytest.mark.skipif(
    not nvrtc.is_installed(), reason="needs nvidia-cuda-nvrtc, -runtime and -cccl"
)

# Fifty values that all live at once, read with a barrier between and used in another order.
MANY = """extern "C" __global__ void BOUNDS many(float *x) {
    float a[50];
    for (int turn = 0; turn < 3; turn++) {
#pragma unroll
        for (int i = 0; i < 50; i++) a[i] = x[i * 1024 + threadIdx.x];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 50; i++) x[i * 1024 + threadIdx.x] = a[(i * 7 + 3) % 50] * a[i];
    }
}"""


@pytest.fixture(autouse=True)
def an_empty_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(cubins, "cache_folder", lambda: tmp_path)


def test_shared_memory_launch_bounds_and_arrays_in_memory():
    found = cubins.cubins("""
template <class T> __global__ void __launch_bounds__(256) staged(T *x) {
    __shared__ T tile[33 * 7];
    tile[threadIdx.x % 231] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[threadIdx.x * 7 % 231];
}
extern "C" __global__ void in_memory(float *x, int n) {
    float a[100];  // read at places that only a run knows, so no registers
    for (int i = 0; i < 100; i++) a[i] = x[i];
    for (int i = 0; i < n; i++) a[i * n % 100] += a[i * 37 % 100];
    x[threadIdx.x] = a[n % 100];
}""", expressions=("staged<float>", "staged<double>"))  # fmt: skip
    assert {c.architecture for c in found} == {75, 80, 90, 120}
    assert len(found) == 3 * 4
    for cubin in found:
        known = {
            "_Z6stagedIfEvPT_": (4 * 33 * 7, 0, 256),
            "_Z6stagedIdEvPT_": (8 * 33 * 7, 0, 256),
            "in_memory": (0, 400, None),
        }[cubin.kernel]
        assert (cubin.shared, cubin.stack, cubin.threads) == known, cubin
        assert cubin.spilled == 0 and 4 <= cubin.registers <= 64, cubin


@pytest.mark.skipif(not nvrtc.has_older(), reason="one NVRTC only")
def test_a_kernel_with_launch_bounds_is_compiled_by_an_older_nvrtc_too():
    source = "#define BOUNDS __launch_bounds__(256, 8)\n" + MANY
    *newer, older = cubins.cubins(source)
    assert [cubin.architecture for cubin in newer] == list(cubins.ARCHITECTURES)
    assert older.architecture == cubins.BOUNDED_ON and older.spilled
    assert len(cubins.cubins(source.replace("256, 8", "256, 1"))) == len(newer)


def test_registers_that_do_not_fit_are_spilled():
    """1024 threads leave 64 registers to each, 32 a thread are what an option allows."""
    [free] = cubins.read(*_compiled(MANY, "-DBOUNDS="), 75)
    [few] = cubins.read(*_compiled(MANY, "-DBOUNDS=", "--maxrregcount=32"), 75)
    assert free.registers > 50 and free.spilled == 0
    assert few.registers <= 32 and few.spilled > 2 * 4 * (50 - 32)


@pytest.mark.parametrize("architecture", (75, 90))
def test_registers_are_those_of_the_machine_code(architecture):
    """As the machine code itself states them."""
    log, ptx = _compiled(MANY, "-DBOUNDS=__launch_bounds__(96)", architecture=architecture)
    [cubin] = cubins.read(log, ptx, architecture)
    code = ELFFile(io.BytesIO(_machine_code(MANY, architecture)))
    info = code.get_section_by_name(".nv.info").data()
    # An entry of four-byte words: attribute 0x2f, 8 bytes; the kernel's symbol; its registers.
    _, registers = struct.unpack_from("<II", info, info.index(bytes([4, 0x2F, 8, 0])) + 4)
    assert cubin.registers == registers
    assert cubin.threads == 96


def _compiled(source, *options, architecture=75):
    options = (*options, f"-arch=sm_{architecture}", "--ptxas-options=-v")
    result = nvrtc.compile(source, options)
    assert result.accepted, result.log
    return result.log, result.ptx


def _machine_code(source, architecture) -> bytes:
    library, program, size = compiler._library(), ctypes.c_void_p(), ctypes.c_size_t()
    options = [b"-DBOUNDS=__launch_bounds__(96)", b"-arch=sm_%d" % architecture, b"-std=c++17"]
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"k.cu", 0, None, None)
    library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * 3)(*options))
    library.nvrtcGetCUBINSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    library.nvrtcGetCUBIN(program, code)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return code.raw


@pytest.mark.parametrize(
    "registers, largest",
    # Warps in fours; 64 registers are the most for 1024 threads, 255 leave 256.
    [(16, 1024), (64, 1024), (65, 896), (72, 896), (73, 768), (128, 512), (168, 384), (255, 256)],
)
def test_largest_block(registers, largest):
    cubin = cubins.Cubin("k", 75, registers, shared=0, stack=0, spilled=0, threads=None)
    assert cubin.largest_block == largest


def test_what_is_past_the_limits_is_said():
    def one(**changed):
        numbers = dict(registers=80, shared=0, stack=0, spilled=0, threads=None) | changed
        return cubins.Cubin("k", 80, **numbers).problems()

    assert one(threads=768) == [] == one(shared=49152, threads=256, stack=400)
    [shared] = one(shared=49153, threads=256)
    assert "'k' on sm_80: 49153 bytes of shared memory; the limit is 49152" in shared
    [registers] = one(threads=800)
    assert "80 registers a thread allow 768 threads a block" in registers
    [registers] = one()  # any block may be launched
    assert "768 threads a block; without __launch_bounds__: 1024" in registers
    assert one(registers=64) == []
    generated = cubins.Cubin("k", 80, 144, shared=0, stack=0, spilled=0, threads=None)
    [registers] = generated.problems(cubins.GENERATED)
    assert "144 registers a thread allow 384 threads" in registers
    assert "without __launch_bounds__: 512" in registers
    [spilled] = one(registers=64, spilled=24)
    assert "24 bytes of registers a thread go to memory" in spilled


def test_machine_code_for_less_than_every_gpu():
    source = 'extern "C" __global__ void k() { asm volatile("cp.async.commit_group;"); }'
    with pytest.raises(CompileException, match="refused it for sm_75(.|\n)*sm_80 or higher"):
        cubins.check(source)
    said = "// The copy needs compute capability 8.0.\n" + source
    assert [c.architecture for c in cubins.cubins(said)] == [80, 90, 120]


def test_what_is_known_is_kept(monkeypatch):
    source = 'extern "C" __global__ void k(int *x) { x[0] = N; }'
    first = cubins.cubins(source, ("-DN=1",))
    monkeypatch.setattr(nvrtc, "compile", lambda *args, **kwargs: pytest.fail("compiled again"))
    assert cubins.cubins(source, ("-DN=1",)) == first
    with pytest.raises(pytest.fail.Exception, match="compiled again"):
        cubins.cubins(source, ("-DN=2",))


def test_what_ptxas_refuses():
    """Of what the C++ compiler takes: too much shared memory."""
    source = """extern "C" __global__ void wide(int *x) {
    __shared__ int row[%d];
    row[threadIdx.x] = x[0];
    __syncthreads();
    x[1] = row[threadIdx.x ^ 1];
}"""
    cubins.check(source % 12288)
    with pytest.raises(CompileException, match=r"refused it for sm_75(.|\n)*49156 bytes smem"):
        cubins.check(source % 12289)


@pytest.mark.skipif(not cupy_oldest.is_there(), reason="run python tests/cupy_oldest.py")
def test_headers_of_the_oldest_cupy():
    generated = CARRAY + (
        'extern "C" __global__ void k(CArray<float, 2, 1, 1> _raw_x, CIndexer<2, 1> _ind) {\n'
        "  CUPY_FOR(i, _ind.size()) { _ind.set(i); _raw_x.at(_ind.get()) = %s; }\n}"
    )
    rewritten = cupy_oldest.rewrite(generated)
    assert "cupy/carray.cuh" in rewritten and "_raw_x[_ind.get()]" in rewritten
    cubins.check(generated % "_raw_x.shape()[1] + _raw_x[0]")
    # A member of the shim's own.
    with pytest.raises(CompileException, match="as CuPy 14.0.1 gives it(.|\n)*parameter_"):
        cubins.check(generated % "sizeof(_raw_x.parameter_)")


@pytest.mark.long
@pytest.mark.skipif(not cupy_oldest.is_there(), reason="run python tests/cupy_oldest.py")
def test_the_oldest_cupy_reads_a_kernel_of_ones_own_with_its_headers():
    cubins.check("""#include <cupy/complex.cuh>
extern "C" __global__ void k(complex<double> *z) { z[0] = conj(z[1]) * exp(z[2]); }""")
    cubins.check("""#include <cooperative_groups.h>
extern "C" __global__ void k() { cooperative_groups::this_grid().sync(); }""")
    with pytest.raises(CompileException, match="refused it"):
        cubins.check("""#include <cupy/complex.cuh>
extern "C" __global__ void k(complex<double> *z) { z[0] = z[1] % z[2]; }""")
