/* read_only_fixture.c -- see tests/engine/db/read_only_fixture.h. */
#include "tests/engine/db/read_only_fixture.h"

#include "tests/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a database that died ---- */

void
read_only_begin(struct fixture *fixture)
{
    struct ledger ledger = {.filler = READ_ONLY_FILLER};

    fixture_init(fixture, 7);
    fixture->options.memtable_bytes = (size_t)4 << 20;
    fixture_must_open(fixture);
    MUST(ledger_create(&ledger, fixture->db, WHY));
    for (uint64_t number = 1; number <= READ_ONLY_WRITES; number++) {
        test_clock_advance(&fixture->clock, 1);
        MUST(ledger_write(&ledger, number, PETAL_DURABILITY_DEFAULT, WHY));
        if (number % 20 == 0 && number <= READ_ONLY_WRITES / 2)
            MUST(petal_flush(fixture->db, NULL, WHY));
    }
    fixture_die(fixture);
    fixture->options.memtable_bytes = (size_t)64 << 10;
}

void
read_only_choose(struct fixture *fixture, bool read_only)
{
    fixture->options.read_only = read_only;
    fixture->options.create = !read_only;
}

void
read_only_open(struct fixture *fixture)
{
    read_only_choose(fixture, true);
    fixture_must_open(fixture);
}

/* ---- what is on the disk ---- */

static void
hash_name(void *argument, const char *name)
{
    struct read_only_image *image = argument;
    char *path = test_path(FIXTURE_DIRECTORY, name);
    uint8_t *bytes;
    size_t size;
    uint64_t hash = 14695981039346656037u;

    assert_int_equal(memory_vfs_read_file(image->vfs, path, &bytes, &size), 0);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    for (const char *at = name; *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * 1099511628211u;
    image->hash += hash;
    image->files++;
    free(bytes);
    free(path);
}

struct read_only_image
read_only_image(struct fixture *fixture)
{
    struct read_only_image image = {.vfs = fixture->vfs};

    assert_int_equal(memory_vfs_list(fixture->vfs, FIXTURE_DIRECTORY, hash_name, &image), 0);
    return image;
}

void
read_only_expect_unchanged(struct fixture *fixture, const struct read_only_image *before)
{
    struct read_only_image now = read_only_image(fixture);

    assert_int_equal(now.files, before->files);
    assert_true(now.hash == before->hash);
}

void
read_only_expect_reads(struct fixture *fixture)
{
    size_t count = memory_vfs_trace_count(fixture->vfs);

    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        struct memory_vfs_call call = memory_vfs_trace_at(fixture->vfs, i);
        bool reads = call.operation == MEMORY_VFS_OPEN_DIRECTORY ||
                     call.operation == MEMORY_VFS_OPEN || call.operation == MEMORY_VFS_CLOSE ||
                     call.operation == MEMORY_VFS_READ || call.operation == MEMORY_VFS_SIZE ||
                     call.operation == MEMORY_VFS_LOCK ||
                     call.operation == MEMORY_VFS_LIST_DIRECTORY;

        if (!reads)
            memory_vfs_trace_print(fixture->vfs, stderr);
        assert_true(reads);
    }
}

static int
sealed_open(void *context, petal_directory *directory, const char *name, unsigned flags,
            petal_file **file)
{
    struct read_only_seal *sealed = context;

    *file = NULL;
    if (flags == PETAL_FILE_READ)
        return sealed->below->open(sealed->below->context, directory, name, flags, file);
    sealed->refused++;
    return EROFS;
}

static int
sealed_close(void *context, petal_file *file)
{
    struct read_only_seal *sealed = context;

    return sealed->below->close(sealed->below->context, file);
}

static int
sealed_read_at(void *context, petal_file *file, uint64_t offset, void *buffer, size_t size,
               size_t *read_bytes)
{
    struct read_only_seal *sealed = context;

    return sealed->below->read_at(sealed->below->context, file, offset, buffer, size, read_bytes);
}

int
read_only_sealed_size(void *context, petal_file *file, uint64_t *size)
{
    struct read_only_seal *sealed = context;

    return sealed->below->size(sealed->below->context, file, size);
}

static int
sealed_lock(void *context, petal_file *file, bool shared)
{
    struct read_only_seal *sealed = context;

    return sealed->below->lock(sealed->below->context, file, shared);
}

static int
sealed_open_directory(void *context, const char *path, bool create, petal_directory **directory)
{
    struct read_only_seal *sealed = context;

    *directory = NULL;
    if (!create)
        return sealed->below->open_directory(sealed->below->context, path, false, directory);
    sealed->refused++;
    return EROFS;
}

static void
sealed_close_directory(void *context, petal_directory *directory)
{
    struct read_only_seal *sealed = context;

    sealed->below->close_directory(sealed->below->context, directory);
}

static int
sealed_list(void *context, petal_directory *directory,
            void (*visit)(void *argument, const char *name), void *argument)
{
    struct read_only_seal *sealed = context;

    return sealed->below->list_directory(sealed->below->context, directory, visit, argument);
}

static int
refuse_file(void *context, petal_file *file)
{
    (void)file;
    ((struct read_only_seal *)context)->refused++;
    return EROFS;
}

static int
refuse_directory(void *context, petal_directory *directory)
{
    (void)directory;
    ((struct read_only_seal *)context)->refused++;
    return EROFS;
}

static int
refuse_name(void *context, petal_directory *directory, const char *name)
{
    (void)name;
    return refuse_directory(context, directory);
}

static int
refuse_rename(void *context, petal_directory *directory, const char *from, const char *to)
{
    (void)to;
    return refuse_name(context, directory, from);
}

static int
refuse_link(void *context, petal_directory *from_directory, const char *from,
            petal_directory *to_directory, const char *to)
{
    (void)to_directory;
    return refuse_rename(context, from_directory, from, to);
}

static int
refuse_bytes(void *context, petal_file *file, uint64_t offset, const void *bytes, size_t size)
{
    (void)offset;
    (void)bytes;
    (void)size;
    return refuse_file(context, file);
}

void
read_only_seal(struct read_only_seal *sealed, struct fixture *fixture)
{
    *sealed = (struct read_only_seal){.below = memory_vfs_table(fixture->vfs)};
    sealed->table = (petal_vfs){.context = sealed,
                                .open = sealed_open,
                                .close = sealed_close,
                                .read_at = sealed_read_at,
                                .write_at = refuse_bytes,
                                .log_store = refuse_bytes,
                                .sync = refuse_file,
                                .size = read_only_sealed_size,
                                .lock = sealed_lock,
                                .open_directory = sealed_open_directory,
                                .close_directory = sealed_close_directory,
                                .sync_directory = refuse_directory,
                                .sync_parent = refuse_directory,
                                .list_directory = sealed_list,
                                .rename = refuse_rename,
                                .link = refuse_link,
                                .remove = refuse_name};
    fixture->env.vfs = &sealed->table;
}

/* ---- reading ---- */

static bool
count_one(void *argument, const petal_file_info *file)
{
    (void)file;
    ++*(size_t *)argument;
    return true;
}

void
read_only_read_everything(struct fixture *fixture)
{
    struct ledger ledger = {.filler = READ_ONLY_FILLER};
    petal_scan_options scan = {.reversed = true};
    petal_table_options described = {.size = sizeof described};
    const petal_cell *cell;
    petal_snapshot *snapshot;
    petal_receipt *receipt;
    petal_cursor *cursor;
    petal_stats stats;
    size_t files = 0, cells = 0;

    assert_int_equal(ledger_must_find(&ledger, fixture->db), READ_ONLY_WRITES);
    MUST(petal_snapshot_new(fixture->db, &snapshot, WHY));
    MUST(petal_receipt_new(fixture->db, &receipt, WHY));
    scan.read.snapshot = snapshot;
    scan.read.receipt = receipt;
    MUST(petal_cursor_open(ledger.tables[0], &scan, &cursor, WHY));
    do {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        cells += cell != NULL;
    } while (cell != NULL);
    petal_cursor_close(cursor);
    assert_true(cells > 0);
    petal_receipt_free(receipt);
    petal_snapshot_free(snapshot);
    MUST(petal_table_files(ledger.tables[0], count_one, &files, WHY));
    assert_true(files > 0);
    assert_true(petal_table_memtable_bytes(ledger.tables[0]) > 0);
    petal_table_describe(ledger.tables[0], &described);
    assert_int_equal(described.family_count, LEDGER_FAMILIES);
    petal_stats_get(fixture->db, &stats);
    assert_true(stats.read_only);
    assert_true(stats.gets > 0);
}
