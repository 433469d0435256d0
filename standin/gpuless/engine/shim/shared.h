// The shared memory of blocks. Part of runtime.cpp.
//
// A block's frame holds one slot for each `__shared__` variable of the module, and one for the dynamic
// shared memory, with a gap behind each. The shadow also knows which bytes have been written, so that
// reading one that has not is found out.
#pragma once
#include "faults.h"
#include "memory.h"
#include "runtime.h"

namespace {

const unsigned char POISON = 0xFF;  // floats made of it are NaN

struct Frames {
    StandinSlot *slots = nullptr;  // of the module; the dynamic one is `dynamic`
    StandinSlot dynamic = {};
    unsigned blocks = 0;
    size_t stride = 0;                  // bytes from one block's frame to the next one's
    unsigned char *written = nullptr;   // one bit for each byte of the shared arena

    template <class F>
    void each(F f) {
        for (StandinSlot *slot = slots; slot; slot = slot->next) f(*slot);
        if (dynamic.bytes) f(dynamic);
    }

    char *place(const StandinSlot &slot, unsigned block) const {
        return shared_arena.begin + block * stride + slot.offset;
    }

    void prepare(StandinSlot *of_module, size_t dynamic_bytes, unsigned count) {
        if (of_module == slots && dynamic_bytes == dynamic.bytes && count <= blocks) return;
        for (unsigned b = 0; b < blocks; ++b)
            each([&](StandinSlot &slot) { close_memory(place(slot, b), slot.bytes); });
        slots = of_module;
        dynamic.bytes = dynamic_bytes;
        blocks = 0;
        stride = GAP;
        each([&](StandinSlot &slot) {
            size_t pages = round_up(slot.bytes, page_size());
            // Without a shadow the end of a slot meets memory that faults.
            slot.offset = stride + (has_shadow ? 0 : pages - round_up(slot.bytes, 16));
            stride += pages + GAP;
        });
        if (stride * count > addresses.shared || !shared_arena.make_ready(shared_arena.begin + stride * count))
            standin_fail(STANDIN_REFUSED, "there is no room for the shared memory of %u blocks", count);
        if (!has_shadow)
            for (unsigned b = 0; b < count; ++b)
                each([&](StandinSlot &slot) {
                    char *page = (char *)((uintptr_t)place(slot, b) / page_size() * page_size());
                    mprotect(page, round_up(slot.bytes, page_size()), PROT_READ | PROT_WRITE);
                });
        if (has_shadow && !written)
            written = (unsigned char *)mmap(nullptr, addresses.shared / 8, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        blocks = count;
    }

    // As a block finds it: nothing has been written.
    void clear(unsigned block) {
        each([&](StandinSlot &slot) {
            char *p = place(slot, block);
            memset(p, POISON, slot.bytes);
            if (!has_shadow) return;
            memset(shadow_of(p), UNWRITTEN, (slot.bytes + 7) / 8);
            unsigned char *bits = written + (p - shared_arena.begin) / 8;
            memset(bits, 0, (slot.bytes + 7) / 8);
            for (size_t i = 0; slot.used && i < slot.bytes; ++i)  // nobody has to write padding
                if (!slot.used[i % slot.element]) bits[i / 8] |= 1 << i % 8;
        });
    }

    void enter(unsigned block) {
        each([&](StandinSlot &slot) { slot.here = place(slot, block); });
        // Without any, an address inside the gap: an access to it is a fault.
        standin_here.dynamic_shared =
            dynamic.bytes ? dynamic.here : shared_arena.begin + block * stride + GAP / 2;
    }

    // The slot with an address at most a gap away, or null; `p` may be before or past it.
    StandinSlot *find(const char *p) {
        if (!blocks || p >= shared_arena.begin + blocks * stride) return nullptr;
        long offset = (p - shared_arena.begin) % stride;
        StandinSlot *best = nullptr;
        long nearest = 0;
        each([&](StandinSlot &slot) {
            long after = offset - (long)(slot.offset + slot.bytes) + 1, before = (long)slot.offset - offset;
            long distance = after > 0 ? after : before > 0 ? before : 0;
            if (!best || distance < nearest) best = &slot, nearest = distance;
        });
        return best;
    }

    bool inside(char *p, size_t bytes) {
        StandinSlot *slot = shared_arena.holds(p) ? find(p) : nullptr;
        if (!slot) return false;
        size_t first = (p - shared_arena.begin) % stride - slot->offset;  // huge if before the slot
        return first < slot->bytes && first + bytes <= slot->bytes;
    }

    // An access that the shadow did not let pass. True if it may go on: what it touches has been
    // written, or is being written now. `unwritten`: it lies inside a slot and may not. What else lies in
    // eight bytes of dynamic memory that are in part written may be padding of a struct.
    bool allow(char *p, size_t bytes, bool store, bool &unwritten) {
        unwritten = false;
        if (!inside(p, bytes)) return false;
        StandinSlot *slot = find(p);
        size_t first = (p - shared_arena.begin) % stride - slot->offset;
        char *start = p - first;
        for (size_t i = first; i < first + bytes; ++i) {
            unsigned char &bits = written[(start + i - shared_arena.begin) / 8];
            if (store)
                bits |= 1 << i % 8;
            else if (!(bits >> i % 8 & 1) && !(bits && bytes >= 8 && slot == &dynamic)) {
                unwritten = true;
                return false;
            }
        }
        for (size_t i = first / 8 * 8; store && i < first + bytes; i += 8) {
            size_t valid = slot->bytes - i < 8 ? slot->bytes - i : 8;
            bool all = written[(start + i - shared_arena.begin) / 8] == (1 << valid) - 1;
            *shadow_of(start + i) = !all ? PARTLY_WRITTEN : valid == 8 ? 0 : valid;
        }
        return true;
    }
} frames;

// For the report: which variable an address belongs to, and how far from its start.
void note_shared(const void *address) {
    if (!shared_arena.holds(address)) return;
    StandinSlot *slot = frames.find((const char *)address);
    size_t offset = ((const char *)address - shared_arena.begin) % frames.stride;
    bool none = !frames.dynamic.bytes && offset >= GAP / 2 && offset < GAP / 4 * 3;  // see enter
    if (!slot && !none) return;
    standin_report.slot = none || slot == &frames.dynamic ? STANDIN_DYNAMIC : slot->number;
    standin_report.slot_bytes = none ? 0 : slot->bytes;
    standin_report.slot_offset = (long)(offset - (none ? GAP / 2 : slot->offset));
}

}  // namespace
