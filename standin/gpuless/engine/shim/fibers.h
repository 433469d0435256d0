// Threads that can wait for each other, all on one thread of the operating system: each has a stack
// of its own and runs until it waits, whereupon the next one that is ready goes on. Part of
// runtime.cpp.
#pragma once
#include <time.h>

#include "divergence.h"
#include "fiber_state.h"

namespace {

double seconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

void made_progress() { spins = 0; }

[[noreturn]] void finish_launch() { _longjmp(launch_frame, 2); }

void thread_returned();

void fiber_main() {
    for (;;) {
        kernel->call(arguments);
        thread_returned();
    }
}

[[noreturn]] __attribute__((noinline)) void start(unsigned fiber) {
    started[fiber] = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = stack_of(fiber);
    context.uc_stack.ss_size = STACK - shift_of(fiber);
    context.uc_link = nullptr;
    makecontext(&context, fiber_main, 0);
    setcontext(&context);
    abort();
}

// Go on with another fiber; the caller has saved the context of this one.
[[noreturn]] inline __attribute__((always_inline)) void resume(unsigned fiber) {
    current = fiber;
    unsigned index = fiber - current_block * block_threads;
    standin_here.index = index;
    standin_here.thread = coordinates[index];
    if (!started[fiber]) start(fiber);
    restore(contexts[fiber]);
}

// No lane of the warp can go on, but some ask which are with them: answer those of one line, so that the lanes
// that skipped a branch wait for those in it. One sweep down the source follows another, since after a turn of a
// loop its first line is next. `own` and `own_lines` are of the warp's lanes.
void *answer_masks(unsigned char *own, const int *own_lines, unsigned lanes, StandinWarp &warp) {
    const auto place = [](int line) { return (unsigned)line << 12 | (unsigned)line >> 20; };
    unsigned top = ~0u, below = ~0u;
    for (unsigned lane = 0; lane < lanes; ++lane) {
        if (own[lane] != AT_MASK) continue;
        const unsigned asked = place(own_lines[lane]);
        if (asked < top) top = asked;
        if (asked > warp.swept && asked < below) below = asked;
    }
    warp.swept = below != ~0u ? below : top;
    unsigned active = 0;
    for (unsigned lane = 0; lane < lanes; ++lane)
        if (own[lane] == AT_MASK && place(own_lines[lane]) == warp.swept) active |= 1u << lane;
    for (unsigned rest = active; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        warp.result[lane] = active;
        own[lane] = READY;
    }
    return own + __builtin_ctz(active);
}

// The next fiber to run, if it is not the neighbour: of this warp if one is ready, as their stacks are
// still in the cache, else of this block, else of the next block that has one.
__attribute__((noinline)) unsigned next_fiber() {
    unsigned char *own = states + current_block * block_threads;
    unsigned after = current - current_block * block_threads + 1;
    unsigned warp = (after - 1) / 32 * 32, rest = block_threads - warp;
    if (rest > 32) rest = 32;
    void *found = memchr(own + warp, READY, rest);
    if (!found && memchr(own + warp, AT_MASK, rest))
        found = answer_masks(own + warp, lines + current_block * block_threads + warp, rest,
                             warps[current_block * block_warps + warp / 32]);
    if (!found) found = memchr(own + after, READY, block_threads - after);
    if (!found) found = memchr(own, READY, after);
    if (found) return (unsigned char *)found - states;
    for (unsigned i = 1; i <= block_count; ++i) {
        unsigned b = (current_block + i) % block_count;
        unsigned char *candidates = states + b * block_threads;
        if (blocks[b].spinning) {  // these may look again
            for (unsigned k = 0; k < block_threads; ++k)
                if (candidates[k] == SPINS) candidates[k] = READY;
            blocks[b].spinning = 0;
        }
        found = memchr(candidates, READY, block_threads);
        if (found) {
            enter_block(b);
            return (unsigned char *)found - states;
        }
    }
    if (grid_returned == block_count * block_threads) finish_launch();
    report_divergence();
}

// Let others run until this fiber, whose state says what it waits for, is ready again.
void wait() {
    if (SAVE(contexts[current])) return;  // saved even by the last one, which runs again next time
    unsigned after = standin_here.index + 1;
    bool neighbour = after % 32 && after < block_threads && states[current + 1] == READY;
    unsigned next = neighbour ? current + 1 : next_fiber();
    if (next != current) resume(next);
}

bool exchange_if_complete(StandinWarp &warp, unsigned mask, void *combine, unsigned first) {
    unsigned lanes = mask & warp.alive;
    if ((warp.waiting & lanes) != lanes) return false;
    for (unsigned rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (warp.mask[lane] != mask || warp.combine[lane] != combine) return false;
    }
    for (unsigned rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        warp.result[lane] = ((StandinCombine)combine)(warp, lanes, lane);
        states[first + lane] = READY;
    }
    warp.waiting &= ~lanes;
    made_progress();
    return true;
}

// Whether those at the block's barrier go on: it holds all threads, or, as on GPUs since 2017, all that
// have not returned.
__attribute__((noinline)) bool pass_barrier() {
    Block &block = blocks[current_block];
    const int returned = lenient ? block.returned : 0;
    if (!block.arrived || block.arrived + returned < (int)block_threads) return false;
    unsigned char *own = states + current_block * block_threads;
    if (!returned) memset(own, READY, block_threads);
    for (unsigned i = 0; returned && i < block_threads; ++i)
        if (own[i] != RETURNED) own[i] = READY;
    block.result = block.predicates;
    block.arrived = block.predicates = 0;
    made_progress();
    return true;
}

// Each turn begins with the block's first thread: what it does alone behind a barrier, the other lanes
// of its warp wait for on a GPU as a rule, even where nothing makes them.
__attribute__((noinline)) void begin_turn() {
    const unsigned char *own = states + current_block * block_threads;
    const unsigned first = (const unsigned char *)memchr(own, READY, block_threads) - states;
    if (first == current || SAVE(contexts[current])) return;
    resume(first);
}

void thread_returned() {
    Block &block = blocks[current_block];
    states[current] = RETURNED;
    ++block.returned, ++grid_returned;
    made_progress();
    pass_barrier();
    StandinWarp &warp = warps[current_block * block_warps + standin_here.index / 32];
    int lane = standin_here.index % 32;
    warp.alive &= ~(1u << lane);
    // Lanes that named this one in their mask need wait for it no longer.
    for (unsigned rest = warp.waiting; rest; rest &= rest - 1) {
        int other = __builtin_ctz(rest);
        if (warp.mask[other] >> lane & 1 &&
            exchange_if_complete(warp, warp.mask[other], warp.combine[other], current - lane))
            rest &= warp.waiting | (rest & -rest);
    }
    wait();
}

void prepare_fibers(unsigned resident) {
    const char *set = getenv("CUPY_STANDIN_LENIENT");
    lenient = set && *set && strcmp(set, "0");
    block_count = resident;
    block_threads = standin_here.block_size.x * standin_here.block_size.y * standin_here.block_size.z;
    block_warps = (block_threads + 31) / 32;
    static unsigned block_capacity, warp_capacity;
    reserve_fibers(block_count * block_threads);
    if (block_count > block_capacity) grow(blocks, block_capacity = block_count);
    if (block_count * block_warps > warp_capacity)
        grow(warps, warp_capacity = block_count * block_warps);
    unsigned i = 0;
    for (unsigned z = 0; z < standin_here.block_size.z; ++z)
        for (unsigned y = 0; y < standin_here.block_size.y; ++y)
            for (unsigned x = 0; x < standin_here.block_size.x; ++x) coordinates[i++] = {x, y, z};
}

unsigned first_lanes(unsigned warp) {
    unsigned threads = block_threads - warp * 32;
    return threads >= 32 ? ~0u : (1u << threads) - 1;
}

void reset_fibers() {
    current = current_block = 0;
    grid_arrived = grid_returned = 0;
    memset(states, READY, block_count * block_threads);
    memset(blocks, 0, block_count * sizeof *blocks);
    for (unsigned w = 0; w < block_count * block_warps; ++w) {
        warps[w].waiting = warps[w].swept = 0;
        warps[w].alive = first_lanes(w % block_warps);
    }
    made_progress();
}

// Run the resident fibers until all have returned. In a function of its own, since what is kept in
// registers does not survive the jump back.
__attribute__((noinline)) void run_fibers() {
    jmp_buf outer;
    memcpy(outer, launch_frame, sizeof outer);
    int how = _setjmp(launch_frame);
    if (how == 0) {
        in_thread = true;
        resume(0);
    }
    in_thread = false;
    memcpy(launch_frame, outer, sizeof outer);
    if (how != 2) _longjmp(launch_frame, 1);
}

}  // namespace

// ---- called by kernels ---------------------------------------------------------------------------

static void need_fibers() {
    if (!kernel || kernel->loop)
        standin_fail(STANDIN_REFUSED,
                     "it waits for other threads in code that the stand-in does not see in its source "
                     "(a macro or an included file); name the barrier in the source itself");
}

int standin_barrier(StandinScope scope, int predicate, int line) {
    need_fibers();
    Block &block = blocks[current_block];
    if (scope == STANDIN_GRID) {
        lines[current] = line;
        if (++grid_arrived < block_count * block_threads) {
            states[current] = AT_GRID;
            wait();
        } else {
            memset(states, READY, block_count * block_threads);
            grid_arrived = 0;
            made_progress();
        }
        return 0;
    }
    if (block.arrived == 0)
        block.line = line;
    else if (block.line != line)
        standin_fail(STANDIN_DIVERGED,
                     "barrier divergence: this thread is at the barrier in line %d while others of "
                     "its block wait at %s in line %d. All threads must meet at the same one",
                     line & STANDIN_LINE, (line ^ block.line) & STANDIN_LINE ? "the one" : "another",
                     block.line & STANDIN_LINE);
    block.predicates += predicate != 0;
    if (++block.arrived < (int)block_threads && !(lenient && pass_barrier())) {
        lines[current] = line;
        states[current] = AT_BLOCK;
        wait();
    } else {
        pass_barrier();
        begin_turn();
    }
    return blocks[current_block].result;
}

unsigned long long standin_exchange(unsigned mask, unsigned long long value, int argument,
                                    StandinCombine combine, int line) {
    need_fibers();
    StandinWarp &warp = warps[current_block * block_warps + standin_here.index / 32];
    int lane = standin_here.index % 32;
    if (!(mask >> lane & 1))
        standin_fail(STANDIN_DIVERGED,
                     "line %d: lane %d makes a warp call whose mask 0x%08x does not name it, which is "
                     "undefined on a GPU",
                     line, lane, mask);
    warp.value[lane] = value;
    warp.argument[lane] = argument;
    warp.mask[lane] = mask;
    warp.combine[lane] = (void *)combine;
    warp.waiting |= 1u << lane;
    if (!exchange_if_complete(warp, mask, (void *)combine, current - lane)) {
        lines[current] = line;
        states[current] = AT_WARP;
        wait();
    }
    return warp.result[lane];
}

// The lanes of the warp that have come to this line by the time none of them can go on.
unsigned standin_active_lanes(int line) {
    need_fibers();
    lines[current] = line;
    states[current] = AT_MASK;
    wait();
    return (unsigned)warps[current_block * block_warps + standin_here.index / 32]
        .result[standin_here.index % 32];
}

// A thread goes round a loop that may be waiting for another thread: let the others run.
void standin_spin() {
    if (!kernel || kernel->loop) return;
    if (++spins % 4096 == 1) {
        double now = thread_seconds();
        if (spins == 1) progress_time = now;
        if (now - progress_time > standin_spin_limit)
            standin_fail(STANDIN_SPINNING,
                         "threads have gone round a loop for %g s, waiting for what no other thread "
                         "does. Threads of blocks that do not run at the same time cannot wait for "
                         "each other",
                         standin_spin_limit);
    }
    states[current] = SPINS;
    ++blocks[current_block].spinning;
    wait();
}
