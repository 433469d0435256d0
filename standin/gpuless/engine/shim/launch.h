// How Python calls a kernel: the types of its parameters, deduced from the function itself, and a
// function that unpacks an array of pointers to arguments, as cuLaunchKernel takes one.
#pragma once

// The module's `__shared__` variables; slots.h.
namespace {
StandinSlot *standin_slots;
}

// The pages of its `__constant__` variables, if it has any; constants.h.
#ifdef __ELF__
extern "C" {
extern __attribute__((weak, visibility("hidden"))) char __start_standin_constant[], __stop_standin_constant[];
}
#define STANDIN_CONSTANTS __start_standin_constant, __stop_standin_constant
#else
#define STANDIN_CONSTANTS nullptr, nullptr
#endif

template <class T>
struct StandinKind {
    static const char value = __is_class(T) || __is_union(T) ? 's' : 'i';  // i: an enumeration
};
#define STANDIN_KIND(type, letter)           \
    template <>                              \
    struct StandinKind<type> {               \
        static const char value = letter;    \
    };
#define STANDIN_KINDS(type)          \
    STANDIN_KIND(type, 'i')          \
    STANDIN_KIND(unsigned type, 'u')
STANDIN_KIND(bool, 'b')
STANDIN_KIND(char, 'c')
STANDIN_KIND(signed char, 'i')
STANDIN_KIND(unsigned char, 'u')
STANDIN_KINDS(short)
STANDIN_KINDS(int)
STANDIN_KINDS(long)
STANDIN_KINDS(long long)
STANDIN_KIND(float, 'f')
STANDIN_KIND(double, 'f')
STANDIN_KIND(void, 0)

template <class T>
struct StandinPlain {
    typedef T type;
};
template <class T>
struct StandinPlain<const T> : StandinPlain<T> {};
template <class T>
struct StandinPlain<volatile T> : StandinPlain<T> {};
template <class T>
struct StandinPlain<const volatile T> : StandinPlain<T> {};

template <class T>
struct StandinSize {
    static const int value = sizeof(T), alignment = alignof(T);
};
template <>
struct StandinSize<void> {
    static const int value = 0, alignment = 0;
};

template <class T>
const char *standin_type_name() {
    return __PRETTY_FUNCTION__;
}

template <class T>
struct StandinDescribe {
    static StandinParameter parameter() {
        return {StandinKind<T>::value, 0, sizeof(T), 0, 0, standin_type_name<T>()};
    }
};
template <class T>
struct StandinDescribe<T *> {
    static StandinParameter parameter() {
        typedef typename StandinPlain<T>::type Target;
        return {'p', StandinKind<Target>::value, sizeof(T *), StandinSize<Target>::value,
                StandinSize<Target>::alignment, standin_type_name<T *>()};
    }
};

// A reference is a pointer to who launches.
template <class T>
struct StandinDescribe<T &> : StandinDescribe<T *> {};
template <class T, size_t N>
struct StandinDescribe<T (&)[N]> : StandinDescribe<T *> {};

template <class T>
struct StandinArgument {
    static STANDIN_UNSEEN T &at(void *place) { return *(typename StandinPlain<T>::type *)place; }
};
template <class T>
struct StandinArgument<T &> {
    static STANDIN_UNSEEN T &at(void *place) { return **(T **)place; }
};

template <int... I>
struct StandinIndices {};
template <int N, int... I>
struct StandinCount : StandinCount<N - 1, N - 1, I...> {};
template <int... I>
struct StandinCount<0, I...> {
    typedef StandinIndices<I...> type;
};

// Fibers: whether the kernel may wait, so that each of its threads needs a stack of its own.
template <auto F, bool Fibers>
struct StandinEntry;
template <class... A, void (*F)(A...), bool Fibers>
struct StandinEntry<F, Fibers> {
    typedef typename StandinCount<sizeof...(A)>::type Indices;

    template <int... I>
    static inline __attribute__((always_inline)) STANDIN_UNSEEN void unpack(void (*function)(A...), void **arguments,
                                                             StandinIndices<I...>) {
        function(StandinArgument<A>::at(arguments[I])...);
    }

    STANDIN_UNSEEN static void call(void **arguments) { unpack(F, arguments, Indices()); }

    STANDIN_UNSEEN static void loop(void **arguments) { unpack(threads, arguments, Indices()); }

    STANDIN_UNSEEN static void threads(A... a) {
        const dim3 size = standin_here.block_size;
        const bool back = standin_here.backwards;
        const uint3 last = {size.x - 1, size.y - 1, size.z - 1};
        const unsigned int last_index = size.x * size.y * size.z - 1;
        for (unsigned int z = 0, index = 0; z < size.z; ++z)
            for (unsigned int y = 0; y < size.y; ++y) {
                standin_here.thread = {0, back ? last.y - y : y, back ? last.z - z : z};
                for (unsigned int x = 0; x < size.x; ++x, ++index) {
                    standin_here.thread.x = back ? last.x - x : x;
                    standin_here.index = back ? last_index - index : index;
                    asm volatile("" ::: "memory");  // now, so that a fault names the right thread
                    F(a...);
                }
            }
    }

    static const StandinKernel *kernel() {
        static const StandinParameter parameters[] = {
            StandinDescribe<typename StandinPlain<A>::type>::parameter()..., {}};
        static StandinKernel all = {nullptr, nullptr, parameters, sizeof...(A), standin_slots,
                                    STANDIN_CONSTANTS};
        if constexpr (Fibers)
            all.call = call;
        else
            all.loop = loop;
        return &all;
    }
};
