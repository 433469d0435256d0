// The module's `__constant__` variables (but those that are const besides, which no program can write)
// fill pages of their own, which the runtime closes to writes while a kernel runs. The word is that of
// spaces.py. Clang would not fence what has a section: with it, kernels.py looks whether they have changed.
#pragma once

#if defined(__ELF__) && !defined(__clang__)
#define __constvar__ __attribute__((section("standin_constant")))
#ifdef __x86_64__
#define STANDIN_PAGE "4096"
#else
#define STANDIN_PAGE "65536"
#endif
// Whole pages: subsection 1 comes behind all that is in 0.
asm(".pushsection standin_constant,0,\"aw\",%progbits\n.balign " STANDIN_PAGE
    "\n.subsection 1\n.balign " STANDIN_PAGE "\n.popsection");
#else
#define __constvar__
#endif
