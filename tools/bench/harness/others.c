/* others.c -- see tools/bench/harness/others.h. */
#include "tools/bench/harness/others.h"

#include "tools/bench/harness/util.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define WATCH_SECONDS 1.0

bool
bench_busy_read(const char *line, double ticks, double *busy)
{
    /* Of the rest, guest and guest_nice, user and nice have them in them. */
    unsigned long long user, nice, system, idle, waiting, interrupts, soft_interrupts, steal;

    if (strncmp(line, "cpu ", 4) != 0 ||
        sscanf(line + 4, "%llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
               &waiting, &interrupts, &soft_interrupts, &steal) != 8)
        return false;
    *busy = ((double)user + (double)nice + (double)system + (double)interrupts +
             (double)soft_interrupts + (double)steal) /
            ticks;
    return true;
}

static double
processor_seconds(int who)
{
    struct rusage usage;

    if (getrusage(who, &usage) != 0)
        return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

void
bench_machine_get(struct bench_machine *machine)
{
    FILE *file = fopen("/proc/stat", "r");
    char line[256];

    machine->busy = NAN;
    if (file != NULL && fgets(line, sizeof line, file) != NULL)
        (void)bench_busy_read(line, (double)sysconf(_SC_CLK_TCK), &machine->busy);
    if (file != NULL)
        fclose(file);
    machine->own = processor_seconds(RUSAGE_SELF) + processor_seconds(RUSAGE_CHILDREN);
    machine->all = bench_now() * (double)sysconf(_SC_NPROCESSORS_ONLN);
}

void
bench_machine_taken(const struct bench_machine *before, const struct bench_machine *after,
                    double *busy, double *own, double *all)
{
    *busy = after->busy - before->busy;
    *own = after->own - before->own;
    *all = after->all - before->all;
}

double
bench_others_share(double busy, double own, double all)
{
    if (isnan(busy) || !(all > 0))
        return NAN;
    return fmin(fmax((busy - own) / all, 0), 1);
}

double
bench_others_watch(double seconds)
{
    const struct timespec span = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    struct bench_machine before, after;
    double busy, own, all;

    bench_machine_get(&before);
    nanosleep(&span, NULL);
    bench_machine_get(&after);
    bench_machine_taken(&before, &after, &busy, &own, &all);
    return bench_others_share(busy, own, all);
}

void
bench_wait_until_idle(struct bench_patience *patience)
{
    double (*watch)(double) = patience->watch != NULL ? patience->watch : bench_others_watch;
    double waited = 0, share = 0;

    while (patience->seconds > 0) {
        double span = fmin(WATCH_SECONDS, patience->seconds);

        share = watch(span);
        if (isnan(share) || share <= patience->limit)
            break;
        patience->seconds -= span;
        if (waited == 0)
            fprintf(stderr,
                    "kv-bench: waits until the machine is idle: others take %.0f %% of its "
                    "processor time, more than %.3g %%; %.0f s at most\n",
                    100 * share, 100 * patience->limit, patience->seconds);
        waited += span;
    }
    if (waited == 0)
        return;
    if (isnan(share) || share <= patience->limit)
        fprintf(stderr, "kv-bench: the machine is idle after %.0f s\n", waited);
    else
        fprintf(stderr,
                "kv-bench: the machine is not idle after %.0f s, others take %.0f %%; measures all "
                "the same\n",
                waited, 100 * share);
}
