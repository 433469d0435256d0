// What every kernel is compiled with: CUDA C as C++ for one CPU thread. See runtime.cpp for how a
// grid is run.
#pragma once
#include "runtime.h"
#include "hooks.h"

#include "language.h"
#include "mathematics.h"
#include "special.h"
#include "simd.h"
#include "atomics.h"
#include "warp.h"
#include "launch.h"
#include "async_copy.h"

// In the reader's code every byte of a copy is looked at.
#define memcpy standin_memcpy
#define memset standin_memset
// Of <stddef.h>, which NVRTC does not have.
#undef offsetof
