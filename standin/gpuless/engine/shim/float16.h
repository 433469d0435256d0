// float16: 16 bits in memory, float in arithmetic; conversion rounds once to nearest, ties to even. What
// it is made of and how it is assigned is as in CuPy's header: `float16 a = x;` makes a float of a
// double on the way, `a = x;` and `a += x;` do not, and nothing makes one of a `long`, which C++ finds
// as near to one of the constructors as to another.
#ifndef STANDIN_FLOAT16_H
#define STANDIN_FLOAT16_H

// In a kernel of cupyx.jit nobody can name a half, and it would have to wait for that header.
#if __has_include("half.h") && !defined(STANDIN_CUPYX_JIT_H)
#include "half.h"
#elif __has_include(<cuda_fp16.h>) && !defined(STANDIN_CUPYX_JIT_H)  // NVRTC's
#include <cuda_fp16.h>
#else
struct __half;
struct __half_raw;
#endif

class float16 {
 public:
  __device__ float16() : bits_(0xfefe) {}  // a NaN: on a GPU any number
  __device__ float16(float value) : bits_(pack(value)) {}
  explicit __device__ float16(bool value) : bits_(pack(value)) {}
  explicit __device__ float16(double value) : bits_(pack(to_odd(value))) {}
  // Whole numbers that a float has to round are infinite here.
  explicit __device__ float16(int value) : bits_(pack(value)) {}
  explicit __device__ float16(unsigned int value) : bits_(pack(value)) {}
  explicit __device__ float16(long long value) : bits_(pack(value)) {}
  explicit __device__ float16(unsigned long long value) : bits_(pack(value)) {}
  explicit __device__ float16(const __half &value) : bits_(bits_of(value)) {}
  explicit __device__ float16(const __half_raw &value) : bits_(bits_of(value)) {}
  __device__ operator float() const { return unpack(bits_); }

  float16 &operator=(const float16 &) = default;
  template <typename T>
  __device__ float16 &operator=(const T &value) { return *this = static_cast<float16>(value); }
  template <typename T>
  __device__ float16 &operator+=(const T &value) { return *this = *this + value; }
  template <typename T>
  __device__ float16 &operator-=(const T &value) { return *this = *this - value; }
  template <typename T>
  __device__ float16 &operator*=(const T &value) { return *this = *this * value; }
  template <typename T>
  __device__ float16 &operator/=(const T &value) { return *this = *this / value; }

  static const unsigned short nan = 0x7e00u;
  __device__ unsigned short to_bits() const { return bits_; }
  __device__ static float16 from_bits(unsigned short bits) {
    float16 number;
    number.bits_ = bits;
    return number;
  }

  __device__ int iszero() const { return (bits_ & 0x7fffu) == 0; }
  __device__ int isnan() const { return (bits_ & 0x7fffu) > 0x7c00u; }
  __device__ int isinf() const { return (bits_ & 0x7fffu) == 0x7c00u; }
  __device__ int isfinite() const { return (bits_ & 0x7c00u) != 0x7c00u; }
  __device__ int signbit() const { return (bits_ & 0x8000u) != 0; }

  friend __device__ float16 copysign(float16 x, float16 y) {
    return from_bits((x.bits_ & 0x7fffu) | (y.bits_ & 0x8000u));
  }

  // The neighbour among the numbers of 16 bits; of an infinity it is NaN, as in CuPy's header.
  friend __device__ float16 nextafter(float16 x, float16 y) {
    const float from = x, to = y;
    const unsigned short magnitude = x.bits_ & 0x7fffu;
    if (magnitude >= 0x7c00u || to != to) {
      x.bits_ = 0x7e00u;
    } else if (magnitude == 0 && from != to) {
      x.bits_ = static_cast<unsigned short>((y.bits_ & 0x8000u) + 1);
    } else if (from != to) {
      x.bits_ += (from < to) == (from > 0) ? 1 : -1;
    }
    return x;
  }

 private:
  union Word { float number; unsigned int bits; };

  template <typename T>
  __device__ static unsigned short bits_of(const T &half) {
    return reinterpret_cast<const unsigned short &>(half);
  }

  // The nearest float; or, if that is another number, the one of its two neighbours whose last bit is
  // set: it rounds to 16 bits as the double would.
  __device__ static float to_odd(double value) {
    Word word;
    word.number = static_cast<float>(value);
    if (word.number != value && value == value) {
      const double found = word.number;
      if ((found < 0 ? -found : found) > (value < 0 ? -value : value)) --word.bits;
      word.bits |= 1u;
    }
    return word.number;
  }

  __device__ static unsigned short pack(float value) {
    Word word;
    word.number = value;
    const unsigned int sign = word.bits >> 16 & 0x8000u, magnitude = word.bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<unsigned short>(sign | 0x7e00u);   // nan
    if (magnitude >= 0x477ff000u) return static_cast<unsigned short>(sign | 0x7c00u);  // to inf
    if (magnitude < 0x38800000u) {
      // Subnormal: adding 0.5 leaves the value in the low bits, rounded as float addition rounds.
      word.bits = magnitude;
      word.number += 0.5f;
      return static_cast<unsigned short>(sign | (word.bits - 0x3f000000u));
    }
    const unsigned int odd = magnitude >> 13 & 1u;
    return static_cast<unsigned short>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
  }

  __device__ static float unpack(unsigned short half) {
    Word word;
    const unsigned int sign = (half & 0x8000u) << 16, magnitude = half & 0x7fffu;
    if (magnitude >= 0x7c00u) {
      word.bits = sign | 0x7f800000u | (magnitude & 0x3ffu) << 13;
    } else if (magnitude >= 0x0400u) {
      word.bits = sign | ((magnitude << 13) + 0x38000000u);
    } else {
      word.number = static_cast<float>(magnitude) * 5.9604644775390625e-8f;  // 2**-24
      word.bits |= sign;
    }
    return word.number;
  }

  unsigned short bits_;
};

inline __device__ float16 min(float16 x, float16 y) { return float16(min(float(x), float(y))); }
inline __device__ float16 max(float16 x, float16 y) { return float16(max(float(x), float(y))); }
inline __device__ float16 fmin(float16 x, float16 y) { return float16(fmin(float(x), float(y))); }
inline __device__ float16 fmax(float16 x, float16 y) { return float16(fmax(float(x), float(y))); }
inline __device__ int iszero(float16 x) { return x.iszero(); }
inline __device__ int isnan(float16 x) { return x.isnan(); }
inline __device__ int isinf(float16 x) { return x.isinf(); }
inline __device__ int isfinite(float16 x) { return x.isfinite(); }
inline __device__ int signbit(float16 x) { return x.signbit(); }

#endif
