// What NVRTC defines before it reads a source. The preprocessor alone sees this file, with none of its
// own compiler's macros; CUDA's words, such as __global__, it leaves as they are.
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define CUDART_VERSION 13000
#define __CUDA_ARCH__ 750
#define __CUDA_ARCH_LIST__ 750
#define __LP64__ 1
#define NULL 0
// Words of CUDA's that are macros there: `#ifndef __launch_bounds__` passes over what is behind it.
#define __device__ __device__
#define __global__ __global__
#define __host__ __host__
#define __shared__ __shared__
#define __constant__ __constant__
#define __managed__ __managed__
#define __grid_constant__ __grid_constant__
#define __launch_bounds__ __launch_bounds__
#define __forceinline__ __forceinline__
#define __noinline__ __noinline__
#define __align__ __align__
#undef __COUNTER__
#undef __TIMESTAMP__
#define assert(...) standin_assert((__VA_ARGS__), #__VA_ARGS__, __LINE__)
