/* bench_options.h -- reading the arguments of a subcommand. */
#ifndef PETAL_TOOLS_BENCH_OPTIONS_H
#define PETAL_TOOLS_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bench_option_kind {
    BENCH_FLAG,   /* bool: no value */
    BENCH_COUNT,  /* uint64_t: 100, 20k, 3M, 1G: powers of 1000 */
    BENCH_BYTES,  /* size_t: the same with powers of 1024 */
    BENCH_NUMBER, /* double */
    BENCH_TEXT    /* const char * */
};

struct bench_option {
    const char *name; /* with its dashes */
    enum bench_option_kind kind;
    void *value;
};

/* Set what the arguments name; false, with a line on stderr, at the first that is wrong. */
bool bench_options_read(const struct bench_option *options, size_t count, int argc, char **argv);

#endif
