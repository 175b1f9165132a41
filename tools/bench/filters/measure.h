/*
 * measure.h -- one filter of a kind that is built, asked and timed.
 *
 * Present keys are those of the numbers 0..keys-1, absent ones of numbers from FILTERS_ABSENT on;
 * no number of an absent key is used twice by one filter, so what is asked again is not foretold.
 */
#ifndef PETAL_TOOLS_BENCH_FILTERS_MEASURE_H
#define PETAL_TOOLS_BENCH_FILTERS_MEASURE_H

#include "tools/bench/filters/kind.h"
#include "tools/bench/harness/options.h"
#include "tools/bench/harness/util.h"

#define FILTERS_ABSENT (UINT64_C(1) << 48)

#define FILTERS_LEAST_KEY_BYTES 16
#define FILTERS_MOST_KEY_BYTES  60

enum filters_measure {
    FILTERS_ONE,     /* absent keys, one by one */
    FILTERS_ALONE,   /* each waited for */
    FILTERS_BATCH,   /* many a call */
    FILTERS_PRESENT, /* present ones, one by one */
    FILTERS_BYTES,   /* absent keys of 16 to 60 bytes, one by one, hashed */
    FILTERS_BUILD,   /* a key */
    FILTERS_MEASURES
};

/* A filter, and what it came to. */
struct filters_bed {
    const struct filters_kind *kind;
    void *filter; /* NULL: the kind cannot hold so many keys */
    uint64_t keys;
    double rate; /* that is asked for */
    struct filters_facts facts;

    uint64_t absent, passed;  /* questions for absent keys, and how many of them passed */
    uint64_t present, missed; /* for present ones, and how many did not */

    /* A value a repeat, in nanoseconds; NAN: not measured. */
    double ns[FILTERS_MEASURES][BENCH_MOST_REPEATS];

    uint64_t next; /* absent number */
    struct bench_random random;
};

/* What questions are made in before the clock runs: for all filters the same. */
struct filters_questions {
    size_t count; /* that are timed */
    size_t warm;  /* behind them, asked before the clock runs */
    uint64_t *hashes;
    petal_slice *keys;
    uint8_t *bytes; /* of those keys */
};

void filters_questions_init(struct filters_questions *questions, size_t count);
void filters_questions_free(struct filters_questions *questions);

/* Build it, of a kind that is prepared for the rate; FILTERS_BUILD of the first repeat is what it
 * took. */
void filters_bed_init(struct filters_bed *bed, const struct filters_kind *kind, uint64_t keys,
                      double rate);
void filters_bed_free(struct filters_bed *bed);

/* Take one measure for a repeat; of FILTERS_BUILD build another one. */
void filters_bed_measure(struct filters_bed *bed, enum filters_measure measure, size_t repeat,
                         struct filters_questions *questions);

/* Ask for more absent keys until so many of all have passed, or at most so many were asked for. */
void filters_bed_count_passed(struct filters_bed *bed, uint64_t passed, uint64_t most,
                              struct filters_questions *questions);

/* Ask for every present key. */
void filters_bed_ask_present(struct filters_bed *bed, struct filters_questions *questions);

/* The share of absent keys that passed; NAN: none was asked for. */
double filters_bed_rate(const struct filters_bed *bed);

/*
 * Is the rate within 5 % of what is expected by theory, beyond what chance explains (three standard
 * errors)?  True where the filter does not say what it expects.
 */
bool filters_bed_is_as_expected(const struct filters_bed *bed);

#endif
