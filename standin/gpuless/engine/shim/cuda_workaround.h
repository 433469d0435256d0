// Of what CuPy's header brings from CUDA's library into `std`: traits of types, limits, integers by width.
#pragma once
#if __has_include(<type_traits>)
#include <limits>
#include <type_traits>
namespace standin_user {
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
}  // namespace standin_user
#define STANDIN_LEAVE }}
#define STANDIN_ENTER namespace standin_user { namespace {
#elif __has_include(<cuda/std/limits>)  // with NVRTC
#include <cuda/std/limits>
#include <cuda/std/type_traits>
namespace std {
using namespace cuda::std;
}
#else  // ziglang, whose library is not built for this
#error the CPU stand-in has this header with g++ only
#endif
