/*
 * questions.h -- everything that can be asked of, and done with, a set that was opened from a file:
 * what bytes the file has may make answers wrong, but must not lead out of them; and the answers
 * hang together.
 */
#ifndef PETAL_TESTS_BLOOM_QUESTIONS_H
#define PETAL_TESTS_BLOOM_QUESTIONS_H

#include "bloom/petal_bloom.h"

#include <math.h>
#include <stdlib.h>

#define QUESTIONS_HASHES 50

static inline void
questions_must(bool holds)
{
    if (!holds)
        abort();
}

/* Some of them spread, some of few bits. */
static inline uint64_t
questions_hash(unsigned number)
{
    uint64_t hash = number * UINT64_C(0x9E3779B97F4A7C15);

    return number % 3 == 0 ? hash >> number : number % 7 == 0 ? ~hash << number : hash;
}

static inline void
questions_to_filter(petal_bloom *bloom)
{
    uint64_t hashes[QUESTIONS_HASHES];
    bool one_by_one[QUESTIONS_HASHES], together[QUESTIONS_HASHES];
    petal_bloom_info info = {.size = sizeof info};
    size_t passed = 0;

    for (unsigned i = 0; i < QUESTIONS_HASHES; i++) {
        hashes[i] = questions_hash(i);
        one_by_one[i] = petal_bloom_may_contain_hash(bloom, hashes[i]);
        passed += one_by_one[i];
    }
    questions_must(petal_bloom_may_contain_hashes(bloom, hashes, QUESTIONS_HASHES, together) ==
                   passed);
    for (unsigned i = 0; i < QUESTIONS_HASHES; i++)
        questions_must(one_by_one[i] == together[i]);
    (void)petal_bloom_may_contain(bloom, (petal_slice){"key", 3});
    petal_bloom_get_info(bloom, &info);
    questions_must(petal_bloom_present_rate(bloom) >= 0);
    questions_must(petal_bloom_expected_rate(bloom, info.keys) >= 0);
    (void)petal_bloom_expected_rate(bloom, 0);
    (void)petal_bloom_count(bloom);
}

/* What changes it: what was entered passes. */
static inline void
questions_change_filter(petal_bloom *bloom)
{
    uint64_t hash = questions_hash(1);
    petal_bloom_info info = {.size = sizeof info};

    petal_bloom_get_info(bloom, &info);
    if (petal_bloom_add_hashes(bloom, &hash, 1, NULL, NULL) == PETAL_OK)
        questions_must(!info.is_read_only && petal_bloom_may_contain_hash(bloom, hash));
    if (petal_bloom_add(bloom, (petal_slice){"key", 3}, NULL, NULL) == PETAL_OK)
        (void)(petal_bloom_remove(bloom, (petal_slice){"key", 3}, NULL) == PETAL_OK);
    (void)(petal_bloom_unite(bloom, bloom, NULL) == PETAL_OK);
    questions_to_filter(bloom);
}

static inline void
questions_to_bitmap(petal_bitmap *bitmap)
{
    uint64_t bits = petal_bitmap_bits(bitmap), count = petal_bitmap_count(bitmap), number = 0;

    for (unsigned i = 0; i < 64 && number != PETAL_BITMAP_NONE; i++) {
        number = petal_bitmap_next_set(bitmap, i == 0 ? 0 : number + 1);
        if (number == PETAL_BITMAP_NONE)
            questions_must(count == i);
        else
            questions_must(number < bits && petal_bitmap_test(bitmap, number));
    }
    number = petal_bitmap_next_clear(bitmap, bits / 2);
    questions_must(number == PETAL_BITMAP_NONE || !petal_bitmap_test(bitmap, number));
    questions_must(!petal_bitmap_test(bitmap, bits));
}

static inline void
questions_change_bitmap(petal_bitmap *bitmap)
{
    petal_bitmap_set(bitmap, petal_bitmap_bits(bitmap) - 1);
    (void)(petal_bitmap_unite(bitmap, bitmap, NULL) == PETAL_OK);
    questions_to_bitmap(bitmap);
}

static inline void
questions_to_bitmap2(petal_bitmap2 *bitmap)
{
    uint64_t numbers = petal_bitmap2_numbers(bitmap), counts[3], sum = 0;

    for (int state = 0; state < 3; state++) {
        uint64_t number = petal_bitmap2_next(bitmap, (enum petal_bitmap2_state)state, numbers / 4);

        counts[state] = petal_bitmap2_count(bitmap, (enum petal_bitmap2_state)state);
        sum += counts[state];
        questions_must(number == PETAL_BITMAP_NONE ||
                       (number < numbers && (int)petal_bitmap2_get(bitmap, number) == state));
    }
    questions_must(sum == numbers);
    questions_must(petal_bitmap2_get(bitmap, numbers) == PETAL_BITMAP2_NONE);
}

static inline void
questions_change_bitmap2(petal_bitmap2 *bitmap)
{
    (void)petal_bitmap2_add(bitmap, petal_bitmap2_numbers(bitmap) - 1);
    (void)(petal_bitmap2_unite(bitmap, bitmap, NULL) == PETAL_OK);
    questions_to_bitmap2(bitmap);
}

static inline void
questions_to_distinct(petal_distinct *distinct)
{
    double count = petal_distinct_count(distinct);

    questions_must(count >= 0 && count <= 18446744073709551616.0);
    questions_must(petal_distinct_standard_error(distinct) >= 1.04 / sqrt(1 << 21));
    questions_must(petal_distinct_registers(distinct) >= 16);
    (void)petal_distinct_salt(distinct);
}

static inline void
questions_change_distinct(petal_distinct *distinct)
{
    uint64_t hash = 12345;

    petal_distinct_add_hashes(distinct, &hash, 1);
    petal_distinct_add(distinct, (petal_slice){"key", 3});
    (void)(petal_distinct_unite(distinct, distinct, NULL) == PETAL_OK);
    questions_to_distinct(distinct);
}

/*
 * Load the file as what the type says, and ask; `changes`: change it, too. PETAL_OK: it was opened.
 * Another type than the file's is refused.
 */
static inline enum petal_status
questions_to_file(const char *path, enum petal_bloom_file_type type,
                  const petal_bloom_load_options *options, bool changes, petal_error *error)
{
    enum petal_status status = PETAL_INVALID;
    petal_bloom *bloom;
    petal_bitmap *bitmap;
    petal_bitmap2 *bitmap2;
    petal_distinct *distinct;

    switch (type) {
    case PETAL_BLOOM_FILE_FILTER:
        status = petal_bloom_load(path, options, &bloom, error);
        if (status == PETAL_OK)
            questions_to_filter(bloom);
        if (status == PETAL_OK && changes)
            questions_change_filter(bloom);
        petal_bloom_free(bloom);
        break;
    case PETAL_BLOOM_FILE_BITMAP:
        status = petal_bitmap_load(path, options, &bitmap, error);
        if (status == PETAL_OK)
            questions_to_bitmap(bitmap);
        if (status == PETAL_OK && changes)
            questions_change_bitmap(bitmap);
        petal_bitmap_free(bitmap);
        break;
    case PETAL_BLOOM_FILE_BITMAP2:
        status = petal_bitmap2_load(path, options, &bitmap2, error);
        if (status == PETAL_OK)
            questions_to_bitmap2(bitmap2);
        if (status == PETAL_OK && changes)
            questions_change_bitmap2(bitmap2);
        petal_bitmap2_free(bitmap2);
        break;
    case PETAL_BLOOM_FILE_DISTINCT:
        status = petal_distinct_load(path, options, &distinct, error);
        if (status == PETAL_OK)
            questions_to_distinct(distinct);
        if (status == PETAL_OK && changes)
            questions_change_distinct(distinct);
        petal_distinct_free(distinct);
        break;
    }
    return status;
}

#endif
