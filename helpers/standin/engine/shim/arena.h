// The dynamic shared memory of the blocks. Part of runtime.cpp.
#pragma once
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime.h"

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

namespace {

// Each block's bytes end where a page begins that may not be touched, so that an index past the end
// faults at once. What lies before them, and less than 16 bytes after, is filled with a pattern.
const unsigned char PATTERN = 0xA5, POISON = 0xFF;  // floats made of POISON are NaN
const size_t BEFORE = 64;                           // bytes of pattern before

size_t page_size() {
    static const size_t size = sysconf(_SC_PAGESIZE);
    return size;
}

size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

struct Arena {
    char *memory = nullptr;
    size_t stride = 0, capacity = 0;  // bytes for a block, fence included; bytes mapped

    void prepare(size_t bytes, size_t blocks) {
        size_t wanted = round_up(bytes + BEFORE, page_size()) + page_size();
        if (wanted == stride && wanted * blocks <= capacity) return;
        if (memory) munmap(memory, capacity);
        stride = wanted;
        capacity = wanted * blocks;
        memory = (char *)mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            memory = nullptr, capacity = stride = 0;
            standin_fail(STANDIN_REFUSED, "there is no room for its dynamic shared memory");
        }
        for (size_t b = 0; b < blocks; ++b)
            mprotect(memory + b * stride + stride - page_size(), page_size(), PROT_NONE);
    }

    char *fence(size_t block) const { return memory + (block + 1) * stride - page_size(); }
    char *start(size_t block, size_t bytes) const { return fence(block) - round_up(bytes, 16); }

    void fill(size_t block, size_t bytes) const {
        char *s = start(block, bytes);
        memset(s - BEFORE, PATTERN, BEFORE);
        memset(s, POISON, bytes);
        memset(s + bytes, PATTERN, fence(block) - (s + bytes));
    }

    bool intact(size_t block, size_t bytes) const {
        char *s = start(block, bytes);
        for (char *p = s - BEFORE; p < s; ++p)
            if ((unsigned char)*p != PATTERN) return false;
        for (char *p = s + bytes; p < fence(block); ++p)
            if ((unsigned char)*p != PATTERN) return false;
        return true;
    }
} arena;

}  // namespace
