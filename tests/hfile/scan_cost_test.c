/*
 * scan_cost_test.c -- what reading costs: a scan allocates for its blocks, not for its cells or for
 * the file's size; a search reads one block, and one of the index for each level below the root;
 * opening reads the end of the file, whatever its size. And what FILE_INFO says of MOB files.
 */
#include "tests/hfile/golden.h"
#include "tests/hfile/memory_sink.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/hfile/format/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK_BYTES 16384

/* Rows of 16 bytes, values of 100. `mob`: FILE_INFO says that the file belongs to MOB. */
static petal_slice
write_file(struct memory_sink *memory, size_t cells, enum petal_hfile_encoding encoding, bool mob)
{
    const petal_hfile_write_options options = {.codec = PETAL_HFILE_CODEC_LZ4,
                                               .encoding = encoding,
                                               .block_bytes = BLOCK_BYTES,
                                               .index_block_bytes = 4096};
    petal_hfile_sink sink = memory_sink_begin(memory);
    petal_hfile_writer *writer;
    uint64_t file_bytes;
    petal_error error;

    must(petal_hfile_writer_new(&sink, &options, &writer, &error), &error);
    for (size_t i = 0; i < cells; i++) {
        char row[32], value[101];
        petal_hfile_cell cell = {.family = {"f", 1}, .qualifier = {"q", 1}, .type = PETAL_PUT};

        snprintf(row, sizeof row, "row-%012zu", i);
        snprintf(value, sizeof value, "%0100" PRIu64, (uint64_t)i * 2654435761u);
        cell.row = (petal_slice){row, 16};
        cell.value = (petal_slice){value, 100};
        cell.timestamp = (int64_t)(1000000 + i % 100);
        must(petal_hfile_writer_add(writer, &cell, &error), &error);
    }
    if (mob) {
        must(petal_hfile_writer_info(writer, hfile_text_slice(HFILE_INFO_MOB_CELLS_COUNT),
                                     (petal_slice){"\0\0\0\0\0\0\0\1", 8}, &error),
             &error);
        must(petal_hfile_writer_info(writer, hfile_text_slice(HFILE_INFO_MOB_FILE_REFERENCES),
                                     (petal_slice){"\0\0\0\0", 4}, &error),
             &error);
    }
    must(petal_hfile_writer_finish(writer, &file_bytes, &error), &error);
    petal_hfile_writer_free(writer);
    assert_int_equal(file_bytes, memory->bytes.size);
    return hfile_buffer_slice(&memory->bytes);
}

/* ---- a source that counts ---- */

struct counted {
    petal_slice bytes;
    uint64_t read_bytes, reads;
};

static enum petal_status
counted_read_at(void *context, uint64_t offset, void *buffer, size_t size, petal_error *error)
{
    struct counted *counted = context;

    (void)error;
    assert_true(offset + size <= counted->bytes.size);
    memcpy(buffer, (const uint8_t *)counted->bytes.data + offset, size);
    counted->read_bytes += size;
    counted->reads++;
    return PETAL_OK;
}

static petal_hfile *
open_counted(struct counted *counted, const petal_allocator *allocator)
{
    const petal_hfile_read_options options = {.allocator = allocator};
    petal_hfile_source source = {.context = counted,
                                 .name = "counted",
                                 .size = counted->bytes.size,
                                 .read_at = counted_read_at};
    petal_hfile *file;
    petal_error error;

    must(petal_hfile_open_source(&source, &options, &file, &error), &error);
    return file;
}

/* Allocations and peak of a whole scan. */
static void
scan(petal_hfile *file, struct test_allocator *allocator, size_t cells, uint64_t *calls,
     uint64_t *peak)
{
    petal_hfile_scanner *scanner;
    const petal_hfile_cell *cell;
    petal_error error;
    size_t seen = 0;

    *calls = test_allocator_calls(allocator);
    test_allocator_forget_peak(allocator);
    must(petal_hfile_scanner_new(file, &scanner, &error), &error);
    must(petal_hfile_scanner_first(scanner, &cell, &error), &error);
    for (; cell != NULL; seen++)
        must(petal_hfile_scanner_next(scanner, &cell, &error), &error);
    assert_int_equal(seen, cells);
    *peak = test_allocator_peak_bytes(allocator);
    *calls = test_allocator_calls(allocator) - *calls;
    petal_hfile_scanner_free(scanner);
}

TEST(a_scan_does_not_allocate_by_cells)
{
    static const size_t sizes[] = {50000, 200000};

    for (unsigned encoding = 1; encoding <= 5; encoding++) {
        uint64_t calls[2], peaks[2];

        for (size_t i = 0; i < 2; i++) {
            struct test_allocator allocator;
            struct memory_sink memory;
            struct counted counted = {
                .bytes = write_file(&memory, sizes[i], (enum petal_hfile_encoding)encoding, false)};
            petal_hfile *file;

            test_allocator_init(&allocator);
            file = open_counted(&counted, &allocator.table);
            scan(file, &allocator, sizes[i], &calls[i], &peaks[i]);
            petal_hfile_close(file);
            assert_int_equal(test_allocator_live_bytes(&allocator), 0);
            memory_sink_free(&memory);
        }
        /* The larger file's root may be larger; blocks of a file differ by a few bytes. */
        assert_true(calls[1] <= calls[0] + 4 && calls[1] < 40);
        assert_true(peaks[1] <= peaks[0] + peaks[0] / 4 && peaks[1] < 2u << 20);
        printf("counted: %s: a scan of 200,000 cells takes %" PRIu64 " allocations, %" PRIu64
               " KiB at most\n",
               petal_hfile_encoding_text((enum petal_hfile_encoding)encoding), calls[1],
               peaks[1] >> 10);
    }
}

TEST(opening_and_seeking_read_little)
{
    struct memory_sink memory;
    struct counted counted = {.bytes =
                                  write_file(&memory, 200000, PETAL_HFILE_ENCODING_NONE, false)};
    petal_hfile *file = open_counted(&counted, NULL);
    const petal_hfile_info *info = petal_hfile_info_get(file);
    petal_hfile_scanner *scanner;
    const petal_hfile_cell *cell;
    petal_error error;

    assert_true(info->index_levels >= 2);
    assert_true(counted.read_bytes <= 2 * (info->file_bytes - info->load_on_open_offset));
    must(petal_hfile_scanner_new(file, &scanner, &error), &error);
    for (unsigned i = 0; i < 100; i++) {
        char row[32];

        snprintf(row, sizeof row, "row-%012u", i * 1999);
        counted.reads = counted.read_bytes = 0;
        must(petal_hfile_scanner_seek_row(scanner, (petal_slice){row, 16}, &cell, &error), &error);
        assert_non_null(cell);
        assert_memory_equal(cell->row.data, row, 16);
        /* A data block and one of each level below the root. */
        assert_true(counted.reads <= info->index_levels);
        assert_true(counted.read_bytes <= info->index_levels * (BLOCK_BYTES + 1024u));
    }
    petal_hfile_scanner_free(scanner);
    petal_hfile_close(file);
    memory_sink_free(&memory);
}

TEST(mob_files_are_named)
{
    struct memory_sink memory;
    struct counted counted = {.bytes = write_file(&memory, 10, PETAL_HFILE_ENCODING_NONE, true)};
    petal_hfile *file = open_counted(&counted, NULL);

    assert_true(petal_hfile_info_get(file)->is_mob);
    assert_true(petal_hfile_info_get(file)->has_mob_references);
    petal_hfile_close(file);
    memory_sink_free(&memory);
}
