// cooperative_groups: the block, tiles of a warp, and the grid; coalesced threads in lanes.h.
#pragma once

namespace cooperative_groups {

class thread_block {
    thread_block() = default;
    friend thread_block this_thread_block();

   public:
    void sync(int line = __builtin_LINE()) const { standin_barrier(STANDIN_BLOCK, 0, line); }
    static unsigned int thread_rank() { return standin_here.index; }
    static unsigned int size() {
        const dim3 &n = standin_here.block_size;
        return n.x * n.y * n.z;
    }
    unsigned int num_threads() const { return size(); }
    dim3 group_index() const { return standin_here.block; }
    dim3 thread_index() const { return standin_here.thread; }
    dim3 group_dim() const { return standin_here.block_size; }
    dim3 dim_threads() const { return standin_here.block_size; }
};
inline thread_block this_thread_block() { return thread_block(); }

class grid_group {
    grid_group() = default;
    friend grid_group this_grid();

   public:
    bool is_valid() const { return true; }  // as an H200 says, however the kernel was launched
    void sync(int line = __builtin_LINE()) const {
        if (!standin_here.cooperative)
            standin_fail(STANDIN_REFUSED,
                         "line %d: the grid's sync() needs a cooperative launch; make the kernel with "
                         "RawKernel(..., enable_cooperative_groups=True)",
                         line);
        standin_barrier(STANDIN_GRID, 0, line);
    }
    unsigned long long block_rank() const {
        const dim3 &n = standin_here.grid_size;
        const uint3 &b = standin_here.block;
        return ((unsigned long long)b.z * n.y + b.y) * n.x + b.x;
    }
    unsigned long long num_blocks() const {
        const dim3 &n = standin_here.grid_size;
        return (unsigned long long)n.x * n.y * n.z;
    }
    unsigned long long thread_rank() const {
        return block_rank() * thread_block::size() + standin_here.index;
    }
    unsigned long long size() const { return num_blocks() * thread_block::size(); }
    unsigned long long num_threads() const { return size(); }
    dim3 group_dim() const { return standin_here.grid_size; }
    dim3 dim_blocks() const { return standin_here.grid_size; }
    dim3 block_index() const { return standin_here.block; }
};
inline grid_group this_grid() { return grid_group(); }

// Size lanes of a warp, side by side. `group` is its number among the `groups` of what was parted, the block
// or a larger tile.
template <unsigned int Size, class Parent = void>
class thread_block_tile {
    static_assert(Size && Size <= 32 && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads");
    template <unsigned int, class>
    friend class thread_block_tile;
    template <unsigned int Small, class Parted>
    friend thread_block_tile<Small, Parted> tiled_partition(const Parted &);

    unsigned int group, groups;
    thread_block_tile(unsigned int group, unsigned int groups) : group(group), groups(groups) {}
    unsigned int first() const { return standin_here.index % 32 & ~(Size - 1); }

   public:
    template <class Other>
    thread_block_tile(const thread_block_tile<Size, Other> &tile) : group(tile.group), groups(tile.groups) {}
    unsigned int mask() const { return (unsigned int)(((1ull << Size) - 1) << first()); }
    static unsigned int thread_rank() { return standin_here.index % Size; }
    static constexpr unsigned int size() { return Size; }
    static constexpr unsigned int num_threads() { return Size; }
    unsigned int meta_group_rank() const { return group; }
    unsigned int meta_group_size() const { return groups; }
    void sync(int line = __builtin_LINE()) const { __syncwarp(mask(), line); }
    template <class T>
    T shfl(T value, int source, int line = __builtin_LINE()) const {
        return __shfl_sync(mask(), value, source, Size, line);
    }
    template <class T>
    T shfl_up(T value, int delta, int line = __builtin_LINE()) const {
        return __shfl_up_sync(mask(), value, delta, Size, line);
    }
    template <class T>
    T shfl_down(T value, int delta, int line = __builtin_LINE()) const {
        return __shfl_down_sync(mask(), value, delta, Size, line);
    }
    template <class T>
    T shfl_xor(T value, int bits, int line = __builtin_LINE()) const {
        return __shfl_xor_sync(mask(), value, bits, Size, line);
    }
    int any(int predicate, int line = __builtin_LINE()) const {
        return __any_sync(mask(), predicate, line);
    }
    int all(int predicate, int line = __builtin_LINE()) const {
        return __all_sync(mask(), predicate, line);
    }
    unsigned int ballot(int predicate, int line = __builtin_LINE()) const {
        return __ballot_sync(mask(), predicate, line) >> first();
    }
    template <class T>
    unsigned int match_any(T value, int line = __builtin_LINE()) const {
        return __match_any_sync(mask(), value, line) >> first();
    }
    template <class T>
    unsigned int match_all(T value, int &all, int line = __builtin_LINE()) const {
        return __match_all_sync(mask(), value, &all, line) >> first();
    }
};

// How many threads a tile of a group may have; only blocks and tiles are parted so.
template <class Group>
constexpr unsigned int standin_most = 0;
template <>
constexpr unsigned int standin_most<thread_block> = 32;
template <unsigned int Size, class Parent>
constexpr unsigned int standin_most<thread_block_tile<Size, Parent>> = Size;

template <unsigned int Size, class Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent &parent) {
    static_assert(Size <= standin_most<Parent>, "a block is parted into tiles, and a tile into smaller ones");
    return {parent.thread_rank() / Size, (parent.size() + Size - 1) / Size};
}

template <class Group>
inline void sync(const Group &group, int line = __builtin_LINE()) {
    group.sync(line);
}

}  // namespace cooperative_groups
#include "lanes.h"
