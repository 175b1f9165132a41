/*
 * measure.h -- one filter of a kind that is built, asked and timed.
 *
 * Present keys are those of the numbers 0..keys-1, absent ones of numbers from KINDS_ABSENT on;
 * no number of an absent key is used twice by one filter, so what is asked again is not foretold.
 */
#ifndef PETAL_TOOLS_BENCH_BLOOM_KINDS_MEASURE_H
#define PETAL_TOOLS_BENCH_BLOOM_KINDS_MEASURE_H

#include "tools/bench/bloom_kinds/kind.h"
#include "tools/bench/harness/options.h"
#include "tools/bench/harness/util.h"

#define KINDS_ABSENT (UINT64_C(1) << 48)

#define KINDS_LEAST_KEY_BYTES 16
#define KINDS_MOST_KEY_BYTES  60

enum kinds_measure {
    KINDS_ONE,     /* absent keys, one by one */
    KINDS_ALONE,   /* each waited for */
    KINDS_BATCH,   /* many a call */
    KINDS_PRESENT, /* present ones, one by one */
    KINDS_BYTES,   /* absent keys of 16 to 60 bytes, one by one, hashed */
    KINDS_BUILD,   /* a key */
    KINDS_MEASURES
};

/* A filter, and what it came to. */
struct kinds_bed {
    const struct bloom_kind *kind;
    void *filter; /* NULL: the kind cannot hold so many keys */
    uint64_t keys;
    double rate; /* that is asked for */
    struct kinds_facts facts;

    uint64_t absent, passed;  /* questions for absent keys, and how many of them passed */
    uint64_t present, missed; /* for present ones, and how many did not */

    /* A value a repeat, in nanoseconds; NAN: not measured. */
    double ns[KINDS_MEASURES][BENCH_MOST_REPEATS];

    uint64_t next; /* absent number */
    struct bench_random random;
};

/* What questions are made in before the clock runs: for all filters the same. */
struct kinds_questions {
    size_t count; /* that are timed */
    size_t warm;  /* after them, asked before the clock runs */
    uint64_t *hashes;
    petal_slice *keys;
    uint8_t *bytes; /* of those keys */
};

void kinds_questions_init(struct kinds_questions *questions, size_t count);
void kinds_questions_free(struct kinds_questions *questions);

/* Build it, of a kind that is prepared for the rate; KINDS_BUILD of the first repeat is what it
 * took. */
void kinds_bed_init(struct kinds_bed *bed, const struct bloom_kind *kind, uint64_t keys,
                    double rate);
void kinds_bed_free(struct kinds_bed *bed);

/* Take one measure for a repeat; of KINDS_BUILD build another one. */
void kinds_bed_measure(struct kinds_bed *bed, enum kinds_measure measure, size_t repeat,
                       struct kinds_questions *questions);

/* Ask for more absent keys until so many of all have passed, or at most so many were asked for. */
void kinds_bed_count_passed(struct kinds_bed *bed, uint64_t passed, uint64_t most,
                            struct kinds_questions *questions);

/* Ask for every present key. */
void kinds_bed_ask_present(struct kinds_bed *bed, struct kinds_questions *questions);

/* A key's. */
double kinds_bed_bits(const struct kinds_bed *bed);

/* The share of absent keys that passed; NAN: none was asked for. */
double kinds_bed_rate(const struct kinds_bed *bed);

/*
 * Is the rate within 5 % of what is expected by theory, beyond what chance explains (three standard
 * errors)?  True where the filter does not say what it expects.
 */
bool kinds_bed_is_as_expected(const struct kinds_bed *bed);

#endif
