// What the compiler's checks call when an access is not allowed. Part of runtime.cpp.
//
// The names and the layout of the structures are those of GCC's and Clang's sanitizers.
#pragma once
#include "faults.h"
#include "memory.h"
#include "shared.h"
#include "stacks.h"
#include "views.h"

namespace {

// Where in the kernel, and up to where its frame reaches.
struct Place {
    void *instruction, *frame;
};
#define HERE {__builtin_return_address(0), __builtin_frame_address(0)}

void check_range(const void *address, size_t bytes, char access, Place place);
bool on_its_way(const void *address);  // copies.h

// Let a good access to shared or local memory go on; leave the launch at any other. With 'c' it is
// only to come, and shared memory is not written by it.
void look_closer(const void *address, size_t bytes, char access, Place place) {
    if (open_frames((const char *)address, (const char *)place.frame))
        return check_range(address, bytes, access, place);
    if (access == 'c' && frames.inside((char *)address, bytes)) return;
    if (allow_outside_view((const char *)address, bytes, access == 'w', place.instruction)) return;
    bool unwritten = false;
    if (frames.allow((char *)address, bytes, access == 'w', unwritten)) return;
    standin_report.unwritten = unwritten + (unwritten && on_its_way(address));
    fault(access == 'c' ? 'w' : access, address, bytes, place.instruction);
}

// For accesses whose size is not a power of two, and for memcpy and its like.
void check_range(const void *address, size_t bytes, char access, Place place) {
    if (!has_shadow) return;
    const char *p = (const char *)address;
    const char *end = (uintptr_t)p + bytes < (uintptr_t)p ? (const char *)UINTPTR_MAX : p + bytes;
    calling = place.instruction;  // there may be no shadow to look at
    while (p < end) {
        if (access != 'r' && is_constant(p)) fault(access, p, bytes, place.instruction);
        unsigned char shadow = *shadow_of(p);
        size_t first = (uintptr_t)p % 8, piece = 8 - first;
        if (piece > (size_t)(end - p)) piece = end - p;
        if (shadow > 7)
            look_closer(p, piece, access, place);
        else if (shadow && first + piece > shadow) {
            size_t good = shadow > first ? shadow - first : 0;
            look_closer(p + good, piece - good, access, place);
        }
        p += piece;
    }
    calling = nullptr;
}

// What the compilers tell of a variable outside all functions when its library is loaded.
struct Global {
    uintptr_t begin, size, size_with_fence;
    const char *name, *module;
    uintptr_t rest[3];
};
struct Globals {
    const Global *first;
    size_t count;
    Globals *next;
} *all_globals;

// Of an access just past one; or of a write to one that is constant.
bool describe_global(const char *p, const char *verb) {
    for (Globals *library = all_globals; library; library = library->next)
        for (size_t i = 0; i < library->count; ++i) {
            const Global &global = library->first[i];
            uintptr_t offset = (uintptr_t)p - global.begin;
            if (offset >= global.size_with_fence) continue;
            const char *colon = strrchr(global.name, ':');
            const char *name = colon ? colon + 1 : global.name;
            if (offset < global.size)
                snprintf(standin_report.text, sizeof standin_report.text,
                         "writes byte %zu of '%s', which is constant: a kernel is to read it only. A GPU stops "
                         "the whole program there or, where NVIDIA's compiler does not see that it is "
                         "constant, changes it while other threads read it",
                         (size_t)offset, name);
            else
            snprintf(standin_report.text, sizeof standin_report.text,
                     "%s outside '%s' of %zu bytes, %zu bytes from its start", verb,
                     name, (size_t)global.size, (size_t)offset);
            return true;
        }
    return false;
}

struct Location {
    const char *file;
    unsigned int line, column;
};
struct Type {
    unsigned short kind, info;
    char name[1];  // in quotes
};
struct TypeMismatch {
    Location where;
    const Type *type;
    unsigned char log2_alignment, kind;
};
struct OutOfBounds {
    Location where;
    const Type *array, *index;
};

struct ShiftOutOfBounds {
    Location where;
    const Type *number, *amount;
};

struct FloatCast {
    Location where;
    const Type *from, *to;
};

struct InvalidValue {
    Location where;
    const Type *type;
};

// In a function of the shim's it is the line of the reader's call, found by the instruction.
void note_location(const Location &where, void *instruction) {
    static const char shim[] = __FILE__;
    size_t folder = strrchr(shim, '/') - shim;
    if (!strncmp(where.file, shim, folder)) return note_place(instruction);
    standin_report.line = where.line;
    snprintf(standin_report.library, sizeof standin_report.library, "%s", where.file);
}

}  // namespace

extern "C" {
#define STANDIN_REPORTS(bytes)                                                                          \
    void __asan_report_load##bytes##_noabort(const void *p) { look_closer(p, bytes, 'r', HERE); }       \
    void __asan_report_store##bytes##_noabort(const void *p) { look_closer(p, bytes, 'w', HERE); }
STANDIN_REPORTS(1)
STANDIN_REPORTS(2)
STANDIN_REPORTS(4)
STANDIN_REPORTS(8)
STANDIN_REPORTS(16)
void __asan_report_load_n_noabort(const void *p, size_t n) {
    check_range(p, n, 'r', HERE);
}
void __asan_report_store_n_noabort(const void *p, size_t n) {
    check_range(p, n, 'w', HERE);
}
void __asan_loadN_noabort(const void *p, size_t n) {
    check_range(p, n, 'r', HERE);
}
void __asan_storeN_noabort(const void *p, size_t n) {
    check_range(p, n, 'w', HERE);
}
#define STANDIN_COPIES(prefix)                                   \
    void *prefix##memcpy(void *to, const void *from, size_t n) { \
        check_range(from, n, 'r', HERE);                         \
        check_range(to, n, 'w', HERE);                           \
        return memmove(to, from, n);                             \
    }                                                            \
    void *prefix##memset(void *to, int value, size_t n) {        \
        check_range(to, n, 'w', HERE);                           \
        return memset(to, value, n);                             \
    }
STANDIN_COPIES(standin_)  // what kernels call
STANDIN_COPIES(__asan_)   // what Clang makes of the copy of a struct
void *__asan_memmove(void *to, const void *from, size_t n) {
    check_range(from, n, 'r', HERE);
    check_range(to, n, 'w', HERE);
    return memmove(to, from, n);
}
void __asan_handle_no_return() {}
// Clang marks a large local array and what is around it by these.
#define STANDIN_MARKS(value) \
    void __asan_set_shadow_##value(void *shadow, size_t n) { memset(shadow, 0x##value, n); }
STANDIN_MARKS(00)
STANDIN_MARKS(f1)
STANDIN_MARKS(f2)
STANDIN_MARKS(f3)
void __asan_register_globals(const Global *globals, size_t count) {
    Globals *library = (Globals *)malloc(sizeof *library);
    if (!has_shadow || !library) return;
    *library = {globals, count, all_globals};
    all_globals = library;
    open_library(globals);
    for (size_t i = 0; i < count; ++i) {
        char *end = (char *)globals[i].begin + globals[i].size;
        char *past = (char *)globals[i].begin + globals[i].size_with_fence;
        char *fence = (char *)round_up((uintptr_t)end, 8);
        close_memory(fence, past - fence);
        if ((uintptr_t)end % 8) *shadow_of(end) = (uintptr_t)end % 8;
    }
}
void __asan_unregister_globals(const Global *, size_t) {}
void __asan_before_dynamic_init(const char *) {}
void __asan_after_dynamic_init() {}

void __ubsan_handle_type_mismatch_v1_abort(const TypeMismatch *data, const void *p) {
    note_location(data->where, __builtin_return_address(0));
    if (!p)
        standin_fail(STANDIN_FAULT, "an access through a null pointer");
    unsigned alignment = 1u << data->log2_alignment;
    standin_fail(STANDIN_FAULT,
                 "a misaligned access: %s is read and written at multiples of %u bytes only, and this "
                 "address is %u past one. A GPU stops the whole program there",
                 data->type->name, alignment, (unsigned)((uintptr_t)p % alignment));
}
void __ubsan_handle_out_of_bounds_abort(const OutOfBounds *data, size_t index) {
    note_location(data->where, __builtin_return_address(0));
    bool narrow = data->index->info >> 1 < 6, is_signed = data->index->info & 1;  // 2^5 = 32 bits
    long long value = narrow && is_signed ? (int)index : (long long)index;
    standin_fail(STANDIN_FAULT, "index %lld is outside an array of type %s (shared or local)", value,
                 data->array->name);
}

// The location is that of the function.
void __ubsan_handle_missing_return(const Location *where) {
    note_location(*where, __builtin_return_address(0));
    standin_fail(STANDIN_FAULT,
                 "the function in this line has ended without the return it owes: on a GPU the caller gets "
                 "whatever is there");
}

// A GPU clamps the amount to the width (PTX ISA, shl and shr); an Intel processor takes it modulo the width.
void __ubsan_handle_shift_out_of_bounds_abort(const ShiftOutOfBounds *data, size_t, size_t amount) {
    note_location(data->where, __builtin_return_address(0));
    bool narrow = data->amount->info >> 1 < 6, is_signed = data->amount->info & 1;
    long long by = narrow && is_signed ? (int)amount : (long long)amount;
    standin_fail(STANDIN_FAULT,
                 "a shift of %s, which has %u bits, by %lld. C++ leaves open what it gives; a GPU shifts all "
                 "bits out (0, or -1 of a negative number to the right). Take a wider type, such as 1ull, or "
                 "test the amount first",
                 data->number->name, 1u << (data->number->info >> 1), by);
}

// g++ takes !b for b ^ 1, which is not 0 for a byte of 255. NVIDIA's compiler compares with 0 there, and with 1
// in b == true.
void __ubsan_handle_load_invalid_value_abort(const InvalidValue *data, size_t value) {
    note_location(data->where, __builtin_return_address(0));
    unsigned byte = (unsigned char)value;
    const bool pattern = byte == 0xFE || byte == 0xAA;  // of -ftrivial-auto-var-init: g++'s and Clang's
    standin_fail(STANDIN_FAULT, "a %s whose byte is %u, neither 0 nor 1%s", data->type->name, byte,
                 pattern ? ": most likely it was never given a value"
                         : ", which C++ leaves open. Read it as an unsigned char");
}

// `value` is the number itself, as the bits of a pointer.
void __ubsan_handle_float_cast_overflow_abort(const FloatCast *data, void *value) {
    note_location(data->where, __builtin_return_address(0));
    float single;
    double number;
    memcpy(&single, &value, sizeof single);
    memcpy(&number, &value, sizeof number);
    if (data->from->info == 32) number = single;
    // A GPU has instructions for 32 and 64 bits, and keeps the low ones for a smaller type.
    const bool small = 1 << (data->to->info >> 1) < 32;
    standin_fail(STANDIN_FAULT,
                 "the %s %g is beyond the range of %s. C++ leaves open what such a conversion gives; a "
                 "GPU gives the %snearest %s. Write it as a cast, such as (int)x, for a GPU's result "
                 "here too, or test the value first",
                 data->from->name, number, data->to->name, small ? "low bits of the " : "",
                 small ? "integer of 32 bits" : data->to->name);
}
}
