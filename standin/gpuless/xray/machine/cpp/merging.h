// The lanes of a warp side by side: which of their accesses are one request. Part of xray.cpp.
//
// Places are numbered so that a join comes behind its branches and what follows a loop behind the loop
// (assembly.py); among lanes in one loop those in the earlier turn go first.
#pragma once
#include "counting.h"
#include "state.h"

namespace {

const uint32_t OVER = ~0u;  // the key of a lane without further events

bool alike(const Event &a, const Event &b) {
    return a.kind == b.kind && a.log2 == b.log2 && a.pieces == b.pieces;
}

struct Lane {
    const Event *cursor, *end;
    uint32_t previous[MOST_DEPTH];  // place, by depth of calls
    uint32_t depth;
    uint32_t turn[MOST_LOOPS];

    void start(const std::vector<Event> &log) {
        cursor = log.data(), end = log.data() + log.size(), depth = 0;
        memset(previous, 0, sizeof previous);
        arrive();
    }
    uint32_t key() const { return cursor < end ? cursor->key : OVER; }
    void like(const Lane &other) {
        memcpy(previous, other.previous, sizeof previous);
        memcpy(turn, other.turn, sizeof turn);
        depth = other.depth;
    }
    bool agrees(const Lane &other) const {
        if (depth != other.depth) return false;
        for (uint32_t d = 0; d <= depth; ++d) {
            if (previous[d] != other.previous[d]) return false;
            const Chain &c = chain[previous[d]];
            for (int i = 0; i < c.count; ++i)
                if (turn[c.loop[i]] != other.turn[c.loop[i]]) return false;
        }
        return true;
    }
    void arrive() {  // count the turns of loops on the way to the cursor's place
        if (cursor == end) return;
        uint32_t place = cursor->key & 0xffffff, d = (255 - (cursor->key >> 24)) % MOST_DEPTH;
        uint32_t before = d > depth ? 0 : previous[d];
        depth = d;
        if (cursor->kind == BACK && place == before) return;  // no turn of a loop lies between
        previous[d] = place;
        const Chain &to = chain[place], &from = chain[before];
        int both = 0;
        while (both < to.count && both < from.count && to.loop[both] == from.loop[both]) ++both;
        if (both && place <= before) ++turn[to.loop[both - 1]];
        for (int i = both; i < to.count; ++i) turn[to.loop[i]] = 0;
    }
};

Lane lane[32];
uint32_t key[32];

// Of the lanes in the deepest call, those that go next: in the earliest turn of every loop around them,
// and then at the smallest place.
uint32_t choose(uint32_t least) {
    uint32_t chosen = 0, place = least & 0xffffff;
    for (int l = 0; l < 32; ++l) chosen |= (uint32_t)(key[l] != OVER && key[l] >> 24 == least >> 24) << l;
    for (int level = 0; level < chain[place].count; ++level) {
        int loop = chain[place].loop[level];
        uint32_t turn = OVER, inside = 0;
        for (uint32_t rest = chosen; rest; rest &= rest - 1) {
            int l = __builtin_ctz(rest);
            uint32_t p = key[l] & 0xffffff;
            if (p < loop_first[loop] || p > loop_last[loop]) continue;
            if (lane[l].turn[loop] < turn) turn = lane[l].turn[loop], inside = 0;
            if (lane[l].turn[loop] == turn) inside |= 1u << l;
        }
        chosen = inside;
        place = OVER;
        for (uint32_t rest = chosen; rest; rest &= rest - 1)
            place = std::min(place, key[__builtin_ctz(rest)] & 0xffffff);
    }
    uint32_t at = 0;
    for (uint32_t rest = chosen; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        if ((key[l] & 0xffffff) == place) at |= 1u << l;
    }
    return at;
}

void merge_warp(unsigned slot, unsigned warp, unsigned block) {
    unsigned first = slot * threads + warp * 32;
    int count = std::min(32u, threads - warp * 32);
    uint64_t address[32] = {};
    int active[32], actives = 0;
    for (int l = 0; l < 32; ++l) {
        key[l] = OVER;
        if (l >= count) continue;
        lane[l].start(lanes[first + l].log);
        if ((key[l] = lane[l].key()) != OVER) active[actives++] = l;
    }
    if (!actives) return;
    // While all lanes go the same way, one of them counts the turns for all.
    bool together = true;
    int lead = active[0];
    for (int i = 1; i < actives; ++i) together &= key[active[i]] == key[lead];
    for (;;) {
        while (together) {
            const Event &e = *lane[lead].cursor;
            uint32_t mask = 0, place = e.key & 0xffffff;
            for (int i = 0; i < actives; ++i) {
                const Event *one = lane[active[i]].cursor;
                if (one->space != e.space || !alike(*one, e)) {
                    mask = 0;
                    break;
                }
                mask |= 1u << active[i];
                address[active[i]] = one->address;
            }
            if (!mask) break;
            if (e.kind < MARK) request(e, mask, address, block, warp);
            bool same = true;
            ++lane[lead].cursor;
            uint32_t next = key[lead] = lane[lead].key();
            for (int i = 1; i < actives; ++i) {
                Lane &a = lane[active[i]];
                ++a.cursor;
                same &= (key[active[i]] = a.key()) == next;
            }
            passages[place] += e.kind != BACK;
            if (!same) {
                ++splits[place];
                together = false;
                for (int i = 1; i < actives; ++i) lane[active[i]].like(lane[lead]);
                for (int i = 0; i < actives; ++i) lane[active[i]].arrive();
            } else if (next == OVER) {
                break;
            } else {
                lane[lead].arrive();
            }
        }
        if (together) {  // the end, or several kinds of access at one place
            if (lane[lead].cursor == lane[lead].end) break;
            for (int i = 1; i < actives; ++i) lane[active[i]].like(lane[lead]);
        }
        uint32_t least = *std::min_element(key, key + 32);
        if (least == OVER) break;
        uint32_t chosen = choose(least), mask = 0;
        const Event e = *lane[__builtin_ctz(chosen)].cursor;
        uint32_t next = 0;
        bool same = true;
        for (uint32_t rest = chosen; rest; rest &= rest - 1) {
            int l = __builtin_ctz(rest);
            const Event &one = *lane[l].cursor;
            if (one.space != e.space || !alike(one, e)) continue;
            address[l] = one.address;
            ++lane[l].cursor;
            lane[l].arrive();
            key[l] = lane[l].key();
            if (mask && key[l] != next) same = false;
            next = key[l];
            mask |= 1u << l;
        }
        if (e.kind < MARK) request(e, mask, address, block, warp);
        passages[e.key & 0xffffff] += e.kind != BACK;
        if (!same) ++splits[e.key & 0xffffff];
        actives = 0;
        for (int l = 0; l < 32; ++l)
            if (key[l] != OVER) active[actives++] = l;
        if (!actives) break;
        lead = active[0];
        together = true;
        for (int i = 1; i < actives && together; ++i)
            together = key[active[i]] == key[lead] && lane[active[i]].agrees(lane[lead]);
    }
    for (int l = 0; l < count; ++l) {
        held -= lanes[first + l].log.size();
        lanes[first + l].log.clear();
    }
}

void merge_block(unsigned slot, unsigned block) {
    for (unsigned w = 0; w < warps; ++w) merge_warp(slot, w, block);
}

}  // namespace
