/* options.h -- reading the arguments of a subcommand. */
#ifndef PETAL_TOOLS_BENCH_HARNESS_OPTIONS_H
#define PETAL_TOOLS_BENCH_HARNESS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bench_option_kind {
    BENCH_FLAG,   /* bool: no value */
    BENCH_COUNT,  /* uint64_t: 100, 20k, 3M, 1G: powers of 1000 */
    BENCH_BYTES,  /* size_t: the same with powers of 1024 */
    BENCH_NUMBER, /* double */
    BENCH_TEXT,   /* const char * */
    BENCH_COUNTS, /* struct bench_list: counts above zero with commas between them */
    BENCH_OUTPUT, /* const char *: a file to write at the end */
};

#define BENCH_MOST_LISTED  8
#define BENCH_MOST_OPTIONS 32
#define BENCH_MOST_THREADS 256
#define BENCH_MOST_REPEATS 64

struct bench_list {
    uint64_t values[BENCH_MOST_LISTED];
    size_t count;
};

struct bench_option {
    const char *name; /* with its dashes */
    enum bench_option_kind kind;
    void *value;
};

/* Is --help among the arguments? */
bool bench_asks_for_help(int argc, char **argv);

/*
 * Set what the arguments name; false at the first that is wrong, or where --help is among them.
 * Ends the program if a file cannot be written, before anything is measured. What is wrong, here and
 * below, is for bench_options_tell.
 */
bool bench_options_read(const struct bench_option *options, size_t count, int argc, char **argv);

/* After a false: print the usage, but where something was wrong. Returns 2, the exit status. */
int bench_options_explain(void (*usage)(void));

/* Say on stderr what was wrong with the command's arguments, if something was, and where its
 * options are listed. */
void bench_options_tell(const char *command);

/* Something is wrong: for bench_options_tell. */
void bench_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Numbers with commas between them, `low` to `high`; false if they are not that. */
bool bench_numbers_read(const char *option, const char *text, double *numbers, size_t most,
                        size_t *count, double low, double high);

/* Names with commas between them become bits; false if one is not there.  At most 64 names. */
bool bench_names_read(const char *option, const char *text, const char *const *names, size_t count,
                      uint64_t *bits);

/* If `refused`, that is why; returns it. */
bool bench_refused(bool refused, const char *why);

#endif
