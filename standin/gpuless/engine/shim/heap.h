// What kernels take with malloc and new: 8 MiB in all, as a GPU gives, and it lasts from launch to launch.
// Each piece stands behind fences of its own. Part of runtime.cpp.
#pragma once
#include "faults.h"
#include "memory.h"
#include "runtime.h"

namespace {

const size_t HEAP = 8 << 20;               // bytes that kernels may hold
const size_t HEAP_GAP = 256;

// In front of each piece. A freed one waits in the list of those with room for 2^log2 bytes.
struct alignas(16) Piece {
    Piece *next;
    size_t size;
    unsigned log2, state;
};
enum PieceState : unsigned { LIVE = 0x4C495645, FREED = 0x46524545 };

Region heap;
char *heap_next;
size_t heap_used;
Piece *freed[24];
Piece *resting;  // freed ones that are not given again yet

Piece *piece_before(char *p) {
    if (p <= heap.begin || p >= heap_next || (uintptr_t)p % 16) return nullptr;
    Piece *piece = (Piece *)p - 1;
    return piece->state == LIVE || piece->state == FREED ? piece : nullptr;
}

Piece *fresh_piece(size_t room) {
    if (!heap.begin) {
        if (!heap.reserve(addresses.heap)) return nullptr;
        if (!has_shadow) mprotect(heap.begin, addresses.heap, PROT_READ | PROT_WRITE);
        heap_next = heap.begin + HEAP_GAP;
    }
    char *next = heap_next + sizeof(Piece) + room + HEAP_GAP;
    if (!heap.make_ready(next)) return nullptr;
    Piece *piece = (Piece *)heap_next;
    heap_next = next;
    return piece;
}

void end_rest() {
    while (Piece *piece = resting) {
        resting = piece->next;
        piece->next = freed[piece->log2];
        freed[piece->log2] = piece;
    }
}

// Of an access to what malloc gave, or near it.
bool describe_heap(const char *p, const char *verb) {
    if (!heap.holds(p)) return false;
    snprintf(standin_report.text, sizeof standin_report.text,
             "%s memory outside of what malloc or new gave it, or freed since", verb);
    return true;
}

}  // namespace

extern "C" {
// Whether what is freed rests: lanes of a warp, which run here one after the other, have memory at the
// same time on a GPU. To set it ends the rest of what does.
static int heap_rests;
void standin_heap_rests(int rests) {
    heap_rests = rests;
    end_rest();
}

// Where all that malloc gives lies; null before the first of it.
char *standin_heap(size_t *size) {
    *size = heap.end - heap.begin;
    return heap.begin;
}

void *standin_malloc(size_t bytes) {
    unsigned log2 = 4;
    while (log2 < 23 && (size_t)1 << log2 < bytes) ++log2;
    size_t counted = round_up(bytes, 16) + sizeof(Piece);
    if (bytes > HEAP || heap_used + counted > HEAP) return nullptr;
    Piece *piece = freed[log2] ? nullptr : fresh_piece((size_t)1 << log2);
    if (!piece) {
        if (!freed[log2]) end_rest();
        if (!(piece = freed[log2])) return nullptr;
        freed[log2] = piece->next;
    }
    *piece = {nullptr, bytes, log2, LIVE};
    heap_used += counted;
    open_memory((char *)(piece + 1), bytes);
    memset(piece + 1, 0xFE, bytes);  // as a variable that was never set: no luck with zeros
    return piece + 1;
}

void standin_free(void *p) {
    if (!p) return;
    Piece *piece = piece_before((char *)p);
    if (!piece || piece->state == FREED) note_place(__builtin_return_address(0));
    if (!piece)
        standin_fail(STANDIN_FAULT, "free or delete of an address that malloc or new did not give");
    if (piece->state == FREED) standin_fail(STANDIN_FAULT, "the same memory is freed twice");
    close_memory((char *)p, piece->size);
    heap_used -= round_up(piece->size, 16) + sizeof(Piece);
    piece->state = FREED;
    Piece **list = heap_rests ? &resting : &freed[piece->log2];
    piece->next = *list;
    *list = piece;
}
}
