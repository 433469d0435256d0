// Arithmetic that rounds up, down or towards zero: the processor does it, in the runtime, since a compiler
// takes it that numbers round to the nearest. Part of mathematics.h; the other half is in runtime.cpp.
#pragma once

#define STANDIN_ROUNDED_WAY(prefix, type, fma, way, mode)                                                       \
    inline type prefix##add_##way(type x, type y) { return standin_rounded(STANDIN_ADD, mode, x, y, x); }       \
    inline type prefix##sub_##way(type x, type y) { return standin_rounded(STANDIN_SUBTRACT, mode, x, y, x); }  \
    inline type prefix##mul_##way(type x, type y) { return standin_rounded(STANDIN_MULTIPLY, mode, x, y, x); }  \
    inline type prefix##div_##way(type x, type y) { return standin_rounded(STANDIN_DIVIDE, mode, x, y, x); }    \
    inline type prefix##rcp_##way(type x) { return standin_rounded(STANDIN_DIVIDE, mode, (type)1, x, x); }      \
    inline type prefix##sqrt_##way(type x) { return standin_rounded(STANDIN_ROOT, mode, x, x, x); }             \
    inline type fma##_##way(type x, type y, type z) { return standin_rounded(STANDIN_FMA, mode, x, y, z); }
#define STANDIN_ROUNDED_FROM(way, mode)                                                                  \
    inline float __double2float_##way(double x) { return standin_rounded_double(mode, x); }              \
    inline float __int2float_##way(int x) { return standin_rounded_double(mode, x); }                    \
    inline float __uint2float_##way(unsigned int x) { return standin_rounded_double(mode, x); }          \
    inline float __ll2float_##way(long long x) { return standin_rounded_signed(mode, x, 0); }            \
    inline double __ll2double_##way(long long x) { return standin_rounded_signed(mode, x, 1); }          \
    inline float __ull2float_##way(unsigned long long x) { return standin_rounded_unsigned(mode, x, 0); } \
    inline double __ull2double_##way(unsigned long long x) { return standin_rounded_unsigned(mode, x, 1); }
inline float standin_rounded(StandinOperation o, StandinRounding r, float x, float y, float z) {
    return standin_rounded_floats(o, r, x, y, z);
}
inline double standin_rounded(StandinOperation o, StandinRounding r, double x, double y, double z) {
    return standin_rounded_doubles(o, r, x, y, z);
}
STANDIN_ROUNDED_WAY(__f, float, __fmaf, rd, STANDIN_DOWN)
STANDIN_ROUNDED_WAY(__f, float, __fmaf, ru, STANDIN_UP)
STANDIN_ROUNDED_WAY(__f, float, __fmaf, rz, STANDIN_TOWARDS_ZERO)
STANDIN_ROUNDED_WAY(__d, double, __fma, rd, STANDIN_DOWN)
STANDIN_ROUNDED_WAY(__d, double, __fma, ru, STANDIN_UP)
STANDIN_ROUNDED_WAY(__d, double, __fma, rz, STANDIN_TOWARDS_ZERO)
STANDIN_ROUNDED_FROM(rd, STANDIN_DOWN)
STANDIN_ROUNDED_FROM(ru, STANDIN_UP)
STANDIN_ROUNDED_FROM(rz, STANDIN_TOWARDS_ZERO)
