/*
 * paths.c -- one call of one operation, for gcov: which functions a get, a put, a step of a scan
 * and a flush pass.
 *
 *     paths DIRECTORY SCENARIO   DIRECTORY does not exist yet. The counters are set to zero before
 *                                the call and written after it; tests/cost/paths.sh reads them
 *     paths list                 the scenarios' names
 *
 * The setting: one table with one family under a ROW filter, blocks of 4 KiB, three store files of
 * which the middle one has the row asked for; they overlap in rows, so that only the filter tells
 * them apart. The database was closed and opened again: neither the data block nor the filter's
 * block of the row asked for is in the cache, and the index of every file has been read by gets of
 * other rows. `now` is fixed, the log is not synced by itself, nothing is compacted.
 */
#include "engine/petal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of libgcov, linked when the program is built for it. */
void __gcov_reset(void);
void __gcov_dump(void);

#define ROWS        3000
#define FILES       3
#define KEY_BYTES   16
#define VALUE_BYTES 100

struct subject {
    petal_db *db;
    petal_table *table;
    petal_family *family;
    petal_column column;
    petal_read_options read;
    petal_result *result;
    petal_cursor *cursor;
    petal_error error;
};

static char value[VALUE_BYTES];

static void
check(enum petal_status status, const petal_error *error, const char *action)
{
    if (status == PETAL_OK)
        return;
    fprintf(stderr, "paths: %s: %s\n", action, error->text);
    exit(3);
}

static petal_slice
text(const char *bytes)
{
    return (petal_slice){bytes, strlen(bytes)};
}

/* Good until the next call. */
static petal_slice
key_at(uint64_t number)
{
    static char key[KEY_BYTES + 1];

    snprintf(key, sizeof key, "row%013" PRIu64, number);
    return (petal_slice){key, KEY_BYTES};
}

static uint64_t
next_random(void *context)
{
    uint64_t *state = context;

    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state;
}

static int64_t
fixed_clock(void *context)
{
    return *(int64_t *)context;
}

/* ---- operations: one call each ---- */

/* In the middle file. */
#define ASKED_ROW (ROWS / 2 - ROWS / 2 % FILES + 1)

static enum petal_status
get(struct subject *subject)
{
    return petal_get(subject->table, key_at(ASKED_ROW), &subject->read, subject->result,
                     &subject->error);
}

/* Between two rows that are there. */
static enum petal_status
get_absent(struct subject *subject)
{
    char key[KEY_BYTES + 2];

    snprintf(key, sizeof key, "row%013d+", ASKED_ROW);
    return petal_get(subject->table, text(key), &subject->read, subject->result, &subject->error);
}

static enum petal_status
put(struct subject *subject)
{
    return petal_put(subject->family, key_at(ROWS), subject->column.qualifier, PETAL_LATEST,
                     (petal_slice){value, VALUE_BYTES}, NULL, &subject->error);
}

static enum petal_status
scan_next(struct subject *subject)
{
    const petal_cell *cell;

    return petal_cursor_next(subject->cursor, &cell, &subject->error);
}

static enum petal_status
flush(struct subject *subject)
{
    return petal_flush(subject->db, NULL, &subject->error);
}

static const struct scenario {
    const char *name;
    enum petal_status (*run)(struct subject *subject);
    size_t cells; /* of the result afterwards */
} scenarios[] = {
    {"get", get, 1},     {"get-absent", get_absent, 0},
    {"put", put, 0},     {"scan-next", scan_next, 0},
    {"flush", flush, 0},
};

/* ---- the setting ---- */

static void
open_database(const char *directory, const petal_env *env, struct subject *subject)
{
    petal_options options = {
        .create = true, .no_compaction = true, .log_sync_interval_ms = PETAL_NEVER, .env = env};

    check(petal_open(directory, &options, &subject->db, &subject->error), &subject->error, "open");
}

static void
find_table(struct subject *subject)
{
    check(petal_table_open(subject->db, text("t"), &subject->table, &subject->error),
          &subject->error, "open the table");
    subject->family = petal_table_family_at(subject->table, 0);
    subject->column = (petal_column){.family = subject->family, .qualifier = text("q")};
    subject->read = (petal_read_options){.columns = &subject->column, .column_count = 1};
}

/* Row r goes to file r % FILES. */
static void
fill(struct subject *subject)
{
    petal_family_options family = {
        .name = text("f"), .block_bytes = 4096, .bloom = PETAL_BLOOM_ROW};
    petal_table_options options = {.name = text("t"), .families = &family, .family_count = 1};

    check(petal_table_create(subject->db, &options, &subject->table, &subject->error),
          &subject->error, "create");
    find_table(subject);
    for (uint64_t file = 0; file < FILES; file++) {
        for (uint64_t row = file; row < ROWS; row += FILES)
            check(petal_put(subject->family, key_at(row), subject->column.qualifier, PETAL_LATEST,
                            (petal_slice){value, VALUE_BYTES}, NULL, &subject->error),
                  &subject->error, "put");
        check(flush(subject), &subject->error, "flush");
    }
}

/* The files' indexes come into memory, and a memtable into being; the cursor stands in the middle
 * of a block. */
static void
warm(struct subject *subject)
{
    for (uint64_t row = 0; row < FILES; row++)
        check(petal_get(subject->table, key_at(row), &subject->read, subject->result,
                        &subject->error),
              &subject->error, "get");
    check(petal_put(subject->family, key_at(ROWS + 1), subject->column.qualifier, PETAL_LATEST,
                    (petal_slice){value, VALUE_BYTES}, NULL, &subject->error),
          &subject->error, "put");
    check(petal_cursor_open(subject->table, NULL, &subject->cursor, &subject->error),
          &subject->error, "scan");
    for (int i = 0; i < 10; i++)
        check(scan_next(subject), &subject->error, "scan");
}

int
main(int argc, char **argv)
{
    uint64_t random_state = 1;
    int64_t now = 1700000000000;
    petal_env env = {.size = sizeof env,
                     .clock_context = &now,
                     .clock_ms = fixed_clock,
                     .random_context = &random_state,
                     .random = next_random};
    const struct scenario *scenario = scenarios,
                          *end = scenario + sizeof scenarios / sizeof *scenarios;
    struct subject subject = {0};
    enum petal_status status;

    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        for (; scenario < end; scenario++)
            puts(scenario->name);
        return 0;
    }
    while (argc == 3 && scenario < end && strcmp(scenario->name, argv[2]) != 0)
        scenario++;
    if (argc != 3 || scenario == end) {
        fputs("usage: paths DIRECTORY SCENARIO\n       paths list\n", stderr);
        return 2;
    }
    open_database(argv[1], &env, &subject);
    fill(&subject);
    check(petal_close(subject.db, &subject.error), &subject.error, "close");
    open_database(argv[1], &env, &subject);
    find_table(&subject);
    check(petal_result_new(subject.db, &subject.result, &subject.error), &subject.error,
          "make a result");
    warm(&subject);
    /* The threads that the opening started come to rest, or what they do first is counted now and
     * then. */
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    __gcov_reset();
    status = scenario->run(&subject);
    __gcov_dump();
    check(status, &subject.error, scenario->name);
    if (petal_result_count(subject.result) != scenario->cells && scenario->run != flush &&
        scenario->run != put && scenario->run != scan_next) {
        fputs("paths: the answer is wrong\n", stderr);
        return 3;
    }
    /* What follows is not counted: at its exit a program would write the counters again. */
    _exit(0);
}
