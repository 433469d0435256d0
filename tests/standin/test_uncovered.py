"""What of CUDA is not covered is refused by its name, and not as a slip of the reader's."""

import re
import subprocess

import cupy as cp
import nvrtc
import pytest
from cupy.cuda.compiler import CompileException

import gpuless
from gpuless.engine import compiler, coverage, preprocess, uncovered

pytestmark = pytest.mark.usefixtures("only_the_standin")


def compile_(body, before=""):
    cp.RawKernel(f'{before}extern "C" __global__ void k(float *x) {{\n{body}\n}}', "k").compile()


@pytest.mark.parametrize(
    "body, name",
    [
        ("unsigned v = __vavgs4(1, 2);", "__vavgs4"),
        ("int v = __viaddmax_s32(1, 2, 3);", "__viaddmax_s32"),
        ("__nv_bfloat16 h;", "__nv_bfloat16"),
        ("x[0] = tex2DLod<float>(0, 1, 2, 0);", "tex2DLod"),
        ("__mbarrier_init(0, 1);", "__mbarrier_init"),
    ],
)
def test_names(body, name):
    with pytest.raises(NotImplementedError, match=rf"^k.cu\(2\): .*does not cover {name} of CUDA"):
        compile_(body)


def test_names_of_cooperative_groups():
    with pytest.raises(NotImplementedError, match=r"^k.cu\(4\): .*does not cover this_cluster"):
        compile_(
            "auto c = cg::this_cluster();",
            "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n",
        )


@pytest.mark.parametrize("header", ["cuda_bf16.h", "cuda/barrier", "cub/cub.cuh", "cuda_fp8.h"])
def test_headers(header):
    with pytest.raises(NotImplementedError, match=rf"^k.cu\(1\): .*the header <{header}> of CUDA"):
        compile_("", f"#include <{header}>\n")


def test_a_slip_is_a_slip():
    """Also one that looks like CUDA's, and a function of CUDA's whose header is not included."""
    for body in ("x[0] = __fadd_zz(1.0f, 2.0f);", "half h;", "x[0] = missing(x);"):
        with pytest.raises(CompileException, match=r"k.cu\(2\): error: "):
            compile_(body)


def test_a_reader_may_use_such_a_name():
    compile_("x[0] = __vavgs4(x[1]);", "__device__ float __vavgs4(float x) { return x; }\n")


REFUSED = {
    "dynamic parallelism": "k<<<1, 1>>>(x);",
    "clusters": "}\n__global__ void __cluster_dims__(2, 1, 1) other() {",
    "libcu++": "cuda::barrier<cuda::thread_scope_block> b;",
    "CUB and Thrust": "cub::BlockReduce<float, 32> r;",
    "cuRAND": "curandState s;",
    "long double": "x[0] = 1.5L * x[1];",
}


def test_all_that_is_refused_is_told_and_refused():
    told = gpuless.NOT_COVERED["Inside kernels"]
    assert len(coverage.REFUSED) == len(REFUSED)
    for (_, what), (word, body) in zip(coverage.REFUSED, REFUSED.items(), strict=True):
        assert word in what and what in told
        with pytest.raises(NotImplementedError, match=f"does not cover {re.escape(what)}"):
            compile_(body)


def test_all_that_is_told_as_covered_is_there(only_the_standin):
    told = gpuless.COVERED["Inside kernels"]
    for header in preprocess.HEADERS:
        compile_("x[0] = 1;", f"#include <{header}>\n")
        assert f"`{header}`" in told or header in preprocess.CUPY_HEADERS
    for instruction in (
        "mov.u32 %0, %%warpid;",
        "mov.u32 %0, %%nsmid;",
        "mov.u32 %0, %%lanemask_ge;",
    ):
        compile_(f'unsigned v; asm("{instruction}" : "=r"(v)); x[0] = v;')
        assert re.search(r"%%(\w+?)(_|;)", instruction)[1] in told
    compile_('asm volatile("barrier.sync 0;");')
    assert "barrier.sync 0" in told
    for instruction in ("bar.sync 1;", "bar.sync 0, 64;", "mov.u32 %0, %%dynamic_smem_size;"):
        with pytest.raises(NotImplementedError, match="Covered are"):
            compile_(f'unsigned v; asm("{instruction}" : "=r"(v));')


def unknown_to_the_shim(names, folder):
    """Those of the names that no header of the shim declares, by one run of the compiler."""
    headers = ("half", "pipeline", "cooperative_groups", "wmma", "math_constants", "texture")
    lines = [f'#include "{header}.h"' for header in headers]
    source = folder / "names.cpp"
    source.write_text("\n".join([*lines, *(f"using ::{name};" for name in names)]) + "\n")
    found = compiler.find_compiler()
    command = [*found.command, "-std=c++17", "-fsyntax-only", "-w", f"-I{compiler.SHIM}",
               "-fmax-errors=0" if found.family == "gcc" else "-ferror-limit=0",
               "-include", str(compiler.SHIM / "cuda.h"), str(source)]  # fmt: skip
    said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    unknown = {int(line) for line in re.findall(r"names\.cpp:(\d+):\d+: error", said)}
    return [name for i, name in enumerate(names, len(lines) + 1) if i in unknown]


def test_none_of_the_names_is_there(tmp_path):
    names = sorted(n for n in uncovered.names() if not n.endswith(".h"))
    assert len(names) > 300
    assert unknown_to_the_shim([*names, "__fadd_rn", "half"], tmp_path) == names


def test_every_function_of_the_headers_is_covered_or_listed(tmp_path):
    """Of NVIDIA's headers as far as they are installed."""
    if nvrtc.include_folder("cuda_fp16.h") is None:
        pytest.skip("NVIDIA's headers are not installed")
    files = {
        "cuda_fp16.h": 200, "cuda_bf16.h": 200, "sm_30_intrinsics.h": 10, "sm_32_intrinsics.h": 5,
        "sm_61_intrinsics.h": 2, "cuda_pipeline_primitives.h": 3, "cuda_awbarrier_primitives.h": 10,
    }  # fmt: skip
    names = set()
    for file, at_least in files.items():
        text = (nvrtc.include_folder(file) / file).read_text(errors="replace")
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
        text = re.sub(r"^\s*#.*?$", " ", text, flags=re.MULTILINE)
        declared = r"\b(?:__\w*DECL\w*__|_CUDA\w*QUALIFIER)\b[^;{}()]*?\b([a-z_]\w*)\s*\("
        found = {n for n in re.findall(declared, text) if not re.match(r"_[A-Z]|__[A-Z]", n)}
        assert len(found) >= at_least, file
        names |= found
    missing = unknown_to_the_shim(sorted(names - uncovered.names()), tmp_path)
    private = r"awbarrier_|operator|__internal|__nv_|__syncthreads"
    assert [n for n in missing if not re.match(private, n)] == []
