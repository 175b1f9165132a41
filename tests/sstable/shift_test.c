/*
 * shift_test.c -- a store file whose sequences are shifted: to every way of reading its cells have
 * the greater ones, at the borders of blocks too.
 */
#include "tests/support/iter_walk.h"

#include "sstable/sst_reader_parts.h"
#include "tests/support/test.h"

static void
add_to_sequences(struct cell_list *list, uint64_t more)
{
    for (size_t i = 0; i < list->count; i++)
        list->cells[i].sequence += more;
}

/* The first cell at or after the place of a cell with another sequence, and the last before it. */
static void
seek_beside(struct sst_iter *iter, const struct cell_list *list, const struct cell *cell,
            uint64_t sequence)
{
    uint8_t buffer[4096];
    struct cell other = *cell;
    struct cell_key key;
    petal_error error;
    size_t at;

    other.sequence = sequence;
    assert_true(cell_key_bound(cell->row.size, cell->qualifier.size) <= sizeof buffer);
    cell_key_of(&key, buffer, &other);
    at = cell_list_seek(list, &key);
    assert_int_equal(iter->iter.ops->seek(&iter->iter, &key, &error), PETAL_OK);
    if (iter->iter.valid && iter->iter.pending)
        assert_int_equal(iter->iter.ops->load(&iter->iter, &error), PETAL_OK);
    assert_true(iter->iter.valid == (at < list->count));
    if (at < list->count)
        assert_true(same_cell(&iter->iter.cell, &list->cells[at]));
    assert_int_equal(iter->iter.ops->seek_before(&iter->iter, &key, &error), PETAL_OK);
    assert_true(iter->iter.valid == (at > 0));
    if (at > 0)
        assert_true(same_cell(&iter->iter.cell, &list->cells[at - 1]));
}

static void
seek_all(struct sst_fixture *f, const struct sst_reader *reader, const struct cell_list *list,
         uint64_t shift, bool lazy)
{
    struct sst_iter iter;

    sst_iter_init(&iter, reader, &f->context, false, lazy);
    for (size_t i = 0; i < list->count; i++) {
        const struct cell *cell = &list->cells[i];
        const uint64_t sequences[] = {
            cell->sequence,   cell->sequence - 1, cell->sequence + 1, shift, shift - 1, 0,
            CELL_SEQUENCE_MAX};

        for (size_t k = 0; k < sizeof sequences / sizeof *sequences; k++)
            seek_beside(&iter, list, cell, sequences[k]);
    }
    iter.iter.ops->close(&iter.iter);
}

TEST(all_ways_give_the_greater_sequences)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < (test_long() ? 200u : 16u); round++) {
        const struct cell_shape most = {.cells = 1200,
                                        .rows = 30,
                                        .qualifiers = 4,
                                        .row_bytes = 200,
                                        .value_bytes = 200,
                                        .marker_percent = round % 3 == 0 ? 0 : 20};
        uint64_t shift = 1 + test_random_below(&random, (uint64_t)1 << (1 + round % 50));
        struct sst_fixture *f = sst_fixture_new(round % 4 < 2 ? 0 : 1 << 20);
        struct sst_options options = sst_test_options();
        struct sst_reader *reader;
        struct sst_iter iter;

        f->map = round % 5 == 0;
        options.block_bytes = 256u << round % 4;
        cell_list_random_within(&f->list, &most, &random);
        add_to_sequences(&f->list, 1);
        sst_fixture_write(f, &options, &f->list);
        reader = sst_fixture_open(f);
        assert_true(sst_reader_shift_sequences(reader, shift));
        add_to_sequences(&f->list, shift);
        for (size_t i = 0; i < f->list.count; i++)
            assert_in_range(f->list.cells[i].sequence, sst_reader_facts(reader)->sequence_min,
                            sst_reader_facts(reader)->sequence_max);
        seek_all(f, reader, &f->list, shift, round % 2 == 1);
        sst_iter_init(&iter, reader, &f->context, false, round % 2 == 0);
        walk_at_random(&iter.iter, &f->list, 400, &random);
        walk_rows_backwards(&iter.iter, &f->list);
        iter.iter.ops->close(&iter.iter);
        assert_int_equal(sst_reader_verify(reader, NULL, NULL), PETAL_OK);
        sst_fixture_end(f, reader);
    }
}

/* Numbers from a manifest that cannot be. */
TEST(what_would_pass_the_end_is_refused)
{
    struct sst_fixture *f = sst_fixture_new(0);
    struct sst_options options = sst_test_options();
    struct sst_reader *reader;

    cell_list_put(&f->list, "a", "q", 5, 7, "value");
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    assert_false(sst_reader_shift_sequences(reader, CELL_SEQUENCE_END - 7));
    assert_false(sst_reader_shift_sequences(reader, UINT64_MAX));
    assert_int_equal(sst_reader_facts(reader)->sequence_max, 7);
    assert_true(sst_reader_shift_sequences(reader, CELL_SEQUENCE_END - 8));
    assert_true(sst_reader_facts(reader)->sequence_max == CELL_SEQUENCE_END - 1);
    sst_fixture_end(f, reader);
}
