/* script.c -- see tests/engine/script.h. */
#include "tests/engine/script.h"

#include "base/coding.h"
#include "base/slice.h"
#include "tests/engine/cell_text.h"
#include "tests/engine/table/copy_fixture.h"

#include <inttypes.h>
#include <stdlib.h>

#define MOST_WORDS   64
#define MOST_COLUMNS 8

struct words {
    char *at[MOST_WORDS + 1]; /* NULL after the last */
    size_t count;
};

/* For messages. */
static const char *case_at_work = "";
static char statement_at_work[CELL_TEXT_BYTES];

#define FAIL(...)                                                                                  \
    do {                                                                                           \
        print_error("%s: in \"%s\":\n", case_at_work, statement_at_work);                          \
        fail_msg(__VA_ARGS__);                                                                     \
    } while (0)

/* ---- names ---- */

static struct script_name *
find_name(struct script *script, enum script_kind kind, const char *name)
{
    for (size_t i = 0; i < sizeof script->names / sizeof *script->names; i++) {
        struct script_name *found = &script->names[i];

        if (found->kind == kind && strcmp(found->name, name) == 0)
            return found;
    }
    return NULL;
}

static void
set_name(struct script *script, enum script_kind kind, const char *name, void *object)
{
    struct script_name *found = find_name(script, kind, name);

    for (size_t i = 0; found == NULL; i++) {
        assert_true(i < sizeof script->names / sizeof *script->names);
        if (script->names[i].kind == 0)
            found = &script->names[i];
    }
    assert_true(strlen(name) < sizeof found->name);
    found->kind = kind;
    strcpy(found->name, name);
    found->object = object;
}

static void *
named(struct script *script, enum script_kind kind, const char *name)
{
    struct script_name *found = name == NULL ? NULL : find_name(script, kind, name);

    if (found == NULL)
        FAIL("there is no \"%s\"", name == NULL ? "" : name);
    return found->object;
}

/* Forget it; gives its object. */
static void *
take_name(struct script *script, enum script_kind kind, const char *name)
{
    void *object = named(script, kind, name);

    *find_name(script, kind, name) = (struct script_name){0};
    return object;
}

petal_table *
script_table(struct script *script, const char *name)
{
    petal_table *table;

    if (name != NULL && find_name(script, SCRIPT_TABLE, name) == NULL) {
        MUST(petal_table_open(script->base.db, text(name), &table, WHY));
        set_name(script, SCRIPT_TABLE, name, table);
    }
    return named(script, SCRIPT_TABLE, name);
}

void
script_name_bulk(struct script *script, const char *name, petal_bulk *bulk)
{
    set_name(script, SCRIPT_BULK, name, bulk);
}

petal_family *
script_family(struct script *script, const char *table, const char *family)
{
    petal_family *found;

    MUST(petal_table_family(script_table(script, table), text(family), &found, WHY));
    return found;
}

/* ---- cells ---- */

static const petal_cell *
parse_cell(const char *word, struct cell_text *parsed)
{
    if (!cell_text_parse(word, parsed))
        FAIL("\"%s\" is no cell", word);
    return &parsed->cell;
}

/* The next of the words is that cell; without a cell: there is none left, or a bar. */
static void
expect(const petal_cell *cell, char ***wanted)
{
    bool at_end = **wanted == NULL || strcmp(**wanted, "|") == 0;

    if (cell == NULL ? !at_end : at_end || !cell_text_is(cell, **wanted))
        FAIL("%s, expected %s", cell == NULL ? "the end" : cell_text_of(cell),
             **wanted == NULL ? "the end" : **wanted);
    if (**wanted != NULL && cell != NULL)
        ++*wanted;
}

/* ---- families ---- */

static const char *
value_of(const char *word, const char *name)
{
    size_t length = strlen(name);

    return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static void
set_attribute(petal_family_options *family, const char *word)
{
    static const struct {
        const char *word;
        enum petal_bloom_type type;
    } blooms[] = {{"none", PETAL_BLOOM_NONE},
                  {"row", PETAL_BLOOM_ROW},
                  {"rowcol", PETAL_BLOOM_ROWCOL},
                  {"both", PETAL_BLOOM_ROW_ROWCOL}};
    const char *value;

    if ((value = value_of(word, "versions")) != NULL)
        family->versions = (uint32_t)atoi(value);
    else if ((value = value_of(word, "min")) != NULL)
        family->min_versions = (uint32_t)atoi(value);
    else if ((value = value_of(word, "ttl")) != NULL)
        family->ttl_seconds = (uint32_t)atoi(value);
    else if ((value = value_of(word, "block")) != NULL)
        family->block_bytes = (uint32_t)atoi(value);
    else if ((value = value_of(word, "keep")) != NULL)
        family->keep_deleted_cells =
            strcmp(value, "ttl") == 0 ? PETAL_KEEP_DELETED_TTL : PETAL_KEEP_DELETED_TRUE;
    else if (strcmp(word, "new") == 0)
        family->new_version_behavior = true;
    else if ((value = value_of(word, "bloom")) != NULL)
        for (size_t i = 0; i < sizeof blooms / sizeof *blooms; i++)
            family->bloom = strcmp(blooms[i].word, value) == 0 ? blooms[i].type : family->bloom;
    else
        FAIL("\"%s\" is no attribute", word);
}

/* Takes the words apart. */
static petal_table_options
table_options(struct script *script, char **words, petal_family_options families[MOST_COLUMNS])
{
    petal_table_options options = {.families = families};

    for (; *words != NULL; words++) {
        petal_family_options *family = &families[options.family_count++];
        char *attribute = strchr(*words, ',');

        *family = script->family;
        family->name = slice_make(*words, 1);
        while (attribute != NULL) {
            char *next = strchr(attribute + 1, ',');

            if (next != NULL)
                *next = '\0';
            set_attribute(family, attribute + 1);
            attribute = next;
        }
    }
    return options;
}

/* ---- statements that change something ---- */

#define STATEMENT(name)                                                                            \
    static enum petal_status do_##name(struct script *script __attribute__((unused)),              \
                                       char **words __attribute__((unused)),                       \
                                       petal_error *error __attribute__((unused)))

/* A table that came under the name. */
static enum petal_status
got_table(struct script *script, const char *name, petal_table *table, enum petal_status status)
{
    if (status == PETAL_OK)
        set_name(script, SCRIPT_TABLE, name, table);
    return status;
}

STATEMENT(table)
{
    petal_family_options families[MOST_COLUMNS];
    petal_table_options options = table_options(script, words + 1, families);
    petal_table *table;
    enum petal_status status;

    options.name = text(words[0]);
    status = petal_table_create(script->base.db, &options, &table, error);
    return got_table(script, words[0], table, status);
}

STATEMENT(alter)
{
    petal_family_options families[MOST_COLUMNS];
    petal_table_options options = table_options(script, words + 1, families);

    return petal_table_alter(script_table(script, words[0]), &options, error);
}

STATEMENT(drop)
{
    return petal_table_drop(script_table(script, words[0]), error);
}

STATEMENT(truncate)
{
    petal_table *table;
    enum petal_status status = petal_table_truncate(script_table(script, words[0]), &table, error);

    return got_table(script, words[0], table, status);
}

STATEMENT(keep)
{
    set_name(script, SCRIPT_TABLE, words[0], script_table(script, words[1]));
    return PETAL_OK;
}

static enum petal_status
family_of(petal_table *table, const petal_cell *cell, petal_family **family, petal_error *error)
{
    return petal_table_family(table, cell->family, family, error);
}

/* What the latest write gave back. */
static petal_result *
given(struct script *script)
{
    if (script->given == NULL)
        MUST(petal_result_new(script->base.db, &script->given, WHY));
    return script->given;
}

static enum petal_status
put_cells(struct script *script, char **words, petal_write_options options, petal_error *error)
{
    petal_table *table = script_table(script, words[0]);
    enum petal_status status = PETAL_OK;
    struct cell_text parsed;

    options.result = given(script);
    for (words++; status == PETAL_OK && *words != NULL; words++) {
        const petal_cell *cell = &parsed.cell;
        petal_family *family;

        parse_cell(*words, &parsed);
        options.has_ttl = cell->has_ttl;
        options.ttl_ms = cell->ttl_ms;
        status = family_of(table, cell, &family, error);
        if (status == PETAL_OK && cell->type == PETAL_PUT)
            status = petal_put(family, cell->row, cell->qualifier, cell->timestamp, cell->value,
                               &options, error);
        else if (status == PETAL_OK)
            status = petal_delete(family, cell->row, cell->qualifier, cell->timestamp, cell->type,
                                  &options, error);
    }
    return status;
}

STATEMENT(put)
{
    return put_cells(script, words, (petal_write_options){0}, error);
}

STATEMENT(unlogged)
{
    return put_cells(script, words, (petal_write_options){.durability = PETAL_SKIP_WAL}, error);
}

STATEMENT(version)
{
    return put_cells(script, words, (petal_write_options){.new_version = true}, error);
}

static void
set_range(const char *value, bool *has, int64_t *min, int64_t *limit)
{
    *has = true;
    *min = strtoll(value, NULL, 10);
    *limit = strtoll(strstr(value, "..") + 2, NULL, 10);
}

/* "{ttl=MS}", "{range=MIN..LIMIT}", "{silent}", "{}". */
static void
begin_mutation(petal_batch *batch, char *word)
{
    petal_mutation_options options = {0};
    const char *value;

    word[strlen(word) - 1] = '\0';
    for (char *at = strtok(word + 1, " "); at != NULL; at = strtok(NULL, " ")) {
        if ((value = value_of(at, "range")) != NULL) {
            set_range(value, &options.has_time_range, &options.time_min, &options.time_limit);
        } else if ((value = value_of(at, "ttl")) != NULL) {
            options.has_ttl = true;
            options.ttl_ms = strtoll(value, NULL, 10);
        } else {
            options.no_results = true;
        }
    }
    MUST(petal_batch_mutation(batch, &options, WHY));
}

/* "ROW" or "ROW@TIMESTAMP". */
static petal_slice
parse_row(const char *word, char *bytes, int64_t *timestamp)
{
    petal_slice row = cell_text_bytes(&word, "@", &bytes);

    *timestamp = *word == '@' ? strtoll(word + 1, NULL, 10) : PETAL_LATEST;
    return row;
}

static void
add_to_batch(petal_table *table, petal_batch *batch, char *word)
{
    bool adds = strncmp(word, "inc:", 4) == 0, appends = strncmp(word, "app:", 4) == 0;
    struct cell_text parsed;
    const petal_cell *cell = &parsed.cell;
    petal_family *family;

    if (*word == '{') {
        begin_mutation(batch, word);
        return;
    }
    if (strncmp(word, "row:", 4) == 0) {
        int64_t timestamp;
        petal_slice row = parse_row(word + 4, parsed.bytes, &timestamp);

        MUST(petal_batch_delete_row(batch, table, row, timestamp, WHY));
        return;
    }
    parse_cell(adds || appends ? word + 4 : word, &parsed);
    MUST(family_of(table, cell, &family, WHY));
    if (adds)
        MUST(petal_batch_increment(batch, family, cell->row, cell->qualifier,
                                   (int64_t)get_be64(slice_bytes(cell->value)), WHY));
    else if (appends)
        MUST(petal_batch_append(batch, family, cell->row, cell->qualifier, cell->value, WHY));
    else if (cell->type == PETAL_PUT)
        MUST(petal_batch_put(batch, family, cell->row, cell->qualifier, cell->timestamp,
                             cell->value, WHY));
    else
        MUST(petal_batch_delete(batch, family, cell->row, cell->qualifier, cell->timestamp,
                                cell->type, WHY));
}

static enum petal_status
write_batch(struct script *script, char **words, petal_write_options options, petal_error *error)
{
    petal_table *table = script_table(script, words[0]);
    enum petal_status status;
    petal_batch *batch;

    options.result = given(script);
    MUST(petal_batch_new(script->base.db, &batch, WHY));
    for (words++; *words != NULL; words++)
        add_to_batch(table, batch, *words);
    status = petal_write(script->base.db, batch, &options, error);
    petal_batch_free(batch);
    return status;
}

STATEMENT(batch)
{
    return write_batch(script, words, (petal_write_options){0}, error);
}

/* Of one row, and the sum is what is given. */
STATEMENT(inc)
{
    petal_write_options options = {.result = given(script)};
    petal_table *table = script_table(script, words[0]);
    struct cell_text parsed;
    petal_family *family;
    int64_t sum;
    enum petal_status status;

    parse_cell(words[1], &parsed);
    MUST(family_of(table, &parsed.cell, &family, WHY));
    status =
        petal_increment(family, parsed.cell.row, parsed.cell.qualifier,
                        (int64_t)get_be64(slice_bytes(parsed.cell.value)), &options, &sum, error);
    if (status == PETAL_OK)
        assert_int_equal(
            sum, (int64_t)get_be64(slice_bytes(petal_result_cell(script->given, 0)->value)));
    return status;
}

STATEMENT(app)
{
    petal_write_options options = {.result = given(script)};
    struct cell_text parsed;
    petal_family *family;

    parse_cell(words[1], &parsed);
    MUST(family_of(script_table(script, words[0]), &parsed.cell, &family, WHY));
    return petal_append(family, parsed.cell.row, parsed.cell.qualifier, parsed.cell.value, &options,
                        error);
}

STATEMENT(given)
{
    char **wanted = words + 1;

    for (size_t i = 0; i < petal_result_count(given(script)); i++)
        expect(petal_result_cell(script->given, i), &wanted);
    expect(NULL, &wanted);
    return PETAL_OK;
}

STATEMENT(delete_row)
{
    char bytes[CELL_TEXT_BYTES];
    int64_t timestamp;
    petal_slice row = parse_row(words[1], bytes, &timestamp);

    return petal_delete_row(script_table(script, words[0]), row, timestamp, NULL, error);
}

STATEMENT(flush)
{
    return petal_flush(script->base.db, words[0] == NULL ? NULL : script_table(script, words[0]),
                       error);
}

STATEMENT(compact)
{
    return petal_compact(script_table(script, words[0]), NULL, error);
}

STATEMENT(verify)
{
    return petal_table_verify(script_table(script, words[0]), error);
}

/* All handles are of the database that was open. */
static void
forget_handles(struct script *script)
{
    petal_result_free(script->given);
    script->given = NULL;
    for (size_t i = 0; i < sizeof script->names / sizeof *script->names; i++) {
        assert_in_range(script->names[i].kind, 0, SCRIPT_TABLE);
        script->names[i] = (struct script_name){0};
    }
}

STATEMENT(shut)
{
    forget_handles(script);
    fixture_must_close(&script->base);
    return PETAL_OK;
}

STATEMENT(kill)
{
    forget_handles(script);
    fixture_die(&script->base);
    return PETAL_OK;
}

STATEMENT(reopen)
{
    if (script->base.db != NULL)
        (void)do_shut(script, words, error);
    return fixture_open(&script->base, error);
}

STATEMENT(die)
{
    (void)do_kill(script, words, error);
    return fixture_open(&script->base, error);
}

STATEMENT(clock)
{
    test_clock_set(&script->base.clock, strtoll(words[0], NULL, 10));
    return PETAL_OK;
}

STATEMENT(later)
{
    test_clock_advance(&script->base.clock, strtoll(words[0], NULL, 10));
    return PETAL_OK;
}

/* ---- copies, moments, bulks ---- */

STATEMENT(take)
{
    return petal_table_snapshot_create(script_table(script, words[0]), text(words[1]), NULL, error);
}

STATEMENT(clone)
{
    petal_table *table;
    enum petal_status status =
        petal_table_snapshot_clone(script->base.db, text(words[0]), text(words[1]), &table, error);

    return got_table(script, words[1], table, status);
}

STATEMENT(restore)
{
    petal_table *table;
    enum petal_status status =
        petal_table_snapshot_restore(script->base.db, text(words[0]), &table, error);

    return got_table(script, words[1], table, status);
}

STATEMENT(delete)
{
    return petal_table_snapshot_delete(script->base.db, text(words[0]), error);
}

static bool
expect_snapshot(void *argument, const petal_table_snapshot_info *info)
{
    char ***wanted = argument;

    if (**wanted == NULL || !slice_equal(info->name, text(**wanted)))
        FAIL("there is a snapshot %.*s", (int)info->name.size, (const char *)info->name.data);
    ++*wanted;
    return true;
}

STATEMENT(snapshots)
{
    char **wanted = words + 1; /* after the colon */

    MUST(petal_table_snapshot_list(script->base.db, expect_snapshot, &wanted, WHY));
    if (*wanted != NULL)
        FAIL("there is no snapshot %s", *wanted);
    return PETAL_OK;
}

STATEMENT(moment)
{
    petal_snapshot *snapshot;
    enum petal_status status = petal_snapshot_new(script->base.db, &snapshot, error);

    set_name(script, SCRIPT_MOMENT, words[0], snapshot);
    return status;
}

STATEMENT(forget)
{
    petal_snapshot_free(take_name(script, SCRIPT_MOMENT, words[0]));
    return PETAL_OK;
}

static enum petal_status
begin_bulk(struct script *script, char **words, enum petal_bulk_place place, petal_error *error)
{
    petal_bulk_options options = {.place = place};
    petal_bulk *bulk;
    enum petal_status status =
        petal_bulk_begin(script_table(script, words[1]), &options, &bulk, error);

    if (status == PETAL_OK)
        set_name(script, SCRIPT_BULK, words[0], bulk);
    return status;
}

STATEMENT(bulk)
{
    return begin_bulk(script, words, (enum petal_bulk_place)0, error);
}

STATEMENT(below)
{
    return begin_bulk(script, words, PETAL_BULK_BELOW, error);
}

STATEMENT(add)
{
    petal_bulk *bulk = named(script, SCRIPT_BULK, words[0]);
    petal_table *table = script_table(script, words[1]);
    enum petal_status status = PETAL_OK;
    struct cell_text parsed;

    for (words += 2; status == PETAL_OK && *words != NULL; words++) {
        petal_family *family;

        parse_cell(*words, &parsed);
        MUST(family_of(table, &parsed.cell, &family, WHY));
        status = petal_bulk_add(bulk, family, &parsed.cell, error);
    }
    return status;
}

/* The bulk goes, whether it could be committed or not. */
STATEMENT(commit)
{
    petal_bulk *bulk = take_name(script, SCRIPT_BULK, words[0]);
    enum petal_status status = petal_bulk_commit(bulk, error);

    petal_bulk_free(bulk);
    return status;
}

STATEMENT(give_up)
{
    petal_bulk_free(take_name(script, SCRIPT_BULK, words[0]));
    return PETAL_OK;
}

/* ---- reads ---- */

struct read {
    petal_scan_options scan;
    petal_slice row; /* of a get; no data: a scan */
    petal_column columns[MOST_COLUMNS];
    petal_filter *filter;
    char bytes[CELL_TEXT_BYTES];
    char *end; /* of the bytes */
};

static petal_slice
read_bytes(struct read *read, const char *word)
{
    return cell_text_bytes(&word, "", &read->end);
}

static void
add_column(struct script *script, struct read *read, const char *table, const char *value)
{
    petal_column *column = &read->columns[read->scan.read.column_count++];

    *column = (petal_column){.family = script_family(script, table, (char[]){*value, '\0'}),
                             .whole_family = value[1] == '\0'};
    if (!column->whole_family)
        column->qualifier = read_bytes(read, value + 2);
    read->scan.read.columns = read->columns;
}

static bool
set_bounds(struct read *read, const char *word)
{
    petal_scan_options *scan = &read->scan;
    const char *value;

    if ((value = value_of(word, "from")) != NULL || (value = value_of(word, "after")) != NULL) {
        scan->start_row = read_bytes(read, value);
        scan->start_exclusive = *word == 'a';
    } else if ((value = value_of(word, "to")) != NULL ||
               (value = value_of(word, "through")) != NULL) {
        scan->stop_row = read_bytes(read, value);
        scan->stop_inclusive = word[1] == 'h';
    } else if ((value = value_of(word, "prefix")) != NULL) {
        scan->prefix = read_bytes(read, value);
    } else if ((value = value_of(word, "limit")) != NULL) {
        scan->row_limit = strtoull(value, NULL, 10);
    } else if (strcmp(word, "reversed") == 0) {
        scan->reversed = true;
    } else if (strcmp(word, "raw") == 0) {
        scan->raw = true;
        scan->read.versions = PETAL_ALL_VERSIONS;
    } else if ((value = value_of(word, "batch")) != NULL) {
        scan->batch = strtoull(value, NULL, 10);
    } else {
        return false;
    }
    return true;
}

static void
set_option(struct script *script, struct read *read, const char *table, char *word)
{
    petal_read_options *options = &read->scan.read;
    const char *value;

    if (set_bounds(read, word))
        return;
    if ((value = value_of(word, "row")) != NULL) {
        read->row = read_bytes(read, value);
    } else if ((value = value_of(word, "column")) != NULL) {
        add_column(script, read, table, value);
    } else if ((value = value_of(word, "versions")) != NULL) {
        options->versions = atoi(value);
    } else if (strcmp(word, "all") == 0) {
        options->versions = PETAL_ALL_VERSIONS;
    } else if ((value = value_of(word, "range")) != NULL) {
        set_range(value, &options->has_time_range, &options->time_min, &options->time_limit);
    } else if ((value = value_of(word, "cells")) != NULL) {
        options->family_cell_limit = strtoull(value, NULL, 10);
    } else if ((value = value_of(word, "skip")) != NULL) {
        options->family_cell_offset = strtoull(value, NULL, 10);
    } else if ((value = value_of(word, "at")) != NULL) {
        options->snapshot = named(script, SCRIPT_MOMENT, value);
    } else if ((value = value_of(word, "filter")) != NULL) {
        MUST(petal_filter_parse(script->base.db, slice_make(value + 1, strlen(value) - 2),
                                &read->filter, WHY));
        options->filter = read->filter;
    } else {
        FAIL("\"%s\" is no option of a read", word);
    }
}

/* Up to the colon or the end of the words; *wanted: what comes after. */
static void
parse_read(struct script *script, struct read *read, const char *table, char **words,
           char ***wanted)
{
    *read = (struct read){.end = NULL};
    read->end = read->bytes;
    for (; *words != NULL && strcmp(*words, ":") != 0; words++)
        set_option(script, read, table, *words);
    *wanted = *words == NULL ? words : words + 1;
}

static petal_result *
new_result(struct script *script)
{
    petal_result *result;

    MUST(petal_result_new(script->base.db, &result, WHY));
    return result;
}

static void
expect_rest(petal_cursor *cursor, char **wanted)
{
    const petal_cell *cell;

    do {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        expect(cell, &wanted);
    } while (cell != NULL);
}

/* `bars`: the words have one after each result. */
static void
expect_results(struct script *script, petal_cursor *cursor, char **wanted, bool bars)
{
    petal_result *result = new_result(script);

    for (;;) {
        MUST(petal_cursor_next_row(cursor, result, WHY));
        if (petal_result_count(result) == 0)
            break;
        for (size_t i = 0; i < petal_result_count(result); i++)
            expect(petal_result_cell(result, i), &wanted);
        if (bars && (*wanted == NULL || strcmp(*wanted++, "|") != 0))
            FAIL("a result ends before %s", *wanted == NULL ? "the end" : *wanted);
    }
    expect(NULL, &wanted);
    petal_result_free(result);
}

/* How many it deletes; the options are those of reads. */
STATEMENT(delete_rows)
{
    petal_delete_rows_options options = {0};
    petal_table *table = script_table(script, words[0]);
    petal_deleted_rows deleted;
    struct read read;
    char **wanted;
    enum petal_status status;

    parse_read(script, &read, words[0], words + 1, &wanted);
    options.prefix = read.scan.prefix;
    options.columns = read.scan.read.columns;
    options.column_count = read.scan.read.column_count;
    options.snapshot = read.scan.read.snapshot;
    options.has_timestamp = read.scan.read.has_time_range;
    options.timestamp = read.scan.read.time_min; /* of the markers */
    status = petal_delete_rows(table, read.scan.start_row, read.scan.stop_row, &options, &deleted,
                               error);
    if (status == PETAL_OK &&
        (deleted.next.size > 0 || *wanted == NULL || deleted.rows != strtoull(*wanted, NULL, 10)))
        FAIL("%" PRIu64 " rows are deleted", deleted.rows);
    return status;
}

STATEMENT(show)
{
    petal_table *table = script_table(script, words[0]);
    petal_result *result;
    petal_cursor *cursor;
    struct read read;
    char **wanted;

    parse_read(script, &read, words[0], words + 1, &wanted);
    if (read.row.data != NULL) {
        result = new_result(script);
        MUST(petal_get(table, read.row, &read.scan.read, result, WHY));
        for (size_t i = 0; i < petal_result_count(result); i++)
            expect(petal_result_cell(result, i), &wanted);
        expect(NULL, &wanted);
        petal_result_free(result);
    } else {
        MUST(petal_cursor_open(table, &read.scan, &cursor, WHY));
        expect_rest(cursor, wanted);
        petal_cursor_close(cursor);
        MUST(petal_cursor_open(table, &read.scan, &cursor, WHY));
        expect_results(script, cursor, wanted, false);
        petal_cursor_close(cursor);
    }
    petal_filter_free(read.filter);
    return PETAL_OK;
}

STATEMENT(open)
{
    petal_table *table = script_table(script, words[1]);
    petal_cursor *cursor;
    struct read read;
    char **wanted;
    enum petal_status status;

    parse_read(script, &read, words[1], words + 2, &wanted);
    status = petal_cursor_open(table, &read.scan, &cursor, error);
    petal_filter_free(read.filter); /* the cursor keeps what it uses */
    if (status == PETAL_OK)
        set_name(script, SCRIPT_CURSOR, words[0], cursor);
    return status;
}

STATEMENT(step)
{
    char **wanted = words + 2;
    const petal_cell *cell;
    enum petal_status status =
        petal_cursor_next(named(script, SCRIPT_CURSOR, words[0]), &cell, error);

    if (status == PETAL_OK)
        expect(cell, &wanted);
    return status;
}

STATEMENT(rest)
{
    expect_rest(named(script, SCRIPT_CURSOR, words[0]), words + 2);
    return PETAL_OK;
}

STATEMENT(rows)
{
    expect_results(script, named(script, SCRIPT_CURSOR, words[0]), words + 2, true);
    return PETAL_OK;
}

STATEMENT(seek)
{
    petal_cursor *cursor = named(script, SCRIPT_CURSOR, words[0]);
    char bytes[CELL_TEXT_BYTES], *to = bytes;
    const char *at = words[1];
    petal_slice row = cell_text_bytes(&at, "/", &to), name;
    petal_family *family = NULL;

    if (*at == '/') {
        at++;
        name = cell_text_bytes(&at, ":", &to);
        /* Handles of families are the table's, of which the cursor tells nothing. */
        MUST(petal_table_family(script_table(script, words[2] == NULL ? "t" : words[2]), name,
                                &family, WHY));
        at += *at == ':';
    }
    return petal_cursor_seek(cursor, row, family, cell_text_bytes(&at, "", &to), error);
}

STATEMENT(close)
{
    petal_cursor_close(take_name(script, SCRIPT_CURSOR, words[0]));
    return PETAL_OK;
}

STATEMENT(files)
{
    size_t files = fixture_count_files(&script->base, ".sst");

    if (files != strtoull(words[0], NULL, 10))
        FAIL("there are %zu files", files);
    return PETAL_OK;
}

static bool
add_cells(void *argument, const petal_file_info *file)
{
    *(uint64_t *)argument += file->cells;
    return true;
}

STATEMENT(stored)
{
    uint64_t cells = 0;

    MUST(petal_table_files(script_table(script, words[0]), add_cells, &cells, WHY));
    if (cells != strtoull(words[1], NULL, 10))
        FAIL("there are %" PRIu64 " cells", cells);
    return PETAL_OK;
}

STATEMENT(close_database)
{
    return petal_close(script->base.db, error);
}

STATEMENT(clean)
{
    copy_fixture_expect_no_stray(&script->base);
    return PETAL_OK;
}

/* ---- statements ---- */

static const struct statement {
    const char *name;
    enum petal_status (*run)(struct script *script, char **words, petal_error *error);
} statements_known[] = {
    {"table", do_table},
    {"alter", do_alter},
    {"drop", do_drop},
    {"truncate", do_truncate},
    {"keep", do_keep},
    {"put", do_put},
    {"unlogged", do_unlogged},
    {"batch", do_batch},
    {"flush", do_flush},
    {"compact", do_compact},
    {"verify", do_verify},
    {"reopen", do_reopen},
    {"die", do_die},
    {"clock", do_clock},
    {"later", do_later},
    {"take", do_take},
    {"clone", do_clone},
    {"restore", do_restore},
    {"delete", do_delete},
    {"snapshots", do_snapshots},
    {"moment", do_moment},
    {"forget", do_forget},
    {"bulk", do_bulk},
    {"below", do_below},
    {"add", do_add},
    {"commit", do_commit},
    {"give-up", do_give_up},
    {"show", do_show},
    {"open", do_open},
    {"step", do_step},
    {"rest", do_rest},
    {"rows", do_rows},
    {"seek", do_seek},
    {"close", do_close},
    {"files", do_files},
    {"clean", do_clean},
    {"shut", do_shut},
    {"kill", do_kill},
    {"stored", do_stored},
    {"version", do_version},
    {"inc", do_inc},
    {"app", do_app},
    {"given", do_given},
    {"delete-row", do_delete_row},
    {"delete-rows", do_delete_rows},
    {"close-database", do_close_database},
};

static enum petal_status
run_statement(struct script *script, char **words, petal_error *error)
{
    for (size_t i = 0; i < sizeof statements_known / sizeof *statements_known; i++) {
        if (strcmp(statements_known[i].name, words[0]) == 0)
            return statements_known[i].run(script, words + 1, error);
    }
    FAIL("there is no such statement");
    return PETAL_OK;
}

static enum petal_status
status_named(const char *name)
{
    static const struct {
        const char *name;
        enum petal_status status;
    } names[] = {{"invalid", PETAL_INVALID}, {"not-found", PETAL_NOT_FOUND},
                 {"exists", PETAL_EXISTS},   {"read-only", PETAL_READ_ONLY},
                 {"busy", PETAL_BUSY},       {"corrupt", PETAL_CORRUPT}};

    for (size_t i = 0; name != NULL && i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i].name, name) == 0)
            return names[i].status;
    }
    FAIL("there is no such status");
    return PETAL_OK;
}

/* Blanks in braces stay. */
static void
split_words(char *line, struct words *words)
{
    words->count = 0;
    for (char *at = line; *at != '\0';) {
        bool braced = false;

        at += strspn(at, " ");
        if (*at == '\0')
            break;
        assert_true(words->count < MOST_WORDS);
        words->at[words->count++] = at;
        for (; *at != '\0' && (*at != ' ' || braced); at++)
            braced = *at == '{' || (braced && *at != '}');
        if (*at != '\0')
            *at++ = '\0';
    }
    words->at[words->count] = NULL;
}

static void
do_line(struct script *script, char *line)
{
    struct words words;
    petal_error error = {0};
    enum petal_status status;

    snprintf(statement_at_work, sizeof statement_at_work, "%s", line);
    line += strspn(line, " ");
    if (strncmp(line, "told ", 5) == 0) {
        if (strstr(script->error.text, line + 5) == NULL)
            FAIL("the text is \"%s\"", script->error.text);
        return;
    }
    split_words(line, &words);
    if (words.count == 0)
        return;
    if (strcmp(words.at[0], "refused") != 0) {
        if (run_statement(script, words.at, &error) != PETAL_OK)
            FAIL("%s", error.text);
        return;
    }
    status = run_statement(script, words.at + 2, &script->error);
    if (status != status_named(words.at[1]))
        FAIL("%s: %s", petal_status_text(status), script->error.text);
}

void
script_do(struct script *script, const char *statements)
{
    char line[CELL_TEXT_BYTES];

    while (*statements != '\0') {
        size_t length = strcspn(statements, ";\n");

        assert_true(length < sizeof line);
        memcpy(line, statements, length);
        line[length] = '\0';
        do_line(script, line);
        statements += length + (statements[length] != '\0');
    }
}

void
script_do_on(petal_db *db, const char *statements)
{
    struct script script = {.base = {.db = db}};

    script_do(&script, statements);
    petal_result_free(script.given);
}

void
script_do_in(struct script *script, const char *directory, const char *statements)
{
    petal_options options = script->base.options;
    petal_db *db;

    options.create = false;
    MUST(petal_open(directory, &options, &db, WHY));
    script_do_on(db, statements);
    MUST(petal_close(db, WHY));
}

void
script_begin(struct script *script)
{
    memset(script, 0, sizeof *script);
    fixture_init(&script->base, 1);
    test_clock_set(&script->base.clock, 1000);
    fixture_must_open(&script->base);
}

void
script_end(struct script *script)
{
    for (size_t i = 0; i < sizeof script->names / sizeof *script->names; i++) {
        struct script_name *name = &script->names[i];

        if (name->kind == SCRIPT_MOMENT)
            petal_snapshot_free(name->object);
        else if (name->kind == SCRIPT_CURSOR)
            petal_cursor_close(name->object);
        else if (name->kind == SCRIPT_BULK)
            petal_bulk_free(name->object);
    }
    petal_result_free(script->given);
    fixture_fini(&script->base);
}

void
script_case_do(struct script *script, const struct script_case *of)
{
    case_at_work = of->says;
    script_do(script, of->statements);
}

void
script_run(const struct script_case *of)
{
    struct script script;

    script_begin(&script);
    script_case_do(&script, of);
    script_end(&script);
}
