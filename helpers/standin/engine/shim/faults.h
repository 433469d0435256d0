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

#include "runtime.h"

StandinReport standin_report;
double standin_time_limit = 600;  // seconds that a launch may take

namespace {

jmp_buf launch_frame;
pthread_t launch_thread;
void *calling;   // where in the kernel, while it is in the C library
bool in_thread;  // a thread of the grid is running: standin_here is to be believed

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

[[noreturn]] void fault(char access, const void *address, size_t bytes, void *instruction) {
    standin_report.access = access;
    standin_report.address = address;
    standin_report.bytes = bytes;
    if (address) note_shared(address);
    if (address && !*standin_report.text) {
        const char *p = (const char *)address, *verb = access == 'r' ? "reads" : "writes";
        describe_local(p, verb) || describe_heap(p, verb) || describe_global(p, verb);
    }
    if (instruction) note_place(instruction);
    leave(STANDIN_FAULT);
}

const char *describe_address(const char *address);

void on_signal(int number, siginfo_t *info, void *context) {
    if (!pthread_equal(pthread_self(), launch_thread)) {
        if (number == SIGINT || number == SIGALRM)
            pthread_kill(launch_thread, number);
        else
            signal(number, SIG_DFL);  // another thread's fault: let it happen again, unhandled
        return;
    }
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
            what = describe_address((const char *)info->si_addr);
            address = info->si_addr;
        }
    } else if (number == SIGALRM)
        what = "it has run for too long: does a loop never end?";
    else
        what = "what C++ leaves undefined: an access through a null pointer, or a function that ended "
               "without the return it owes";
    snprintf(standin_report.text, sizeof standin_report.text, "%s", what);
    fault(access, address, 0, call_out ? call_out : instruction_of(context));
}

// SIGINT, which may come at any time, is caught last and given back first: all else is in place then.
const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGALRM, SIGINT};
const int SIGNAL_COUNT = sizeof SIGNALS / sizeof *SIGNALS;

long microseconds(const itimerval &timer) {
    return timer.it_value.tv_sec * 1000000 + timer.it_value.tv_usec;
}

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
        itimerval limit = {};
        limit.it_value.tv_sec = (long)standin_time_limit;
        limit.it_value.tv_usec = (long)((standin_time_limit - limit.it_value.tv_sec) * 1e6);
        // The timer changes hands while the handlers are still the program's: its alarm never reaches ours.
        setitimer(ITIMER_REAL, &limit, &timer_before);
        launch_thread = pthread_self();
        for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &action, &before[i]);
    }

    void restore() {
        const itimerval off = {};
        itimerval left;
        sigaction(SIGINT, &before[SIGNAL_COUNT - 1], nullptr);
        setitimer(ITIMER_REAL, &off, &left);
        for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &before[i], nullptr);
        sigaltstack(&stack_before, nullptr);
        if (long before = microseconds(timer_before)) {  // somebody else's: it has gone on
            long rest = before - (long)(standin_time_limit * 1e6) + microseconds(left);
            timer_before.it_value.tv_sec = rest > 0 ? rest / 1000000 : 0;
            timer_before.it_value.tv_usec = rest > 0 ? rest % 1000000 : 1;
            setitimer(ITIMER_REAL, &timer_before, nullptr);
        }
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
