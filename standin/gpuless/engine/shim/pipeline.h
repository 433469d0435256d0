// cuda_pipeline.h: copies from global to shared memory, which are there once waited for (async_copy.h).
#pragma once

inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0,
                                    int line = __builtin_LINE()) {
    if (zeros > bytes)
        standin_fail(STANDIN_FAULT, "line %d: an asynchronous copy of %zu bytes cannot fill %zu", line,
                     bytes, zeros);
    standin_copy_async(to, from, bytes, bytes - zeros, 0, line);
}
inline void __pipeline_commit() { standin_copy_commit(); }
inline void __pipeline_wait_prior(size_t groups) { standin_copy_wait((int)groups); }
