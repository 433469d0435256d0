// cooperative_groups/memcpy_async.h: asynchronous copies by the threads of a group.
#pragma once
#include "cooperative_groups.h"

namespace cooperative_groups {

// The threads of the group take turns at pieces as wide as both ends are aligned: as asynchronous copies
// or, of less than 4 bytes or between other memories than global and shared, as plain ones. A call is a group of copies to wait for.
template <class Group, class T>
__forceinline__ void memcpy_async(const Group &group, T *to, const T *from, size_t bytes,
                         int line = __builtin_LINE()) {
    size_t ends = (size_t)to | (size_t)from, wide = 16;
    while (wide > 1 && (ends % wide || bytes < wide)) wide /= 2;
    bool plain = wide < 4 || !__isShared(to) || !__isGlobal(from);
    size_t whole = plain ? 0 : bytes / wide * wide;
    for (size_t at = wide * group.thread_rank(); at < whole; at += wide * group.size())
        standin_copy_async((char *)to + at, (const char *)from + at, wide, wide, 0, line);
    for (size_t at = whole + group.thread_rank(); at < bytes; at += group.size())
        standin_memcpy((char *)to + at, (const char *)from + at, 1);
    standin_copy_commit();
}
// With room for `to_count` elements and `from_count` of them to copy.
template <class Group, class T>
__forceinline__ void memcpy_async(const Group &group, T *to, size_t to_count, const T *from,
                         size_t from_count) {
    memcpy_async(group, to, from, sizeof(T) * (from_count < to_count ? from_count : to_count));
}
template <class Group>
inline void wait(const Group &group, int line = __builtin_LINE()) {
    standin_copy_wait(0);
    group.sync(line);
}
template <unsigned int Stages, class Group>
inline void wait_prior(const Group &group, int line = __builtin_LINE()) {
    standin_copy_wait(Stages);
    group.sync(line);
}

}  // namespace cooperative_groups
