// Races: two threads at one element, not in order, of which one writes. Part of xray.cpp.
#pragma once
#include "ordering.h"

namespace {

// A write that raced with writes, whose value is not there yet: the races, and what was there.
struct Pending {
    std::vector<int> races;
    char *at;
    std::vector<char> before;
} pending;

inline void settle() {
    if (__builtin_expect(pending.races.empty(), 1)) return;
    if (memcmp(pending.at, pending.before.data(), pending.before.size()))
        for (int race : pending.races) races[race].same_value = 0;
    pending.races.clear();
}

// A write that may be harmless. What an asynchronous copy brings is not there to be compared, and an
// atomic function reads, too: it makes a difference to its thread whether it came first.
inline bool stores(unsigned kind) { return kind == STORE || kind == VSTORE; }

int note_race(RaceType type, const Who &other, const Who &me, int space, int64_t offset) {
    uint64_t id = (uint64_t)type << 61 | (uint64_t)space << 40 | (uint64_t)other.place << 20 | me.place;
    auto [at, fresh] = race_at.try_emplace(id, races.size());
    if (fresh)
        races.push_back({{other.place, me.place},
                         {other.kind, me.kind},
                         space,
                         type,
                         type == RACE && stores(other.kind) && stores(me.kind),
                         {other.block, me.block},
                         {other.thread, me.thread},
                         offset,
                         0});
    ++races[at->second].count;
    return at->second;
}

// Two atomic functions are never at once if each is one between both threads.
inline bool in_turns(const Who &a, const Who &b) {
    if (a.kind != ATOMIC || b.kind != ATOMIC) return false;
    unsigned narrowest = std::max(a.reach, b.reach);
    return narrowest == STANDIN_ALL || (narrowest == STANDIN_OWN_BLOCK && a.block == b.block);
}

inline bool of_one(const Who &a, const Who &b) {
    return a.valid && b.valid && a.block == b.block && a.thread == b.thread;
}

inline bool in_warp(const Who &a, const Who &b) {
    return a.block == b.block && a.thread / 32 == b.thread / 32;
}

// Readers of a cell that have no place in it, one of a warp. Needed where threads may wait for some others
// and not for all: where blocks run at once, and where there are flags behind fences.
std::unordered_map<uint64_t, std::vector<Who>> more_readers[2];  // of arrays, of shared memory
const size_t MOST_READERS = 64;  // of one cell

uint64_t cell_name(int space, size_t at) {
    return (uint64_t)space << 48 | (spaces[space].shared ? (uint64_t)current_block << 24 : 0) | at;
}

// Add a reader, for all that it has behind it.
void add_reader(std::vector<Who> &all, const Who &me) {
    for (size_t k = all.size(); k--;)  // the last one is likely of this warp
        if (Who &r = all[k]; in_warp(r, me) || behind(r, me.block, me.thread)) {
            r = me;
            return;
        }
    if (all.size() < MOST_READERS) all.push_back(me);
}

// One access at one cell. `padding`: which may be padding of a struct that was written.
void check_cell(Cell &cell, int space, size_t at, Kind kind, unsigned place, char *p, unsigned size,
                bool padding, bool awaited) {
    uint32_t block = current_block, index = current_index;
    Who &writer = cell.writer;
    Who me = {block, self->barriers, self->grid_barriers, self->epoch, (uint16_t)index,
              (uint16_t)place, kind != DELIVER, 1, reach, (uint8_t)kind};
    auto own = [&](const Who &w) { return w.valid && w.thread == index && w.block == block; };
    auto unordered = [&](const Who &w) {
        return w.valid && !in_turns(w, me) && !(awaited && w.kind == VSTORE) && !behind(w, block, index);
    };
    Who raced = {};  // the first one with whom this is a race
    auto raced_with = [&](const Who &other) {
        if (!raced.valid) raced = other;
        int race = note_race(RACE, other, me, space, at);
        if (!races[race].same_value) return;
        if (pending.races.empty()) pending.at = p, pending.before.assign(p, p + size);
        pending.races.push_back(race);
    };
    if (writer.valid && !writer.arrived) {
        note_race(UNWAITED, writer, me, space, at);  // nobody knows whether the copy is there yet
    } else if (unordered(writer)) {
        raced_with(writer);
    }
    // A store behind an atomic function comes after those before it: so the last block sets a count back.
    bool after = fenced && writes(kind) && writer.valid && behind(writer, block, index);
    for (const Who &before : cell.before)
        if (unordered(before) && !(after && in_turns(before, writer))) {
            raced_with(before);
            break;
        }
    // Who waits for a flag is excused, but not from what gave the flag its first value.
    bool polls = kind == VLOAD && raced.valid && raced.kind != STORE;
    if ((!raced.valid || (polls && cell.plain.kind == STORE)) && unordered(cell.plain))
        raced_with(cell.plain);
    else if (polls && spaces[space].shared && of_one(cell.plain, writer) && unordered(cell.plain))
        note_race(UNWRITTEN, cell.plain, me, space, at);
    bool reads = reads_only(kind) || (kind == ATOMIC && deed != STANDIN_STORES && deed != STANDIN_REPLACES);
    if (spaces[space].shared && reads && !writer.valid && !padding) note_race(UNWRITTEN, me, me, space, at);
    if (writes(kind) && deed != STANDIN_LOOKS) {
        auto read_before = [&](const Who &r) {
            bool bad = unordered(r);
            if (bad) note_race(RACE, r, me, space, at);
            return bad;
        };
        bool found = read_before(cell.readers[0]) || read_before(cell.readers[1]);
        if (Who r = cell.readers[1]; !found && r.valid && in_warp(r, me) && r.barriers == me.barriers)
            for (uint32_t rest = cell.along; rest && !found; rest &= rest - 1) {
                r.thread = index / 32 * 32 + __builtin_ctz(rest);
                found = read_before(r);
            }
        auto &all = more_readers[spaces[space].shared];
        auto more = all.empty() ? all.end() : all.find(cell_name(space, at));
        if (more != all.end()) {
            for (size_t k = 0; k < more->second.size() && !found; ++k) found = read_before(more->second[k]);
            all.erase(more);
        }
        bool row = kind == ATOMIC && writer.valid && writer.kind == ATOMIC;
        // An atomic function behind one of its own thread between fewer threads: others are not ordered
        // with that.
        bool keep = row && writer.reach > me.reach && own(writer) && writer.stamp() == me.stamp();
        // How far away a thread is: itself, of the warp, of the block, of another block.
        auto far = [&](const Who &w) {
            return w.block != block ? 3 : w.thread / 32 != index / 32 ? 2 : w.thread != index;
        };
        for (int k = 0; k < 3; ++k)
            if (Who &before = cell.before[k]; !row)
                before.valid = 0;
            else if (far(writer) > k && !(before.valid && before.reach > writer.reach))
                before = writer;
        if (!row && raced.valid && kind != ATOMIC) {
            if (!unordered(cell.plain) || far(raced) >= far(cell.plain)) cell.plain = raced;
        } else if (!row) {
            bool others = cell.plain.valid && !of_one(cell.plain, writer);
            if (kind == ATOMIC)
                cell.plain = own(writer) && others ? cell.plain : writer;
            else if (kind == VSTORE && !writer.valid)
                cell.plain = me;  // a first value
            else if (kind == VSTORE && writer.kind == STORE && !others)
                cell.plain = writer;
            else if (!((own(writer) || kind == VSTORE) && cell.plain.valid))
                cell.plain = Who();
        }
        if (!keep) writer = me;
        cell.readers[0].valid = cell.readers[1].valid = 0;
    } else {
        // Two readers are kept, of different warps or blocks where there are such; and which lanes of the
        // second one's warp have read as late as it, for a barrier of a warp may be one of some lanes.
        Who &a = cell.readers[0], &b = cell.readers[1];
        auto spare = [&](const Who &r) { return !r.valid || own(r) || behind(r, block, index); };
        // Who waits is excused, and must not stand for what its thread has read elsewhere.
        auto elsewhere = [&](const Who &r) { return own(r) && same[r.place] != same[place]; };
        if (kind == VLOAD && (elsewhere(a) || elsewhere(b)) && waiting(place)) return;
        bool along = b.valid && in_warp(b, me) && b.stamp() == me.stamp();
        uint32_t lane = 1u << index % 32;
        if (spare(a))
            a = me;
        else if (spare(b) || in_warp(a, b))
            cell.along = (along ? cell.along : 0) | lane, b = me;
        else if (along)
            cell.along |= lane;
        else if (resident || fenced)
            add_reader(more_readers[spaces[space].shared][cell_name(space, at)], me);
    }
}

// Cells of what malloc gave, by address / 4.
std::unordered_map<uint64_t, Cell> heap_cells;
std::set<int64_t> heap_given;  // where each piece of it begins
uint64_t heap_warp;            // which took the last: block << 32 | warp

Cell *cells_of(const Space &s, unsigned slot) {
    return s.shared ? shared_cells[slot].data() + s.first_cell : s.cells;
}
// How many cells a space has: it may end in a part of one, and an access may reach a little further.
size_t cell_count(const Space &s) { return s.size / s.granule + 4; }

// From now on a cell of the space tells of fewer bytes: an access touches a part of one.
void refine(Space &s, size_t granule) {
    size_t parts = s.granule / granule, before = cell_count(s);
    Space old = s;
    s.granule = granule;
    auto split = [&](const Cell *from, Cell *to) {
        for (size_t i = 0; i < before; ++i)
            if (from[i].writer.valid || from[i].readers[0].valid)
                for (size_t k = i * parts; k < (i + 1) * parts && k < cell_count(s); ++k) to[k] = from[i];
    };
    if (s.memory == HEAP) {
        std::unordered_map<uint64_t, Cell> finer;
        for (auto &[number, cell] : heap_cells)
            for (size_t k = 0; k < parts; ++k) finer[number * parts + k] = cell;
        heap_cells.swap(finer);
    } else if (s.shared) {
        s.first_cell = shared_cell_count, shared_cell_count += cell_count(s);
        for (size_t slot = 0; slot < shared_cells.size(); ++slot) {
            shared_cells[slot].resize(shared_cell_count);
            split(cells_of(old, slot), cells_of(s, slot));
        }
    } else if (s.cells) {
        s.cells = (Cell *)calloc(cell_count(s), sizeof(Cell));
        split(old.cells, s.cells);
        free(old.cells);
    }
}

// Call f(cell, its first byte) for the cells of a space from `offset` on.
template <class F>
void each_cell(int space, size_t offset, size_t size, F f) {
    Space &s = spaces[space];
    size_t edges = offset | size;
    if (__builtin_expect(edges & (s.granule - 1), 0)) refine(s, edges & -edges);
    Cell *cells = cells_of(s, resident ? current_block : 0);
    if (!cells && s.memory != HEAP) return;
    for (size_t at = offset; at < offset + size; at += s.granule)
        f(s.memory == HEAP ? heap_cells[at / s.granule] : cells[at / s.granule], at);
}

// `several`: a struct, of which some bytes may be padding. `awaited`: what volatile stores have left there.
void check_race(int space, size_t offset, char *p, unsigned size, Kind kind, unsigned place, bool several,
                bool awaited) {
    Space &s = spaces[space];
    each_cell(space, offset, size, [&](Cell &cell, size_t at) {
        bool padding = false;
        // Of a variable it is known what is padding; of dynamic memory not even the type.
        size_t unit = s.slot ? 4 : 8;
        if ((several || (!s.slot && size >= 16)) && s.shared && s.granule < unit && !cell.writer.valid)
            for (Cell *c = &cell - at % unit / s.granule, *end = c + unit / s.granule; c < end; ++c)
                padding |= c->writer.valid;
        if (s.slot && s.slot->used && !cell.writer.valid) padding |= !s.slot->used[at % s.slot->element];
        check_cell(cell, space, at, kind, place, p, size, padding, awaited);
    });
}

// What asynchronous copies that have not been waited for read, by address / 4.
std::unordered_multimap<uintptr_t, Who> fetched;

void fetch(const Copy &copy) {
    Who me = {current_block, self->barriers, self->grid_barriers, self->epoch, (uint16_t)current_index,
              (uint16_t)copy.place, 0, 1, 0, FETCH};
    for (unsigned at = 0; at < copy.from_bytes; at += 4) fetched.emplace((copy.from + at) / 4, me);
}

// A write to memory that such a copy may be reading: nobody knows which value it brings.
void check_fetched(int space, uintptr_t address, size_t offset, unsigned size, Kind kind, unsigned place) {
    for (uintptr_t word = address / 4; word <= (address + size - 1) / 4; ++word) {
        auto found = fetched.find(word);
        if (found == fetched.end()) continue;
        Who me = found->second;
        me.block = current_block, me.thread = current_index, me.place = place, me.kind = kind;
        note_race(UNWAITED, found->second, me, space, offset + std::max(word * 4, address) - address);
    }
}

// A copy of this thread has been waited for: it is as if the thread had written now.
void arrive(const Copy &copy) {
    for (unsigned at = 0; at < copy.from_bytes; at += 4) {
        auto [one, end] = fetched.equal_range((copy.from + at) / 4);
        while (one != end && (one->second.block != current_block || one->second.thread != current_index)) ++one;
        if (one != end) fetched.erase(one);
    }
    each_cell(copy.space, copy.offset, copy.bytes, [&](Cell &cell, size_t) {
        Who &w = cell.writer;
        if (w.arrived || w.thread != current_index || w.place != (uint16_t)copy.place) return;
        w.arrived = 1, w.barriers = self->barriers, w.grid_barriers = self->grid_barriers;
        w.epoch = self->epoch;
    });
}

// A word that a loop reads until another thread has written it is how threads wait for each other: both
// sides volatile or atomic. What it announces is judged by the fences on both sides (ordering.h).
bool is_poll(const Race &race) {
    bool polled = false, plain = false;
    for (int side = 0; side < 2; ++side) {
        polled |= race.kind[side] == VLOAD && waiting(race.place[side]);
        plain |= race.kind[side] != VLOAD && race.kind[side] != VSTORE && race.kind[side] != ATOMIC;
    }
    return race.type == RACE && polled && !plain;
}

}  // namespace
