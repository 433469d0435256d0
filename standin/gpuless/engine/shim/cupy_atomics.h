// What CuPy's <cupy/atomics.cuh> has beside CUDA's atomic functions. Of `_block` and `_system` there
// is none. NVRTC only checks what is written here, and runs nothing of it.
#ifndef STANDIN_CUPY_ATOMICS_H
#define STANDIN_CUPY_ATOMICS_H

#include "carray.h"

#ifdef STANDIN_NVRTC
#define STANDIN_CUPY_ATOMIC(name, type, expression)          \
  inline __device__ type name(type *address, type value) {   \
    type old = *address;                                     \
    *address = expression;                                   \
    return old;                                              \
  }
#else
#define STANDIN_CUPY_ATOMIC(name, type, expression) \
  STANDIN_ATOMIC_AS(name, STANDIN_ALL, type, expression)
#endif

#define STANDIN_UNSIGNED(x) static_cast<unsigned long long>(x)
STANDIN_CUPY_ATOMIC(atomicAdd, long long, (long long)(STANDIN_UNSIGNED(old) + STANDIN_UNSIGNED(value)))
// Of two float16; a template, so that no other number becomes one.
template <typename T>
struct StandinFloat16 {};
template <>
struct StandinFloat16<float16> { typedef float16 type; };
template <typename T, typename = typename StandinFloat16<T>::type>
STANDIN_CUPY_ATOMIC(atomicAdd, T, static_cast<T>(old + value))
// A NaN counts for nothing; and CuPy rounds a double to a float.
STANDIN_CUPY_ATOMIC(atomicMax, float, fmaxf(value, old))
STANDIN_CUPY_ATOMIC(atomicMin, float, fminf(value, old))
STANDIN_CUPY_ATOMIC(atomicMax, double, fmaxf(static_cast<float>(value), static_cast<float>(old)))
STANDIN_CUPY_ATOMIC(atomicMin, double, fminf(static_cast<float>(value), static_cast<float>(old)))

#endif
