// float16: 16 bits in memory, float in arithmetic; conversion rounds to nearest, ties to even.
#ifndef STANDIN_FLOAT16_H
#define STANDIN_FLOAT16_H

class float16 {
 public:
  __device__ float16() : bits_(0) {}
  __device__ float16(float value) : bits_(pack(value)) {}
  __device__ operator float() const { return unpack(bits_); }

  __device__ float16 &operator+=(float value) { return *this = float16(*this + value); }
  __device__ float16 &operator-=(float value) { return *this = float16(*this - value); }
  __device__ float16 &operator*=(float value) { return *this = float16(*this * value); }
  __device__ float16 &operator/=(float value) { return *this = float16(*this / value); }

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

#endif
