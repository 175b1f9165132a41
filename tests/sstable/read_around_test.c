/*
 * read_around_test.c -- what is begun to be read around single blocks of a file: once, and in
 * proportion to what was asked; and of indexes and filters when it is opened.
 */
#include "tests/sstable/fixture.h"

#include "sstable/sst_reader_parts.h"
#include "tests/support/test.h"

#include <pthread.h>

#define ROWS        40000
#define VALUE_BYTES 100
#define BIG_CACHE   (64u << 20)
#define MOST_HINTS  64
#define AREA        READ_AROUND_AREA_BYTES

/* ---- a file layer that takes hints ---- */

struct hint {
    uint64_t offset, size;
};

static struct {
    petal_vfs table;
    pthread_mutex_t mutex;
    struct hint hints[MOST_HINTS];
    size_t count;
    uint64_t bytes; /* of all hints */
} layer;

static void
take_hint(void *context, petal_file *file, uint64_t offset, uint64_t size)
{
    (void)context;
    assert_non_null(file);
    pthread_mutex_lock(&layer.mutex);
    assert_true(layer.count < MOST_HINTS);
    layer.hints[layer.count++] = (struct hint){offset, size};
    layer.bytes += size;
    pthread_mutex_unlock(&layer.mutex);
}

static void
forget_hints(void)
{
    layer.count = 0;
    layer.bytes = 0;
}

static void
put_in_front(struct sst_fixture *f)
{
    layer.table = *f->env.vfs;
    layer.table.read_ahead = take_hint;
    f->env.vfs = &layer.table;
    forget_hints();
}

/* A file of about 4 MiB of blocks that do not compress. */
static struct sst_fixture *
make_file(void)
{
    struct sst_fixture *f = sst_fixture_new(BIG_CACHE);
    struct sst_options options = sst_test_options();

    cell_list_random_values(&f->list, ROWS, VALUE_BYTES);
    sst_fixture_write(f, &options, &f->list);
    put_in_front(f);
    return f;
}

static struct sst_reader *
open_file(struct sst_fixture *f, struct readahead_limit *around)
{
    struct sst_open_options options = {.file_number = f->next_file_number++,
                                       .file_identity = TEST_IDENTITY,
                                       .cache = f->cache,
                                       .epoch = f->epoch,
                                       .readahead_limit = around};
    struct sst_reader *reader;
    petal_error error;

    if (sst_reader_open(&reader, &f->directory, SST_PATH, &options, &error) != PETAL_OK)
        fail_msg("%s", error.text);
    return reader;
}

/* A search that begins and ends with this cell. */
static uint64_t
areas_of(const struct sst_reader *reader)
{
    return (sst_reader_facts(reader)->file_bytes + AREA - 1) / AREA;
}

/* ---- around blocks ---- */

/* All hints are of whole areas, none of which is in two. */
static void
expect_areas_once(void)
{
    bool seen[256] = {false};

    for (size_t i = 0; i < layer.count; i++) {
        uint64_t first = layer.hints[i].offset / AREA, count = layer.hints[i].size / AREA;

        assert_int_equal(layer.hints[i].offset % AREA, 0);
        assert_int_equal(layer.hints[i].size % AREA, 0);
        assert_in_range(count, 1, READ_AROUND_MOST_AREAS);
        for (uint64_t area = first; area < first + count; area++) {
            assert_true(area < 256 && !seen[area]);
            seen[area] = true;
        }
    }
}

/* The second block of an area brings it along. */
TEST(the_first_get_of_an_area_reads_its_block_alone)
{
    struct sst_fixture *f = make_file();
    struct readahead_limit limit;
    struct sst_reader *reader;
    size_t step;

    readahead_limit_init(&limit, UINT64_MAX, UINT64_MAX);
    reader = open_file(f, &limit);
    step = ROWS / areas_of(reader) * 2;
    for (size_t i = 0; i < ROWS; i += step)
        sst_expect_found(f, reader, &f->list.cells[i]);
    assert_int_equal(layer.count, 0);
    sst_expect_found(f, reader, &f->list.cells[step / 8]);
    assert_int_equal(layer.count, 1);
    assert_int_equal(layer.hints[0].size, AREA);
    assert_int_equal(layer.hints[0].offset, 0);
    sst_fixture_end(f, reader);
}

/* Each area once, in pieces that grow; and what the reader itself reads is as it is without. */
TEST(gets_in_no_order_begin_all_of_the_file)
{
    struct sst_fixture *f = make_file();
    struct readahead_limit limit;
    struct sst_reader *reader;
    struct test_random random;
    uint64_t data_areas;
    size_t larger = 0;

    test_random_init(&random, test_seed());
    readahead_limit_init(&limit, UINT64_MAX, UINT64_MAX);
    reader = open_file(f, &limit);
    data_areas = sst_reader_facts(reader)->data_bytes / AREA;
    assert_in_range(data_areas, 30, 60);
    for (size_t i = 0; i < f->list.count; i++)
        sst_expect_found(f, reader, &f->list.cells[test_random_below(&random, f->list.count)]);
    for (size_t i = 0; i < f->list.count; i += 5)
        sst_expect_found(f, reader, &f->list.cells[i]);
    assert_int_equal(f->trace.file_reads, sst_reader_facts(reader)->data_blocks);
    expect_areas_once();
    assert_in_range(layer.bytes / AREA, data_areas, areas_of(reader));
    for (size_t i = 0; i < layer.count; i++)
        larger += layer.hints[i].size > AREA;
    assert_true(larger > 0 && layer.count < data_areas * 3 / 4);

    forget_hints();
    cache_erase_file(f->cache, f->next_file_number - 1);
    for (size_t i = 0; i < f->list.count; i += 40)
        sst_expect_found(f, reader, &f->list.cells[i]);
    assert_int_equal(layer.count, 0);
    sst_fixture_end(f, reader);
}

/* The first get of an area causes no read-ahead; the second reads that area ahead, and no other. */
TEST(sparse_gets_begin_nothing)
{
    struct readahead_limit limit;
    struct read_around around;
    struct sst_fixture *f = make_file();
    struct sst_reader *reader;

    readahead_limit_init(&limit, UINT64_MAX, UINT64_MAX);
    reader = open_file(f, NULL);
    assert_true(read_around_init(&around, &limit, (uint64_t)1 << 40, f->env.allocator));
    for (uint64_t turn = 0; turn < 2; turn++) {
        assert_int_equal(layer.count, 0);
        for (uint64_t i = 0; i < MOST_HINTS; i++)
            read_around_block(&around, &reader->file.source,
                              (struct block_handle){.offset = i << 30, .size = 4096});
    }
    assert_int_equal(layer.count, MOST_HINTS);
    assert_int_equal(layer.bytes, (uint64_t)MOST_HINTS * AREA);
    read_around_fini(&around, f->env.allocator);
    assert_int_equal(atomic_load(&limit.open), 0);
    sst_fixture_end(f, reader);
}

TEST(a_place_outside_of_the_file_begins_nothing)
{
    struct readahead_limit limit;
    struct read_around around;
    struct sst_fixture *f = make_file();
    struct sst_reader *reader;

    readahead_limit_init(&limit, UINT64_MAX, UINT64_MAX);
    reader = open_file(f, NULL);
    assert_true(read_around_init(&around, &limit, 5 * AREA + 1, f->env.allocator));
    for (unsigned i = 0; i < 2; i++) {
        read_around_block(&around, &reader->file.source, (struct block_handle){.offset = 6 * AREA});
        read_around_block(&around, &reader->file.source,
                          (struct block_handle){.offset = UINT64_MAX});
        read_around_block(&around, &reader->file.source, (struct block_handle){.offset = 5 * AREA});
        assert_int_equal(layer.count, i);
    }
    read_around_fini(&around, f->env.allocator);
    sst_fixture_end(f, reader);
}

/* Files that are together larger than the limit bring nothing along; as soon as one is closed the
 * others do. */
TEST(files_larger_than_the_limit_bring_nothing)
{
    struct sst_fixture *f = make_file();
    struct readahead_limit limit;
    struct sst_reader *reader, *other;

    readahead_limit_init(&limit, UINT64_MAX, UINT64_MAX);
    reader = open_file(f, &limit);
    limit.most_open = sst_reader_facts(reader)->file_bytes;
    assert_int_equal(atomic_load(&limit.open), limit.most_open);
    other = open_file(f, &limit);
    for (size_t i = 0; i < 3; i++) {
        sst_expect_found(f, reader, &f->list.cells[100 + 150 * i]);
        sst_expect_found(f, other, &f->list.cells[100 + 150 * i]);
    }
    assert_int_equal(layer.count, 0);
    sst_reader_close(other);
    sst_expect_found(f, reader, &f->list.cells[ROWS - 200]);
    sst_expect_found(f, reader, &f->list.cells[ROWS - 50]);
    assert_int_equal(layer.count, 1);
    sst_reader_close(reader);
    assert_int_equal(atomic_load(&limit.open), 0);
    sst_fixture_free(f);
}

/* Who goes through the file has large reads of his own. */
TEST(scans_bring_nothing)
{
    struct sst_fixture *f = make_file();
    struct readahead_limit limit;
    struct sst_reader *reader;
    struct sst_iter iter;

    readahead_limit_init(&limit, UINT64_MAX, UINT64_MAX);
    reader = open_file(f, &limit);
    for (unsigned whole = 0; whole < 2; whole++) {
        struct read_context context = f->context;

        context.whole_file = whole != 0;
        cache_erase_file(f->cache, f->next_file_number - 1);
        forget_hints();
        sst_iter_init(&iter, reader, &context, false, false);
        assert_int_equal(iter.iter.ops->seek_first(&iter.iter, NULL), PETAL_OK);
        while (iter.iter.valid)
            assert_int_equal(iter.iter.ops->next(&iter.iter, NULL), PETAL_OK);
        iter.iter.ops->close(&iter.iter);
        assert_int_equal(layer.count, 0);
    }
    sst_fixture_end(f, reader);
}

/* ---- threads ---- */

#define THREADS 4
#define FAR     48

struct crowd {
    struct read_around around;
    const struct block_source *source;
};

static void *
ask_all(void *argument)
{
    struct crowd *crowd = argument;

    for (uint64_t i = 0; i < 10000; i++)
        read_around_block(&crowd->around, crowd->source,
                          (struct block_handle){.offset = i * 7919 % FAR * AREA});
    return NULL;
}

TEST(threads_begin_each_area_once)
{
    struct crowd crowd;
    struct readahead_limit limit;
    struct sst_fixture *f = make_file();
    struct sst_reader *reader;
    pthread_t threads[THREADS];

    readahead_limit_init(&limit, UINT64_MAX, UINT64_MAX);
    reader = open_file(f, NULL);
    crowd.source = &reader->file.source;
    assert_true(read_around_init(&crowd.around, &limit, (uint64_t)FAR * AREA, f->env.allocator));
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_all, &crowd), 0);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    expect_areas_once();
    assert_int_equal(layer.bytes, (uint64_t)FAR * AREA);
    read_around_fini(&crowd.around, f->env.allocator);
    sst_fixture_end(f, reader);
}

int
main(void)
{
    pthread_mutex_init(&layer.mutex, NULL);
    return test_run();
}

TEST(opening_begins_filter_and_index)
{
    struct sst_fixture *f = sst_fixture_new(BIG_CACHE);
    struct sst_options options = sst_test_options();
    struct readahead_limit limit;
    struct sst_reader *reader;
    const struct file_facts *facts;

    cell_list_random_rows(&f->list, 12000, 100);
    options.block_bytes = 512;
    sst_fixture_write(f, &options, &f->list);
    put_in_front(f);

    readahead_limit_init(&limit, BIG_CACHE, 0);
    reader = open_file(f, NULL);
    sst_reader_read_ahead(reader, &limit);
    facts = sst_reader_facts(reader);
    assert_int_equal(reader->index.root.level, 1);
    assert_int_equal(layer.count, 2);
    assert_int_equal(layer.hints[0].size, facts->bloom_bytes);
    assert_int_equal(layer.bytes, facts->bloom_bytes + facts->index_bytes -
                                      reader->trailer.data_root.size -
                                      reader->trailer.bloom_root.size);
    assert_true(atomic_load(&limit.taken) >= layer.bytes);

    /* The filter first, where there is no room for both; and then nothing. */
    readahead_limit_init(&limit, 2 * layer.hints[0].size, 0);
    forget_hints();
    sst_reader_read_ahead(reader, &limit);
    assert_int_equal(layer.count, 1);
    sst_reader_read_ahead(reader, &limit);
    assert_int_equal(layer.count, 1);
    sst_fixture_end(f, reader);
}
