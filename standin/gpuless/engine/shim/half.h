// cuda_fp16.h: __half and __half2. Each operation is worked out in double, where sums, products and
// quotients of such numbers lose nothing that counts, and rounded once.
#pragma once
#include "bits.h"

// way: rint, trunc, floor or ceil.
inline unsigned short standin_to_half(double x, double (*way)(double)) {
    if (isnan(x)) return 0x7fff;
    unsigned short sign = signbit(x) ? 0x8000 : 0;
    if (isinf(x)) return sign | 0x7c00;
    if (x == 0) return sign;
    int exponent = ilogb(x) < -14 ? -14 : ilogb(x);
    double units = fabs(way(ldexp(x, 10 - exponent)));  // of the last place: at most 2048
    if (exponent <= 15 && ldexp(units, exponent - 10) < 65536)
        return sign | (unsigned short)(((exponent + 14) << 10) + (int)units);
    // Beyond the largest number: that, or infinity if the way leads there.
    bool outwards = way(x < 0 ? -0.75 : 0.75) != 0;
    return sign | (outwards ? 0x7c00 : 0x7bff);
}

struct __half_raw {
    unsigned short x;
};

struct __half {
    unsigned short standin_word;

    __half() = default;
    __half(__half_raw raw) : standin_word(raw.x) {}
    operator __half_raw() const { return {standin_word}; }
#define STANDIN_HALF_FROM(type) \
    __half(type x) : standin_word(standin_to_half((double)x, rint)) {}
    STANDIN_HALF_FROM(float) STANDIN_HALF_FROM(double) STANDIN_HALF_FROM(short)
    STANDIN_HALF_FROM(unsigned short) STANDIN_HALF_FROM(int) STANDIN_HALF_FROM(unsigned int)
    STANDIN_HALF_FROM(long) STANDIN_HALF_FROM(unsigned long) STANDIN_HALF_FROM(long long)
    STANDIN_HALF_FROM(unsigned long long)
    operator float() const { return standin_half_to_float(standin_word); }
    operator bool() const { return (standin_word & 0x7fff) != 0; }
#define STANDIN_HALF_TO(type) \
    operator type() const { return standin_to_integer<type>(truncf((float)*this)); }
    STANDIN_HALF_TO(signed char) STANDIN_HALF_TO(unsigned char) STANDIN_HALF_TO(char)
    STANDIN_HALF_TO(short) STANDIN_HALF_TO(unsigned short) STANDIN_HALF_TO(int)
    STANDIN_HALF_TO(unsigned int) STANDIN_HALF_TO(long) STANDIN_HALF_TO(unsigned long)
    STANDIN_HALF_TO(long long) STANDIN_HALF_TO(unsigned long long)
};
struct alignas(4) __half2 {
    __half x, y;
    __half2() = default;
    __half2(const __half &a, const __half &b) : x(a), y(b) {}
};
STANDIN_ONE_ACCESS(__half)
STANDIN_ONE_ACCESS(__half2)
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

inline double standin_wide(__half x) { return (float)x; }
inline __half standin_half(double x) { return __half(x); }
inline __half standin_half_of(unsigned short bits) { return __half(__half_raw{bits}); }
inline __half standin_saturate(__half x) {
    double value = standin_wide(x);
    return standin_half(value > 0 ? value < 1 ? value : 1 : 0);
}
inline __half standin_relu(__half x) {  // a NaN stays one
    return standin_wide(x) < 0 || x.standin_word == 0x8000 ? standin_half(0) : x;
}

// ---- conversions -----------------------------------------------------------------------------------

#define STANDIN_HALF_ROUNDINGS(M, ...) \
    M(rn, rint, __VA_ARGS__) M(rz, trunc, __VA_ARGS__) M(rd, floor, __VA_ARGS__) M(ru, ceil, __VA_ARGS__)
#define STANDIN_HALF_MAKE(mode, way, name, type)                    \
    inline __half __##name##2half_##mode(type x) {                  \
        return standin_half_of(standin_to_half((double)x, way));    \
    }
#define STANDIN_HALF_TAKE(mode, way, name, type)                    \
    inline type __half2##name##_##mode(__half x) {                  \
        return standin_to_integer<type>((float)way(standin_wide(x)));      \
    }
#define STANDIN_HALF_INTEGER(name, type)                     \
    STANDIN_HALF_ROUNDINGS(STANDIN_HALF_MAKE, name, type)    \
    STANDIN_HALF_ROUNDINGS(STANDIN_HALF_TAKE, name, type)
STANDIN_HALF_INTEGER(short, short)
STANDIN_HALF_INTEGER(ushort, unsigned short)
STANDIN_HALF_INTEGER(int, int)
STANDIN_HALF_INTEGER(uint, unsigned int)
STANDIN_HALF_INTEGER(ll, long long)
STANDIN_HALF_INTEGER(ull, unsigned long long)
STANDIN_HALF_ROUNDINGS(STANDIN_HALF_MAKE, float, float)
inline signed char __half2char_rz(__half x) { return x; }
inline unsigned char __half2uchar_rz(__half x) { return x; }
inline __half __float2half(float x) { return x; }
inline __half __double2half(double x) { return x; }
inline float __half2float(__half x) { return x; }
inline short __half_as_short(__half x) { return (short)x.standin_word; }
inline unsigned short __half_as_ushort(__half x) { return x.standin_word; }
inline __half __short_as_half(short x) { return standin_half_of((unsigned short)x); }
inline __half __ushort_as_half(unsigned short x) { return standin_half_of(x); }

inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half x) { return {x, x}; }
inline __half2 __float2half2_rn(float x) { return {x, x}; }
inline __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
inline __half2 __float22half2_rn(float2 v) { return {v.x, v.y}; }
inline float2 __half22float2(__half2 v) { return {v.x, v.y}; }
inline float __low2float(__half2 v) { return v.x; }
inline float __high2float(__half2 v) { return v.y; }
inline __half __low2half(__half2 v) { return v.x; }
inline __half __high2half(__half2 v) { return v.y; }
inline __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
inline __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
inline __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
inline __half2 __lows2half2(__half2 v, __half2 w) { return {v.x, w.x}; }
inline __half2 __highs2half2(__half2 v, __half2 w) { return {v.y, w.y}; }

// ---- arithmetic: name(half, ...) and name2(half2, ...) ----------------------------------------------

#define STANDIN_HALF_ONE(name, name2, expression)                                       \
    inline __half name(__half a) {                                                      \
        double x = standin_wide(a);                                                     \
        return standin_half(expression);                                                \
    }                                                                                   \
    inline __half2 name2(__half2 a) { return {name(a.x), name(a.y)}; }
STANDIN_HALF_ONE(hceil, h2ceil, ceil(x))
STANDIN_HALF_ONE(hfloor, h2floor, floor(x))
STANDIN_HALF_ONE(hrint, h2rint, rint(x))
STANDIN_HALF_ONE(htrunc, h2trunc, trunc(x))
STANDIN_HALF_ONE(hsqrt, h2sqrt, sqrt(x))
STANDIN_HALF_ONE(hrsqrt, h2rsqrt, 1 / sqrt(x))
STANDIN_HALF_ONE(hrcp, h2rcp, 1 / x)
STANDIN_HALF_ONE(hexp, h2exp, exp(x))
STANDIN_HALF_ONE(hexp2, h2exp2, exp2(x))
STANDIN_HALF_ONE(hexp10, h2exp10, exp10(x))
STANDIN_HALF_ONE(hlog, h2log, log(x))
STANDIN_HALF_ONE(hlog2, h2log2, log2(x))
STANDIN_HALF_ONE(hlog10, h2log10, log10(x))
STANDIN_HALF_ONE(hsin, h2sin, sin(x))
STANDIN_HALF_ONE(hcos, h2cos, cos(x))
STANDIN_HALF_ONE(htanh, h2tanh, tanh(x))
inline __half __hneg(__half a) { return standin_half_of(a.standin_word ^ 0x8000); }
inline __half __habs(__half a) { return standin_half_of(a.standin_word & 0x7fff); }
inline __half2 __hneg2(__half2 a) { return {__hneg(a.x), __hneg(a.y)}; }
inline __half2 __habs2(__half2 a) { return {__habs(a.x), __habs(a.y)}; }

#define STANDIN_HALF_TWO(name, name2, expression)                                       \
    inline __half name(__half a, __half b) {                                            \
        double x = standin_wide(a), y = standin_wide(b);                                \
        return standin_half(expression);                                                \
    }                                                                                   \
    inline __half2 name2(__half2 a, __half2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
#define STANDIN_HALF_ARITHMETIC(name, expression)                                       \
    STANDIN_HALF_TWO(__h##name, __h##name##2, expression)                               \
    STANDIN_HALF_TWO(__h##name##_rn, __h##name##2_rn, expression)                       \
    inline __half __h##name##_sat(__half a, __half b) {                                 \
        return standin_saturate(__h##name(a, b));                                       \
    }                                                                                   \
    inline __half2 __h##name##2_sat(__half2 a, __half2 b) {                             \
        return {__h##name##_sat(a.x, b.x), __h##name##_sat(a.y, b.y)};                  \
    }
STANDIN_HALF_ARITHMETIC(add, x + y)
STANDIN_HALF_ARITHMETIC(sub, x - y)
STANDIN_HALF_ARITHMETIC(mul, x *y)
STANDIN_HALF_TWO(__hdiv, __h2div, x / y)
#define STANDIN_HALF_FMA(suffix, wrap)                                                  \
    inline __half __hfma##suffix(__half a, __half b, __half c) {                        \
        return wrap(standin_half(standin_wide(a) * standin_wide(b) + standin_wide(c))); \
    }                                                                                   \
    inline __half2 __hfma2##suffix(__half2 a, __half2 b, __half2 c) {                   \
        return {__hfma##suffix(a.x, b.x, c.x), __hfma##suffix(a.y, b.y, c.y)};          \
    }
STANDIN_HALF_FMA(, )
STANDIN_HALF_FMA(_sat, standin_saturate)
STANDIN_HALF_FMA(_relu, standin_relu)

// The larger and the smaller; of a number and a NaN the number, or with _nan the NaN. -0 < +0.
inline bool standin_half_less(__half a, __half b) {
    double x = standin_wide(a), y = standin_wide(b);
    return x < y || (x == 0 && y == 0 && a.standin_word > b.standin_word);
}
#define STANDIN_HALF_CHOICE(name, name2, condition, of_nan)                             \
    inline __half name(__half a, __half b) {                                            \
        bool first = isnan((float)a), second = isnan((float)b);                         \
        if (first || second) return of_nan;                                             \
        return condition ? a : b;                                                       \
    }                                                                                   \
    inline __half2 name2(__half2 a, __half2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
STANDIN_HALF_CHOICE(__hmax, __hmax2, standin_half_less(b, a),
                    first && second ? standin_half_of(0x7fff) : first ? b : a)
STANDIN_HALF_CHOICE(__hmin, __hmin2, standin_half_less(a, b),
                    first && second ? standin_half_of(0x7fff) : first ? b : a)
STANDIN_HALF_CHOICE(__hmax_nan, __hmax2_nan, standin_half_less(b, a), standin_half_of(0x7fff))
STANDIN_HALF_CHOICE(__hmin_nan, __hmin2_nan, standin_half_less(a, b), standin_half_of(0x7fff))

// ---- comparisons ------------------------------------------------------------------------------------

// CUDA cannot choose between those of float, double and long double.
bool isnan(__half) = delete;
bool isinf(__half) = delete;
bool isfinite(__half) = delete;
bool signbit(__half) = delete;
inline bool __hisnan(__half a) { return isnan((float)a); }
inline int __hisinf(__half a) { return a.standin_word == 0x7c00 ? 1 : a.standin_word == 0xfc00 ? -1 : 0; }
inline __half2 __hisnan2(__half2 a) { return {(float)__hisnan(a.x), (float)__hisnan(a.y)}; }
// With a NaN: false, and true with the suffix u.
#define STANDIN_HALF_COMPARES(name, condition, suffix, of_nan)                          \
    inline bool __h##name##suffix(__half a, __half b) {                                 \
        double x = standin_wide(a), y = standin_wide(b);                                \
        return isnan(x) || isnan(y) ? of_nan : condition;                               \
    }                                                                                   \
    inline __half2 __h##name##suffix##2(__half2 a, __half2 b) {                         \
        return {(float)__h##name##suffix(a.x, b.x), (float)__h##name##suffix(a.y, b.y)}; \
    }                                                                                   \
    inline bool __hb##name##suffix##2(__half2 a, __half2 b) {                           \
        return __h##name##suffix(a.x, b.x) && __h##name##suffix(a.y, b.y);              \
    }                                                                                   \
    inline unsigned int __h##name##suffix##2_mask(__half2 a, __half2 b) {             \
        return (__h##name##suffix(a.x, b.x) ? 0xffffu : 0u) |                           \
               (__h##name##suffix(a.y, b.y) ? 0xffff0000u : 0u);                        \
    }
#define STANDIN_HALF_COMPARE(name, condition)            \
    STANDIN_HALF_COMPARES(name, condition, , false)      \
    STANDIN_HALF_COMPARES(name, condition, u, true)
STANDIN_HALF_COMPARE(eq, x == y)
STANDIN_HALF_COMPARE(ne, x != y)
STANDIN_HALF_COMPARE(lt, x < y)
STANDIN_HALF_COMPARE(le, x <= y)
STANDIN_HALF_COMPARE(gt, x > y)
STANDIN_HALF_COMPARE(ge, x >= y)

// ---- operators --------------------------------------------------------------------------------------

#define STANDIN_HALF_OPERATOR(sign, name, name2)                                                     \
    inline __half operator sign(const __half &a, const __half &b) { return name(a, b); }             \
    inline __half2 operator sign(const __half2 &a, const __half2 &b) { return name2(a, b); }         \
    inline __half &operator sign##=(__half &a, const __half &b) { return a = name(a, b); }           \
    inline __half2 &operator sign##=(__half2 &a, const __half2 &b) { return a = name2(a, b); }
STANDIN_HALF_OPERATOR(+, __hadd, __hadd2)
STANDIN_HALF_OPERATOR(-, __hsub, __hsub2)
STANDIN_HALF_OPERATOR(*, __hmul, __hmul2)
STANDIN_HALF_OPERATOR(/, __hdiv, __h2div)
inline __half operator+(const __half &a) { return a; }
inline __half operator-(const __half &a) { return __hneg(a); }
inline __half2 operator-(const __half2 &a) { return __hneg2(a); }
inline __half &operator++(__half &a) { return a = __hadd(a, __half(1)); }
inline __half &operator--(__half &a) { return a = __hsub(a, __half(1)); }
inline __half operator++(__half &a, int) {
    __half before = a;
    return ++a, before;
}
inline __half operator--(__half &a, int) {
    __half before = a;
    return --a, before;
}
#define STANDIN_HALF_RELATION(sign, name, name2)                                            \
    inline bool operator sign(const __half &a, const __half &b) { return name(a, b); }      \
    inline bool operator sign(const __half2 &a, const __half2 &b) { return name2(a, b); }
STANDIN_HALF_RELATION(==, __heq, __hbeq2)
STANDIN_HALF_RELATION(!=, __hneu, __hbneu2)
STANDIN_HALF_RELATION(<, __hlt, __hblt2)
STANDIN_HALF_RELATION(<=, __hle, __hble2)
STANDIN_HALF_RELATION(>, __hgt, __hbgt2)
STANDIN_HALF_RELATION(>=, __hge, __hbge2)

// ---- between threads --------------------------------------------------------------------------------

STANDIN_ATOMIC(atomicAdd, __half, old + value)
STANDIN_ATOMIC(atomicAdd, __half2, old + value)
STANDIN_SHUFFLES(__half)
STANDIN_SHUFFLES(__half2)
