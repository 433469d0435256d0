// Races: two threads at one element, not in order, of which one writes. Part of xray.cpp.
#pragma once
#include "ordering.h"

namespace {

// A write that raced with a write, whose value is not there yet: the race, and what was there.
struct Pending {
    int race = -1;
    char *at;
    unsigned size;
    char before[16];
} pending;

inline void settle() {
    if (__builtin_expect(pending.race < 0, 1)) return;
    if (memcmp(pending.at, pending.before, pending.size)) races[pending.race].same_value = 0;
    pending.race = -1;
}

int note_race(RaceType type, const Who &other, const Who &me, int space, int64_t offset) {
    uint64_t id = (uint64_t)type << 61 | (uint64_t)space << 40 | (uint64_t)other.place << 20 | me.place;
    auto [at, fresh] = race_at.try_emplace(id, races.size());
    if (fresh)
        races.push_back({{other.place, me.place},
                         {other.kind, me.kind},
                         space,
                         type,
                         writes(other.kind) && writes(me.kind) && type == RACE &&
                             !(other.kind == ATOMIC && me.kind == ATOMIC) && !other.looks && !me.looks,
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

// One access at one cell, of which it touches `bytes`.
void check_cell(Cell &cell, int space, size_t at, uint8_t bytes, Kind kind, unsigned place, char *p,
                unsigned size) {
    uint32_t block = current_block, index = current_index;
    Who &writer = cell.writer;
    Who me = {block, self->barriers, self->grid_barriers, self->epoch, (uint16_t)index,
              (uint16_t)place, bytes, kind != DELIVER, 1, reach, deed == STANDIN_LOOKS, (uint8_t)kind};
    if (writer.valid && writer.bytes & bytes && !writer.arrived) {
        note_race(UNWAITED, writer, me, space, at);  // nobody knows whether the copy is there yet
    } else if (writer.valid && writer.bytes & bytes && !in_turns(writer, me) && !behind(writer, block, index)) {
        int race = note_race(RACE, writer, me, space, at);
        if (races[race].same_value && size <= sizeof pending.before) {
            pending.race = race, pending.at = p, pending.size = size;
            memcpy(pending.before, p, size);
        }
    }
    const Who &before = cell.before;
    if (!in_turns(before, me) && before.valid && before.bytes & bytes && !behind(before, block, index))
        note_race(RACE, before, me, space, at);
    if (spaces[space].shared && (reads_only(kind) || deed == STANDIN_LOOKS) && !writer.valid)
        note_race(UNWRITTEN, me, me, space, at);
    if (writes(kind) && deed != STANDIN_LOOKS) {
        for (const Who &r : cell.readers)
            if (r.valid && r.bytes & bytes && !in_turns(r, me) && !behind(r, block, index)) {
                note_race(RACE, r, me, space, at);
                break;
            }
        // An atomic function behind a plain store of its own thread, or one between fewer threads: others
        // are not ordered with that.
        bool keep = kind == ATOMIC && writer.valid && (writer.kind != ATOMIC || writer.reach > me.reach) &&
                    writer.thread == index && writer.block == block && writer.stamp() == me.stamp() && (writer.bytes & bytes) == bytes;
        if (kind != ATOMIC)
            cell.before.valid = 0;
        else if (writer.valid && writer.kind == ATOMIC && (writer.thread != index || writer.block != block) &&
                 !(before.valid && before.reach > writer.reach))
            cell.before = writer;
        if (!keep) writer = me;
        cell.readers[0].valid = cell.readers[1].valid = 0;
    } else {
        // Two readers are kept, of different warps or blocks where there are such.
        Who &a = cell.readers[0], &b = cell.readers[1];
        if (!a.valid || (a.thread == index && a.block == block) || behind(a, block, index))
            a = me;
        else if (!b.valid || (b.block == a.block && b.thread / 32 == a.thread / 32))
            b = me;
    }
}

// Cells of what malloc gave, by address / 4.
std::unordered_map<uint64_t, Cell> heap_cells;
std::set<int64_t> heap_given;  // where each piece of it begins

// Call f(cell, first byte, bytes) for the cells of a space from `offset` on.
template <class F>
void each_cell(int space, size_t offset, size_t size, F f) {
    const Space &s = spaces[space];
    Cell *cells = s.shared ? shared_cells[resident ? current_block : 0].data() + s.first_cell : s.cells;
    if (!cells && s.memory != HEAP) return;
    for (size_t at = offset, end = offset + size; at < end;) {
        size_t number = at / s.granule, next = std::min((number + 1) * s.granule, end);
        uint8_t bytes = s.granule > 8 ? 0xff : ((1u << (next - at)) - 1) << (at - number * s.granule);
        f(s.memory == HEAP ? heap_cells[number] : cells[number], at, bytes);
        at = next;
    }
}

void check_race(int space, size_t offset, char *p, unsigned size, Kind kind, unsigned place) {
    Space &s = spaces[space];
    // Written through a pointer whose const was cast away: its cells begin now.
    if (s.read_only && s.memory == GLOBAL && !s.cells && (kind == STORE || kind == VSTORE || kind == ATOMIC))
        s.cells = (Cell *)calloc(s.size / s.granule + 4, sizeof(Cell));
    each_cell(space, offset, size, [&](Cell &cell, size_t at, uint8_t bytes) {
        check_cell(cell, space, at, bytes, kind, place, p, size);
    });
}

// What asynchronous copies that have not been waited for read, by address / 4.
std::unordered_multimap<uintptr_t, Who> fetched;

void fetch(const Copy &copy) {
    Who me = {current_block, self->barriers, self->grid_barriers, self->epoch, (uint16_t)current_index,
              (uint16_t)copy.place, 0xff, 0, 1, 0, 0, FETCH};
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
    each_cell(copy.space, copy.offset, copy.bytes, [&](Cell &cell, size_t, uint8_t) {
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
