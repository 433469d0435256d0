// What reduce.h and scan.h of cooperative_groups combine by.
#pragma once
#include "cooperative_groups.h"

namespace cooperative_groups {

template <class T>
struct plus {
    T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
    T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
    T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
    T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
    T operator()(T a, T b) const { return a ^ b; }
};

// What an operation gives for two values must be of their type: it is not, of plus<int> and floats.
template <class T>
T standin_plain(const T &);
template <class T, class Given>
constexpr bool standin_same = false;
template <class T>
constexpr bool standin_same<T, T> = true;
template <class T, class Operation>
inline void standin_check(Operation &operation, T &value) {
    static_assert(standin_same<T, decltype(standin_plain(operation(value, value)))>,
                  "Operator input and output types differ");
}

// What the threads of a group up to this one have, combined; the left one is the second operand, as in CUDA.
template <class T, class Operation>
inline T standin_scan(const coalesced_group &group, T value, Operation operation, int line) {
    standin_check(operation, value);
    for (unsigned int gap = 1; gap < group.size(); gap *= 2) {
        T left = group.shfl_up(value, (int)gap, line);
        if (group.thread_rank() >= gap) value = operation(value, left);
    }
    return value;
}

}  // namespace cooperative_groups
