/*
 * null_arguments_test.c -- NULL where a function of petal_hfile.h must be given something is
 * PETAL_INVALID, or nothing happens.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/hfile/memory_sink.h"
#include "tests/support/null_arguments.h"
#include "tests/support/test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
    char *directory, *path, *other; /* of an HFile; that is not there yet */
    struct memory_sink sink;        /* the file's bytes, too */
    petal_hfile *file;
    petal_hfile_scanner *scanner;
    struct memory_sink open_sink;
    petal_hfile_writer *writer; /* into that one */
    petal_hfile_set *set;
    petal_db *db; /* NULL: not opened */
    petal_table *table;
};

static const petal_hfile_cell some_cell = {.row = {"row", 3},
                                           .family = {"cf", 2},
                                           .qualifier = {"q", 1},
                                           .timestamp = 1,
                                           .type = PETAL_PUT};

static petal_slice
text(const char *bytes)
{
    return (petal_slice){bytes, strlen(bytes)};
}

static void
must(enum petal_status status, const petal_error *error)
{
    if (status != PETAL_OK)
        fail_msg("%s", error->text);
}

static petal_hfile_writer *
new_writer(struct memory_sink *memory)
{
    const petal_hfile_sink sink = memory_sink_begin(memory);
    petal_hfile_writer *writer;
    petal_error error;

    must(petal_hfile_writer_new(&sink, NULL, &writer, &error), &error);
    return writer;
}

static void
write_file(struct state *state)
{
    petal_hfile_writer *writer = new_writer(&state->sink);
    petal_error error;
    FILE *file;

    must(petal_hfile_writer_add(writer, &some_cell, &error), &error);
    must(petal_hfile_writer_meta(writer, text("meta"), text("bytes"), &error), &error);
    must(petal_hfile_writer_finish(writer, NULL, &error), &error);
    petal_hfile_writer_free(writer);
    file = fopen(state->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(state->sink.bytes.bytes, 1, state->sink.bytes.size, file),
                     state->sink.bytes.size);
    assert_int_equal(fclose(file), 0);
}

static void *
make_state(void)
{
    struct state *state = test_allocate(sizeof *state);
    petal_error error;

    memset(state, 0, sizeof *state);
    state->directory = test_directory_new();
    state->path = test_path(state->directory, "0123456789abcdef");
    state->other = test_path(state->directory, "other");
    write_file(state);
    must(petal_hfile_open(state->path, NULL, &state->file, &error), &error);
    must(petal_hfile_scanner_new(state->file, &state->scanner, &error), &error);
    state->writer = new_writer(&state->open_sink);
    must(petal_hfile_set_new(&state->set, &error), &error);
    must(petal_hfile_set_add(state->set, state->path, &error), &error);
    return state;
}

static void
free_state(void *made)
{
    struct state *state = made;
    petal_error error;

    petal_hfile_set_free(state->set);
    petal_hfile_writer_free(state->writer);
    memory_sink_free(&state->open_sink);
    petal_hfile_scanner_free(state->scanner);
    petal_hfile_close(state->file);
    memory_sink_free(&state->sink);
    must(petal_close(state->db, &error), &error);
    test_directory_free(state->directory);
    free(state->path);
    free(state->other);
    free(state);
}

/* Only where one is needed: it takes more time than all else. */
static void
open_database(struct state *state)
{
    char *path = test_path(state->directory, "db");
    petal_options options = {.create = true};
    petal_family_options family = {.name = text("cf")};
    petal_table_options table = {.name = text("t"), .families = &family, .family_count = 1};
    petal_error error;

    must(petal_open(path, &options, &state->db, &error), &error);
    must(petal_table_create(state->db, &table, &state->table, &error), &error);
    free(path);
}

/* ---- the rows ---- */

#define S              ((struct state *)state)
#define CALL(function) static uint64_t call_##function(void *state)

static enum petal_status
read_bytes(void *context, uint64_t offset, void *buffer, size_t size, petal_error *error)
{
    const struct state *state = context;

    (void)error;
    memcpy(buffer, state->sink.bytes.bytes + offset, size);
    return PETAL_OK;
}

static bool
visit_block(void *argument, const petal_hfile_block *block)
{
    (void)argument;
    (void)block;
    return true;
}

static bool
watch(void *argument, uint64_t done, uint64_t total)
{
    (void)argument;
    (void)done;
    (void)total;
    return true;
}

static uint64_t
address(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

CALL(petal_hfile_codec_text)
{
    (void)state;
    return address(petal_hfile_codec_text(PETAL_HFILE_CODEC_NONE));
}

CALL(petal_hfile_encoding_text)
{
    (void)state;
    return address(petal_hfile_encoding_text(PETAL_HFILE_ENCODING_NONE));
}

CALL(petal_hfile_bloom_type_text)
{
    (void)state;
    return address(petal_hfile_bloom_type_text(PETAL_HFILE_BLOOM_ROW));
}

CALL(petal_hfile_checksum_text)
{
    (void)state;
    return address(petal_hfile_checksum_text(PETAL_HFILE_CHECKSUM_CRC32));
}

CALL(petal_hfile_has_codec)
{
    (void)state;
    return petal_hfile_has_codec(PETAL_HFILE_CODEC_NONE);
}

CALL(petal_hfile_type_text)
{
    (void)state;
    return address(petal_hfile_type_text(PETAL_PUT));
}

CALL(petal_hfile_compare)
{
    return petal_hfile_compare(GIVEN(a, &some_cell), GIVEN(b, &some_cell)) != 0 && state != NULL;
}

CALL(petal_hfile_tag_next)
{
    petal_slice tags = text("xyz"), payload;
    int type;

    (void)state;
    return petal_hfile_tag_next(GIVEN(tags, &tags), GIVEN(type, &type), GIVEN(payload, &payload)) ==
           1;
}

CALL(petal_hfile_open)
{
    petal_hfile_read_options options = {.size = sizeof options};
    static petal_hfile *file;
    enum petal_status status =
        petal_hfile_open(GIVEN(path, S->path), OPTIONAL(options, &options), OUT(file, file), ERROR);

    if (status == PETAL_OK)
        petal_hfile_close(file);
    return status;
}

CALL(petal_hfile_open_source)
{
    petal_hfile_read_options options = {.size = sizeof options};
    const petal_hfile_source source = {S, "bytes", S->sink.bytes.size, read_bytes, NULL};
    static petal_hfile *file;
    enum petal_status status = petal_hfile_open_source(
        GIVEN(source, &source), OPTIONAL(options, &options), OUT(file, file), ERROR);

    if (status == PETAL_OK)
        petal_hfile_close(file);
    return status;
}

CALL(petal_hfile_close)
{
    petal_hfile_scanner_free(S->scanner);
    S->scanner = NULL;
    petal_hfile_close(GIVEN(file, S->file));
    if (!null_is("file", true))
        S->file = NULL;
    return 0;
}

CALL(petal_hfile_name_kind_of)
{
    return petal_hfile_name_kind_of(GIVEN(path, S->path));
}

CALL(petal_hfile_info_get)
{
    return address(petal_hfile_info_get(GIVEN(file, S->file)));
}

CALL(petal_hfile_info_entry)
{
    petal_slice key, value;

    return petal_hfile_info_entry(GIVEN(file, S->file), 0, GIVEN(key, &key), GIVEN(value, &value));
}

CALL(petal_hfile_info_find)
{
    petal_slice value;

    return petal_hfile_info_find(GIVEN(file, S->file), GIVEN(key, "hfile.LASTKEY"),
                                 GIVEN(value, &value));
}

CALL(petal_hfile_mid_key)
{
    static void *bytes;
    size_t size = 0;
    enum petal_status status =
        petal_hfile_mid_key(GIVEN(file, S->file), OUT(bytes, bytes), GIVEN(size, &size), ERROR);

    if (status == PETAL_OK)
        petal_hfile_release(S->file, bytes, size);
    return status;
}

CALL(petal_hfile_meta_name)
{
    petal_slice name;

    return petal_hfile_meta_name(GIVEN(file, S->file), 0, GIVEN(name, &name));
}

CALL(petal_hfile_meta_read)
{
    static void *bytes;
    size_t size = 0;
    enum petal_status status = petal_hfile_meta_read(GIVEN(file, S->file), 0, OUT(bytes, bytes),
                                                     GIVEN(size, &size), ERROR);

    if (status == PETAL_OK)
        petal_hfile_release(S->file, bytes, size);
    return status;
}

CALL(petal_hfile_release)
{
    void *bytes;
    size_t size;
    petal_error error;

    must(petal_hfile_mid_key(S->file, &bytes, &size, &error), &error);
    petal_hfile_release(GIVEN(file, S->file), OPTIONAL(bytes, bytes), size);
    if (null_is("file", true) || null_is("bytes", false))
        petal_hfile_release(S->file, bytes, size);
    return 0;
}

CALL(petal_hfile_block_kind_text)
{
    (void)state;
    return address(petal_hfile_block_kind_text(PETAL_HFILE_BLOCK_DATA));
}

CALL(petal_hfile_blocks)
{
    return petal_hfile_blocks(GIVEN(file, S->file), GIVEN(visit, visit_block),
                              OPTIONAL(argument, state), ERROR);
}

CALL(petal_hfile_scanner_new)
{
    static petal_hfile_scanner *scanner;
    enum petal_status status =
        petal_hfile_scanner_new(GIVEN(file, S->file), OUT(scanner, scanner), ERROR);

    if (status == PETAL_OK)
        petal_hfile_scanner_free(scanner);
    return status;
}

CALL(petal_hfile_scanner_free)
{
    petal_hfile_scanner_free(GIVEN(scanner, S->scanner));
    if (!null_is("scanner", true))
        S->scanner = NULL;
    return 0;
}

CALL(petal_hfile_scanner_first)
{
    static const petal_hfile_cell *cell;

    return petal_hfile_scanner_first(GIVEN(scanner, S->scanner), OUT(cell, cell), ERROR);
}

CALL(petal_hfile_scanner_last)
{
    static const petal_hfile_cell *cell;

    return petal_hfile_scanner_last(GIVEN(scanner, S->scanner), OUT(cell, cell), ERROR);
}

CALL(petal_hfile_scanner_seek)
{
    static const petal_hfile_cell *cell;

    return petal_hfile_scanner_seek(GIVEN(scanner, S->scanner), GIVEN(key, &some_cell),
                                    OUT(cell, cell), ERROR);
}

CALL(petal_hfile_scanner_seek_row)
{
    static const petal_hfile_cell *cell;

    return petal_hfile_scanner_seek_row(GIVEN(scanner, S->scanner), BYTES(row, "row"),
                                        OUT(cell, cell), ERROR);
}

CALL(petal_hfile_scanner_next)
{
    static const petal_hfile_cell *cell;

    return petal_hfile_scanner_next(GIVEN(scanner, S->scanner), OUT(cell, cell), ERROR);
}

CALL(petal_hfile_scanner_previous)
{
    static const petal_hfile_cell *cell;

    return petal_hfile_scanner_previous(GIVEN(scanner, S->scanner), OUT(cell, cell), ERROR);
}

CALL(petal_hfile_scanner_offset)
{
    return petal_hfile_scanner_offset(GIVEN(scanner, S->scanner));
}

CALL(petal_hfile_bloom_get)
{
    petal_hfile_bloom bloom;

    return petal_hfile_bloom_get(GIVEN(file, S->file), PETAL_HFILE_FILTER_GENERAL,
                                 GIVEN(bloom, &bloom));
}

CALL(petal_hfile_bloom_chunk)
{
    uint64_t offset;
    uint32_t bytes;
    petal_slice key;

    return petal_hfile_bloom_chunk(GIVEN(file, S->file), PETAL_HFILE_FILTER_GENERAL, 0,
                                   GIVEN(offset, &offset), GIVEN(stored_bytes, &bytes),
                                   GIVEN(first_key, &key));
}

CALL(petal_hfile_may_contain)
{
    const petal_slice qualifier = text("q");
    bool answer;

    return petal_hfile_may_contain(GIVEN(file, S->file), BYTES(row, "row"),
                                   OPTIONAL(qualifier, &qualifier), GIVEN(answer, &answer), ERROR);
}

CALL(petal_hfile_may_contain_delete_family)
{
    bool answer;

    return petal_hfile_may_contain_delete_family(GIVEN(file, S->file), BYTES(row, "row"),
                                                 GIVEN(answer, &answer), ERROR);
}

CALL(petal_hfile_bloom_ask)
{
    const petal_slice qualifier = text("q");
    bool answer;

    return petal_hfile_bloom_ask(GIVEN(file, S->file), PETAL_HFILE_FILTER_GENERAL,
                                 BYTES(row, "row"), OPTIONAL(qualifier, &qualifier),
                                 GIVEN(answer, &answer), ERROR);
}

CALL(petal_hfile_check)
{
    petal_hfile_report report;

    return petal_hfile_check(GIVEN(file, S->file), OPTIONAL(watch, watch),
                             OPTIONAL(argument, state), OPTIONAL(report, &report), ERROR);
}

CALL(petal_hfile_writer_new)
{
    petal_hfile_write_options options = {.size = sizeof options};
    struct memory_sink memory;
    const petal_hfile_sink sink = memory_sink_begin(&memory);
    static petal_hfile_writer *writer;
    enum petal_status status = petal_hfile_writer_new(
        GIVEN(sink, &sink), OPTIONAL(options, &options), OUT(writer, writer), ERROR);

    (void)state;
    if (status == PETAL_OK)
        petal_hfile_writer_free(writer);
    memory_sink_free(&memory);
    return status;
}

CALL(petal_hfile_writer_add)
{
    return petal_hfile_writer_add(GIVEN(writer, S->writer), GIVEN(cell, &some_cell), ERROR);
}

CALL(petal_hfile_writer_info)
{
    return petal_hfile_writer_info(GIVEN(writer, S->writer), BYTES(key, "key"),
                                   BYTES(value, "value"), ERROR);
}

CALL(petal_hfile_writer_meta)
{
    return petal_hfile_writer_meta(GIVEN(writer, S->writer), BYTES(name, "name"),
                                   BYTES(bytes, "bytes"), ERROR);
}

CALL(petal_hfile_writer_bytes)
{
    return petal_hfile_writer_bytes(GIVEN(writer, S->writer));
}

CALL(petal_hfile_writer_cells)
{
    return petal_hfile_writer_cells(GIVEN(writer, S->writer));
}

CALL(petal_hfile_writer_finish)
{
    uint64_t bytes;

    return petal_hfile_writer_finish(GIVEN(writer, S->writer), OPTIONAL(file_bytes, &bytes), ERROR);
}

CALL(petal_hfile_writer_free)
{
    petal_hfile_writer_free(GIVEN(writer, S->writer));
    if (!null_is("writer", true))
        S->writer = NULL;
    return 0;
}

CALL(petal_hfile_export)
{
    petal_hfile_export_options options = {.size = sizeof options};
    petal_hfile_export_counts counts;

    open_database(S);
    return petal_hfile_export(GIVEN(db, S->db), GIVEN(table, S->table), GIVEN(directory, S->other),
                              OPTIONAL(options, &options), OPTIONAL(counts, &counts), ERROR);
}

CALL(petal_hfile_set_new)
{
    static petal_hfile_set *set;
    enum petal_status status = petal_hfile_set_new(OUT(set, set), ERROR);

    (void)state;
    if (status == PETAL_OK)
        petal_hfile_set_free(set);
    return status;
}

CALL(petal_hfile_set_free)
{
    petal_hfile_set_free(GIVEN(set, S->set));
    if (!null_is("set", true))
        S->set = NULL;
    return 0;
}

CALL(petal_hfile_set_add)
{
    return petal_hfile_set_add(GIVEN(set, S->set), GIVEN(path, S->path), ERROR);
}

CALL(petal_hfile_set_describe)
{
    return petal_hfile_set_describe(GIVEN(set, S->set), BYTES(text, "{NAME => 'cf'}"),
                                    GIVEN(name, "text"), ERROR);
}

CALL(petal_hfile_set_count)
{
    return petal_hfile_set_count(GIVEN(set, S->set));
}

CALL(petal_hfile_set_path)
{
    return address(petal_hfile_set_path(GIVEN(set, S->set), 0));
}

CALL(petal_hfile_set_table)
{
    petal_table_options options = {.size = sizeof options};
    bool is_described;

    return petal_hfile_set_table(GIVEN(set, S->set), GIVEN(options, &options),
                                 GIVEN(is_described, &is_described), ERROR);
}

CALL(petal_hfile_import)
{
    petal_hfile_import_options options = {.size = sizeof options};
    petal_hfile_import_counts counts;

    open_database(S);
    return petal_hfile_import(GIVEN(table, S->table), GIVEN(set, S->set),
                              OPTIONAL(options, &options), OPTIONAL(counts, &counts), ERROR);
}

CALL(petal_hfile_import_as)
{
    petal_hfile_import_options options = {.size = sizeof options};
    enum petal_hfile_table_origin origin;
    petal_hfile_import_counts counts;

    open_database(S);
    return petal_hfile_import_as(GIVEN(db, S->db), BYTES(name, "new"), GIVEN(set, S->set),
                                 OPTIONAL(options, &options), OPTIONAL(origin, &origin),
                                 OPTIONAL(counts, &counts), ERROR);
}

#define ROW(function, answer)                                                                      \
    {                                                                                              \
#function, answer, call_##function                                                         \
    }

static const struct null_row rows[] = {
    ROW(petal_hfile_codec_text, NULL_ANYTHING),
    ROW(petal_hfile_encoding_text, NULL_ANYTHING),
    ROW(petal_hfile_bloom_type_text, NULL_ANYTHING),
    ROW(petal_hfile_checksum_text, NULL_ANYTHING),
    ROW(petal_hfile_has_codec, NULL_ANYTHING),
    ROW(petal_hfile_type_text, NULL_ANYTHING),
    ROW(petal_hfile_compare, NULL_ANYTHING),
    ROW(petal_hfile_tag_next, NULL_ZERO),
    ROW(petal_hfile_open, NULL_STATUS),
    ROW(petal_hfile_open_source, NULL_STATUS),
    ROW(petal_hfile_close, NULL_ZERO),
    ROW(petal_hfile_name_kind_of, NULL_ZERO),
    ROW(petal_hfile_info_get, NULL_ZERO),
    ROW(petal_hfile_info_entry, NULL_ZERO),
    ROW(petal_hfile_info_find, NULL_ZERO),
    ROW(petal_hfile_mid_key, NULL_STATUS),
    ROW(petal_hfile_meta_name, NULL_ZERO),
    ROW(petal_hfile_meta_read, NULL_STATUS),
    ROW(petal_hfile_release, NULL_ZERO),
    ROW(petal_hfile_block_kind_text, NULL_ANYTHING),
    ROW(petal_hfile_blocks, NULL_STATUS),
    ROW(petal_hfile_scanner_new, NULL_STATUS),
    ROW(petal_hfile_scanner_free, NULL_ZERO),
    ROW(petal_hfile_scanner_first, NULL_STATUS),
    ROW(petal_hfile_scanner_last, NULL_STATUS),
    ROW(petal_hfile_scanner_seek, NULL_STATUS),
    ROW(petal_hfile_scanner_seek_row, NULL_STATUS),
    ROW(petal_hfile_scanner_next, NULL_STATUS),
    ROW(petal_hfile_scanner_previous, NULL_STATUS),
    ROW(petal_hfile_scanner_offset, NULL_ZERO),
    ROW(petal_hfile_bloom_get, NULL_ZERO),
    ROW(petal_hfile_bloom_chunk, NULL_ZERO),
    ROW(petal_hfile_may_contain, NULL_STATUS),
    ROW(petal_hfile_may_contain_delete_family, NULL_STATUS),
    ROW(petal_hfile_bloom_ask, NULL_STATUS),
    ROW(petal_hfile_check, NULL_STATUS),
    ROW(petal_hfile_writer_new, NULL_STATUS),
    ROW(petal_hfile_writer_add, NULL_STATUS),
    ROW(petal_hfile_writer_info, NULL_STATUS),
    ROW(petal_hfile_writer_meta, NULL_STATUS),
    ROW(petal_hfile_writer_bytes, NULL_ZERO),
    ROW(petal_hfile_writer_cells, NULL_ZERO),
    ROW(petal_hfile_writer_finish, NULL_STATUS),
    ROW(petal_hfile_writer_free, NULL_ZERO),
    ROW(petal_hfile_export, NULL_STATUS),
    ROW(petal_hfile_set_new, NULL_STATUS),
    ROW(petal_hfile_set_free, NULL_ZERO),
    ROW(petal_hfile_set_add, NULL_STATUS),
    ROW(petal_hfile_set_describe, NULL_STATUS),
    ROW(petal_hfile_set_count, NULL_ZERO),
    ROW(petal_hfile_set_path, NULL_ZERO),
    ROW(petal_hfile_set_table, NULL_STATUS),
    ROW(petal_hfile_import, NULL_STATUS),
    ROW(petal_hfile_import_as, NULL_STATUS),
};

static void
null_in_each_argument(void **cmocka_state)
{
    static const struct null_fixture fixture = {make_state, free_state};

    (void)cmocka_state;
    null_arguments_test("tools/hfile/petal_hfile.h", rows, sizeof rows / sizeof *rows, &fixture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_in_each_argument),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
