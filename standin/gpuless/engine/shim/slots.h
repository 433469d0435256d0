// The module's `__shared__` variables. Each is a member of a class of its own, so that an instance of a
// template has its own, and is entered in the list when the library is loaded: at a priority of its own,
// which tells it from what the reader's variables begin with (a precompiled header would forget it).
#pragma once

template <class T>
struct StandinElement {
    static const size_t value = sizeof(T);
    STANDIN_UNCHECKED static const unsigned char *used() {
#if __has_builtin(__builtin_clear_padding)
        if constexpr (__is_class(T) && __is_trivially_copyable(T)) {
            alignas(T) static unsigned char bytes[sizeof(T)];
            for (unsigned char &byte : bytes) byte = 0xFF;
            __builtin_clear_padding((T *)bytes);
            for (unsigned char byte : bytes)
                if (!byte) return bytes;
        }
#endif
        return nullptr;
    }
};
template <class T, size_t N>
struct StandinElement<T[N]> : StandinElement<T> {};

struct StandinSlotEntry : StandinSlot {
    STANDIN_UNCHECKED StandinSlotEntry(size_t bytes, int number, size_t alignment, size_t element,
                                       const unsigned char *used)
        : StandinSlot{bytes, number, standin_slots, 0, nullptr, alignment, element, used} {
        standin_slots = this;
    }
};
template <class Tag, class T, int Number>
struct StandinShared {
    static StandinSlotEntry slot;
};
template <class Tag, class T, int Number>
__attribute__((init_priority(101))) StandinSlotEntry StandinShared<Tag, T, Number>::slot(
    sizeof(T), Number, alignof(T), StandinElement<T>::value, StandinElement<T>::used());
