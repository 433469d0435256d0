// Leaving a launch early: faults of the hardware, refusals, an interrupt. Part of runtime.cpp.
#pragma once
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/time.h>
#include <ucontext.h>

#include "memory.h"
#include "runtime.h"

StandinReport standin_report;
// Seconds of the processor that a launch may take: the book's take a fraction of one, and this is as long
// as one waits for an answer before asking whether there will be any.
double standin_time_limit = 30;

namespace {

jmp_buf launch_frame;
pthread_t launch_thread;
void *calling;   // where in the kernel, while it is in the C library
double launch_end;  // when thread_seconds() ends it
bool in_thread;  // a thread of the grid is running: standin_here is to be believed

// The pages of the kernel's constant variables (constants.h). While it runs nobody is to write there, and
// a kernel that does is stopped; a thread of the host's that does opens them.
char *constants, *constants_end;

bool is_constant(const void *p) { return p >= constants && p < constants_end; }

void set_constants(int protection) {
    if (constants < constants_end) mprotect(constants, constants_end - constants, protection);
}

double thread_seconds() {  // of the processor, so that a machine with much else to do takes no longer
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

// Send SIGVTALRM when the process has run for so long.
void wake_after(double seconds) {
    itimerval timer = {};
    timer.it_value.tv_sec = (long)seconds;
    timer.it_value.tv_usec = (long)((seconds - timer.it_value.tv_sec) * 1e6) + 1;
    setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

[[noreturn]] void leave(int code) {
    standin_report.code = code;
    standin_report.has_thread = in_thread;
    standin_report.block = standin_here.block;
    standin_report.thread = standin_here.thread;
    _longjmp(launch_frame, 1);
}

// Note which instruction it is, as an offset into the library that holds it.
void note_place(void *instruction) {
    Dl_info info;
    if (dladdr(instruction, &info)) {
        standin_report.offset = (char *)instruction - (char *)info.dli_fbase;
        snprintf(standin_report.library, sizeof standin_report.library, "%s", info.dli_fname);
    }
}

void *instruction_of(void *context) {
    ucontext_t *at = (ucontext_t *)context;
#if defined(__linux__) && defined(__x86_64__)
    return (void *)(at->uc_mcontext.gregs[REG_RIP] + 1);  // as a return address would be: past it
#elif defined(__linux__) && defined(__aarch64__)
    return (void *)(at->uc_mcontext.pc + 1);
#else
    (void)at;
    return nullptr;
#endif
}

void note_shared(const void *address);                      // shared.h
bool describe_local(const char *address, const char *verb);  // stacks.h
bool describe_heap(const char *address, const char *verb);   // heap.h
bool describe_global(const char *address, const char *verb);  // sanitizer.h

[[noreturn]] void fault(char access, const void *address, size_t bytes, void *instruction,
                        int code = STANDIN_FAULT) {
    standin_report.access = access;
    standin_report.address = address;
    standin_report.bytes = bytes;
    if (address) note_shared(address);
    if (address && is_constant(address)) standin_report.access = 'c';
    if (address && !*standin_report.text) {
        const char *p = (const char *)address, *verb = access == 'r' ? "reads" : "writes";
        describe_local(p, verb) || describe_heap(p, verb) || describe_global(p, verb);
    }
    if (instruction) note_place(instruction);
    leave(code);
}

const char *describe_address(const char *address);

// The address whose shadow was asked for in vain, to 8 bytes; or the address itself.
const char *asked_for(const char *p) {
    return (uintptr_t)p - SHADOW < SHADOW_BYTES ? (const char *)(((uintptr_t)p - SHADOW) << 3) : p;
}

void on_signal(int number, siginfo_t *info, void *context) {
    if (!pthread_equal(pthread_self(), launch_thread)) {
        if (number == SIGSEGV && is_constant(info->si_addr)) return set_constants(PROT_READ | PROT_WRITE);
        if (number == SIGINT || number == SIGVTALRM)
            pthread_kill(launch_thread, number);
        else
            signal(number, SIG_DFL);  // another thread's fault: let it happen again, unhandled
        return;
    }
    if (number == SIGVTALRM && thread_seconds() < launch_end)  // other threads have used the time
        return wake_after(launch_end - thread_seconds());
    void *call_out = calling;
    calling = nullptr;
    if (number == SIGINT) leave(STANDIN_INTERRUPTED);
    const char *what = "";
    char access = 0;
    const void *address = nullptr;
    if (number == SIGFPE)
        what = "an integer division by zero, or of the least number by -1 (a GPU gives a meaningless "
               "number without a word)";
    else if (number == SIGSEGV || number == SIGBUS) {
        access = 'x';
        if (info->si_code > 0 && info->si_code < 128) {  // else the address is not one at all
            address = asked_for((const char *)info->si_addr);
            if (!is_constant(address)) what = describe_address((const char *)address);
            if ((char *)address + 1 == instruction_of(context))
                what = "a call of what is no function", address = nullptr;
        }
    } else if (number == SIGVTALRM)
        what = call_out ? "printf has written for too long: is a width or a precision much too large?"
                        : "it has run for too long: does a loop never end? (Where it does, give it more time: "
                          "`with gpuless.time_limit(seconds):`)";
    else
        what = "what C++ leaves undefined: an access through a null pointer, or a division by the constant 0";
    snprintf(standin_report.text, sizeof standin_report.text, "%s", what);
    fault(access, address, 0, call_out ? call_out : instruction_of(context),
          number == SIGVTALRM ? STANDIN_SPINNING : STANDIN_FAULT);
}

// SIGINT, which may come at any time, is caught last and given back first: all else is in place then.
const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGVTALRM, SIGINT};
const int SIGNAL_COUNT = sizeof SIGNALS / sizeof *SIGNALS;

// Catches the signals for as long as it lives, on a stack of its own, since a fiber's may be full.
struct Handlers {
    struct sigaction before[SIGNAL_COUNT];
    stack_t stack_before;
    itimerval timer_before;

    void install() {
        static char stack[64 * 1024];
        stack_t own = {};
        own.ss_sp = stack;
        own.ss_size = sizeof stack;
        sigaltstack(&own, &stack_before);
        struct sigaction action = {};
        action.sa_sigaction = on_signal;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        launch_thread = pthread_self();
        launch_end = thread_seconds() + standin_time_limit;
        for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &action, &before[i]);
        getitimer(ITIMER_VIRTUAL, &timer_before);
        wake_after(standin_time_limit);
    }

    void restore() {
        sigaction(SIGINT, &before[SIGNAL_COUNT - 1], nullptr);
        setitimer(ITIMER_VIRTUAL, &timer_before, nullptr);
        for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &before[i], nullptr);
        sigaltstack(&stack_before, nullptr);
    }
} handlers;

}  // namespace

void standin_fail(int code, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(standin_report.text, sizeof standin_report.text, format, list);
    va_end(list);
    leave(code);
}
