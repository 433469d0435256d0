// What the compiler's check calls when a number does not fit the integer it is converted to. Part of
// runtime.cpp. The name and the layout of the structures are those of GCC's and Clang's sanitizers.
#pragma once
#include <string.h>

#include "faults.h"

namespace {

struct FloatCast {
    struct {
        const char *file;
        unsigned int line, column;
    } where;
    struct Type {
        unsigned short kind, bits;
        char name[1];  // in quotes
    } const *from, *to;
};

}  // namespace

// `value` is the number itself, as the bits of a pointer.
extern "C" void __ubsan_handle_float_cast_overflow_abort(void *data, void *value) {
    const FloatCast &cast = *(const FloatCast *)data;
    float single;
    double number;
    memcpy(&single, &value, sizeof single);
    memcpy(&number, &value, sizeof number);
    if (cast.from->bits == 32) number = single;
    standin_fail(STANDIN_FAULT,
                 "line %u: the %s %g is beyond the range of %s. C++ leaves open what such a conversion "
                 "gives; a GPU gives the nearest %s. Write it as a cast, such as (int)x, for a GPU's "
                 "result here too, or test the value first",
                 cast.where.line, cast.from->name, number, cast.to->name, cast.to->name);
}
