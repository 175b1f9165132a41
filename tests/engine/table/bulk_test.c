/*
 * bulk_test.c -- cells that are loaded in bulk: what they are in the table, what is refused, that
 * they enter all or none, above what was written before and unseen by readers of before.
 */

#include "engine/state/db.h"
#include "tests/disk/paths.h"
#include "tests/engine/script.h"
#include "tests/engine/table/fixture.h"

#include <stdlib.h>

#define TABLE "table t f,versions=5,block=1024 g,versions=5,bloom=rowcol\n"

/* ---- what enters ---- */

static const struct script_case cases[] = {
    {"as HBase has them, family markers stand among the cells of the empty qualifier", TABLE
     "bulk b t; add b t a/f@9=nine a/f@8!14 a/f@8=eight a/f@5!10 a/f@4=four b/f@4=b c/f@2=c\n"
     "add b t c/f:d@2=cd; show t :; commit b; verify t; show t all : a/f@9=nine b/f@4=b c/f@2=c "
     "c/f:d@2=cd\n"
     "show t raw : a/f@9=nine a/f@8!14 a/f@8=eight a/f@5!10 a/f@4=four b/f@4=b c/f@2=c c/f:d@2=cd"},
    {"a compaction of all files does not put markers away before what they hide in memory",
     "table t f; put t a/f:q@5=hidden b/f:q@5=lower; bulk b t; add b t a/f:q@7!12 b/f:q@5=bulk\n"
     "commit b; compact t; show t : b/f:q@5=bulk; flush; show t : b/f:q@5=bulk; compact t\n"
     "show t : b/f:q@5=bulk; show t raw : b/f:q@5=bulk; verify t"},
    {"two bulks count in the order of their commits",
     TABLE "bulk first t; bulk second t; add first t a/f:q@5=first b/f:q@5=b; add second t "
           "a/f:q@5=second\n"
           "commit second; moment m; commit first; show t all at=m : a/f:q@5=second; forget m\n"
           "show t all : a/f:q@5=first b/f:q@5=b; compact t; show t all : a/f:q@5=first b/f:q@5=b"},
    {"a bulk goes below what is in memory alone, if the cell is not among the latest",
     "table t f g; put t a/f:q@5=there\n"
     "put t p/g@1=1 p/g@1=1 p/g@1=1 p/g@1=1 p/g@1=1 p/g@1=1 p/g@1=1 p/g@1=1 p/g@1=1 p/g@1=1\n"
     "put t p/g@1=1 p/g@1=1 p/g@1=1 p/g@1=1 p/g@1=1 p/g@1=1 p/g@1=1 p/g@1=1 p/g@1=1 p/g@1=1\n"
     "below b t; add b t a/f:q@5=below; commit b; show t : a/f:q@5=there p/g@1=1; flush\n"
     "compact t; show t : a/f:q@5=there p/g@1=1; verify t"},
    {"one that is given up leaves nothing; one that lost its family or table does not enter",
     TABLE "bulk b t; add b t a/f:q@1=gone; refused busy close-database; give-up b; files 0\n"
           "bulk b t; add b t a/f:q@1=gone; alter t g; refused not-found commit b; bulk b t\n"
           "add b t a/g:q@1=gone; drop t; keep t t; refused not-found commit b\n"
           "refused not-found bulk b t; files 0"},
};

TEST_EACH(bulks_do_this, cases)
{
    script_run(*state);
}

TEST(timestamps_versions_markers_and_lives_stay)
{
#define ALL                                                                                        \
    "a/f@9!14 a/f@7!10 a/f@5=e a/f:p@8=new a/f:p@3=old a/f:q@6!12 a/f:q@6!8 a/f:q@6=x "            \
    "b/f:p@2=late~1125899906842624 b/g:z@4=other"
    petal_bulk *bulk;
    petal_cell mortal = {.row = text("b"),
                         .qualifier = text("p"),
                         .timestamp = 2,
                         .value = text("late"),
                         .has_ttl = true,
                         .ttl_ms = INT64_C(1) << 50};
    struct script script;

    script_begin(&script);
    script_do(&script, TABLE);
    MUST(petal_bulk_begin(script_table(&script, "t"), NULL, &bulk, WHY));
    script_name_bulk(&script, "b", bulk);
    script_do(&script, "add b t a/f@9!14 a/f@7!10 a/f@5=e a/f:p@8=new a/f:p@3=old a/f:q@6!12\n"
                       "add b t a/f:q@6!8 a/f:q@6=x b/g:z@4=other");
    mortal.type = PETAL_PUT;
    MUST(petal_bulk_add(bulk, script_family(&script, "t", "f"), &mortal, WHY));
    script_do(&script,
              "show t :; commit b; show t raw : " ALL "\n"
              "show t all : b/f:p@2=late~1125899906842624 b/g:z@4=other; verify t; reopen\n"
              "show t raw : " ALL "; compact t\n"
              "show t all : b/f:p@2=late~1125899906842624 b/g:z@4=other");
    test_clock_set(&script.base.clock, (INT64_C(1) << 50) + 10);
    script_do(&script, "show t all : b/g:z@4=other; verify t");
    script_end(&script);
}

TEST(a_committed_bulk_takes_no_more)
{
    struct script script;
    petal_bulk *bulk;
    petal_cell cell = {.row = text("a"), .timestamp = 1, .type = PETAL_PUT};

    script_begin(&script);
    script_do(&script, TABLE);
    MUST(petal_bulk_begin(script_table(&script, "t"), NULL, &bulk, WHY));
    MUST(petal_bulk_commit(bulk, WHY));
    assert_int_equal(petal_bulk_commit(bulk, NULL), PETAL_INVALID);
    assert_int_equal(petal_bulk_add(bulk, script_family(&script, "t", "f"), &cell, NULL),
                     PETAL_INVALID);
    petal_bulk_free(bulk);
    petal_bulk_free(NULL);
    script_do(&script, "show t :");
    script_end(&script);
}

/* By the moment of the commit, wherever the other cells lie, and to all kinds of reads. */
TEST(a_bulk_is_above_what_was_written_before_its_commit)
{
#define ABOVE                                                                                      \
    "show t all : a/f:behind@5=higher a/f:between@5=bulk a/f:file@5=bulk a/f:latest@5=lower "      \
    "a/f:memory@5=bulk\n"
    static const char *const works[] = {"", "compact t\n", "flush\n", "compact t\n"};
    struct script script;

    script_begin(&script);
    script_do(&script,
              TABLE "put t a/f:file@5=lower a/f:never@5=lower; flush; put t a/f:memory@5=lower\n"
                    "bulk b t; put t a/f:between@5=lower; add b t a/f:behind@5=bulk\n"
                    "add b t a/f:between@5=bulk a/f:file@5=bulk a/f:memory@5=bulk\n"
                    "put t a/f:latest@5=lower; add b t a/f:never@5!8; moment before; commit b\n"
                    "moment behind; put t a/f:behind@5=higher");
    for (size_t i = 0; i < COUNT(works); i++) {
        script_do(&script, works[i]);
        script_do(&script, ABOVE "show t all at=before : a/f:between@5=lower a/f:file@5=lower "
                                 "a/f:latest@5=lower a/f:memory@5=lower a/f:never@5=lower\n"
                                 "show t all at=behind : a/f:behind@5=bulk a/f:between@5=bulk "
                                 "a/f:file@5=bulk a/f:latest@5=lower a/f:memory@5=bulk\n"
                                 "show t row=a column=f:memory : a/f:memory@5=bulk\n"
                                 "show t row=a column=f:memory at=before : a/f:memory@5=lower\n"
                                 "show t row=a column=f:behind at=before :\n"
                                 "show t row=a column=f:behind at=behind : a/f:behind@5=bulk\n"
                                 "show t row=a column=f:behind : a/f:behind@5=higher\n"
                                 "show t row=a column=f:never :; verify t");
    }
    script_do(&script, "forget before; forget behind; compact t; reopen\n" ABOVE "verify t");
    script_end(&script);
}

static petal_bulk *
begin(petal_table *table)
{
    petal_bulk *bulk;

    MUST(petal_bulk_begin(table, NULL, &bulk, WHY));
    return bulk;
}

static void
must_commit(petal_bulk *bulk)
{
    MUST(petal_bulk_commit(bulk, WHY));
    petal_bulk_free(bulk);
}

static void
must_add(petal_bulk *bulk, petal_family *family, const char *row, const char *qualifier,
         int64_t timestamp, enum petal_cell_type type, const char *value)
{
    petal_cell cell = {.row = text(row),
                       .qualifier = text(qualifier),
                       .timestamp = timestamp,
                       .type = type,
                       .value = text(value)};

    MUST(petal_bulk_add(bulk, family, &cell, WHY));
}

/* ---- many cells ---- */

#define ROWS 3000

/* Three versions of row i, of which one is a marker now and then; in many blocks and files. */
static void
add_many(petal_bulk *bulk, petal_family *family, const char *value)
{
    for (int i = 0; i < ROWS; i++) {
        char row[16];

        snprintf(row, sizeof row, "row%06d", i);
        for (int64_t timestamp = 30; timestamp > 0; timestamp -= 10) {
            if (i % 7 == 3 && timestamp == 20)
                must_add(bulk, family, row, "q", timestamp, PETAL_DELETE, "");
            must_add(bulk, family, row, "q", timestamp, PETAL_PUT, value);
        }
    }
}

static bool
count_files(void *argument, const petal_file_info *file)
{
    int *files = argument;

    assert_true(file->sequence_min > 0 && file->sequence_min <= file->sequence_max);
    ++*files;
    return true;
}

/* Every cell by scans forward and back, by gets, and by seeks to it, as a bulk whose sequences were
 * shifted. */
TEST(all_cells_are_found_in_many_files)
{
    petal_bulk_options options = {.file_bytes = 4096};
    petal_scan_options back = {.reversed = true, .read.versions = PETAL_ALL_VERSIONS};
    petal_cursor *cursor;
    const petal_cell *cell;
    int files = 0, found = 0;
    struct script script;
    petal_table *table;
    petal_bulk *bulk;

    script_begin(&script);
    script_do(&script, TABLE);
    table = script_table(&script, "t");
    MUST(petal_bulk_begin(table, &options, &bulk, WHY));
    add_many(bulk, script_family(&script, "t", "f"), "bulk");
    for (int i = 0; i < 100; i++)
        script_do(&script, "put t row000000/f:q@30=lower");
    script_do(&script, "put t row000001/f:q@15=between");
    must_commit(bulk);
    MUST(petal_table_files(table, count_files, &files, WHY));
    assert_true(files > 5);
    MUST(petal_cursor_open(table, &back, &cursor, WHY));
    script_do(&script, "verify t; open seeking t");
    for (int i = ROWS - 1; i >= 0; i--) {
        char row[16], statements[200];

        snprintf(row, sizeof row, "row%06d", i);
        for (int64_t timestamp = 30; timestamp > 0; timestamp -= 10) {
            if (i % 7 == 3 && timestamp == 20)
                continue;
            MUST(petal_cursor_next(cursor, &cell, WHY));
            assert_non_null(cell);
            assert_true(slice_equal(cell->row, text(row)));
            assert_true(cell->timestamp == timestamp);
            assert_true(slice_equal(cell->value, text("bulk")));
            found++;
            if (i == 1 && timestamp == 20)
                MUST(petal_cursor_next(cursor, &cell, WHY));
        }
        if (i % 50 == 0) {
            snprintf(statements, sizeof statements,
                     "show t row=%s column=f:q : %s/f:q@30=bulk; seek seeking %s/f:q\n"
                     "step seeking : %s/f:q@30=bulk",
                     row, row, row, row);
            script_do(&script, statements);
        }
    }
    MUST(petal_cursor_next(cursor, &cell, WHY));
    assert_null(cell);
    petal_cursor_close(cursor);
    assert_true(found > 2 * ROWS);
    script_do(&script, "flush; compact t; verify t\n"
                       "show t row=row000000 column=f:q : row000000/f:q@30=bulk");
    script_end(&script);
}

/* ---- what is refused ---- */

/* A cell that must not follow on (b, q, 5, 8), and all that comes after it. */
static void
expect_refused(struct script *script, petal_family *family, petal_cell cell, const char *says)
{
    petal_bulk *bulk = begin(script_table(script, "t"));
    petal_error error;

    script_name_bulk(script, "b", bulk);
    script_do(script, "add b t b/f:q@5!8");
    assert_int_equal(petal_bulk_add(bulk, family, &cell, &error), PETAL_INVALID);
    if (strstr(error.text, says) == NULL)
        fail_msg("the text is: %s", error.text);
    script_do(script, "refused invalid add b t z/f:q@5=; refused invalid commit b\n"
                      "told has failed before\n"
                      "show t :");
}

TEST(what_cannot_be_is_refused_and_nothing_enters)
{
    static const struct {
        const char *row, *qualifier;
        int64_t timestamp;
        int type;
        const char *value, *says;
    } rows[] = {
        {"a", "q", 5, PETAL_PUT, "", "does not come behind"},
        {"b", "p", 5, PETAL_PUT, "", "does not come behind"},
        {"b", "q", 6, PETAL_PUT, "", "does not come behind"},
        {"b", "q", 5, PETAL_DELETE_COLUMN, "", "does not come behind"},
        {"b", "q", 5, PETAL_DELETE, "", "came twice"},
        {"b", "", 5, PETAL_DELETE_FAMILY, "", "does not come behind"},
        {"", "q", 5, PETAL_PUT, "", "the row is empty"},
        {"c", "q", -1, PETAL_PUT, "", "is negative"},
        {"c", "q", PETAL_LATEST, PETAL_PUT, "", "PETAL_LATEST"},
        {"c", "q", 1, PETAL_DELETE, "x", "a deletion has a value"},
        {"c", "q", 1, PETAL_DELETE_FAMILY, "", "takes no qualifier"},
        {"c", "q", 1, 6, "", "is not a cell type"},
    };
    const petal_cell good = {
        .row = text("c"), .qualifier = text("q"), .timestamp = 1, .type = PETAL_PUT};
    char *large = test_allocate(PETAL_MAX_VALUE_BYTES + 1);
    struct script script;
    petal_family *f;
    petal_cell cell;

    memset(large, 'x', PETAL_MAX_VALUE_BYTES + 1);
    script_begin(&script);
    script_do(&script, TABLE "table other f");
    f = script_family(&script, "t", "f");
    for (size_t i = 0; i < COUNT(rows); i++) {
        cell = (petal_cell){.row = text(rows[i].row),
                            .qualifier = text(rows[i].qualifier),
                            .timestamp = rows[i].timestamp,
                            .type = (enum petal_cell_type)rows[i].type,
                            .value = text(rows[i].value)};
        expect_refused(&script, f, cell, rows[i].says);
    }
    expect_refused(&script, script_family(&script, "other", "f"), good, "does not belong to table");
    cell = good;
    cell.ttl_ms = 7;
    expect_refused(&script, f, cell, "ttl");
    cell = good;
    cell.row = slice_make(large, PETAL_MAX_ROW_BYTES + 1);
    expect_refused(&script, f, cell, "the limit is");
    cell = good;
    cell.qualifier = slice_make(large, PETAL_MAX_QUALIFIER_BYTES + 1);
    expect_refused(&script, f, cell, "the limit is");
    cell = good;
    cell.value = slice_make(large, PETAL_MAX_VALUE_BYTES + 1);
    expect_refused(&script, f, cell, "the limit is");
    script_do(&script, "files 0");
    free(large);
    script_end(&script);
}

/* ---- below all ---- */

/* Ties are won by what is there, in files, levelled files and memory, and by what went below
 * before; snapshots of before see it, cursors of before do not. */
TEST(a_bulk_goes_below_all_that_is_there)
{
#define THERE "a/f:file@5=there a/f:level@5=there a/f:memory@5=there p/g:q@5=beside"
#define BELOW                                                                                      \
    "a/f:below@5=first a/f:file@5=there a/f:later@5=second a/f:level@5=there "                     \
    "a/f:memory@5=there p/g:q@5=beside\n"
    static const char *const works[] = {"", "compact t", "flush", "compact t"};
    struct script script;

    script_begin(&script);
    script_do(&script, TABLE "put t a/f:level@5=there; flush; compact t; put t a/f:file@5=there\n"
                             "flush; put t a/f:memory@5=there");
    for (int i = 0; i < 20; i++) /* the cell in memory is not among the latest */
        script_do(&script, "put t p/g:q@5=beside");
    script_do(&script,
              "moment before; open c t\n"
              "below b t; add b t a/f:below@5=first a/f:file@5=first a/f:level@5!12\n"
              "add b t a/f:level@5=first a/f:memory@5!8; show t all at=before : " THERE "\n"
              "commit b; below b t\n"
              "add b t a/f:below@5=second a/f:file@5=second a/f:later@5=second a/f:level@5!12\n"
              "add b t a/f:level@5=second a/f:memory@5!8\n"
              "show t all at=before : a/f:below@5=first " THERE "\n"
              "commit b; rest c : " THERE "\n"
              "close c");
    for (size_t i = 0; i < COUNT(works); i++) {
        script_do(&script, works[i]);
        script_do(&script, "show t all : " BELOW "show t all at=before : " BELOW "verify t");
    }
    script_do(&script, "forget before; reopen; show t all : " BELOW);
    script_end(&script);
}

/* Of a database that an earlier version began its sequences from 1 on. */
TEST(no_room_below_is_told_and_a_compaction_makes_some)
{
#define LEFT "show t : a/f:q@5=there a/f:r@5=there a/f:s@5=below"
    struct script script;
    petal_error error;

    script_begin(&script);
    script.base.db->writers.last_sequence = 0;
    atomic_store(&script.base.db->views.published_sequence, 0);
    script_do(&script, "table t f");
    for (int i = 0; i < 20; i++)
        script_do(&script, "put t a/f:q@5=there");
    /* One put is left of the twenty, the last. */
    script_do(&script, "flush; put t a/f:r@5=there; below b t; add b t a/f:q@5=below\n"
                       "add b t a/f:s@5=below; commit b");
    for (int i = 0; i < 10; i++) {
        petal_bulk_options options = {.place = PETAL_BULK_BELOW};
        petal_bulk *bulk;
        enum petal_status status;

        MUST(petal_bulk_begin(script_table(&script, "t"), &options, &bulk, WHY));
        must_add(bulk, script_family(&script, "t", "f"), "a", "s", 5, PETAL_PUT, "lower");
        status = petal_bulk_commit(bulk, &error);
        petal_bulk_free(bulk);
        if (status != PETAL_OK)
            break;
    }
    assert_int_equal(error.status, PETAL_INVALID);
    assert_non_null(strstr(error.text, "there is no room below the oldest cell of"));
    script_do(&script, LEFT "; flush; compact t; below b t; add b t a/f:t@5=lower; commit b\n" LEFT
                            " a/f:t@5=lower; verify t");
    script_end(&script);
}

/* ---- copies, and files that nobody has open ---- */

/* Two families, f shifted, with a cell that was written in between. */
#define LOAD                                                                                       \
    "table t f,block=1024 g,bloom=rowcol; bulk b t; add b t a/f:q@5=bulk a/g:q@5!8\n"              \
    "put t b/f:q@5=replaced b/f:q@5=kept a/f:q@5=lower a/g:q@5=deleted; flush; commit b\n"
#define LOADED "a/f:q@5=bulk b/f:q@5=kept"

static void
expect_copy(struct script *script, const char *directory, const char *shows)
{
    script_do_in(script, directory, shows);
    script_do_in(script, directory, "verify t");
}

TEST(copies_have_what_was_loaded)
{
    struct script script;

    script_begin(&script);
    script_do(&script,
              LOAD "take t s; clone s c; show c : " LOADED "; compact c; show c : " LOADED "\n"
                   "put t a/f:q@5=later; restore s t; show t : " LOADED);
    MUST(petal_checkpoint(script.base.db, "/copy", WHY));
    expect_copy(&script, "/copy", "show t : " LOADED);
    script_end(&script);
}

static void
note_fault(void *argument, const petal_fault *fault)
{
    if (!fault->harmless)
        ++*(int *)argument;
}

static void
expect_salvaged(struct script *script, const char *to, bool faults_wanted, const char *shows)
{
    int faults = 0;
    petal_check_options check = {
        .env = &script->base.env, .argument = &faults, .fault = note_fault};

    MUST(petal_salvage(FIXTURE_DIRECTORY, to, &check, NULL, WHY));
    assert_int_equal(faults > 0, faults_wanted);
    expect_copy(script, to, shows);
}

/* Closed, as it is and without its manifest. */
static void
expect_salvages(struct script *script, const char *shows)
{
    fixture_must_close(&script->base);
    expect_salvaged(script, "/whole", false, shows);
    assert_int_equal(vfs_remove(memory_vfs_table(script->base.vfs), FIXTURE_DIRECTORY "/MANIFEST"),
                     0);
    expect_salvaged(script, "/lost", true, shows);
}

/* A bulk that was not committed is none. */
TEST(what_was_loaded_is_verified_and_salvaged)
{
    static const char all[] = "show t : " LOADED " c/f:q@5=logged";
    petal_bulk_options files = {.file_bytes = 4096};
    struct script living, script = {.family = {0}};
    petal_check_options check = {0};
    petal_bulk *bulk;

    script_begin(&living);
    script_do(&living, LOAD);
    MUST(petal_bulk_begin(script_table(&living, "t"), &files, &bulk, WHY)); /* some are whole */
    add_many(bulk, script_family(&living, "t", "g"), "uncommitted");
    script_do(&living, "put t c/f:q@5=logged");
    fixture_init_on(&script.base, memory_vfs_clone(living.base.vfs), 9);
    memory_vfs_process_death(script.base.vfs);
    petal_bulk_free(bulk);
    script_end(&living);
    check.env = &script.base.env;
    MUST(petal_verify(FIXTURE_DIRECTORY, &check, NULL, WHY));
    expect_salvaged(&script, "/died", false, all);
    fixture_must_open(&script.base);
    script_do(&script, "clean");
    script_do(&script, all);
    expect_salvages(&script, all);
    script_end(&script);
}

/* Cells of one column at one timestamp, and markers: the order of their writes alone decides. Where
 * a write stands in the order, its value says. */
TEST(a_lost_manifest_turns_no_bulk_around)
{
    static const char in_order[] = "show t : a/f:q@5=4 b/f:q@5=5 b/g:q@5=5 d/f:q@5=2 e/f:q@5=1 "
                                   "f/f:q@5=0";
    struct script script;

    script_begin(&script);
    script_do(&script,
              "table t f,versions=1000,block=1024 g,versions=1000,bloom=rowcol\n"
              "bulk above t; bulk later t; add later t a/f:q@5=4; add above t a/f:q@5=3 b/f:q@5=3\n"
              "add above t c/f:q@5!12 a/g@5!14");
    for (int i = 0; i < 9; i++)
        script_do(&script, "put t a/f:q@5=2 b/f:q@5=2 c/f:q@5=2 a/g:q@5=2 d/f:q@5=2");
    script_do(&script, "flush; below below t; below lower t; add below t d/f:q@5=1 e/f:q@5=1\n"
                       "add lower t d/f:q@5=0 e/f:q@5=0 f/f:q@5=0; commit below; commit above\n"
                       "put t b/f:q@5=5 c/f:q@4=2; commit lower; commit later; put t b/g:q@5=5\n"
                       "flush");
    script_do(&script, in_order);
    expect_salvages(&script, in_order);
    script_end(&script);
}

/* ---- beside others ---- */

static struct {
    const petal_vfs *below;
    petal_vfs table;
    petal_family *family; /* NULL: nothing is written */
    unsigned syncs;
} busy;

/* While a file is synced others write, more each time than the next sequences were chosen ahead. */
static int
sync_busily(void *context, petal_file *file)
{
    petal_family *family = busy.family;

    busy.syncs++;
    busy.family = NULL;
    for (unsigned i = 0; family != NULL && i < 5000; i++)
        MUST(petal_put(family, text("a"), text("q"), 5, text("meanwhile"), NULL, WHY));
    busy.family = busy.syncs < 2 ? family : NULL;
    return busy.below->sync(context, file);
}

TEST(writes_do_not_pass_a_bulk)
{
    struct script script = {.family = {0}};

    fixture_init(&script.base, 8);
    memset(&busy, 0, sizeof busy);
    busy.below = script.base.env.vfs;
    busy.table = *busy.below;
    busy.table.sync = sync_busily;
    script.base.env.vfs = &busy.table;
    fixture_must_open(&script.base);
    script_do(&script, "table t f; bulk b t; add b t a/f:q@5=bulk; put t a/f:q@5=before");
    busy.syncs = 0;
    busy.family = script_family(&script, "t", "f");
    script_do(&script, "commit b");
    assert_true(busy.syncs > 3); /* the file's first, two of its trailer, and the log's */
    script_do(&script, "show t : a/f:q@5=bulk; put t a/f:q@5=later; show t : a/f:q@5=later; flush\n"
                       "show t : a/f:q@5=later");
    fixture_must_close(&script.base);
    assert_int_equal(vfs_remove(memory_vfs_table(script.base.vfs), FIXTURE_DIRECTORY "/MANIFEST"),
                     0);
    expect_salvaged(&script, "/lost", true, "show t : a/f:q@5=later");
    script_end(&script);
}

TEST(who_has_read_before_a_bulk_reads_again)
{
    struct script script;
    petal_family *f;
    int64_t sum;

    script_begin(&script);
    script_do(&script, "table t f");
    f = script_family(&script, "t", "f");
    MUST(petal_increment(f, text("a"), text("n"), 5, NULL, &sum, WHY));
    for (unsigned below = 0; below < 2; below++) {
        uint64_t read_point = script.base.db->writers.last_sequence;

        script_do(&script, below ? "below b t" : "bulk b t");
        script_do(&script, "add b t z/f:q@5=bulk; commit b");
        for (uint64_t hash = 0; hash < 3000; hash += 7)
            assert_false(row_locks_unchanged(&script.base.db->writers.row_locks, hash, read_point));
        MUST(petal_increment(f, text("a"), text("n"), 5, NULL, &sum, WHY));
    }
    assert_int_equal(sum, 15);
    script_end(&script);
}

struct runs {
    uint64_t runs[200];
    size_t count;
};

static bool
count_runs(void *argument, const petal_file_info *file)
{
    struct runs *seen = argument;

    for (size_t i = 0; i < seen->count; i++) {
        if (seen->runs[i] == file->run)
            return true;
    }
    seen->runs[seen->count++] = file->run;
    return true;
}

/* As flushes do, bulks wait for compactions, which take them as they take flushed files. */
TEST(many_small_bulks_stall_nobody)
{
    struct script script;

    script_begin(&script);
    fixture_must_close(&script.base);
    script.base.options.no_compaction = false;
    fixture_must_open(&script.base);
    script_do(&script, "table t f");
    for (int i = 0; i < 150; i++) {
        struct runs seen = {.count = 0};
        char statements[200];

        snprintf(statements, sizeof statements,
                 "%s b t; add b t r/f:q@5=r%03d r%03d/f:q@5=bulk; commit b; put t put/f:q@5=r%03d",
                 i % 3 == 2 ? "below" : "bulk", i, i, i);
        script_do(&script, statements);
        MUST(petal_table_files(script_table(&script, "t"), count_runs, &seen, WHY));
        assert_true(seen.count <= STORE_MOST_RUNS + 1);
    }
    MUST(petal_wait_idle(script.base.db, WHY));
    script_do(&script, "show t row=r column=f:q : r/f:q@5=r148; verify t\n"
                       "show t row=r149 column=f:q : r149/f:q@5=bulk\n"
                       "show t row=put column=f:q : put/f:q@5=r149");
    script_end(&script);
}

TEST(who_may_not_write_loads_nothing)
{
    petal_bulk_options nowhere = {.place = (enum petal_bulk_place)2};
    petal_family_options family = {.name = {"f", 1}};
    petal_table_options read_only = {.families = &family, .family_count = 1, .read_only = true};
    struct script script;
    petal_table *table;
    petal_bulk *bulk;
    petal_error error;

    script_begin(&script);
    script_do(&script, TABLE "bulk b t; add b t a/f:q@5=bulk");
    table = script_table(&script, "t");
    assert_int_equal(petal_bulk_begin(table, &nowhere, &bulk, &error), PETAL_INVALID);
    MUST(petal_table_alter(table, &read_only, WHY));
    script_do(&script, "refused read-only commit b");
    script.base.options.read_only = true;
    script.base.options.create = false;
    script_do(&script, "reopen; refused read-only bulk b t");
    script_end(&script);
}

/* ---- memory and descriptors ---- */

/* Cells of a row's empty qualifier are held for the family markers among them, but not for ever. */
TEST(many_bytes_of_the_empty_qualifier_go_on)
{
    const size_t bytes = PETAL_MAX_VALUE_BYTES;
    char *value = test_allocate(bytes);
    struct script script;
    petal_family *f;

    memset(value, 'x', bytes);
    script_begin(&script);
    script_do(&script, "table t f,versions=20");
    f = script_family(&script, "t", "f");
    for (unsigned marked = 0; marked < 2; marked++) {
        petal_bulk *bulk = begin(script_table(&script, "t"));

        script_name_bulk(&script, "b", bulk);
        for (int64_t timestamp = 20; timestamp > 10; timestamp--) {
            petal_cell cell = {.row = text("a"),
                               .timestamp = timestamp,
                               .type = PETAL_PUT,
                               .value = slice_make(value, bytes)};

            MUST(petal_bulk_add(bulk, f, &cell, WHY));
        }
        script_do(&script, marked == 0 ? "add b t a/f@3=last; commit b"
                                       : "refused invalid add b t a/f@5!14; give-up b\n"
                                         "told behind more cells of the empty qualifier than");
    }
    script_do(&script, "compact t; verify t; show t all range=0..10 : a/f@3=last");
    free(value);
    script_end(&script);
}

/* Beside the block at hand a mebibyte of each: what is to be written, filter, index; however many
 * cells there are. */
TEST(memory_does_not_grow_with_the_bulk)
{
    struct script script;
    petal_bulk *bulk;
    petal_family *f;
    uint64_t before;

    script_begin(&script);
    script_do(&script, "table t f");
    f = script_family(&script, "t", "f");
    test_allocator_forget_peak(&script.base.allocator);
    before = test_allocator_peak_bytes(&script.base.allocator);
    bulk = begin(script_table(&script, "t"));
    for (int row = 0; row < 400000; row++) { /* 44 million bytes */
        char name[16], value[100];
        petal_cell cell = {.qualifier = text("q"), .timestamp = 5, .type = PETAL_PUT};

        snprintf(name, sizeof name, "row%08d", row);
        test_random_bytes(&script.base.random, value, sizeof value); /* nothing compresses it */
        cell.row = text(name);
        cell.value = slice_make(value, sizeof value);
        MUST(petal_bulk_add(bulk, f, &cell, WHY));
    }
    must_commit(bulk);
    assert_in_range(test_allocator_peak_bytes(&script.base.allocator) - before, 1, 8 << 20);
    script_end(&script);
}

#define FEW_OPEN 8

/* A thousand files of eight families, which come mixed, by less descriptors than families; and
 * other writes, so that the files have to be told other sequences. */
TEST(descriptors_count_under_open_files)
{
    petal_family_options families[8];
    petal_table_options options = table_plain_options(families, "abcdefgh");
    petal_bulk_options bulk_options = {.file_bytes = 1};
    struct fixture fixture;
    petal_table *table;
    petal_bulk *bulk;

    fixture_init(&fixture, 5);
    fixture.options.open_files = FEW_OPEN;
    fixture.options.no_compaction = true;
    memory_vfs_trace(fixture.vfs, true);
    fixture_must_open(&fixture);
    MUST(petal_table_create(fixture.db, &options, &table, WHY));
    MUST(petal_bulk_begin(table, &bulk_options, &bulk, WHY));
    for (int row = 0; row < 125; row++) {
        char name[16];

        snprintf(name, sizeof name, "row%08d", row);
        for (size_t family = 0; family < 8; family++)
            must_add(bulk, petal_table_family_at(table, family), name, "q", 5, PETAL_PUT, name);
    }
    assert_true(fixture_count_files(&fixture, ".sst") >= 992);
    table_put(table, "a", "written", "meanwhile");
    must_commit(bulk);
    assert_in_range(fixture_most_open(&fixture), 1, FEW_OPEN);
    MUST(petal_table_verify(table, WHY));
    assert_string_equal(table_row(fixture.db, table, "row00000124"),
                        "a:row00000124 b:row00000124 c:row00000124 d:row00000124 "
                        "e:row00000124 f:row00000124 g:row00000124 h:row00000124");
    memory_vfs_trace(fixture.vfs, false);
    fixture_fini(&fixture);
}

/* Writers of eight families, and cells that are held, under a limit of 8 MiB. */
TEST(memory_counts_and_is_bounded)
{
    petal_family_options families[8];
    petal_table_options options = table_plain_options(families, "abcdefgh");
    static char value[10000];
    struct fixture fixture;
    petal_table *table;
    petal_bulk *bulk;
    petal_stats stats;
    uint64_t before, peak, most = 0;

    fixture_init(&fixture, 5);
    fixture.options.memory_bytes = (size_t)8 << 20;
    fixture.options.cache_bytes = PETAL_NO_CACHE;
    fixture.options.memtable_bytes = 0;
    fixture_must_open(&fixture);
    MUST(petal_table_create(fixture.db, &options, &table, WHY));
    petal_stats_get(fixture.db, &stats);
    before = stats.file_memory;
    test_allocator_forget_peak(&fixture.allocator);
    peak = test_allocator_peak_bytes(&fixture.allocator);
    bulk = begin(table);
    for (int row = 0; row < 100; row++) {
        for (size_t family = 0; family < 8; family++) {
            for (int64_t timestamp = 9; timestamp > 0; timestamp--) {
                char name[16];
                petal_cell cell = {.qualifier = text(row == 50 ? "" : "q"),
                                   .timestamp = timestamp,
                                   .type = PETAL_PUT};

                snprintf(name, sizeof name, "row%08d", row);
                cell.row = text(name);
                test_random_bytes(&fixture.random, value, sizeof value);
                cell.value = slice_make(value, sizeof value);
                MUST(petal_bulk_add(bulk, petal_table_family_at(table, family), &cell, WHY));
            }
        }
        petal_stats_get(fixture.db, &stats);
        most = stats.file_memory > most ? stats.file_memory : most;
    }
    assert_in_range(most - before, 1 << 20, 4 << 20);
    assert_in_range(test_allocator_peak_bytes(&fixture.allocator) - peak, 1, 6 << 20);
    must_commit(bulk);
    petal_stats_get(fixture.db, &stats);
    assert_true(stats.file_memory - before < most - before);
    MUST(petal_table_verify(table, WHY));
    fixture_fini(&fixture);
}
