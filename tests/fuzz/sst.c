/*
 * sst.c -- store files with any damage, or of any bytes, checksums made right again: opened,
 * iterated, asked, verified, within bounds and without leaks.
 *
 * Input: byte 0 below 128: which of the base files, from 120 on the one with a RIBBON filter.  Then
 * groups of 4 bytes: place (u16), new value, and whether the checksums of all blocks are put right
 * (bit 0 of the last group's last byte) or left as they are. So every input reaches after the
 * checksums. From 128 on what follows is the file itself; with 129 its checksums are put right.
 */
#include "bloom/bloom.h"
#include "bloom/hash.h"
#include "sstable/file/facts.h"
#include "sstable/sst_point.h"
#include "sstable/sst_reader.h"
#include "sstable/sst_writer.h"
#include "tests/fuzz/mend.h"
#include "tests/fuzz/target.h"

#include <errno.h>
#include <stdio.h>

#define BASE_FILES  5 /* and one more: */
#define RIBBON_FILE 5
#define FILE_BYTES  (64 << 10)

#define FUZZ_MOST_BYTES 30000

static volatile uint64_t sink;

/* ---- one file in memory; its directory is a handle that nobody looks into ---- */

struct one_file {
    uint8_t bytes[FILE_BYTES];
    size_t size;
};

static int
one_open(void *context, petal_directory *directory, const char *name, unsigned flags,
         petal_file **file)
{
    (void)directory;
    (void)name;
    (void)flags;
    *file = context;
    return 0;
}

static int
one_close(void *context, petal_file *file)
{
    (void)context;
    (void)file;
    return 0;
}

static int
one_read_at(void *context, petal_file *file, uint64_t offset, void *buffer, size_t size,
            size_t *read_bytes)
{
    const struct one_file *one = context;
    size_t left = offset < one->size ? one->size - (size_t)offset : 0;

    (void)file;
    *read_bytes = size < left ? size : left;
    if (*read_bytes > 0)
        memcpy(buffer, one->bytes + offset, *read_bytes);
    return 0;
}

static int
one_write_at(void *context, petal_file *file, uint64_t offset, const void *bytes, size_t size)
{
    struct one_file *one = context;

    (void)file;
    if (offset > FILE_BYTES || size > FILE_BYTES - offset)
        return ENOSPC;
    memcpy(one->bytes + offset, bytes, size);
    one->size = (size_t)offset + size;
    return 0;
}

static int
one_sync(void *context, petal_file *file)
{
    return one_close(context, file);
}

static int
one_size(void *context, petal_file *file, uint64_t *size)
{
    (void)file;
    *size = ((struct one_file *)context)->size;
    return 0;
}

static petal_vfs
one_vfs(struct one_file *one)
{
    return (petal_vfs){.context = one,
                       .open = one_open,
                       .close = one_close,
                       .read_at = one_read_at,
                       .write_at = one_write_at,
                       .sync = one_sync,
                       .size = one_size};
}

/* ---- base files ---- */

static void
must(enum petal_status status)
{
    if (status != PETAL_OK)
        abort();
}

static void
write_base(struct one_file *one, unsigned which)
{
    petal_vfs vfs = one_vfs(one);
    struct env env = {.allocator = &mem_default_allocator, .vfs = &vfs};
    struct directory directory = {.env = &env, .path = ".", .handle = (petal_directory *)&env};
    struct sst_options options = {
        .block_bytes = which < 2 ? 200 : 1000,
        .compression = which % 2 == 0 ? PETAL_COMPRESSION_NONE : PETAL_COMPRESSION_LZ4,
        .bloom = which == RIBBON_FILE ? PETAL_BLOOM_ROW_ROWCOL : (enum petal_bloom_type)(which + 1),
        .bloom_layout = which == RIBBON_FILE ? BLOOM_RIBBON : 0,
        .bloom_prefix_bytes = 7,
        .bloom_error_rate = 0.01,
        .salt = 1,
        .origin = FILE_ORIGIN_MINOR,
        .written_ms = 1000,
        .file_identity = 2};
    struct sst_writer *writer;
    char row[24];

    must(sst_writer_open(&writer, &directory, "./f", &options, NULL));
    for (unsigned i = 0; i < (which == RIBBON_FILE ? 80u : 40u); i++) {
        struct cell cell = {.timestamp = 5, .sequence = i + 1};

        snprintf(row, sizeof row, "row%05u", i);
        cell.row = slice_from_text(row);
        cell.type = PETAL_DELETE_FAMILY;
        if (i % 4 == 0)
            must(sst_writer_add(writer, &cell, NULL));
        cell.qualifier = slice_from_text("column");
        cell.value = slice_from_text("value, value, value");
        cell.type = PETAL_PUT;
        cell.has_ttl = i % 8 == 0;
        cell.ttl_ms = cell.has_ttl ? 1000 : 0;
        must(sst_writer_add(writer, &cell, NULL));
    }
    must(sst_writer_finish(writer, NULL, NULL));
    sst_writer_free(writer);
}

static const struct one_file *
base_file(unsigned which)
{
    static struct one_file files[BASE_FILES + 1];

    if (files[which].size == 0)
        write_base(&files[which], which);
    return &files[which];
}

/* ---- damage ---- */

static void
damage(struct one_file *one, const uint8_t *bytes, size_t size)
{
    bool fix = true;

    for (; size >= 4; bytes += 4, size -= 4) {
        one->bytes[get_le16(bytes) % one->size] = bytes[2];
        fix = (bytes[3] & 1) == 0;
    }
    if (fix)
        mend_store_file(one->bytes, one->size);
}

/* ---- reading ---- */

static void
touch(petal_slice bytes)
{
    for (size_t i = 0; i < bytes.size; i++)
        sink = sink + slice_bytes(bytes)[i];
}

static void
touch_cell(const struct cell *cell)
{
    touch(cell->row);
    touch(cell->qualifier);
    touch(cell->value);
    sink = sink + (cell->has_ttl ? (uint64_t)cell->ttl_ms : 0);
}

/* From the last row to the first, by a few rows that may be there. */
static void
go_back(struct cell_iter *iter)
{
    enum petal_status status = iter->ops->seek_before(iter, NULL, NULL);

    for (unsigned row = 400; status == PETAL_OK && row > 0; row -= 5) {
        char text[16];
        uint8_t buffer[64];
        struct cell_key key;

        if (iter->valid)
            touch_cell(&iter->cell);
        snprintf(text, sizeof text, "row%05u", row);
        cell_key_make(&key, buffer, slice_from_text(text), slice_make(NULL, 0), true, INT64_MAX,
                      UINT64_MAX);
        status = iter->ops->seek_before(iter, &key, NULL);
        if (iter->valid && cell_compare_key(&iter->cell, &key) >= 0)
            abort(); /* who goes back so may never end */
        if (status == PETAL_OK && row % 3 == 0)
            status = iter->ops->seek(iter, &key, NULL);
    }
}

static void
scan(const struct sst_reader *reader, const struct read_context *context, bool lazy)
{
    struct sst_iter iter;
    enum petal_status status;
    unsigned steps = 0;

    sst_iter_init(&iter, reader, context, false, lazy);
    status = iter.iter.ops->seek_first(&iter.iter, NULL);
    while (status == PETAL_OK && iter.iter.valid && steps++ < 1000) {
        touch_cell(&iter.iter.cell);
        status = iter.iter.ops->next(&iter.iter, NULL);
    }
    go_back(&iter.iter);
    iter.iter.ops->close(&iter.iter);
}

static void
get_straight(const struct sst_reader *reader, const struct read_context *context,
             const struct cell_key *key)
{
    struct data_block_column column = {key->row, key->qualifier, UINT64_MAX};
    struct data_block_put put;
    struct data_block_run run;
    petal_slice prefix, rest;

    if (sst_point_find(reader, &column, context, &put) == SST_POINT_FOUND)
        touch(put.value);
    if (sst_point_find_row(reader, key->row, UINT64_MAX, context, &run) != SST_POINT_FOUND)
        return;
    while (data_block_run_next(&run, &put, &prefix, &rest)) {
        touch(prefix);
        touch(rest);
        touch(put.value);
    }
}

static void
get(const struct sst_reader *reader, struct epoch *epoch, const struct read_context *context,
    const char *row, bool family)
{
    uint64_t hash = bloom_hash_row(1, row, strlen(row));
    unsigned slot = epoch_enter(epoch);
    uint8_t buffer[64];
    struct cell_key key;
    struct sst_iter iter;

    cell_key_make(&key, buffer, slice_from_text(row), slice_from_text(family ? "" : "column"),
                  family, INT64_MAX, UINT64_MAX);
    sink = sink + sst_reader_may_contain_row(reader, &key, hash, context);
    sink = sink + sst_reader_may_contain_prefix(reader, key.row, context);
    if (family)
        sink = sink + sst_reader_may_contain_family_marker(
                          reader, &key, bloom_hash_family_marker(hash), READ_SAVES_BLOCK, context);
    else
        sink =
            sink + sst_reader_may_contain_column(reader, &key, bloom_hash_column(hash, "column", 6),
                                                 READ_SAVES_BLOCK, context);
    sst_iter_init(&iter, reader, context, true, false);
    if (iter.iter.ops->seek(&iter.iter, &key, NULL) == PETAL_OK && iter.iter.valid)
        touch_cell(&iter.iter.cell);
    iter.iter.ops->close(&iter.iter);
    get_straight(reader, context, &key);
    epoch_leave(epoch, slot);
}

static void
read_all(struct one_file *one, struct epoch *epoch, struct cache *cache)
{
    petal_vfs vfs = one_vfs(one);
    struct env env = {.allocator = &mem_default_allocator, .vfs = &vfs};
    struct directory directory = {.env = &env, .path = ".", .handle = (petal_directory *)&env};
    struct sst_open_options options = {.file_number = 1, .cache = cache, .epoch = epoch};
    struct read_trace trace = {0};
    struct read_context context = {.trace = &trace};
    struct sst_reader *reader;
    petal_error error;

    if (sst_reader_open(&reader, &directory, "./f", &options, &error) != PETAL_OK)
        return;
    scan(reader, &context, false);
    scan(reader, &context, true);
    get(reader, epoch, &context, "row00000", true);
    get(reader, epoch, &context, "row00017", false);
    get(reader, epoch, &context, "row000391", false);
    sink = sink + facts_may_have_qualifier(sst_reader_facts(reader), slice_from_text("column"));
    sink = sink + (uint64_t)sst_reader_verify(reader, NULL, &error);
    sst_reader_close(reader);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct one_file one;
    struct epoch *epoch;
    struct cache *cache;

    if (size < 1)
        return 0;
    if (bytes[0] < 128) {
        one = *base_file(bytes[0] >= 120 ? RIBBON_FILE : bytes[0] % BASE_FILES);
        damage(&one, bytes + 1, size - 1);
    } else {
        one.size = size - 1 < FILE_BYTES ? size - 1 : FILE_BYTES;
        memcpy(one.bytes, bytes + 1, one.size);
        if (bytes[0] == 129)
            mend_store_file(one.bytes, one.size);
    }
    epoch = mem_alloc_aligned(&mem_default_allocator, CACHE_LINE_BYTES, sizeof *epoch);
    if (epoch == NULL)
        return 0;
    must(epoch_init(epoch));
    must(cache_open(&cache, &mem_default_allocator, epoch, 256 << 10, 1));
    read_all(&one, epoch, cache);
    cache_close(cache);
    epoch_fini(epoch);
    mem_free(&mem_default_allocator, epoch, sizeof *epoch);
    return 0;
}
