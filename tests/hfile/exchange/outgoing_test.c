/*
 * outgoing_test.c -- what of a family goes to HBase: its readers, for whom a marker wins over a put
 * of its own timestamp whatever came first, see of it what Petal's readers see of the family.
 */
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/hfile/exchange/outgoing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CELLS 4096

/* A cell as this test keeps it: rows, qualifiers and values are single letters or empty. */
struct kept {
    char row, qualifier, value; /* 0: empty */
    int64_t timestamp;
    int type;
};

struct kept_list {
    struct kept cells[MOST_CELLS];
    size_t count;
};

static char
letter(petal_slice slice)
{
    return slice.size == 0 ? '\0' : *(const char *)slice.data;
}

static petal_slice
slice_of(const char *byte)
{
    return (petal_slice){byte, *byte == '\0' ? 0 : 1};
}

static void
keep(struct kept_list *list, petal_slice row, petal_slice qualifier, petal_slice value,
     int64_t timestamp, int type)
{
    assert_true(list->count < MOST_CELLS);
    list->cells[list->count++] =
        (struct kept){letter(row), letter(qualifier), letter(value), timestamp, type};
}

/* ---- What HBase shows of cells in its order -------------------------------------------------- */

static bool
is_hidden(const struct kept_list *list, const struct kept *put)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct kept *marker = &list->cells[i];
        bool of_column = marker->qualifier == put->qualifier;

        if (marker->row != put->row || marker->type == PETAL_PUT)
            continue;
        if ((marker->type == PETAL_DELETE_FAMILY && put->timestamp <= marker->timestamp) ||
            (marker->type == PETAL_DELETE_FAMILY_VERSION && put->timestamp == marker->timestamp) ||
            (of_column && marker->type == PETAL_DELETE_COLUMN &&
             put->timestamp <= marker->timestamp) ||
            (of_column && marker->type == PETAL_DELETE && put->timestamp == marker->timestamp))
            return true;
    }
    return false;
}

static void
show(const struct kept_list *stored, unsigned versions, struct kept_list *shown)
{
    unsigned count = 0;

    shown->count = 0;
    for (size_t i = 0; i < stored->count; i++) {
        const struct kept *cell = &stored->cells[i];
        const struct kept *before = shown->count == 0 ? NULL : &shown->cells[shown->count - 1];
        bool same_column =
            before != NULL && before->row == cell->row && before->qualifier == cell->qualifier;

        if (cell->type != PETAL_PUT || is_hidden(stored, cell) ||
            (same_column && before->timestamp == cell->timestamp))
            continue;
        count = same_column ? count + 1 : 1;
        if (count <= versions)
            shown->cells[shown->count++] = *cell;
    }
}

/* ---- Both sides ------------------------------------------------------------------------------ */

static void
collect_outgoing(petal_db *db, petal_table *table, petal_family *family, bool visible_only,
                 struct kept_list *list, uint64_t *moved)
{
    const petal_slice all = {NULL, 0};
    struct outgoing outgoing;
    petal_hfile_cell cell, last = {0};
    petal_error error;
    bool more = true;
    char bytes[2];

    list->count = 0;
    assert_int_equal(
        outgoing_open(&outgoing, db, table, family, all, all, NULL, visible_only, &error),
        PETAL_OK);
    for (;;) {
        assert_int_equal(outgoing_next(&outgoing, &cell, &more, &error), PETAL_OK);
        if (!more)
            break;
        assert_true(cell.family.size == 1 && letter(cell.family) == 'f');
        if (list->count > 0)
            assert_true(petal_hfile_compare(&last, &cell) <= 0);
        keep(list, cell.row, cell.qualifier, cell.value, cell.timestamp, cell.type);
        bytes[0] = letter(cell.row);
        bytes[1] = letter(cell.qualifier);
        last = cell;
        last.row = (petal_slice){&bytes[0], 1};
        last.qualifier = (petal_slice){&bytes[1], cell.qualifier.size};
    }
    *moved = outgoing.moved_markers + outgoing.left_markers + outgoing.left_puts;
    outgoing_close(&outgoing);
}

static void
collect_seen(petal_table *table, struct kept_list *list)
{
    petal_scan_options options = {.read = {.versions = PETAL_ALL_VERSIONS}};
    petal_cursor *cursor;
    const petal_cell *cell;
    petal_error error;

    list->count = 0;
    assert_int_equal(petal_cursor_open(table, &options, &cursor, &error), PETAL_OK);
    while (petal_cursor_next(cursor, &cell, &error) == PETAL_OK && cell != NULL)
        keep(list, cell->row, cell->qualifier, cell->value, cell->timestamp, (int)cell->type);
    petal_cursor_close(cursor);
}

static void
compare(const struct kept_list *got, const struct kept_list *wanted, const char *what,
        uint64_t seed)
{
    for (size_t i = 0; i < got->count || i < wanted->count; i++) {
        const struct kept *a = &got->cells[i], *b = &wanted->cells[i];

        if (i < got->count && i < wanted->count && memcmp(a, b, sizeof *a) == 0)
            continue;
        fail_msg(
            "seed %llu, %s, cell %zu of %zu and %zu: HBase sees %c/%c %lld %c, Petal %c/%c %lld %c",
            (unsigned long long)seed, what, i, got->count, wanted->count,
            i < got->count ? a->row : '-', i < got->count ? a->qualifier : '-',
            i < got->count ? (long long)a->timestamp : 0, i < got->count ? a->value : '-',
            i < wanted->count ? b->row : '-', i < wanted->count ? b->qualifier : '-',
            i < wanted->count ? (long long)b->timestamp : 0, i < wanted->count ? b->value : '-');
    }
}

/* ---- Random writes that meet ----------------------------------------------------------------- */

static void
write_something(struct test_random *random, petal_db *db, petal_table *table, petal_family *family)
{
    static const enum petal_cell_type kinds[] = {PETAL_DELETE, PETAL_DELETE_FAMILY_VERSION,
                                                 PETAL_DELETE_COLUMN, PETAL_DELETE_FAMILY};
    char row[2] = {(char)('a' + test_random_below(random, 3))};
    char qualifier[2] = {"\0qr"[test_random_below(random, 3)]};
    char value[2] = {(char)('A' + test_random_below(random, 26))};
    int64_t timestamp = (int64_t)test_random_below(random, 6);
    uint64_t chance = test_random_below(random, 100);
    petal_error error;

    if (chance < 60) {
        assert_int_equal(petal_put(family, slice_of(row), slice_of(qualifier), timestamp,
                                   slice_of(value), NULL, &error),
                         PETAL_OK);
    } else if (chance < 96) {
        enum petal_cell_type kind = kinds[test_random_below(random, 4)];
        bool of_family = kind == PETAL_DELETE_FAMILY || kind == PETAL_DELETE_FAMILY_VERSION;

        assert_int_equal(petal_delete(family, slice_of(row),
                                      of_family ? (petal_slice){0} : slice_of(qualifier), timestamp,
                                      kind, NULL, &error),
                         PETAL_OK);
    } else if (chance < 99) {
        assert_int_equal(petal_flush(db, table, &error), PETAL_OK);
    } else {
        assert_int_equal(petal_compact(table, NULL, &error), PETAL_OK);
    }
}

static void
try_seed(uint64_t seed, uint64_t *ties)
{
    static struct kept_list stored, shown, seen;
    struct test_random random;
    char *directory = test_directory_new();
    /* Compactions in the background change what is seen, as petal.h says. */
    petal_options options = {.size = sizeof options, .create = true, .no_compaction = true};
    petal_family_options family_options = {.name = {"f", 1}};
    petal_table_options table_options = {
        .name = {"t", 1}, .families = &family_options, .family_count = 1};
    petal_db *db;
    petal_table *table;
    petal_family *family;
    petal_error error;
    uint64_t moved;

    test_random_init(&random, seed);
    family_options.versions = 1 + (uint32_t)test_random_below(&random, 3);
    assert_int_equal(petal_open(directory, &options, &db, &error), PETAL_OK);
    assert_int_equal(petal_table_create(db, &table_options, &table, &error), PETAL_OK);
    assert_int_equal(petal_table_family(table, (petal_slice){"f", 1}, &family, &error), PETAL_OK);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 12; i++)
            write_something(&random, db, table, family);
        collect_seen(table, &seen);
        collect_outgoing(db, table, family, false, &stored, &moved);
        *ties += moved;
        show(&stored, family_options.versions, &shown);
        compare(&shown, &seen, "all that is stored", seed);
        collect_outgoing(db, table, family, true, &stored, &moved);
        assert_int_equal(moved, 0);
        compare(&stored, &seen, "what readers see", seed);
    }
    assert_int_equal(petal_close(db, &error), PETAL_OK);
    test_directory_free(directory);
}

TEST(test_hbase_sees_what_petal_sees)
{
    uint64_t seed = test_seed(), lists = 200, ties = 0;

    for (uint64_t i = 0; i < lists; i++)
        try_seed(seed + i, &ties);
    assert_true(ties > lists);
    test_counted("%llu lists of writes, %llu cells moved or left", (unsigned long long)lists,
                 (unsigned long long)ties);
}

/* A marker's time to live goes with it, also where the marker becomes an earlier one: it dies
 * then. */
TEST(test_markers_keep_their_time_to_live)
{
    char *directory = test_directory_new();
    petal_options options = {.size = sizeof options, .create = true, .no_compaction = true};
    petal_family_options family_options = {.name = {"f", 1}};
    petal_table_options table_options = {
        .name = {"t", 1}, .families = &family_options, .family_count = 1};
    petal_write_options mortal = {.has_ttl = true, .ttl_ms = INT64_C(1) << 50};
    const petal_slice row = {"a", 1}, q = {"q", 1}, r = {"r", 1}, value = {"v", 1};
    const petal_slice all = {NULL, 0};
    struct outgoing outgoing;
    petal_hfile_cell cell;
    petal_db *db;
    petal_table *table;
    petal_family *family;
    petal_error error;
    bool more;
    unsigned markers = 0;

    assert_int_equal(petal_open(directory, &options, &db, &error), PETAL_OK);
    assert_int_equal(petal_table_create(db, &table_options, &table, &error), PETAL_OK);
    family = petal_table_family_at(table, 0);
    assert_int_equal(petal_delete(family, row, q, 10, PETAL_DELETE_COLUMN, &mortal, &error),
                     PETAL_OK);
    assert_int_equal(petal_put(family, row, q, 10, value, NULL, &error), PETAL_OK);
    assert_int_equal(petal_delete(family, row, r, 10, PETAL_DELETE_COLUMN, &mortal, &error),
                     PETAL_OK);
    assert_int_equal(outgoing_open(&outgoing, db, table, family, all, all, NULL, false, &error),
                     PETAL_OK);
    while (outgoing_next(&outgoing, &cell, &more, &error) == PETAL_OK && more) {
        petal_slice tags = cell.tags, payload;
        bool is_moved = cell.timestamp == 9;
        int type;

        if (cell.type == PETAL_PUT)
            continue;
        markers++;
        assert_int_equal(petal_hfile_tag_next(&tags, &type, &payload), 1);
        assert_int_equal(type, PETAL_HFILE_TAG_TTL);
        assert_int_equal(hfile_get_u64(payload.data), mortal.ttl_ms + (is_moved ? 1 : 0));
    }
    assert_int_equal(markers, 2);
    assert_int_equal(outgoing.moved_markers, 1);
    outgoing_close(&outgoing);
    assert_int_equal(petal_close(db, &error), PETAL_OK);
    test_directory_free(directory);
}
