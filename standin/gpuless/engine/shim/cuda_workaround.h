// Of what CuPy's header brings from CUDA's library into `std`: traits of types, and limits.
#pragma once
#if __has_include(<type_traits>)
#include <limits>
#include <type_traits>
#else  // with NVRTC
#include <cuda/std/limits>
#include <cuda/std/type_traits>
namespace std {
using namespace cuda::std;
}
#endif
