/* print.c -- see tools/bench/results/print.h. */
#include "tools/bench/results/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MIB 1048576.0

/* A number after a space, as wide as that, or a dash: it was not measured. */
static void
print_number(int width, int digits, double value)
{
    if (isnan(value))
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, digits, value);
}

/* ---- outcomes ---- */

void
bench_outcome_heading(void)
{
    printf("p50, p99, p99.9, max: latencies in microseconds; cpu: seconds\n"
           "written, read: MiB by calls or at the device, what is more (of mapped files: at it)\n"
           "w.amp, r.amp: bytes written and read per byte of keys and values given and answered\n"
           "s.amp: bytes on the disk, preallocated logs included, per byte that is there\n"
           "peak: MiB of resident memory, pages of mapped files included\n"
           "%-16s %3s %10s %10s %9s %9s %9s %9s %10s %6s %10s %6s %6s %7s %7s  %s\n",
           "workload", "thr", "operations", "per second", "p50", "p99", "p99.9", "max", "written",
           "w.amp", "read", "r.amp", "s.amp", "peak", "cpu", "found");
}

static void
print_usage(const double *values)
{
    print_number(10, 1, fmax(values[BENCH_WRITTEN], values[BENCH_DEVICE_WRITTEN]) / MIB);
    print_number(6, 2, values[BENCH_WRITE_AMPLIFICATION]);
    print_number(10, 1, fmax(values[BENCH_READ], values[BENCH_DEVICE_READ]) / MIB);
    print_number(6, 2, values[BENCH_READ_AMPLIFICATION]);
    print_number(6, 2, values[BENCH_SPACE_AMPLIFICATION]);
    print_number(7, 1, values[BENCH_PEAK] / MIB);
    print_number(7, 2, values[BENCH_CPU]);
}

void
bench_outcome_print(const struct bench_outcome *outcome)
{
    const double *values = outcome->values;
    const char *part = strchr(outcome->name.operation, ' '); /* of the line before */

    if (isnan(values[BENCH_OPERATIONS])) {
        printf("%-16s %3s there is no such thing in this store\n", outcome->name.operation, "-");
        return;
    }
    if (part != NULL)
        printf("%-20s", part);
    else
        printf("%-16s %3u", outcome->name.operation, outcome->name.threads);
    print_number(10, 0, values[BENCH_OPERATIONS]);
    print_number(10, 0, values[BENCH_PER_SECOND]);
    print_number(9, 2, values[BENCH_P50]);
    print_number(9, 2, values[BENCH_P99]);
    print_number(9, 2, values[BENCH_P999]);
    print_number(9, 0, values[BENCH_MAX]);
    if (part == NULL)
        print_usage(values);
    if (values[BENCH_ANSWERED] > 0 || values[BENCH_FOUND] > 0)
        printf("  %.0f", values[BENCH_FOUND]);
    if (values[BENCH_WRONG] > 0)
        printf("  WRONG: %.0f", values[BENCH_WRONG]);
    putchar('\n');
    fflush(stdout);
}

void
bench_outcome_print_whole(const struct bench_outcome *outcome)
{
    printf("%-82s", "from opening to closing");
    print_usage(outcome->values);
    printf("\n\n");
    fflush(stdout);
}

/* ---- figures ---- */

void
bench_number_text(char text[BENCH_FIGURE_BYTES], double value, const char *unit)
{
    int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    snprintf(text, BENCH_FIGURE_BYTES, "%.*f%s", digits, value, unit);
}

void
bench_figure_text(char text[BENCH_FIGURE_BYTES], double value, enum bench_metric measure)
{
    if (measure == BENCH_PER_UNIT)
        bench_number_text(text, value, "");
    else if (value >= 999500)
        bench_number_text(text, value / 1e6, " M/s");
    else if (value >= 1000)
        bench_number_text(text, value / 1e3, " k/s");
    else
        bench_number_text(text, 1e3 / value, " ms");
}

void
bench_share_text(char text[BENCH_FIGURE_BYTES], double share)
{
    if (isnan(share))
        snprintf(text, BENCH_FIGURE_BYTES, "?");
    else
        snprintf(text, BENCH_FIGURE_BYTES, "%.*f %%", share < 0.0995 ? 1 : 0, 100 * share);
}

void
bench_print_bytes(const char *name, uint64_t bytes)
{
    bool large = bytes >= (uint64_t)1 << 20;

    printf("%s %.4g %s", name, (double)bytes / (large ? MIB : 1024), large ? "MiB" : "KiB");
}
