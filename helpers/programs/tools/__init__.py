"""Four jobs in each of eight tools: what the page "Which tool, and when" measures.

python -m helpers.programs.tools             measure all of them on this machine's GPU; print it
python -m helpers.programs.tools --check     hold all results against NumPy, at odd sizes; no times
python -m helpers.programs.tools cupy_raw    only the tools named

A file is one tool. It has the jobs as functions under fixed names, `add_twice`, `stencil`,
`softmax` and `dense` (see jobs.py), which write into `out` where the tool lets them and return the
result; `put` and `get` bring arrays to the GPU and back, `wait` returns when a result is there,
`versions` says what it is measured with, and `CANNOT` what it cannot do. Copy from them.
"""

import importlib

#: The tools, in the order of the page: the module here, and what the page calls it.
TOOLS = {
    "cupy_arrays": "CuPy: arrays",
    "cupy_kernels": "CuPy: ElementwiseKernel, ReductionKernel, fuse",
    "cupy_raw": "CuPy: RawKernel",
    "numba_kernels": "Numba-CUDA",
    "triton_kernels": "Triton",
    "torch_eager": "PyTorch: eager",
    "torch_compile": "PyTorch: compile",
    "jax_jit": "JAX: jit",
}


def known(names):
    """Return `names` of tools, all of them if there are none; ValueError for one there is not."""
    strangers = [name for name in names if name not in TOOLS]
    if strangers:
        raise ValueError(f"no tool is called {strangers[0]!r}; there are {', '.join(TOOLS)}")
    return list(names) or list(TOOLS)


def load(name):
    """Return the module of the tool `name`; ValueError for one there is not."""
    [name] = known([name])
    return importlib.import_module(f"{__name__}.{name}")
