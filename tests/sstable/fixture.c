/* fixture.c -- see tests/sstable/fixture.h. */
#include "tests/sstable/fixture.h"
#include "tests/disk/paths.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "bloom/hash.h"
#include "sstable/block/block_io.h"
#include "sstable/file/trailer.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdlib.h>

/* ---- cells ---- */

static petal_slice
copy_slice(petal_slice slice)
{
    uint8_t *bytes = test_allocate(slice.size);

    if (slice.size > 0)
        memcpy(bytes, slice.data, slice.size);
    return slice_make(bytes, slice.size);
}

static void
free_slice(petal_slice slice)
{
    free((void *)(uintptr_t)slice.data);
}

void
cell_list_fini(struct cell_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free_slice(list->cells[i].row);
        free_slice(list->cells[i].qualifier);
        free_slice(list->cells[i].value);
    }
    free(list->cells);
    *list = (struct cell_list){0};
}

void
cell_list_add(struct cell_list *list, petal_slice row, petal_slice qualifier, int64_t timestamp,
              uint64_t sequence, enum petal_cell_type type, petal_slice value)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        list->cells = test_reallocate(list->cells, list->capacity * sizeof *list->cells);
    }
    list->cells[list->count++] = (struct cell){.row = copy_slice(row),
                                               .qualifier = copy_slice(qualifier),
                                               .value = copy_slice(value),
                                               .timestamp = timestamp,
                                               .sequence = sequence,
                                               .type = type};
}

void
cell_list_give_ttl(struct cell_list *list, int64_t ttl_ms)
{
    list->cells[list->count - 1].has_ttl = true;
    list->cells[list->count - 1].ttl_ms = ttl_ms;
}

void
cell_list_put(struct cell_list *list, const char *row, const char *qualifier, int64_t timestamp,
              uint64_t sequence, const char *value)
{
    cell_list_add(list, slice_from_text(row), slice_from_text(qualifier), timestamp, sequence,
                  PETAL_PUT, slice_from_text(value));
}

static int
compare_cells(const void *a, const void *b)
{
    return cell_compare(a, b);
}

void
cell_list_sort(struct cell_list *list)
{
    if (list->count > 0)
        qsort(list->cells, list->count, sizeof *list->cells, compare_cells);
}

/* One of `distinct` keys: the same number gives the same key; neighbours share prefixes. */
static petal_slice
random_key(struct test_random *random, unsigned distinct, unsigned max_bytes, uint8_t *buffer)
{
    static const uint8_t letters[] = {'a', 'b', 0x00, 0xff, 0x80, 'z'};
    struct test_random own;
    size_t size;

    test_random_init(&own, test_random_below(random, distinct) * 31 + max_bytes);
    size = 1 + (size_t)test_random_below(&own, max_bytes);
    for (size_t i = 0; i < size; i++)
        buffer[i] = i < size / 2 ? 'k' : letters[test_random_below(&own, sizeof letters)];
    return slice_make(buffer, size);
}

void
cell_list_random(struct cell_list *list, const struct cell_shape *shape, struct test_random *random)
{
    static const enum petal_cell_type markers[] = {
        PETAL_DELETE, PETAL_DELETE_COLUMN, PETAL_DELETE_FAMILY, PETAL_DELETE_FAMILY_VERSION};
    uint8_t row[256], qualifier[256];
    uint8_t *value = test_allocate(shape->value_bytes);

    test_random_bytes(random, value, shape->value_bytes / 2);
    memset(value + shape->value_bytes / 2, 'v', shape->value_bytes - shape->value_bytes / 2);
    for (size_t i = 0; i < shape->cells; i++) {
        bool marker = test_random_chance(random, shape->marker_percent);
        enum petal_cell_type type = marker ? markers[test_random_below(random, 4)] : PETAL_PUT;
        petal_slice r = random_key(random, shape->rows, shape->row_bytes, row);
        petal_slice q = random_key(random, shape->qualifiers, 12, qualifier);
        size_t size = marker ? 0 : (size_t)test_random_below(random, shape->value_bytes + 1);
        size_t from = (size_t)test_random_below(random, shape->value_bytes + 1 - size);

        if (cell_is_family_marker(type) || test_random_chance(random, 10))
            q.size = 0;
        cell_list_add(list, r, q, (int64_t)test_random_below(random, 5) + 1000, i + 1, type,
                      slice_make(value + from, size));
        if (shape->ttl_percent > 0 && test_random_chance(random, shape->ttl_percent))
            cell_list_give_ttl(list, (int64_t)test_random_below(random, 4000) - 1000);
    }
    free(value);
    cell_list_sort(list);
}

void
cell_list_random_within(struct cell_list *list, const struct cell_shape *most,
                        struct test_random *random)
{
    struct cell_shape shape = *most;

    shape.cells = 1 + (size_t)test_random_below(random, most->cells);
    shape.rows = 1 + (unsigned)test_random_below(random, most->rows);
    shape.qualifiers = 1 + (unsigned)test_random_below(random, most->qualifiers);
    shape.row_bytes = 1 + (unsigned)test_random_below(random, most->row_bytes);
    shape.value_bytes = (unsigned)test_random_below(random, most->value_bytes);
    cell_list_random(list, &shape, random);
}

void
cell_list_random_rows(struct cell_list *list, unsigned rows, size_t row_bytes)
{
    struct test_random random;
    char row[512];

    assert_true(row_bytes <= sizeof row);
    test_random_init(&random, test_seed());
    for (unsigned i = 0; i < rows; i++) {
        for (size_t k = 0; k < row_bytes; k++)
            row[k] = (char)('a' + test_random_below(&random, 26));
        cell_list_add(list, slice_make(row, row_bytes), slice_from_text("q"), 1, i + 1, PETAL_PUT,
                      slice_from_text("value"));
    }
    cell_list_sort(list);
}

void
cell_list_random_values(struct cell_list *list, unsigned rows, size_t value_bytes)
{
    struct test_random random;
    uint8_t *value = test_allocate(value_bytes);
    char row[16];

    test_random_init(&random, test_seed());
    for (unsigned i = 0; i < rows; i++) {
        snprintf(row, sizeof row, "row%06u", i);
        test_random_bytes(&random, value, value_bytes);
        cell_list_add(list, slice_from_text(row), slice_from_text("q"), 1, i + 1, PETAL_PUT,
                      slice_make(value, value_bytes));
    }
    free(value);
}

size_t
cell_list_seek(const struct cell_list *list, const struct cell_key *key)
{
    size_t low = 0;
    size_t high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (cell_compare_key(&list->cells[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool
same_cell(const struct cell *a, const struct cell *b)
{
    return slice_equal(a->row, b->row) && slice_equal(a->qualifier, b->qualifier) &&
           slice_equal(a->value, b->value) && a->timestamp == b->timestamp &&
           a->sequence == b->sequence && a->type == b->type && a->has_ttl == b->has_ttl &&
           a->ttl_ms == b->ttl_ms;
}

/* ---- surroundings ---- */

struct sst_fixture *
sst_fixture_new(size_t cache_bytes)
{
    struct sst_fixture *f = test_allocate(sizeof *f);
    petal_env given;

    test_allocator_init(&f->allocator);
    f->vfs = memory_vfs_new();
    given = (petal_env){
        .size = sizeof given, .allocator = &f->allocator.table, .vfs = memory_vfs_table(f->vfs)};
    env_init(&f->env, &given);
    assert_int_equal(directory_open(&f->directory, &f->env, SST_DIRECTORY, false), 0);
    f->epoch = mem_alloc_aligned(&mem_default_allocator, CACHE_LINE_BYTES, sizeof *f->epoch);
    assert_non_null(f->epoch);
    assert_int_equal(epoch_init(f->epoch), PETAL_OK);
    assert_int_equal(cache_open(&f->cache, &f->allocator.table, f->epoch, cache_bytes, 0),
                     PETAL_OK);
    f->map = false;
    f->next_file_number = 1;
    f->trace = (struct read_trace){0};
    f->list = (struct cell_list){0};
    f->context = (struct read_context){.trace = &f->trace};
    return f;
}

void
sst_fixture_free(struct sst_fixture *f)
{
    cell_list_fini(&f->list);
    directory_close(&f->directory);
    cache_close(f->cache);
    epoch_fini(f->epoch);
    mem_free(&mem_default_allocator, f->epoch, sizeof *f->epoch);
    assert_int_equal(test_allocator_live_blocks(&f->allocator), 0);
    assert_int_equal(test_allocator_live_bytes(&f->allocator), 0);
    assert_int_equal(memory_vfs_open_files(f->vfs), 0);
    memory_vfs_free(f->vfs);
    free(f);
}

void
sst_fixture_end(struct sst_fixture *f, struct sst_reader *reader)
{
    sst_reader_close(reader);
    sst_fixture_free(f);
}

struct sst_options
sst_test_options(void)
{
    return (struct sst_options){.block_bytes = 4096,
                                .compression = PETAL_COMPRESSION_LZ4,
                                .bloom = PETAL_BLOOM_ROW,
                                .bloom_error_rate = 0.01,
                                .salt = TEST_SALT,
                                .file_identity = TEST_IDENTITY};
}

enum petal_status
sst_fixture_try_write(struct sst_fixture *f, const struct sst_options *options,
                      const struct cell_list *list, petal_error *error)
{
    struct sst_writer *writer;
    enum petal_status status = sst_writer_open(&writer, &f->directory, SST_PATH, options, error);

    for (size_t i = 0; status == PETAL_OK && i < list->count; i++)
        status = sst_writer_add(writer, &list->cells[i], error);
    if (status == PETAL_OK)
        status = sst_writer_finish(writer, NULL, error);
    sst_writer_free(writer);
    return status;
}

void
sst_fixture_write(struct sst_fixture *f, const struct sst_options *options,
                  const struct cell_list *list)
{
    petal_error error = {0};
    const petal_vfs *vfs = f->env.vfs;

    if (memory_vfs_exists(f->vfs, SST_PATH))
        assert_int_equal(vfs_remove(vfs, SST_PATH), 0);
    if (sst_fixture_try_write(f, options, list, &error) != PETAL_OK)
        fail_msg("%s", error.text);
}

enum petal_status
sst_fixture_try_open(struct sst_fixture *f, struct sst_reader **reader, petal_error *error)
{
    struct sst_open_options options = {.file_number = f->next_file_number++,
                                       .file_identity = TEST_IDENTITY,
                                       .cache = f->cache,
                                       .epoch = f->epoch,
                                       .map = f->map};

    return sst_reader_open(reader, &f->directory, SST_PATH, &options, error);
}

struct sst_reader *
sst_fixture_open(struct sst_fixture *f)
{
    struct sst_reader *reader;
    petal_error error = {0};

    if (sst_fixture_try_open(f, &reader, &error) != PETAL_OK)
        fail_msg("%s", error.text);
    return reader;
}

uint8_t *
sst_fixture_bytes(struct sst_fixture *f, size_t *size)
{
    uint8_t *bytes;

    assert_int_equal(memory_vfs_read_file(f->vfs, SST_PATH, &bytes, size), 0);
    return bytes;
}

void
sst_fixture_set_bytes(struct sst_fixture *f, const uint8_t *bytes, size_t size)
{
    assert_int_equal(memory_vfs_write_file(f->vfs, SST_PATH, bytes, size), 0);
}

void
sst_fix_checksum(uint8_t *bytes, uint64_t offset, uint64_t identity)
{
    size_t size = BLOCK_FRAME_BYTES + get_le32(bytes + offset + 12);

    put_le64(bytes + offset, checksum_at(identity, offset, bytes + offset + 8, size - 8));
}

void
sst_change_facts(struct sst_fixture *f, size_t at, uint8_t value)
{
    size_t size;
    uint8_t *bytes = sst_fixture_bytes(f, &size);
    uint64_t facts = get_le64(bytes + size - TRAILER_BYTES + 24);

    bytes[facts + BLOCK_FRAME_BYTES + at] = value;
    sst_fix_checksum(bytes, facts, TEST_IDENTITY);
    sst_fixture_set_bytes(f, bytes, size);
    free(bytes);
}

/* ---- a small file ---- */

struct sst_options
sst_small_options(enum petal_compression compression)
{
    struct sst_options options = sst_test_options();

    options.block_bytes = 256;
    options.compression = compression;
    options.bloom = PETAL_BLOOM_ROW_ROWCOL;
    return options;
}

void
sst_small_cells(struct cell_list *list)
{
    petal_slice nothing = slice_make("", 0);
    char row[16];

    for (unsigned i = 0; i < 24; i++) {
        snprintf(row, sizeof row, "row%04u", i);
        cell_list_put(list, row, "first", 100 + i, 10 * i + 1, "some value, some value");
        cell_list_put(list, row, "second", 100 + i, 10 * i + 2, "another");
        if (i % 5 == 0)
            cell_list_add(list, slice_from_text(row), nothing, 90, 10 * i + 3, PETAL_DELETE_FAMILY,
                          nothing);
        if (i % 7 == 0)
            cell_list_add(list, slice_from_text(row), slice_from_text("third"), 90, 10 * i + 4,
                          PETAL_DELETE_COLUMN, nothing);
    }
    cell_list_sort(list);
}

size_t
sst_frame_bytes(const uint8_t *bytes, size_t offset)
{
    return BLOCK_FRAME_BYTES + get_le32(bytes + offset + 12);
}

/* ---- questions ---- */

enum question { ASK_ROW, ASK_COLUMN, ASK_FAMILY };

static bool
ask(struct sst_fixture *f, const struct sst_reader *reader, petal_slice row, petal_slice qualifier,
    enum question question)
{
    uint8_t *buffer = test_allocate(cell_key_bound(row.size, qualifier.size));
    uint64_t salt = sst_reader_facts(reader)->salt;
    uint64_t hash = bloom_hash_row(salt, row.data, row.size);
    unsigned slot = epoch_enter(f->epoch);
    struct cell_key key;
    bool answer = true;

    cell_key_make(&key, buffer, row, qualifier, question == ASK_FAMILY, INT64_MAX, UINT64_MAX);
    switch (question) {
    case ASK_ROW:
        answer = sst_reader_may_contain_row(reader, &key, hash, &f->context);
        break;
    case ASK_COLUMN:
        answer = sst_reader_may_contain_column(
            reader, &key, bloom_hash_column(hash, qualifier.data, qualifier.size), READ_SAVES_BLOCK,
            &f->context);
        break;
    case ASK_FAMILY:
        answer = sst_reader_may_contain_family_marker(reader, &key, bloom_hash_family_marker(hash),
                                                      READ_SAVES_BLOCK, &f->context);
        break;
    }
    epoch_leave(f->epoch, slot);
    free(buffer);
    return answer;
}

bool
sst_ask_row(struct sst_fixture *f, const struct sst_reader *reader, petal_slice row)
{
    return ask(f, reader, row, slice_make("", 0), ASK_ROW);
}

bool
sst_ask_column(struct sst_fixture *f, const struct sst_reader *reader, petal_slice row,
               petal_slice qualifier)
{
    return ask(f, reader, row, qualifier, ASK_COLUMN);
}

bool
sst_ask_family_marker(struct sst_fixture *f, const struct sst_reader *reader, petal_slice row)
{
    return ask(f, reader, row, slice_make("", 0), ASK_FAMILY);
}

bool
sst_ask_prefix(struct sst_fixture *f, const struct sst_reader *reader, petal_slice beginning)
{
    unsigned slot = epoch_enter(f->epoch);
    bool answer = sst_reader_may_contain_prefix(reader, beginning, &f->context);

    epoch_leave(f->epoch, slot);
    return answer;
}

void
sst_expect_in_filter(struct sst_fixture *f, const struct sst_reader *reader,
                     const struct cell *cell)
{
    assert_true(sst_ask_row(f, reader, cell->row));
    assert_true(sst_ask_prefix(f, reader, cell->row));
    if (cell_is_family_marker(cell->type))
        assert_true(sst_ask_family_marker(f, reader, cell->row));
    else
        assert_true(sst_ask_column(f, reader, cell->row, cell->qualifier));
}

/* ---- comparison ---- */

/* Compare what the iterator gives from here on with the model from `at` on, `limit` cells at
 * most. */
static enum petal_status
compare_run(struct cell_iter *iter, enum petal_status status, const struct cell_list *list,
            size_t at, size_t limit)
{
    for (size_t n = 0; status == PETAL_OK && n < limit; n++) {
        assert_int_equal(iter->valid, at < list->count);
        if (!iter->valid)
            break;
        if (iter->pending) {
            assert_int_equal(cell_compare(&iter->cell, &list->cells[at]), 0);
            status = iter->ops->load(iter, NULL);
            if (status != PETAL_OK)
                break;
        }
        assert_false(iter->pending);
        assert_true(same_cell(&iter->cell, &list->cells[at]));
        at++;
        status = iter->ops->next(iter, NULL);
    }
    if (status != PETAL_OK)
        assert_false(iter->valid);
    return status;
}

static enum petal_status
compare_scan(struct sst_fixture *f, const struct sst_reader *reader, const struct cell_list *list,
             bool borrow, bool lazy)
{
    struct sst_iter iter;
    enum petal_status status;
    unsigned slot = borrow ? epoch_enter(f->epoch) : 0;

    sst_iter_init(&iter, reader, &f->context, borrow, lazy);
    status = iter.iter.ops->seek_first(&iter.iter, NULL);
    status = compare_run(&iter.iter, status, list, 0, SIZE_MAX);
    iter.iter.ops->close(&iter.iter);
    if (borrow)
        epoch_leave(f->epoch, slot);
    return status;
}

/* As a point get does it: the filter first, then a seek to the row's or column's place. */
static enum petal_status
compare_get(struct sst_fixture *f, const struct sst_reader *reader, const struct cell_list *list,
            size_t index)
{
    const struct cell *cell = &list->cells[index];
    uint8_t *buffer = test_allocate(cell_key_bound(cell->row.size, cell->qualifier.size));
    struct cell_key key;
    struct sst_iter iter;
    enum petal_status status;
    unsigned slot;

    sst_expect_in_filter(f, reader, cell);
    cell_key_make(&key, buffer, cell->row, cell->qualifier, cell_is_family_marker(cell->type),
                  cell->timestamp, cell->sequence);
    slot = epoch_enter(f->epoch);
    sst_iter_init(&iter, reader, &f->context, true, false);
    status = iter.iter.ops->seek(&iter.iter, &key, NULL);
    status = compare_run(&iter.iter, status, list, index, 2);
    iter.iter.ops->close(&iter.iter);
    epoch_leave(f->epoch, slot);
    free(buffer);
    return status;
}

static enum petal_status
worse(enum petal_status a, enum petal_status b)
{
    return a != PETAL_OK ? a : b;
}

enum petal_status
sst_compare(struct sst_fixture *f, const struct sst_reader *reader, const struct cell_list *list)
{
    enum petal_status status = compare_scan(f, reader, list, false, false);

    status = worse(status, compare_scan(f, reader, list, false, true));
    status = worse(status, compare_scan(f, reader, list, true, false));
    status = worse(status, compare_scan(f, reader, list, true, true));
    for (size_t i = 0; i < list->count; i++)
        status = worse(status, compare_get(f, reader, list, i));
    return status;
}

enum petal_status
sst_read_all(struct sst_fixture *f, const struct cell_list *list, petal_error *error)
{
    struct sst_reader *reader;
    enum petal_status status = sst_fixture_try_open(f, &reader, error);

    if (status != PETAL_OK)
        return status;
    status = sst_compare(f, reader, list);
    sst_reader_close(reader);
    return status;
}

void
sst_expect_found(struct sst_fixture *f, const struct sst_reader *reader, const struct cell *cell)
{
    struct sst_iter iter;
    struct cell_key key;
    uint8_t buffer[512];

    cell_key_of(&key, buffer, cell);
    sst_iter_init(&iter, reader, &f->context, false, false);
    assert_int_equal(iter.iter.ops->seek(&iter.iter, &key, NULL), PETAL_OK);
    assert_true(same_cell(&iter.iter.cell, cell));
    iter.iter.ops->close(&iter.iter);
}

/* ---- reads that fail ---- */

struct sst_bad_disk sst_bad_disk;

static int
read_bad(void *context, petal_file *file, uint64_t offset, void *buffer, size_t size,
         size_t *read_bytes)
{
    struct sst_bad_disk *disk = &sst_bad_disk;
    bool is_long = disk->most > 0 && size > disk->most;
    bool touches = offset < disk->bad_end && offset + size > disk->bad_begin;

    disk->hurt += is_long || touches;
    *read_bytes = 0;
    if (touches || (is_long && disk->refuses))
        return EIO;
    return disk->below->read_at(context, file, offset, buffer, is_long ? disk->most : size,
                                read_bytes);
}

void
sst_bad_disk_begin(struct sst_fixture *f)
{
    sst_bad_disk = (struct sst_bad_disk){.table = *f->env.vfs, .below = f->env.vfs};
    sst_bad_disk.table.read_at = read_bad;
    f->env.vfs = &sst_bad_disk.table;
}
