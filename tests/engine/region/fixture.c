/* fixture.c -- see tests/engine/region/fixture.h. */
#include "tests/engine/region/fixture.h"

#include "engine/compact/compactor.h"
#include "engine/state/db.h"
#include "tests/support/test.h"

#include <stdio.h>

#define VALUE_BYTES 300

/* ---- a table ---- */

/* Parts of a text that blanks part. */
static size_t
part(const char *words, petal_slice parts[REGION_MOST])
{
    size_t count = 0;

    while (*words != '\0') {
        size_t size = strcspn(words, " ");

        assert_true(count < REGION_MOST);
        parts[count++] = slice_make(words, size);
        words += size + strspn(words + size, " ");
    }
    return count;
}

enum petal_status
regions_create(struct fixture *fixture, const char *name, const char *splits, petal_table **table,
               petal_error *error)
{
    petal_slice rows[REGION_MOST];
    petal_family_options family = {.name = text("f"), .versions = 2, .block_bytes = 1024};
    petal_table_options options = {.name = text(name),
                                   .families = &family,
                                   .family_count = 1,
                                   .splits = rows,
                                   .split_count = part(splits, rows)};

    return petal_table_create(fixture->db, &options, table, error);
}

void
regions_begin_split(struct region_fixture *fixture, const char *splits)
{
    fixture_init(&fixture->base, 31);
    fixture_must_open(&fixture->base);
    MUST(regions_create(&fixture->base, "t", splits, &fixture->table, WHY));
}

void
regions_begin(struct region_fixture *fixture)
{
    regions_begin_split(fixture, "");
}

void
regions_begin_growing(struct region_fixture *fixture)
{
    fixture_init(&fixture->base, 31);
    fixture->base.options.no_compaction = false;
    fixture->base.options.max_region_bytes = REGION_LIMIT;
    fixture_must_open(&fixture->base);
}

void
regions_grow(struct region_fixture *fixture, unsigned turn)
{
    for (unsigned first = 0; first < REGION_ROWS; first += REGION_ROWS / 6) {
        regions_put(fixture->table, first, first + REGION_ROWS / 6, turn);
        regions_flush(fixture);
    }
}

void
regions_begin_small(struct region_fixture *fixture, unsigned rows)
{
    regions_begin_growing(fixture);
    MUST(regions_create(&fixture->base, "t", "", &fixture->table, WHY));
    regions_grow(fixture, 1);
    MUST(petal_wait_idle(fixture->base.db, WHY));
    regions_delete(fixture->table, rows, REGION_ROWS);
    regions_flush(fixture);
    MUST(petal_compact(fixture->table, NULL, WHY));
    MUST(petal_wait_idle(fixture->base.db, WHY));
}

void
regions_end(struct region_fixture *fixture)
{
    MUST(petal_flush(fixture->base.db, NULL, WHY));
    assert_true(fixture_directory_is_clean(&fixture->base));
    fixture_fini(&fixture->base);
}

void
regions_reopen(struct region_fixture *fixture)
{
    fixture_must_close(&fixture->base);
    fixture_must_open(&fixture->base);
    MUST(petal_table_open(fixture->base.db, text("t"), &fixture->table, WHY));
}

/* ---- rows ---- */

petal_slice
regions_row(char room[16], unsigned number)
{
    return slice_make(room, (size_t)snprintf(room, 16, "row %05u", number));
}

static petal_slice
make_value(char room[VALUE_BYTES], unsigned number, unsigned turn)
{
    int length = snprintf(room, VALUE_BYTES, "%u/%u/", number, turn);
    uint64_t random = (uint64_t)number * 1000 + turn;

    for (size_t i = (size_t)length; i < VALUE_BYTES; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        room[i] = (char)(random >> 56);
    }
    return slice_make(room, VALUE_BYTES);
}

void
regions_put(petal_table *table, unsigned first, unsigned end, unsigned turn)
{
    char row[16], value[VALUE_BYTES];

    for (unsigned i = first; i < end; i++)
        MUST(petal_put(petal_table_family_at(table, 0), regions_row(row, i), text("q"),
                       PETAL_LATEST, make_value(value, i, turn), NULL, WHY));
}

void
regions_delete(petal_table *table, unsigned first, unsigned end)
{
    char row[16];

    for (unsigned i = first; i < end; i++)
        MUST(petal_delete_row(table, regions_row(row, i), PETAL_LATEST, NULL, WHY));
}

void
regions_flush(struct region_fixture *fixture)
{
    MUST(petal_flush(fixture->base.db, fixture->table, WHY));
}

static void
expect_cell(const petal_cell *cell, unsigned number, unsigned turn)
{
    char row[16], value[VALUE_BYTES];
    petal_slice expected = regions_row(row, number);

    assert_non_null(cell);
    assert_int_equal(cell->row.size, expected.size);
    assert_memory_equal(cell->row.data, expected.data, expected.size);
    expected = make_value(value, number, turn);
    assert_int_equal(cell->value.size, expected.size);
    assert_memory_equal(cell->value.data, expected.data, expected.size);
}

static void
expect_scan(petal_table *table, unsigned first, unsigned end, unsigned turn,
            const petal_scan_options *options)
{
    const petal_cell *cell;
    petal_cursor *cursor;

    MUST(petal_cursor_open(table, options, &cursor, WHY));
    for (unsigned i = 0; i < end - first; i++) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        expect_cell(cell, options->reversed ? end - 1 - i : first + i, turn);
    }
    MUST(petal_cursor_next(cursor, &cell, WHY));
    assert_null(cell);
    petal_cursor_close(cursor);
}

void
regions_expect_rows(petal_table *table, unsigned first, unsigned end, unsigned turn,
                    const petal_snapshot *snapshot)
{
    petal_read_options read = {.snapshot = snapshot};
    char row[16];

    expect_scan(table, first, end, turn, &(petal_scan_options){.read = read});
    expect_scan(table, first, end, turn, &(petal_scan_options){.read = read, .reversed = true});
    for (unsigned i = first; i < end; i++) {
        petal_result *result;

        MUST(petal_result_new(table->db, &result, WHY));
        MUST(petal_get(table, regions_row(row, i), &read, result, WHY));
        assert_int_equal(petal_result_count(result), 1);
        expect_cell(petal_result_cell(result, 0), i, turn);
        petal_result_free(result);
    }
}

static void
append(char line[4096], petal_slice bytes, const char *end)
{
    size_t length = strlen(line);

    assert_true(length + bytes.size + strlen(end) < 4096);
    memcpy(line + length, bytes.data, bytes.size);
    strcpy(line + length + bytes.size, end);
}

const char *
regions_text(petal_table *table, char line[4096])
{
    const petal_cell *cell;
    petal_cursor *cursor;

    line[0] = '\0';
    MUST(petal_cursor_open(table, NULL, &cursor, WHY));
    for (;;) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        if (cell == NULL)
            break;
        append(line, cell->row, ":");
        append(line, cell->value, " ");
    }
    petal_cursor_close(cursor);
    return line;
}

void
regions_put_text(petal_table *table, const char *row, const char *value)
{
    MUST(petal_put(petal_table_family_at(table, 0), text(row), text("q"), PETAL_LATEST, text(value),
                   NULL, WHY));
}

/* ---- regions ---- */

struct list {
    struct region_seen *seen;
    size_t count;
};

static void
copy_row(char to[64], petal_slice row)
{
    assert_true(row.size < 64);
    if (row.size > 0)
        memcpy(to, row.data, row.size);
    to[row.size] = '\0';
}

static bool
note(void *argument, const petal_region_info *info)
{
    struct list *list = argument;
    struct region_seen *seen = &list->seen[list->count++];

    assert_true(list->count <= REGION_MOST);
    *seen = (struct region_seen){.id = info->id,
                                 .files = info->files,
                                 .cells = info->cells,
                                 .file_bytes = info->file_bytes,
                                 .memtable_bytes = info->memtable_bytes};
    copy_row(seen->start, info->start);
    copy_row(seen->end, info->end);
    return true;
}

size_t
regions_list(petal_table *table, struct region_seen seen[REGION_MOST])
{
    struct list list = {.seen = seen};

    MUST(petal_table_regions(table, note, &list, WHY));
    assert_true(list.count > 0);
    assert_string_equal(seen[0].start, "");
    assert_string_equal(seen[list.count - 1].end, "");
    for (size_t i = 1; i < list.count; i++) {
        assert_string_equal(seen[i].start, seen[i - 1].end);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(seen[i].id, seen[k].id);
    }
    return list.count;
}

void
regions_expect(petal_table *table, const char *starts)
{
    struct region_seen seen[REGION_MOST];
    size_t count = regions_list(table, seen);
    char line[REGION_MOST * 65] = "";

    for (size_t i = 1; i < count; i++) {
        strcat(line, i > 1 ? " " : "");
        strcat(line, seen[i].start);
    }
    assert_string_equal(line, starts);
}

enum petal_status
regions_split_at(petal_table *table, const char *row, petal_error *error)
{
    return petal_table_split(table, text(row), 0, error);
}

void
regions_must_split(petal_table *table, const char *row)
{
    MUST(regions_split_at(table, row, WHY));
}

void
regions_must_split_before(petal_table *table, unsigned number)
{
    char row[16];

    MUST(petal_table_split(table, regions_row(row, number), 0, WHY));
}

enum petal_status
regions_merge_at(petal_table *table, size_t place, petal_error *error)
{
    struct region_seen seen[REGION_MOST];

    assert_true(place + 1 < regions_list(table, seen));
    return petal_table_merge(table, seen[place].id, seen[place + 1].id, error);
}

void
regions_must_merge(petal_table *table, size_t place)
{
    MUST(regions_merge_at(table, place, WHY));
}

void
regions_compact(petal_table *table, petal_slice row)
{
    MUST(compactor_compact_at(petal_table_family_at(table, 0), row, NULL, WHY));
}

size_t
regions_files(struct region_fixture *fixture)
{
    return fixture_count_files(&fixture->base, ".sst");
}
