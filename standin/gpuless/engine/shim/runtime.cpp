// Runs a grid on one operating-system thread.
//
// Blocks run one after another. The threads of a block are a plain loop when the kernel cannot wait
// (kernel->loop), and fibers otherwise: each has its own stack and runs until it waits at a barrier
// or a warp primitive, whereupon the next one that is ready goes on. With `resident` the threads of
// all blocks are fibers at once, which a grid-wide barrier needs.
//
// Faults and refusals leave through one longjmp to the frame of standin_launch.
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "copies.h"
#include "faults.h"
#include "fibers.h"
#include "heap.h"
#include "memory.h"
#include "runtime.h"
#include "sanitizer.h"
#include "shared.h"

StandinHere standin_here;
int standin_backwards;  // for the launches to come; see StandinHere

namespace {

void run_blocks_in_turn() {
    const dim3 grid = standin_here.grid_size;
    if (!kernel->loop) prepare_fibers(1);
    frames.prepare(kernel->slots, dynamic_bytes, 1);
    frames.enter(0);
    for (unsigned z = 0; z < grid.z; ++z)
        for (unsigned y = 0; y < grid.y; ++y)
            for (unsigned x = 0; x < grid.x; ++x) {
                standin_here.block = {x, y, z};
                if (standin_backwards)
                    standin_here.block = {grid.x - 1 - x, grid.y - 1 - y, grid.z - 1 - z};
                frames.clear(0);
                if (kernel->loop) {
                    in_thread = true;
                    kernel->loop(arguments);
                    in_thread = false;
                } else {
                    reset_fibers();
                    run_fibers();
                }
            }
}

void run_all_blocks_at_once() {
    const dim3 grid = standin_here.grid_size;
    prepare_fibers(grid.x * grid.y * grid.z);
    frames.prepare(kernel->slots, dynamic_bytes, block_count);
    for (unsigned b = 0; b < block_count; ++b) frames.clear(b);
    frames.enter(0);
    standin_here.block = {0, 0, 0};
    reset_fibers();
    run_fibers();
}

// ---- what kernels print --------------------------------------------------------------------------

// As much as a GPU keeps of what a launch prints. What does not fit is counted.
char output[1 << 20];
size_t output_length, output_lost;

}  // namespace

// ---- called from Python --------------------------------------------------------------------------

// Run `work(argument)` with faults caught: fills standin_report and returns its StandinCode, plus 256
// when something was printed.
int standin_guard(void (*work)(void *), void *argument) {
    standin_report = StandinReport();
    standin_report.slot = STANDIN_NOT_SHARED;
    in_thread = false;
    calling = nullptr;
    if (_setjmp(launch_frame) == 0) {
        handlers.install();
        set_constants(PROT_READ);
        call_on_stack(work, argument);
    }
    set_constants(PROT_READ | PROT_WRITE);
    handlers.restore();
    in_thread = false;
    if (standin_report.code != STANDIN_DONE) close_stacks();
    return standin_report.code + (output_length || output_lost ? 256 : 0);
}

// Run a kernel; `residence` is a StandinResidence. Each argument begins at a multiple of 16 bytes.
// Returns what standin_guard does.
int standin_launch(const StandinKernel *k, const char *values, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                   size_t bytes, int residence) {
    static void *pointers[MAX_PARAMETERS];  // kernels may look at what is ours, not at what is the host's
    constants = k->constants, constants_end = k->constants_end;
    for (int i = 0; i < k->parameter_count; ++i) {
        pointers[i] = (void *)values;
        values += round_up(k->parameters[i].size, 16);
    }
    kernel = k;
    arguments = pointers;
    // Whom the host gives their address may write: it is an array like others to that kernel.
    for (int i = 0; i < k->parameter_count; ++i)
        if (k->parameters[i].kind == 'p' && is_constant(*(void **)pointers[i])) constants = constants_end = nullptr;
    dynamic_bytes = bytes;
    ++launches;
    standin_here = StandinHere{};
    standin_here.block_size = dim3(block_x, block_y, block_z);
    standin_here.grid_size = dim3(grid_x, grid_y, grid_z);
    standin_here.dynamic_bytes = bytes;
    standin_here.backwards = standin_backwards;
    standin_here.cooperative = residence == STANDIN_COOPERATIVE;
    int code = standin_guard(
        [](void *all) {
            if (all)
                run_all_blocks_at_once();
            else
                run_blocks_in_turn();
        },
        residence == STANDIN_IN_TURN || k->loop ? nullptr : &residence);
    if (standin_report.code != STANDIN_DONE && fiber_capacity)  // abandoned fibers start afresh the next time
        memset(started, 0, fiber_capacity * sizeof *started);
    kernel = nullptr;
    constants = constants_end = nullptr;
    return code;
}

// What was printed since the last call, and how many bytes more; valid until the next launch.
const char *standin_output(size_t *length, size_t *lost) {
    *length = output_length;
    *lost = output_lost;
    output_length = output_lost = 0;
    return output;
}

// ---- called from kernels -------------------------------------------------------------------------

// How many numbers and texts a format takes; no more than this does CUDA's printf return. It knows the sizes
// h, l and ll and no '.*', reads hh as something else, and writes what it does not know as it stands.
static int conversions(const char *format, void *caller) {
    int count = 0;
    bool writes = false, misread = false;
    for (const char *c = format; *c; ++c) {
        if (*c != '%') continue;
        for (++c; *c && strchr("-+ #0123456789.*", *c); ++c) {
            count += *c == '*';
            misread |= c[0] == '*' && c[-1] == '.';
        }
        const char *size = c;
        while (*c && strchr("hlLzjt", *c)) ++c;
        if (!*c) break;
        if (*c == '%') continue;
        ++count;
        misread |= !strncmp(size, "hh", 2) || strchr("Lzjt", *size) || !strchr("diouxXeEfFgGaAcspn", *c) ||
                   (*size == 'l' && strchr("cs", *c));
        writes |= *c == 'n';
    }
    if (writes || misread || count > 32) note_place(caller);
    if (writes) standin_fail(STANDIN_FAULT, "printf with %%n, which CUDA's does not have");
    if (misread)
        standin_fail(STANDIN_FAULT,
                     "printf: CUDA's knows the sizes h, l and ll and no '.*', misreads %%hhd, and writes others, such "
                     "as %%zu, as they stand: cast the number, and write %%llu");
    if (count > 32)
        standin_fail(STANDIN_FAULT,
                     "printf of %d values: CUDA's takes 32, and writes the rest of the format as it stands", count);
    return count;
}

int standin_printf(const char *format, ...) {
    size_t room = sizeof output - output_length;
    va_list list;
    va_start(list, format);
    calling = __builtin_return_address(0);
    int count = conversions(format, calling), length = vsnprintf(output + output_length, room, format, list);
    calling = nullptr;
    va_end(list);
    if (length < 0) return length;
    if (!output_lost && (size_t)length < room)
        output_length += length;
    else
        output_lost += length;
    return count;
}

char standin_space(const void *p) {
    if (shared_arena.holds(p)) return 's';
    if (stacks.holds(p)) return 'l';
    return is_constant(p) ? 'c' : 'g';
}

StandinWhose standin_whose_stack(const void *p) {
    if (!stacks.holds(p)) return STANDIN_NOBODYS;
    Stack own = own_stack();
    bool on_own = p >= own.begin && p < own.top;
    return on_own || p < stacks.begin + PLAIN_STACK ? STANDIN_OWN : STANDIN_ANOTHERS;
}

long long standin_clock() { return (long long)(seconds() * 1e9); }

// ---- roundings (rounding.h) ----------------------------------------------------------------------

namespace {

// For as long as it lives the processor rounds so. What is computed meanwhile must be volatile.
struct Rounding {
    int before = fegetround();
    explicit Rounding(StandinRounding way) {
        const int ways[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
        fesetround(ways[way]);
    }
    ~Rounding() { fesetround(before); }
};

template <class T>
T rounded(StandinOperation operation, StandinRounding way, T given_x, T given_y, T given_z) {
    Rounding rounding(way);
    volatile T x = given_x, y = given_y, z = given_z, result = 0;
    switch (operation) {
        case STANDIN_ADD: result = x + y; break;
        case STANDIN_SUBTRACT: result = x - y; break;
        case STANDIN_MULTIPLY: result = x * y; break;
        case STANDIN_DIVIDE: result = x / y; break;
        case STANDIN_ROOT: result = sizeof(T) == 4 ? (T)sqrtf((float)x) : (T)sqrt((double)x); break;
        case STANDIN_FMA: result = sizeof(T) == 4 ? (T)fmaf(x, y, z) : (T)fma(x, y, z); break;
    }
    return result;
}

template <class To, class From>
To converted(StandinRounding way, From given) {
    Rounding rounding(way);
    volatile From x = given;
    volatile To result = (To)x;
    return result;
}

}  // namespace

float standin_rounded_floats(StandinOperation o, StandinRounding way, float x, float y, float z) {
    return rounded(o, way, x, y, z);
}
double standin_rounded_doubles(StandinOperation o, StandinRounding way, double x, double y, double z) {
    return rounded(o, way, x, y, z);
}
float standin_rounded_double(StandinRounding way, double x) { return converted<float>(way, x); }
double standin_rounded_signed(StandinRounding way, long long x, int to_double) {
    return to_double ? converted<double>(way, x) : converted<float>(way, x);
}
double standin_rounded_unsigned(StandinRounding way, unsigned long long x, int to_double) {
    return to_double ? converted<double>(way, x) : converted<float>(way, x);
}
