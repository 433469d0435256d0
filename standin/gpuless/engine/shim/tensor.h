// Tensor cores: mma.sync of PTX. The lanes of a warp meet, each with its fragments, and each works out
// its own part of the result.
#pragma once
#include "half.h"

// An operand of inline PTX, of the type that its constraint asks for.
template <class Register>
struct StandinRegister {
    template <class T>
    static Register of(T x) {
        constexpr bool number = StandinKind<Register>::value == 'f';
        static_assert((StandinKind<T>::value == 'f') == number &&
                          (number ? sizeof(T) == sizeof(Register) : sizeof(T) <= sizeof(Register)),
                      "an asm operand must be of the type that its constraint names");
        return (Register)x;
    }
};

// A float of which 10 bits of fraction count: rounded to nearest, ties away from zero.
inline unsigned int standin_round_tf32(float x) {
    unsigned int bits = standin_bits<unsigned int>(x);
    if ((bits & 0x7f800000u) == 0x7f800000u) return bits & 0x7fffffu ? 0x7fffffffu : bits;
    return (bits + 0x1000u) & 0xffffe000u;
}

// A factor as tensor cores see it: its value and its exponent (that of a subnormal is the smallest).
struct StandinFactor {
    double value;
    int exponent;
};
STANDIN_UNSEEN inline StandinFactor standin_factor(double x, int smallest) {
    int exponent = x == 0 || !isfinite(x) ? smallest : ilogb(x);
    return {x, exponent > smallest ? exponent : smallest};
}
STANDIN_UNSEEN inline StandinFactor standin_factor_tf32(unsigned int bits) {
    return standin_factor(standin_bits<float>(bits & 0xffffe000u), -126);
}
STANDIN_UNSEEN inline StandinFactor standin_factor_f16(unsigned int bits) {
    return standin_factor(standin_half_to_float((unsigned short)bits), -14);
}

// x towards zero as a float.
STANDIN_UNSEEN inline float standin_cut(double x) {
    float y = (float)x;
    if (isinf(y) && fabs(x) < 0x1p128) return copysign(0x1.fffffep127f, y);
    return fabs((double)y) > fabs(x) ? nextafterf(y, 0.0f) : y;
}

// c and the products of `count` factors, added as a tensor core of compute capability 9.0 adds them:
// all products are exact; everything is cut at two bits below the last bit that a float with the
// largest exponent among them has; these are added exactly, and the sum is cut to a float.
STANDIN_UNSEEN inline float standin_tensor_sum(const StandinFactor *a, const StandinFactor *b, int count, float c) {
    bool finite = isfinite(c);
    int top = -1000;
    double plain = c;
    for (int k = 0; k < count; ++k) {
        double product = a[k].value * b[k].value;
        plain += product;
        if (!isfinite(product)) finite = false;
        if (product != 0 && a[k].exponent + b[k].exponent > top) top = a[k].exponent + b[k].exponent;
    }
    if (!finite) return isnan(plain) ? standin_bits<float>(0x7fffffffu) : (float)plain;
    if (c != 0) {
        StandinFactor own = standin_factor(c, -126);
        if (own.exponent > top) top = own.exponent;
    }
    if (top == -1000) return (float)plain;  // zeros, with IEEE's sign
    double unit = ldexp(1.0, top - 25), sum = trunc(c / unit);
    for (int k = 0; k < count; ++k) sum += trunc(a[k].value * b[k].value / unit);
    return standin_cut(sum * unit);
}

// The fragments of one lane; A and B one after another by rows of K in `a` and `b` below.
template <class T, class Number, int M, int K>
struct StandinFragments {
    T a[M * K / 32], b[K / 4];
    Number c[M / 4], d[M / 4];
};

// Which lane has element k of row r of A, and as which of its elements: PTX's layouts for one element
// a register (Pack 1) and two (Pack 2). B's are the same with r the column.
template <int M, int K, int Pack>
struct StandinLayout {
    STANDIN_UNSEEN static int lane(int r, int k) { return r % 8 * 4 + k % (4 * Pack) / Pack; }
    STANDIN_UNSEEN static int of_a(int r, int k) {
        return (r / 8 + M / 8 * (k / (4 * Pack))) * Pack + k % Pack;
    }
    STANDIN_UNSEEN static int of_b(int k) { return k / (4 * Pack) * Pack + k % Pack; }
};

STANDIN_UNSEEN inline double standin_dot(const double *a, const double *b, int count, double c) {
    for (int k = 0; k < count; ++k) c = fma(a[k], b[k], c);
    return c;
}
STANDIN_UNSEEN inline float standin_dot(const StandinFactor *a, const StandinFactor *b, int count, float c) {
    return standin_tensor_sum(a, b, count, c);
}

template <class T, class Number, int M, int K, int Pack>
STANDIN_COMBINE standin_multiply(const StandinWarp &warp, unsigned int lanes, int lane) {
    typedef StandinFragments<T, Number, M, K> Fragments;
    typedef StandinLayout<M, K, Pack> Layout;
    if (lanes != 0xffffffffu)
        standin_fail(STANDIN_DIVERGED, "line %d: a product by tensor cores needs all 32 lanes of the warp",
                     warp.argument[lane]);
    Fragments &own = *(Fragments *)warp.value[lane];
    for (int i = 0; i < M / 4; ++i) {
        int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        T a[K], b[K];
        for (int k = 0; k < K; ++k) {
            a[k] = ((Fragments *)warp.value[Layout::lane(row, k)])->a[Layout::of_a(row, k)];
            b[k] = ((Fragments *)warp.value[Layout::lane(column, k)])->b[Layout::of_b(k)];
        }
        own.d[i] = standin_dot(a, b, K, own.c[i]);
    }
    return 0;
}

template <class T, class Number, int M, int K, int Pack>
STANDIN_UNSEEN void standin_meet(StandinFragments<T, Number, M, K> &own, Number *c, int line) {
    for (int i = 0; i < M / 4; ++i) own.c[i] = c[i];
    standin_exchange(0xffffffffu, (unsigned long long)&own, line, standin_multiply<T, Number, M, K, Pack>,
                     line);
    for (int i = 0; i < M / 4; ++i) c[i] = own.d[i];
}

template <int M, int K>
STANDIN_UNSEEN void standin_f64_mma_sync(const double *a, const double *b, double *c, int line = __builtin_LINE()) {
    StandinFragments<double, double, M, K> own;
    for (int i = 0; i < M * K / 32; ++i) own.a[i] = a[i];
    for (int i = 0; i < K / 4; ++i) own.b[i] = b[i];
    standin_meet<double, double, M, K, 1>(own, c, line);
}
template <int M, int K>
STANDIN_UNSEEN void standin_tf32_mma_sync(const unsigned int *a, const unsigned int *b, float *c,
                                          int line = __builtin_LINE()) {
    StandinFragments<StandinFactor, float, M, K> own;
    for (int i = 0; i < M * K / 32; ++i) own.a[i] = standin_factor_tf32(a[i]);
    for (int i = 0; i < K / 4; ++i) own.b[i] = standin_factor_tf32(b[i]);
    standin_meet<StandinFactor, float, M, K, 1>(own, c, line);
}
template <int M, int K>
STANDIN_UNSEEN void standin_f16_mma_sync(const unsigned int *a, const unsigned int *b, float *c,
                                         int line = __builtin_LINE()) {
    StandinFragments<StandinFactor, float, M, K> own;
    for (int i = 0; i < M * K / 32; ++i) own.a[i] = standin_factor_f16(a[i / 2] >> i % 2 * 16);
    for (int i = 0; i < K / 4; ++i) own.b[i] = standin_factor_f16(b[i / 2] >> i % 2 * 16);
    standin_meet<StandinFactor, float, M, K, 2>(own, c, line);
}
