// The module's `__shared__` variables. Each is a member of a class of its own, so that an instance of a
// template has its own, and is entered in the list when the library is loaded: at a priority of its own,
// which tells it from what the reader's variables begin with (a precompiled header would forget it).
#pragma once

template <class T>
struct StandinElement {
    static const size_t value = sizeof(T);
};
template <class T, size_t N>
struct StandinElement<T[N]> : StandinElement<T> {};

struct StandinSlotEntry : StandinSlot {
    STANDIN_UNCHECKED StandinSlotEntry(size_t bytes, int number, size_t alignment, size_t element)
        : StandinSlot{bytes, number, standin_slots, 0, nullptr, alignment, element} {
        standin_slots = this;
    }
};
template <class Tag, class T, int Number>
struct StandinShared {
    static StandinSlotEntry slot;
};
template <class Tag, class T, int Number>
__attribute__((init_priority(101))) StandinSlotEntry StandinShared<Tag, T, Number>::slot(sizeof(T), Number, alignof(T),
                                                                                                     StandinElement<T>::value);
