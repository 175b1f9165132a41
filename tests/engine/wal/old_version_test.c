/*
 * old_version_test.c -- a database whose log is of version 2, kept as the death of its process left
 * it, opens with all that was written, and with the same promises.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/wal/file_format.h"
#include "tests/disk/paths.h"
#include "tests/engine/read/fixture.h"

#include <stdio.h>
#include <stdlib.h>

#define KEPT "tests/engine/wal/golden/v2-database/"
#define LOG  FIXTURE_DIRECTORY "/000001.log"

/* What the process had written; "batch" in families f and g by turns. */
static const char all_cells[] = "row1/f:q@1700000000005=second row1/f:q@1700000000000=first "
                                "row2/f:synced@1700000000005=yes row2/f:ttl@1700000000005=mortal "
                                "row3/f:c02@1700000000005=batch row3/f:c04@1700000000005=batch "
                                "row3/f:c06@1700000000005=batch row3/f:c08@1700000000005=batch "
                                "row3/f:c10@1700000000005=batch row3/f:c12@1700000000005=batch "
                                "row3/f:c14@1700000000005=batch row3/f:c16@1700000000005=batch "
                                "row3/f:c18@1700000000005=batch "
                                "row3/g:c01@1700000000005=batch row3/g:c03@1700000000005=batch "
                                "row3/g:c05@1700000000005=batch row3/g:c07@1700000000005=batch "
                                "row3/g:c09@1700000000005=batch row3/g:c11@1700000000005=batch "
                                "row3/g:c13@1700000000005=batch row3/g:c15@1700000000005=batch "
                                "row3/g:c17@1700000000005=batch row3/g:c19@1700000000005=batch "
                                "row4/f:last@1700000000005=end ";

static uint8_t *
read_kept(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = test_allocate(4096);

    assert_non_null(file);
    *size = fread(bytes, 1, 4096, file);
    fclose(file);
    assert_in_range(*size, 1, 4095);
    return bytes;
}

/* With byte `flipped` of the log wrong, if it is not 0. */
static void
put_files(struct read_fixture *fixture, size_t flipped)
{
    size_t size;
    uint8_t *manifest = read_kept(KEPT "MANIFEST", &size), *log;

    fixture_init(&fixture->base, 7);
    test_clock_advance(&fixture->base.clock, 1700000001000);
    assert_int_equal(vfs_make_directory(fixture->base.env.vfs, FIXTURE_DIRECTORY), 0);
    assert_int_equal(
        memory_vfs_write_file(fixture->base.vfs, FIXTURE_DIRECTORY "/MANIFEST", manifest, size), 0);
    log = read_kept(KEPT "000001.log", &size);
    assert_int_equal(get_le32(log + 8), 2);
    if (flipped > 0)
        log[flipped] ^= 1;
    assert_int_equal(memory_vfs_write_file(fixture->base.vfs, LOG, log, size), 0);
    free(log);
    free(manifest);
}

static const char *
scan_all(struct read_fixture *fixture)
{
    petal_scan_options options = {.read = {.versions = 3}};
    petal_error error;

    must(petal_table_open(fixture->base.db, text("t"), &fixture->table, &error), &error);
    return reads_scan(fixture, &options);
}

static void
all_that_was_written_is_there(void **state)
{
    struct read_fixture fixture;

    (void)state;
    put_files(&fixture, 0);
    fixture_must_open(&fixture.base);
    assert_string_equal(scan_all(&fixture), all_cells);
    /* Written again, by a log of today, and read as that. */
    reads_put(&fixture, "f", text("row5"), text("q"), 5, text("new"));
    fixture_die(&fixture.base);
    fixture_must_open(&fixture.base);
    assert_non_null(strstr(scan_all(&fixture), "row4/f:last@1700000000005=end row5/f:q@5=new"));
    fixture_must_close(&fixture.base);
    fixture_fini(&fixture.base);
}

static void
what_was_synced_is_promised(void **state)
{
    struct read_fixture fixture;
    petal_error error;

    (void)state;
    put_files(&fixture, WAL_HEADER_BYTES + 40);
    assert_int_equal(fixture_open(&fixture.base, &error), PETAL_CORRUPT);
    assert_string_equal(error.file, LOG);
    fixture_fini(&fixture.base);
}

static void
what_was_not_is_a_torn_tail(void **state)
{
    struct read_fixture fixture;
    size_t size;

    (void)state;
    free(read_kept(KEPT "000001.log", &size));
    put_files(&fixture, size - 1);
    fixture_must_open(&fixture.base);
    assert_null(strstr(scan_all(&fixture), "row4"));
    assert_non_null(strstr(scan_all(&fixture), "row3/g:c19"));
    fixture_must_close(&fixture.base);
    fixture_fini(&fixture.base);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_was_written_is_there),
        cmocka_unit_test(what_was_synced_is_promised),
        cmocka_unit_test(what_was_not_is_a_torn_tail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
