/*
 * find_test.c -- which files paths lead to: of families, regions, tables and snapshots, as HBase
 * lays them out.
 */
#include "tests/support/test_support.h"
#include "tools/hfile/exchange/find.h"
#include "tools/hfile/format/memory.h"
#include "tools/hfile/format/protobuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define TABLE_INFO "tests/hfile/exchange/golden/tableinfo"

static char *root;

static int
set_up(void **state)
{
    (void)state;
    root = test_directory_new();
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    test_directory_free(root);
    return 0;
}

static const char *
path_of(const char *name)
{
    static char path[4096];

    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

/* A file below the root, with the folders above it. */
static void
put_file(const char *name, const void *bytes, size_t size)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(path, 0777);
        *at = '/';
    }
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void
put_table_info(const char *name)
{
    char bytes[4096];
    FILE *file = fopen(TABLE_INFO, "rb");
    size_t size;

    assert_non_null(file);
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    put_file(name, bytes, size);
}

static enum petal_status
find(struct found_files *found, const char *name, petal_error *error)
{
    enum petal_status status;

    found_init(found);
    status = found_add(found, path_of(name), error);
    found_sort(found);
    return status;
}

/* `wanted`: names below the root, with a blank between them. */
static void
assert_found(const char *name, const char *wanted, bool is_described)
{
    struct found_files found;
    petal_error error;
    char all[4096] = "";

    if (find(&found, name, &error) != PETAL_OK)
        fail_msg("%s: %s", name, error.text);
    for (size_t i = 0; i < found.count; i++) {
        const char *path = found.paths[i] + strlen(root) + 1;

        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i == 0 ? "" : " ", path);
    }
    assert_string_equal(all, wanted);
    assert_int_equal(found.has_descriptor, is_described);
    if (is_described)
        assert_int_equal(found.descriptor.table.family_count, 2);
    found_free(&found);
}

static void
assert_refused(const char *name, enum petal_status wanted, const char *text)
{
    struct found_files found;
    petal_error error;

    assert_int_equal(find(&found, name, &error), wanted);
    if (strstr(error.text, text) == NULL)
        fail_msg("'%s' is not in '%s'", text, error.text);
    found_free(&found);
}

static void
test_files_and_folders(void **state)
{
    (void)state;
    put_file("t/r1/a/0123456789abcdef0123456789abcdef", "", 0);
    put_file("t/r1/a/_half", "", 0);
    put_file("t/r1/bc/00000000000000000000000000000001_SeqId_7_", "", 0);
    put_file("t/r1/.regioninfo", "", 0);
    put_file("t/r1/recovered.edits/9.seqid", "", 0);
    put_file("t/r2/a/ffffffffffffffffffffffffffffffff", "", 0);
    put_file("t/.tmp/x", "", 0);
    put_file("t/.tabledesc/.tableinfo.0000000001.12", "damaged", 7);
    put_table_info("t/.tabledesc/.tableinfo.0000000002.586");
    assert_found("t",
                 "t/r1/a/0123456789abcdef0123456789abcdef "
                 "t/r1/bc/00000000000000000000000000000001_SeqId_7_ "
                 "t/r2/a/ffffffffffffffffffffffffffffffff",
                 true);
    assert_found("t/r1",
                 "t/r1/a/0123456789abcdef0123456789abcdef "
                 "t/r1/bc/00000000000000000000000000000001_SeqId_7_",
                 false);
    assert_found("t/r2/a", "t/r2/a/ffffffffffffffffffffffffffffffff", false);
    assert_found("t/r2/a/ffffffffffffffffffffffffffffffff",
                 "t/r2/a/ffffffffffffffffffffffffffffffff", false);
    assert_refused("nowhere", PETAL_NOT_FOUND, "nowhere");
    assert_refused("t/.tmp/y", PETAL_NOT_FOUND, "t/.tmp/y");
    put_file("none/_x", "", 0);
    assert_refused("none", PETAL_NOT_FOUND, "no HFile");
}

static void
test_what_is_no_file_of_its_own(void **state)
{
    (void)state;
    put_file("s/r/a/0123456789abcdef0123456789abcdef.fedcba9876543210fedcba9876543210", "", 0);
    put_file("l/r/a/users=fedcba9876543210fedcba9876543210-0123456789abcdef0123456789abcdef", "",
             0);
    assert_refused("s", PETAL_UNSUPPORTED, "reference");
    assert_refused("l", PETAL_UNSUPPORTED, "link");
}

/* A manifest as HBase writes it: the schema, and a region with one family's files. */
static void
put_manifest(const char *name, const char *const *files, bool with_reference)
{
    struct hfile_buffer manifest, region, family, file;
    char schema[4096];
    FILE *from = fopen(TABLE_INFO, "rb");
    size_t size;

    assert_non_null(from);
    size = fread(schema, 1, sizeof schema, from);
    fclose(from);
    hfile_buffer_init(&manifest, &hfile_default_allocator);
    hfile_buffer_init(&region, &hfile_default_allocator);
    hfile_buffer_init(&family, &hfile_default_allocator);
    hfile_buffer_init(&file, &hfile_default_allocator);
    assert_true(hfile_field_append_bytes(&family, 1, hfile_text_slice("a")));
    for (; *files != NULL; files++) {
        hfile_buffer_clear(&file);
        assert_true(hfile_field_append_bytes(&file, 1, hfile_text_slice(*files)));
        if (with_reference)
            assert_true(hfile_field_append_bytes(&file, 2, hfile_text_slice("")));
        assert_true(hfile_field_append_number(&file, 3, 4096));
        assert_true(hfile_field_append_bytes(&family, 2, hfile_buffer_slice(&file)));
    }
    assert_true(hfile_field_append_number(&region, 1, 1));
    assert_true(hfile_field_append_bytes(&region, 2, hfile_text_slice("")));
    assert_true(hfile_field_append_bytes(&region, 3, hfile_buffer_slice(&family)));
    assert_true(hfile_field_append_bytes(&manifest, 1, hfile_slice(schema + 4, size - 4)));
    assert_true(hfile_field_append_bytes(&manifest, 2, hfile_buffer_slice(&region)));
    put_file(name, manifest.bytes, manifest.size);
    hfile_buffer_free(&manifest);
    hfile_buffer_free(&region);
    hfile_buffer_free(&family);
    hfile_buffer_free(&file);
}

static void
test_snapshots(void **state)
{
    static const char *const files[] = {"0123456789abcdef0123456789abcdef",
                                        "ffffffffffffffffffffffffffffffff", NULL};
    static const char *const elsewhere[] = {"../../../../../secret", NULL};

    (void)state;
    put_manifest("e/.hbase-snapshot/s1/data.manifest", files, false);
    put_file("e/.hbase-snapshot/.tmp/x", "", 0);
    put_file("e/archive/data/default/t1/r1/a/0123456789abcdef0123456789abcdef", "", 0);
    put_file("e/archive/data/default/t1/r1/a/11111111111111111111111111111111", "", 0);
    assert_refused("e", PETAL_NOT_FOUND, "a/ffffffffffffffffffffffffffffffff");
    put_file("e/data/default/t1/r2/a/ffffffffffffffffffffffffffffffff", "", 0);
    assert_found("e/.hbase-snapshot/s1",
                 "e/.hbase-snapshot/s1/../../archive/data/default/t1/r1/a/"
                 "0123456789abcdef0123456789abcdef "
                 "e/.hbase-snapshot/s1/../../data/default/t1/r2/a/"
                 "ffffffffffffffffffffffffffffffff",
                 true);
    put_manifest("e/.hbase-snapshot/s2/data.manifest", files, true);
    assert_refused("e", PETAL_INVALID, "several snapshots");
    assert_refused("e/.hbase-snapshot/s2", PETAL_UNSUPPORTED, "reference");
    put_manifest("e/.hbase-snapshot/s3/data.manifest", elsewhere, false);
    assert_refused("e/.hbase-snapshot/s3", PETAL_CORRUPT, "manifest");
    put_file("e/.hbase-snapshot/s4/data.manifest", "no manifest", 11);
    assert_refused("e/.hbase-snapshot/s4", PETAL_CORRUPT, "manifest");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_files_and_folders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_file_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_snapshots, set_up, tear_down)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
