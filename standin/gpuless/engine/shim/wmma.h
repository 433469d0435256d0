// mma.h: nvcuda::wmma. How a fragment's elements lie in the lanes is for a GPU to say; here element i
// of lane l is number 32 i + 31 - l of the matrix by rows: a lane that takes its elements from where
// they were stored finds those of another lane, as it does on a GPU, and must meet that first.
#pragma once
#include "tensor.h"

namespace nvcuda {
namespace wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
}  // namespace precision
inline float __float_to_tf32(float x) { return standin_bits<float>(standin_round_tf32(x)); }

template <class Use, int M, int N, int K>
struct StandinShape;  // rows and columns
template <int M, int N, int K>
struct StandinShape<matrix_a, M, N, K> {
    static const int rows = M, columns = K;
};
template <int M, int N, int K>
struct StandinShape<matrix_b, M, N, K> {
    static const int rows = K, columns = N;
};
template <int M, int N, int K>
struct StandinShape<accumulator, M, N, K> {
    static const int rows = M, columns = N;
};

// What a factor of type T is in memory and in the product.
template <class T>
struct StandinElement;
template <>
struct StandinElement<double> {
    typedef double Stored;
    static double factor(double x) { return x; }
};
template <>
struct StandinElement<__half> {
    typedef __half Stored;
    static StandinFactor factor(__half x) { return standin_factor((float)x, -14); }
};
template <>
struct StandinElement<precision::tf32> {
    typedef float Stored;
    static StandinFactor factor(float x) { return standin_factor_tf32(standin_bits<unsigned int>(x)); }
};
template <>
struct StandinElement<float> {
    typedef float Stored;
};
// The shapes that there are: 8x8x4 of double, 16x16x8 of tf32, and three of half with float sums.
template <int M, int N, int K, class T, class Sum>
constexpr bool standin_has = false;
template <>
constexpr bool standin_has<8, 8, 4, double, double> = true;
template <>
constexpr bool standin_has<16, 16, 8, precision::tf32, float> = true;
template <>
constexpr bool standin_has<16, 16, 16, __half, float> = true;
template <>
constexpr bool standin_has<32, 8, 16, __half, float> = true;
template <>
constexpr bool standin_has<8, 32, 16, __half, float> = true;

inline int standin_number(int i, int lane) { return 32 * i + 31 - lane; }
inline int standin_lane(int number) { return 31 - number % 32; }

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
    static const int rows = StandinShape<Use, M, N, K>::rows;
    static const int columns = StandinShape<Use, M, N, K>::columns;
    static const int num_elements = rows * columns / 32;
    typedef typename StandinElement<T>::Stored element_type;
    element_type x[num_elements];

    static int row(int i) { return standin_number(i, standin_here.index % 32) / columns; }
    static int column(int i) { return standin_number(i, standin_here.index % 32) % columns; }
};

template <class F, class V>
inline void fill_fragment(F &f, const V &value) {
    for (auto &x : f.x) x = value;
}
// The lanes come together, as at a shuffle: what they have written is not yet what the others read.
inline void standin_together(int line) { standin_exchange(0xffffffffu, 0, 0, standin_nothing, line); }

template <class Use, int M, int N, int K, class T, class Layout, class P>
inline void load_matrix_sync(fragment<Use, M, N, K, T, Layout> &f, const P *p, unsigned int stride,
                             int line = __builtin_LINE()) {
    standin_together(line);
    const bool by_rows = __is_same(Layout, row_major);
    for (int i = 0; i < f.num_elements; ++i)
        f.x[i] = by_rows ? p[f.row(i) * (size_t)stride + f.column(i)]
                         : p[f.column(i) * (size_t)stride + f.row(i)];
}
template <int M, int N, int K, class T, class P>
inline void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const P *p, unsigned int stride,
                             layout_t layout, int line = __builtin_LINE()) {
    standin_together(line);
    for (int i = 0; i < f.num_elements; ++i)
        f.x[i] = layout == mem_row_major ? p[f.row(i) * (size_t)stride + f.column(i)]
                                         : p[f.column(i) * (size_t)stride + f.row(i)];
}
template <int M, int N, int K, class T, class P>
inline void store_matrix_sync(P *p, const fragment<accumulator, M, N, K, T> &f, unsigned int stride,
                              layout_t layout, int line = __builtin_LINE()) {
    standin_together(line);
    for (int i = 0; i < f.num_elements; ++i)
        (layout == mem_row_major ? p[f.row(i) * (size_t)stride + f.column(i)]
                                 : p[f.column(i) * (size_t)stride + f.row(i)]) = f.x[i];
}

// What a lane brings to a product and takes from it.
template <class A, class B, class C>
struct StandinProduct {
    const A *a;
    const B *b;
    const C *c;
    C d;
};
template <class T, class A, class B, class C>
STANDIN_COMBINE standin_product(const StandinWarp &warp, unsigned int lanes, int lane) {
    typedef StandinProduct<A, B, C> Product;
    if (lanes != 0xffffffffu)
        standin_fail(STANDIN_DIVERGED, "line %d: wmma needs all 32 lanes of the warp", warp.argument[lane]);
    Product &own = *(Product *)warp.value[lane];
    for (int i = 0; i < C::num_elements; ++i) {
        int number = standin_number(i, lane), row = number / C::columns, column = number % C::columns;
        decltype(StandinElement<T>::factor({})) a[A::columns], b[A::columns];
        for (int k = 0; k < A::columns; ++k) {
            int in_a = row * A::columns + k, in_b = k * C::columns + column;
            a[k] = StandinElement<T>::factor(((Product *)warp.value[standin_lane(in_a)])->a->x[in_a / 32]);
            b[k] = StandinElement<T>::factor(((Product *)warp.value[standin_lane(in_b)])->b->x[in_b / 32]);
        }
        own.d.x[i] = standin_dot(a, b, A::columns, own.c->x[i]);
    }
    return 0;
}
template <int M, int N, int K, class T, class Sum, class LayoutA, class LayoutB>
inline void mma_sync(fragment<accumulator, M, N, K, Sum> &d,
                     const fragment<matrix_a, M, N, K, T, LayoutA> &a,
                     const fragment<matrix_b, M, N, K, T, LayoutB> &b,
                     const fragment<accumulator, M, N, K, Sum> &c, int line = __builtin_LINE()) {
    static_assert(standin_has<M, N, K, T, Sum>, "the stand-in has no such wmma");
    typedef fragment<matrix_a, M, N, K, T, LayoutA> A;
    typedef fragment<matrix_b, M, N, K, T, LayoutB> B;
    typedef fragment<accumulator, M, N, K, Sum> C;
    StandinProduct<A, B, C> own = {&a, &b, &c, {}};
    standin_exchange(0xffffffffu, (unsigned long long)&own, line, standin_product<T, A, B, C>, line);
    d = own.d;
}

}  // namespace wmma
}  // namespace nvcuda
