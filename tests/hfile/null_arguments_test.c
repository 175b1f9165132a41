/*
 * null_arguments_test.c -- NULL where a function of petal_hfile.h must be given something is
 * PETAL_INVALID, or nothing happens.
 */

#include "tests/hfile/memory_sink.h"
#include "tests/support/null_arguments.h"
#include "tests/support/test.h"
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

#define S ((struct state *)state)

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

NULL_CALL(petal_hfile_codec_text, NULL_ANYTHING,
          address(petal_hfile_codec_text(PETAL_HFILE_CODEC_NONE)))
NULL_CALL(petal_hfile_encoding_text, NULL_ANYTHING,
          address(petal_hfile_encoding_text(PETAL_HFILE_ENCODING_NONE)))
NULL_CALL(petal_hfile_bloom_type_text, NULL_ANYTHING,
          address(petal_hfile_bloom_type_text(PETAL_HFILE_BLOOM_ROW)))
NULL_CALL(petal_hfile_checksum_text, NULL_ANYTHING,
          address(petal_hfile_checksum_text(PETAL_HFILE_CHECKSUM_CRC32)))
NULL_CALL(petal_hfile_has_codec, NULL_ANYTHING, petal_hfile_has_codec(PETAL_HFILE_CODEC_NONE))
NULL_CALL(petal_hfile_type_text, NULL_ANYTHING, address(petal_hfile_type_text(PETAL_PUT)))
NULL_CALL(petal_hfile_compare, NULL_ANYTHING,
          petal_hfile_compare(GIVEN(a, &some_cell), GIVEN(b, &some_cell)) != 0 && state != NULL)

NULL_ROW(petal_hfile_tag_next, NULL_ZERO)
{
    petal_slice tags = text("xyz"), payload;
    int type;

    return petal_hfile_tag_next(GIVEN(tags, &tags), GIVEN(type, &type), GIVEN(payload, &payload)) ==
           1;
}

NULL_MAKES(petal_hfile_open, petal_hfile *, petal_hfile_close,
           petal_hfile_open(GIVEN(path, S->path),
                            OPTIONAL(options, SIZED(petal_hfile_read_options)), OUT(file, made),
                            ERROR))

NULL_ROW(petal_hfile_open_source, NULL_STATUS)
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

NULL_ROW(petal_hfile_close, NULL_ZERO)
{
    petal_hfile_scanner_free(S->scanner);
    S->scanner = NULL;
    petal_hfile_close(GIVEN(file, S->file));
    if (!null_is("file", true))
        S->file = NULL;
    return 0;
}

NULL_CALL(petal_hfile_name_kind_of, NULL_ZERO, petal_hfile_name_kind_of(GIVEN(path, S->path)))
NULL_CALL(petal_hfile_info_get, NULL_ZERO, address(petal_hfile_info_get(GIVEN(file, S->file))))

NULL_ROW(petal_hfile_info_entry, NULL_ZERO)
{
    petal_slice key, value;

    return petal_hfile_info_entry(GIVEN(file, S->file), 0, GIVEN(key, &key), GIVEN(value, &value));
}

NULL_ROW(petal_hfile_info_find, NULL_ZERO)
{
    petal_slice value;

    return petal_hfile_info_find(GIVEN(file, S->file), GIVEN(key, "hfile.LASTKEY"),
                                 GIVEN(value, &value));
}

NULL_ROW(petal_hfile_mid_key, NULL_STATUS)
{
    static void *bytes;
    size_t size = 0;
    enum petal_status status =
        petal_hfile_mid_key(GIVEN(file, S->file), OUT(bytes, bytes), GIVEN(size, &size), ERROR);

    if (status == PETAL_OK)
        petal_hfile_release(S->file, bytes, size);
    return status;
}

NULL_ROW(petal_hfile_meta_name, NULL_ZERO)
{
    petal_slice name;

    return petal_hfile_meta_name(GIVEN(file, S->file), 0, GIVEN(name, &name));
}

NULL_ROW(petal_hfile_meta_read, NULL_STATUS)
{
    static void *bytes;
    size_t size = 0;
    enum petal_status status = petal_hfile_meta_read(GIVEN(file, S->file), 0, OUT(bytes, bytes),
                                                     GIVEN(size, &size), ERROR);

    if (status == PETAL_OK)
        petal_hfile_release(S->file, bytes, size);
    return status;
}

NULL_ROW(petal_hfile_release, NULL_ZERO)
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

NULL_CALL(petal_hfile_block_kind_text, NULL_ANYTHING,
          address(petal_hfile_block_kind_text(PETAL_HFILE_BLOCK_DATA)))
NULL_CALL(petal_hfile_blocks, NULL_STATUS,
          petal_hfile_blocks(GIVEN(file, S->file), GIVEN(visit, visit_block),
                             OPTIONAL(argument, state), ERROR))
NULL_MAKES(petal_hfile_scanner_new, petal_hfile_scanner *, petal_hfile_scanner_free,
           petal_hfile_scanner_new(GIVEN(file, S->file), OUT(scanner, made), ERROR))
NULL_FREES(petal_hfile_scanner_free, scanner, struct state)
NULL_GIVES(petal_hfile_scanner_first, const petal_hfile_cell *,
           petal_hfile_scanner_first(GIVEN(scanner, S->scanner), OUT(cell, made), ERROR))
NULL_GIVES(petal_hfile_scanner_last, const petal_hfile_cell *,
           petal_hfile_scanner_last(GIVEN(scanner, S->scanner), OUT(cell, made), ERROR))
NULL_GIVES(petal_hfile_scanner_seek, const petal_hfile_cell *,
           petal_hfile_scanner_seek(GIVEN(scanner, S->scanner), GIVEN(key, &some_cell),
                                    OUT(cell, made), ERROR))
NULL_GIVES(petal_hfile_scanner_seek_row, const petal_hfile_cell *,
           petal_hfile_scanner_seek_row(GIVEN(scanner, S->scanner), BYTES(row, "row"),
                                        OUT(cell, made), ERROR))
NULL_GIVES(petal_hfile_scanner_next, const petal_hfile_cell *,
           petal_hfile_scanner_next(GIVEN(scanner, S->scanner), OUT(cell, made), ERROR))
NULL_GIVES(petal_hfile_scanner_previous, const petal_hfile_cell *,
           petal_hfile_scanner_previous(GIVEN(scanner, S->scanner), OUT(cell, made), ERROR))
NULL_CALL(petal_hfile_scanner_offset, NULL_ZERO,
          petal_hfile_scanner_offset(GIVEN(scanner, S->scanner)))

NULL_ROW(petal_hfile_bloom_get, NULL_ZERO)
{
    petal_hfile_bloom bloom;

    return petal_hfile_bloom_get(GIVEN(file, S->file), PETAL_HFILE_FILTER_GENERAL,
                                 GIVEN(bloom, &bloom));
}

NULL_ROW(petal_hfile_bloom_chunk, NULL_ZERO)
{
    uint64_t offset;
    uint32_t bytes;
    petal_slice key;

    return petal_hfile_bloom_chunk(GIVEN(file, S->file), PETAL_HFILE_FILTER_GENERAL, 0,
                                   GIVEN(offset, &offset), GIVEN(stored_bytes, &bytes),
                                   GIVEN(first_key, &key));
}

NULL_ROW(petal_hfile_may_contain, NULL_STATUS)
{
    const petal_slice qualifier = text("q");
    bool answer;

    return petal_hfile_may_contain(GIVEN(file, S->file), BYTES(row, "row"),
                                   OPTIONAL(qualifier, &qualifier), GIVEN(answer, &answer), ERROR);
}

NULL_ROW(petal_hfile_may_contain_delete_family, NULL_STATUS)
{
    bool answer;

    return petal_hfile_may_contain_delete_family(GIVEN(file, S->file), BYTES(row, "row"),
                                                 GIVEN(answer, &answer), ERROR);
}

NULL_ROW(petal_hfile_bloom_ask, NULL_STATUS)
{
    const petal_slice qualifier = text("q");
    bool answer;

    return petal_hfile_bloom_ask(GIVEN(file, S->file), PETAL_HFILE_FILTER_GENERAL,
                                 BYTES(row, "row"), OPTIONAL(qualifier, &qualifier),
                                 GIVEN(answer, &answer), ERROR);
}

NULL_ROW(petal_hfile_check, NULL_STATUS)
{
    petal_hfile_report report;

    return petal_hfile_check(GIVEN(file, S->file), OPTIONAL(watch, watch),
                             OPTIONAL(argument, state), OPTIONAL(report, &report), ERROR);
}

NULL_ROW(petal_hfile_writer_new, NULL_STATUS)
{
    petal_hfile_write_options options = {.size = sizeof options};
    struct memory_sink memory;
    const petal_hfile_sink sink = memory_sink_begin(&memory);
    static petal_hfile_writer *writer;
    enum petal_status status = petal_hfile_writer_new(
        GIVEN(sink, &sink), OPTIONAL(options, &options), OUT(writer, writer), ERROR);

    if (status == PETAL_OK)
        petal_hfile_writer_free(writer);
    memory_sink_free(&memory);
    return status;
}

NULL_CALL(petal_hfile_writer_add, NULL_STATUS,
          petal_hfile_writer_add(GIVEN(writer, S->writer), GIVEN(cell, &some_cell), ERROR))
NULL_CALL(petal_hfile_writer_info, NULL_STATUS,
          petal_hfile_writer_info(GIVEN(writer, S->writer), BYTES(key, "key"),
                                  BYTES(value, "value"), ERROR))
NULL_CALL(petal_hfile_writer_meta, NULL_STATUS,
          petal_hfile_writer_meta(GIVEN(writer, S->writer), BYTES(name, "name"),
                                  BYTES(bytes, "bytes"), ERROR))
NULL_CALL(petal_hfile_writer_bytes, NULL_ZERO, petal_hfile_writer_bytes(GIVEN(writer, S->writer)))
NULL_CALL(petal_hfile_writer_cells, NULL_ZERO, petal_hfile_writer_cells(GIVEN(writer, S->writer)))

NULL_ROW(petal_hfile_writer_finish, NULL_STATUS)
{
    uint64_t bytes;

    return petal_hfile_writer_finish(GIVEN(writer, S->writer), OPTIONAL(file_bytes, &bytes), ERROR);
}

NULL_FREES(petal_hfile_writer_free, writer, struct state)

NULL_ROW(petal_hfile_export, NULL_STATUS)
{
    petal_hfile_export_options options = {.size = sizeof options};
    petal_hfile_export_counts counts;

    open_database(S);
    return petal_hfile_export(GIVEN(db, S->db), GIVEN(table, S->table), GIVEN(directory, S->other),
                              OPTIONAL(options, &options), OPTIONAL(counts, &counts), ERROR);
}

NULL_MAKES(petal_hfile_set_new, petal_hfile_set *, petal_hfile_set_free,
           petal_hfile_set_new(OUT(set, made), ERROR))
NULL_FREES(petal_hfile_set_free, set, struct state)
NULL_CALL(petal_hfile_set_add, NULL_STATUS,
          petal_hfile_set_add(GIVEN(set, S->set), GIVEN(path, S->path), ERROR))
NULL_CALL(petal_hfile_set_describe, NULL_STATUS,
          petal_hfile_set_describe(GIVEN(set, S->set), BYTES(text, "{NAME => 'cf'}"),
                                   GIVEN(name, "text"), ERROR))
NULL_CALL(petal_hfile_set_count, NULL_ZERO, petal_hfile_set_count(GIVEN(set, S->set)))
NULL_CALL(petal_hfile_set_path, NULL_ZERO, address(petal_hfile_set_path(GIVEN(set, S->set), 0)))

NULL_ROW(petal_hfile_set_table, NULL_STATUS)
{
    petal_table_options options = {.size = sizeof options};
    bool is_described;

    return petal_hfile_set_table(GIVEN(set, S->set), GIVEN(options, &options),
                                 GIVEN(is_described, &is_described), ERROR);
}

NULL_ROW(petal_hfile_import, NULL_STATUS)
{
    petal_hfile_import_options options = {.size = sizeof options};
    petal_hfile_import_counts counts;

    open_database(S);
    return petal_hfile_import(GIVEN(table, S->table), GIVEN(set, S->set),
                              OPTIONAL(options, &options), OPTIONAL(counts, &counts), ERROR);
}

NULL_ROW(petal_hfile_import_as, NULL_STATUS)
{
    petal_hfile_import_options options = {.size = sizeof options};
    enum petal_hfile_table_origin origin;
    petal_hfile_import_counts counts;

    open_database(S);
    return petal_hfile_import_as(GIVEN(db, S->db), BYTES(name, "new"), GIVEN(set, S->set),
                                 OPTIONAL(options, &options), OPTIONAL(origin, &origin),
                                 OPTIONAL(counts, &counts), ERROR);
}

TEST(null_in_each_argument)
{
    static const struct null_fixture fixture = {make_state, free_state};

    null_arguments_test("tools/hfile/petal_hfile.h", &fixture);
}
