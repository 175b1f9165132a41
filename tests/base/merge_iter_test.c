/*
 * merge_iter_test.c -- memtables and store files merged: seeks, steps and the way back against a
 * sorted list, and what the way back costs in blocks.
 */
#include "base/merge_iter.h"
#include "memtable/memtable.h"
#include "tests/support/iter_walk.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_SOURCES 20

struct source {
    struct cell_list list;
    struct memtable *memtable; /* NULL: a file */
    struct memtable_iter memtable_iter;
    struct sst_reader *reader;
    struct sst_iter file_iter;
};

struct sources {
    struct sst_fixture *f;
    struct source sources[MAX_SOURCES];
    size_t count;
    struct merge_iter merge;
};

static void
add_cell(struct source *source, const struct cell *cell)
{
    cell_list_add(&source->list, cell->row, cell->qualifier, cell->timestamp, cell->sequence,
                  cell->type, cell->value);
}

static struct cell_iter *
open_memtable(struct source *source, struct sst_fixture *f)
{
    assert_int_equal(memtable_new(&source->memtable, &f->allocator.table), PETAL_OK);
    for (size_t i = 0; i < source->list.count; i++)
        assert_int_equal(memtable_add(source->memtable, &source->list.cells[i], 0), PETAL_OK);
    memtable_iter_init(&source->memtable_iter, source->memtable);
    return &source->memtable_iter.iter;
}

static struct cell_iter *
open_file(struct source *source, struct sst_fixture *f, bool lazy)
{
    struct sst_options options = sst_test_options();

    options.block_bytes = 1024;
    sst_fixture_write(f, &options, &source->list);
    source->reader = sst_fixture_open(f);
    sst_iter_init(&source->file_iter, source->reader, &f->context, false, lazy);
    return &source->file_iter.iter;
}

/* Every other source is a memtable, if `memtables`; one without cells, too. */
static void
sources_open(struct sources *s, bool memtables, bool lazy)
{
    struct cell_iter *iters[MAX_SOURCES];

    for (size_t i = 0; i < s->count; i++) {
        struct source *source = &s->sources[i];

        if ((memtables && i % 2 == 1) || source->list.count == 0)
            iters[i] = open_memtable(source, s->f);
        else
            iters[i] = open_file(source, s->f, lazy);
    }
    assert_int_equal(merge_iter_init(&s->merge, &s->f->allocator.table, iters, s->count), PETAL_OK);
}

static void
sources_close(struct sources *s)
{
    s->merge.iter.ops->close(&s->merge.iter);
    for (size_t i = 0; i < s->count; i++) {
        struct source *source = &s->sources[i];

        if (source->memtable != NULL) {
            source->memtable_iter.iter.ops->close(&source->memtable_iter.iter);
            memtable_free(source->memtable);
        } else {
            source->file_iter.iter.ops->close(&source->file_iter.iter);
            sst_reader_close(source->reader);
        }
        cell_list_fini(&source->list);
    }
}

/* Each cell goes to a source by chance, or whole stretches do. */
static void
deal(struct sources *s, const struct cell_list *list, struct test_random *random)
{
    uint64_t stretch = test_random_chance(random, 50) ? 1 : 60;
    size_t to = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (test_random_below(random, stretch) == 0)
            to = (size_t)test_random_below(random, s->count);
        add_cell(&s->sources[to], &list->cells[i]);
    }
}

TEST(the_merge_is_the_sorted_list)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < (test_long() ? 1000u : 60u); round++) {
        const struct cell_shape most = {.cells = 800,
                                        .rows = 200,
                                        .qualifiers = 12,
                                        .row_bytes = 20,
                                        .value_bytes = 100,
                                        .marker_percent = 10};
        struct sources s = {.count = 1 + (size_t)test_random_below(&random, MAX_SOURCES)};
        struct cell_list list = {0};

        s.f = sst_fixture_new(round % 2 == 0 ? 0 : 1 << 20);
        cell_list_random_within(&list, &most, &random);
        deal(&s, &list, &random);
        sources_open(&s, round % 3 > 0, round % 4 > 0);
        walk_forward_at_random(&s.merge.iter, &list, 300, &random);
        s.merge.reversed = true;
        walk_reversed_rows(&s.merge.iter, &list);
        sources_close(&s);
        cell_list_fini(&list);
        sst_fixture_free(s.f);
    }
}

TEST(nothing_lies_before_anything_in_no_sources)
{
    struct sources s = {.f = sst_fixture_new(0)};

    sources_open(&s, false, false);
    s.merge.reversed = true;
    assert_int_equal(s.merge.iter.ops->seek_before(&s.merge.iter, NULL, NULL), PETAL_OK);
    assert_false(s.merge.iter.valid);
    sources_close(&s);
    sst_fixture_free(s.f);
}

/* Rows that begin alike, one of them with nothing more, compared after that. */
TEST(rows_are_compared_behind_what_they_share)
{
    struct sources s = {.f = sst_fixture_new(0), .count = 4};
    struct cell_list list = {0};
    petal_error error;
    char row[40];

    for (unsigned number = 0; number < 2000; number++) {
        snprintf(row, sizeof row, number == 0 ? "shared beginning" : "shared beginning%u",
                 1000000 + number);
        cell_list_put(&list, row, "q", 100, number + 1, "value");
        add_cell(&s.sources[number * 7 / 3 % 4], &list.cells[number]);
    }
    sources_open(&s, true, false);
    s.merge.shared_row_bytes = strlen("shared beginning");
    assert_int_equal(s.merge.iter.ops->seek_first(&s.merge.iter, &error), PETAL_OK);
    for (size_t i = 0; i < list.count; i++) {
        assert_true(s.merge.iter.valid);
        assert_int_equal(cell_compare(&s.merge.iter.cell, &list.cells[i]), 0);
        assert_int_equal(s.merge.iter.ops->next(&s.merge.iter, &error), PETAL_OK);
    }
    assert_false(s.merge.iter.valid);
    sources_close(&s);
    cell_list_fini(&list);
    sst_fixture_free(s.f);
}

/* ---- what it costs ---- */

/* Files that take turns, `turn` rows each: on the way back through all of them, without a cache, no
 * block is read twice. */
TEST(going_back_reads_each_block_of_each_file_once)
{
    static const unsigned turns[] = {1, 10, 170, 700};

    for (unsigned i = 0; i < 4; i++) {
        struct sources s = {.f = sst_fixture_new(0), .count = 4};
        struct cell_list list = {0};
        char row[16];
        uint32_t blocks = 0;

        for (unsigned number = 0; number < 3000; number++) {
            snprintf(row, sizeof row, "row%06u", number);
            cell_list_put(&list, row, "q", 100 + number, number + 1, "0123456789012345678901");
            add_cell(&s.sources[number / turns[i] % 4], &list.cells[number]);
        }
        sources_open(&s, false, true);
        for (size_t source = 0; source < 4; source++)
            blocks += (uint32_t)sst_reader_facts(s.sources[source].reader)->data_blocks;
        assert_true(blocks > 60);
        s.merge.reversed = true;
        walk_reversed_rows(&s.merge.iter, &list);
        assert_int_equal(s.f->trace.blocks_fetched[PETAL_BLOCK_DATA], blocks);
        sources_close(&s);
        cell_list_fini(&list);
        sst_fixture_free(s.f);
    }
}
