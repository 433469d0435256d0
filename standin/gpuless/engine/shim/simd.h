// Two integers of 16 bits or four of 8 in one of 32: __vadd2, __vadd4 and kin.
#pragma once

template <class T, class F>
constexpr unsigned int standin_lanes(unsigned int a, unsigned int b, F f) {
    unsigned int result = 0;
    for (unsigned int shift = 0; shift < 32; shift += 8 * sizeof(T))
        result |= ((unsigned int)f((int)(T)(a >> shift), (int)(T)(b >> shift)) & ((1u << 8 * sizeof(T)) - 1)) << shift;
    return result;
}
template <class T>
constexpr int standin_saturated(int x) {
    const int bits = 8 * sizeof(T), low = (T)-1 < 0 ? -(1 << (bits - 1)) : 0;
    const int high = (T)-1 < 0 ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    return x < low ? low : x > high ? high : x;
}
template <class T>
constexpr unsigned int standin_sum(unsigned int x) {
    unsigned int sum = 0;
    for (unsigned int shift = 0; shift < 32; shift += 8 * sizeof(T)) sum += (T)(x >> shift);
    return sum;
}
#define STANDIN_LANES(name, type, expression)                                  \
    inline unsigned int name(unsigned int x, unsigned int y) {                 \
        return standin_lanes<type>(x, y, [](int a, int b) { return expression; }); \
    }
#define STANDIN_LANE(name, type, expression)                                          \
    inline unsigned int name(unsigned int x) {                                        \
        return standin_lanes<type>(x, 0, [](int a, int) { return expression; });      \
    }
#define STANDIN_COMPARED(name, n, s, letter, compare)                          \
    STANDIN_LANES(__vcmp##name##letter##n, s, a compare b ? -1 : 0)            \
    STANDIN_LANES(__vset##name##letter##n, s, a compare b)
#define STANDIN_SIMD(n, S, U)                                                  \
    STANDIN_LANES(__vadd##n, U, a + b)                                         \
    STANDIN_LANES(__vsub##n, U, a - b)                                         \
    STANDIN_LANES(__vaddss##n, S, standin_saturated<S>(a + b))                 \
    STANDIN_LANES(__vaddus##n, U, standin_saturated<U>(a + b))                 \
    STANDIN_LANES(__vsubss##n, S, standin_saturated<S>(a - b))                 \
    STANDIN_LANES(__vsubus##n, U, standin_saturated<U>(a - b))                 \
    STANDIN_LANES(__vavgu##n, U, (a + b + 1) >> 1)                             \
    STANDIN_LANES(__vhaddu##n, U, (a + b) >> 1)                                \
    STANDIN_LANES(__vmaxs##n, S, a > b ? a : b)                                \
    STANDIN_LANES(__vmaxu##n, U, a > b ? a : b)                                \
    STANDIN_LANES(__vmins##n, S, a < b ? a : b)                                \
    STANDIN_LANES(__vminu##n, U, a < b ? a : b)                                \
    STANDIN_LANES(__vabsdiffs##n, S, a > b ? a - b : b - a)                    \
    STANDIN_LANES(__vabsdiffu##n, U, a > b ? a - b : b - a)                    \
    STANDIN_LANE(__vabs##n, S, a < 0 ? -a : a)                                 \
    STANDIN_LANE(__vneg##n, S, -a)                                             \
    STANDIN_LANE(__vabsss##n, S, standin_saturated<S>(a < 0 ? -a : a))         \
    STANDIN_LANE(__vnegss##n, S, standin_saturated<S>(-a))                     \
    STANDIN_COMPARED(eq, n, U, , ==)                                           \
    STANDIN_COMPARED(ne, n, U, , !=)                                           \
    STANDIN_COMPARED(ge, n, S, s, >=)                                          \
    STANDIN_COMPARED(ge, n, U, u, >=)                                          \
    STANDIN_COMPARED(gt, n, S, s, >)                                           \
    STANDIN_COMPARED(gt, n, U, u, >)                                           \
    STANDIN_COMPARED(le, n, S, s, <=)                                          \
    STANDIN_COMPARED(le, n, U, u, <=)                                          \
    STANDIN_COMPARED(lt, n, S, s, <)                                           \
    STANDIN_COMPARED(lt, n, U, u, <)                                           \
    inline unsigned int __vsads##n(unsigned int x, unsigned int y) {           \
        return standin_sum<U>(__vabsdiffs##n(x, y));                           \
    }                                                                          \
    inline unsigned int __vsadu##n(unsigned int x, unsigned int y) {           \
        return standin_sum<U>(__vabsdiffu##n(x, y));                           \
    }
STANDIN_SIMD(2, short, unsigned short)
STANDIN_SIMD(4, signed char, unsigned char)
