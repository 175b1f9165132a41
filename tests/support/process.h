/* process.h -- processes that a test begins, watches and kills, by the clock of the machine. */
#ifndef PETAL_TESTS_SUPPORT_PROCESS_H
#define PETAL_TESTS_SUPPORT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Seconds of a clock that only goes on. */
double process_now(void);

void process_sleep_us(uint64_t microseconds);

/* As fork: 0 in the child, which is killed when its parent ends, -1: none could be started. */
pid_t process_begin(void);

/* A process that is there before this one starts threads: a child of one with threads inherits
 * locks that nobody opens any more, such as a sanitizer's for its memory. */
struct waiting_process {
    pid_t id;
    int begin; /* a pipe in which a byte makes it act */
};

/* False: it could not be started. */
bool process_prepare(struct waiting_process *process, int (*action)(const char *argument),
                     const char *argument);

/* Let it act, and wait for its end; what the action returned, 0 to 255, or -1. */
int process_act(struct waiting_process *process);

/* "NAME ended with status 1", or with which signal, of what waitpid gave. */
void process_describe_end(char *text, size_t size, const char *name, int status);

#endif
