// What is known of a launch while it is x-rayed. Part of xray.cpp.
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#define STANDIN_XRAY 1
#include "runtime.h"

// VLOAD and VSTORE are of volatile memory, FETCH and DELIVER the two ends of an asynchronous copy; a MARK
// is the beginning of a stretch without branches.
enum Kind : uint8_t { LOAD, STORE, ATOMIC, VLOAD, VSTORE, FETCH, DELIVER, MARK, BACK };  // from a call
inline bool writes(unsigned kind) { return kind == STORE || kind == VSTORE || kind == ATOMIC || kind == DELIVER; }
inline bool reads_only(unsigned kind) { return kind == LOAD || kind == VLOAD || kind == FETCH; }

// One thing that a thread did. Of several lanes' next events, that with the smallest key is earliest:
// deep calls first, then places in the order of assembly.py.
struct Event {
    uint32_t key;  // (255 - depth of calls) << 24 | place
    uint8_t kind : 4, log2 : 4;  // it moves `pieces` times 2^log2 bytes, each a request of its own
    uint8_t pieces;
    uint16_t space;
    uint64_t address;  // for shared memory from the variable's start
};

// When a thread did something: how many barriers of its block (high half) and of its warp it had passed.
typedef uint64_t Stamp;
// Up to which stamp what a thread did is behind somebody: by block << 16 | thread; 0xffff: all of them.
typedef std::unordered_map<uint64_t, Stamp> Clock;

struct Copy {  // an asynchronous copy that has not been waited for, to a space
    unsigned space, place, bytes, group;
    size_t offset;
    uintptr_t from;
    unsigned from_bytes;
};
struct Sight {  // a thread's last look at a word by a volatile load, or its own store there
    uint32_t place, stores, deeds;  // how many volatile stores the word had seen, and the thread made
    bool awaited;                   // it has looked before and after the last of them, in a loop that waits
};
struct Looks {  // volatile loads at a place: at what, since a step that was more than looking
    uint32_t deeds = 0;
    std::unordered_set<uint64_t> at;
};

struct Thread {
    std::vector<Event> log;  // since the block's last barrier
    uint32_t depth = 0;      // of calls
    std::vector<uint32_t> callers;  // keys of the last events before these calls; 0: of none
    // How many barriers of the block, of the grid and of the warp it has passed.
    uint32_t barriers = 0, grid_barriers = 0, epoch = 1;
    uint32_t know[32] = {}, left[32] = {};  // which epochs of the warp's lanes are behind it
    // And which are behind a fence of any kind (0) or for all (1), and so can be released.
    uint32_t closed[2][32] = {}, closed_left[2][32] = {};
    Stamp fence = 0, block_fence = 0;       // its last fence, for all and for its block; 0: none
    Clock heard;                            // of threads of its block, by flags behind fences
    Clock seen;                             // of other blocks', since the last barrier
    std::unordered_set<uint64_t> looked_at[2];  // by volatile loads since its last fence of any kind, or for all
    std::unordered_map<uint32_t, Looks> looks;  // by place
    std::unordered_map<uint64_t, Sight> sights; // by address of a word
    uint32_t deeds = 0, fences = 0;         // stores, atomic functions, barriers and fences; these alone
    std::vector<Copy> copies;
    unsigned group = 0;                     // of copies: committed groups

    Stamp now() const { return (Stamp)barriers << 32 | epoch; }
    void begin() {  // of another block
        depth = barriers = grid_barriers = deeds = fences = group = 0, epoch = 1, fence = block_fence = 0;
        memset(know, 0, sizeof know), memset(closed, 0, sizeof closed);
        if (!heard.empty()) heard.clear();
        if (!seen.empty()) seen.clear();
        for (auto &looked : looked_at)
            if (!looked.empty()) looked.clear();
        if (!looks.empty()) looks.clear();
        if (!sights.empty()) sights.clear();
        copies.clear(), callers.clear();
    }
};

// Who touched an element.
struct Who {
    uint32_t block, barriers, grid_barriers, epoch;
    uint16_t thread, place;
    uint8_t arrived : 1, valid : 1, reach : 2;  // arrived: of a copy; reach: a StandinReach
    uint8_t kind;

    Stamp stamp() const { return (Stamp)barriers << 32 | epoch; }
};
struct Cell {
    Who writer, readers[2];
    uint32_t along;  // the lanes that have read like the second reader
    // Of atomic functions in a row: the last by another thread, warp and block than the writer.
    Who before[3];
    // The store before the row, or before volatile ones; or one by another thread that raced with the writer's own.
    Who plain;
};

enum Touch : uint8_t { READ_FIRST = 1, WRITTEN = 2 };

enum Memory : uint8_t { GLOBAL, SHARED, CONSTANT, HEAP };

// A piece of memory with a name: a variable in shared memory, an array, or what malloc has given.
struct Space {
    StandinSlot *slot = nullptr;  // of a shared variable; null for the dynamic one and for arrays
    Memory memory = GLOBAL;
    bool shared = false, read_only = false;
    bool aside = false;  // no argument of the launch, and nobody has touched it yet: it has no cells
    // Of its elements, as far as is known; and the most that one access of such an element can move.
    unsigned alignment = 16, widest = 16;
    uintptr_t base = 0;
    size_t size = 0, granule = 4;  // bytes; a cell tells of granule bytes, all touched at once so far
    size_t first_cell = 0;         // of a shared variable, in its block's cells
    Cell *cells = nullptr;         // of an array that may be written
    uint8_t *touched = nullptr;    // of an array: a Touch for each of its sectors

    size_t sector(uintptr_t address) const { return address / 32 - base / 32; }
};

// All requests of one kind at one place to one space. Python reads it (launch.py).
struct Stat {
    int32_t place, space, kind, size;
    int64_t requests, lanes, bytes;
    int64_t sectors, distinct;       // of 32 bytes each; different bytes asked for
    int64_t passes, ideal_passes;    // of shared memory, or of L1 for a global load
    int64_t turns;                   // of an atomic function: the most lanes at one address, summed
    int64_t worst;                   // the cost of the request below
    uint32_t mask, block, warp, thread;
    uint64_t address[32];
};

enum RaceType : int32_t { RACE, UNWRITTEN, UNWAITED };
struct Race {
    int32_t place[2], kind[2];
    int32_t space, type, same_value;  // same_value: as far as is known all wrote what was there
    uint32_t block[2], thread[2];
    int64_t offset, count;
};

const int MOST_LOOPS = 64, MOST_NESTED = 12, MOST_DEPTH = 8;
struct Chain {  // the loops around a place, outermost first
    int count = 0;
    uint8_t loop[MOST_NESTED];
};

extern "C" {
extern int64_t xray_most_held;
}
// How many events may wait to be counted: half a gigabyte of them.
int64_t xray_most_held = 1 << 25;

namespace {

int64_t held;   // events that wait
bool on;        // a launch is being x-rayed
bool resident;  // all blocks run at once
bool in_turn;   // the threads of a block run one after another, in a loop
bool fenced;    // somebody used a fence
// By place, of a volatile load: its loop does nothing but read; it looked at several words; or at one again.
enum Wait : uint8_t { READS_ONLY = 1, SEVERAL = 2, AGAIN = 4 };
std::vector<uint8_t> waits;
// By place: it touched memory that no space holds.
enum Unseen : uint8_t { WROTE_UNKNOWN = 1, ANOTHERS_LOCAL = 2 };
std::vector<uint8_t> unseen;
std::vector<int32_t> same;  // by place: the first of those that are the same in the source
dim3 grid_size;
unsigned threads, warps, blocks;
void (*plain_call)(void **), (*plain_loop)(void **);
std::vector<uint8_t> sampled;  // by block
std::vector<Space> spaces;
std::vector<Thread> lanes;  // [slot * threads + index]; there is one slot, or one for each block
std::vector<std::vector<Cell>> shared_cells;
size_t shared_cell_count;
std::vector<uint32_t> merged;       // by slot: the barrier up to which logs have been counted
std::vector<uint16_t> last_space;   // by place, a guess
std::vector<Chain> chain;           // by place
uint32_t loop_first[MOST_LOOPS], loop_last[MOST_LOOPS];
std::vector<Stat> stats;
std::vector<Race> races;
std::vector<int64_t> splits, passages;  // by place: how often a warp split behind it, and passed it
std::unordered_map<uint64_t, int> stat_at, race_at;
int64_t event_count;
std::vector<int64_t> sectors_read, sectors_written;  // by space

// The thread that runs, and between which threads its next atomic function is one.
Thread *self;
StandinReach reach;
StandinDeed deed;  // of that function
int order;         // and a StandinOrder
uint32_t current_block, current_index;
uint3 current_position;

}  // namespace
