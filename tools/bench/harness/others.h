/*
 * others.h -- what else the machine does while a benchmark runs: the processor time that neither
 * this process nor its children took, from /proc/stat, and waiting until that is little.
 *
 * Others are all other processes, the hypervisor's other guests (steal), interrupts, and threads of
 * the kernel, those that write a benchmark's own pages to the disk among them.
 *
 * /proc/stat counts in ticks of a hundredth of a second: a share says something of spans, or of
 * sums of spans, that are much longer.
 */
#ifndef PETAL_TOOLS_BENCH_HARNESS_OTHERS_H
#define PETAL_TOOLS_BENCH_HARNESS_OTHERS_H

#include <stdbool.h>

/* Processor time since some beginning, in seconds. */
struct bench_machine {
    double busy; /* of all processors; NAN where there is no /proc/stat */
    double own;  /* of this process, and of its children that have ended */
    double all;  /* what all processors have to give */
};

/* Set *busy to the seconds that the first line of /proc/stat has, at `ticks` a second. False: that
 * is no such line. */
bool bench_busy_read(const char *line, double ticks, double *busy);

void bench_machine_get(struct bench_machine *machine);

/* The seconds between two looks. */
void bench_machine_taken(const struct bench_machine *before, const struct bench_machine *after,
                         double *busy, double *own, double *all);

/* The share of `all` that others took, 0 to 1; NAN: not known. */
double bench_others_share(double busy, double own, double all);

/* How a benchmark waits for a machine that does nothing else. */
struct bench_patience {
    double limit;   /* it is idle when others take at most this share, */
    double seconds; /* and no more than so long is waited for it, all waits together */
    /* Others' share of the next `seconds`; NULL: bench_others_watch. */
    double (*watch)(double seconds);
};

/* Sleeps for so long. */
double bench_others_watch(double seconds);

/* Wait; what for, and what came of it, goes to stderr. At once when no seconds are left, or where
 * the share is not known. */
void bench_wait_until_idle(struct bench_patience *patience);

#endif
