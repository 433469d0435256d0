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
            fetched.clear(), more_readers[1].clear();
            for (Thread &t : lanes) t.begin();
            if (shared_cell_count) memset((void *)shared_cells[0].data(), 0, shared_cell_count * sizeof(Cell));
            merged[0] = 0;
        }
        current_block = block, current_position = b, known_here = &known[block];
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

// Room for what is known of each sector and element of a space.
void make_books(Space &s) {
    s.aside = false;
    if (s.memory == GLOBAL) s.touched = (uint8_t *)calloc(s.size / 32 + 3, 1);
    if (!s.read_only) s.cells = (Cell *)calloc(cell_count(s), sizeof(Cell));
}

inline uintptr_t base_of(const Space &s) {
    return s.slot ? (uintptr_t)s.slot->here : s.shared ? (uintptr_t)standin_here.dynamic_shared : s.base;
}

// The number of the space that holds an address, or -1: local memory. A guess by place comes first.
inline int find_space(uintptr_t a, unsigned place, bool written) {
    auto holds = [&](const Space &s) { return a - base_of(s) < s.size; };
    unsigned k = last_space[place];
    if (k < spaces.size() && holds(spaces[k])) return k;
    StandinWhose whose = standin_whose_stack((const void *)a);
    if (whose == STANDIN_ANOTHERS) unseen[place] |= ANOTHERS_LOCAL;
    if (whose != STANDIN_NOBODYS) return -1;
    for (k = 0; k < spaces.size() && !holds(spaces[k]); ++k) {}
    if (k == spaces.size()) {
        if (written) unseen[place] |= WROTE_UNKNOWN;
        return -1;
    }
    if (spaces[k].aside) make_books(spaces[k]);
    return last_space[place] = k;
}

inline unsigned log2_of(unsigned long long n) { return __builtin_ctzll(n); }

// An access of `size` bytes, in pieces of 2^log2 bytes; `at_most`: or less, as their type is aligned.
inline void access(const volatile void *p, size_t size, Kind kind, unsigned place, unsigned log2,
                   bool at_most = false) {
    if (!on || !size) return;
    uintptr_t a = (uintptr_t)p;
    if (a - (uintptr_t)&standin_here < sizeof standin_here) return;
    locate();
    int k = find_space(a, place, writes(kind));
    if (k < 0) return;
    Space &space = spaces[k];
    uint64_t offset = a - base_of(space);
    log2 = std::min(log2, log2_of(size));
    log2 = std::min(log2, log2_of(space.widest));  // the compiler takes 16 bytes at multiples of 8 at once
    if (at_most && space.alignment) log2 = std::min(log2, log2_of(space.alignment));
    // cuda::atomic's load() and store() are plain ones to what moves the bytes: no lane waits for another.
    Kind counted = kind != ATOMIC ? kind : deed == STANDIN_LOOKS ? VLOAD : deed == STANDIN_STORES ? VSTORE : ATOMIC;
    for (size_t done = 0; done < size;) {
        unsigned pieces = std::min<size_t>(size - done >> log2, 255);
        ++event_count;
        note({(255 - self->depth) << 24 | place, counted, (uint8_t)log2, (uint8_t)pieces, (uint16_t)k,
              (space.shared ? offset : (uint64_t)a) + done});
        done += (size_t)pieces << log2;
    }
    if (writes(kind) && deed != STANDIN_LOOKS) ++self->deeds;
    if (kind == VLOAD) note_look(a, place);
    for (size_t t = space.sector(a); space.touched && t <= space.sector(a + size - 1); ++t) {
        uint8_t &touched = space.touched[t];
        if (!writes(kind) || (kind == ATOMIC && deed != STANDIN_STORES))
            if (!(touched & WRITTEN)) touched |= READ_FIRST;
        if (writes(kind) && deed != STANDIN_LOOKS) touched |= WRITTEN;
    }
    uint64_t word = space.shared ? a ^ (uint64_t)(current_block + 1) << 48 : a;
    bool strong = kind == ATOMIC || kind == VLOAD || kind == VSTORE;
    bool awaited = (strong || writes(kind)) && has_awaited(word, kind, place) && strong;
    Stamp own = 0;
    if (kind == ATOMIC && order) fenced = true, own = release_begins();
    check_race(k, offset, (char *)p, size, kind, place, at_most, awaited);
    // Last, for an access is not in order with a store to this same word by what it acquires there.
    if (fenced && strong) synchronise(word, kind, own);
    if (!fetched.empty() && writes(kind) && deed != STANDIN_LOOKS && !space.shared) check_fetched(k, a, offset, size, kind, place);
}

// What the compiler knows to be aligned is one piece, 16 bytes at most.
inline void whole(const volatile void *p, unsigned size, Kind kind, unsigned place) {
    access(p, size, kind, place, log2_of(size));
}
// What it does not: a struct, in pieces of its alignment, which is less than a power of two that it fills.
inline void range(const volatile void *p, size_t size, Kind kind, unsigned place) {
    if (!size) return;
    unsigned log2 = std::min(4u, log2_of(size));
    access(p, size, kind, place, size <= 16 && !(size & (size - 1)) && log2 ? log2 - 1 : log2, true);
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

#define CALLBACKS(n)                                                                      \
    void __tsan_read##n(void *p, unsigned place) { whole(p, n, LOAD, place); }            \
    void __tsan_write##n(void *p, unsigned place) { whole(p, n, STORE, place); }          \
    void __tsan_volatile_read##n(void *p, unsigned place) { whole(p, n, VLOAD, place); }  \
    void __tsan_volatile_write##n(void *p, unsigned place) {                              \
        for (int turn = 0; on && turn < 4; ++turn) standin_spin(); /* to be looked at as it was */ \
        whole(p, n, VSTORE, place);                                                       \
    }
CALLBACKS(1)
CALLBACKS(2)
CALLBACKS(4)
CALLBACKS(8)
CALLBACKS(16)
void __tsan_read_range(void *p, size_t n, unsigned place) { range(p, n, LOAD, place); }
void __tsan_write_range(void *p, size_t n, unsigned place) { range(p, n, STORE, place); }
void __tsan_init() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
void __tsan_func_entry(void *) {
    if (!on) return;
    locate();
    uint32_t key = self->log.empty() ? 0 : self->log.back().key;
    self->callers.push_back(key >> 24 == 255 - self->depth ? key : 0);
    ++self->depth;
}
void __tsan_func_exit() {
    if (!on) return;
    locate();
    --self->depth;
    if (self->callers.empty()) return;
    // A warp may split where the caller goes on before it touches memory.
    if (uint32_t key = self->callers.back()) note({key, BACK, 0, 0, 0, 0});
    self->callers.pop_back();
}
void __sanitizer_cov_trace_pc(unsigned place) {
    if (!on) return;
    locate();
    note({(255 - self->depth) << 24 | place, MARK, 0, 0, 0, 0});
}
// Of a read and write at once only the load is counted, as an atomic access.
#define ATOMICS(bits, type)                                                        \
    type __tsan_atomic##bits##_load(const volatile type *p, int, unsigned place) { \
        whole(p, bits / 8, ATOMIC, place);                                         \
        reach = STANDIN_ALL, deed = STANDIN_CHANGES, order = 0;                    \
        return *p;                                                                 \
    }                                                                              \
    void __tsan_atomic##bits##_store(volatile type *p, type v, int) { *p = v; }
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

void standin_xray_reach(StandinReach how_far, StandinDeed what, int orders) {
    reach = how_far, deed = what, order = orders;
}
int standin_xray_barrier(StandinScope scope, int predicate, int line, unsigned place) {
    if (!on) return standin_barrier(scope, predicate, line);
    locate();
    int result = standin_barrier(scope, predicate, line);
    locate();
    unsigned slot = resident ? current_block : 0;
    ++self->barriers, ++self->deeds;
    if (scope == STANDIN_GRID) ++self->grid_barriers;
    if (merged[slot] < self->barriers) {  // the first to come back: all of the block have arrived
        merge_block(slot, current_block);
        if (fenced) share(slot);
        merged[slot] = self->barriers;
    }
    note({(255 - self->depth) << 24 | place, MARK, 0, 0, 0, 0});  // from here a warp may split
    return result;
}

// Called for every lane when the last one has arrived: each now knows what all had done by then. Later is
// too late, since a lane may have gone on to its next barrier.
static unsigned long long meet(const StandinWarp &warp, unsigned int who, int number) {
    Thread *me = (Thread *)warp.value[number];
    for (unsigned rest = who; rest; rest &= rest - 1) {
        Thread *other = (Thread *)warp.value[__builtin_ctz(rest)];
        for (int i = 0; i < 32; ++i) {
            me->know[i] = std::max(me->know[i], other->left[i]);
            for (int all = 0; fenced && all < 2; ++all)
                me->closed[all][i] = std::max(me->closed[all][i], other->closed_left[all][i]);
        }
        if (other != me) put(me->heard, other->heard), put(me->seen, other->seen);
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
    if (fenced) memcpy(self->closed_left, self->closed, sizeof self->closed);
    standin_exchange(mask, (unsigned long long)self, 0, meet, line);
    locate();
    ++self->epoch;
}

void standin_xray_fence() {
    if (on) {
        locate();
        fence(true);
    }
    standin_spin();
}
void standin_xray_fence_block() {
    if (!on) return;
    locate();
    fence(false);
}

void __asan_storeN_noabort(void *p, size_t n);

// In pieces as wide as the type at either end: what a compiler makes of it depends on what it knows.
void *standin_xray_memcpy(void *to, const void *from, size_t n, unsigned place) {
    access(from, n, LOAD, place, 4, true);
    access(to, n, STORE, place, 4, true);
    // Stores that are told to an x-ray are not noted by the runtime, which would ask for them.
    if (on && n && standin_space(from) == 's') __asan_storeN_noabort((void *)from, n);
    return standin_memcpy(to, from, n);
}
void *standin_xray_memset(void *to, int value, size_t n, unsigned place) {
    access(to, n, STORE, place, 4, true);
    return standin_memset(to, value, n);
}

// An asynchronous copy: what it fills is not there before standin_xray_copy_wait.
void standin_xray_copy(void *to, const void *from, unsigned bytes, unsigned from_bytes, int line,
                       unsigned place) {
    if (on) {
        if (from_bytes) access(from, from_bytes, FETCH, place, std::min(4u, log2_of(from_bytes)));
        whole(to, bytes, DELIVER, place);
        int k = find_space((uintptr_t)to, place, true);
        if (k >= 0) {
            size_t offset = (uintptr_t)to - base_of(spaces[k]);
            self->copies.push_back({(unsigned)k, place, bytes, self->group, offset, (uintptr_t)from, from_bytes});
            fetch(self->copies.back());
        }
    }
    standin_copy(to, from, bytes, from_bytes, line);
}
void standin_xray_copy_commit() {
    if (on) {
        locate();
        ++self->group;
    }
    standin_copy_commit();
}
void standin_xray_copy_wait(int groups) {
    if (on) {
        locate();
        std::vector<Copy> later;
        for (const Copy &copy : self->copies)
            if (groups < 0 || (int)(self->group - copy.group) > groups)
                arrive(copy);
            else
                later.push_back(copy);
        self->copies = later;
    }
    standin_copy_wait(groups, 0);
}

// What malloc gave is memory of its own, and fresh each time: also to lanes of one warp, of which the
// first may have freed its own before the next one runs.
void *standin_xray_malloc(size_t bytes) {
    if (on) {
        locate();
        uint64_t warp = (uint64_t)current_block << 32 | current_index / 32;
        if (warp != heap_warp) standin_heap_rests(true);
        heap_warp = warp;
    }
    char *p = (char *)standin_malloc(bytes);
    if (!on || !p) return p;
    Space &heap = spaces.back();
    heap.base = (uintptr_t)standin_heap(&heap.size);
    size_t offset = (uintptr_t)p - heap.base;
    for (size_t at = 0; at < bytes; at += heap.granule) heap_cells.erase((offset + at) / heap.granule);
    heap_given.insert(offset);
    return p;
}

// ---- called from Python --------------------------------------------------------------------------

// An array, or memory that only looks like one, as launch.py gives it.
struct GivenSpace {
    uint64_t base, size;
    int32_t granule, read_only, memory, alignment, widest, aside;
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

// Get ready for a launch of `kernel`, which is to be made through a gate. The spaces are the module's
// shared variables in the order of its slots, the dynamic one, the arrays, what malloc gives.
void xray_begin(const StandinKernel *kernel, size_t dynamic, unsigned block_threads, int all_at_once,
                int places, int array_count, const GivenSpace *arrays, int loops,
                const int32_t *loop_spans, const int32_t *same_place, const uint8_t *reads_only) {
    blocks = grid_size.x * grid_size.y * grid_size.z, threads = block_threads, warps = (threads + 31) / 32;
    resident = all_at_once, in_turn = kernel->loop != nullptr;
    spaces.clear();
    shared_cell_count = 0;
    auto add_shared = [](StandinSlot *slot, size_t size) {
        Space s;
        s.slot = slot, s.shared = true, s.size = size, s.first_cell = shared_cell_count;
        s.memory = SHARED;
        if (slot) s.alignment = std::min<size_t>(slot->alignment, 16);
        if (slot && slot->element % 16 == 0) s.widest = s.alignment;
        shared_cell_count += cell_count(s);
        spaces.push_back(s);
    };
    for (StandinSlot *slot = kernel->slots; slot; slot = slot->next) add_shared(slot, slot->bytes);
    add_shared(nullptr, dynamic);
    for (int i = 0; i < array_count; ++i) {
        Space s;
        s.base = arrays[i].base, s.size = arrays[i].size;
        s.granule = arrays[i].granule, s.read_only = arrays[i].read_only;
        s.memory = (Memory)arrays[i].memory, s.alignment = arrays[i].alignment;
        s.widest = arrays[i].widest, s.aside = arrays[i].aside;
        if (!s.aside) make_books(s);
        spaces.push_back(s);
    }
    Space heap;
    heap.memory = HEAP, heap.base = (uintptr_t)standin_heap(&heap.size);
    spaces.push_back(heap);
    unsigned slots = resident ? blocks : 1;
    lanes.assign((size_t)slots * threads, Thread());
    shared_cells.assign(slots, std::vector<Cell>(shared_cell_count));
    merged.assign(slots, 0);
    last_space.assign(places, 0xffff), unseen.assign(places, 0);
    splits.assign(places, 0), passages.assign(places, 0);
    chain.assign(places, Chain());
    for (int i = 0; i < loops && i < MOST_LOOPS; ++i) {
        loop_first[i] = loop_spans[2 * i], loop_last[i] = loop_spans[2 * i + 1];
        for (uint32_t p = loop_first[i]; p <= loop_last[i]; ++p)
            if (chain[p].count < MOST_NESTED) chain[p].loop[chain[p].count++] = i;
    }
    stats.clear(), stat_at.clear(), races.clear(), race_at.clear(), released.clear(), known.clear(), set_in_turn.clear();
    heap_cells.clear(), heap_given.clear(), fetched.clear(), more_readers[0].clear(), more_readers[1].clear();
    waits.assign(reads_only, reads_only + places);
    same.assign(same_place, same_place + places);
    fenced = false, self = nullptr, reach = STANDIN_ALL, deed = STANDIN_CHANGES, order = 0, event_count = held = 0, pending.races.clear();
    heap_warp = ~0ull;
    on = true;
}

void xray_end(int complete) {
    standin_heap_rests(false);
    if (on && complete && self) {
        settle();
        if (resident)
            for (unsigned b = 0; b < blocks; ++b) merge_block(b, b);
        else
            merge_block(0, current_block);
    }
    on = false;
    for (Race &race : races)  // where in what malloc gave
        if (spaces[race.space].memory == HEAP) {
            auto after = heap_given.upper_bound(race.offset);
            if (after != heap_given.begin()) race.offset -= *--after;
        }
    races.erase(std::remove_if(races.begin(), races.end(), is_poll), races.end());
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
const uint8_t *xray_unseen() { return unseen.data(); }
const int64_t *xray_splits() { return splits.data(); }
const int64_t *xray_passages() { return passages.data(); }
int64_t xray_events() { return event_count; }
const int64_t *xray_sectors_read() { return sectors_read.data(); }
const int64_t *xray_sectors_written() { return sectors_written.data(); }
}
