// What a kernel of cupyx.jit sees: arrays, tuples, and operators of Python that C++ has not.
// Every member of an array is one 8-byte word, so the caller can build one as a row of integers.
// The same text is read by the C++ compiler and, as a check, by NVRTC.
#ifndef STANDIN_CUPYX_JIT_H
#define STANDIN_CUPYX_JIT_H

#include "cupy_atomics.h"
#include "float16.h"

namespace jit {

template <typename... T>
struct Tuple {};
template <typename First, typename... Rest>
struct Tuple<First, Rest...> {
  First first;
  Tuple<Rest...> rest;

  Tuple() = default;
  __device__ Tuple(First first, Rest... rest) : first(first), rest(rest...) {}
};

template <int I>
struct Part {
  template <typename T>
  __device__ static const auto &of(const T &tuple) { return Part<I - 1>::of(tuple.rest); }
};
template <>
struct Part<0> {
  template <typename T>
  __device__ static const auto &of(const T &tuple) { return tuple.first; }
};
template <int I, typename T>
__device__ const auto &get(const T &tuple) { return Part<I>::of(tuple); }

template <typename T, int ndim, bool contiguous>
struct Array {
  static const int rank = ndim > 0 ? ndim : 1;  // C++ has no arrays of length 0

  T *data;
  ptrdiff_t size, shape[rank], strides[rank];  // strides in bytes

  // The element at as many indices as there are axes. `name` and `line` are the reader's.
  template <typename... Index>
  __device__ T &at(const char *name, int line, Index... index) const {
    const ptrdiff_t offset = behind(name, line, index...);
    return *reinterpret_cast<T *>(const_cast<char *>(reinterpret_cast<const char *>(data)) + offset);
  }

  // The rest of the axes, where there are fewer indices.
  template <typename... Index>
  __device__ Array<T, ndim - static_cast<int>(sizeof...(Index)), contiguous> part(
      const char *name, int line, Index... index) const {
    const int taken = sizeof...(Index);
    Array<T, ndim - taken, contiguous> rest;
    rest.data = &at(name, line, index...);
    rest.size = 1;
    for (int axis = taken; axis < ndim; ++axis) {
      rest.shape[axis - taken] = shape[axis];
      rest.strides[axis - taken] = strides[axis];
      rest.size *= shape[axis];
    }
    return rest;
  }

 private:
  template <typename... Index>
  __device__ ptrdiff_t behind(const char *name, int line, Index... index) const {
    const ptrdiff_t given[] = {static_cast<ptrdiff_t>(index)..., 0};
    ptrdiff_t offset = 0;
    for (int axis = 0; axis < static_cast<int>(sizeof...(Index)); ++axis) {
#ifndef STANDIN_NVRTC
      if (static_cast<size_t>(given[axis]) >= static_cast<size_t>(shape[axis]))
        standin_fail(STANDIN_FAULT,
                     "line %d: index %lld is outside axis %d of '%s', which has length %lld; a GPU "
                     "would silently read or overwrite other memory",
                     line, static_cast<long long>(given[axis]), axis, name,
                     static_cast<long long>(shape[axis]));
#endif
      offset += given[axis] * (contiguous && axis == ndim - 1 ? sizeof(T) : strides[axis]);
    }
    return offset;
  }
};

// Rounded down, as in Python; by the integer 0 it is 0. As in CuPy's header two small integers are
// taken as the `int` that C++ makes of them.
#define STANDIN_FLOOR_DIVIDE(T)                                           \
  __device__ inline T floor_divide(T x, T y) {                            \
    if (y == 0) return 0;                                                 \
    const T quotient = x / y;                                             \
    return quotient - (quotient * y != x && (x < 0) != (y < 0));          \
  }                                                                       \
  __device__ inline unsigned T floor_divide(unsigned T x, unsigned T y) { \
    return y == 0 ? 0 : x / y;                                            \
  }
STANDIN_FLOOR_DIVIDE(int)
STANDIN_FLOOR_DIVIDE(long long)
__device__ inline float floor_divide(float x, float y) { return floor(x / y); }
__device__ inline double floor_divide(double x, double y) { return floor(x / y); }

// 1 / x**n rounded towards zero where n is negative.
template <typename T>
__device__ T power(T x, T n) {
  T product = 1;
  if (n < 0) return x == 1 ? 1 : x == static_cast<T>(-1) ? (n & 1 ? -1 : 1) : 0;
  for (; n > 0; n >>= 1, x *= x)
    if (n & 1) product *= x;
  return product;
}
template <typename T>
__device__ T complex_power(T x, T n) { return n == T(0) ? T(1) : pow(x, n); }

// Of floating-point numbers; a NaN is the result.
template <typename T>
__device__ T minimum(T x, T y) { return isnan(x) ? x : isnan(y) || y < x ? y : x; }
template <typename T>
__device__ T maximum(T x, T y) { return isnan(x) ? x : isnan(y) || x < y ? y : x; }

template <typename T>
__device__ T gcd(T x, T y) {
  while (y != 0) {
    const T rest = x % y;
    x = y;
    y = rest;
  }
  return x < 0 ? -x : x;
}
template <typename T>
__device__ T lcm(T x, T y) {
  const T divisor = gcd(x, y), product = divisor == 0 ? 0 : x / divisor * y;
  return product < 0 ? -product : product;
}

// The size of a copy whose ends are multiples of N bytes, as the reader says.
template <int N>
__device__ size_t aligned(int line, const void *to, const void *from, size_t bytes) {
#ifndef STANDIN_NVRTC
  if ((reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from)) % N)
    standin_fail(STANDIN_FAULT, "line %d: an end of a copy is not aligned to %d bytes", line, N);
#endif
  return bytes;
}

}  // namespace jit

#endif
