"""Machine code for a GPU of another generation."""

import pathlib
import tempfile

import cupy as cp
from cupy.cuda import nvrtc

source = 'extern "C" __global__ void fill(float *x) { x[threadIdx.x] = 1; }'

# %% wrong
program = nvrtc.createProgram(source, "fill.cu", (), ())
here = int(cp.cuda.Device().compute_capability)
nvrtc.compileProgram(program, (f"--gpu-architecture=sm_{75 if here != 75 else 80}",))
file = pathlib.Path(tempfile.mkdtemp(), "fill.cubin")
file.write_bytes(nvrtc.getCUBIN(program))
cp.RawModule(path=str(file)).get_function("fill")

# %% mended
fill = cp.RawKernel(source, "fill")  # CuPy compiles for the GPU at hand
fill((1,), (256,), (cp.zeros(256, "float32"),))
