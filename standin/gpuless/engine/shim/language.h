// The CUDA language as C++: qualifiers, the built-in variables and the vector types.
#pragma once
#include "hooks.h"
#include "runtime.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
// Nothing comes of them, but they must be numbers that the compiler knows.
constexpr int standin_bounds(long long, long long = 0, long long = 0) { return 16; }
#define __launch_bounds__(...) __attribute__((aligned(standin_bounds(__VA_ARGS__))))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))

#undef __OPTIMIZE__  // which NVRTC has not
#ifndef __clang__
#define __builtin_assume(condition) ((void)0)
#endif

// What `for (int i : {1, 2})` makes; NVRTC has it without a header.
namespace std {
template <class T>
class initializer_list {
    const T *first;
    size_t count;
    constexpr initializer_list(const T *first, size_t count) : first(first), count(count) {}

   public:
    typedef T value_type;
    constexpr initializer_list() : first(nullptr), count(0) {}
    constexpr size_t size() const { return count; }
    constexpr const T *begin() const { return first; }
    constexpr const T *end() const { return first + count; }
};
}  // namespace std

#define threadIdx (const_cast<const uint3 &>(standin_here.thread))
#define blockIdx (const_cast<const uint3 &>(standin_here.block))
#define blockDim (const_cast<const dim3 &>(standin_here.block_size))
#define gridDim (const_cast<const dim3 &>(standin_here.grid_size))
// Its value comes behind the reader's source (translate.py): no number that a compiler knows, as in CUDA.
extern __attribute__((visibility("hidden"))) const int warpSize;

// float2, make_float2 and so on, aligned as CUDA aligns them.
#define STANDIN_VECTORS(name, type, align2, align4)                                         \
    struct name##1 {                                                                        \
        type x;                                                                             \
    };                                                                                      \
    struct alignas(align2) name##2 {                                                        \
        type x, y;                                                                          \
    };                                                                                      \
    struct name##3 {                                                                        \
        type x, y, z;                                                                       \
    };                                                                                      \
    struct alignas(align4) name##4 {                                                        \
        type x, y, z, w;                                                                    \
    };                                                                                      \
    STANDIN_MAKE_VECTORS(name, type)
#define STANDIN_MAKE_VECTORS(name, type)                                                    \
    inline name##1 make_##name##1(type x) { return {x}; }                                   \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; }                        \
    inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }             \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

STANDIN_VECTORS(char, signed char, 2, 4)
STANDIN_VECTORS(uchar, unsigned char, 2, 4)
STANDIN_VECTORS(short, short, 4, 8)
STANDIN_VECTORS(ushort, unsigned short, 4, 8)
STANDIN_VECTORS(int, int, 8, 16)
STANDIN_VECTORS(long, long, 16, 16)
STANDIN_VECTORS(ulong, unsigned long, 16, 16)
STANDIN_VECTORS(longlong, long long, 16, 16)
STANDIN_VECTORS(ulonglong, unsigned long long, 16, 16)
STANDIN_VECTORS(float, float, 8, 16)
STANDIN_VECTORS(double, double, 16, 16)

struct uint1 {
    unsigned int x;
};
struct alignas(8) uint2 {
    unsigned int x, y;
};
struct alignas(16) uint4 {
    unsigned int x, y, z, w;
};
typedef unsigned int standin_uint;
STANDIN_MAKE_VECTORS(uint, standin_uint)

extern "C" {
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
}
#define malloc(bytes) standin_malloc(bytes)
#define free(pointer) standin_free(pointer)
inline void *operator new(size_t bytes) { return standin_malloc(bytes); }
inline void *operator new[](size_t bytes) { return standin_malloc(bytes); }
inline void *operator new(size_t, void *place) { return place; }
inline void *operator new[](size_t, void *place) { return place; }
inline void operator delete(void *pointer) noexcept { standin_free(pointer); }
inline void operator delete[](void *pointer) noexcept { standin_free(pointer); }
inline void operator delete(void *pointer, size_t) noexcept { standin_free(pointer); }
inline void operator delete[](void *pointer, size_t) noexcept { standin_free(pointer); }

// What a kernel prints is kept until the launch is over, and written to Python's sys.stdout.
#define printf standin_printf

// assert of predefined.h, which has the condition's text as its author wrote it.
#define standin_assert(condition, text, line) \
    ((condition) ? (void)0 : standin_fail(STANDIN_FAULT, "line %d: Assertion `%s` failed", line, text))
[[noreturn]] inline void __trap() { standin_fail(STANDIN_FAULT, "__trap() was called"); }
inline void __brkpt() {}
inline void __prof_trigger(int) {}

// Memory as one thread at a time sees it: always up to date.
inline void __threadfence() { standin_fence(); }
inline void __threadfence_block() { standin_fence_block(); }
inline void __threadfence_system() { standin_fence(); }
inline void __nanosleep(unsigned int) { standin_spin(); }
inline long long clock64() { return standin_clock(); }
typedef long clock_t;
inline clock_t clock() { return (clock_t)standin_clock(); }

// What such a load or store may move: of structs, only vectors that are one access.
template <class T>
struct StandinOneAccess;
#define STANDIN_ONE_ACCESS(type)      \
    template <>                       \
    struct StandinOneAccess<type> {   \
        typedef type of;              \
    };
#define STANDIN_ONE_ACCESS_VECTORS(name) STANDIN_ONE_ACCESS(name##2) STANDIN_ONE_ACCESS(name##4)
#define STANDIN_ONE_ACCESS_SIGNS(name, type)  \
    STANDIN_ONE_ACCESS(type)                  \
    STANDIN_ONE_ACCESS(unsigned type)         \
    STANDIN_ONE_ACCESS_VECTORS(name)          \
    STANDIN_ONE_ACCESS_VECTORS(u##name)
STANDIN_ONE_ACCESS_SIGNS(char, char)
STANDIN_ONE_ACCESS_SIGNS(short, short)
STANDIN_ONE_ACCESS_SIGNS(int, int)
STANDIN_ONE_ACCESS_VECTORS(float)
STANDIN_ONE_ACCESS(signed char)
STANDIN_ONE_ACCESS(long)
STANDIN_ONE_ACCESS(unsigned long)
STANDIN_ONE_ACCESS(long long)
STANDIN_ONE_ACCESS(unsigned long long)
STANDIN_ONE_ACCESS(longlong2)
STANDIN_ONE_ACCESS(ulonglong2)
STANDIN_ONE_ACCESS(float)
STANDIN_ONE_ACCESS(double)
STANDIN_ONE_ACCESS(double2)
template <class T>
inline typename StandinOneAccess<T>::of __ldg(const T *p) {
    return *p;
}
#define STANDIN_LOADS(suffix)                                               \
    template <class T>                                                      \
    inline typename StandinOneAccess<T>::of __ldc##suffix(const T *p) {     \
        return *p;                                                          \
    }
STANDIN_LOADS(g)
STANDIN_LOADS(a)
STANDIN_LOADS(s)
STANDIN_LOADS(v)
template <class T>
inline typename StandinOneAccess<T>::of __ldlu(const T *p) {
    return *p;
}
#define STANDIN_STORES(suffix)                                                      \
    template <class T>                                                              \
    inline void __st##suffix(T *p, typename StandinOneAccess<T>::of value) {        \
        *p = value;                                                                 \
    }
STANDIN_STORES(cg)
STANDIN_STORES(cs)
STANDIN_STORES(wb)
STANDIN_STORES(wt)

// What kind of memory an address is of.
inline unsigned int __isGlobal(const void *p) { return standin_space(p) == 'g'; }
inline unsigned int __isShared(const void *p) { return standin_space(p) == 's'; }
inline unsigned int __isLocal(const void *p) { return standin_space(p) == 'l'; }
