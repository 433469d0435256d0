// Device memory behind fences. Part of runtime.cpp.
//
// Arrays lie a megabyte apart in one stretch of addresses. One byte of *shadow* tells of every eight
// bytes of it: 0, all may be touched; 1 to 7, only so many from the left; more, none, and why.
// Kernels are compiled to look there before each access (-fsanitize=kernel-address, whose shadow this
// is), so the first byte past an array is as forbidden as the millionth. The host's memory has no shadow
// at all: a kernel that asks about it faults. Where the shadow cannot be had, what lies between the
// arrays is memory that faults, up to 15 bytes past an end are not seen, and the host's memory is open.
#pragma once
#include <dlfcn.h>
#ifdef __linux__
#include <link.h>
#include <sys/mman.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime.h"

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0
#endif

namespace {

enum ShadowByte : unsigned char { UNWRITTEN = 0xF5, PARTLY_WRITTEN = 0xF6, VIEW = 0xF7, CLOSED = 0xFD };

const size_t GAP = 1 << 20;          // bytes between two arrays, at least
const size_t ALIGNMENT = 512;        // bytes; what cudaMalloc guarantees
const size_t TILE = 2 << 20;         // bytes of shadow that are mapped at a time

// Bytes of addresses for arrays, of which the first (margin) hold none, so that what is before an array
// is known; for the shared memory of blocks; for stacks; and for what kernels take with malloc.
struct Addresses {
    size_t arena = 1ull << 40, margin = 1ull << 36, shared = 1ull << 37, stacks = 1ull << 37,
           heap = 1ull << 30;
} addresses;
bool limited;  // addresses are scarce (ulimit -v): only those that are used get a shadow

const uintptr_t SHADOW = STANDIN_SHADOW;  // where the shadow begins; the compiler has it too
#ifdef __aarch64__
const size_t SHADOW_BYTES = 1ull << 45;  // of all addresses that a program can have
#else
const size_t SHADOW_BYTES = 1ull << 44;
#endif

size_t page_size() {
    static const size_t size = sysconf(_SC_PAGESIZE);
    return size;
}

size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

unsigned char *shadow_of(const void *p) { return (unsigned char *)(((uintptr_t)p >> 3) + SHADOW); }

bool has_shadow;

// Give the addresses from `begin` to `end` a shadow of their own: open, if it can be written.
void shadow_for(const void *begin, const void *end, int protection) {
    uintptr_t first = (uintptr_t)shadow_of(begin) / page_size() * page_size();
    size_t bytes = round_up((uintptr_t)shadow_of(end) + 1 - first, page_size());
    const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (!has_shadow) return;
    // What shares a page with something else has the page already.
    if (limited && mmap((void *)first, bytes, protection, how, -1, 0) != (void *)first)
        for (size_t at = 0; at < bytes; at += page_size())
            mmap((void *)(first + at), page_size(), protection, how, -1, 0);
    mprotect((void *)first, bytes, protection);
}

int tile_file = -1;  // TILE bytes of CLOSED

// A stretch of addresses of which a part, from the left, can be used.
struct Region {
    char *begin = nullptr, *end = nullptr;
    char *ready = nullptr;  // up to here there is memory (with a shadow)

    bool reserve(size_t bytes) {
        char *memory = (char *)mmap(nullptr, bytes + 8 * TILE, PROT_NONE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) return false;
        begin = ready = (char *)round_up((uintptr_t)memory, 8 * TILE);
        end = begin + bytes;
        shadow_for(begin, end, PROT_READ);  // what is not ready faults itself, at its exact address
        return true;
    }

    bool holds(const void *p) const { return p >= begin && p < end; }

    // Memory up to `to`, closed. False where there is no more.
    bool make_ready(char *to) {
        if (to > end) return false;
        if (!has_shadow) return true;
        for (; ready < to; ready += 8 * TILE) {
            void *tile = mmap(shadow_of(ready), TILE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                              tile_file, 0);
            if (tile == MAP_FAILED || mprotect(ready, 8 * TILE, PROT_READ | PROT_WRITE)) return false;
        }
        return true;
    }
} arena, shared_arena;

char *arena_next;  // where the next fresh array may begin

void open_memory(char *p, size_t bytes) {
    if (!has_shadow) return;
    unsigned char *shadow = shadow_of(p);
    memset(shadow, 0, bytes / 8);
    if (bytes % 8) shadow[bytes / 8] = bytes % 8;
}

void close_memory(char *p, size_t bytes) {
    if (has_shadow) memset(shadow_of(p), CLOSED, (bytes + 7) / 8);
}

bool make_shadow() {
#ifdef __linux__
    void *all = limited ? (void *)SHADOW : mmap((void *)SHADOW, SHADOW_BYTES, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (all != (void *)SHADOW) {
        if (all != MAP_FAILED) munmap(all, SHADOW_BYTES);
        return false;
    }
    if (!limited) madvise(all, SHADOW_BYTES, MADV_DONTDUMP);
    tile_file = memfd_create("shadow", MFD_CLOEXEC);
    if (tile_file < 0 || ftruncate(tile_file, TILE)) return false;
    void *tile = mmap(nullptr, TILE, PROT_READ | PROT_WRITE, MAP_SHARED, tile_file, 0);
    if (tile == MAP_FAILED) return false;
    memset(tile, CLOSED, TILE);
    munmap(tile, TILE);
    return true;
#else
    return false;
#endif
}

// Open the library that holds an address: a kernel's module, or ours.
void open_library(const void *p) {
#ifdef __linux__
    Dl_info library;
    if (!dladdr(p, &library)) return;
    dl_iterate_phdr(
        [](dl_phdr_info *info, size_t, void *base) {
            if ((void *)info->dlpi_addr != base) return 0;
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const ElfW(Phdr) &part = info->dlpi_phdr[i];
                char *begin = (char *)base + part.p_vaddr;
                if (part.p_type == PT_LOAD) shadow_for(begin, begin + part.p_memsz, PROT_READ | PROT_WRITE);
            }
            return 1;
        },
        library.dli_fbase);
#else
    (void)p;
#endif
}

}  // namespace

extern "C" {

// Where a limit is set to the addresses that the program may have, be content with a part of them.
void share_addresses() {
    rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY) return;
    size_t used = 0;
    if (FILE *file = fopen("/proc/self/statm", "r")) {
        if (fscanf(file, "%zu", &used) != 1) used = 0;
        fclose(file);
    }
    used *= page_size();
    size_t rest = limit.rlim_cur > used ? limit.rlim_cur - used : 0, unit = 8 * TILE;
    if (rest / 2 > addresses.arena + SHADOW_BYTES) return;
    limited = true;
    // Half of them; shadows take an eighth of what they are of.
    size_t part = rest / 24 / unit * unit;
    if (part < 2 * unit) part = 0;  // too few for anything
    addresses = {6 * part, unit, part, 2 * part, part};
}

// Reserve the addresses. Returns 2 with a shadow, 1 without, 0 where not even addresses can be had.
int standin_reserve(int want_shadow) {
    if (!arena.begin) {
        share_addresses();
        has_shadow = want_shadow && make_shadow();
        open_library(&standin_here);
        if (!addresses.shared || !arena.reserve(addresses.arena) || !shared_arena.reserve(addresses.shared))
            return 0;
        arena.ready = arena.begin + addresses.margin;
        arena_next = arena.ready + GAP;
    }
    return has_shadow ? 2 : 1;
}

// Where `bytes` of fresh memory begin, closed, with a gap on either side; null where there is no room.
char *standin_extend(size_t bytes) {
    static unsigned count;
    size_t pages = round_up(bytes, page_size());
    if (has_shadow) {
        // Starts differ within a page, or small arrays would share few lines of the cache.
        char *start = arena_next + count++ % 8 * ALIGNMENT;
        char *next = (char *)round_up((uintptr_t)start + bytes, page_size()) + GAP;
        if (!arena.make_ready(next)) return nullptr;
        arena_next = next;
        return start;
    }
    char *end = arena_next + pages;
    if (end + GAP > arena.end || mprotect(arena_next, pages, PROT_READ | PROT_WRITE)) return nullptr;
    arena_next = end + GAP;
    return end - round_up(bytes, 16);
}

void standin_open(char *p, size_t bytes) { open_memory(p, bytes); }

// `forget`: give the memory back to the system; the addresses stay reserved.
void standin_close(char *p, size_t bytes, int forget) {
    close_memory(p, bytes);
    if (!forget) return;
    char *first = (char *)round_up((uintptr_t)p, page_size());
    if (p + bytes > first) madvise(first, round_up(p + bytes - first, page_size()), MADV_DONTNEED);
}
}
