// What one request of a warp costs. Part of xray.cpp.
//
// The rules were held against the counters of a GPU. Global memory moves in sectors of 32 bytes. Shared
// memory, and the lines that L1 holds, lie in 32 banks of 4 bytes: a pass takes one word from each bank.
#pragma once
#include "state.h"

namespace {

// The most distinct words in one bank; `distinct`: how many words in all.
inline int ways(const uint64_t *address, uint32_t mask, unsigned size, int &distinct) {
    uint64_t words[32 * 8];
    int n = 0;
    if (size > 32) size = 32;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        for (uint64_t w = address[lane] / 4; w <= (address[lane] + size - 1) / 4 && n < 256; ++w)
            if (!n || words[n - 1] != w) words[n++] = w;
    }
    std::sort(words, words + n);
    distinct = n = std::unique(words, words + n) - words;
    int count[32] = {}, most = 0;
    for (int i = 0; i < n; ++i) most = std::max(most, ++count[words[i] % 32]);
    return most;
}

struct Passes {
    int taken = 0, ideal = 0;
};

inline void pass(Passes &sum, const uint64_t *address, uint32_t part, unsigned size) {
    if (!part) return;
    int distinct;
    sum.taken += ways(address, part, size, distinct);
    sum.ideal += (distinct + 31) / 32;
}

// Whether every lane asks for what the lane next to it asks for, or every lane for what the one two away
// does: then shared memory answers two parts of a wide request at once.
inline bool paired(const uint64_t *address, uint32_t part) {
    bool by[2] = {true, true};
    for (uint32_t rest = part; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        for (int k = 0; k < 2; ++k) {
            int other = lane ^ (1 << k);
            if (part >> other & 1 && address[lane] != address[other]) by[k] = false;
        }
    }
    return by[0] || by[1];
}

// 8 bytes a lane: half a warp at a time; 16: a quarter.
Passes shared_passes(const uint64_t *address, uint32_t mask, unsigned size) {
    Passes sum;
    if (size <= 4) {
        pass(sum, address, mask, size);
    } else if (size <= 8) {
        if (paired(address, mask))
            pass(sum, address, mask, size);
        else
            pass(sum, address, mask & 0xffff, size), pass(sum, address, mask & 0xffff0000, size);
    } else {
        for (int first = 0; first < 32; first += 16) {
            uint32_t half = mask & 0xffffu << first;
            if (paired(address, half))
                pass(sum, address, half, size);
            else
                pass(sum, address, half & 0xffu << first, size),
                    pass(sum, address, half & 0xff00u << first, size);
        }
    }
    return sum;
}

// The same for a load of global memory that L1 has: parts are never taken together.
Passes cache_passes(const uint64_t *address, uint32_t mask, unsigned size) {
    Passes sum;
    int lanes = size <= 4 ? 32 : size <= 8 ? 16 : 8;
    for (int first = 0; first < 32; first += lanes)
        pass(sum, address, lanes == 32 ? mask : mask & ((1u << lanes) - 1) << first, size);
    return sum;
}

struct Sectors {
    int moved = 0;
    int64_t distinct = 0;  // bytes asked for, each counted once
};

Sectors sectors(const uint64_t *address, uint32_t mask, unsigned size, bool atomic) {
    uint64_t asked[32];
    int m = 0, n = 0;
    bool rising = true;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t a = address[__builtin_ctz(rest)];
        if (m && a < asked[m - 1]) rising = false;
        if (!m || a != asked[m - 1]) asked[m++] = a;
    }
    if (!rising) {
        std::sort(asked, asked + m);
        m = std::unique(asked, asked + m) - asked;
    }
    uint64_t last = ~0ull;
    int64_t bytes = 0;
    uint64_t end = 0;
    for (int i = 0; i < m; ++i) {
        for (uint64_t q = asked[i] / 32; q <= (asked[i] + size - 1) / 32; ++q)
            if (last == ~0ull || q > last) last = q, ++n;
        uint64_t from = std::max(asked[i], end);
        if (asked[i] + size > from) bytes += asked[i] + size - from, end = asked[i] + size;
    }
    if (atomic) {  // lanes at one address take turns, and each turn touches the sector again
        n = 0;
        for (int i = 0; i < m;) {
            int most = 0;
            uint64_t q = asked[i] / 32;
            for (; i < m && asked[i] / 32 == q; ++i) {
                int same = 0;
                for (uint32_t r = mask; r; r &= r - 1) same += address[__builtin_ctz(r)] == asked[i];
                most = std::max(most, same);
            }
            n += most;
        }
    }
    return {n, bytes};
}

int different(const uint64_t *address, uint32_t mask) {
    uint64_t all[32];
    int n = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) all[n++] = address[__builtin_ctz(rest)];
    std::sort(all, all + n);
    return std::unique(all, all + n) - all;
}

int most_at_one_address(const uint64_t *address, uint32_t mask) {
    int most = 0;
    for (uint32_t a = mask; a; a &= a - 1) {
        int same = 0;
        for (uint32_t b = mask; b; b &= b - 1)
            same += address[__builtin_ctz(a)] == address[__builtin_ctz(b)];
        most = std::max(most, same);
    }
    return most;
}

// Count a request: the lanes of `mask` at one place, and of what they move the piece that begins at
// `address`; by lane.
void count_request(const Event &e, uint32_t mask, const uint64_t *address, unsigned block, unsigned warp) {
    unsigned place = e.key & 0xffffff, size = 1u << e.log2;
    unsigned kind = e.kind == VLOAD ? LOAD : e.kind == VSTORE ? STORE : e.kind;
    uint64_t id = (uint64_t)place << 32 | e.space << 12 | e.log2 << 8 | kind;
    auto [at, fresh] = stat_at.try_emplace(id, stats.size());
    if (fresh) {
        stats.push_back({});
        Stat &s = stats.back();
        s.place = place, s.space = e.space, s.kind = kind, s.size = size;
    }
    Stat &s = stats[at->second];
    int active = __builtin_popcount(mask), cost;
    ++s.requests;
    s.lanes += active;
    s.bytes += active * size;
    if (spaces[e.space].shared) {
        Passes p = shared_passes(address, mask, size);
        s.passes += p.taken, s.ideal_passes += p.ideal;
        cost = p.taken;
    } else if (spaces[e.space].memory == CONSTANT) {
        cost = different(address, mask);  // the constant cache answers one address at a time
        s.passes += cost, s.ideal_passes += 1;
    } else {
        Sectors n = sectors(address, mask, size, kind == ATOMIC);
        s.sectors += n.moved, s.distinct += n.distinct;
        cost = n.moved;
        if (kind == LOAD) {
            Passes p = cache_passes(address, mask, size);
            s.passes += p.taken, s.ideal_passes += p.ideal;
        }
    }
    if (kind == ATOMIC) {
        int turns = most_at_one_address(address, mask);
        s.turns += turns;
        cost = std::max(cost, turns);
    }
    if (cost > s.worst) {
        s.worst = cost, s.mask = mask, s.block = block, s.warp = warp;
        memcpy(s.address, address, sizeof s.address);
    }
}

// The requests of an event, one for each piece.
void request(const Event &e, uint32_t mask, const uint64_t *address, unsigned block, unsigned warp) {
    if (e.pieces == 1) return count_request(e, mask, address, block, warp);
    uint64_t piece[32];
    for (unsigned k = 0; k < e.pieces; ++k) {
        for (int lane = 0; lane < 32; ++lane) piece[lane] = address[lane] + ((uint64_t)k << e.log2);
        count_request(e, mask, piece, block, warp);
    }
}

}  // namespace
