// Mathematical functions of CUDA that the C library has not and that take more than a line; and the
// integer functions that are seldom used.
#pragma once
#include "bits.h"

inline double standin_erfinv(double x);
// The x with erfc(x) = y, by Halley's method from Winitzki's approximation; near 1 by way of erf.
inline double standin_erfcinv(double y) {
    if (!(y >= 0 && y <= 2)) return standin_bits<double>(0x7ff8000000000000ll);
    if (y > 1) return -standin_erfcinv(2 - y);
    if (y == 0) return __builtin_inf();
    if (y > 0.5) return standin_erfinv(1 - y);
    double l = log(y) + log1p(1 - y), t = 2 / (3.14159265358979323846 * 0.147) + l / 2;
    double x = sqrt(sqrt(t * t - l / 0.147) - t);
    // Where exp(x^2) is too large, by Newton's method for the logarithm, log(erfcx(x)) - x^2.
    if (y < 1e-300) {
        for (int i = 0; i < 5; ++i) {
            double scaled = erfcx(x);
            x += (log(scaled) - x * x - log(y)) * scaled * 0.88622692545275801365;
        }
        return x;
    }
    for (int i = 0; i < 5; ++i) {
        double step = (y - erfc(x)) * 0.88622692545275801365 * exp(x * x);  // sqrt(pi) / 2
        x -= step / (1 + x * step);
    }
    return x;
}
inline double standin_erfinv(double x) {
    if (fabs(x) >= 0.5) return copysign(standin_erfcinv(1 - fabs(x)), x);
    double z = x * 0.88622692545275801365 * (1 + 0.26179938779914943654 * x * x);  // pi / 12
    for (int i = 0; i < 4; ++i) {
        double step = (erf(z) - x) * 0.88622692545275801365 * exp(z * z);
        z -= step / (1 + z * step);
    }
    return z;
}
// The modified Bessel function of order 0 or 1, by its series of positive terms.
inline double standin_bessel(double x, int order) {
    double term = order ? x / 2 : 1, sum = term;
    for (int k = 1; k < 2000 && fabs(term) > 1e-18 * fabs(sum); ++k)
        sum += term *= x / 2 * (x / 2) / k / (k + order);
    return sum;
}
STANDIN_OWN1(erfcinv, standin_erfcinv(x))
STANDIN_OWN1(erfinv, standin_erfinv(x))
STANDIN_OWN1(normcdfinv, 0 - 1.41421356237309504880 * standin_erfcinv(2 * x))
STANDIN_OWN1(cyl_bessel_i0, standin_bessel(x, 0))
STANDIN_OWN1(cyl_bessel_i1, standin_bessel(x, 1))

// CUDA has no Bessel functions of a negative order; and near 0 its recurrence comes to inf - inf.
namespace standin_c {
extern "C" double jn(int, double);
extern "C" double yn(int, double);
}  // namespace standin_c
inline double jn(int n, double x) {
    return n < 0 || (n > 1 && fabs(x) < 3.8e-39) ? __builtin_nan("") : standin_c::jn(n, x);
}
inline double yn(int n, double x) { return n < 0 ? __builtin_nan("") : standin_c::yn(n, x); }
inline float jnf(int n, float x) {
    return n > 1 && fabsf(x) < 4e-17f ? __builtin_nanf("") : (float)jn(n, (double)x);
}
inline float ynf(int n, float x) { return (float)yn(n, (double)x); }
inline float jn(int n, float x) { return jnf(n, x); }
inline float yn(int n, float x) { return ynf(n, x); }
// Of the quotient three bits and the sign; the C library may give a fourth.
inline int standin_three_bits(int whole) { return whole < 0 ? -(-whole & 7) : whole & 7; }
inline double remquo(double x, double y, int *quotient) {
    int whole = 0;
    double rest = __builtin_remquo(x, y, &whole);
    return *quotient = standin_three_bits(whole), rest;
}
inline float remquof(float x, float y, int *quotient) {
    int whole = 0;
    float rest = __builtin_remquof(x, y, &whole);
    return *quotient = standin_three_bits(whole), rest;
}
inline float remquo(float x, float y, int *quotient) { return remquof(x, y, quotient); }
inline int standin_exponent(long n) { return n > 9999 ? 9999 : n < -9999 ? -9999 : (int)n; }
inline double scalbln(double x, long n) { return scalbn(x, standin_exponent(n)); }
inline float scalblnf(float x, long n) { return scalbnf(x, standin_exponent(n)); }
inline float scalbln(float x, long n) { return scalblnf(x, n); }
inline double nan(const char *) { return standin_bits<double>(0x7ff8000000000000ll); }
inline float nanf(const char *) { return standin_bits<float>(0x7fffffff); }

template <class T>
inline double standin_norm(int count, const T *p, double scale = 1) {
    double norm = 0;
    for (int i = 0; i < count; ++i) norm = hypot(norm, p[i] * scale);
    return norm;
}
template <class T>
inline double standin_rnorm(int count, const T *p) {  // a length may be beyond the largest number
    const double norm = standin_norm(count, p);
    return norm < 0x1p1023 ? 1 / norm : 0x1p-20 / standin_norm(count, p, 0x1p-20);
}
#define STANDIN_NORMS(type, suffix)                                                               \
    inline type norm##suffix(int n, const type *p) { return (type)standin_norm(n, p); }           \
    inline type rnorm##suffix(int n, const type *p) { return (type)standin_rnorm(n, p); }         \
    inline type rnorm3d##suffix(type x, type y, type z) {                                         \
        const type all[] = {x, y, z};                                                             \
        return rnorm##suffix(3, all);                                                             \
    }                                                                                             \
    inline type norm4d##suffix(type x, type y, type z, type w) {                                  \
        const type all[] = {x, y, z, w};                                                          \
        return norm##suffix(4, all);                                                              \
    }                                                                                             \
    inline type rnorm4d##suffix(type x, type y, type z, type w) {                                 \
        const type all[] = {x, y, z, w};                                                          \
        return rnorm##suffix(4, all);                                                             \
    }
STANDIN_NORMS(double, )
STANDIN_NORMS(float, f)

// Averages without overflow, rounded down and (r) up.
inline int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
inline int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
inline unsigned int __uhadd(unsigned int x, unsigned int y) {
    return (unsigned int)(((unsigned long long)x + y) >> 1);
}
inline unsigned int __urhadd(unsigned int x, unsigned int y) {
    return (unsigned int)(((unsigned long long)x + y + 1) >> 1);
}
inline unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) {
    return (x > y ? x - y : y - x) + z;
}
inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int n) {
    return n >= 32 ? low : __funnelshift_l(low, high, n);
}
inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int n) {
    return n >= 32 ? high : __funnelshift_r(low, high, n);
}
// c and the products of four bytes side by side.
template <class Byte, class T>
inline T standin_dp4a(T a, T b, T c) {
    for (int i = 0; i < 4; ++i)
        c += (T)((int)(Byte)((unsigned int)a >> 8 * i) * (int)(Byte)((unsigned int)b >> 8 * i));
    return c;
}
inline int __dp4a(int a, int b, int c) { return standin_dp4a<signed char>(a, b, c); }
inline unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
    return standin_dp4a<unsigned char>(a, b, c);
}
inline int __dp4a(char4 a, char4 b, int c) { return __dp4a(standin_bits<int>(a), standin_bits<int>(b), c); }
inline unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
    return __dp4a(standin_bits<unsigned int>(a), standin_bits<unsigned int>(b), c);
}
// c and the products of two numbers of 16 bits with the lower two bytes of b, or the upper two.
template <class Word, class Byte, class T>
inline T standin_dp2a(T a, T b, T c) {
    for (int i = 0; i < 2; ++i)
        c += (T)((int)(Word)((unsigned int)a >> 16 * i) * (int)(Byte)((unsigned int)b >> 8 * i));
    return c;
}
#define STANDIN_DP2A(name, shift)                                                                        \
    inline int name(int a, int b, int c) {                                                               \
        return standin_dp2a<short, signed char>(a, b >> shift, c);                                       \
    }                                                                                                    \
    inline unsigned int name(unsigned int a, unsigned int b, unsigned int c) {                           \
        return standin_dp2a<unsigned short, unsigned char>(a, b >> shift, c);                            \
    }                                                                                                    \
    inline int name(short2 a, char4 b, int c) {                                                          \
        return name(standin_bits<int>(a), standin_bits<int>(b), c);                                      \
    }                                                                                                    \
    inline unsigned int name(ushort2 a, uchar4 b, unsigned int c) {                                      \
        return name(standin_bits<unsigned int>(a), standin_bits<unsigned int>(b), c);                    \
    }
STANDIN_DP2A(__dp2a_lo, 0)
STANDIN_DP2A(__dp2a_hi, 16)
// The place of the offset-th set bit of mask from bit `base` on: upwards, or downwards if negative.
inline unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
    int step = offset < 0 ? -1 : 1, wanted = offset == 0 ? 1 : offset * step;
    for (int i = (int)base; i >= 0 && i < 32; i += step) {
        if (mask >> i & 1 && --wanted == 0) return (unsigned int)i;
        if (offset == 0) break;
    }
    return ~0u;
}
