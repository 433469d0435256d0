// What a compiled kernel and the runtime that runs it (runtime.cpp) know of each other.
#pragma once
#include <stddef.h>

struct uint3 {
    unsigned int x, y, z;
};

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

// Where the running thread is. One thread of the grid runs at a time, so one copy is enough.
struct StandinHere {
    uint3 thread, block;
    dim3 block_size, grid_size;
    char *dynamic_shared;  // the block's dynamic shared memory
    size_t dynamic_bytes;
    unsigned int index;  // of the thread in its block, x fastest
    bool backwards;      // the last block and, where they cannot wait, the last thread come first
    bool cooperative;    // all blocks of the grid run at once because the launch asks for it
};

// The lanes of one warp meet here. A lane leaves a value and an argument; the last one to arrive
// works out everybody's result.
struct StandinWarp {
    unsigned long long value[32], result[32];
    int argument[32];
    unsigned int mask[32];
    void *combine[32];
    unsigned int waiting, alive;  // bit i: lane i
    unsigned int swept;           // the place in the source where a mask was last answered
};
typedef unsigned long long (*StandinCombine)(const StandinWarp &warp, unsigned int lanes, int lane);

// What is left of a barrier's `line` is its number in that line.
enum { STANDIN_LINE = (1 << 20) - 1 };

enum StandinScope { STANDIN_BLOCK, STANDIN_GRID };

// One `__shared__` variable of a module: where it is, in the block that runs, and what is known of it.
struct StandinSlot {
    size_t bytes;
    int number;        // which declaration of the source, from 0; those of a template share one
    StandinSlot *next;
    size_t offset;     // in a block's frame
    char *here;
    size_t alignment, element;  // bytes; of an array's elements
    // By byte of an element: 0 where it is padding. Null: it has none, or the compiler does not tell.
    const unsigned char *used;
};

// One parameter of a kernel: kind is p(ointer), i(nteger), u(nsigned), f(loat), b(ool) or s(truct).
struct StandinParameter {
    char kind, target_kind;  // target: what a pointer points to, 0 for void
    int size, target_size, target_alignment;  // bytes
    const char *type;        // a text that holds the type's name
};

struct StandinKernel {
    void (*call)(void **arguments);  // run the thread at standin_here
    void (*loop)(void **arguments);  // run all threads of the block, one after another; or null
    const StandinParameter *parameters;
    int parameter_count;
    StandinSlot *slots;  // the static shared memory of the module
    char *constants, *constants_end;  // the pages of its __constant__ variables (constants.h); or null
};

enum StandinCode {
    STANDIN_DONE,
    STANDIN_FAULT,
    STANDIN_DIVERGED,
    STANDIN_REFUSED,
    STANDIN_SPINNING,
    STANDIN_INTERRUPTED
};

// Whether all blocks run at once: no; yes, to be safe; yes, and the kernel may rely on it.
enum StandinResidence { STANDIN_IN_TURN, STANDIN_AT_ONCE, STANDIN_COOPERATIVE };

enum StandinSlotNumber { STANDIN_NOT_SHARED = -2, STANDIN_DYNAMIC = -1 };

// Between which threads an atomic function is one.
enum StandinReach { STANDIN_ALL, STANDIN_OWN_BLOCK, STANDIN_OWN_THREAD };
// What it does: change a word, or replace it whatever it was, and, as samples of CUDA's have it, order what
// comes behind; or change, read or store one and order only what its fences do.
enum StandinDeed { STANDIN_CHANGES, STANDIN_REPLACES, STANDIN_ALTERS, STANDIN_LOOKS, STANDIN_STORES };
enum StandinOrder { STANDIN_RELEASES = 1, STANDIN_ACQUIRES = 2 };  // what it orders at its own word; both, or 0

struct StandinReport {
    int code;
    int has_thread;  // whether block and thread below mean something
    uint3 block, thread;
    // Of an access to memory: 'r'ead, 'w'rite, a write to 'c'onstant memory or, where only the hardware
    // noticed, 'x'; else 0.
    char access;
    // What an x-ray tells more of: it would have read shared memory that nobody has written, or (2) that an
    // asynchronous copy is to fill; or such a copy's source was overwritten.
    char unwritten;
    const void *address;
    size_t bytes;
    // Of an access to shared memory: the declaration's number, the variable's size, and how far from
    // its start the address is.
    int slot;
    size_t slot_bytes;
    long slot_offset;
    // Where in the source: a line of the file `library`; or, with line 0, an offset into a library.
    int line;
    size_t offset;
    char library[512];
    char text[1024];
};

// The first write outside the part of an array that a kernel was given (views.h).
struct StandinOverrun {
    int found;
    uint3 block, thread;
    const void *address;
    size_t offset;  // into the library
    char library[512];
};

// Whose local memory holds an address.
enum StandinWhose { STANDIN_NOBODYS, STANDIN_OWN, STANDIN_ANOTHERS };

enum StandinRounding { STANDIN_DOWN, STANDIN_UP, STANDIN_TOWARDS_ZERO };
enum StandinOperation {
    STANDIN_ADD,
    STANDIN_SUBTRACT,
    STANDIN_MULTIPLY,
    STANDIN_DIVIDE,
    STANDIN_ROOT,
    STANDIN_FMA
};

extern "C" {
extern StandinHere standin_here;
extern StandinReport standin_report;
extern double standin_spin_limit, standin_time_limit;
extern int standin_backwards;

int standin_launch(const StandinKernel *kernel, const char *arguments, unsigned int grid_x,
                   unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                   unsigned int block_y, unsigned int block_z, size_t dynamic_bytes, int residence);
int standin_guard(void (*work)(void *), void *argument);
const char *standin_output(size_t *length, size_t *lost);

// Called by kernels.
int standin_barrier(StandinScope scope, int predicate, int line);  // how many predicates held
unsigned long long standin_exchange(unsigned int mask, unsigned long long value, int argument,
                                    StandinCombine combine, int line);
unsigned int standin_active_lanes(int line);
void standin_spin();
// The same, in a loop that the compiler may run itself, as of a constexpr function.
constexpr void standin_turn() {
    if (!__builtin_is_constant_evaluated()) standin_spin();
}
[[noreturn]] void standin_fail(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int standin_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
long long standin_clock();
char standin_space(const void *p);  // g(lobal), s(hared), l(ocal), c(onstant)
float standin_rounded_floats(StandinOperation, StandinRounding, float x, float y, float z);
double standin_rounded_doubles(StandinOperation, StandinRounding, double x, double y, double z);
float standin_rounded_double(StandinRounding, double x);  // to a float
double standin_rounded_signed(StandinRounding, long long x, int to_double);
double standin_rounded_unsigned(StandinRounding, unsigned long long x, int to_double);
void *standin_memcpy(void *to, const void *from, size_t n);
void *standin_memset(void *to, int value, size_t n);
void standin_copy(void *to, const void *from, unsigned bytes, unsigned from_bytes, int line);
void standin_copy_commit();
void standin_copy_wait(int groups, int look = 1);  // at what the copies read: is it what it was?
void *standin_malloc(size_t bytes);
char *standin_heap(size_t *size);
void standin_heap_rests(int rests);
StandinWhose standin_whose_stack(const void *p);
void standin_free(void *p);
}
