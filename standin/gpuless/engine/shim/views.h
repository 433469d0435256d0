// Arrays of which a kernel was given a part: a write to the rest of one is noted, and goes on, since a GPU
// allows it and an offset may be meant. Part of runtime.cpp.
#pragma once
#include "faults.h"
#include "memory.h"

StandinOverrun standin_overrun;

namespace {

const unsigned MOST_VIEWS = 64;
struct View {
    uintptr_t array, array_end, begin, end;
};
View views[MOST_VIEWS];
unsigned view_count;

// An access to memory whose shadow is VIEW. False if it is outside the whole array.
bool allow_outside_view(const char *p, size_t bytes, bool store, void *instruction) {
    const char *last = p + bytes - 1;
    if (!view_count || !arena.holds(p) || !arena.holds(last)) return false;
    if (*shadow_of(p) != VIEW && *shadow_of(last) != VIEW) return false;
    uintptr_t first = (uintptr_t)p;
    bool in_array = false, in_view = false;
    for (unsigned i = 0; i < view_count; ++i) {
        const View &view = views[i];
        in_array |= first >= view.array && first + bytes <= view.array_end;
        in_view |= first >= view.begin && first + bytes <= view.end;
    }
    if (!in_array) return false;
    if (in_view || !store || standin_overrun.found) return true;
    standin_overrun = {1, standin_here.block, standin_here.thread, p, 0, ""};
    Dl_info info;
    if (dladdr(instruction, &info)) {
        standin_overrun.offset = (char *)instruction - (char *)info.dli_fbase;
        snprintf(standin_overrun.library, sizeof standin_overrun.library, "%s", info.dli_fname);
    }
    return true;
}

}  // namespace

extern "C" {
// For the launches to come: of the array from `array` to `array_end` a kernel has this part. Parts of one
// array come one after another, in order.
void standin_view(uintptr_t array, uintptr_t array_end, uintptr_t begin, uintptr_t end) {
    if (!has_shadow || view_count == MOST_VIEWS) return;
    bool more = view_count && views[view_count - 1].array == array;
    views[view_count++] = {array, array_end, begin, end};
    if (!more) memset(shadow_of((void *)array), VIEW, (array_end - array + 7) / 8);
    uintptr_t inside = round_up(begin, 8), behind = end / 8 * 8;
    if (inside < behind) memset(shadow_of((void *)inside), 0, (behind - inside) / 8);
}
void standin_forget_views() {
    for (unsigned i = 0; i < view_count; ++i)
        open_memory((char *)views[i].array, views[i].array_end - views[i].array);
    view_count = 0;
    standin_overrun.found = 0;
}
}
