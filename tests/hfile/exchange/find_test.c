/*
 * find_test.c -- which files paths lead to: of families, regions, tables and snapshots, as HBase
 * lays them out.
 */
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/hfile/exchange/find.h"
#include "tools/hfile/format/memory.h"
#include "tools/hfile/format/protobuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static enum petal_status
write_bytes(void *context, const void *bytes, size_t size, petal_error *error)
{
    (void)error;
    assert_int_equal(fwrite(bytes, 1, size, context), size);
    return PETAL_OK;
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
    return status == PETAL_OK ? found_settle(found, error) : status;
}

/* `wanted`: names below the root, with a blank between them, '^' after one whose top half it is,
 * '_' after that of a bottom half. */
static void
assert_found(const char *name, const char *wanted, bool is_described)
{
    struct found_files found;
    petal_error error;
    char all[4096] = "";

    if (find(&found, name, &error) != PETAL_OK)
        fail_msg("%s: %s", name, error.text);
    for (size_t i = 0; i < found.count; i++) {
        const struct found_file *file = &found.files[i];
        const char *path = file->path + strlen(root) + 1;

        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s%s", i == 0 ? "" : " ", path,
                 file->half == HALF_WHOLE ? ""
                 : file->half == HALF_TOP ? "^"
                                          : "_");
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

/* ---- Files as HBase has them ----------------------------------------------------------------- */

/* An HFile with one cell. */
static void
put_hfile(const char *name)
{
    char path[4096];
    FILE *file;
    petal_hfile_sink sink = {.name = name, .write = write_bytes};
    petal_hfile_cell cell = {.row = {"r", 1},
                             .family = {"a", 1},
                             .qualifier = {"q", 1},
                             .value = {"v", 1},
                             .timestamp = 1,
                             .type = PETAL_PUT};
    petal_hfile_writer *writer;
    petal_error error;
    uint64_t bytes;

    put_file(name, "", 0);
    snprintf(path, sizeof path, "%s/%s", root, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    sink.context = file;
    assert_int_equal(petal_hfile_writer_new(&sink, NULL, &writer, &error), PETAL_OK);
    assert_int_equal(petal_hfile_writer_add(writer, &cell, &error), PETAL_OK);
    assert_int_equal(petal_hfile_writer_finish(writer, &bytes, &error), PETAL_OK);
    petal_hfile_writer_free(writer);
    assert_int_equal(fclose(file), 0);
}

struct info {
    const char *start, *end;
    bool is_split, is_replica;
};

static void
append_region(struct hfile_buffer *message, const struct info *info)
{
    assert_true(hfile_field_append_number(message, 1, 1700000000000));
    assert_true(hfile_field_append_bytes(message, 2, hfile_text_slice("")));
    assert_true(hfile_field_append_bytes(message, 3, hfile_text_slice(info->start)));
    assert_true(hfile_field_append_bytes(message, 4, hfile_text_slice(info->end)));
    assert_true(hfile_field_append_number(message, 5, info->is_split));
    assert_true(hfile_field_append_number(message, 6, info->is_split));
    assert_true(hfile_field_append_number(message, 7, info->is_replica));
}

static void
put_region_info(const char *name, const char *start, const char *end, bool is_split)
{
    const struct info info = {start, end, is_split, false};
    struct hfile_buffer message, bytes;

    hfile_buffer_init(&message, &hfile_default_allocator);
    hfile_buffer_init(&bytes, &hfile_default_allocator);
    append_region(&message, &info);
    assert_true(hfile_buffer_append_slice(&bytes, hfile_text_slice("PBUF")));
    assert_true(hfile_buffer_append_varint(&bytes, message.size));
    assert_true(hfile_buffer_append_slice(&bytes, hfile_buffer_slice(&message)));
    put_file(name, bytes.bytes, bytes.size);
    hfile_buffer_free(&message);
    hfile_buffer_free(&bytes);
}

/* As HBase notes where a file is halved: the message, or with "PBUF" in front, a file of it. */
static void
append_reference(struct hfile_buffer *bytes, const char *row, bool is_top)
{
    static const uint8_t rest[] = {0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    uint8_t key[100] = {0, (uint8_t)strlen(row)};

    memcpy(key + 2, row, strlen(row));
    memcpy(key + 2 + strlen(row), rest, sizeof rest);
    assert_true(
        hfile_field_append_bytes(bytes, 1, hfile_slice(key, 2 + strlen(row) + sizeof rest)));
    assert_true(hfile_field_append_number(bytes, 2, is_top ? 0 : 1));
}

static void
put_reference(const char *name, const char *row, bool is_top)
{
    struct hfile_buffer bytes;

    hfile_buffer_init(&bytes, &hfile_default_allocator);
    assert_true(hfile_buffer_append_slice(&bytes, hfile_text_slice("PBUF")));
    append_reference(&bytes, row, is_top);
    put_file(name, bytes.bytes, bytes.size);
    hfile_buffer_free(&bytes);
}

/* A manifest as HBase writes it: the schema, and regions, each with one family's files; NULL: one
 * region. References are to the top half from "m" on. */
static void
put_manifest(const char *name, const char *const *files, bool with_reference,
             const struct info *infos, size_t count)
{
    static const struct info whole = {"", "", false, false};
    struct hfile_buffer manifest, region, family, file, reference;
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
    hfile_buffer_init(&reference, &hfile_default_allocator);
    append_reference(&reference, "m", true);
    assert_true(hfile_field_append_bytes(&family, 1, hfile_text_slice("a")));
    for (; *files != NULL; files++) {
        hfile_buffer_clear(&file);
        assert_true(hfile_field_append_bytes(&file, 1, hfile_text_slice(*files)));
        if (with_reference)
            assert_true(hfile_field_append_bytes(&file, 2, hfile_buffer_slice(&reference)));
        assert_true(hfile_field_append_number(&file, 3, 4096));
        assert_true(hfile_field_append_bytes(&family, 2, hfile_buffer_slice(&file)));
    }
    assert_true(hfile_field_append_bytes(&manifest, 1, hfile_slice(schema + 4, size - 4)));
    for (size_t i = 0; i < (infos == NULL ? 1 : count); i++) {
        hfile_buffer_clear(&region);
        hfile_buffer_clear(&file);
        append_region(&file, infos == NULL ? &whole : &infos[i]);
        assert_true(hfile_field_append_number(&region, 1, 1));
        assert_true(hfile_field_append_bytes(&region, 2, hfile_buffer_slice(&file)));
        assert_true(hfile_field_append_bytes(&region, 3, hfile_buffer_slice(&family)));
        assert_true(hfile_field_append_bytes(&manifest, 2, hfile_buffer_slice(&region)));
    }
    put_file(name, manifest.bytes, manifest.size);
    hfile_buffer_free(&manifest);
    hfile_buffer_free(&region);
    hfile_buffer_free(&family);
    hfile_buffer_free(&file);
    hfile_buffer_free(&reference);
}

/* ---- Folders --------------------------------------------------------------------------------- */

#define F1 "0123456789abcdef0123456789abcdef"
#define F2 "ffffffffffffffffffffffffffffffff"
#define F3 "00112233445566778899aabbccddeeff"
#define P  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define D1 "b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1"
#define D2 "b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2"

TEST_WITH(test_files_and_folders, set_up, tear_down)
{
    put_hfile("t/r1/a/" F1);
    put_file("t/r1/a/_half", "", 0);
    put_hfile("t/r1/bc/00000000000000000000000000000001_SeqId_7_");
    put_region_info("t/r1/.regioninfo", "", "", false);
    put_file("t/r1/recovered.edits/9.seqid", "", 0);
    put_hfile("t/r2/a/" F2);
    put_file("t/.tmp/x", "", 0);
    put_file("t/.tabledesc/.tableinfo.0000000001.12", "damaged", 7);
    put_table_info("t/.tabledesc/.tableinfo.0000000002.586");
    assert_found("t", "t/r1/a/" F1 " t/r1/bc/00000000000000000000000000000001_SeqId_7_ t/r2/a/" F2,
                 true);
    assert_found("t/r1", "t/r1/a/" F1 " t/r1/bc/00000000000000000000000000000001_SeqId_7_", false);
    assert_found("t/r2/a", "t/r2/a/" F2, false);
    assert_found("t/r2/a/" F2, "t/r2/a/" F2, false);
    assert_refused("nowhere", PETAL_NOT_FOUND, "nowhere");
    assert_refused("t/.tmp/y", PETAL_NOT_FOUND, "t/.tmp/y");
    put_file("none/_x", "", 0);
    assert_refused("none", PETAL_NOT_FOUND, "no HFile");
    put_hfile("all/data/default/t/r/a/" F1);
    put_hfile("all/archive/data/default/t/r/a/" F2);
    assert_refused("all", PETAL_INVALID, "archive/ holds what tables have no more");
    put_hfile("listed/r/a/" F1);
    put_file("listed/r/a/.filelist/f1.1", "list", 4);
    assert_refused("listed", PETAL_UNSUPPORTED, "a: which of its files count stands in .filelist");
    put_file("w/r/a/d41d8cd98f00b204e9800998ecf8427e20261123" F1, "", 0);
    assert_refused("w", PETAL_UNSUPPORTED, "MOB");
}

TEST_WITH(test_edits, set_up, tear_down)
{
    struct found_files found;
    petal_error error;

    put_hfile("t/r/a/" F1);
    put_file("t/r/recovered.edits/0000000000000000012", "", 0);
    put_file("t/r/recovered.edits/12.seqid", "x", 1);
    assert_int_equal(find(&found, "t", &error), PETAL_OK);
    assert_int_equal(found.edits_count, 0);
    found_free(&found);
    put_file("t/r/recovered.edits/0000000000000000013", "edits", 5);
    assert_int_equal(find(&found, "t", &error), PETAL_OK);
    assert_int_equal(found.edits_count, 1);
    assert_non_null(strstr(found.edits[0].path, "t/r/recovered.edits/0000000000000000013"));
    found_free(&found);
    /* Each once, from the region and from its families. */
    put_hfile("t/r/b/" F2);
    assert_int_equal(find(&found, "t/r/a", &error), PETAL_OK);
    assert_int_equal(found.edits_count, 1);
    assert_int_equal(found_add(&found, path_of("t/r/b"), &error), PETAL_OK);
    assert_int_equal(found_add(&found, path_of("t/r"), &error), PETAL_OK);
    assert_int_equal(found.edits_count, 1);
    found_free(&found);
    assert_int_equal(find(&found, "t/r/a/" F1, &error), PETAL_OK);
    assert_int_equal(found.edits_count, 0);
    found_free(&found);
}

/* ---- Regions --------------------------------------------------------------------------------- */

TEST_WITH(test_regions_that_overlap, set_up, tear_down)
{
    put_region_info("t/" P "/.regioninfo", "", "", false);
    put_hfile("t/" P "/a/" F1);
    put_region_info("t/" D1 "/.regioninfo", "", "m", false);
    put_hfile("t/" D1 "/a/" F2);
    put_region_info("t/" D2 "/.regioninfo", "m", "", false);
    put_hfile("t/" D2 "/a/" F3);
    assert_refused("t", PETAL_INVALID, "overlap");
    assert_found("t/" P, "t/" P "/a/" F1, false);
    assert_found("t/" P "/a", "t/" P "/a/" F1, false);
    put_region_info("t/" P "/.regioninfo", "", "", true);
    assert_found("t", "t/" D1 "/a/" F2 " t/" D2 "/a/" F3, false);
    /* Its rows must all be somewhere. */
    put_region_info("t/" D2 "/.regioninfo", "n", "", false);
    assert_refused("t", PETAL_NOT_FOUND, P);
    put_region_info("t/" D2 "/.regioninfo", "m", "x", false);
    assert_refused("t", PETAL_NOT_FOUND, P);
    put_region_info("t/" P "/.regioninfo", "c", "x", true);
    assert_found("t", "t/" D1 "/a/" F2 " t/" D2 "/a/" F3, false);
    put_region_info("t/" D1 "/.regioninfo", "d", "m", false);
    assert_refused("t", PETAL_NOT_FOUND, P);
    put_region_info("t/" D1 "/.regioninfo", "", "m\1", false);
    assert_refused("t", PETAL_INVALID, D2);
    put_region_info("t/" D1 "/.regioninfo", "m", "a", false);
    assert_refused("t", PETAL_CORRUPT, D1);
}

/* Of the same regions by folders of their families, and by their files. */
TEST_WITH(test_regions_of_families, set_up, tear_down)
{
    static const char *const regions[] = {P, D1, D2};
    static const char *const files[] = {F1, F2, F3};

    put_region_info("t/" P "/.regioninfo", "", "", true);
    put_region_info("t/" D1 "/.regioninfo", "", "m", false);
    put_region_info("t/" D2 "/.regioninfo", "m", "", false);
    for (size_t i = 0; i < 3; i++) {
        char name[200];

        snprintf(name, sizeof name, "t/%s/a/%s", regions[i], files[i]);
        put_hfile(name);
    }
    for (int depth = 0; depth < 2; depth++) {
        struct found_files found;
        petal_error error;

        found_init(&found);
        for (size_t i = 0; i < 3; i++) {
            char name[200];

            snprintf(name, sizeof name, "t/%s/a/%s", regions[i], depth == 0 ? "" : files[i]);
            assert_int_equal(found_add(&found, path_of(name), &error), PETAL_OK);
        }
        assert_int_equal(found_settle(&found, &error), PETAL_OK);
        assert_int_equal(found.count, depth == 0 ? 2 : 3);
        assert_int_equal(found.split_regions, depth == 0 ? 1 : 0);
        for (size_t i = 0; i < found.count; i++)
            assert_int_equal(found.files[i].region == FOUND_NO_REGION, depth == 1);
        found_free(&found);
    }
    assert_refused("t/" P "/a", PETAL_NOT_FOUND, P);
    put_file("t/" P "/.regioninfo", "damaged", 7);
    assert_refused("t/" P "/a", PETAL_CORRUPT, "not a description of a region");
}

/* What refers to another region's file says that this was split or merged. */
TEST_WITH(test_references, set_up, tear_down)
{
    put_region_info("data/n/t/" P "/.regioninfo", "", "", false);
    put_hfile("data/n/t/" P "/a/" F1);
    put_region_info("data/n/t/" D1 "/.regioninfo", "", "m", false);
    put_reference("data/n/t/" D1 "/a/" F1 "." P, "m", false);
    put_region_info("data/n/t/" D2 "/.regioninfo", "m", "", false);
    put_reference("data/n/t/" D2 "/a/" F1 "." P, "m", true);
    assert_found("data/n/t", "data/n/t/" P "/a/" F1 "_ data/n/t/" P "/a/" F1 "^", false);
    assert_found("data/n/t/" D2, "data/n/t/" P "/a/" F1 "^", false);
    /* A link to all of it, as where a split leaves it on one side. */
    put_file("data/n/t/" D1 "/a/n=t=" P "-" F2, "", 0);
    assert_refused("data/n/t", PETAL_NOT_FOUND, "n/t/" P "/a/" F2);
    put_hfile("archive/data/n/t/" P "/a/" F2);
    assert_found(
        "data/n/t",
        "archive/data/n/t/" P "/a/" F2 " data/n/t/" P "/a/" F1 "_ data/n/t/" P "/a/" F1 "^", false);
    put_file("data/n/t/" D1 "/a/" F1 "." P, "", 0);
    assert_refused("data/n/t", PETAL_CORRUPT, "no");
    put_reference("data/n/t/" D1 "/a/" F1 "." P, "", false);
    assert_refused("data/n/t", PETAL_CORRUPT, "not a reference");
}

TEST_WITH(test_links, set_up, tear_down)
{
    put_hfile("data/default/old/" P "/a/" F1);
    put_hfile("archive/data/n/old/" P "/a/" F2);
    put_file("data/default/new/" D1 "/a/old=" P "-" F1, "", 0);
    put_file("data/default/new/" D1 "/a/n=old=" P "-" F2, "", 0);
    put_reference("data/default/new/" D2 "/a/old=" P "-" F1 "." D1, "k", true);
    assert_found("data/default/new",
                 "archive/data/n/old/" P "/a/" F2 " data/default/old/" P "/a/" F1
                 " data/default/old/" P "/a/" F1 "^",
                 false);
    assert_found("data/default/new/" D1 "/a/old=" P "-" F1, "data/default/old/" P "/a/" F1, false);
    put_file("data/default/new/" D1 "/a/gone=" P "-" F1, "", 0);
    assert_refused("data/default/new", PETAL_NOT_FOUND, "default/gone/" P "/a/" F1);
    put_file("x/" D1 "/a/old=" P "-" F1, "", 0);
    assert_refused("x", PETAL_NOT_FOUND, "old/" P "/a/" F1);
}

/* Names that lead out of the folders of tables. */
TEST_WITH(test_links_to_elsewhere, set_up, tear_down)
{
    static const char *const names[] = {"..=" P "-" F1,
                                        "..=..=" P "-" F1,
                                        "n=..=" P "-" F1,
                                        "..=t=" P "-" F1,
                                        ".=" P "-" F1,
                                        "t=" P "-..",
                                        "t=" P "-.x",
                                        ".x=" P "-" F1,
                                        "..=..=" P "-..",
                                        "t=" P "-.."
                                        "." D1};

    put_hfile("data/default/t/" P "/a/" F1);
    put_hfile("data/" P "/a/" F1);
    put_hfile(P "/a/" F1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const entries[] = {names[i], NULL};
        char path[4096];

        snprintf(path, sizeof path, "data/default/u%zu/" D1 "/a/%s", i, names[i]);
        put_reference(path, "m", true);
        snprintf(path, sizeof path, "data/default/u%zu/" D1 "/a", i);
        if (*names[i] != '.')
            assert_refused(path, PETAL_CORRUPT, "stands for no file");
        else
            assert_refused(path, PETAL_NOT_FOUND, "no HFile");
        snprintf(path, sizeof path, ".hbase-snapshot/s%zu/data.manifest", i);
        put_manifest(path, entries, strstr(names[i], "." D1) != NULL, NULL, 0);
        snprintf(path, sizeof path, ".hbase-snapshot/s%zu", i);
        assert_refused(path, PETAL_CORRUPT, "");
    }
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

TEST_WITH(test_snapshots, set_up, tear_down)
{
    static const char *const files[] = {F1, F2, NULL};
    static const char *const elsewhere[] = {"../../../../../secret", NULL};

    put_manifest("e/.hbase-snapshot/s1/data.manifest", files, false, NULL, 0);
    put_file("e/.hbase-snapshot/.tmp/x", "", 0);
    put_file("e/archive/data/default/t1/r1/a/" F1, "", 0);
    put_file("e/archive/data/default/t1/r1/a/11111111111111111111111111111111", "", 0);
    assert_refused("e", PETAL_NOT_FOUND, "a/" F2);
    put_file("e/data/default/t1/r2/a/" F2, "", 0);
    assert_found("e/.hbase-snapshot/s1",
                 "e/.hbase-snapshot/s1/../../archive/data/default/t1/r1/a/" F1
                 " e/.hbase-snapshot/s1/../../data/default/t1/r2/a/" F2,
                 true);
    put_manifest("e/.hbase-snapshot/s2/data.manifest", files, true, NULL, 0);
    assert_refused("e", PETAL_INVALID, "several snapshots");
    assert_refused("e/.hbase-snapshot/s2", PETAL_CORRUPT, "manifest");
    put_manifest("e/.hbase-snapshot/s3/data.manifest", elsewhere, false, NULL, 0);
    assert_refused("e/.hbase-snapshot/s3", PETAL_CORRUPT, "manifest");
    put_file("e/.hbase-snapshot/s4/data.manifest", "no manifest", 11);
    assert_refused("e/.hbase-snapshot/s4", PETAL_CORRUPT, "manifest");
}

/* Those that were split are left out, replicas as well; MOB's region is none of rows. */
TEST_WITH(test_regions_of_snapshots, set_up, tear_down)
{
    static const char *const files[] = {F1, NULL}, *const halves[] = {F1 "." P, NULL};
    static const struct info split[] = {{"", "", true, false},
                                        {"", "m", false, false},
                                        {"m", "", false, false},
                                        {"m", "", false, true}};
    static const struct info overlap[] = {{"", "", false, false}, {"", "m", false, false}};
    static const struct info hole[] = {{"", "", true, false}, {"", "m", false, false}};

    put_file("archive/data/default/t1/" P "/a/" F1, "", 0);
    put_manifest(".hbase-snapshot/s1/data.manifest", files, false, split, 4);
    assert_found(".hbase-snapshot/s1",
                 ".hbase-snapshot/s1/../../archive/data/default/t1/" P "/a/" F1, true);
    put_manifest(".hbase-snapshot/s2/data.manifest", files, false, overlap, 2);
    assert_refused(".hbase-snapshot/s2", PETAL_INVALID, "overlap");
    put_manifest(".hbase-snapshot/s3/data.manifest", files, false, hole, 2);
    assert_refused(".hbase-snapshot/s3", PETAL_NOT_FOUND, "was split or merged");
    put_manifest(".hbase-snapshot/s4/data.manifest", halves, true, split + 1, 2);
    assert_found(".hbase-snapshot/s4",
                 ".hbase-snapshot/s4/../../archive/data/default/t1/" P "/a/" F1 "^", true);
}
