// Races: two threads at one element, not in order, of which one writes. Part of xray.cpp.
#pragma once
#include "state.h"

namespace {

// What a thread of another block must have seen of (block << 16 | thread; 0xffff: all its threads): how
// many of its barriers. By address, what was released there; by block, what it knows.
std::unordered_map<uint64_t, std::unordered_map<uint64_t, uint32_t>> released, known;
std::unordered_map<uint64_t, uint64_t> gathered;  // by address: whose fences have been released there

bool behind(const Who &p, uint32_t block, uint32_t index) {
    if (p.block != block) {
        if (p.grid_barriers < self->grid_barriers) return true;
        if (!fenced) return false;
        auto &seen = known[block];
        auto one = seen.find((uint64_t)p.block << 16 | p.thread);
        if (one != seen.end() && one->second > p.barriers) return true;
        auto all = seen.find((uint64_t)p.block << 16 | 0xffff);
        return all != seen.end() && all->second > p.barriers;
    }
    if (p.thread == index || p.barriers < self->barriers) return true;
    return p.thread / 32 == index / 32 && self->know[p.thread % 32] >= p.epoch;
}

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
    uint64_t id = (uint64_t)type << 63 | (uint64_t)space << 40 | (uint64_t)other.place << 20 | me.place;
    auto [at, fresh] = race_at.try_emplace(id, races.size());
    if (fresh)
        races.push_back({{other.place, me.place},
                         {other.kind, me.kind},
                         space,
                         type,
                         other.kind != LOAD && me.kind != LOAD,
                         {other.block, me.block},
                         {other.thread, me.thread},
                         offset,
                         0});
    ++races[at->second].count;
    return at->second;
}

void check_race(Cell *cells, int space, size_t offset, char *p, unsigned size, Kind kind, unsigned place) {
    bool write = kind == STORE || kind == VSTORE || kind == ATOMIC, atomic = kind >= ATOMIC;
    uint32_t block = current_block, index = current_index;
    size_t granule = spaces[space].granule;
    for (size_t at = offset, end = offset + size; at < end;) {
        size_t number = at / granule, next = std::min((number + 1) * granule, end);
        uint8_t bytes = granule > 8 ? 0xff : ((1u << (next - at)) - 1) << (at - number * granule);
        Cell &cell = cells[number];
        Who &writer = cell.writer;
        Who me = {block, self->barriers, self->grid_barriers, self->epoch, (uint16_t)index,
                  (uint16_t)place, bytes, atomic, 1, (uint8_t)(write ? kind : LOAD)};
        if (writer.valid && writer.bytes & bytes && !(writer.atomic && atomic) &&
            !behind(writer, block, index)) {
            int race = note_race(RACE, writer, me, space, at);
            if (races[race].same_value && size <= sizeof pending.before) {
                pending.race = race, pending.at = p, pending.size = size;
                memcpy(pending.before, p, size);
            }
        }
        if (spaces[space].shared && kind == LOAD && !writer.valid)
            note_race(UNWRITTEN, me, me, space, at);
        if (write) {
            for (const Who &r : cell.readers)
                if (r.valid && r.bytes & bytes && !(r.atomic && atomic) && !behind(r, block, index)) {
                    note_race(RACE, r, me, space, at);
                    break;
                }
            writer = me;
            cell.readers[0].valid = cell.readers[1].valid = 0;
        } else {
            // Two readers are kept, of different warps or blocks where there are such.
            Who &a = cell.readers[0], &b = cell.readers[1];
            if (!a.valid || (a.thread == index && a.block == block) || behind(a, block, index))
                a = me;
            else if (!b.valid || (b.block == a.block && b.thread / 32 == a.thread / 32))
                b = me;
        }
        at = next;
    }
}

// An atomic function or a volatile access, once somebody used a fence: what was before a fence of the one
// who was there is behind the one who comes next.
void synchronise(uint64_t address) {
    uint32_t block = current_block;
    auto &there = released[address];
    auto &seen = known[block];
    for (auto &[who, barriers] : there)
        if (who >> 16 != block) seen[who] = std::max(seen[who], barriers);
    // A fence of another thread of the block counts once a barrier lies between it and this one.
    uint64_t now = (uint64_t)block << 32 | self->barriers;
    if (gathered[address] != now + 1) {
        gathered[address] = now + 1;
        Thread *block_threads = &lanes[resident ? block * threads : 0];
        for (unsigned k = 0; k < threads; ++k)
            if (uint32_t fence = block_threads[k].fence; fence && fence <= self->barriers) {
                auto &other = there[(uint64_t)block << 16 | k];
                other = std::max(other, fence);
            }
    }
    if (!self->fence) return;
    auto &one = there[(uint64_t)block << 16 | current_index];
    one = std::max(one, self->fence);
    auto &all = there[(uint64_t)block << 16 | 0xffff];
    all = std::max(all, self->fence - 1);
    for (auto &[who, barriers] : seen) there[who] = std::max(there[who], barriers);
}

}  // namespace
