/* read_only_fixture.c -- see tests/engine/db/read_only_fixture.h. */
#include "tests/engine/db/read_only_fixture.h"

#include "tests/disk/paths.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdio.h>
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
    assert_int_equal(vfs_remove(fixture->env.vfs, FIXTURE_DIRECTORY "/READERS"), 0);
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

/* File layers have the context of the one below. */
static const petal_vfs *below_seal;
unsigned read_only_refused;

static int
sealed_open(void *context, petal_directory *directory, const char *name, unsigned flags,
            petal_file **file)
{
    *file = NULL;
    if (flags == PETAL_FILE_READ)
        return below_seal->open(context, directory, name, flags, file);
    read_only_refused += strcmp(name, "READERS") != 0; /* readers try */
    return EROFS;
}

static int
sealed_open_directory(void *context, const char *path, bool create, petal_directory **directory)
{
    *directory = NULL;
    if (!create)
        return below_seal->open_directory(context, path, false, directory);
    read_only_refused++;
    return EROFS;
}

static int
refuse_file(void *context, petal_file *file)
{
    (void)context;
    (void)file;
    read_only_refused++;
    return EROFS;
}

static int
refuse_directory(void *context, petal_directory *directory)
{
    (void)directory;
    return refuse_file(context, NULL);
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
read_only_seal(petal_vfs *sealed, struct fixture *fixture)
{
    below_seal = memory_vfs_table(fixture->vfs);
    read_only_refused = 0;
    *sealed = *below_seal;
    sealed->open = sealed_open;
    sealed->write_at = refuse_bytes;
    sealed->log_store = refuse_bytes;
    sealed->sync = refuse_file;
    sealed->open_directory = sealed_open_directory;
    sealed->sync_directory = refuse_directory;
    sealed->sync_parent = refuse_directory;
    sealed->rename = refuse_rename;
    sealed->link = refuse_link;
    sealed->remove = refuse_name;
    fixture->env.vfs = sealed;
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
