// cooperative_groups/reduce.h: one value combined over the threads of a group.
#pragma once
#include "cooperative_operations.h"

namespace cooperative_groups {

// The same result for every thread of the tile.
template <unsigned int Size, class Parent, class T, class Operation>
inline T reduce(const thread_block_tile<Size, Parent> &tile, T value, Operation operation,
                int line = __builtin_LINE()) {
    standin_check(operation, value);
    for (int bits = Size / 2; bits; bits /= 2)
        value = operation(value, tile.shfl_xor(value, bits, line));
    return value;
}

// Of a part of a warp it is what a scan leaves with the last, as in CUDA.
template <class T, class Operation>
inline T reduce(const coalesced_group &group, T value, Operation operation,
                int line = __builtin_LINE()) {
    standin_check(operation, value);
    if (group.size() < 32)
        return group.shfl(standin_scan(group, value, operation, line), (int)group.size() - 1, line);
    for (int bits = 16; bits; bits /= 2)
        value = operation(value, group.shfl(value, (int)group.thread_rank() ^ bits, line));
    return value;
}

}  // namespace cooperative_groups
