/*
 * transaction_test.c -- transactions over rows: what they see, what is a conflict and what is not,
 * and that they are written whole or not at all. Random ones are compared with the same calls made
 * outright.
 */
#include "engine/state/db.h"
#include "tests/engine/write/fixture.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static petal_transaction *
begin(struct write_fixture *w)
{
    petal_transaction *made;

    MUST(petal_transaction_begin(w->base.db, NULL, &made, WHY));
    return made;
}

static void
put(petal_transaction *t, petal_family *family, const char *row, const char *qualifier,
    const char *value)
{
    MUST(petal_transaction_put(t, family, text(row), text(qualifier), PETAL_LATEST, text(value),
                               NULL, WHY));
}

static void
expect_conflict(petal_transaction *t, const char *row)
{
    petal_error error;

    assert_int_equal(petal_transaction_commit(t, &error), PETAL_CONFLICT);
    if (strstr(error.text, row) == NULL || strstr(error.text, "table") == NULL)
        fail_msg("the message does not name row %s: %s", row, error.text);
}

static void
expect_row(struct write_fixture *w, petal_transaction *t, const char *row, const char *cells)
{
    petal_read_options options = {.versions = PETAL_ALL_VERSIONS};

    MUST(petal_transaction_get(t, w->table, text(row), &options, w->read, WHY));
    assert_string_equal(write_fixture_describe(w->read), cells);
}

/* Rows of a scan, joined by spaces. */
static void
expect_scan(struct write_fixture *w, petal_transaction *t, const petal_scan_options *options,
            const char *rows)
{
    petal_cursor *cursor;
    char found[256] = "";
    petal_slice row;

    MUST(petal_transaction_scan(t, w->table, options, &cursor, WHY));
    for (;;) {
        MUST(petal_cursor_next_row(cursor, w->read, WHY));
        if (petal_result_count(w->read) == 0)
            break;
        row = petal_result_cell(w->read, 0)->row;
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%.*s",
                 found[0] != '\0' ? " " : "", (int)row.size, (const char *)row.data);
    }
    petal_cursor_close(cursor);
    assert_string_equal(found, rows);
}

TEST(it_sees_its_snapshot_and_its_own_writes_and_others_see_neither)
{
    struct write_fixture w;
    petal_transaction *t;

    write_fixture_init(&w);
    write_fixture_put(w.f, "a", "q", 10, "old");
    write_fixture_put(w.f, "c", "q", 10, "old");
    t = begin(&w);
    write_fixture_put(w.f, "b", "q", 10, "other");
    put(t, w.f, "d", "q", "mine");
    MUST(petal_transaction_delete_row(t, w.table, text("a"), PETAL_LATEST, WHY));
    expect_row(&w, t, "a", "");
    expect_row(&w, t, "d", "d/f:q=mine@1000");
    expect_scan(&w, t, NULL, "c d");
    expect_scan(&w, t, &(petal_scan_options){.reversed = true}, "d c");
    expect_scan(&w, t, &(petal_scan_options){.row_limit = 1}, "c");
    put(t, w.f, "a", "q", "again");
    expect_row(&w, t, "a", "a/f:q=again@1000");
    write_fixture_expect_row(&w, "d", "");
    petal_transaction_abort(t);
    write_fixture_expect_row(&w, "d", "");
    write_fixture_expect_row(&w, "a", "a/f:q=old@10");

    t = begin(&w);
    put(t, w.f, "d", "q", "mine");
    put(t, w.g, "d", "q", "mine");
    MUST(petal_transaction_delete(t, w.f, text("a"), text("q"), PETAL_LATEST, PETAL_DELETE, WHY));
    MUST(petal_transaction_commit(t, WHY));
    write_fixture_expect_row(&w, "d", "d/f:q=mine@1000 d/g:q=mine@1000");
    write_fixture_expect_row(&w, "a", "");
    write_fixture_fini(&w);
}

TEST(appends_and_increments_of_one_column_add_up)
{
    struct write_fixture w;
    petal_transaction *t;
    int64_t sum;

    write_fixture_init(&w);
    write_fixture_increment(&w, "r", "n", 5);
    t = begin(&w);
    MUST(petal_transaction_increment(t, w.f, text("r"), text("n"), 2, &sum, WHY));
    assert_int_equal(sum, 7);
    MUST(petal_transaction_increment(t, w.f, text("r"), text("n"), 3, &sum, WHY));
    assert_int_equal(sum, 10);
    put(t, w.f, "r", "n", "no number");
    assert_int_equal(petal_transaction_increment(t, w.f, text("r"), text("n"), 3, &sum, WHY),
                     PETAL_INVALID);
    MUST(petal_transaction_delete(t, w.f, text("r"), text("n"), PETAL_LATEST, PETAL_DELETE_COLUMN,
                                  WHY));
    MUST(petal_transaction_increment(t, w.f, text("r"), text("n"), 1, &sum, WHY));
    assert_int_equal(sum, 1);
    MUST(petal_transaction_append(t, w.f, text("r"), text("a"), text("x"), WHY));
    MUST(petal_transaction_append(t, w.f, text("r"), text("a"), text("y"), WHY));
    MUST(petal_transaction_commit(t, WHY));
    MUST(petal_get(w.table, text("r"), NULL, w.read, WHY));
    assert_int_equal(petal_result_count(w.read), 2);
    assert_memory_equal(petal_result_cell(w.read, 0)->value.data, "xy", 2);
    assert_int_equal(write_fixture_increment(&w, "r", "n", 0), 1);
    write_fixture_fini(&w);
}

TEST(a_deletion_of_the_newest_version_takes_that_alone)
{
    struct write_fixture w;
    petal_transaction *t;

    write_fixture_init(&w);
    t = begin(&w);
    for (int i = 0; i < 3; i++)
        MUST(petal_transaction_increment(t, w.f, text("r"), text("n"), 1, NULL, WHY));
    expect_row(&w, t, "r", "r/f:n=#3@1002 r/f:n=#2@1001 r/f:n=#1@1000");
    MUST(petal_transaction_delete(t, w.f, text("r"), text("n"), PETAL_LATEST, PETAL_DELETE, WHY));
    expect_row(&w, t, "r", "r/f:n=#2@1001 r/f:n=#1@1000");
    MUST(petal_transaction_commit(t, WHY));
    write_fixture_expect_row(&w, "r", "r/f:n=#2@1001 r/f:n=#1@1000");
    write_fixture_fini(&w);
}

/* How another write comes between. */
enum other { OTHER_PUT, OTHER_FLUSHED, OTHER_BULK, OTHER_DELETE_ROWS };

static void
write_other(struct write_fixture *w, enum other other, const char *row)
{
    petal_bulk *bulk;
    petal_cell cell = {.row = text(row), .qualifier = text("z"), .timestamp = 5, .type = PETAL_PUT};

    if (other == OTHER_BULK) {
        MUST(petal_bulk_begin(w->table, NULL, &bulk, WHY));
        MUST(petal_bulk_add(bulk, w->g, &cell, WHY));
        MUST(petal_bulk_commit(bulk, WHY));
        petal_bulk_free(bulk);
        return;
    }
    if (other == OTHER_DELETE_ROWS)
        MUST(petal_delete_rows(w->table, text("c"), text("d"), NULL, NULL, WHY));
    else
        write_fixture_put(w->g, row, "z", 5, "other");
    if (other == OTHER_FLUSHED) {
        MUST(petal_flush(w->base.db, w->table, WHY));
        MUST(petal_compact(w->table, NULL, WHY));
    }
}

TEST(a_row_read_or_written_that_was_written_to_since_is_a_conflict)
{
    for (int other = OTHER_PUT; other <= OTHER_DELETE_ROWS; other++) {
        for (int how = 0; how < 4; how++) {
            petal_scan_options whole = {.start_row = text("b"), .stop_row = text("e")};
            struct write_fixture w;
            petal_transaction *t;

            write_fixture_init(&w);
            write_fixture_put(w.f, "c", "q", 10, "old");
            t = begin(&w);
            if (how == 0)
                expect_row(&w, t, "c", "c/f:q=old@10");
            else if (how == 1)
                put(t, w.g, "c", "q", "mine");
            else if (how == 2)
                expect_scan(&w, t, &whole, "c");
            put(t, w.f, "x", "q", "mine");
            write_other(&w, (enum other)other, how == 3 ? "d" : "c");
            if (how == 3)
                MUST(petal_transaction_commit(t, WHY));
            else
                expect_conflict(t, "c");
            write_fixture_expect_row(&w, "x", how == 3 ? "x/f:q=mine@1000" : "");
            write_fixture_fini(&w);
        }
    }
}

TEST(each_row_that_is_written_counts)
{
    for (int at = 0; at < 3; at++) {
        static const char *const rows[] = {"a", "b", "c"};
        struct write_fixture w;
        petal_transaction *t;

        write_fixture_init(&w);
        t = begin(&w);
        for (int i = 0; i < 3; i++) {
            put(t, w.f, rows[i], "q", "mine");
            put(t, w.g, rows[i], "q", "mine");
        }
        write_other(&w, OTHER_PUT, rows[at]);
        expect_conflict(t, rows[at]);
        write_fixture_fini(&w);
    }
}

TEST(without_memory_a_deletion_of_a_row_does_nothing)
{
    bool failed = true;

    for (uint64_t n = 1; failed; n++) {
        struct write_fixture w;
        petal_transaction *t;
        enum petal_status status;

        write_fixture_init(&w);
        write_fixture_put(w.f, "r", "q", 10, "v");
        write_fixture_put(w.g, "r", "q", 10, "v");
        t = begin(&w);
        test_allocator_fail_at(&w.base.allocator, n, true);
        status = petal_transaction_delete_row(t, w.table, text("r"), PETAL_LATEST, NULL);
        failed = status != PETAL_OK;
        test_allocator_fail_at(&w.base.allocator, 0, false);
        assert_true(!failed || status == PETAL_NO_MEMORY);
        expect_row(&w, t, "r", failed ? "r/f:q=v@10 r/g:q=v@10" : "");
        put(t, w.f, "x", "q", "mine");
        MUST(petal_transaction_commit(t, WHY));
        write_fixture_expect_row(&w, "r", failed ? "r/f:q=v@10 r/g:q=v@10" : "");
        write_fixture_fini(&w);
    }
}

TEST(without_sequences_none_begins)
{
    struct write_fixture w;
    petal_transaction *t;
    petal_error error;
    uint64_t last;

    write_fixture_init(&w);
    last = w.base.db->writers.last_sequence;
    w.base.db->writers.last_sequence = CELL_SEQUENCE_END - PETAL_MAX_TRANSACTION_CELLS;
    assert_int_equal(petal_transaction_begin(w.base.db, NULL, &t, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "no sequences left"));
    assert_null(t);
    w.base.db->writers.last_sequence = last;
    t = begin(&w);
    put(t, w.f, "r", "q", "mine");
    MUST(petal_transaction_commit(t, WHY));
    write_fixture_fini(&w);
}

TEST(a_scan_counts_as_far_as_it_was_read)
{
    for (int reversed = 0; reversed < 2; reversed++) {
        for (int row = 'a'; row <= 'e'; row++) {
            petal_scan_options options = {.reversed = reversed != 0};
            char name[2] = {(char)row, '\0'};
            bool conflict = reversed ? row >= 'c' : row <= 'c';
            struct write_fixture w;
            petal_transaction *t;
            petal_cursor *cursor;

            write_fixture_init(&w);
            write_fixture_put(w.f, "b", "q", 10, "v");
            write_fixture_put(w.f, "c", "q", 10, "v");
            write_fixture_put(w.f, "d", "q", 10, "v");
            t = begin(&w);
            MUST(petal_transaction_scan(t, w.table, &options, &cursor, WHY));
            MUST(petal_cursor_next_row(cursor, w.read, WHY));
            MUST(petal_cursor_next_row(cursor, w.read, WHY));
            put(t, w.f, "x0", "q", "mine");
            petal_cursor_close(cursor);
            write_fixture_put(w.f, name, "new", 10, "v");
            if (conflict)
                expect_conflict(t, name);
            else
                MUST(petal_transaction_commit(t, WHY));
            write_fixture_fini(&w);
        }
    }
}

TEST(the_ends_that_a_scan_excludes_do_not_count)
{
    static const struct {
        petal_scan_options options;
        const char *other;
        bool conflict;
    } cases[] = {
        {{.start_row = {"b", 1}, .stop_row = {"d", 1}}, "d", false},
        {{.start_row = {"b", 1}, .stop_row = {"d", 1}}, "b", true},
        {{.start_row = {"b", 1}, .stop_row = {"d", 1}}, "cz", true},
        {{.start_row = {"b", 1}, .stop_row = {"d", 1}, .stop_inclusive = true}, "d", true},
        {{.start_row = {"b", 1}, .stop_row = {"d", 1}, .start_exclusive = true}, "b", false},
        {{.start_row = {"b", 1}, .stop_row = {"d", 1}, .start_exclusive = true}, "b0", true},
        {{.prefix = {"c", 1}}, "d", false},
        {{.prefix = {"c", 1}}, "cz", true},
        {{.prefix = {"c", 1}, .reversed = true}, "d", false},
        {{.prefix = {"c", 1}, .reversed = true}, "c", true},
        {{.start_row = {"d", 1}, .stop_row = {"b", 1}, .reversed = true}, "b", false},
        {{.start_row = {"d", 1}, .stop_row = {"b", 1}, .reversed = true}, "d", true},
        {{.start_row = {"d", 1}, .stop_row = {"b", 1}, .reversed = true, .start_exclusive = true},
         "d",
         false},
        {{.start_row = {"b", 1}, .row_limit = 1, .start_exclusive = true}, "c", true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int flushed = 0; flushed < 2; flushed++) {
            struct write_fixture w;
            petal_transaction *t;
            petal_cursor *cursor;

            write_fixture_init(&w);
            for (const char *row = "a\0b\0c\0d\0e\0"; *row != '\0'; row += 2)
                write_fixture_put(w.f, row, "q", 10, "v");
            t = begin(&w);
            MUST(petal_transaction_scan(t, w.table, &cases[i].options, &cursor, WHY));
            do
                MUST(petal_cursor_next_row(cursor, w.read, WHY));
            while (petal_result_count(w.read) > 0);
            petal_cursor_close(cursor);
            put(t, w.f, "x", "q", "mine");
            write_other(&w, flushed ? OTHER_FLUSHED : OTHER_PUT, cases[i].other);
            if (cases[i].conflict)
                expect_conflict(t, cases[i].other);
            else
                MUST(petal_transaction_commit(t, WHY));
            write_fixture_fini(&w);
        }
    }
}

/* Rows and ranges are read in any order, many times: what is kept of them has no more and no fewer
 * rows than all of them. */
TEST(what_is_read_again_and_again_counts_as_it_is)
{
    for (unsigned seed = 1; seed <= 300; seed++) {
        struct write_fixture w;
        petal_transaction *t;
        petal_cursor *cursor;
        bool read[26] = {false};
        char other[2] = "a";

        srand(seed);
        print_message("seed %u\n", seed);
        write_fixture_init(&w);
        t = begin(&w);
        for (int i = 10 + rand() % 90; i > 0; i--) {
            int low = rand() % 26, high = low + rand() % 4;
            char start[2] = {(char)('a' + low), '\0'}, stop[2] = {(char)('a' + high), '\0'};
            petal_scan_options options = {.start_row = text(start),
                                          .stop_row = text(stop),
                                          .start_exclusive = rand() % 2 == 0,
                                          .stop_inclusive = rand() % 2 == 0};

            if (seed % 2 == 0 && low % 3 > 0)
                continue;
            if (high == low || high >= 26 || rand() % 2 == 0) {
                expect_row(&w, t, start, "");
                read[low] = true;
                continue;
            }
            MUST(petal_transaction_scan(t, w.table, &options, &cursor, WHY));
            MUST(petal_cursor_next_row(cursor, w.read, WHY));
            petal_cursor_close(cursor);
            for (int k = low; k <= high; k++)
                read[k] = read[k] || (k > low && k < high) ||
                          (k == low && !options.start_exclusive) ||
                          (k == high && options.stop_inclusive);
        }
        put(t, w.g, "x0", "q", "mine");
        other[0] = (char)('a' + rand() % 26);
        write_fixture_put(w.f, other, "q", 10, "v");
        if (read[other[0] - 'a'])
            expect_conflict(t, other);
        else
            MUST(petal_transaction_commit(t, WHY));
        write_fixture_fini(&w);
    }
}

TEST(one_that_wrote_nothing_always_commits)
{
    struct write_fixture w;
    petal_transaction *t;

    write_fixture_init(&w);
    t = begin(&w);
    expect_row(&w, t, "r", "");
    write_fixture_put(w.f, "r", "q", 10, "v");
    expect_row(&w, t, "r", "");
    MUST(petal_transaction_commit(t, WHY));
    write_fixture_fini(&w);
}

TEST(an_altered_or_dropped_table_is_a_conflict)
{
    for (int drop = 0; drop < 3; drop++) {
        struct write_fixture w;
        petal_transaction *t;
        petal_table *made;
        petal_family_options families[2] = {{.name = text("f")}, {.name = text("g")}};
        petal_table_options options = {.families = families, .family_count = 2};

        write_fixture_init(&w);
        MUST(petal_table_create(
            w.base.db,
            &(petal_table_options){.name = text("other"), .families = families, .family_count = 2},
            &made, WHY));
        options.name = petal_table_name(w.table);
        t = begin(&w);
        expect_row(&w, t, "r", "");
        MUST(petal_transaction_put(t, petal_table_family_at(made, 0), text("r"), text("q"),
                                   PETAL_LATEST, text("v"), NULL, WHY));
        if (drop == 0)
            MUST(petal_table_alter(w.table, &options, WHY));
        else if (drop == 1)
            MUST(petal_table_drop(w.table, WHY));
        else
            MUST(petal_table_truncate(w.table, &w.table, WHY));
        expect_conflict(t, "table");
        write_fixture_fini(&w);
    }
}

static void
restore(struct write_fixture *w)
{
    MUST(petal_table_snapshot_create(w->table, text("s"), NULL, WHY));
    MUST(petal_table_snapshot_restore(w->base.db, text("s"), &w->table, WHY));
    w->f = petal_table_family_at(w->table, 0);
}

/* Its cells have the sequences of old ones, also in a table that comes of that. */
TEST(a_bulk_below_is_a_conflict_with_all_that_use_its_table)
{
    for (int first = 0; first < 4; first++) {
        struct write_fixture w;
        petal_transaction *t;
        petal_bulk *bulk;
        petal_cell cell = {
            .row = text("r"), .qualifier = text("q"), .timestamp = 5, .type = PETAL_PUT};

        write_fixture_init(&w);
        if (first == 2)
            write_fixture_put(w.g, "other", "q", 10, "v");
        t = begin(&w);
        if (first == 1 || first == 2)
            expect_row(&w, t, "x", "");
        MUST(petal_bulk_begin(w.table, &(petal_bulk_options){.place = PETAL_BULK_BELOW}, &bulk,
                              WHY));
        MUST(petal_bulk_add(bulk, w.f, &cell, WHY));
        MUST(petal_bulk_commit(bulk, WHY));
        petal_bulk_free(bulk);
        if (first == 3)
            restore(&w);
        put(t, w.f, "r", "q", "mine");
        expect_conflict(t, first == 3 ? "row r" : "loaded below");
        write_fixture_expect_row(&w, "r", "r/f:q=@5");
        write_fixture_fini(&w);
    }
}

TEST(a_table_that_was_refused_is_no_conflict)
{
    struct write_fixture w;
    petal_family_options family = {.name = text("f")};
    petal_transaction *t;
    petal_cursor *cursor;
    petal_table *made;
    petal_error error;

    write_fixture_init(&w);
    MUST(petal_table_create(
        w.base.db,
        &(petal_table_options){.name = text("other"), .families = &family, .family_count = 1},
        &made, WHY));
    MUST(petal_table_drop(made, WHY));
    t = begin(&w);
    assert_int_equal(petal_transaction_get(t, made, text("r"), NULL, w.read, &error),
                     PETAL_NOT_FOUND);
    assert_int_equal(petal_transaction_scan(t, made, NULL, &cursor, &error), PETAL_NOT_FOUND);
    put(t, w.f, "r", "q", "mine");
    MUST(petal_transaction_commit(t, WHY));
    write_fixture_fini(&w);
}

TEST(a_clock_that_goes_back_takes_nothing_away)
{
    struct write_fixture w;
    petal_transaction *t;
    int64_t sum;

    write_fixture_init(&w);
    write_fixture_increment(&w, "other", "n", 1);
    MUST(petal_put(w.f, text("r"), text("n"), 1950, slice_make("\0\0\0\0\0\0\0\5", 8), NULL, WHY));
    test_clock_set(&w.base.clock, 2000);
    t = begin(&w);
    MUST(petal_transaction_increment(t, w.f, text("r"), text("n"), 2, &sum, WHY));
    test_clock_set(&w.base.clock, 1900);
    MUST(petal_transaction_commit(t, WHY));
    write_fixture_expect_row(&w, "r", "r/f:n=#7@2000 r/f:n=#5@1950");
    write_fixture_fini(&w);
}

/* Its reader has seen the rows; that it is not closed changes nothing. */
TEST(a_cursor_that_is_open_at_the_commit_counts)
{
    struct write_fixture w;
    petal_transaction *t;
    petal_cursor *cursor;

    write_fixture_init(&w);
    write_fixture_put(w.f, "b", "q", 10, "v");
    t = begin(&w);
    MUST(petal_transaction_scan(t, w.table, NULL, &cursor, WHY));
    MUST(petal_cursor_next_row(cursor, w.read, WHY));
    put(t, w.f, "x", "q", "mine");
    write_fixture_put(w.f, "a", "q", 10, "v");
    expect_conflict(t, "a");
    MUST(petal_cursor_next_row(cursor, w.read, WHY));
    assert_int_equal(petal_result_count(w.read), 0);
    petal_cursor_close(cursor);
    write_fixture_fini(&w);
}

TEST(one_that_is_open_keeps_the_database_open)
{
    struct write_fixture w;
    petal_transaction *t;
    petal_error error;

    write_fixture_init(&w);
    t = begin(&w);
    assert_int_equal(petal_close(w.base.db, &error), PETAL_BUSY);
    assert_non_null(strstr(error.text, "in use: 1 transaction must be closed"));
    petal_transaction_abort(t);
    write_fixture_fini(&w);
}

/* ---- the same calls made outright ---- */

static void
expect_same(struct write_fixture *w, petal_transaction *t, struct write_fixture *plain,
            const petal_scan_options *options)
{
    petal_cursor *one, *other;

    MUST(petal_transaction_scan(t, w->table, options, &one, WHY));
    MUST(petal_cursor_open(plain->table, options, &other, WHY));
    for (;;) {
        char cells[4096];

        MUST(petal_cursor_next_row(one, w->read, WHY));
        MUST(petal_cursor_next_row(other, plain->read, WHY));
        snprintf(cells, sizeof cells, "%s", write_fixture_describe(w->read));
        assert_string_equal(cells, write_fixture_describe(plain->read));
        if (cells[0] == '\0')
            break;
    }
    petal_cursor_close(one);
    petal_cursor_close(other);
}

static void
write_both(struct write_fixture *w, petal_transaction *t, struct write_fixture *plain)
{
    char row[8], qualifier[8], value[16];
    int64_t timestamp = rand() % 3 == 0 ? PETAL_LATEST : 995 + rand() % 10;
    static const enum petal_cell_type types[] = {PETAL_DELETE, PETAL_DELETE_FAMILY_VERSION,
                                                 PETAL_DELETE_COLUMN, PETAL_DELETE_FAMILY};
    enum petal_cell_type type = types[rand() % 4];
    bool of_family = type == PETAL_DELETE_FAMILY || type == PETAL_DELETE_FAMILY_VERSION;
    petal_slice column;
    bool g = rand() % 3 == 0;
    petal_family *f = t == NULL || g ? w->g : w->f, *p = t == NULL || g ? plain->g : plain->f;

    snprintf(row, sizeof row, "r%d", rand() % 6);
    snprintf(qualifier, sizeof qualifier, "q%d", rand() % 3);
    snprintf(value, sizeof value, "v%d", rand() % 1000);
    column = of_family ? slice_make(NULL, 0) : text(qualifier);
    if (t == NULL) {
        MUST(petal_put(f, text(row), text(qualifier), timestamp, text(value), NULL, WHY));
        MUST(petal_put(p, text(row), text(qualifier), timestamp, text(value), NULL, WHY));
    } else if (rand() % 3 > 0) {
        MUST(petal_transaction_put(t, f, text(row), text(qualifier), timestamp, text(value), NULL,
                                   WHY));
        MUST(petal_put(p, text(row), text(qualifier), timestamp, text(value), NULL, WHY));
    } else if (rand() % 4 == 0) {
        MUST(petal_transaction_append(t, f, text(row), text(qualifier), text(value), WHY));
        MUST(petal_append(p, text(row), text(qualifier), text(value), NULL, WHY));
    } else {
        MUST(petal_transaction_delete(t, f, text(row), column, timestamp, type, WHY));
        MUST(petal_delete(p, text(row), column, timestamp, type, NULL, WHY));
    }
}

TEST(random_ones_answer_as_the_same_calls_made_outright)
{
    for (unsigned seed = 1; seed <= 150; seed++) {
        struct write_fixture w, plain;
        petal_transaction *t;

        srand(seed);
        print_message("seed %u\n", seed);
        write_fixture_init(&w);
        write_fixture_init(&plain);
        for (int i = rand() % 30; i > 0; i--)
            write_both(&w, NULL, &plain);
        if (rand() % 2 == 0) { /* both: raw scans show what a flush drops */
            MUST(petal_flush(w.base.db, NULL, WHY));
            MUST(petal_flush(plain.base.db, NULL, WHY));
        }
        t = begin(&w);
        for (int i = rand() % 30; i > 0; i--) {
            petal_column column = {w.g, text("q1"), false},
                         plain_column = {plain.g, text("q1"), false};
            petal_scan_options options = {.read = {.versions = 1 + rand() % 3,
                                                   .has_time_range = rand() % 3 == 0,
                                                   .time_limit = 0},
                                          .start_row =
                                              rand() % 2 == 0 ? text("r2") : slice_make(NULL, 0),
                                          .reversed = rand() % 2 == 0,
                                          .raw = rand() % 4 == 0,
                                          .row_limit = (uint64_t)(rand() % 3)};

            if (options.read.has_time_range) {
                options.read.time_min = 996;
                options.read.time_limit = 1002;
            }
            write_both(&w, t, &plain);
            expect_same(&w, t, &plain, &options);
            if (!options.raw) {
                petal_scan_options narrow = options, same = options;
                petal_cursor *cursor;

                narrow.read.columns = &column;
                same.read.columns = &plain_column;
                narrow.read.column_count = same.read.column_count = 1;
                MUST(petal_transaction_scan(t, w.table, &narrow, &cursor, WHY));
                MUST(petal_cursor_next_row(cursor, w.read, WHY));
                petal_cursor_close(cursor);
                MUST(petal_cursor_open(plain.table, &same, &cursor, WHY));
                MUST(petal_cursor_next_row(cursor, plain.read, WHY));
                petal_cursor_close(cursor);
                assert_int_equal(petal_result_count(w.read), petal_result_count(plain.read));
            }
        }
        MUST(petal_transaction_commit(t, WHY));
        t = begin(&w);
        expect_same(&w, t, &plain, &(petal_scan_options){.read = {.versions = PETAL_ALL_VERSIONS}});
        petal_transaction_abort(t);
        write_fixture_fini(&w);
        write_fixture_fini(&plain);
    }
}

/* ---- what it saw of itself at the end is what is there after the commit ---- */

/* All versions of all rows, without the timestamps. */
static void
describe_all(petal_cursor *cursor, petal_result *result, char *to, size_t size)
{
    to[0] = '\0';
    do {
        MUST(petal_cursor_next_row(cursor, result, WHY));
        for (size_t i = 0; i < petal_result_count(result); i++) {
            const petal_cell *cell = petal_result_cell(result, i);
            size_t used = strlen(to);

            used +=
                (size_t)snprintf(to + used, size - used, " %.*s:%.*s:%.*s=", (int)cell->row.size,
                                 (const char *)cell->row.data, (int)cell->family.size,
                                 (const char *)cell->family.data, (int)cell->qualifier.size,
                                 (const char *)cell->qualifier.data);
            for (size_t k = 0; k < cell->value.size; k++)
                used += (size_t)snprintf(to + used, size - used, "%02x",
                                         ((const uint8_t *)cell->value.data)[k]);
        }
    } while (petal_result_count(result) > 0);
    petal_cursor_close(cursor);
}

/* Timestamps that are given lie before the clock, near it, and after it. */
static void
write_any(petal_transaction *t, petal_table *table, int step)
{
    static const enum petal_cell_type types[] = {PETAL_DELETE, PETAL_DELETE_FAMILY_VERSION,
                                                 PETAL_DELETE_COLUMN, PETAL_DELETE_FAMILY};
    static const int64_t given[] = {500, 501, 1003, 1010, 90000};
    petal_family *family = petal_table_family_at(table, (size_t)(rand() % 3));
    petal_slice row = text(rand() % 2 == 0 ? "a" : "b"), column = text(rand() % 2 == 0 ? "p" : "q");
    int64_t timestamp = rand() % 4 == 0 ? given[rand() % 5] : PETAL_LATEST;
    enum petal_cell_type type = types[rand() % 4];
    enum petal_status status;
    petal_error error;
    char value[16];

    snprintf(value, sizeof value, "%08d", step);
    switch (rand() % 6) {
    case 0:
    case 1:
        MUST(petal_transaction_put(t, family, row, column, timestamp, text(value), NULL, WHY));
        break;
    case 2:
        MUST(petal_transaction_append(t, family, row, column, text("+"), WHY));
        break;
    case 3: /* refused where there is no number */
        status = petal_transaction_increment(t, family, row, column, 1, NULL, &error);
        assert_true(status == PETAL_OK || status == PETAL_INVALID);
        break;
    case 4:
        if (type == PETAL_DELETE_FAMILY || type == PETAL_DELETE_FAMILY_VERSION)
            column = slice_make(NULL, 0);
        MUST(petal_transaction_delete(t, family, row, column, timestamp, type, WHY));
        break;
    default:
        if (rand() % 4 == 0)
            MUST(petal_transaction_delete_row(t, table, row, timestamp, WHY));
        else
            MUST(petal_transaction_delete(t, family, row, column, PETAL_LATEST, PETAL_DELETE, WHY));
    }
}

TEST(what_it_saw_of_its_own_is_there_after_the_commit)
{
    for (unsigned seed = 1; seed <= 400; seed++) {
        static const petal_scan_options all = {.read = {.versions = PETAL_ALL_VERSIONS}};
        petal_family_options families[3] = {{.name = text("1"), .versions = 1},
                                            {.name = text("2"), .versions = 2},
                                            {.name = text("3"), .versions = 3}};
        struct write_fixture w;
        petal_table *table;
        int64_t now = 1000;

        srand(seed);
        print_message("seed %u\n", seed);
        write_fixture_init(&w);
        MUST(petal_table_create(
            w.base.db,
            &(petal_table_options){.name = text("own"), .families = families, .family_count = 3},
            &table, WHY));
        for (int i = rand() % 20; i > 0; i--) /* the clock is behind these */
            MUST(petal_increment(petal_table_family_at(table, (size_t)(rand() % 3)),
                                 text(rand() % 2 == 0 ? "a" : "b"), text("p"), 1, NULL, NULL, WHY));
        for (int round = 0; round < 4; round++) {
            char own[8192], after[8192];
            petal_transaction *t;
            petal_cursor *cursor;

            test_clock_set(&w.base.clock, now += rand() % 3);
            t = begin(&w);
            for (int i = rand() % 12; i > 0; i--) {
                write_any(t, table, i);
                test_clock_set(&w.base.clock, now += rand() % 3);
            }
            test_clock_set(&w.base.clock, now += rand() % 30);
            MUST(petal_transaction_scan(t, table, &all, &cursor, WHY));
            describe_all(cursor, w.read, own, sizeof own);
            MUST(petal_transaction_commit(t, WHY));
            MUST(petal_cursor_open(table, &all, &cursor, WHY));
            describe_all(cursor, w.read, after, sizeof after);
            assert_string_equal(after, own);
        }
        write_fixture_fini(&w);
    }
}

/* ---- threads ---- */

#define ACCOUNTS  8
#define TRANSFERS 150

static int64_t
balance_of(petal_result *result)
{
    int64_t sum = 0;

    for (size_t i = 0; i < petal_result_count(result); i++)
        sum += atoi(petal_result_cell(result, i)->value.data);
    return sum;
}

/* Moves money between two accounts; what a scan of all sees must always be the same. */
static void *
transfer(void *argument)
{
    struct write_fixture *w = argument;
    petal_result *result;
    petal_error error;
    unsigned dice = (unsigned)(uintptr_t)&result;

    MUST(petal_result_new(w->base.db, &result, WHY));
    for (int done = 0; done < TRANSFERS;) {
        petal_transaction *t = begin(w);
        int from = rand_r(&dice) % ACCOUNTS,
            to = (from + 1 + rand_r(&dice) % (ACCOUNTS - 1)) % ACCOUNTS;
        enum petal_status status;
        int64_t all = 0;
        petal_cursor *cursor;

        if (done % 10 == 0) {
            MUST(petal_transaction_scan(t, w->table, NULL, &cursor, WHY));
            do {
                MUST(petal_cursor_next_row(cursor, result, WHY));
                all += balance_of(result);
            } while (petal_result_count(result) > 0);
            petal_cursor_close(cursor);
            assert_int_equal(all, 100 * ACCOUNTS);
        }
        for (int k = 0; k < 2; k++) {
            char row[8], value[16];

            snprintf(row, sizeof row, "r%d", k == 0 ? from : to);
            MUST(petal_transaction_get(t, w->table, text(row), NULL, result, WHY));
            snprintf(value, sizeof value, "%d%c", (int)balance_of(result) + (k == 0 ? -1 : 1), 0);
            MUST(petal_transaction_put(t, w->f, text(row), text("q"), PETAL_LATEST,
                                       slice_make(value, strlen(value) + 1), NULL, WHY));
        }
        status = petal_transaction_commit(t, &error);
        assert_true(status == PETAL_OK || status == PETAL_CONFLICT);
        done += status == PETAL_OK;
    }
    petal_result_free(result);
    return NULL;
}

TEST(threads_that_transfer_keep_the_sum)
{
    struct write_fixture w;
    pthread_t threads[4];
    petal_transaction *t;
    petal_cursor *cursor;
    int64_t all = 0;

    write_fixture_init(&w);
    for (int i = 0; i < ACCOUNTS; i++) {
        char row[8];

        snprintf(row, sizeof row, "r%d", i);
        MUST(petal_put(w.f, text(row), text("q"), PETAL_LATEST, slice_make("100", 4), NULL, WHY));
    }
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, transfer, &w), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    t = begin(&w);
    MUST(petal_transaction_scan(t, w.table, NULL, &cursor, WHY));
    do {
        MUST(petal_cursor_next_row(cursor, w.read, WHY));
        all += balance_of(w.read);
    } while (petal_result_count(w.read) > 0);
    petal_cursor_close(cursor);
    petal_transaction_abort(t);
    assert_int_equal(all, 100 * ACCOUNTS);
    write_fixture_fini(&w);
}

TEST(what_was_committed_is_there_after_the_next_opening)
{
    struct write_fixture w;
    petal_transaction *t;

    write_fixture_init(&w);
    t = begin(&w);
    put(t, w.f, "a", "q", "mine");
    put(t, w.g, "b", "q", "mine");
    MUST(petal_transaction_commit(t, WHY));
    t = begin(&w);
    put(t, w.f, "a", "q", "lost");
    petal_transaction_abort(t);
    write_fixture_put(w.f, "c", "q", 10, "v");
    write_fixture_detach(&w);
    fixture_die(&w.base);
    fixture_must_open(&w.base);
    write_fixture_attach(&w);
    write_fixture_expect_row(&w, "a", "a/f:q=mine@1000");
    write_fixture_expect_row(&w, "b", "b/g:q=mine@1000");
    write_fixture_expect_row(&w, "c", "c/f:q=v@10");
    write_fixture_fini(&w);
}
