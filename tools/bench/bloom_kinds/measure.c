/* measure.c -- see tools/bench/bloom_kinds/measure.h. */
#include "tools/bench/bloom_kinds/measure.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK      65536 /* keys that are made at a time, outside of the clock */
#define TOLERANCE  0.05
#define DEVIATIONS 3
#define WARM_SHARE 8 /* one in so many is asked besides, before the clock runs */

/* Of the processor's time: who else runs meanwhile is left out, as far as caches allow. */
static double
now(void)
{
    return bench_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- questions ---- */

void
kinds_questions_init(struct kinds_questions *questions, size_t count)
{
    struct bench_random random = {.state = 1};
    uint8_t *end;

    *questions = (struct kinds_questions){.count = count, .warm = count / WARM_SHARE};
    count += questions->warm;
    questions->hashes = bench_alloc(count * sizeof *questions->hashes);
    questions->keys = bench_alloc(count * sizeof *questions->keys);
    questions->bytes = bench_alloc(count * KINDS_MOST_KEY_BYTES);
    end = questions->bytes;
    for (size_t i = 0; i < count; i++) {
        size_t size =
            KINDS_LEAST_KEY_BYTES +
            (size_t)bench_random_below(&random, KINDS_MOST_KEY_BYTES - KINDS_LEAST_KEY_BYTES + 1);

        for (size_t k = 0; k < size; k++)
            end[k] = (uint8_t)('a' + bench_random_below(&random, 26));
        questions->keys[i] = (petal_slice){end, size};
        end += size;
    }
}

void
kinds_questions_free(struct kinds_questions *questions)
{
    free(questions->hashes);
    free(questions->keys);
    free(questions->bytes);
}

static uint64_t
hash_of(const struct bloom_kind *kind, uint64_t number)
{
    uint64_t key = bench_scramble(number);

    return kind->hash == NULL ? key : kind->hash(key);
}

static void
make_absent(struct kinds_bed *bed, struct kinds_questions *questions)
{
    for (size_t i = 0; i < questions->count + questions->warm; i++)
        questions->hashes[i] = hash_of(bed->kind, bed->next++);
}

static void
make_present(struct kinds_bed *bed, struct kinds_questions *questions)
{
    for (size_t i = 0; i < questions->count + questions->warm; i++)
        questions->hashes[i] = hash_of(bed->kind, bench_random_below(&bed->random, bed->keys));
}

/* ---- building ---- */

/* Seconds; *filter stays NULL if the kind cannot hold so many. */
static double
build(const struct bloom_kind *kind, uint64_t count, double rate, void **filter)
{
    uint64_t *keys = bench_alloc(CHUNK * sizeof *keys);
    double seconds = 0, began = now();

    *filter = kind->begin(count, rate);
    seconds += now() - began;
    for (uint64_t done = 0; *filter != NULL && done < count;) {
        size_t some = count - done < CHUNK ? (size_t)(count - done) : CHUNK;

        for (size_t i = 0; i < some; i++)
            keys[i] = bench_scramble(done + i);
        began = now();
        kind->add(*filter, keys, some);
        seconds += now() - began;
        done += some;
    }
    began = now();
    if (*filter != NULL && kind->finish != NULL)
        kind->finish(*filter);
    seconds += now() - began;
    free(keys);
    return seconds;
}

void
kinds_bed_init(struct kinds_bed *bed, const struct bloom_kind *kind, uint64_t keys, double rate)
{
    double seconds;

    assert(keys > 0 && keys < KINDS_ABSENT);
    *bed = (struct kinds_bed){
        .kind = kind, .keys = keys, .rate = rate, .next = KINDS_ABSENT, .random = {.state = keys}};
    for (int measure = 0; measure < KINDS_MEASURES; measure++) {
        for (size_t i = 0; i < BENCH_MOST_REPEATS; i++)
            bed->ns[measure][i] = NAN;
    }
    seconds = build(kind, keys, rate, &bed->filter);
    if (bed->filter == NULL)
        return;
    bed->ns[KINDS_BUILD][0] = seconds * 1e9 / (double)keys;
    kind->facts(bed->filter, &bed->facts);
}

void
kinds_bed_free(struct kinds_bed *bed)
{
    if (bed->filter != NULL)
        bed->kind->free(bed->filter);
}

/* ---- asking ---- */

static size_t (*question_of(const struct bloom_kind *kind,
                            enum kinds_measure measure))(const void *filter, const uint64_t *hashes,
                                                         size_t count)
{
    switch (measure) {
    case KINDS_ALONE:
        return kind->ask_alone;
    case KINDS_BATCH:
        return kind->ask_batch;
    default:
        return kind->ask;
    }
}

static void
measure_build(struct kinds_bed *bed, size_t repeat)
{
    void *filter;
    double seconds = build(bed->kind, bed->keys, bed->rate, &filter);

    bed->ns[KINDS_BUILD][repeat] = seconds * 1e9 / (double)bed->keys;
    bed->kind->free(filter);
}

static void
measure_bytes(struct kinds_bed *bed, size_t repeat, const struct kinds_questions *questions)
{
    const struct bloom_kind *kind = bed->kind;
    double began;

    kind->ask_bytes(bed->filter, questions->keys + questions->count, questions->warm);
    began = now();
    kind->ask_bytes(bed->filter, questions->keys, questions->count);
    bed->ns[KINDS_BYTES][repeat] = (now() - began) * 1e9 / (double)questions->count;
}

static void
measure_questions(struct kinds_bed *bed, enum kinds_measure measure, size_t repeat,
                  struct kinds_questions *questions)
{
    size_t (*ask)(const void *, const uint64_t *, size_t) = question_of(bed->kind, measure);
    size_t passed;
    double began;

    if (ask == NULL)
        return;
    if (measure == KINDS_PRESENT)
        make_present(bed, questions);
    else
        make_absent(bed, questions);
    ask(bed->filter, questions->hashes + questions->count, questions->warm);
    began = now();
    passed = ask(bed->filter, questions->hashes, questions->count);
    bed->ns[measure][repeat] = (now() - began) * 1e9 / (double)questions->count;
    if (measure == KINDS_PRESENT) {
        bed->present += questions->count;
        bed->missed += questions->count - passed;
    } else {
        bed->absent += questions->count;
        bed->passed += passed;
    }
}

void
kinds_bed_measure(struct kinds_bed *bed, enum kinds_measure measure, size_t repeat,
                  struct kinds_questions *questions)
{
    assert(repeat < BENCH_MOST_REPEATS);
    if (bed->filter == NULL)
        return;
    if (measure == KINDS_BUILD)
        measure_build(bed, repeat);
    else if (measure == KINDS_BYTES)
        measure_bytes(bed, repeat, questions);
    else
        measure_questions(bed, measure, repeat, questions);
}

/* ---- rates ---- */

static size_t
ask_as_fast_as_possible(const struct kinds_bed *bed, const struct kinds_questions *questions)
{
    const struct bloom_kind *kind = bed->kind;

    return (kind->ask_batch != NULL ? kind->ask_batch : kind->ask)(bed->filter, questions->hashes,
                                                                   questions->count);
}

void
kinds_bed_count_passed(struct kinds_bed *bed, uint64_t passed, uint64_t most,
                       struct kinds_questions *questions)
{
    if (bed->filter == NULL)
        return;
    while (bed->passed < passed && bed->absent < most) {
        make_absent(bed, questions);
        bed->passed += ask_as_fast_as_possible(bed, questions);
        bed->absent += questions->count;
    }
}

/* Many at a time, if what is asked so is hashes. */
void
kinds_bed_ask_present(struct kinds_bed *bed, struct kinds_questions *questions)
{
    const struct bloom_kind *kind = bed->kind;
    bool many = kind->ask_batch != NULL && kind->hash == NULL;

    for (uint64_t done = 0; bed->filter != NULL && done < bed->keys;) {
        uint64_t left = bed->keys - done;
        size_t some = left < questions->count ? (size_t)left : questions->count;

        for (size_t i = 0; i < some; i++)
            questions->hashes[i] = hash_of(kind, done + i);
        bed->missed +=
            some - (many ? kind->ask_batch : kind->ask)(bed->filter, questions->hashes, some);
        bed->present += some;
        done += some;
    }
}

double
kinds_bed_bits(const struct kinds_bed *bed)
{
    return 8.0 * (double)bed->facts.bytes / (double)bed->keys;
}

double
kinds_bed_rate(const struct kinds_bed *bed)
{
    return bed->absent == 0 ? NAN : (double)bed->passed / (double)bed->absent;
}

bool
kinds_bed_is_as_expected(const struct kinds_bed *bed)
{
    double expected = bed->facts.expected, questions = (double)bed->absent, error;

    if (bed->filter == NULL || bed->absent == 0 || isnan(expected))
        return true;
    error = sqrt(expected * (1 - expected) / questions);
    return fabs(kinds_bed_rate(bed) - expected) <= TOLERANCE * expected + DEVIATIONS * error;
}
