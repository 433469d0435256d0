// cooperative_groups: any lanes of a warp as a group, and what one of them does for all.
#pragma once

namespace cooperative_groups {

// The lanes of a mask, ranked from the lowest.
class coalesced_group {
    unsigned int lanes;
    unsigned int parts, part;

    int lane_of(int rank) const { return (int)__fns(lanes, 0, rank + 1); }
    unsigned int packed(unsigned int bits) const {  // one bit a rank
        unsigned int result = 0, rank = 0;
        for (unsigned int rest = lanes; rest; rest &= rest - 1, ++rank)
            result |= (bits >> __builtin_ctz(rest) & 1) << rank;
        return result;
    }

   public:
    explicit coalesced_group(unsigned int mask, unsigned int parts = 1, unsigned int part = 0)
        : lanes(mask), parts(parts), part(part) {}
    unsigned int mask() const { return lanes; }
    unsigned int size() const { return (unsigned int)__popc(lanes); }
    unsigned int num_threads() const { return size(); }
    unsigned int thread_rank() const {
        return (unsigned int)__popc(lanes & ((1u << standin_here.index % 32) - 1));
    }
    unsigned int meta_group_size() const { return parts; }
    unsigned int meta_group_rank() const { return part; }
    void sync(int line = __builtin_LINE()) const { __syncwarp(lanes, line); }
    template <class T>
    T shfl(T value, int source, int line = __builtin_LINE()) const {
        return __shfl_sync(lanes, value, lane_of(source % (int)size()), 32, line);
    }
    template <class T>
    T shfl_up(T value, int delta, int line = __builtin_LINE()) const {
        int from = (int)thread_rank() - delta;
        return shfl(value, from < 0 ? (int)thread_rank() : from, line);
    }
    template <class T>
    T shfl_down(T value, int delta, int line = __builtin_LINE()) const {
        int from = (int)thread_rank() + delta;
        return shfl(value, from >= (int)size() ? (int)thread_rank() : from, line);
    }
    int any(int predicate, int line = __builtin_LINE()) const {
        return __any_sync(lanes, predicate, line);
    }
    int all(int predicate, int line = __builtin_LINE()) const {
        return __all_sync(lanes, predicate, line);
    }
    unsigned int ballot(int predicate, int line = __builtin_LINE()) const {
        return packed(__ballot_sync(lanes, predicate, line));
    }
    template <class T>
    unsigned int match_any(T value, int line = __builtin_LINE()) const {
        return packed(__match_any_sync(lanes, value, line));
    }
    template <class T>
    unsigned int match_all(T value, int &all, int line = __builtin_LINE()) const {
        return packed(__match_all_sync(lanes, value, &all, line));
    }
};
inline coalesced_group coalesced_threads(int line = __builtin_LINE()) {
    return coalesced_group(__activemask(line));
}

// A block, or lanes of a warp, when the kind is known at run time only.
class thread_group {
    unsigned int lanes;  // 0: the block

   public:
    thread_group(const thread_block &) : lanes(0) {}
    thread_group(const coalesced_group &group) : lanes(group.mask()) {}
    template <unsigned int Size, class Parent>
    thread_group(const thread_block_tile<Size, Parent> &tile) : lanes(tile.mask()) {}
    unsigned int size() const {
        return lanes ? coalesced_group(lanes).size() : thread_block::size();
    }
    unsigned int num_threads() const { return size(); }
    unsigned int thread_rank() const {
        return lanes ? coalesced_group(lanes).thread_rank() : thread_block::thread_rank();
    }
    void sync(int line = __builtin_LINE()) const {
        lanes ? __syncwarp(lanes, line) : this_thread_block().sync(line);
    }
};

// Parts of `size` threads side by side.
inline coalesced_group standin_part(unsigned int lanes, unsigned int rank, unsigned int threads,
                                    unsigned int size) {
    if (!size || size > 32 || size & (size - 1))
        standin_fail(STANDIN_FAULT, "tiled_partition(group, %u): a tile has 1, 2, 4, 8, 16 or 32 threads",
                     size);
    unsigned int mask = 0, first = rank / size * size;
    for (unsigned int i = first; i < first + size && i < threads; ++i)
        mask |= 1u << __fns(lanes, 0, (int)i + 1);
    return coalesced_group(mask, (threads + size - 1) / size, rank / size);
}
inline coalesced_group tiled_partition(const coalesced_group &group, unsigned int size) {
    return standin_part(group.mask(), group.thread_rank(), group.size(), size);
}
inline thread_group tiled_partition(const thread_block &block, unsigned int size) {
    unsigned int rest = block.size() - standin_here.index / 32 * 32;
    return standin_part(0xffffffffu, standin_here.index % 32, rest < 32 ? rest : 32, size);
}
// The lanes of the group with the same label. Two parts are numbered by their predicate, more by their first lane.
template <class Group>
inline coalesced_group binary_partition(const Group &group, bool predicate,
                                        int line = __builtin_LINE()) {
    const unsigned int all = group.mask(), set = __ballot_sync(all, predicate, line);
    if (!set || set == all) return coalesced_group(all);
    return coalesced_group(predicate ? set : all & ~set, 2, predicate);
}
template <class Group, class T>
inline coalesced_group labeled_partition(const Group &group, T label, int line = __builtin_LINE()) {
    const unsigned int same = __match_any_sync(group.mask(), label, line), first = same & -same;
    const bool leads = first == 1u << standin_here.index % 32;
    const unsigned int leaders = __ballot_sync(group.mask(), leads, line);
    return coalesced_group(same, (unsigned int)__popc(leaders), (unsigned int)__popc(leaders & (first - 1)));
}
template <class Group>
inline coalesced_group labeled_partition(const Group &group, bool label, int line = __builtin_LINE()) {
    return binary_partition(group, label, line);
}

// One thread of the group calls the function; all of it may learn the result.
template <class Group, class F, class... A>
inline void invoke_one(const Group &group, F &&function, A &&...arguments) {
    if (group.thread_rank() == 0) function(arguments...);
}
template <class Group, class F, class... A>
inline auto invoke_one_broadcast(const Group &group, F &&function, A &&...arguments)
    -> decltype(function(arguments...)) {
    decltype(function(arguments...)) result{};
    if (group.thread_rank() == 0) result = function(arguments...);
    return group.shfl(result, 0);
}

}  // namespace cooperative_groups
