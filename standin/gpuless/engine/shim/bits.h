// What mathematics.h and special.h are made with: how a function is declared, and the bits of numbers.
#pragma once
#include "language.h"

// name(double), namef(float) of the C library, and name for float. As with NVRTC, an integer argument
// is ambiguous. None touches memory, or a kernel would load again behind each what it has in a register.
#define STANDIN_MATH1(name)                                         \
    extern "C" __attribute__((const)) double name(double);          \
    extern "C" __attribute__((const)) float name##f(float);         \
    inline float name(float x) { return name##f(x); }
#define STANDIN_MATH2(name)                      \
    extern "C" double name(double, double);      \
    extern "C" float name##f(float, float);      \
    inline float name(float x, float y) { return name##f(x, y); }
// Functions that CUDA has and the C library has not: a body for double, used for float as well.
#define STANDIN_OWN1(name, expression)                                     \
    inline double name(double x) { return expression; }                    \
    inline float name##f(float single) {                                   \
        double x = single;                                                 \
        return (float)(expression);                                        \
    }                                                                      \
    inline float name(float x) { return name##f(x); }

template <class To, class From>
inline To standin_bits(From x) {
    static_assert(sizeof(To) == sizeof(From), "");
    To y;
    memcpy(&y, &x, sizeof y);
    return y;
}

inline float standin_half_to_float(unsigned short bits) {
    unsigned int magnitude = bits & 0x7fff, sign = (bits & 0x8000u) << 16;
    if (magnitude >= 0x7c00)
        return standin_bits<float>(sign | 0x7f800000u | (magnitude & 0x3ff) << 13);
    if (magnitude >= 0x0400) return standin_bits<float>(sign | ((magnitude << 13) + 0x38000000u));
    float value = magnitude * 0x1p-24f;
    return sign ? -value : value;
}

inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int n) {
    return (unsigned int)(((unsigned long long)high << 32 | low) << (n & 31) >> 32);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int n) {
    return (unsigned int)(((unsigned long long)high << 32 | low) >> (n & 31));
}
