/*
 * columns_test.c -- the cells of named columns only, out of memtables and store files: seeks
 * and steps, and reversed scans row by row, against a list without the others.
 */
#include "base/merge_iter.h"
#include "engine/read/columns.h"
#include "memtable/memtable.h"
#include "tests/support/iter_walk.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_NAMED 8

struct named {
    petal_slice qualifiers[MAX_NAMED]; /* sorted */
    size_t count;
};

static int
compare_slices(const void *a, const void *b)
{
    return slice_compare(*(const petal_slice *)a, *(const petal_slice *)b);
}

static bool
is_named(const struct named *named, petal_slice qualifier)
{
    for (size_t i = 0; i < named->count; i++) {
        if (slice_equal(named->qualifiers[i], qualifier))
            return true;
    }
    return false;
}

/* Some qualifiers of the list's cells and now and then a strange one. */
static void
name_some(struct named *named, const struct cell_list *list, struct test_random *random)
{
    static const char *const strange[] = {"", "a", "k", "kk", "\xff\xff"};
    size_t wanted = 1 + (size_t)test_random_below(random, MAX_NAMED);

    named->count = 0;
    while (wanted-- > 0) {
        petal_slice qualifier = test_random_chance(random, 20)
                                    ? slice_from_text(strange[test_random_below(random, 5)])
                                    : list->cells[test_random_below(random, list->count)].qualifier;

        if (!is_named(named, qualifier))
            named->qualifiers[named->count++] = qualifier;
    }
    qsort(named->qualifiers, named->count, sizeof named->qualifiers[0], compare_slices);
}

/* What the iterator is to show of the list. */
static struct cell_list
narrow(const struct cell_list *list, const struct named *named)
{
    struct cell_list narrowed = {0};

    for (size_t i = 0; i < list->count; i++) {
        const struct cell *cell = &list->cells[i];

        if (cell_is_family_marker(cell->type) || is_named(named, cell->qualifier))
            cell_list_add(&narrowed, cell->row, cell->qualifier, cell->timestamp, cell->sequence,
                          cell->type, cell->value);
    }
    return narrowed;
}

static bool
has_family_markers(const struct cell_list *list)
{
    bool has = false;

    for (size_t i = 0; i < list->count; i++)
        has = has || cell_is_family_marker(list->cells[i].type);
    return has;
}

static void
first_of_row(uint8_t *buffer, petal_slice row, struct cell_key *key)
{
    cell_key_make(key, buffer, row, slice_make(NULL, 0), true, INT64_MAX, CELL_SEQUENCE_MAX);
}

/* The narrowed cells of the row, from the `at`-th on, now and then after a seek ahead; then no more
 * of it. */
static void
read_row(struct cell_iter *iter, petal_slice row, const struct cell_list *narrowed, size_t at,
         uint8_t *buffer, struct test_random *random)
{
    for (; at < narrowed->count && slice_equal(narrowed->cells[at].row, row); at++) {
        if (test_random_chance(random, 20)) {
            struct cell_key key;

            cell_key_make(&key, buffer, row, narrowed->cells[at].qualifier,
                          cell_is_family_marker(narrowed->cells[at].type),
                          narrowed->cells[at].timestamp, narrowed->cells[at].sequence);
            assert_int_equal(iter->ops->seek(iter, &key, NULL), PETAL_OK);
        }
        walk_expect(iter, narrowed, at);
        if (test_random_chance(random, 10))
            return;
        assert_int_equal(iter->ops->next(iter, NULL), PETAL_OK);
    }
    assert_true(!iter->valid || !slice_equal(iter->cell.row, row));
}

/* As reversed scans do: row by row down the whole list, whose named cells are shown; now and then
 * from another row. */
static void
walk_reversed(struct cell_iter *iter, const struct cell_list *list,
              const struct cell_list *narrowed, struct test_random *random)
{
    uint8_t *buffer = test_allocate(2 * (size_t)WALK_KEY_BYTES);
    struct cell_key key, *behind = NULL;

    for (unsigned rows = 0; rows < 300; rows++) {
        size_t end = behind != NULL ? cell_list_seek(list, &key) : list->count;
        petal_slice row;

        assert_int_equal(iter->ops->seek_before(iter, behind, NULL), PETAL_OK);
        assert_int_equal(iter->valid, end > 0);
        behind = end > 0 ? &key : NULL;
        if (end == 0)
            continue;
        row = list->cells[end - 1].row;
        assert_true(slice_equal(iter->cell.row, row));
        first_of_row(buffer, row, &key);
        if (test_random_chance(random, 80)) {
            assert_int_equal(iter->ops->seek(iter, &key, NULL), PETAL_OK);
            read_row(iter, row, narrowed, cell_list_seek(narrowed, &key), buffer + WALK_KEY_BYTES,
                     random);
        }
        if (test_random_chance(random, 10))
            first_of_row(buffer, list->cells[test_random_below(random, list->count)].row, &key);
    }
    free(buffer);
}

static void
walk(struct cell_iter *iter, bool reversed, const struct cell_list *list,
     const struct cell_list *narrowed, struct test_random *random)
{
    if (reversed)
        walk_reversed(iter, list, narrowed, random);
    else if (narrowed->count > 0)
        walk_forward_at_random(iter, narrowed, 200, random);
}

static void
set_reversed(struct column_iter *columns, bool reversed, const struct cell_list *list)
{
    columns->reversed = reversed;
    columns->no_family_markers = !has_family_markers(list);
}

static void
walk_memtable(struct sst_fixture *f, bool reversed, const struct cell_list *list,
              const struct named *named, const struct cell_list *narrowed,
              struct test_random *random)
{
    struct memtable *memtable;
    struct memtable_iter source;
    struct column_iter columns;

    assert_int_equal(memtable_new(&memtable, &f->allocator.table), PETAL_OK);
    for (size_t i = 0; i < list->count; i++)
        assert_int_equal(memtable_add(memtable, &list->cells[i], 0), PETAL_OK);
    memtable_iter_init(&source, memtable);
    column_iter_init(&columns, &f->allocator.table, &source.iter, named->qualifiers, named->count,
                     NULL);
    set_reversed(&columns, reversed, list);
    walk(&columns.iter, reversed, list, narrowed, random);
    columns.iter.ops->close(&columns.iter);
    source.iter.ops->close(&source.iter);
    memtable_free(memtable);
}

/* Returns the seeks that a filter saved. */
static uint32_t
walk_file(struct sst_fixture *f, enum petal_bloom_type bloom, bool reversed,
          const struct cell_list *list, const struct named *named, const struct cell_list *narrowed,
          struct test_random *random)
{
    struct sst_options options = sst_test_options();
    struct sst_reader *reader;
    struct sst_iter source;
    struct column_iter columns;
    uint32_t saved;

    options.block_bytes = 1024;
    options.bloom = bloom;
    sst_fixture_write(f, &options, list);
    reader = sst_fixture_open(f);
    sst_iter_init(&source, reader, &f->context, false, test_random_chance(random, 70));
    column_iter_init(&columns, &f->allocator.table, &source.iter, named->qualifiers, named->count,
                     NULL);
    if (bloom == PETAL_BLOOM_ROWCOL)
        column_iter_use_filter(&columns, reader, f->epoch, &f->context, READ_SAVES_BLOCK);
    set_reversed(&columns, reversed, list);
    walk(&columns.iter, reversed, list, narrowed, random);
    saved = columns.seeks_saved;
    columns.iter.ops->close(&columns.iter);
    source.iter.ops->close(&source.iter);
    sst_reader_close(reader);
    return saved;
}

TEST(only_named_columns_and_family_markers_are_shown)
{
    struct test_random random;
    uint32_t saved = 0;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < (test_long() ? 1000u : 60u); round++) {
        const struct cell_shape most = {.cells = 1000,
                                        .rows = 200,
                                        .qualifiers = 40,
                                        .row_bytes = 20,
                                        .value_bytes = 100,
                                        .marker_percent = round % 3 * 10};
        struct sst_fixture *f = sst_fixture_new(1 << 20);
        struct cell_list list = {0}, narrowed;
        struct named named;

        cell_list_random_within(&list, &most, &random);
        name_some(&named, &list, &random);
        narrowed = narrow(&list, &named);
        for (int reversed = 0; reversed < 2; reversed++) {
            walk_memtable(f, reversed, &list, &named, &narrowed, &random);
            walk_file(f, PETAL_BLOOM_ROW, reversed, &list, &named, &narrowed, &random);
            saved += walk_file(f, PETAL_BLOOM_ROWCOL, reversed, &list, &named, &narrowed, &random);
        }
        cell_list_fini(&narrowed);
        cell_list_fini(&list);
        sst_fixture_free(f);
    }
    assert_true(saved > 0);
}

/* ---- lazy ones, merged ---- */

#define MAX_SOURCES 5

struct lazy_source {
    struct cell_list list;
    struct memtable *memtable; /* NULL: a file */
    struct memtable_iter memtable_iter;
    struct sst_reader *reader;
    struct sst_iter file_iter;
    struct column_iter columns;
};

static struct cell_iter *
open_source(struct lazy_source *source, struct sst_fixture *f, struct test_random *random)
{
    struct sst_options options = sst_test_options();

    if (source->list.count == 0 || test_random_chance(random, 40)) {
        assert_int_equal(memtable_new(&source->memtable, &f->allocator.table), PETAL_OK);
        for (size_t i = 0; i < source->list.count; i++)
            assert_int_equal(memtable_add(source->memtable, &source->list.cells[i], 0), PETAL_OK);
        memtable_iter_init(&source->memtable_iter, source->memtable);
        return &source->memtable_iter.iter;
    }
    options.block_bytes = 1024;
    options.bloom = test_random_chance(random, 50) ? PETAL_BLOOM_ROWCOL : PETAL_BLOOM_ROW;
    sst_fixture_write(f, &options, &source->list);
    source->reader = sst_fixture_open(f);
    sst_iter_init(&source->file_iter, source->reader, &f->context, false,
                  test_random_chance(random, 70));
    return &source->file_iter.iter;
}

static void
open_columns(struct lazy_source *source, struct sst_fixture *f, bool reversed,
             const struct named *named, const struct scan_bounds *bounds,
             struct test_random *random)
{
    struct cell_iter *iter = open_source(source, f, random);

    column_iter_init(&source->columns, &f->allocator.table, iter, named->qualifiers, named->count,
                     bounds);
    source->columns.lazy = !reversed;
    set_reversed(&source->columns, reversed, &source->list);
    if (source->reader != NULL && sst_reader_facts(source->reader)->bloom == PETAL_BLOOM_ROWCOL)
        column_iter_use_filter(&source->columns, source->reader, f->epoch, &f->context,
                               READ_SAVES_BLOCK);
}

static void
close_source(struct lazy_source *source)
{
    source->columns.iter.ops->close(&source->columns.iter);
    source->columns.source->ops->close(source->columns.source);
    if (source->memtable != NULL)
        memtable_free(source->memtable);
    else
        sst_reader_close(source->reader);
    cell_list_fini(&source->list);
}

/* Walk over the list's cells, dealt to sources by chance. */
static void
walk_merged(struct sst_fixture *f, bool reversed, const struct cell_list *list,
            const struct named *named, const struct scan_bounds *bounds,
            const struct cell_list *narrowed, struct test_random *random)
{
    struct lazy_source sources[MAX_SOURCES] = {0};
    struct cell_iter *iters[MAX_SOURCES];
    struct merge_iter merge;

    for (size_t i = 0; i < list->count; i++) {
        const struct cell *cell = &list->cells[i];

        cell_list_add(&sources[test_random_below(random, MAX_SOURCES)].list, cell->row,
                      cell->qualifier, cell->timestamp, cell->sequence, cell->type, cell->value);
    }
    for (size_t i = 0; i < MAX_SOURCES; i++) {
        open_columns(&sources[i], f, reversed, named, bounds, random);
        iters[i] = &sources[i].columns.iter;
    }
    assert_int_equal(merge_iter_init(&merge, &f->allocator.table, iters, MAX_SOURCES), PETAL_OK);
    merge.reversed = reversed;
    walk(&merge.iter, reversed, list, narrowed, random);
    merge.iter.ops->close(&merge.iter);
    for (size_t i = 0; i < MAX_SOURCES; i++)
        close_source(&sources[i]);
}

TEST(lazy_ones_merged_show_the_same)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < (test_long() ? 1000u : 60u); round++) {
        const struct cell_shape most = {.cells = 1000,
                                        .rows = 200,
                                        .qualifiers = 40,
                                        .row_bytes = 20,
                                        .value_bytes = 100,
                                        .marker_percent = round % 3 * 10};
        struct sst_fixture *f = sst_fixture_new(round % 4 > 0 ? 1 << 20 : 0);
        struct scan_bounds bounds = {0};
        struct cell_list list = {0}, narrowed, wanted;
        struct named named;

        cell_list_random_within(&list, &most, &random);
        name_some(&named, &list, &random);
        narrowed = narrow(&list, &named);
        walk_merged(f, false, &list, &named, NULL, &narrowed, &random);
        walk_merged(f, true, &list, &named, NULL, &narrowed, &random);
        bounds.stop = list.cells[test_random_below(&random, list.count)].row;
        wanted = narrowed;
        while (wanted.count > 0 && scan_bounds_behind(&bounds, wanted.cells[wanted.count - 1].row))
            wanted.count--;
        walk_merged(f, false, &list, &named, &bounds, &wanted, &random);
        cell_list_fini(&narrowed);
        cell_list_fini(&list);
        sst_fixture_free(f);
    }
}

/* A row without the named column costs two questions or seeks at most: its place is found, the
 * filter is asked. */
TEST(the_way_back_asks_the_filter)
{
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    struct named named = {.qualifiers = {slice_from_text("named")}, .count = 1};
    struct cell_list list = {0};
    struct sst_options options = sst_test_options();
    struct sst_reader *reader;
    struct sst_iter source;
    struct column_iter columns;
    uint8_t buffer[100];
    struct cell_key key;
    char row[16];

    for (unsigned i = 0; i < 100; i++) {
        snprintf(row, sizeof row, "row%04u", i);
        cell_list_put(&list, row, i % 50 == 20 ? "named" : "other", 5, i + 1, "v");
    }
    options.bloom = PETAL_BLOOM_ROWCOL;
    options.bloom_error_rate = 0.0001;
    sst_fixture_write(f, &options, &list);
    reader = sst_fixture_open(f);
    sst_iter_init(&source, reader, &f->context, false, true);
    column_iter_init(&columns, &f->allocator.table, &source.iter, named.qualifiers, named.count,
                     NULL);
    set_reversed(&columns, true, &list);
    column_iter_use_filter(&columns, reader, f->epoch, &f->context, READ_SAVES_BLOCK);
    for (size_t i = 100; i-- > 0;) {
        assert_int_equal(columns.iter.ops->seek_before(&columns.iter, i == 99 ? NULL : &key, NULL),
                         PETAL_OK);
        assert_true(slice_equal(columns.iter.cell.row, list.cells[i].row));
        first_of_row(buffer, list.cells[i].row, &key);
        assert_int_equal(columns.iter.ops->seek(&columns.iter, &key, NULL), PETAL_OK);
        assert_int_equal(columns.iter.valid, i % 50 == 20);
    }
    assert_in_range(columns.seeks_saved, 96, 98); /* the filter may err */
    assert_in_range(f->trace.seeks, 102, 104);
    columns.iter.ops->close(&columns.iter);
    source.iter.ops->close(&source.iter);
    cell_list_fini(&list);
    sst_fixture_end(f, reader);
}
