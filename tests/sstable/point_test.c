/*
 * point_test.c -- straight answers for one column or row against the cells of the file, which
 * tests/sstable/sst_test.c compares with the iterator's.
 */
#include "tests/sstable/fixture.h"

#include "sstable/sst_point.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct tally {
    size_t found, absent, declined;
};

static void
count_answer(struct tally *tally, enum sst_point_answer answer)
{
    tally->found += answer == SST_POINT_FOUND;
    tally->absent += answer == SST_POINT_ABSENT;
    tally->declined += answer == SST_POINT_DECLINED;
}

/* Index of the first cell of the row, family markers included. */
static size_t
row_begin(const struct cell_list *list, petal_slice row)
{
    uint8_t *buffer = test_allocate(cell_key_bound(row.size, 0));
    struct cell_key key;
    size_t at;

    cell_key_make(&key, buffer, row, slice_make(NULL, 0), true, INT64_MAX, CELL_SEQUENCE_MAX);
    at = cell_list_seek(list, &key);
    free(buffer);
    return at;
}

static bool
is_in_column(const struct cell *cell, petal_slice row, petal_slice qualifier)
{
    return slice_equal(cell->row, row) && slice_equal(cell->qualifier, qualifier) &&
           !cell_is_family_marker(cell->type);
}

/* The newest cell of the column that the read point sees; NULL: there is none. */
static const struct cell *
newest_in_column(const struct cell_list *list, petal_slice row, petal_slice qualifier,
                 uint64_t sequence)
{
    for (size_t i = row_begin(list, row); i < list->count; i++) {
        const struct cell *cell = &list->cells[i];

        if (!slice_equal(cell->row, row))
            return NULL;
        if (is_in_column(cell, row, qualifier) && cell->sequence <= sequence)
            return cell;
    }
    return NULL;
}

static void
expect_put(const struct data_block_put *put, const struct cell *cell)
{
    assert_non_null(cell);
    assert_int_equal(cell->type, PETAL_PUT);
    assert_false(cell->has_ttl);
    assert_true(slice_equal(put->value, cell->value));
    assert_int_equal(put->timestamp, cell->timestamp);
    assert_int_equal(put->sequence, cell->sequence);
}

static void
ask_column(struct sst_fixture *f, const struct sst_reader *reader, const struct cell_list *list,
           petal_slice row, petal_slice qualifier, uint64_t sequence, struct tally *tally)
{
    struct data_block_column column = {row, qualifier, sequence};
    const struct cell *expected = newest_in_column(list, row, qualifier, sequence);
    struct epoch_stay stay = {.epoch = f->epoch, .slot = epoch_enter(f->epoch)};
    struct read_context context = f->context;
    struct sst_private_block beside = {0};
    struct data_block_put put;
    enum sst_point_answer answer;

    context.stay = &stay;
    if (sequence % 2 == 0)
        context.private_block = &beside;
    answer = sst_point_find(reader, &column, &context, &put);
    count_answer(tally, answer);
    if (answer == SST_POINT_FOUND)
        expect_put(&put, expected);
    else if (answer == SST_POINT_ABSENT)
        assert_null(expected);
    epoch_leave(f->epoch, stay.slot);
    sst_private_block_free(&beside, f->env.allocator);
}

/* The run gives, column by column, what the model has. */
static void
expect_run(struct data_block_run *run, const struct cell_list *list, petal_slice row,
           uint64_t sequence)
{
    size_t at = row_begin(list, row);
    petal_slice prefix, rest;
    struct data_block_put put;

    while (data_block_run_next(run, &put, &prefix, &rest)) {
        petal_slice qualifier;

        while (at < list->count && list->cells[at].sequence > sequence)
            at++;
        assert_true(at < list->count && slice_equal(list->cells[at].row, row));
        qualifier = list->cells[at].qualifier;
        assert_int_equal(prefix.size + rest.size, qualifier.size);
        assert_true(prefix.size == 0 || memcmp(prefix.data, qualifier.data, prefix.size) == 0);
        assert_true(rest.size == 0 ||
                    memcmp(rest.data, slice_bytes(qualifier) + prefix.size, rest.size) == 0);
        expect_put(&put, &list->cells[at]);
        while (at < list->count && is_in_column(&list->cells[at], row, qualifier))
            at++;
    }
    for (; at < list->count && slice_equal(list->cells[at].row, row); at++)
        assert_true(list->cells[at].sequence > sequence);
}

static void
ask_row(struct sst_fixture *f, const struct sst_reader *reader, const struct cell_list *list,
        petal_slice row, uint64_t sequence, struct tally *tally)
{
    struct epoch_stay stay = {.epoch = f->epoch, .slot = epoch_enter(f->epoch)};
    struct read_context context = f->context;
    struct sst_private_block beside = {0};
    size_t at = row_begin(list, row);
    bool there = at < list->count && slice_equal(list->cells[at].row, row);
    struct data_block_run run;
    enum sst_point_answer answer;

    context.stay = &stay;
    if (sequence % 2 == 0)
        context.private_block = &beside;
    answer = sst_point_find_row(reader, row, sequence, &context, &run);
    count_answer(tally, answer);
    if (answer == SST_POINT_FOUND) {
        assert_true(there);
        expect_run(&run, list, row, sequence);
    } else if (answer == SST_POINT_ABSENT) {
        assert_false(there);
    }
    epoch_leave(f->epoch, stay.slot);
    sst_private_block_free(&beside, f->env.allocator);
}

/* Ask for all columns and rows of the list and for some beside them, at random read points. */
static void
ask_all(struct sst_fixture *f, const struct sst_reader *reader, const struct cell_list *list,
        struct test_random *random, struct tally *columns, struct tally *rows)
{
    static const uint8_t ends[] = {0x00, 0x01, 0x02, 0x7f, 0xff};
    uint8_t bytes[300];

    for (size_t i = 0; i < list->count; i++) {
        const struct cell *cell = &list->cells[i];
        uint64_t sequence = test_random_chance(random, 50)
                                ? CELL_SEQUENCE_MAX
                                : test_random_below(random, list->count + 2);
        petal_slice near;

        ask_column(f, reader, list, cell->row, cell->qualifier, sequence, columns);
        ask_row(f, reader, list, cell->row, sequence, rows);
        near = test_random_chance(random, 50) ? cell->row : cell->qualifier;
        if (near.size > 0)
            memcpy(bytes, near.data, near.size);
        bytes[near.size] = ends[test_random_below(random, sizeof ends)];
        near = slice_make(bytes, near.size + 1); /* longer, another, or shorter */
        if (near.size > 2)
            near.size -= (size_t)test_random_below(random, 3);
        ask_column(f, reader, list, cell->row, near, sequence, columns);
        ask_column(f, reader, list, near, cell->qualifier, sequence, columns);
        ask_row(f, reader, list, near, sequence, rows);
    }
}

TEST(random_files_answer_as_their_cells)
{
    static const size_t caches[] = {0, 30 << 10, 64 << 20};
    static const uint32_t blocks[] = {256, 1024, 4096, 65536};
    struct tally columns = {0}, rows = {0};
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < (test_long() ? 1000u : 60u); round++) {
        const struct cell_shape most = {.cells = 800,
                                        .rows = 500,
                                        .qualifiers = 30,
                                        .row_bytes = 40,
                                        .value_bytes = 200,
                                        .marker_percent = round % 3 != 0 ? 0 : 2,
                                        .ttl_percent = round % 5 != 0 ? 0 : 2};
        struct sst_options options = sst_test_options();
        struct sst_fixture *f = sst_fixture_new(caches[test_random_below(&random, 3)]);
        struct sst_reader *reader;

        f->map = round % 7 < 3;
        options.block_bytes = blocks[round % 4];
        cell_list_random_within(&f->list, &most, &random);
        sst_fixture_write(f, &options, &f->list);
        reader = sst_fixture_open(f);
        ask_all(f, reader, &f->list, &random, &columns, &rows);
        sst_fixture_end(f, reader);
    }
    assert_true(columns.found > 0 && columns.absent > 0 && columns.declined > 0);
    assert_true(rows.found > 0 && rows.absent > 0 && rows.declined > 0);
}

/* One cell a row, of one column or of several, puts without a time to live: nothing is declined,
 * and an answer costs one data block. */
TEST(plain_files_decline_nothing)
{
    for (unsigned columns = 1; columns <= 3; columns++) {
        struct sst_fixture *f = sst_fixture_new(64 << 20);
        struct sst_options options = sst_test_options();
        struct tally column_answers = {0}, row_answers = {0};
        struct sst_reader *reader;
        struct test_random random;

        test_random_init(&random, test_seed());
        options.block_bytes = 512;
        for (unsigned i = 0; i < 9000; i++) {
            char row[32], qualifier[8];

            snprintf(row, sizeof row, "row%08u", i);
            snprintf(qualifier, sizeof qualifier, "q%u", i % columns);
            cell_list_put(&f->list, row, qualifier, 7, i + 1, "value");
        }
        sst_fixture_write(f, &options, &f->list);
        reader = sst_fixture_open(f);
        ask_all(f, reader, &f->list, &random, &column_answers, &row_answers);
        assert_int_equal(column_answers.declined, 0);
        assert_int_equal(row_answers.declined, 0);
        assert_true(column_answers.found > 0 && row_answers.found > 0);
        sst_fixture_end(f, reader);
    }
}

/* A block that is not there and must not be read, or cannot be, is no answer. */
TEST(what_cannot_be_read_is_declined)
{
    struct sst_fixture *f = sst_fixture_new(64 << 20);
    struct sst_options options = sst_test_options();
    struct data_block_column column = {slice_from_text("row"), slice_from_text("q"), 9};
    struct read_context only_cached = f->context;
    struct sst_reader *reader;
    struct data_block_put put;
    unsigned slot;

    cell_list_put(&f->list, "row", "q", 7, 9, "value");
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    slot = epoch_enter(f->epoch);
    only_cached.only_cached = true;
    assert_int_equal(sst_point_find(reader, &column, &only_cached, &put), SST_POINT_DECLINED);
    test_allocator_fail_at(&f->allocator, 1, true);
    assert_int_equal(sst_point_find(reader, &column, &f->context, &put), SST_POINT_FAILED);
    test_allocator_fail_at(&f->allocator, 0, false);
    assert_int_equal(sst_point_find(reader, &column, &f->context, &put), SST_POINT_FOUND);
    assert_int_equal(sst_point_find(reader, &column, &only_cached, &put), SST_POINT_FOUND);
    expect_put(&put, &f->list.cells[0]);
    epoch_leave(f->epoch, slot);
    sst_fixture_end(f, reader);
}

/* ---- past the cache ---- */

static uint64_t
blocks_inserted(struct sst_fixture *f)
{
    struct cache_usage usage;

    cache_usage_get(f->cache, &usage);
    return usage.inserted[PETAL_BLOCK_DATA];
}

/* A file of many blocks, of which the cache holds an eighth at most, and a context for points. */
struct passing {
    struct sst_fixture *f;
    struct cell_list list;
    struct sst_reader *reader;
    struct read_context context;
    struct epoch_stay stay;
    struct sst_private_block beside;
};

static void
begin_passing(struct passing *p, size_t cache_bytes, const struct sst_open_options *open)
{
    struct sst_options options = sst_test_options();
    petal_error error = {0};
    uint8_t value[100];
    struct test_random random;

    *p = (struct passing){.f = sst_fixture_new(cache_bytes)};
    test_random_init(&random, test_seed());
    for (unsigned i = 0; i < 4000; i++) {
        char row[16];

        snprintf(row, sizeof row, "row%08u", i);
        test_random_bytes(&random, value, sizeof value);
        cell_list_add(&p->list, slice_from_text(row), slice_from_text("q"), 7, i + 1, PETAL_PUT,
                      slice_make(value, sizeof value));
    }
    sst_fixture_write(p->f, &options, &p->list);
    if (open == NULL) {
        p->reader = sst_fixture_open(p->f);
    } else {
        struct sst_open_options given = *open;

        given.cache = p->f->cache;
        given.epoch = p->f->epoch;
        assert_int_equal(sst_reader_open(&p->reader, &p->f->directory, SST_PATH, &given, &error),
                         PETAL_OK);
    }
    p->context = p->f->context;
    p->stay = (struct epoch_stay){.epoch = p->f->epoch};
    p->context.stay = &p->stay;
    p->context.private_block = &p->beside;
}

static void
end_passing(struct passing *p)
{
    sst_private_block_free(&p->beside, p->f->env.allocator);
    sst_reader_close(p->reader);
    cell_list_fini(&p->list);
    sst_fixture_free(p->f);
}

static enum sst_point_answer
ask_cell(struct passing *p, size_t index)
{
    const struct cell *cell = &p->list.cells[index];
    struct data_block_column column = {cell->row, cell->qualifier, CELL_SEQUENCE_MAX};
    struct data_block_put put;
    enum sst_point_answer answer;

    p->stay.slot = epoch_enter(p->f->epoch);
    answer = sst_point_find(p->reader, &column, &p->context, &put);
    if (answer == SST_POINT_FOUND)
        expect_put(&put, cell);
    epoch_leave(p->f->epoch, p->stay.slot);
    return answer;
}

TEST(a_full_cache_takes_what_is_asked_for_twice)
{
    struct passing p;
    uint64_t inserted, fetched;

    begin_passing(&p, 128 << 10, NULL);
    /* Most blocks once, so that the cache is full after the first eighth of them. */
    for (size_t i = 0; i < p.list.count; i += 40)
        assert_int_equal(ask_cell(&p, i), SST_POINT_FOUND);
    inserted = blocks_inserted(p.f);
    fetched = p.f->trace.blocks_fetched[PETAL_BLOCK_DATA];
    assert_true(inserted < fetched / 2);
    /* The last one was asked for just now. */
    assert_int_equal(ask_cell(&p, 3961), SST_POINT_FOUND);
    assert_int_equal(blocks_inserted(p.f), inserted + 1);
    assert_int_equal(p.f->trace.blocks_fetched[PETAL_BLOCK_DATA], fetched + 1);
    assert_int_equal(ask_cell(&p, 3962), SST_POINT_FOUND);
    assert_int_equal(p.f->trace.blocks_fetched[PETAL_BLOCK_DATA], fetched + 1);
    end_passing(&p);
}

static size_t
calls_of(struct sst_fixture *f, enum memory_vfs_operation operation)
{
    size_t count = 0;

    for (size_t i = 0; i < memory_vfs_trace_count(f->vfs); i++)
        count += memory_vfs_trace_at(f->vfs, i).operation == operation;
    return count;
}

/* One that is mapped is not read, block by block; one that cannot be is.  Damage is told as
 * ever. */
TEST(a_mapped_file_is_not_read)
{
    struct passing p;
    uint8_t *bytes;
    size_t size;

    begin_passing(&p, 0, NULL);
    for (unsigned way = 0; way < 4; way++) {
        bool fails = way == 2, damaged = way == 3;

        sst_reader_close(p.reader);
        if (damaged) {
            bytes = sst_fixture_bytes(p.f, &size);
            bytes[1000] ^= 1;
            sst_fixture_set_bytes(p.f, bytes, size);
            free(bytes);
        }
        p.f->map = way > 0;
        memory_vfs_trace(p.f->vfs, true);
        p.reader = sst_fixture_open(p.f);
        if (fails) { /* at the same call of another opening */
            size_t before = memory_vfs_trace_count(p.f->vfs);

            while (memory_vfs_trace_at(p.f->vfs, before - 1).operation != MEMORY_VFS_MAP)
                before--;
            sst_reader_close(p.reader);
            memory_vfs_fail_at(p.f->vfs, before, ENOMEM, false);
            p.reader = sst_fixture_open(p.f);
            assert_int_equal(memory_vfs_failures(p.f->vfs), 1);
        }
        assert_int_equal(calls_of(p.f, MEMORY_VFS_MAP), fails ? 2 : way > 0);
        memory_vfs_trace(p.f->vfs, false);
        memory_vfs_trace(p.f->vfs, true);
        assert_int_equal(ask_cell(&p, 5), damaged ? SST_POINT_FAILED : SST_POINT_FOUND);
        assert_int_equal(ask_cell(&p, 3000), SST_POINT_FOUND);
        assert_int_equal(calls_of(p.f, MEMORY_VFS_READ) > 0, way == 0 || fails);
        memory_vfs_trace(p.f->vfs, false);
    }
    end_passing(&p);
}

/* With room for all of them: what is not to be kept is not, what is for memory is. */
TEST(who_opens_the_file_says_what_is_kept)
{
    const struct sst_open_options in_memory = {.file_number = 9, .in_memory = true};
    const struct sst_open_options not_kept = {.file_number = 9, .no_block_cache = true};
    struct passing p;

    begin_passing(&p, 64 << 20, NULL);
    p.context.keep_out_of_cache = true;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(ask_cell(&p, 5), SST_POINT_FOUND);
    assert_int_equal(blocks_inserted(p.f), 0);
    p.context.keep_out_of_cache = false;
    assert_int_equal(ask_cell(&p, 5), SST_POINT_FOUND);
    assert_int_equal(blocks_inserted(p.f), 1);
    end_passing(&p);

    begin_passing(&p, 64 << 20, &not_kept);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(ask_cell(&p, 5), SST_POINT_FOUND);
    assert_int_equal(blocks_inserted(p.f), 0);
    end_passing(&p);

    begin_passing(&p, 128 << 10, &in_memory);
    for (size_t i = 0; i < p.list.count; i += 100)
        assert_int_equal(ask_cell(&p, i), SST_POINT_FOUND);
    assert_int_equal(blocks_inserted(p.f), p.f->trace.blocks_fetched[PETAL_BLOCK_DATA]);
    end_passing(&p);
}

/* Each bit of a block that is read past the cache is looked at. */
TEST(damage_is_noticed_past_the_cache)
{
    struct passing p;
    uint8_t *bytes;
    size_t size;

    begin_passing(&p, 64 << 20, NULL);
    p.context.keep_out_of_cache = true;
    assert_int_equal(ask_cell(&p, 0), SST_POINT_FOUND);
    bytes = sst_fixture_bytes(p.f, &size);
    for (size_t at = 0; at < sst_frame_bytes(bytes, 0); at += 97) {
        bytes[at] ^= 0x10;
        sst_fixture_set_bytes(p.f, bytes, size);
        assert_int_equal(ask_cell(&p, 0), SST_POINT_FAILED);
        bytes[at] ^= 0x10;
    }
    sst_fixture_set_bytes(p.f, bytes, size);
    free(bytes);
    assert_int_equal(ask_cell(&p, 0), SST_POINT_FOUND);
    test_allocator_fail_at(&p.f->allocator, 1, true);
    sst_private_block_free(&p.beside, p.f->env.allocator);
    assert_int_equal(ask_cell(&p, 0), SST_POINT_FAILED);
    test_allocator_fail_at(&p.f->allocator, 0, false);
    end_passing(&p);
}
