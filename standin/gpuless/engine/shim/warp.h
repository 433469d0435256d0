// Barriers of a block and the primitives of a warp. `line` is where the reader's source calls.
#pragma once

inline void __syncthreads(int line = __builtin_LINE()) { standin_barrier(STANDIN_BLOCK, 0, line); }
inline int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
    return standin_barrier(STANDIN_BLOCK, predicate, line);
}
inline int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
    return standin_barrier(STANDIN_BLOCK, predicate, line) > 0;
}
inline int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
    return standin_barrier(STANDIN_BLOCK, !predicate, line) == 0;
}

inline void __syncwarp(unsigned int mask = 0xffffffff, int line = __builtin_LINE()) {
    standin_syncwarp(mask, line);
}
inline unsigned int __activemask(int line = __builtin_LINE()) { return standin_active_lanes(line); }

// argument: the lane to read from. A lane outside the call holds nothing: all bits set, a NaN.
inline STANDIN_COMBINE standin_shuffle(const StandinWarp &warp, unsigned int lanes, int lane) {
    int from = warp.argument[lane];
    return lanes >> from & 1 ? warp.value[from] : ~0ull;
}

template <class T>
inline T standin_shuffle_from(unsigned int mask, T value, int from, int line) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 2,
                  "a shuffle moves values of 2, 4 or 8 bytes");
    unsigned long long word = 0;
    memcpy(&word, &value, sizeof value);
    word = standin_exchange(mask, word, from, standin_shuffle, line);
    memcpy(&value, &word, sizeof value);
    return value;
}

inline void standin_check_width(int width, int line) {
    if (width < 1 || width > 32 || width & (width - 1))
        standin_fail(STANDIN_DIVERGED,
                     "line %d: a shuffle's width of %d is no power of two up to 32, so what it gives is undefined",
                     line, width);
}

// Only CUDA's own value types; a char, say, is widened to int as it is there. Of the lane's number or
// the distance, the hardware looks at five bits.
#define STANDIN_SHUFFLES(type)                                                                       \
    inline type __shfl_sync(unsigned int mask, type value, int source, int width = 32,               \
                            int line = __builtin_LINE()) {                                           \
        standin_check_width(width, line);                                                            \
        int lane = standin_here.index % 32;                                                          \
        return standin_shuffle_from(mask, value, (lane & -width) + (source & (width - 1)), line);    \
    }                                                                                                \
    inline type __shfl_up_sync(unsigned int mask, type value, unsigned int delta, int width = 32,    \
                               int line = __builtin_LINE()) {                                        \
        standin_check_width(width, line);                                                            \
        int lane = standin_here.index % 32, from = lane - (int)(delta & 31);                         \
        return standin_shuffle_from(mask, value, from < (lane & -width) ? lane : from, line);        \
    }                                                                                                \
    inline type __shfl_down_sync(unsigned int mask, type value, unsigned int delta, int width = 32,  \
                                 int line = __builtin_LINE()) {                                      \
        standin_check_width(width, line);                                                            \
        int lane = standin_here.index % 32, from = lane + (int)(delta & 31);                         \
        return standin_shuffle_from(mask, value, from > (lane | (width - 1)) ? lane : from, line);   \
    }                                                                                                \
    inline type __shfl_xor_sync(unsigned int mask, type value, int bits, int width = 32,             \
                                int line = __builtin_LINE()) {                                       \
        standin_check_width(width, line);                                                            \
        int lane = standin_here.index % 32, from = lane ^ (bits & 31);                               \
        return standin_shuffle_from(mask, value, from > (lane | (width - 1)) ? lane : from, line);   \
    }
STANDIN_SHUFFLES(int)
STANDIN_SHUFFLES(unsigned int)
STANDIN_SHUFFLES(long)
STANDIN_SHUFFLES(unsigned long)
STANDIN_SHUFFLES(long long)
STANDIN_SHUFFLES(unsigned long long)
STANDIN_SHUFFLES(float)
STANDIN_SHUFFLES(double)

inline STANDIN_COMBINE standin_ballot(const StandinWarp &warp, unsigned int lanes, int) {
    unsigned long long bits = 0;
    for (int lane = 0; lane < 32; ++lane)
        if (lanes >> lane & 1 && warp.value[lane]) bits |= 1ull << lane;
    return bits;
}
inline unsigned int __ballot_sync(unsigned int mask, int predicate, int line = __builtin_LINE()) {
    return (unsigned int)standin_exchange(mask, predicate != 0, 0, standin_ballot, line);
}
inline int __any_sync(unsigned int mask, int predicate, int line = __builtin_LINE()) {
    return __ballot_sync(mask, predicate, line) != 0;
}
inline int __all_sync(unsigned int mask, int predicate, int line = __builtin_LINE()) {
    return __ballot_sync(mask, !predicate, line) == 0;
}

inline STANDIN_COMBINE standin_match(const StandinWarp &warp, unsigned int lanes, int lane) {
    unsigned long long bits = 0;
    for (int other = 0; other < 32; ++other)
        if (lanes >> other & 1 && warp.value[other] == warp.value[lane]) bits |= 1ull << other;
    return bits;
}
inline STANDIN_COMBINE standin_match_all(const StandinWarp &warp, unsigned int lanes, int lane) {
    return standin_match(warp, lanes, lane) == lanes ? lanes : 0;
}
// Whether a predicate is the same in all lanes.
inline int __uni_sync(unsigned int mask, int predicate, int line = __builtin_LINE()) {
    return standin_exchange(mask, predicate != 0, 0, standin_match_all, line) != 0;
}
template <class T>
inline unsigned int __match_any_sync(unsigned int mask, T value, int line = __builtin_LINE()) {
    unsigned long long word = 0;
    memcpy(&word, &value, sizeof value);
    return (unsigned int)standin_exchange(mask, word, 0, standin_match, line);
}
template <class T>
inline unsigned int __match_all_sync(unsigned int mask, T value, int *all,
                                     int line = __builtin_LINE()) {
    unsigned long long word = 0;
    memcpy(&word, &value, sizeof value);
    unsigned int same = (unsigned int)standin_exchange(mask, word, 0, standin_match_all, line);
    *all = same != 0;
    return same;
}

// One integer combined over the lanes of the mask, the same for all of them.
#define STANDIN_REDUCE(name, type, expression)                                                     \
    inline STANDIN_COMBINE standin##name##type(const StandinWarp &warp, unsigned int lanes,     \
                                                  int) {                                           \
        type a = (type)warp.value[__builtin_ctz(lanes)];                                           \
        for (unsigned int rest = lanes & (lanes - 1); rest; rest &= rest - 1) {                    \
            type b = (type)warp.value[__builtin_ctz(rest)];                                        \
            a = expression;                                                                        \
        }                                                                                          \
        return (unsigned long long)a;                                                              \
    }                                                                                              \
    inline type name(unsigned int mask, type value, int line = __builtin_LINE()) {                 \
        return (type)standin_exchange(mask, (unsigned long long)value, 0, standin##name##type,     \
                                      line);                                                       \
    }
typedef unsigned int standin_unsigned;
STANDIN_REDUCE(__reduce_add_sync, standin_unsigned, a + b)
STANDIN_REDUCE(__reduce_min_sync, standin_unsigned, a < b ? a : b)
STANDIN_REDUCE(__reduce_max_sync, standin_unsigned, a > b ? a : b)
STANDIN_REDUCE(__reduce_and_sync, standin_unsigned, a &b)
STANDIN_REDUCE(__reduce_or_sync, standin_unsigned, a | b)
STANDIN_REDUCE(__reduce_xor_sync, standin_unsigned, a ^ b)
STANDIN_REDUCE(__reduce_add_sync, int, (int)((unsigned int)a + (unsigned int)b))
STANDIN_REDUCE(__reduce_min_sync, int, a < b ? a : b)
STANDIN_REDUCE(__reduce_max_sync, int, a > b ? a : b)
