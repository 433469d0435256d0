// <cuda/atomic>: cuda::atomic_ref and fences. One thread runs at a time, so every order is kept; a
// load is a place where a thread may wait for another one, so it lets the others run.
#pragma once

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
enum memory_order {
    memory_order_relaxed,
    memory_order_consume,
    memory_order_acquire,
    memory_order_release,
    memory_order_acq_rel,
    memory_order_seq_cst
};
namespace std {
using memory_order = cuda::memory_order;
using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_consume;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using cuda::memory_order_seq_cst;
}  // namespace std

inline void standin_order(memory_order order) {
    if (order != memory_order_relaxed) __threadfence();
}
inline void atomic_thread_fence(memory_order order, thread_scope = thread_scope_system) {
    standin_order(order);
}

template <class T, thread_scope Scope = thread_scope_system>
class atomic_ref {
    T *at;

    template <class F>
    T change(memory_order order, F value_of) const {
        standin_order(order);
        T old = STANDIN_ATOMIC_LOAD(at);
        STANDIN_ATOMIC_STORE(at, (T)value_of(old));
        standin_order(order);
        return old;
    }

   public:
    typedef T value_type;
    static constexpr bool is_always_lock_free = sizeof(T) <= 8;
    static constexpr size_t required_alignment = sizeof(T);

    explicit atomic_ref(T &value) : at(&value) {}
    atomic_ref(const atomic_ref &) = default;
    atomic_ref &operator=(const atomic_ref &) = delete;

    T load(memory_order order = memory_order_seq_cst) const {
        standin_spin();
        T value = STANDIN_ATOMIC_LOAD(at);
        standin_order(order);
        return value;
    }
    void store(T value, memory_order order = memory_order_seq_cst) const {
        standin_order(order);
        (void)STANDIN_ATOMIC_LOAD(at);  // which is what a listener counts (hooks.h)
        STANDIN_ATOMIC_STORE(at, value);
    }
    operator T() const { return load(); }
    T operator=(T value) const {
        store(value);
        return value;
    }
    T exchange(T value, memory_order order = memory_order_seq_cst) const {
        return change(order, [&](T) { return value; });
    }
    bool compare_exchange_strong(T &expected, T value, memory_order order = memory_order_seq_cst,
                                 memory_order = memory_order_seq_cst) const {
        standin_spin();
        T wanted = expected;
        expected = change(order, [&](T old) { return old == wanted ? value : old; });
        return expected == wanted;
    }
    bool compare_exchange_weak(T &expected, T value, memory_order order = memory_order_seq_cst,
                               memory_order = memory_order_seq_cst) const {
        return compare_exchange_strong(expected, value, order);
    }
#define STANDIN_FETCH(name, expression)                                                  \
    T fetch_##name(T value, memory_order order = memory_order_seq_cst) const {           \
        return change(order, [&](T old) { return expression; });                         \
    }
    STANDIN_FETCH(add, old + value)
    STANDIN_FETCH(sub, old - value)
    STANDIN_FETCH(and, old & value)
    STANDIN_FETCH(or, old | value)
    STANDIN_FETCH(xor, old ^ value)
    STANDIN_FETCH(min, value < old ? value : old)
    STANDIN_FETCH(max, old < value ? value : old)
    T operator++() const { return fetch_add(1) + 1; }
    T operator++(int) const { return fetch_add(1); }
    T operator--() const { return fetch_sub(1) - 1; }
    T operator--(int) const { return fetch_sub(1); }
    T operator+=(T value) const { return fetch_add(value) + value; }
    T operator-=(T value) const { return fetch_sub(value) - value; }
};

}  // namespace cuda
