// What is known of the threads that can wait for each other (fibers.h). Part of runtime.cpp.
#pragma once
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include "faults.h"
#include "memory.h"
#include "shared.h"
#include "runtime.h"
#include "stacks.h"

double standin_spin_limit = 20;  // seconds

namespace {

// Saving a fiber's context and going on with another's. The compiler's built-in half does in a few
// instructions what setjmp does with a call. The other half, built in too, may not stand in one
// function with it, so it is written out: with no call in between, each fiber returns to where the
// processor expects it, since all that wait at a barrier return to the same place. Together they
// halve the time of a kernel that is all barriers.
#ifdef __x86_64__
typedef void *Context[5];  // frame, where to go on, stack
#define SAVE(context) __builtin_setjmp(context)
[[noreturn]] inline __attribute__((always_inline)) void restore(Context &context) {
    asm volatile("movq (%0), %%rbp; movq 16(%0), %%rsp; jmp *8(%0)" : : "a"(context) : "memory");
    __builtin_unreachable();
}
#else
typedef jmp_buf Context;
#define SAVE(context) _setjmp(context)
[[noreturn]] inline void restore(Context &context) { _longjmp(context, 1); }
#endif

enum State : unsigned char { READY, AT_BLOCK, AT_GRID, AT_WARP, AT_MASK, SPINS, RETURNED };

const int MAX_PARAMETERS = 1024;   // 4 KiB of arguments is what CUDA allows

struct Block {
    int arrived, predicates, result, line;  // at the block's barrier
    int returned, spinning;
};

const StandinKernel *kernel;
void **arguments;
size_t dynamic_bytes;
unsigned block_count, block_threads, block_warps;  // blocks that are resident, and their size
unsigned current;                                  // fiber: block * block_threads + thread
unsigned current_block;                            // which resident block the current fiber is of
unsigned grid_arrived, grid_returned;
bool lenient;  // a block's barrier does not wait for threads that have returned
double progress_time;  // by thread_seconds(), when a thread last did something other than spin
unsigned spins;

// One entry a fiber.
unsigned fiber_capacity;
Context *contexts;
bool *started;
unsigned char *states;
int *lines;          // where it waits
uint3 *coordinates;  // threadIdx
// One entry a block, and one a warp.
Block *blocks;
StandinWarp *warps;

template <class T>
void grow(T *&array, size_t count) {
    array = (T *)realloc((void *)array, count * sizeof(T));
    if (!array) standin_fail(STANDIN_REFUSED, "there is no memory for its threads");
}

void reserve_fibers(unsigned count) {
    if (count <= fiber_capacity) return;
    if (!reserve_stacks(count))
        standin_fail(STANDIN_REFUSED, "there is no memory for the stacks of %u threads", count);
    grow(contexts, count);
    grow(started, count);
    grow(states, count);
    grow(lines, count);
    grow(coordinates, count);
    memset(started + fiber_capacity, 0, (count - fiber_capacity) * sizeof *started);
    fiber_capacity = count;
}

Stack own_stack() {
    if (!kernel || kernel->loop) return {stacks.begin, stacks.begin + PLAIN_STACK};
    return {stack_of(current), stack_of(current) + STACK - shift_of(current)};
}

const char *describe_address(const char *address) {
    if (is_stack_fence(address))
        return "more local memory than the stand-in gives a thread (about 100 KiB, and 1 MiB where it "
               "cannot wait for others)";
    if (address < (const char *)4096) return "an access through a null pointer, such as that of an array without elements";
    return "";
}

void enter_block(unsigned next) {
    if (next == current_block) return;
    current_block = next;
    unsigned x = standin_here.grid_size.x, y = standin_here.grid_size.y;
    standin_here.block = {next % x, next / x % y, next / x / y};
    frames.enter(next);
}

}  // namespace
