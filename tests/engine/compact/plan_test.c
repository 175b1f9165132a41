/*
 * plan_test.c -- which files a compaction links and which it rewrites: cases, and what holds of any
 * files (engine/compact/plan.h).
 */
#include "engine/compact/plan.h"

#include "base/slice.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST 400

/* Files of one test; a row is a number, or a pair of texts. */
struct files {
    struct plan_file files[MOST];
    struct plan_part parts[MOST];
    char rows[MOST][2][12];
    size_t count, part_count;
};

static const struct plan_limits no_limits = {.small_bytes = 0, .part_bytes = UINT64_MAX};

static void
add(struct files *files, unsigned first, unsigned last, uint64_t bytes, bool settled)
{
    size_t i = files->count++;

    assert_true(i < MOST);
    snprintf(files->rows[i][0], sizeof files->rows[i][0], "%08u", first);
    snprintf(files->rows[i][1], sizeof files->rows[i][1], "%08u", last);
    files->files[i] = (struct plan_file){.row_min = slice_from_text(files->rows[i][0]),
                                         .row_max = slice_from_text(files->rows[i][1]),
                                         .bytes = bytes,
                                         .settled = settled,
                                         .input = i};
}

/* "L" for a linked file, the number of files of a part that is rewritten, in the order of rows. */
static const char *
plan(struct files *files, const struct plan_limits *limits)
{
    static char text[16 * MOST];
    size_t length = 0;

    files->part_count = plan_parts(files->files, files->count, limits, files->parts);
    text[0] = '\0';
    for (size_t i = 0; i < files->part_count; i++) {
        const struct plan_part *part = &files->parts[i];

        length += (size_t)(part->linked ? snprintf(text + length, sizeof text - length, "L")
                                        : snprintf(text + length, sizeof text - length, "%zu ",
                                                   part->count));
    }
    return text;
}

TEST(test_files_that_overlap_nothing_are_linked)
{
    struct files files = {.count = 0};

    for (unsigned i = 0; i < 10; i++)
        add(&files, 100 * i, 100 * i + 99, 1000, true);
    assert_string_equal(plan(&files, &no_limits), "LLLLLLLLLL");
    files.count = 0;
    for (unsigned i = 10; i > 0; i--) /* descending */
        add(&files, 100 * i, 100 * i + 99, 1000, true);
    assert_string_equal(plan(&files, &no_limits), "LLLLLLLLLL");
    assert_int_equal(files.files[0].input, 9);
    files.count = 0;
    add(&files, 0, 10, 1000, true);
    add(&files, 11, 20, 1000, false); /* there is something to gain */
    add(&files, 21, 30, 1000, true);
    assert_string_equal(plan(&files, &no_limits), "L1 L");
}

TEST(test_overlapping_files_are_rewritten_together)
{
    struct files files = {.count = 0};

    add(&files, 0, 10, 1000, true);
    add(&files, 10, 20, 1000, true); /* one row is enough: it is never split */
    add(&files, 30, 60, 1000, true);
    add(&files, 40, 45, 1000, true); /* within it */
    add(&files, 46, 50, 1000, true);
    add(&files, 61, 70, 1000, true);
    add(&files, 80, 90, 1000, true);
    add(&files, 80, 80, 1000, true);
    assert_string_equal(plan(&files, &no_limits), "5 L2 ");
    files.count = 0;
    add(&files, 0, 10, 1000, true);
    add(&files, 20, 30, 1000, true);
    add(&files, 25, 35, 1000, true);
    add(&files, 40, 50, 1000, true);
    assert_string_equal(plan(&files, &no_limits), "L2 L");
}

TEST(test_small_neighbours_are_merged)
{
    const struct plan_limits limits = {.small_bytes = 100, .part_bytes = UINT64_MAX};
    struct files files = {.count = 0};

    add(&files, 0, 1, 1000, true);
    add(&files, 2, 3, 10, true);
    add(&files, 4, 5, 100, true);
    add(&files, 6, 7, 101, true);
    add(&files, 8, 9, 10, true); /* alone: it would be no fewer */
    add(&files, 10, 11, 1000, true);
    assert_string_equal(plan(&files, &limits), "L2 LLL");
}

TEST(test_a_part_ends_behind_so_many_bytes)
{
    const struct plan_limits limits = {.small_bytes = 0, .part_bytes = 2500};
    struct files files = {.count = 0};

    for (unsigned i = 0; i < 10; i++)
        add(&files, 100 * i, 100 * i + 99, 1000, false);
    assert_string_equal(plan(&files, &limits), "3 3 3 1 ");
    add(&files, 150, 850, 1, true); /* what overlaps stays together */
    assert_string_equal(plan(&files, &limits), "10 1 ");
}

/* A store that is loaded in the order of its keys: each flush is one file, and all are planned
 * again whenever there are more. */
TEST(test_a_sequential_load_is_rewritten_seldom)
{
    static struct files files, next;
    double written = 0, flushed = 0;

    files.count = 0;
    for (unsigned flush = 0; flush < 4000; flush++) {
        add(&files, 10 * flush, 10 * flush + 9, 100, true);
        flushed += 100;
        if (flush % 10 < 9)
            continue;
        plan(&files, &no_limits);
        next.count = 0;
        for (size_t i = 0; i < files.part_count; i++) {
            const struct plan_part *part = &files.parts[i];

            add(&next, (unsigned)atoi(files.files[part->first].row_min.data),
                (unsigned)atoi(files.files[part->first + part->count - 1].row_max.data),
                part->bytes, true);
            written += part->linked ? 0 : (double)part->bytes;
        }
        assert_true(next.count <= PLAN_MOST_FILES);
        files.count = 0;
        for (size_t i = 0; i < next.count; i++)
            add(&files, (unsigned)atoi(next.rows[i][0]), (unsigned)atoi(next.rows[i][1]),
                next.files[i].bytes, true);
    }
    assert_true(written < 2.5 * flushed);
}

/* Two that have more than half of a file's bytes each become two again: however many there are,
 * only smaller ones are rewritten to become fewer. */
TEST(test_full_files_are_left_alone)
{
    const struct plan_limits limits = {.small_bytes = 0, .part_bytes = 1000};
    static struct files files;
    size_t full = 3 * PLAN_MOST_FILES;

    files.count = 0;
    for (unsigned i = 0; i < full; i++)
        add(&files, 10 * i, 10 * i + 9, i % 2 == 0 ? 1000 : 501, true);
    plan(&files, &limits);
    assert_int_equal(files.part_count, full);
    for (size_t i = 0; i < full; i++)
        assert_true(files.parts[i].linked);
    for (unsigned i = 0; i < PLAN_MOST_FILES; i++)
        add(&files, 10000 + 10 * i, 10000 + 10 * i + 9, 500, true);
    plan(&files, &limits);
    assert_int_equal(files.part_count, files.count);
    add(&files, 20000, 20009, 500, true);
    plan(&files, &limits);
    for (size_t i = 0; i < full; i++)
        assert_true(files.parts[i].linked);
    assert_true(files.part_count < files.count - PLAN_MOST_FILES / 4);
}

static void
check_parts(const struct files *files, const struct plan_limits *limits)
{
    size_t next = 0, linked = 0, rewritten = 0;

    for (size_t i = 0; i < files->part_count; i++) {
        const struct plan_part *part = &files->parts[i];
        uint64_t bytes = 0;

        assert_int_equal(part->first, next);
        assert_true(part->count > 0);
        next += part->count;
        for (size_t k = part->first; k < next; k++) {
            bytes += files->files[k].bytes;
            for (size_t other = next; other < files->count; other++)
                assert_true(slice_compare(files->files[k].row_max, files->files[other].row_min) <
                            0);
        }
        assert_int_equal(part->bytes, bytes);
        assert_true(!part->linked || (part->count == 1 && files->files[part->first].settled));
        if (i > 0 && !part->linked && !files->parts[i - 1].linked)
            assert_true(files->parts[i - 1].bytes >= limits->part_bytes);
        linked += part->linked && bytes <= limits->part_bytes / 2;
        rewritten += !part->linked;
    }
    assert_int_equal(next, files->count);
    assert_true(linked <= PLAN_MOST_FILES * (rewritten + 1));
}

TEST(test_properties)
{
    static struct files files;
    struct test_random random;

    for (unsigned seed = 0; seed < 3000; seed++) {
        struct plan_limits limits = {.small_bytes = 0, .part_bytes = UINT64_MAX};
        unsigned width;

        test_random_init(&random, seed);
        limits.small_bytes = test_random_below(&random, 3) * 300;
        limits.part_bytes = 1 + test_random_below(&random, 3) * 2000;
        width = 1 + (unsigned)test_random_below(&random, 60);
        files.count = 0;
        for (size_t count = 1 + test_random_below(&random, MOST / 2); files.count < count;) {
            unsigned first = (unsigned)test_random_below(&random, 10000);

            add(&files, first, first + (unsigned)test_random_below(&random, width),
                1 + test_random_below(&random, 1000), test_random_below(&random, 8) > 0);
        }
        plan(&files, &limits);
        check_parts(&files, &limits);
    }
}
