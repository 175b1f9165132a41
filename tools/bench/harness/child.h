/*
 * child.h -- work in a process of its own, so that memory, processor time and bytes moved are those
 * of one store.
 */
#ifndef PETAL_TOOLS_BENCH_HARNESS_CHILD_H
#define PETAL_TOOLS_BENCH_HARNESS_CHILD_H

#include <stddef.h>

/* Memory, all zero, that children share with this process: their results come back in it. Lives as
 * long as the process. */
void *bench_child_share(size_t bytes);

/*
 * Run `work` in a child and wait for it; its exit status, 3 if a signal ended it. A child dies with
 * its parent. No thread may run in this process when it is called.
 */
int bench_child_run(void (*work)(void *argument), void *argument);

/* The same of work that may well end by a signal, and whose last words are of no interest: what it
 * prints is dropped, and it leaves no core after. Returns how it ended, as waitpid(2) tells it. */
int bench_child_ending(void (*work)(void *argument), void *argument);

#endif
