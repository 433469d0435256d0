// Leaving a launch early: faults of the hardware, refusals, an interrupt. Part of runtime.cpp.
#pragma once
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "runtime.h"

StandinReport standin_report;

namespace {

jmp_buf launch_frame;
pthread_t launch_thread;
bool in_thread;  // a thread of the grid is running: standin_here is to be believed

[[noreturn]] void leave(int code) {
    standin_report.code = code;
    standin_report.has_thread = in_thread;
    standin_report.block = standin_here.block;
    standin_report.thread = standin_here.thread;
    _longjmp(launch_frame, 1);
}

const char *describe_address(const char *address);

void on_signal(int number, siginfo_t *info, void *) {
    if (!pthread_equal(pthread_self(), launch_thread)) {
        if (number == SIGINT)
            pthread_kill(launch_thread, SIGINT);
        else
            signal(number, SIG_DFL);  // another thread's fault: let it happen again, unhandled
        return;
    }
    if (number == SIGINT) leave(STANDIN_INTERRUPTED);
    const char *what = "a fault";
    if (number == SIGFPE)
        what = "an integer division by zero (a GPU gives a meaningless number without a word)";
    else if (number == SIGSEGV || number == SIGBUS)
        what = describe_address((const char *)info->si_addr);
    else
        what = "an index outside an array of fixed size (shared or local), or a function that ended "
               "without the return it owes";
    snprintf(standin_report.text, sizeof standin_report.text, "%s", what);
    leave(STANDIN_FAULT);
}

const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGINT};
const int SIGNAL_COUNT = sizeof SIGNALS / sizeof *SIGNALS;

// Catches the signals for as long as it lives, on a stack of its own, since a fiber's may be full.
struct Handlers {
    struct sigaction before[SIGNAL_COUNT];
    stack_t stack_before;

    void install() {
        static char stack[64 * 1024];
        stack_t own = {};
        own.ss_sp = stack;
        own.ss_size = sizeof stack;
        sigaltstack(&own, &stack_before);
        struct sigaction action = {};
        action.sa_sigaction = on_signal;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &action, &before[i]);
        launch_thread = pthread_self();
    }

    void restore() {
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
