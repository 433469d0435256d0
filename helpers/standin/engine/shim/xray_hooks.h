// What an x-ray must be told of beside the accesses to memory: barriers, fences and atomic functions.
// Included where a kernel is compiled to be x-rayed (../../xray); a plain kernel knows nothing of it.
#pragma once

extern "C" {
int standin_xray_barrier(StandinScope scope, int predicate, int line);
void standin_xray_syncwarp(unsigned int mask, int line);
void standin_xray_fence();
}
#define standin_barrier standin_xray_barrier

// An atomic function is counted as one access: by its load.
template <class T>
__attribute__((always_inline)) inline T standin_xray_load(T *p) {
    T value;
    __atomic_load(p, &value, __ATOMIC_RELAXED);
    return value;
}
template <class T, class U>
__attribute__((always_inline)) inline void standin_xray_store(T *p, U given) {
    T value = (T)given;
    __atomic_store(p, &value, __ATOMIC_RELAXED);
}
#define STANDIN_ATOMIC_LOAD(p) standin_xray_load(p)
#define STANDIN_ATOMIC_STORE(p, value) standin_xray_store(p, value)
