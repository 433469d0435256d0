"""NVRTC's options: those that it takes are taken, and those that it refuses are refused."""

import cupy as cp
import nvrtc
import pytest
from cupy.cuda.compiler import CompileException

from gpuless.engine import CompileError
from gpuless.engine.options import parse
from gpuless.engine.preprocess import preprocess

SOURCE = 'extern "C" __global__ void k(float *y) { y[0] = 1; }'
TAKEN = """-dc|-dw|--device-c|-ewp|-G|--device-debug|-lineinfo|--generate-line-info|-use_fast_math
--use_fast_math|-extra-device-vectorization|-no-cache|--no-source-include|-w
--disable-warnings|-Wreorder|--restrict|-restrict|-default-device|-device-int128|-err-no
--device-as-default-execution-space|--no-display-error-number|--minimal|-minimal|-uumn
-arch sm_80|-arch=sm_75|-arch=compute_80|--gpu-architecture=compute_75|--gpu-architecture sm_90a
-arch=sm_100f|-arch=sm_121a|-rdc=true|-rdc true|--relocatable-device-code=false|-dopt on|--dopt=on
-Xptxas -v|-Xptxas=-O1|--ptxas-options -v|-maxrregcount=32|--maxrregcount 32|-maxrregcount=-3
-maxrregcount=|-ftz=true|-ftz true|-prec-sqrt=false|--prec-div=true|-fmad=false|-jtd=50|-jtd 101
--jump-table-density=0|--device-stack-protector=true|-modify-stack-limit=false|-split-compile=2
-D A|-DA|-D=A|-DA=|-DA=1|-DA(x)=x+1|--define-macro=A|--define-macro A|-U A|-UA|-U=A
--undefine-macro=A|-I/tmp|-I /tmp|-I=/tmp|--include-path=/tmp|--include-path /tmp|-std=c++03
-std=c++11|--std=c++14|-std=c++17|--std=c++20|-std=c++23|-builtin-move-forward=true
--builtin-initializer-list=false|-opt-info=inline|--optimization-info=inline|-diag-error=20
-diag-suppress=177,20|--diag-suppress=1|-diag-warn 177|-brief-diag=true|-Werror=reorder
--warning-as-error=all-warnings|-Werror reorder|-Ofc=0|-Ofc min|-frandom-seed=3|--pch-dir=/tmp
-ftz=true -ftz=false|-std=c++11 -std=c++17"""
REFUSED = """-O3|-O0|-O|-Wall|-foo|foo|--foo=1|-g|--line-info|--use-fast-math|-Wno-foo|-Xcompiler x
-m64|-E|-v|--verbose|-c|-ptx|-o x|-ffast-math|-fopenmp|--expt-relaxed-constexpr|--extended-lambda
-gpu-architecture=sm_80|-define-macro=A|-disable-warnings|-generate-line-info|-default-stream x
-arch=sm_70|-arch=sm_999|-arch=native|-arch=|-arch=lto_80|-rdc=maybe|-dopt=off|-maxrregcount=abc
-maxrregcount=0x10|-ftz=1|-ftz=|-ftz= true|--fmad=on|-jtd=102|-jtd=-1|-jtd=abc|-split-compile=-1
-std=c++98|-std=gnu++17|-std=c++2a|-std=c++26|-std c++17|--std c++17|--std|-time|-frandom-seed 3
-pch-dir /tmp|-restrict=true|-w=true|-lineinfo=true|-use_fast_math=true|-Ofc=3|-Ofast-compile=max
-diag-suppress=abc|-diag-suppress=-1|-opt-info=foo|-Werror=foo|--Werror=reorder|-DA-B=1|-D1A|-U 1
-DA =1"""


def cases(text):
    return [case for line in text.split("\n") for case in line.split("|")]


@pytest.mark.parametrize("given", cases(TAKEN))
def test_an_option_that_nvrtc_takes(given):
    words = (given,) if given == "-I /tmp" else tuple(given.split(" "))
    parse(words)
    if nvrtc.is_installed():
        assert nvrtc.compile(SOURCE, words).accepted


@pytest.mark.parametrize("given", cases(REFUSED))
def test_an_option_that_nvrtc_refuses(given):
    words = (given,) if given in ("-ftz= true", "-DA =1") else tuple(given.split(" "))
    with pytest.raises(CompileError) as caught:
        parse(words)
    if nvrtc.is_installed():
        done = nvrtc.compile(SOURCE, words)
        assert not done.accepted
        # In its words, as far as these do not count the names of one option.
        if "unrecognized option" in done.log:
            assert done.log.split("\n")[0] == str(caught.value).strip()


@pytest.mark.parametrize("given", ["-dlto", "--dlink-time-opt", "-optix-ir"])
def test_an_option_by_which_nvrtc_makes_no_cubin(given, only_the_standin):
    with pytest.raises(CompileException, match=f"{given} makes no cubin"):
        cp.RawKernel(SOURCE, "k", (given,)).compile()


def test_every_kind_of_kernel_refuses_it_as_cupy_does(only_the_standin):
    x = cp.arange(4, dtype="f4")
    kernels = [
        lambda: cp.RawKernel(SOURCE, "k", ("-O3",))((1,), (1,), (x,)),
        lambda: cp.RawModule(code=SOURCE, options=("-O3",)).get_function("k"),
        lambda: cp.ElementwiseKernel("T x", "T y", "y = x", "k", options=("-O3",))(x),
        lambda: cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", options=("-O3",))(x),
    ]
    for call in kernels:
        with pytest.raises(CompileException, match="^nvrtc: error: unrecognized option -O3 found"):
            call()


def test_a_header_that_is_read_first(tmp_path):
    header = tmp_path / "first.h"
    for value, words in enumerate((("-include", str(header)), (f"--pre-include={header}",))):
        header.write_text(f"#define FIRST {value}\n")
        y = cp.ones(1, "f4")
        source = 'extern "C" __global__ void k(float *y) { y[0] = FIRST; }'
        cp.RawKernel(source, "k", words)((1,), (1,), (y,))
        assert y[0] == value
    with pytest.raises(CompileException, match="absent.h"):
        cp.RawKernel(source, "k", ("-include=absent.h",)).compile()


def test_a_header_by_its_full_path_is_read_each_time(tmp_path):
    header = tmp_path / "here.h"
    for text in ("int a;", "int b;"):
        header.write_text(text)
        assert text in preprocess(f'#include "{header}"\n', "k", parse(())).text
