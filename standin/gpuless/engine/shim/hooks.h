// The one place where a kernel tells a listener, such as the x-ray, of what it does: barriers, fences,
// atomic functions, copies, malloc. Plain accesses to memory are told by what the compiler puts before each of them.
// Compiled without STANDIN_XRAY a kernel knows of no listener.
#pragma once
#include "runtime.h"

// Functions of the shim may look where a thread itself may not, and are no part of what it does.
#ifdef STANDIN_XRAY
#define STANDIN_UNSEEN __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#define STANDIN_UNCHECKED STANDIN_UNSEEN
#else
#define STANDIN_UNSEEN  // what runs a kernel's threads and is no part of it
#define STANDIN_UNCHECKED __attribute__((no_sanitize("kernel-address")))
#endif
#define STANDIN_COMBINE STANDIN_UNCHECKED unsigned long long

inline STANDIN_COMBINE standin_nothing(const StandinWarp &, unsigned int, int) { return 0; }

#ifdef STANDIN_XRAY

extern "C" {
int standin_xray_barrier(StandinScope scope, int predicate, int line);
void standin_xray_syncwarp(unsigned int mask, int line);
void standin_xray_fence();
void standin_xray_fence_block();
void *standin_xray_memcpy(void *to, const void *from, size_t n);
void *standin_xray_memset(void *to, int value, size_t n);
void standin_xray_copy(void *to, const void *from, unsigned bytes, unsigned from_bytes, int line);
void standin_xray_copy_commit();
void standin_xray_copy_wait(int groups);
void *standin_xray_malloc(size_t bytes);
// Of the atomic function to come, else STANDIN_ALL and STANDIN_CHANGES.
void standin_xray_reach(StandinReach reach, StandinDeed deed, int order);
}
#define standin_barrier standin_xray_barrier
#define standin_syncwarp standin_xray_syncwarp
#define standin_fence standin_xray_fence
#define standin_fence_block standin_xray_fence_block
#define standin_memcpy standin_xray_memcpy
#define standin_memset standin_xray_memset
#define standin_copy standin_xray_copy
#define standin_copy_commit standin_xray_copy_commit
#define standin_copy_wait standin_xray_copy_wait
#define standin_malloc standin_xray_malloc

// An atomic function is counted as one access: by its load.
template <class T>
__attribute__((always_inline)) inline T standin_atomic_load(T *p, StandinReach reach, StandinDeed deed = STANDIN_CHANGES, int order = 0) {
    T value;
    if (reach != STANDIN_ALL || deed != STANDIN_CHANGES) standin_xray_reach(reach, deed, order);
    __atomic_load(p, &value, __ATOMIC_RELAXED);
    return value;
}
template <class T, class U>
__attribute__((always_inline)) inline void standin_atomic_store(T *p, U given) {
    T value = (T)given;
    __atomic_store(p, &value, __ATOMIC_RELAXED);
}
#define STANDIN_ATOMIC_LOAD(p, ...) standin_atomic_load(p, __VA_ARGS__)
#define STANDIN_ATOMIC_STORE(p, value) standin_atomic_store(p, value)

#else

inline void standin_syncwarp(unsigned int mask, int line) {
    standin_exchange(mask, 0, 0, standin_nothing, line);
}
// A place where threads that wait for each other pass, so it lets the others run.
inline void standin_fence() { standin_spin(); }
inline void standin_fence_block() {}
#define STANDIN_ATOMIC_LOAD(p, ...) *p
#define STANDIN_ATOMIC_STORE(p, value) *p = value

#endif
