// cooperative_groups/scan.h: one value combined over the threads up to each.
#pragma once
#include "cooperative_operations.h"

namespace cooperative_groups {

// What the threads up to this one (inclusive) or before it (exclusive) have, combined.
template <class Group, class T, class Operation>
inline T inclusive_scan(const Group &all, T value, Operation operation, int line = __builtin_LINE()) {
    return standin_scan(coalesced_group(all.mask()), value, operation, line);
}
template <class Group, class T>
inline T inclusive_scan(const Group &group, T value, int line = __builtin_LINE()) {
    return inclusive_scan(group, value, plus<T>(), line);
}
template <class Group, class T, class Operation>
inline T exclusive_scan(const Group &all, T value, Operation operation, int line = __builtin_LINE()) {
    coalesced_group group(all.mask());
    T result = group.shfl_up(inclusive_scan(group, value, operation, line), 1, line);
    return group.thread_rank() ? result : T();
}
template <class Group, class T>
inline T exclusive_scan(const Group &group, T value, int line = __builtin_LINE()) {
    return exclusive_scan(group, value, plus<T>(), line);
}

}  // namespace cooperative_groups
