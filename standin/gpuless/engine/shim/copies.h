// Asynchronous copies into shared memory: what a thread has asked for, and gets no sooner than it waits.
// On a GPU a copy may be there earlier; here a forgotten wait shows. Part of runtime.cpp.
#pragma once
#include "fiber_state.h"
#include "sanitizer.h"

namespace {

struct LateCopy {
    char *to;
    unsigned bytes, group, from_bytes;
    int line;
    const void *from;
    char data[16];
};
// Of a thread; another one's are dropped when this one first uses the queue.
struct CopyQueue {
    LateCopy *copies;
    unsigned count, room, group, launch, index;
    uint3 block;
};
CopyQueue *queues;
unsigned queue_count, launches;

CopyQueue &own_queue() {
    unsigned slot = kernel && !kernel->loop ? current : 0;
    if (slot >= queue_count) {
        unsigned count = round_up(slot + 1, 256);
        grow(queues, count);
        memset(queues + queue_count, 0, (count - queue_count) * sizeof *queues);
        queue_count = count;
    }
    CopyQueue &queue = queues[slot];
    const uint3 &block = standin_here.block;
    if (queue.launch != launches || queue.index != standin_here.index || queue.block.x != block.x ||
        queue.block.y != block.y || queue.block.z != block.z)
        queue.count = queue.group = 0, queue.launch = launches, queue.index = standin_here.index,
        queue.block = block;
    return queue;
}

// Whether a copy that a thread of this block has not waited for is to fill an address.
bool on_its_way(const void *address) {
    for (unsigned i = 0; i < queue_count; ++i)
        for (unsigned k = 0; queues[i].launch == launches && k < queues[i].count; ++k) {
            const LateCopy &copy = queues[i].copies[k];
            if ((const char *)address >= copy.to && (const char *)address < copy.to + copy.bytes) return true;
        }
    return false;
}

}  // namespace

extern "C" {
// `bytes` of 4, 8 or 16, of which those from `from_bytes` on are filled with zeros.
void standin_copy(void *to, const void *from, unsigned bytes, unsigned from_bytes, int line) {
    check_range(from, from_bytes, 'r', HERE);
    check_range(to, bytes, 'c', HERE);
    CopyQueue &queue = own_queue();
    if (queue.count == queue.room) grow(queue.copies, queue.room = 2 * queue.room + 8);
    LateCopy &copy = queue.copies[queue.count++];
    copy = {(char *)to, bytes, queue.group, from_bytes, line, from, {}};
    memcpy(copy.data, from, from_bytes);
}

void standin_copy_commit() { ++own_queue().group; }

// Until at most so many committed groups are under way; -1: until no copy is.
void standin_copy_wait(int groups, int look) {
    CopyQueue &queue = own_queue();
    unsigned left = 0;
    for (unsigned i = 0; i < queue.count; ++i) {
        LateCopy &copy = queue.copies[i];
        if (groups < 0 || (int)(queue.group - copy.group) > groups) {
            check_range(copy.to, copy.bytes, 'w', HERE);
            if (look && copy.from_bytes && memcmp(copy.from, copy.data, copy.from_bytes)) {
                standin_report.unwritten = 1;  // an x-ray shows it
                standin_fail(STANDIN_FAULT,
                             "line %d: what this asynchronous copy reads was overwritten before the thread "
                             "waited for the copy: a GPU may bring the old value or the new one",
                             copy.line);
            }
            memcpy(copy.to, copy.data, copy.bytes);
        } else {
            queue.copies[left++] = copy;
        }
    }
    queue.count = left;
}
}
