/*
 * golden_test.c -- the format stands still: the files kept in tests/sstable/golden are read with
 * every answer right and their filter in use, and the same cells still give the same bytes (without
 * compression, since the bytes that LZ4 gives depend on its version).
 *
 * PETAL_GOLDEN_WRITE=1 writes the files anew: only for a new format version.
 */
#include "tests/sstable/fixture.h"

#include "bloom/bloom.h"
#include "sstable/sst_reader_parts.h"
#include "tests/support/test.h"

#include <stdlib.h>

struct golden {
    const char *path;
    enum petal_compression compression;
    uint32_t block_bytes;
    unsigned rows;
    bool ttls;             /* cells with times to live of their own */
    uint32_t prefix_bytes; /* not 0: a filter of prefixes */
    unsigned layout;       /* of the filter, as in sst_options */
};

/* The first is the worked example of sstable/FORMAT.md. */
static const struct golden golden[] = {
    {"tests/sstable/golden/sst-v1.sst", PETAL_COMPRESSION_NONE, 256, 3, true, 0, 0},
    {"tests/sstable/golden/sst-v1-many.sst", PETAL_COMPRESSION_NONE, 1024, 400, true, 0, 0},
    {"tests/sstable/golden/sst-v1-lz4.sst", PETAL_COMPRESSION_LZ4, 1024, 400, false, 0, 0},
    {"tests/sstable/golden/sst-v1-prefix.sst", PETAL_COMPRESSION_NONE, 1024, 400, false, 5, 0},
    {"tests/sstable/golden/sst-v1-ribbon.sst", PETAL_COMPRESSION_NONE, 4096, 400, true, 0,
     BLOOM_RIBBON},
    {"tests/sstable/golden/sst-v1-single.sst", PETAL_COMPRESSION_NONE, 256, 1, true, 0, 0},
};

static void
golden_cells(struct cell_list *list, unsigned rows, bool ttls)
{
    petal_slice nothing = slice_make("", 0);
    char row[16];

    for (unsigned i = 0; i < rows; i++) {
        petal_slice r = slice_make(row, (size_t)snprintf(row, sizeof row, "row%03u", i));
        uint64_t sequence = 10 * (uint64_t)i;

        cell_list_put(list, row, "city", 1000 + i, sequence + 1, "Kyoto");
        cell_list_put(list, row, "name", 1000 + i, sequence + 2, "a petal, a petal");
        if (ttls && i % 7 == 0)
            cell_list_give_ttl(list, 60000 + i);
        if (i % 3 == 1)
            cell_list_add(list, r, slice_from_text("city"), 1500, sequence + 3, PETAL_DELETE_COLUMN,
                          nothing);
        if (ttls && i % 21 == 1)
            cell_list_give_ttl(list, -(int64_t)i);
        if (i % 3 == 2)
            cell_list_add(list, r, nothing, 900, sequence + 4, PETAL_DELETE_FAMILY, nothing);
        if (i % 50 == 49)
            cell_list_add(list, r, slice_make("\0\xff\x80", 3), 1, sequence + 5, PETAL_PUT,
                          slice_make("\xff", 1));
        if (i % 60 == 59)
            cell_list_add(list, r, nothing, 5, sequence + 6, PETAL_DELETE_FAMILY_VERSION, nothing);
        if (i % 70 == 69)
            cell_list_add(list, r, slice_from_text("name"), 5, sequence + 7, PETAL_DELETE, nothing);
    }
    cell_list_sort(list);
}

static struct sst_options
golden_options(const struct golden *g)
{
    struct sst_options options = sst_test_options();

    options.block_bytes = g->block_bytes;
    options.compression = g->compression;
    options.bloom = g->prefix_bytes > 0 ? PETAL_BLOOM_ROW_PREFIX : PETAL_BLOOM_ROW_ROWCOL;
    options.bloom_prefix_bytes = g->prefix_bytes;
    options.bloom_layout = g->layout;
    options.origin = FILE_ORIGIN_MINOR;
    options.written_ms = 1000000;
    return options;
}

static uint8_t *
read_kept(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = test_allocate(1 << 20);

    if (file == NULL)
        fail_msg("no file %s: tests run in the top folder", path);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void
write_kept(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

TEST(same_cells_give_the_same_bytes)
{
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        struct sst_fixture *f = sst_fixture_new(1 << 20);
        struct sst_options options = golden_options(&golden[i]);
        uint8_t *made, *kept;
        size_t made_size, kept_size;

        golden_cells(&f->list, golden[i].rows, golden[i].ttls);
        sst_fixture_write(f, &options, &f->list);
        made = sst_fixture_bytes(f, &made_size);
        if (getenv("PETAL_GOLDEN_WRITE") != NULL)
            write_kept(golden[i].path, made, made_size);
        kept = read_kept(golden[i].path, &kept_size);
        if (golden[i].compression == PETAL_COMPRESSION_NONE) {
            assert_int_equal(made_size, kept_size);
            assert_memory_equal(made, kept, kept_size);
        }
        free(made);
        free(kept);
        sst_fixture_free(f);
    }
}

TEST(kept_files_are_read)
{
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        struct sst_fixture *f = sst_fixture_new(1 << 20);
        struct sst_reader *reader;
        petal_error error = {0};
        size_t size;
        uint8_t *bytes = read_kept(golden[i].path, &size);

        sst_fixture_set_bytes(f, bytes, size);
        assert_int_equal(bytes[size - 16], SST_FORMAT_VERSION);
        golden_cells(&f->list, golden[i].rows, golden[i].ttls);
        reader = sst_fixture_open(f);
        assert_int_equal(sst_compare(f, reader, &f->list), PETAL_OK);
        if (sst_reader_verify(reader, NULL, &error) != PETAL_OK)
            fail_msg("%s", error.text);
        assert_int_equal(sst_reader_facts(reader)->bloom_layout,
                         golden[i].layout > 0 ? golden[i].layout : BLOOM_BLOCKED);
        assert_true(sst_reader_facts(reader)->single_cells == (golden[i].rows == 1));
        assert_int_equal(f->trace.bloom_ignored, 0);
        assert_true(f->trace.bloom_probes > 0);
        if (golden[i].rows > 100) {
            unsigned absent = 0;
            char row[16];

            for (unsigned r = 0; r < 399; r++) {
                snprintf(row, sizeof row, golden[i].prefix_bytes > 0 ? "r%03uow" : "row%03ux", r);
                absent += !sst_ask_row(f, reader, slice_from_text(row));
            }
            assert_true(absent > 380); /* the filter is in use */
        }
        sst_reader_close(reader);
        free(bytes);
        sst_fixture_free(f);
    }
}
