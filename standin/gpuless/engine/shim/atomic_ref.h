// <cuda/atomic>: cuda::atomic, cuda::atomic_ref and fences. One thread runs at a time, so every order is
// kept, and between all threads; whether the scope reaches them a listener is told (hooks.h). A load is a
// place where a thread may wait for another one, so it lets the others run.
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

inline void standin_order(thread_scope scope) {
    if (scope == thread_scope_thread) return;
    if (scope == thread_scope_block) {
        __threadfence_block();
        standin_spin();
    } else {
        __threadfence();
    }
}
// The order of an operation is no fence: it holds at that word alone, and in one direction.
inline int standin_ordered(memory_order order) {
    return (order >= memory_order_release ? STANDIN_RELEASES : 0) |
           (order != memory_order_relaxed && order != memory_order_release ? STANDIN_ACQUIRES : 0);
}
// What has an order is a place where others may run: before it if it releases, and behind it if it acquires.
inline void standin_pass(memory_order order, thread_scope scope, StandinOrder which) {
    if (standin_ordered(order) & which && scope != thread_scope_thread) standin_spin();
}
inline void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) {
    if (order != memory_order_relaxed) standin_order(scope);
}

// What both can do, with the word that `Self` has at().
template <class Self, class T, thread_scope Scope>
class StandinAtomic {
    static constexpr StandinReach reach = Scope == thread_scope_thread  ? STANDIN_OWN_THREAD
                                          : Scope == thread_scope_block ? STANDIN_OWN_BLOCK
                                                                        : STANDIN_ALL;

    T *word() const { return static_cast<const Self *>(this)->at(); }

    template <class F>
    T change(memory_order order, F value_of) const {
        standin_pass(order, Scope, STANDIN_RELEASES);
        T old = STANDIN_ATOMIC_LOAD(word(), reach, STANDIN_ALTERS, standin_ordered(order));
        STANDIN_ATOMIC_STORE(word(), (T)value_of(old));
        standin_pass(order, Scope, STANDIN_ACQUIRES);
        return old;
    }

   public:
    typedef T value_type;
    static constexpr bool is_always_lock_free = sizeof(T) <= 8;

    bool is_lock_free() const { return is_always_lock_free; }
    T load(memory_order order = memory_order_seq_cst) const {
        standin_spin();
        T value = STANDIN_ATOMIC_LOAD(word(), reach, STANDIN_LOOKS, standin_ordered(order));
        standin_pass(order, Scope, STANDIN_ACQUIRES);
        return value;
    }
    void store(T value, memory_order order = memory_order_seq_cst) const {
        standin_pass(order, Scope, STANDIN_RELEASES);
        (void)STANDIN_ATOMIC_LOAD(word(), reach, STANDIN_STORES, standin_ordered(order));  // which is what a listener counts (hooks.h)
        STANDIN_ATOMIC_STORE(word(), value);
    }
    operator T() const { return load(); }
    T exchange(T value, memory_order order = memory_order_seq_cst) const {
        return change(order, [&](T) { return value; });
    }
    bool compare_exchange_strong(T &expected, T value, memory_order order = memory_order_seq_cst,
                                 memory_order = memory_order_seq_cst) const {
        standin_spin();
        // Their bits are compared, so that a NaN is what it is and 0.0 is not -0.0.
        T wanted = expected;
        const auto same = [&](const T &old) { return !__builtin_memcmp(&old, &wanted, sizeof old); };
        expected = change(order, [&](T old) { return same(old) ? value : old; });
        return same(expected);
    }
    bool compare_exchange_weak(T &expected, T value, memory_order order = memory_order_seq_cst,
                               memory_order = memory_order_seq_cst) const {
        return compare_exchange_strong(expected, value, order);
    }
#define STANDIN_FETCH(name, expression)                                        \
    T fetch_##name(T value, memory_order order = memory_order_seq_cst) const { \
        return change(order, [&](T old) { return expression; });               \
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
    T operator&=(T value) const { return fetch_and(value) & value; }
    T operator|=(T value) const { return fetch_or(value) | value; }
    T operator^=(T value) const { return fetch_xor(value) ^ value; }
};

template <class T, thread_scope Scope = thread_scope_system>
class atomic_ref : public StandinAtomic<atomic_ref<T, Scope>, T, Scope> {
    T *place;

   public:
    static constexpr size_t required_alignment = sizeof(T);

    explicit atomic_ref(T &value) : place(&value) {}
    atomic_ref(const atomic_ref &) = default;
    atomic_ref &operator=(const atomic_ref &) = delete;
    T operator=(T value) const {
        this->store(value);
        return value;
    }
    T *at() const { return place; }
};

template <class T, thread_scope Scope = thread_scope_system>
class alignas(sizeof(T)) atomic : public StandinAtomic<atomic<T, Scope>, T, Scope> {
    mutable T value;

   public:
    atomic() = default;
    constexpr atomic(T given) : value(given) {}
    atomic(const atomic &) = delete;
    atomic &operator=(const atomic &) = delete;
    T operator=(T given) {
        this->store(given);
        return given;
    }
    T *at() const { return &value; }
};

namespace std {
using memory_order = cuda::memory_order;
using cuda::atomic_thread_fence;
using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_consume;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using cuda::memory_order_seq_cst;
template <class T>
using atomic = cuda::atomic<T>;
template <class T>
using atomic_ref = cuda::atomic_ref<T>;
}  // namespace std

}  // namespace cuda
