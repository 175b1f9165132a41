/*
 * array.h -- filters that are one array of words: STANDARD, BLOCKED and COUNTING, and each segment
 * of GROWING.
 *
 * WORDS are 8 bytes that lie in memory as in a file, lowest byte first; little_endian_word is
 * between one and a number. Their bits are only added while others ask, by relaxed atomic
 * operations: a word is whole in itself, and no word says anything about another.
 */
#ifndef PETAL_BLOOM_FILTER_ARRAY_H
#define PETAL_BLOOM_FILTER_ARRAY_H

#include "bloom/bloom.h"
#include "bloom/filter/kind.h"
#include "bloom/filter/options.h"

#include <stdatomic.h>

typedef _Atomic(uint64_t) filter_word;

#define FILTER_LINE_WORDS (BLOOM_LINE_BYTES / 8)

/* So many questions or entries are under way at a time: enough to keep all of a core's loads that
 * may be waited for busy. */
#define FILTER_AHEAD 24

static inline uint64_t
filter_word_load(const filter_word *word)
{
    return little_endian_word(atomic_load_explicit(word, memory_order_relaxed));
}

/* A number of words, zeroed, on a cache line's border; of huge pages where they fill some and the
 * system has them. NULL: there is no memory. */
filter_word *filter_words_new(const struct env *env, uint64_t bytes);
void filter_words_free(const struct env *env, filter_word *words, uint64_t bytes);

struct filter_array {
    petal_bloom bloom;
    struct filter_shape shape;
    filter_word *words;
    uint64_t lines;       /* 0: there are none */
    uint64_t bytes;       /* of the words */
    struct set_file file; /* whose body the words are; NULL: they are the filter's */
};

static inline struct filter_array *
filter_array_of(petal_bloom *bloom)
{
    return (struct filter_array *)bloom;
}

static inline const struct filter_array *
filter_array_of_const(const petal_bloom *bloom)
{
    return (const struct filter_array *)bloom;
}

/* ---- functions of struct filter_kind that the three have in common ---- */

enum petal_status filter_array_plan(const petal_bloom_options *options, petal_bloom_plan *plan,
                                    petal_error *error);
enum petal_status filter_array_create(const petal_bloom_options *options, petal_bloom **bloom,
                                      petal_error *error);
void filter_array_free(petal_bloom *bloom);
void filter_array_clear(petal_bloom *bloom);
void filter_array_extent(const petal_bloom *bloom, struct filter_extent *extent);
double filter_array_expected_rate(const petal_bloom *bloom, uint64_t keys);

enum petal_status filter_array_save(const petal_bloom *bloom, struct set_file_writer *writer,
                                    struct set_file_head *head, petal_error *error);
enum petal_status filter_array_open(const char *path, const petal_bloom *like,
                                    struct set_file *file, petal_bloom **bloom, petal_error *error);

/* Of bits, not of counters. */
void filter_array_unite(petal_bloom *bloom, const petal_bloom *other);
void filter_array_intersect(petal_bloom *bloom, const petal_bloom *other);

#endif
