// cooperative_groups/reduce.h: one value combined over the threads of a group.
#pragma once
#include "cooperative_operations.h"

namespace cooperative_groups {

// The same result for every thread of the tile.
template <unsigned int Size, class Parent, class T, class Operation>
inline T reduce(const thread_block_tile<Size, Parent> &tile, T value, Operation operation,
                int line = __builtin_LINE()) {
    for (int bits = Size / 2; bits; bits /= 2)
        value = operation(value, tile.shfl_xor(value, bits, line));
    return value;
}

template <class T, class Operation>
inline T reduce(const coalesced_group &group, T value, Operation operation,
                int line = __builtin_LINE()) {
    T result = group.shfl(value, 0, line);
    for (unsigned int rank = 1; rank < group.size(); ++rank)
        result = operation(result, group.shfl(value, (int)rank, line));
    return result;
}

}  // namespace cooperative_groups
