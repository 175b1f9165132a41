/*
 * directory.h -- the directories in which stores are measured: made, and removed however this
 * process ends.
 *
 * The first one that is made starts a process next to this one, the broom. It waits until this
 * process and all that it forked have ended, and removes what is left of the directories that were
 * made: that of an error, of an interrupt, of a pipe that nobody reads, also of SIGKILL.
 *
 * Threads: one, before a store has threads in this process.
 */
#ifndef PETAL_TOOLS_BENCH_HARNESS_DIRECTORY_H
#define PETAL_TOOLS_BENCH_HARNESS_DIRECTORY_H

#include <stddef.h>

/* A new directory below $TMPDIR or /tmp; `path` gets its name. */
void bench_make_directory(char *path, size_t path_bytes);

/* A directory that may be there already, and stays. */
void bench_need_directory(const char *path);

/* Remove a directory and what is in it; none: nothing is done. */
void bench_remove_directory(const char *path);

#endif
