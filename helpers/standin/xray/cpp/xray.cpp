// What an x-ray of a launch sees: every access to memory of every thread, told by the calls that
// -fsanitize=thread compiles in. Their last argument, the place in the source, is put in by assembly.py.
#include "merging.h"
#include "racing.h"
#include "state.h"

namespace {

// The thread that runs is another one than before.
__attribute__((noinline)) void change() {
    unsigned index = standin_here.index;
    uint3 b = standin_here.block;
    unsigned block = (b.z * grid_size.y + b.y) * grid_size.x + b.x;
    if (!self || block != current_block) {
        if (!resident) {
            if (self) merge_block(0, current_block);
            for (Thread &t : lanes) {
                t.depth = t.barriers = t.grid_barriers = t.fence = 0, t.epoch = 1;
                memset(t.know, 0, sizeof t.know);
            }
            if (shared_cell_count) memset((void *)shared_cells[0].data(), 0, shared_cell_count * sizeof(Cell));
            merged[0] = 0;
        }
        current_block = block, current_position = b;
    } else if (in_turn && index / 32 != current_index / 32) {
        merge_warp(0, current_index / 32, current_block);  // it is over
    }
    current_index = index;
    self = &lanes[(resident ? current_block * threads : 0) + index];
}

inline void locate() {
    settle();
    const uint3 &b = standin_here.block;
    if (__builtin_expect(standin_here.index != current_index || b.x != current_position.x ||
                             b.y != current_position.y || b.z != current_position.z || !self, 0))
        change();
}

inline void note(const Event &e) {
    if (__builtin_expect(++held > xray_most_held, 0))
        standin_fail(STANDIN_REFUSED,
                     "an x-ray keeps %lld steps of a block between two barriers, and these are more. Try "
                     "a smaller launch",
                     (long long)xray_most_held);
    self->log.push_back(e);
}

inline bool holds(const Space &s, uintptr_t a) {
    if (s.slot) return a - (uintptr_t)s.slot->here < s.size;
    return a - (s.shared ? (uintptr_t)standin_here.dynamic_shared : s.base) < s.size;
}

inline void access(const volatile void *p, unsigned size, Kind kind, unsigned place) {
    if (!on) return;
    uintptr_t a = (uintptr_t)p;
    if (a - (uintptr_t)&standin_here < sizeof standin_here) return;
    locate();
    unsigned k = last_space[place];
    if (k >= spaces.size() || !holds(spaces[k], a)) {
        for (k = 0; k < spaces.size() && !holds(spaces[k], a); ++k) {}
        if (k == spaces.size()) return;  // local memory
        last_space[place] = k;
    }
    Space &space = spaces[k];
    uintptr_t base = space.slot     ? (uintptr_t)space.slot->here
                     : space.shared ? (uintptr_t)standin_here.dynamic_shared
                                    : space.base;
    uint64_t offset = a - base;
    ++event_count;
    note({(255 - self->depth) << 24 | place, kind, (uint8_t)size, (uint16_t)k,
          space.shared ? offset : (uint64_t)a});
    if (space.shared) {
        Cell *cells = shared_cells[resident ? current_block : 0].data() + space.first_cell;
        check_race(cells, k, offset, (char *)p, size, kind, place);
        return;
    }
    for (size_t s = space.sector(a); space.touched && s <= space.sector(a + size - 1); ++s) {
        uint8_t &touched = space.touched[s];
        if (kind != STORE && kind != VSTORE && !(touched & WRITTEN)) touched |= READ_FIRST;
        if (kind != LOAD && kind != VLOAD) touched |= WRITTEN;
    }
    if (space.cells) {
        if (fenced && kind >= ATOMIC) synchronise(a);
        check_race(space.cells, k, offset, (char *)p, size, kind, place);
    }
}

unsigned block_number() {
    const uint3 &b = standin_here.block;
    return (b.z * grid_size.y + b.y) * grid_size.x + b.x;
}
void sampled_call(void **arguments) {
    if (sampled[block_number()]) plain_call(arguments);
}
void sampled_loop(void **arguments) {
    if (sampled[block_number()]) plain_loop(arguments);
}

}  // namespace

extern "C" {

// ---- called by kernels ---------------------------------------------------------------------------

#define CALLBACKS(n)                                                                                \
    void __tsan_read##n(void *p, unsigned place) { access(p, n, LOAD, place); }                     \
    void __tsan_write##n(void *p, unsigned place) { access(p, n, STORE, place); }                   \
    void __tsan_unaligned_read##n(void *p, unsigned place) { access(p, n, LOAD, place); }           \
    void __tsan_unaligned_write##n(void *p, unsigned place) { access(p, n, STORE, place); }         \
    void __tsan_volatile_read##n(void *p, unsigned place) { access(p, n, VLOAD, place); }           \
    void __tsan_volatile_write##n(void *p, unsigned place) { access(p, n, VSTORE, place); }         \
    void __tsan_unaligned_volatile_read##n(void *p, unsigned place) { access(p, n, VLOAD, place); } \
    void __tsan_unaligned_volatile_write##n(void *p, unsigned place) { access(p, n, VSTORE, place); }
CALLBACKS(1)
CALLBACKS(2)
CALLBACKS(4)
CALLBACKS(8)
CALLBACKS(16)
void __tsan_read_range(void *p, size_t n, unsigned place) { access(p, n, LOAD, place); }
void __tsan_write_range(void *p, size_t n, unsigned place) { access(p, n, STORE, place); }
void __tsan_init() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
void __tsan_func_entry(void *) {
    if (!on) return;
    locate();
    ++self->depth;
}
void __tsan_func_exit() {
    if (!on) return;
    locate();
    --self->depth;
}
void __sanitizer_cov_trace_pc(unsigned place) {
    if (!on) return;
    locate();
    note({(255 - self->depth) << 24 | place, MARK, 0, 0, 0});
}
// Of a read and write at once only the load is counted, as an atomic access.
#define ATOMICS(bits, type)                                                        \
    type __tsan_atomic##bits##_load(const volatile type *p, int, unsigned place) { \
        access(p, bits / 8, ATOMIC, place);                                        \
        return *p;                                                                 \
    }                                                                              \
    void __tsan_atomic##bits##_store(volatile type *p, type v, int) { *p = v; }
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

int standin_xray_barrier(StandinScope scope, int predicate, int line) {
    if (!on) return standin_barrier(scope, predicate, line);
    locate();
    int result = standin_barrier(scope, predicate, line);
    locate();
    unsigned slot = resident ? current_block : 0;
    ++self->barriers;
    if (scope == STANDIN_GRID) ++self->grid_barriers;
    if (merged[slot] < self->barriers) {  // the first to come back: all of the block have arrived
        merge_block(slot, current_block);
        merged[slot] = self->barriers;
    }
    return result;
}

// Called for every lane when the last one has arrived: each now knows what all had done by then. Later is
// too late, since a lane may have gone on to its next barrier.
static unsigned long long meet(const StandinWarp &warp, unsigned int who, int number) {
    Thread *me = (Thread *)warp.value[number];
    for (unsigned rest = who; rest; rest &= rest - 1) {
        Thread *other = (Thread *)warp.value[__builtin_ctz(rest)];
        for (int i = 0; i < 32; ++i) me->know[i] = std::max(me->know[i], other->left[i]);
    }
    return 0;
}
static unsigned long long nothing(const StandinWarp &, unsigned int, int) { return 0; }

void standin_xray_syncwarp(unsigned mask, int line) {
    if (!on) {
        standin_exchange(mask, 0, 0, nothing, line);
        return;
    }
    locate();
    self->know[current_index % 32] = self->epoch;
    memcpy(self->left, self->know, sizeof self->left);
    standin_exchange(mask, (unsigned long long)self, 0, meet, line);
    locate();
    ++self->epoch;
}

void standin_xray_fence() {
    if (on) {
        locate();
        fenced = true;
        self->fence = self->barriers + 1;
    }
    standin_spin();
}

// ---- called from Python --------------------------------------------------------------------------

// An array or the dynamic shared memory, as launch.py gives it.
struct GivenSpace {
    uint64_t base, size;
    int32_t granule, constant;
};

// Fill `gate` with a kernel that is `kernel` for the blocks of the sample (all, if its count is negative)
// and nothing for others.
void xray_gate(const StandinKernel *kernel, StandinKernel *gate, unsigned grid_x, unsigned grid_y,
               unsigned grid_z, const uint32_t *sample, int sample_count) {
    grid_size = dim3(grid_x, grid_y, grid_z);
    *gate = *kernel;
    plain_call = kernel->call, plain_loop = kernel->loop;
    if (kernel->call) gate->call = sampled_call;
    if (kernel->loop) gate->loop = sampled_loop;
    sampled.assign(grid_x * grid_y * grid_z, sample_count < 0);
    for (int i = 0; i < sample_count; ++i) sampled[sample[i]] = 1;
}

// Get ready for a launch of `kernel`, which is to be made through a gate. The spaces are the module's shared variables in the order of its slots, the dynamic one, the arrays.
void xray_begin(const StandinKernel *kernel, size_t dynamic, unsigned block_threads, int all_at_once,
                int places, int array_count, const GivenSpace *arrays, int loops,
                const int32_t *loop_spans) {
    blocks = grid_size.x * grid_size.y * grid_size.z, threads = block_threads, warps = (threads + 31) / 32;
    resident = all_at_once, in_turn = kernel->loop != nullptr;
    spaces.clear();
    shared_cell_count = 0;
    auto add_shared = [](StandinSlot *slot, size_t size) {
        Space s;
        s.slot = slot, s.shared = true, s.size = size, s.first_cell = shared_cell_count;
        shared_cell_count += (size + 3) / 4 + 4;
        spaces.push_back(s);
    };
    for (StandinSlot *slot = kernel->slots; slot; slot = slot->next) add_shared(slot, slot->bytes);
    add_shared(nullptr, dynamic);
    for (int i = 0; i < array_count; ++i) {
        Space s;
        s.base = arrays[i].base, s.size = arrays[i].size;
        s.granule = arrays[i].granule, s.constant = arrays[i].constant;
        s.touched = (uint8_t *)calloc(s.size / 32 + 3, 1);
        if (!s.constant) s.cells = (Cell *)calloc(s.size / s.granule + 4, sizeof(Cell));
        spaces.push_back(s);
    }
    unsigned slots = resident ? blocks : 1;
    lanes.assign((size_t)slots * threads, Thread());
    shared_cells.assign(slots, std::vector<Cell>(shared_cell_count));
    merged.assign(slots, 0);
    last_space.assign(places, 0xffff);
    splits.assign(places, 0), passages.assign(places, 0);
    chain.assign(places, Chain());
    for (int i = 0; i < loops && i < MOST_LOOPS; ++i) {
        loop_first[i] = loop_spans[2 * i], loop_last[i] = loop_spans[2 * i + 1];
        for (uint32_t p = loop_first[i]; p <= loop_last[i]; ++p)
            if (chain[p].count < MOST_NESTED) chain[p].loop[chain[p].count++] = i;
    }
    stats.clear(), stat_at.clear(), races.clear(), race_at.clear(), released.clear(), known.clear();
    gathered.clear();
    fenced = false, self = nullptr, event_count = held = 0, pending.race = -1;
    on = true;
}

void xray_end(int complete) {
    if (on && complete && self) {
        settle();
        if (resident)
            for (unsigned b = 0; b < blocks; ++b) merge_block(b, b);
        else
            merge_block(0, current_block);
    }
    on = false;
    sectors_read.assign(spaces.size(), 0), sectors_written.assign(spaces.size(), 0);
    for (size_t k = 0; k < spaces.size(); ++k) {
        Space &s = spaces[k];
        for (size_t i = 0; s.touched && i < s.size / 32 + 3; ++i) {
            sectors_read[k] += (s.touched[i] & READ_FIRST) != 0;
            sectors_written[k] += (s.touched[i] & WRITTEN) != 0;
        }
        free(s.cells), free(s.touched);
        s.cells = nullptr, s.touched = nullptr;
    }
    lanes = {};
    shared_cells = {};
}

const Stat *xray_stats(int *count) {
    *count = stats.size();
    return stats.data();
}
const Race *xray_races(int *count) {
    *count = races.size();
    return races.data();
}
const int64_t *xray_splits() { return splits.data(); }
const int64_t *xray_passages() { return passages.data(); }
int64_t xray_events() { return event_count; }
const int64_t *xray_sectors_read() { return sectors_read.data(); }
const int64_t *xray_sectors_written() { return sectors_written.data(); }
}
