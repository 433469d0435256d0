"""Chapter 47's cluster kernel, which the stand-in cannot run: NVIDIA's own compiler reads it."""

import nvrtc
import pytest

import helpers  # noqa: F401  (serves cupy where there is none)
from helpers.press import export
from helpers.programs import oja_cluster

pytestmark = pytest.mark.skipif(
    not nvrtc.is_installed(), reason="needs nvidia-cuda-nvrtc, -runtime and -cccl"
)
HOPPER = ("-arch=sm_90",)
chapter = export.load("oja_on_chip")


def cluster_source(n):
    return oja_cluster.source(n, chapter.send_code + chapter.sums_code)


def test_the_cluster_kernel_compiles():
    nvrtc.check(cluster_source(33), HOPPER, "one_cluster")


@pytest.mark.long
def test_an_older_gpu_is_refused():
    """So the comment in the source says truly what it needs."""
    import cupy as cp

    source = cluster_source(33)
    assert "// needs compute capability 9.0" in source
    with pytest.raises(cp.cuda.compiler.CompileException):
        nvrtc.check(source, ("-arch=sm_80",), "one_cluster")
