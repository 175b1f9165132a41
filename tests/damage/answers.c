/* answers.c -- see answers.h. */
#include "tests/damage/answers.h"

#include "base/checksum.h"
#include "base/slice.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- visits ---- */

void
visit_init(struct visit *visit, const struct gallery *gallery, struct memory_vfs *vfs)
{
    *visit = (struct visit){.gallery = gallery};
    fixture_init_on(&visit->fixture, vfs, gallery->seed + 1);
    test_allocator_limit(&visit->fixture.allocator, VISIT_MOST_BYTES);
    visit->fixture.options.create = false;
    visit->fixture.options.memtable_bytes = (size_t)64 << 10;
    test_clock_set(&visit->fixture.clock, GALLERY_READ_MS);
}

/* All that does not depend on the files. */
static enum petal_status
make_tools(struct visit *visit, petal_error *error)
{
    petal_db *db = visit->fixture.db;
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < sizeof visit->results / sizeof *visit->results;
         i++)
        status = petal_result_new(db, &visit->results[i], error);
    if (status == PETAL_OK)
        status = petal_receipt_new(db, &visit->receipt, error);
    if (status == PETAL_OK)
        status = petal_filter_parse(db, slice_from_text("ValueFilter(!=, 'binary:x')"),
                                    &visit->filter, error);
    return status;
}

void
visit_end(struct visit *visit)
{
    for (size_t i = 0; i < sizeof visit->results / sizeof visit->results[0]; i++) {
        petal_result_free(visit->results[i]);
        visit->results[i] = NULL;
    }
    petal_receipt_free(visit->receipt);
    petal_filter_free(visit->filter);
    visit->receipt = NULL;
    visit->filter = NULL;
}

static enum petal_status
attach(struct visit *visit, petal_error *error)
{
    for (size_t i = 0; i < GALLERY_FAMILIES; i++) {
        const struct gallery_family *family = &gallery_families[i];
        enum petal_status status = petal_table_open(
            visit->fixture.db, slice_from_text(family->table), &visit->tables[i], error);

        if (status == PETAL_OK)
            status = petal_table_family(visit->tables[i], slice_from_text(family->family),
                                        &visit->families[i], error);
        if (status == PETAL_OK && family->plain)
            status = petal_kv_open(visit->fixture.db, slice_from_text(family->table), NULL,
                                   &visit->kv, error);
        if (status != PETAL_OK)
            return status;
    }
    return PETAL_OK;
}

enum petal_status
visit_begin(struct visit *visit, petal_error *error)
{
    enum petal_status status = make_tools(visit, error);

    return status == PETAL_OK ? attach(visit, error) : status;
}

enum petal_status
visit_open(struct visit *visit, const char *directory, petal_error *error)
{
    enum petal_status status =
        petal_open(directory, &visit->fixture.options, &visit->fixture.db, error);

    return status == PETAL_OK ? visit_begin(visit, error) : status;
}

enum petal_status
visit_close(struct visit *visit, petal_error *error)
{
    petal_db *db = visit->fixture.db;

    visit_end(visit);
    visit->fixture.db = NULL;
    return petal_close(db, error);
}

void
visit_fini(struct visit *visit)
{
    if (visit->fixture.db != NULL)
        visit_close(visit, NULL);
    assert_int_equal(test_allocator_live_blocks(&visit->fixture.allocator), 0);
}

/* ---- cells as they come ---- */

struct hearing {
    struct visit *visit;
    struct question *recorded;      /* NULL: compare */
    const struct question *compare; /* NULL: record */
    uint64_t digest;
    size_t cells;
    bool wrong;
    /* Rows come in order, whatever a file says: 1 upwards, -1 downwards, 0 as they are asked
     * for. */
    int order;
    uint8_t *row; /* the one before */
    size_t row_bytes;
};

static uint64_t
digest_slice(uint64_t before, petal_slice bytes)
{
    return checksum_at(before, bytes.size, bytes.size == 0 ? "" : bytes.data, bytes.size);
}

static uint64_t
digest_cell(uint64_t before, const petal_cell *cell)
{
    int64_t numbers[] = {cell->timestamp, (int64_t)cell->type, cell->has_ttl,
                         cell->has_ttl ? cell->ttl_ms : 0};

    before = checksum_at(before, 0, numbers, sizeof numbers);
    before = digest_slice(before, cell->family);
    before = digest_slice(before, cell->row);
    before = digest_slice(before, cell->qualifier);
    return digest_slice(before, cell->value);
}

static void
hear_digest(struct hearing *hearing)
{
    size_t at = hearing->cells++;

    if (hearing->recorded != NULL) {
        struct question *question = hearing->recorded;

        if (at == question->capacity) {
            question->capacity = 2 * at + 4;
            question->digests =
                test_reallocate(question->digests, question->capacity * sizeof *question->digests);
        }
        question->digests[at] = hearing->digest;
        question->cells = hearing->cells;
        return;
    }
    if (at >= hearing->compare->cells || hearing->compare->digests[at] != hearing->digest)
        hearing->wrong = true;
}

static void
check_order(struct hearing *hearing, petal_slice row)
{
    int order = slice_compare(row, slice_make(hearing->row, hearing->row_bytes));

    if (hearing->row != NULL && order != 0 && (order > 0) != (hearing->order > 0)) {
        print_error("  row %.*s comes out of order\n", (int)row.size, (const char *)row.data);
        question_print(hearing->compare != NULL ? hearing->compare : hearing->recorded);
        fail();
    }
    if (hearing->row != NULL && order == 0)
        return;
    hearing->row = test_reallocate(hearing->row, row.size);
    memcpy(hearing->row, row.data, row.size);
    hearing->row_bytes = row.size;
}

static void
hear(struct hearing *hearing, const petal_cell *cell)
{
    bool right = !hearing->wrong;

    if (hearing->order != 0)
        check_order(hearing, cell->row);

    hearing->digest = digest_cell(hearing->digest, cell);
    hear_digest(hearing);
    if (right && hearing->wrong && !hearing->visit->quiet)
        print_error("  cell %zu: row %.*s of %zu bytes, qualifier %.*s, time %" PRId64
                    ", value %.*s\n",
                    hearing->cells, (int)(cell->row.size < 40 ? cell->row.size : 40),
                    (const char *)cell->row.data, cell->row.size, (int)cell->qualifier.size,
                    (const char *)cell->qualifier.data, cell->timestamp, (int)cell->value.size,
                    (const char *)cell->value.data);
}

/* The end of a row or of a result counts as well. */
static void
hear_result(struct hearing *hearing, const petal_result *result)
{
    size_t count = petal_result_count(result);

    for (size_t i = 0; i < count; i++)
        hear(hearing, petal_result_cell(result, i));
    hearing->digest = checksum_at(hearing->digest, count, "end", 3);
    hear_digest(hearing);
}

/* ---- ways ---- */

static petal_slice
first_qualifier(size_t family)
{
    return slice_from_text(
        gallery_families[family].plain || gallery_families[family].long_rows ? "" : "q0");
}

static enum petal_status
get_row(struct hearing *hearing, const struct question *question, petal_error *error)
{
    struct visit *visit = hearing->visit;
    size_t family = question->family;
    petal_column column = {.family = visit->families[family],
                           .qualifier = first_qualifier(family),
                           .whole_family = question->way != WAY_GET_COLUMN};
    petal_read_options options = {.columns = &column, .column_count = 1};
    petal_slice row = gallery_row(family, question->row);
    enum petal_status status;

    switch (question->way) {
    case WAY_GET_VERSIONS:
        options.versions = PETAL_ALL_VERSIONS;
        break;
    case WAY_GET_TIMES:
        options.has_time_range = true;
        options.time_limit = 1020;
        break;
    case WAY_GET_RECEIPT:
        options.receipt = visit->receipt;
        break;
    case WAY_GET_FILTERED:
        options.filter = visit->filter;
        break;
    case WAY_GET_ABSENT:
        row.size++; /* what stands after it differs from call to call, and is no row's end */
        ((char *)(uintptr_t)row.data)[row.size - 1] = '!';
        break;
    default:
        break;
    }
    status = petal_get(visit->tables[family], row, &options, visit->results[0], error);
    if (status == PETAL_OK)
        hear_result(hearing, visit->results[0]);
    else if (petal_result_count(visit->results[0]) != 0)
        hearing->wrong = true; /* a failed get gives nothing */
    return status;
}

static enum petal_status
get_plain(struct hearing *hearing, const struct question *question, petal_error *error)
{
    struct visit *visit = hearing->visit;
    petal_slice value;
    bool found;
    enum petal_status status = petal_kv_get(visit->kv, gallery_row(question->family, question->row),
                                            visit->results[0], &found, &value, error);

    if (status != PETAL_OK)
        return status;
    hearing->digest = found ? digest_slice(1, value) : 0;
    hear_digest(hearing);
    return PETAL_OK;
}

static enum petal_status
seek(struct hearing *hearing, petal_cursor *cursor, size_t family, unsigned row, unsigned steps,
     petal_error *error)
{
    enum petal_status status =
        petal_cursor_seek(cursor, gallery_row(family, row), hearing->visit->families[family],
                          slice_from_text("q"), error);
    const petal_cell *cell;

    while (status == PETAL_OK && steps-- > 0) {
        status = petal_cursor_next(cursor, &cell, error);
        if (status != PETAL_OK || cell == NULL)
            break;
        hear(hearing, cell);
    }
    return status;
}

/* The cursor goes to rows in an order that leads forward and back. */
static enum petal_status
seek_rows(struct hearing *hearing, petal_cursor *cursor, size_t family, petal_error *error)
{
    unsigned rows = gallery_row_count(hearing->visit->gallery, family);
    enum petal_status status = PETAL_OK;

    for (unsigned i = 0; status == PETAL_OK && i < rows; i++)
        status = seek(hearing, cursor, family, i * 5 % rows, 1 + i % 3, error);
    return status;
}

static enum petal_status
walk_many(struct hearing *hearing, petal_cursor *cursor, petal_error *error)
{
    const petal_cell *cells;
    size_t count = 1;
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && count > 0) {
        status = petal_cursor_next_many(cursor, 50, &cells, &count, error);
        for (size_t i = 0; status == PETAL_OK && i < count; i++)
            hear(hearing, &cells[i]);
    }
    return status;
}

static enum petal_status
walk_rows(struct hearing *hearing, petal_cursor *cursor, petal_error *error)
{
    petal_result *result = hearing->visit->results[0];
    enum petal_status status;

    do {
        status = petal_cursor_next_row(cursor, result, error);
        if (status == PETAL_OK)
            hear_result(hearing, result);
    } while (status == PETAL_OK && petal_result_count(result) > 0);
    return status;
}

static enum petal_status
walk(struct hearing *hearing, petal_cursor *cursor, petal_error *error)
{
    const petal_cell *cell;
    enum petal_status status;

    do {
        status = petal_cursor_next(cursor, &cell, error);
        if (status == PETAL_OK && cell != NULL)
            hear(hearing, cell);
    } while (status == PETAL_OK && cell != NULL);
    return status;
}

static enum petal_status
scan(struct hearing *hearing, const struct question *question, petal_error *error)
{
    struct visit *visit = hearing->visit;
    size_t family = question->family;
    enum way way = question->way;
    petal_column column = {.family = visit->families[family],
                           .qualifier = first_qualifier(family),
                           .whole_family = way != WAY_SCAN_COLUMN};
    petal_scan_options options = {
        .read = {.columns = &column, .column_count = way != WAY_SCAN_TABLE},
        .reversed = way == WAY_SCAN_BACK || way == WAY_SCAN_RAW_BACK || way == WAY_SEEK_BACK};
    petal_cursor *cursor;
    enum petal_status status;

    switch (way) {
    case WAY_SCAN_RAW:
    case WAY_SCAN_RAW_BACK:
        options.raw = true;
        options.read.versions = PETAL_ALL_VERSIONS;
        break;
    case WAY_SCAN_PREFIX:
        options.prefix = gallery_row(family, 1);
        if (options.prefix.size > 6)
            options.prefix.size = 6;
        break;
    case WAY_SCAN_FILTERED:
        options.read.filter = visit->filter;
        break;
    case WAY_SCAN_LIMITED:
        options.read.family_cell_limit = 1;
        options.read.family_cell_offset = 1;
        break;
    case WAY_SCAN_ROWS:
        options.batch = 3;
        options.read.versions = 3;
        break;
    default:
        break;
    }
    status = petal_cursor_open(visit->tables[family], &options, &cursor, error);
    if (status != PETAL_OK)
        return status;
    hearing->order = way == WAY_SEEKS ? 0 : options.reversed ? -1 : 1;
    if (way == WAY_SEEK || way == WAY_SEEK_BACK)
        status = seek(hearing, cursor, family, question->row, 3, error);
    else if (way == WAY_SEEKS)
        status = seek_rows(hearing, cursor, family, error);
    else if (way == WAY_SCAN_MANY)
        status = walk_many(hearing, cursor, error);
    else if (way == WAY_SCAN_ROWS)
        status = walk_rows(hearing, cursor, error);
    else
        status = walk(hearing, cursor, error);
    petal_cursor_close(cursor);
    free(hearing->row);
    hearing->row = NULL;
    return status;
}

/* Four at a time. */
static enum petal_status
get_many(struct hearing *hearing, const struct question *question, petal_error *error)
{
    struct visit *visit = hearing->visit;
    size_t family = question->family;
    petal_column column = {.family = visit->families[family],
                           .qualifier = first_qualifier(family),
                           .whole_family = question->way == WAY_MULTI_ROWS};
    petal_read_options options = {.columns = &column, .column_count = 1};
    unsigned rows = gallery_row_count(visit->gallery, family);
    enum petal_status status = PETAL_OK;

    for (unsigned row = 0; status == PETAL_OK && row < rows; row += 4) {
        petal_slice names[4];
        char *copies[4];

        for (unsigned i = 0; i < 4; i++) {
            petal_slice name = gallery_row(family, (row + 3 * i) % rows);

            copies[i] = test_allocate(name.size);
            memcpy(copies[i], name.data, name.size);
            names[i] = slice_make(copies[i], name.size);
        }
        status = petal_multi_get(visit->tables[family], names, 4, &options, visit->results, error);
        for (unsigned i = 0; i < 4; i++) {
            if (status == PETAL_OK)
                hear_result(hearing, visit->results[i]);
            else if (petal_result_count(visit->results[i]) != 0)
                hearing->wrong = true;
            free(copies[i]);
        }
    }
    return status;
}

static enum petal_status
ask(struct hearing *hearing, const struct question *question, petal_error *error)
{
    switch (question->way) {
    case WAY_GET_COLUMN:
    case WAY_GET_FAMILY:
    case WAY_GET_VERSIONS:
    case WAY_GET_TIMES:
    case WAY_GET_RECEIPT:
    case WAY_GET_FILTERED:
    case WAY_GET_ABSENT:
        return get_row(hearing, question, error);
    case WAY_GET_PLAIN:
        return get_plain(hearing, question, error);
    case WAY_MULTI_COLUMN:
    case WAY_MULTI_ROWS:
        return get_many(hearing, question, error);
    case WAY_VERIFY:
        return petal_table_verify(hearing->visit->tables[question->family], error);
    default:
        return scan(hearing, question, error);
    }
}

enum verdict
answers_compare(const struct question *question, struct visit *visit, petal_error *error)
{
    struct hearing hearing = {.visit = visit, .compare = question};
    enum petal_status status = ask(&hearing, question, error);

    if (!hearing.wrong && status == PETAL_OK && hearing.cells == question->cells)
        return SAME;
    if (!hearing.wrong && status != PETAL_OK)
        return FAILED;
    if (visit->quiet)
        return WRONG;
    question_print(question);
    print_error("  status %d, %zu cells, %zu expected, %s\n", (int)status, hearing.cells,
                question->cells, hearing.wrong ? "a wrong one among them" : "some are missing");
    return WRONG;
}

void
question_print(const struct question *question)
{
    print_error("  way %d of table %s, family %s, row %u\n", (int)question->way,
                gallery_families[question->family].table, gallery_families[question->family].family,
                question->row);
}

/* ---- recording ---- */

static void
record_ranges(struct answers *answers, struct question *question, struct memory_vfs *vfs)
{
    size_t count = memory_vfs_trace_count(vfs);

    question->first_range = answers->range_count;
    for (size_t i = 0; i < count; i++) {
        struct memory_vfs_call call = memory_vfs_trace_at(vfs, i);
        struct read_range *range;

        if (call.operation != MEMORY_VFS_READ)
            continue;
        answers->ranges =
            test_reallocate(answers->ranges, (answers->range_count + 1) * sizeof *answers->ranges);
        range = &answers->ranges[answers->range_count++];
        snprintf(range->path, sizeof range->path, "%s", call.path);
        range->offset = call.offset;
        range->end = call.offset + call.size;
    }
    question->range_count = answers->range_count - question->first_range;
}

static void
record(struct answers *answers, struct visit *visit, enum way way, size_t family, unsigned row)
{
    enum petal_status status;
    struct question question = {.way = way, .family = family, .row = row};
    struct hearing hearing = {.visit = visit, .recorded = &question};
    petal_error error;

    memory_vfs_trace(visit->fixture.vfs, true);
    status = ask(&hearing, &question, &error);
    question.failed = status != PETAL_OK;
    record_ranges(answers, &question, visit->fixture.vfs);
    memory_vfs_trace(visit->fixture.vfs, false);
    answers->questions =
        test_reallocate(answers->questions, (answers->count + 1) * sizeof *answers->questions);
    answers->questions[answers->count++] = question;
}

void
answers_record(struct answers *answers, struct visit *visit)
{
    answers_record_what_there_is(answers, visit);
    for (size_t i = 0; i < answers->count; i++)
        assert_false(answers->questions[i].failed);
}

void
answers_record_what_there_is(struct answers *answers, struct visit *visit)
{
    *answers = (struct answers){.count = 0};
    for (size_t family = 0; family < GALLERY_FAMILIES; family++) {
        unsigned rows = gallery_row_count(visit->gallery, family);
        bool first = family == 0 || visit->tables[family] != visit->tables[family - 1];

        for (unsigned row = 0; row < rows; row++) {
            for (unsigned way = 0; way < WAY_OF_FAMILY; way++) {
                if (way != WAY_GET_PLAIN || gallery_families[family].plain)
                    record(answers, visit, (enum way)way, family, row);
            }
        }
        for (unsigned way = WAY_OF_FAMILY; way < WAY_OF_TABLE; way++)
            record(answers, visit, (enum way)way, family, 0);
        for (unsigned way = WAY_OF_TABLE; first && way < WAYS; way++)
            record(answers, visit, (enum way)way, family, 0);
    }
}

void
answers_free(struct answers *answers)
{
    for (size_t i = 0; i < answers->count; i++)
        free(answers->questions[i].digests);
    free(answers->questions);
    free(answers->ranges);
}

bool
answers_reads(const struct answers *answers, const struct question *question, const char *path,
              uint64_t offset, uint64_t end)
{
    for (size_t i = 0; i < question->range_count; i++) {
        const struct read_range *range = &answers->ranges[question->first_range + i];

        if (range->offset < end && offset < range->end && strcmp(range->path, path) == 0)
            return true;
    }
    return false;
}
