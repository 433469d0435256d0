// Which accesses are behind a thread: by barriers, by __syncwarp, and by flags between fences. Part of
// xray.cpp.
//
// A fence, and then an atomic function or a volatile store, releases what the thread did before the fence
// and what it knew to be behind it. Who then uses atomicAdd or its like at that address has it behind, too;
// who looks by a volatile load or through cuda::atomic_ref has so after a fence, which is what an acquire
// makes of it. A volatile access, or a relaxed one, by itself orders nothing.
#pragma once
#include "state.h"

namespace {

struct Word {
    Clock device;  // what was released there for all
    std::unordered_map<uint32_t, Clock> block;  // and for the same block alone
    uint64_t gathered = 0;
};
std::unordered_map<uint64_t, Word> released;      // by address
std::unordered_map<uint64_t, Clock> known;        // by block: of other blocks, since its last barrier
Clock *known_here;  // by the current block

uint64_t name(uint32_t block, uint32_t thread) { return (uint64_t)block << 16 | thread; }

bool has(const Clock &clock, uint64_t who, Stamp stamp) {
    auto found = clock.find(who);
    return found != clock.end() && found->second >= stamp;
}

void put(Clock &clock, uint64_t who, Stamp stamp) {
    Stamp &there = clock[who];
    there = std::max(there, stamp);
}
void put(Clock &clock, const Clock &all) {
    for (auto &[who, stamp] : all) put(clock, who, stamp);
}

bool behind(const Who &p, uint32_t block, uint32_t index) {
    if (p.block != block) {
        if (p.grid_barriers < self->grid_barriers) return true;
        if (!fenced) return false;
        for (const Clock *seen : {known_here, &self->seen})
            if (!seen->empty() &&
                (has(*seen, name(p.block, p.thread), p.stamp()) ||
                 has(*seen, name(p.block, 0xffff), p.stamp())))
                return true;
        return false;
    }
    if (p.thread == index || p.barriers < self->barriers) return true;
    if (p.thread / 32 == index / 32 && self->know[p.thread % 32] >= p.epoch) return true;
    return fenced && has(self->heard, name(block, p.thread), p.stamp());
}

// What was released at an address is behind this thread; `from_all`: by other blocks, too.
void acquire(uint64_t address, bool from_all) {
    auto found = released.find(address);
    if (found == released.end()) return;
    for (auto &[who, stamp] : found->second.device)
        if (who >> 16 == current_block)
            put(self->heard, who, stamp);
        else if (from_all && reach == STANDIN_ALL)
            put(self->seen, who, stamp);
    for (auto &[who, stamp] : found->second.block[current_block])
        put(who >> 16 == current_block ? self->heard : self->seen, who, stamp);
}

void release_to(Clock &there, Stamp fence, const uint32_t *closed) {
    put(there, name(current_block, current_index), fence);
    // All that the block did before the barrier in front of the fence, and the lanes that met this one.
    if (fence >> 32) put(there, name(current_block, 0xffff), fence - (1ull << 32) | 0xffffffff);
    unsigned first = current_index / 32 * 32;
    for (unsigned lane = 0; lane < 32; ++lane)
        if (closed[lane])
            put(there, name(current_block, first + lane), (fence & ~0xffffffffull) | closed[lane]);
    put(there, self->heard), put(there, self->seen);
}

// `own`: up to when the function itself releases what its thread did; 0: what a fence before it does.
void release(uint64_t address, Stamp own) {
    Word &word = released[address];
    if (reach == STANDIN_OWN_BLOCK) {
        if (own)
            release_to(word.block[current_block], own, self->know);
        else if (Stamp last = std::max(self->fence, self->block_fence))
            release_to(word.block[current_block], last, self->closed[0]);
        return;
    }
    // A fence of another thread of the block counts once a barrier lies between it and this one.
    uint64_t now = ((uint64_t)current_block << 32 | self->barriers) + 1;
    if (word.gathered != now) {
        word.gathered = now;
        Thread *block_threads = &lanes[resident ? current_block * threads : 0];
        for (unsigned k = 0; k < threads; ++k) {
            Stamp fence = block_threads[k].fence;
            if (fence && fence >> 32 < self->barriers) put(word.device, name(current_block, k), fence);
        }
    }
    if (own || self->fence) {
        release_to(word.device, own ? own : self->fence, own ? self->know : self->closed[1]);
        put(word.device, *known_here);
    } else if (self->block_fence) {
        release_to(word.block[current_block], self->block_fence, self->closed[0]);
    }
}

// Behind a barrier the block knows what each of its threads knew of others.
void share(unsigned slot) {
    for (unsigned k = 0; k < threads; ++k)
        if (Clock &seen = lanes[slot * threads + k].seen; !seen.empty())
            put(*known_here, seen), seen.clear();
}

// Before an atomic function that releases: what its thread does from there on is not released by it.
Stamp release_begins() {
    if (!(order & STANDIN_RELEASES) || reach == STANDIN_OWN_THREAD) return 0;
    Stamp now = self->now();
    self->know[current_index % 32] = self->epoch++;
    return now;
}

// An atomic function or a volatile access, once somebody used a fence or an order.
void synchronise(uint64_t address, Kind kind, Stamp own) {
    if (reach == STANDIN_OWN_THREAD) return;
    if (kind == ATOMIC && (deed == STANDIN_CHANGES || deed == STANDIN_REPLACES || order & STANDIN_ACQUIRES))
        acquire(address, true);
    if (kind == VLOAD || (kind == ATOMIC && (deed == STANDIN_ALTERS || deed == STANDIN_LOOKS)))
        self->looked_at[0].insert(address), self->looked_at[1].insert(address);
    if (kind != VLOAD && deed != STANDIN_LOOKS)
        release(address, own);
}

void fence(bool for_all) {
    fenced = true;
    (for_all ? self->fence : self->block_fence) = self->now();
    self->know[current_index % 32] = self->epoch;
    for (int all = 0; all <= for_all; ++all) memcpy(self->closed[all], self->know, sizeof self->know);
    ++self->epoch;  // what comes behind it is not released by it
    ++self->deeds, ++self->fences;  // who looks back looks at one word after another, with a fence behind each
    for (int all = 0; all <= for_all; ++all) {
        for (uint64_t address : self->looked_at[all]) acquire(address, all);
        self->looked_at[all].clear();
    }
}

// What tells that a volatile load waits for another thread: that its loop looks at the same word again and
// does nothing else.
void note_look(uint64_t address, unsigned place) {
    place = same[place];
    Looks &looks = self->looks[place];
    if (looks.deeds != self->deeds) looks.at.clear(), looks.deeds = self->deeds;
    if (!looks.at.insert(address).second)
        waits[place] |= AGAIN;
    else if (looks.at.size() > 1)
        waits[place] |= SEVERAL;
}
bool waiting(unsigned place) {
    place = same[place];
    return waits[place] & AGAIN || (waits[place] & (READS_ONLY | SEVERAL)) == READS_ONLY;
}

// Words that threads set in turn, each when it has waited for the one before it. To have seen that one's
// value is not enough, since another loop might have gone on without it: the loop must have looked at the
// value before, too, and stayed. Then all it does to the word comes behind the store that it waited for.
std::unordered_map<uint64_t, uint32_t> set_in_turn;  // by address: how many writes there since the first volatile one

// Whether this thread has waited for the last volatile store to a word that it is about to touch.
bool has_awaited(uint64_t address, Kind kind, unsigned place) {
    auto found = set_in_turn.find(address);
    if (found == set_in_turn.end() && kind != VLOAD && kind != VSTORE) return false;
    uint32_t &count = found != set_in_turn.end() ? found->second : set_in_turn[address];
    Sight &sight = self->sights.try_emplace(address, Sight{0, 0, 0, false}).first->second;
    if (kind == VLOAD) {
        uint32_t deeds = self->deeds - self->fences;
        bool again = sight.place == same[place] && sight.deeds == deeds;
        if (sight.stores != count) sight.awaited = again && sight.stores + 1 == count && waiting(place);
        sight.place = same[place], sight.stores = count, sight.deeds = deeds;
    }
    bool awaited = sight.awaited && sight.stores == count;
    if (writes(kind) && deed != STANDIN_LOOKS) sight = {0, ++count, 0, awaited};
    return awaited;
}

}  // namespace
