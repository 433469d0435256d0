// The stacks that kernels run on, away from the interpreter's: one for threads that run one after
// another, and one for each fiber. Part of runtime.cpp.
//
// The compiler fences the local arrays of a function in the shadow (and clears it on return), so an
// overrun through a pointer is found too. All else of a stack is closed until its own thread comes there.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "memory.h"
#include "runtime.h"

namespace {

const size_t PLAIN_STACK = 1 << 20;  // bytes; a GPU gives a thread 512 KiB of local memory
const size_t STACK = 128 * 1024;     // bytes a fiber
// The lowest page of a stack is a fence, but the system allows some 65,000 mappings.
const unsigned FENCED_STACKS = 8192;
const unsigned char LEFT_OF_FRAME = 0xF1;  // the compilers' own mark

Region stacks;
char *stacks_ready;  // up to here there is memory

char *stack_of(unsigned fiber) { return stacks.begin + PLAIN_STACK + fiber * STACK; }

// Stacks are a power of two apart: without a shift their tops would share few cache lines.
size_t shift_of(unsigned fiber) { return fiber % 64 * 256; }

struct Stack {
    char *begin, *top;
};
Stack own_stack();  // of the thread that runs; fiber_state.h

// Make sure of the stacks of so many fibers and of the plain one.
bool reserve_stacks(unsigned fibers) {
    if (!stacks.begin) {
        if (!stacks.reserve(addresses.stacks)) return false;
        stacks_ready = stacks.begin;
    }
    char *end = stack_of(fibers);
    if (end <= stacks_ready) return true;
    if (!stacks.make_ready(end) ||
        mprotect(stacks_ready, end - stacks_ready, PROT_READ | PROT_WRITE))
        return false;
    for (char *p = stacks_ready; p < end; p += p == stacks.begin ? PLAIN_STACK : STACK)
        if (p < stack_of(FENCED_STACKS)) mprotect(p, page_size(), PROT_NONE);
    stacks_ready = end;
    return true;
}

bool is_stack_fence(const char *p) {
    if (!stacks.holds(p)) return false;
    size_t offset = p - stacks.begin;
    return (offset < PLAIN_STACK ? offset : (offset - PLAIN_STACK) % STACK) < page_size();
}

// After a launch that was left early: what its functions fenced is closed like the rest.
void close_stacks() {
    if (has_shadow && stacks.begin)
        madvise(shadow_of(stacks.begin), (stacks_ready - stacks.begin) / 8, MADV_DONTNEED);
}

// The first access to a part of a stack. True if it is in use, between `lowest`, where the frame of the
// caller ends, and the top of the stack that runs: then it is open from now on, less what is fenced.
bool open_frames(const char *p, const char *lowest) {
    if (!has_shadow || p < lowest || !stacks.holds(p) || *shadow_of(p) != CLOSED) return false;
    const char *top = own_stack().top;
    if (p >= top) return false;
    for (unsigned char *s = shadow_of(lowest); s < shadow_of(top); ++s)
        if (*s == CLOSED) *s = 0;
    return true;
}

ucontext_t caller, on_stack;
void (*stack_work)(void *);
void *stack_argument;

// Call work(argument) on the plain stack.
void call_on_stack(void (*work)(void *), void *argument) {
    if (!reserve_stacks(0))
        standin_fail(STANDIN_REFUSED, "there is no memory for its stack");
    stack_work = work;
    stack_argument = argument;
    getcontext(&on_stack);
    on_stack.uc_stack.ss_sp = stacks.begin;
    on_stack.uc_stack.ss_size = PLAIN_STACK;
    on_stack.uc_link = &caller;
    makecontext(&on_stack, [] { stack_work(stack_argument); }, 0);
    swapcontext(&caller, &on_stack);
}

// Of an access beside a local array: its name and size, which the compilers write into the frame, at
// its left end, as "2 32 16 3 a:7 64 ..." (how many; offset, size, length of the name, name and line).
bool describe_local(const char *p, const char *verb) {
    if (!has_shadow || !stacks.holds(p)) return false;
    // The nearest frame with arrays below the address or, where there is none, above it.
    Stack own = own_stack();
    const char *nearest = p < own.begin ? own.begin : p >= own.top ? own.top - 8 : p;
    const char *frame = nearest = (const char *)((uintptr_t)nearest / 8 * 8);
    while (frame > own.begin && *shadow_of(frame) != LEFT_OF_FRAME) frame -= 8;
    if (frame == own.begin)
        for (frame = nearest; *shadow_of(frame) != LEFT_OF_FRAME; frame += 8)
            if (frame >= own.top) return false;
    while (*shadow_of(frame - 8) == LEFT_OF_FRAME) frame -= 8;
    const size_t *words = (const size_t *)frame;
    if (words[0] != 0x41B58AB3) return false;
    char *text = (char *)words[1];
    long best = -1;
    for (long count = strtol(text, &text, 10); count > 0; --count) {
        long offset = strtol(text, &text, 10), size = strtol(text, &text, 10);
        long length = strtol(text, &text, 10), named = 0;
        const char *name = text + 1;
        while (named < length && name[named] != ':' && name[named] != '.') ++named;
        text += 1 + length;
        long from = p - frame - offset, past = from - size;
        long distance = from < 0 ? -from : past < 0 ? 0 : past;
        if (best >= 0 && distance >= best) continue;
        best = distance;
        size_t room = sizeof standin_report.text;
        int n = snprintf(standin_report.text, room, "%s outside the local array '%.*s' of %ld bytes, ",
                         verb, (int)named, name, size);
        if (past == 0)
            snprintf(standin_report.text + n, room - n, "just past its end");
        else
            snprintf(standin_report.text + n, room - n, "%ld bytes %s", distance,
                     from < 0 ? "before its start" : "past its end");
    }
    return best >= 0;
}

}  // namespace
