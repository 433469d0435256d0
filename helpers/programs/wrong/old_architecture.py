"""A generation that this compiler no longer knows."""

from cupy.cuda import compiler

# %% wrong
source = 'extern "C" __global__ void fill(float *x) { x[threadIdx.x] = 1; }'
compiler.compile_using_nvrtc(source, (), arch="30")
