// What is said when threads wait for others that never come. Part of runtime.cpp.
#pragma once
#include "fiber_state.h"

namespace {

[[noreturn]] void report_divergence() {
    unsigned at_block = 0, at_grid = 0, at_warp = 0, returned = 0;
    int waits = -1;
    unsigned first = current_block * block_threads;
    for (unsigned b = 0; waits < 0 && b < block_count; ++b) {  // a block where somebody waits
        first = b * block_threads;
        for (unsigned i = 0; i < block_threads; ++i)
            if (states[first + i] != RETURNED) {
                waits = i;
                break;
            }
    }
    for (unsigned i = 0; i < block_threads; ++i) {
        unsigned char state = states[first + i];
        at_block += state == AT_BLOCK, at_grid += state == AT_GRID;
        at_warp += state == AT_WARP, returned += state == RETURNED;
    }
    enter_block(first / block_threads);
    standin_here.thread = coordinates[waits];
    unsigned line = lines[first + waits] & STANDIN_LINE;
    unsigned char state = states[first + waits];
    char *text = standin_report.text;
    size_t size = sizeof standin_report.text, n = 0;
    n += snprintf(text + n, size - n, "barrier divergence: in block (%u, %u, %u)",
                  standin_here.block.x, standin_here.block.y, standin_here.block.z);
    const char *comma = " ";
    const struct {
        unsigned count;
        const char *what;
    } parts[] = {{at_block, "wait at __syncthreads()"},
                 {at_grid, "wait at the grid's barrier"},
                 {at_warp, "wait at a warp primitive"},
                 {returned, "have returned"}};
    for (auto &part : parts)
        if (part.count) {
            n += snprintf(text + n, size - n, "%s%u thread%s %s", comma, part.count,
                          part.count == 1 ? "" : "s", part.what);
            comma = ", ";
        }
    n += snprintf(text + n, size - n, "; thread (%u, %u, %u) waits in line %u",
                  standin_here.thread.x, standin_here.thread.y, standin_here.thread.z, line);
    const bool passes = at_block && returned && at_block + returned == block_threads;
    snprintf(text + n, size - n, "%s",
             passes
                 ? ". GPUs since 2017 do not wait for threads that have returned, older ones hang: put the "
                   "condition (such as a bounds test) around the work, not around the barrier, and do not "
                   "return before it, or set CUPY_STANDIN_LENIENT=1 to have it as on the newer ones"
             : state == AT_WARP
                 ? ". On a GPU this hangs or is undefined: every lane named in the mask must make the "
                   "same call with the same mask"
                 : ". On a GPU this hangs or is undefined: every thread must reach every barrier, so "
                   "put the condition (such as a bounds test) around the work, not around the barrier, "
                   "and do not return before it");
    leave(STANDIN_DIVERGED);
}

}  // namespace
