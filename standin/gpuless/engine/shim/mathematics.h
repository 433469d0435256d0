// CUDA's mathematical functions, by way of the C library. No standard header is included: NVRTC has
// none either, and the C++ ones would bring overloads of their own.
#pragma once
#include "bits.h"

#define STANDIN_UNARY(M) \
    M(acos) M(acosh) M(asin) M(asinh) M(atan) M(atanh) M(cbrt) M(ceil) M(cos) M(cosh) M(erf) \
    M(erfc) M(exp) M(exp2) M(expm1) M(fabs) M(floor) M(lgamma) M(log) M(log10) M(log1p) \
    M(log2) M(logb) M(nearbyint) M(rint) M(round) M(sin) M(sinh) M(sqrt) M(tan) M(tanh) \
    M(tgamma) M(trunc)
STANDIN_UNARY(STANDIN_MATH1)
#define STANDIN_BINARY(M) \
    M(atan2) M(copysign) M(fdim) M(fmod) M(hypot) M(nextafter) M(pow) M(remainder)
STANDIN_BINARY(STANDIN_MATH2)

// Of a number and something more; and from a number to an integer.
#define STANDIN_MATH_AND(name, type)                 \
    extern "C" double name(double, type);            \
    extern "C" float name##f(float, type);           \
    inline float name(float x, type y) { return name##f(x, y); }
#define STANDIN_MATH_TO(integer, name)               \
    extern "C" integer name(double);                 \
    extern "C" integer name##f(float);               \
    inline integer name(float x) { return name##f(x); }
STANDIN_MATH_AND(ldexp, int)
STANDIN_MATH_AND(scalbn, int)
STANDIN_MATH_AND(frexp, int *)
STANDIN_MATH_TO(int, ilogb)
extern "C" {
double fma(double, double, double);
float fmaf(float, float, float);
double modf(double, double *);
float modff(float, float *);
double j0(double);
double j1(double);
double y0(double);
double y1(double);
}
inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
inline float modf(float x, float *whole) { return modff(x, whole); }
inline float j0f(float x) { return (float)j0((double)x); }
inline float j1f(float x) { return (float)j1((double)x); }
inline float y0f(float x) { return (float)y0((double)x); }
inline float y1f(float x) { return (float)y1((double)x); }
inline float j0(float x) { return j0f(x); }
inline float j1(float x) { return j1f(x); }
inline float y0(float x) { return y0f(x); }
inline float y1(float x) { return y1f(x); }
inline double copysign(double x, float y) { return copysign(x, (double)y); }
inline double copysign(float x, double y) { return copysign((double)x, y); }
// By squares, as NVIDIA's functions do it: so 2.0f to the power of -149 is 0, as 2.0f to that of 149 is infinite.
template <class T>
inline T standin_power(T x, int n) {
    T power = 1;
    for (unsigned int rest = n < 0 ? 0u - (unsigned int)n : (unsigned int)n; rest; rest >>= 1, x *= x)
        if (rest & 1) power *= x;
    return n < 0 ? 1 / power : power;
}
inline double pow(double x, int n) { return standin_power(x, n); }
inline float pow(float x, int n) { return standin_power(x, n); }

// A NaN gives the other number; 0 is larger than -0.
#define STANDIN_EXTREME(type, name, suffix, sign, relation)       \
    inline type name##suffix(type x, type y) {                    \
        if (x == y) return sign(x) ? y : x;                       \
        return y != y || x relation y ? x : y;                    \
    }
STANDIN_EXTREME(double, fmax, , __builtin_signbit, >)
STANDIN_EXTREME(double, fmin, , !__builtin_signbit, <)
STANDIN_EXTREME(float, fmax, f, __builtin_signbit, >)
STANDIN_EXTREME(float, fmin, f, !__builtin_signbit, <)
inline float fmax(float x, float y) { return fmaxf(x, y); }
inline float fmin(float x, float y) { return fminf(x, y); }

template <class I, class F>
constexpr I standin_to_integer(F x);
#define STANDIN_NEAREST(integer, name, function)                                                \
    inline integer name(double x) { return standin_to_integer<integer>(function(x)); }          \
    inline integer name##f(float x) { return standin_to_integer<integer>(function##f(x)); }     \
    inline integer name(float x) { return name##f(x); }
STANDIN_NEAREST(long, lrint, rint)
STANDIN_NEAREST(long, lround, round)
STANDIN_NEAREST(long long, llrint, rint)
STANDIN_NEAREST(long long, llround, round)
// sin and cos of pi x, exact at multiples of a half.
inline double standin_half_turns(double x, int &quarter) {
    x = x - 2 * rint(x / 2);
    quarter = standin_to_integer<int>(rint(2 * x));
    return 3.14159265358979323846 * (x - 0.5 * quarter);
}
inline double standin_sinpi(double x, int shift) {
    int quarter;
    double rest = standin_half_turns(x, quarter);
    if (rest == 0 && (quarter + shift) % 2 == 0) return shift ? 0.0 : copysign(0.0, x);
    switch ((quarter + shift) & 3) {
        case 0: return sin(rest);
        case 1: return cos(rest);
        case 2: return -sin(rest);
        default: return -cos(rest);
    }
}
// exp(x^2) erfc(x) with what is lost in rounding x^2; of large x, where the factors are too large and too small,
// 1 / (x sqrt(pi)) and more.
inline double standin_erfcx(double x) {
    const double square = x * x, z = 1 / (2 * square);
    if (x < -27) return __builtin_inf();
    if (x < 25) return exp(square) * (1 + __builtin_fma(x, x, -square)) * erfc(x);
    const double rest = 1 - 5 * z * (1 - 7 * z * (1 - 9 * z * (1 - 11 * z)));
    return 0.56418958354775628695 / x * (1 - z * (1 - 3 * z * rest));
}
// erfc(-x / sqrt(2)) / 2 with what is lost in rounding the quotient, which counts where it is large.
inline double standin_normcdf(double x) {
    if (!(fabs(x) < 40)) return x < 0 ? 0 : x > 0 ? 1 : x;
    const double t = -x * 0.70710678118654752440;
    const double lost = __builtin_fma(-x, 0.70710678118654752440, -t) + x * 4.8336466567264567e-17;
    return 0.5 * (erfc(t) - 1.12837916709551257390 * exp(-t * t) * lost);
}
STANDIN_OWN1(sinpi, standin_sinpi(x, 0))
STANDIN_OWN1(cospi, standin_sinpi(x, 1))
STANDIN_OWN1(rsqrt, 1 / sqrt(x))
STANDIN_OWN1(rcbrt, 1 / cbrt(x))
STANDIN_OWN1(exp10, pow(10.0, x))
STANDIN_OWN1(normcdf, standin_normcdf(x))
STANDIN_OWN1(erfcx, standin_erfcx(x))
inline void sincos(double x, double *s, double *c) { *s = sin(x), *c = cos(x); }
inline void sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
inline void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
inline void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
inline void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
inline void sincospi(float x, float *s, float *c) { sincospif(x, s, c); }
inline double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
inline float norm3df(float x, float y, float z) { return (float)norm3d(x, y, z); }
inline double rhypot(double x, double y) {  // a length may be beyond the largest number
    const double length = hypot(x, y);
    return length < 0x1p1023 ? 1 / length : 0x1p-2 / hypot(x * 0x1p-2, y * 0x1p-2);
}
inline float rhypotf(float x, float y) { return (float)rhypot((double)x, (double)y); }

#define STANDIN_TEST(name, builtin)                     \
    inline int name(double x) { return builtin(x) != 0; }   \
    inline int name(float x) { return builtin(x) != 0; }
STANDIN_TEST(isnan, __builtin_isnan)
STANDIN_TEST(isinf, __builtin_isinf)
STANDIN_TEST(isfinite, __builtin_isfinite)
STANDIN_TEST(signbit, __builtin_signbit)

inline int abs(int x) { return x < 0 ? -x : x; }
inline long abs(long x) { return x < 0 ? -x : x; }
inline long long abs(long long x) { return x < 0 ? -x : x; }
inline float abs(float x) { return fabsf(x); }
inline double abs(double x) { return fabs(x); }
inline long labs(long x) { return abs(x); }
inline long long llabs(long long x) { return abs(x); }

// min and max of two types, with the result that CUDA gives.
#define STANDIN_MINMAX(A, B, R)                                               \
    inline R min(A x, B y) { return (R)x < (R)y ? (R)x : (R)y; }              \
    inline R max(A x, B y) { return (R)x > (R)y ? (R)x : (R)y; }
#define STANDIN_MINMAXES(I)                          \
    STANDIN_MINMAX(I, I, I)                          \
    STANDIN_MINMAX(I, unsigned I, unsigned I)        \
    STANDIN_MINMAX(unsigned I, I, unsigned I)        \
    STANDIN_MINMAX(unsigned I, unsigned I, unsigned I)
STANDIN_MINMAXES(int)
STANDIN_MINMAXES(long)
STANDIN_MINMAXES(long long)
#define STANDIN_FMINMAX(A, B, R)                                              \
    inline R min(A x, B y) { return fmin((R)x, (R)y); }                       \
    inline R max(A x, B y) { return fmax((R)x, (R)y); }
STANDIN_FMINMAX(float, float, float)
STANDIN_FMINMAX(double, double, double)
STANDIN_FMINMAX(float, double, double)
STANDIN_FMINMAX(double, float, double)
inline unsigned int umin(unsigned int x, unsigned int y) { return min(x, y); }
inline unsigned int umax(unsigned int x, unsigned int y) { return max(x, y); }
inline long long llmin(long long x, long long y) { return min(x, y); }
inline long long llmax(long long x, long long y) { return max(x, y); }
inline unsigned long long ullmin(unsigned long long x, unsigned long long y) { return min(x, y); }
inline unsigned long long ullmax(unsigned long long x, unsigned long long y) { return max(x, y); }

// Fast versions on a GPU; more accurate here, with the holes that theirs have: a power of a negative
// number is NaN, and a quotient is 0 where the divisor is so large that its inverse is denormal.
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __powf(float x, float y) { return exp2f(y * log2f(x)); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __tanhf(float x) { return tanhf(x); }
inline void __sincosf(float x, float *s, float *c) { sincosf(x, s, c); }
inline float __fdividef(float x, float y) {
    float size = fabsf(y);
    return size > 0x1p126f && !isinf(y) ? x * (y > 0 ? 0.0f : -0.0f) : x / y;
}
inline float fdividef(float x, float y) { return x / y; }
inline double fdivide(double x, double y) { return x / y; }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }

// Rounding to nearest is what plain arithmetic does.
#define STANDIN_ROUNDED(prefix, type, root)                                          \
    inline type prefix##add_rn(type x, type y) { return x + y; }                     \
    inline type prefix##sub_rn(type x, type y) { return x - y; }                     \
    inline type prefix##mul_rn(type x, type y) { return x * y; }                     \
    inline type prefix##div_rn(type x, type y) { return x / y; }                     \
    inline type prefix##rcp_rn(type x) { return 1 / x; }                             \
    inline type prefix##sqrt_rn(type x) { return root(x); }
STANDIN_ROUNDED(__f, float, sqrtf)
STANDIN_ROUNDED(__d, double, sqrt)
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

#include "rounding.h"

// Conversions: rn to nearest, rz towards zero, rd down, ru up; beyond the range to its end. A NaN gives 0
// or, where either has 64 bits, the highest bit alone.
template <class I, class F>
constexpr I standin_to_integer(F x) {
    const I top = (I)((I)1 << (8 * sizeof(I) - 1)), lowest = (I)-1 < 0 ? top : 0, highest = (I)~lowest;
    if (x != x) return sizeof(I) == 8 || sizeof(F) == 8 ? top : 0;
    if ((double)x <= (double)lowest) return lowest;
    if ((double)x >= (double)highest) return highest;
    return (I)x;
}
// The operand of a cast to I. As a GPU does it, a number becomes an integer of at least 32 bits first.
template <class I, class F>
constexpr auto standin_fraction_fits(F x) {
    if constexpr (sizeof(I) == 8)
        return standin_to_integer<I>(x);
    else if constexpr ((I)-1 < 0)
        return standin_to_integer<int>(x);
    else
        return standin_to_integer<unsigned int>(x);
}
template <class T>
constexpr bool standin_is_fraction = false;
template <>
inline constexpr bool standin_is_fraction<float> = true;
template <>
inline constexpr bool standin_is_fraction<double> = true;
template <class I, class T>
constexpr auto standin_fits(T x) {
    if constexpr (standin_is_fraction<T>)
        return standin_fraction_fits<I>(x);
    else
        return x;
}
// The operand of a cast to a pointer. Of `int y = *(int *)(bytes + 2)` g++ would test whether `bytes` is
// aligned; what a function returns it does not take apart before its checks are in place.
template <class T>
__forceinline__ T standin_address(T p) {
    return p;
}
#define STANDIN_CONVERSIONS(from, type, to, integer)                                                \
    inline integer __##from##2##to##_rn(type x) { return standin_to_integer<integer>((type)rint(x)); }    \
    inline integer __##from##2##to##_rz(type x) { return standin_to_integer<integer>((type)trunc(x)); }   \
    inline integer __##from##2##to##_rd(type x) { return standin_to_integer<integer>((type)floor(x)); }   \
    inline integer __##from##2##to##_ru(type x) { return standin_to_integer<integer>((type)ceil(x)); }
STANDIN_CONVERSIONS(float, float, int, int)
STANDIN_CONVERSIONS(float, float, uint, unsigned int)
STANDIN_CONVERSIONS(float, float, ll, long long)
STANDIN_CONVERSIONS(float, float, ull, unsigned long long)
STANDIN_CONVERSIONS(double, double, int, int)
STANDIN_CONVERSIONS(double, double, uint, unsigned int)
STANDIN_CONVERSIONS(double, double, ll, long long)
STANDIN_CONVERSIONS(double, double, ull, unsigned long long)
inline float __int2float_rn(int x) { return (float)x; }
inline float __uint2float_rn(unsigned int x) { return (float)x; }
inline float __ll2float_rn(long long x) { return (float)x; }
inline float __ull2float_rn(unsigned long long x) { return (float)x; }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned int x) { return x; }
inline double __ll2double_rn(long long x) { return (double)x; }
inline double __ull2double_rn(unsigned long long x) { return (double)x; }
inline float __double2float_rn(double x) { return (float)x; }

inline int __float_as_int(float x) { return standin_bits<int>(x); }
inline unsigned int __float_as_uint(float x) { return standin_bits<unsigned int>(x); }
inline float __int_as_float(int x) { return standin_bits<float>(x); }
inline float __uint_as_float(unsigned int x) { return standin_bits<float>(x); }
inline long long __double_as_longlong(double x) { return standin_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return standin_bits<double>(x); }
inline int __double2hiint(double x) { return (int)(standin_bits<long long>(x) >> 32); }
inline int __double2loint(double x) { return (int)standin_bits<long long>(x); }
inline double __hiloint2double(int high, int low) {
    return standin_bits<double>((long long)high << 32 | (unsigned int)low);
}

// Bits and integers.
inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz((unsigned int)x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned long long __brevll(unsigned long long x) {
    unsigned long long y = 0;
    for (int i = 0; i < 64; ++i) y |= (x >> i & 1) << (63 - i);
    return y;
}
inline unsigned int __brev(unsigned int x) { return (unsigned int)(__brevll(x) >> 32); }
inline int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
inline unsigned int __umulhi(unsigned int x, unsigned int y) {
    return (unsigned int)((unsigned long long)x * y >> 32);
}
inline long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
inline int __mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
inline unsigned int __umul24(unsigned int x, unsigned int y) {
    return (x & 0xffffff) * (y & 0xffffff);
}
inline unsigned int __sad(int x, int y, unsigned int z) {
    return (x > y ? (unsigned int)x - y : (unsigned int)y - x) + z;
}
inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
    unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned int result = 0;
    for (int i = 0; i < 4; ++i) {
        unsigned int chosen = selector >> 4 * i & 7;  // NVIDIA's function clears PTX's fourth bit
        result |= ((unsigned int)(bytes >> 8 * chosen) & 255) << 8 * i;
    }
    return result;
}

#define STANDIN_TESTS(suffix, type)                                                                   \
    inline int __isnan##suffix(type x) { return isnan(x); }                                           \
    inline int __isinf##suffix(type x) { return isinf(x) ? (x < 0 ? -1 : 1) : 0; }                    \
    inline int __isfinite##suffix(type x) { return isfinite(x); }                                     \
    inline int __signbit##suffix(type x) { return signbit(x); }
STANDIN_TESTS(f, float)
STANDIN_TESTS(d, double)
inline int __isnan(double x) { return isnan(x); }
inline int __isinf(double x) { return __isinfd(x); }
inline int __finite(double x) { return isfinite(x); }
inline int __finitef(float x) { return isfinite(x); }
inline int __signbit(double x) { return signbit(x); }
