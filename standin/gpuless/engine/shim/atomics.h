// Atomic functions. One thread runs at a time, so a plain read and write is atomic.
// Only CUDA's own overloads exist: atomicAdd on a long long, say, is refused as NVRTC refuses it.
// CuPy's header has some more (cupy_atomics.h).
#pragma once

#define STANDIN_ATOMIC_AS(name, reach, type, expression, ...)           \
    inline type name(type *address, type value) {                       \
        type old = STANDIN_ATOMIC_LOAD(address, reach, ##__VA_ARGS__);  \
        STANDIN_ATOMIC_STORE(address, expression);                      \
        return old;                                                     \
    }
// What follows the expression is a StandinDeed, where it is another one than STANDIN_CHANGES.
#define STANDIN_ATOMIC(name, type, expression, ...)                                       \
    STANDIN_ATOMIC_AS(name, STANDIN_ALL, type, expression, ##__VA_ARGS__)                 \
    STANDIN_ATOMIC_AS(name##_block, STANDIN_OWN_BLOCK, type, expression, ##__VA_ARGS__)   \
    STANDIN_ATOMIC_AS(name##_system, STANDIN_ALL, type, expression, ##__VA_ARGS__)
#define STANDIN_ATOMICS(macro, name, expression, ...)          \
    macro(name, int, expression, ##__VA_ARGS__)                \
    macro(name, unsigned int, expression, ##__VA_ARGS__)       \
    macro(name, unsigned long long, expression, ##__VA_ARGS__)

STANDIN_ATOMICS(STANDIN_ATOMIC, atomicAdd, (old + value))
STANDIN_ATOMIC(atomicAdd, float, old + value)
STANDIN_ATOMIC(atomicAdd, double, old + value)
STANDIN_ATOMIC(atomicSub, int, (int)((unsigned int)old - (unsigned int)value))
STANDIN_ATOMIC(atomicSub, unsigned int, old - value)
STANDIN_ATOMICS(STANDIN_ATOMIC, atomicMin, (value < old ? value : old))
STANDIN_ATOMIC(atomicMin, long long, value < old ? value : old)
STANDIN_ATOMICS(STANDIN_ATOMIC, atomicMax, (value > old ? value : old))
STANDIN_ATOMIC(atomicMax, long long, value > old ? value : old)
STANDIN_ATOMICS(STANDIN_ATOMIC, atomicExch, value, STANDIN_REPLACES)
STANDIN_ATOMIC(atomicExch, float, value, STANDIN_REPLACES)
STANDIN_ATOMIC(atomicInc, unsigned int, old >= value ? 0 : old + 1)
STANDIN_ATOMIC(atomicDec, unsigned int, old == 0 || old > value ? value : old - 1)
STANDIN_ATOMICS(STANDIN_ATOMIC, atomicAnd, (old & value))
STANDIN_ATOMIC(atomicAnd, long long, old & value)
STANDIN_ATOMICS(STANDIN_ATOMIC, atomicOr, (old | value))
STANDIN_ATOMIC(atomicOr, long long, old | value)
STANDIN_ATOMICS(STANDIN_ATOMIC, atomicXor, (old ^ value))
STANDIN_ATOMIC(atomicXor, long long, old ^ value)

#define STANDIN_CAS_AS(name, reach, type)                      \
    inline type name(type *address, type compare, type value) { \
        type old = STANDIN_ATOMIC_LOAD(address, reach);        \
        if (old == compare) STANDIN_ATOMIC_STORE(address, value); \
        return old;                                            \
    }
#define STANDIN_CAS(name, type, unused)                     \
    STANDIN_CAS_AS(name, STANDIN_ALL, type)                 \
    STANDIN_CAS_AS(name##_block, STANDIN_OWN_BLOCK, type)   \
    STANDIN_CAS_AS(name##_system, STANDIN_ALL, type)
STANDIN_ATOMICS(STANDIN_CAS, atomicCAS, 0)
STANDIN_CAS_AS(atomicCAS, STANDIN_ALL, unsigned short)
