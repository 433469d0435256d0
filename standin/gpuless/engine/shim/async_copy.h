// Addresses of shared memory, and the copies into it that a GPU makes by the way (cuda_pipeline.h,
// cp.async): what they bring is there when the thread has waited for it (copies.h), and no sooner.
#pragma once

// Addresses in shared memory as PTX has them: 32 bits, from which the pointer is found again because
// the memory of one block lies within 4 GiB.
inline char *standin_shared_anchor;
inline char *standin_from_shared(unsigned long long address) {
    char *anchor = standin_here.dynamic_shared ? standin_here.dynamic_shared : standin_shared_anchor;
    return anchor + (int)((unsigned int)address - (unsigned int)(size_t)anchor);
}
inline size_t __cvta_generic_to_shared(const void *p, int line = __builtin_LINE()) {
    if (!standin_shared_anchor) standin_shared_anchor = (char *)p;
    unsigned int address = (unsigned int)(size_t)p;
    if (standin_from_shared(address) != p)
        standin_fail(STANDIN_FAULT, "line %d: __cvta_generic_to_shared of an address that is not in "
                     "shared memory", line);
    return address;
}
inline void *__cvta_shared_to_generic(size_t address) { return standin_from_shared(address); }
inline size_t __cvta_generic_to_global(const void *p) { return (size_t)p; }
inline void *__cvta_global_to_generic(size_t address) { return (void *)address; }
inline size_t __cvta_generic_to_constant(const void *p) { return (size_t)p; }
inline size_t __cvta_generic_to_local(const void *p) { return (size_t)p; }

// Copy `from_bytes` and fill up to `bytes` with zeros. `only`: the one size that is allowed, or 0.
inline void standin_copy_async(void *to, const void *from, size_t bytes, size_t from_bytes, size_t only,
                               int line = __builtin_LINE()) {
    if ((bytes != 4 && bytes != 8 && bytes != 16) || (only && bytes != only))
        standin_fail(STANDIN_FAULT, "line %d: an asynchronous copy of %zu bytes; %s", line, bytes,
                     only ? "cp.async.cg moves 16" : "it moves 4, 8 or 16");
    if (from_bytes > bytes)
        standin_fail(STANDIN_FAULT, "line %d: an asynchronous copy of %zu bytes cannot read %zu", line,
                     bytes, from_bytes);
    if (standin_space(to) != 's' || standin_space(from) != 'g')
        standin_fail(STANDIN_FAULT, "line %d: an asynchronous copy goes from global to shared memory, and "
                     "this %s is elsewhere", line, standin_space(to) != 's' ? "destination" : "source");
    const void *const ends[] = {to, from};
    for (int i = 0; i < 2; ++i)
        if ((size_t)ends[i] % bytes)
            standin_fail(STANDIN_FAULT,
                         "line %d: a misaligned asynchronous copy: the %s is %d bytes past a multiple "
                         "of %zu",
                         line, i ? "source" : "destination", (int)((size_t)ends[i] % bytes), bytes);
    standin_copy(to, from, (unsigned)bytes, (unsigned)from_bytes, line);
}
