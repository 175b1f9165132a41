/* process.h -- processes that a test begins, watches and kills, by the clock of the machine. */
#ifndef PETAL_TESTS_SUPPORT_PROCESS_H
#define PETAL_TESTS_SUPPORT_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Seconds of a clock that only goes on. */
double process_now(void);

void process_sleep_us(uint64_t microseconds);

/* As fork: 0 in the child, which is killed when its parent ends, -1: none could be started. */
pid_t process_begin(void);

/* "NAME ended with status 1", or with which signal, of what waitpid gave. */
void process_describe_end(char *text, size_t size, const char *name, int status);

#endif
