/*
 * main.c -- operations whose instructions are counted; tests/cost/cost.sh runs it under callgrind.
 *
 *     cost DIRECTORY [GROUP]   DIRECTORY does not exist yet; without valgrind it does the same and
 *                              counts nothing. GROUP: only one of `groups` at the end, such
 *                              as `pairs`, which `make cost-check` compares
 *
 * Each scenario is one call of measured_operations(), the only function that callgrind counts. A
 * line "NAME OPERATIONS" is printed for each. Data, order of keys, salts and the clock are fixed,
 * so that two runs of the pairs agree exactly, those of the rest within 2 %: where blocks lie
 * depends on threads, and memcmp goes another way near the end of a page. It keeps to calls and
 * options that petal.h always had, but for regions, so that builds of different ages can be
 * compared.
 *
 * Instructions of one operation (of one cell in scans), as `make cost` printed them: gcc 12, -O2,
 * x86-64. Those of a put include what the library does for the log, not what the kernel does.
 *
 *     column/get-absent/4-files           923
 *     column/get-absent/one-file          577
 *     column/get/4-files                 1747
 *     column/get/4-files-ROWCOL          3267
 *     column/get/memtable                1967
 *     column/get/one-file                1570
 *     column/put                         1710
 *     families/get-1-of-2                1570
 *     families/scan-both                  726
 *     general/3-columns                 10179
 *     general/3-columns-markers         22209
 *     general/3-versions                11975
 *     general/marker-of-family-version  16172
 *     general/marker-of-version         12711
 *     general/receipt                    5536
 *     general/row                       20433
 *     general/row-3-versions            27612
 *     general/row-3-versions-markers    34484
 *     general/row-markers               30622
 *     general/row-markers-in-file       31810
 *     general/time-range                 9166
 *     pair/get-absent-same/one-file       511
 *     pair/get-absent/4-files             853
 *     pair/get-absent/memtable            523
 *     pair/get-absent/one-file            506
 *     pair/get-outside/one-file           450
 *     pair/get/4-files                   1632
 *     pair/get/memtable                  1845
 *     pair/get/one-file                  1454
 *     pair/put                           1734
 *     pair/scan/4-files                   274
 *     pair/scan/memtable                  171
 *     pair/scan/one-file                  142
 *     pair/seek+10-new/4-files          14038
 *     pair/seek+10-new/memtable          5737
 *     pair/seek+10-new/one-file          6064
 *     pair/seek+10/4-files               9397
 *     pair/seek+10/memtable              3332
 *     pair/seek+10/one-file              3251
 *     wide/get-all-downwards/one-file  282461
 *     wide/get-row/2-files              59214
 *     wide/get-row/one-file             27737
 *     wide/scan-3-of-100/one-file        2979
 *     wide/scan/2-files                   895
 *     wide/scan/one-file                  147
 */
#include "engine/petal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS           20000
#define KEY_BYTES      16
#define VALUE_BYTES    100
#define FILES          4
#define WIDE_ROWS      200
#define WIDE_COLUMNS   100
#define COLUMN_BYTES   4
#define SEEK_STEPS     10
#define OPERATIONS     20000
#define FEW_OPERATIONS 2000
#define GENERAL_ROWS   2000
#define REGIONS        100
#define REGION_ROWS    (ROWS / REGIONS)

static char keys[ROWS + OPERATIONS][KEY_BYTES + 1]; /* those after ROWS are absent at first */
static char columns[WIDE_COLUMNS][COLUMN_BYTES + 1];
static uint32_t order[OPERATIONS];
static char value[VALUE_BYTES];

struct subject {
    petal_kv *kv;
    petal_table *table;
    petal_family *family;
    petal_column column;
    petal_read_options read;
    size_t cells; /* that general_get finds */
    petal_result *result;
    petal_cursor *cursor;
};

/* ---- surroundings ---- */

static void
check(enum petal_status status, const petal_error *error, const char *action)
{
    if (status == PETAL_OK)
        return;
    fprintf(stderr, "cost: %s: %s\n", action, error->text);
    exit(3);
}

static void
expect(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "cost: %s\n", what);
    exit(3);
}

static petal_slice
text(const char *bytes)
{
    return (petal_slice){bytes, strlen(bytes)};
}

static petal_slice
key_at(uint64_t number)
{
    return (petal_slice){keys[number], KEY_BYTES};
}

/* splitmix64 */
static uint64_t
scramble(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t
next_random(void *context)
{
    return scramble((*(uint64_t *)context)++);
}

static int64_t
fixed_clock(void *context)
{
    return *(int64_t *)context;
}

static void
make_data(void)
{
    for (size_t i = 0; i < ROWS + OPERATIONS; i++)
        snprintf(keys[i], sizeof keys[i], "%016" PRIx64, scramble(i));
    for (unsigned i = 0; i < WIDE_COLUMNS; i++)
        snprintf(columns[i], sizeof columns[i], "c%03u", i % 1000);
    for (size_t i = 0; i < OPERATIONS; i++)
        order[i] = (uint32_t)(scramble(i + ((uint64_t)1 << 32)) % ROWS);
    for (size_t i = 0; i < VALUE_BYTES; i++)
        value[i] = (char)(i % 2 == 0 ? 'v' : 'a' + scramble(i) % 26);
}

/* ---- operations ---- */

typedef void operation(struct subject *subject, uint64_t number);

static void
get_pair(struct subject *subject, uint64_t number)
{
    petal_slice found_value;
    petal_error error;
    bool found;

    check(petal_kv_get(subject->kv, key_at(order[number]), subject->result, &found, &found_value,
                       &error),
          &error, "get");
    expect(found, "a pair is missing");
}

/* One of as many rows as a region has, in whichever region it is. */
static void
get_pair_of_few(struct subject *subject, uint64_t number)
{
    petal_slice found_value;
    petal_error error;
    bool found;

    check(petal_kv_get(subject->kv, key_at(order[number] % REGION_ROWS), subject->result, &found,
                       &found_value, &error),
          &error, "get");
    expect(found, "a pair is missing");
}

static void
get_absent_pair(struct subject *subject, uint64_t number)
{
    petal_slice found_value;
    petal_error error;
    bool found;

    check(petal_kv_get(subject->kv, key_at(ROWS + number), subject->result, &found, &found_value,
                       &error),
          &error, "get");
    expect(!found, "a pair is there");
}

/* One and the same row, again and again. */
static void
get_same_absent_pair(struct subject *subject, uint64_t number)
{
    (void)number;
    get_absent_pair(subject, 0);
}

/* A row after all that any file has. */
static void
get_pair_outside(struct subject *subject, uint64_t number)
{
    petal_slice found_value;
    petal_error error;
    bool found;

    (void)number;
    check(petal_kv_get(subject->kv, text("~~~~~~~~~~~~~~~~"), subject->result, &found, &found_value,
                       &error),
          &error, "get");
    expect(!found, "a pair is there");
}

static void
get_column(struct subject *subject, uint64_t number)
{
    petal_error error;

    check(petal_get(subject->table, key_at(order[number]), &subject->read, subject->result, &error),
          &error, "get");
    expect(petal_result_count(subject->result) == 1, "a cell is missing");
}

static void
get_absent_column(struct subject *subject, uint64_t number)
{
    petal_error error;

    check(petal_get(subject->table, key_at(ROWS + number), &subject->read, subject->result, &error),
          &error, "get");
    expect(petal_result_count(subject->result) == 0, "a cell is there");
}

static void
get_wide_row(struct subject *subject, uint64_t number)
{
    petal_error error;

    check(petal_get(subject->table, key_at(number % WIDE_ROWS), NULL, subject->result, &error),
          &error, "get");
    expect(petal_result_count(subject->result) == WIDE_COLUMNS, "a cell is missing");
}

/* By whatever options. */
static void
general_get(struct subject *subject, uint64_t number)
{
    petal_error error;

    check(petal_get(subject->table, key_at(order[number] % GENERAL_ROWS), &subject->read,
                    subject->result, &error),
          &error, "get");
    expect(petal_result_count(subject->result) == subject->cells, "a cell is missing");
}

/* The same, all columns named. */
static void
get_wide_columns(struct subject *subject, uint64_t number)
{
    petal_error error;

    check(petal_get(subject->table, key_at(number % WIDE_ROWS), &subject->read, subject->result,
                    &error),
          &error, "get");
    expect(petal_result_count(subject->result) == WIDE_COLUMNS, "a cell is missing");
}

static void
put_pair(struct subject *subject, uint64_t number)
{
    petal_error error;

    check(petal_kv_put(subject->kv, key_at(ROWS + number), (petal_slice){value, VALUE_BYTES}, NULL,
                       &error),
          &error, "put");
}

static void
put_column(struct subject *subject, uint64_t number)
{
    petal_error error;

    check(petal_put(subject->family, key_at(number), subject->column.qualifier, PETAL_LATEST,
                    (petal_slice){value, VALUE_BYTES}, NULL, &error),
          &error, "put");
}

static void
scan_next(struct subject *subject, uint64_t number)
{
    const petal_cell *cell;
    petal_error error;

    (void)number;
    check(petal_cursor_next(subject->cursor, &cell, &error), &error, "scan");
    expect(cell != NULL, "the scan ended early");
}

static void
seek_and_step(struct subject *subject, uint64_t number)
{
    const petal_cell *cell;
    petal_error error;

    check(petal_cursor_seek(subject->cursor, key_at(order[number]), NULL, (petal_slice){NULL, 0},
                            &error),
          &error, "seek");
    for (int i = 0; i < SEEK_STEPS; i++)
        check(petal_cursor_next(subject->cursor, &cell, &error), &error, "scan");
}

static void
seek_with_new_cursor(struct subject *subject, uint64_t number)
{
    petal_scan_options scan = {.start_row = key_at(order[number])};
    const petal_cell *cell;
    petal_cursor *cursor;
    petal_error error;

    check(petal_cursor_open(subject->table, &scan, &cursor, &error), &error, "scan");
    for (int i = 0; i < SEEK_STEPS; i++)
        check(petal_cursor_next(cursor, &cell, &error), &error, "scan");
    petal_cursor_close(cursor);
}

/* ---- measuring ---- */

void measured_operations(operation *operate, struct subject *subject, uint64_t count);

/* Visible, so that callgrind knows its name. */
__attribute__((noinline)) void
measured_operations(operation *operate, struct subject *subject, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        operate(subject, i);
}

/* Run it once for the caches, unless it changes what it runs on, then for the count. */
static void
measure(const char *name, operation *operate, struct subject *subject, uint64_t count, bool repeats)
{
    for (uint64_t i = 0; repeats && i < count; i++)
        operate(subject, i);
    measured_operations(operate, subject, count);
    printf("%s %" PRIu64 "\n", name, count);
}

static void
begin_scan(struct subject *subject, const petal_read_options *read)
{
    petal_scan_options scan = {0};
    petal_error error;

    petal_cursor_close(subject->cursor);
    if (read != NULL)
        scan.read = *read;
    check(petal_cursor_open(subject->table, &scan, &subject->cursor, &error), &error, "scan");
}

/* A scan over everything, its first cell aside: that one pays for the opening. */
static void
measure_scan(const char *name, struct subject *subject, const petal_read_options *read,
             uint64_t cells)
{
    for (int run = 0; run < 2; run++) {
        begin_scan(subject, read);
        scan_next(subject, 0);
        if (run == 0)
            for (uint64_t i = 1; i < cells; i++)
                scan_next(subject, i);
    }
    measure(name, scan_next, subject, cells - 1, false);
    petal_cursor_close(subject->cursor);
    subject->cursor = NULL;
}

static void
measure_seeks(const char *name, const char *name_with_new_cursors, struct subject *subject)
{
    begin_scan(subject, NULL);
    measure(name, seek_and_step, subject, FEW_OPERATIONS, true);
    petal_cursor_close(subject->cursor);
    subject->cursor = NULL;
    measure(name_with_new_cursors, seek_with_new_cursor, subject, FEW_OPERATIONS, true);
}

/* ---- tables ---- */

static void
open_pairs(petal_db *db, const char *name, struct subject *subject)
{
    petal_error error;

    check(petal_kv_open(db, text(name), NULL, &subject->kv, &error), &error, "open");
    subject->table = petal_kv_table(subject->kv);
    subject->family = petal_table_family_at(subject->table, 0);
    subject->column = (petal_column){.family = subject->family};
}

/* One family, blocks of 4 KiB as the pairs have. */
static void
open_columns(petal_db *db, const char *name, enum petal_bloom_type bloom, struct subject *subject)
{
    petal_family_options family = {.name = text("f"), .block_bytes = 4096, .bloom = bloom};
    petal_table_options options = {.name = text(name), .families = &family, .family_count = 1};
    petal_error error;

    check(petal_table_create(db, &options, &subject->table, &error), &error, "create");
    subject->family = petal_table_family_at(subject->table, 0);
    subject->column = (petal_column){.family = subject->family, .qualifier = text("q")};
    subject->read = (petal_read_options){.columns = &subject->column, .column_count = 1};
}

static void
flush(petal_db *db)
{
    petal_error error;

    check(petal_flush(db, NULL, &error), &error, "flush");
}

/* Row r goes to file r % files; 0 files: all stay in memory. */
static void
fill_rows(petal_db *db, struct subject *subject, unsigned files, uint64_t rows)
{
    unsigned parts = files > 0 ? files : 1;
    petal_error error;

    for (unsigned part = 0; part < parts; part++) {
        for (uint64_t row = part; row < rows; row += parts)
            check(petal_put(subject->family, key_at(row), subject->column.qualifier, PETAL_LATEST,
                            (petal_slice){value, VALUE_BYTES}, NULL, &error),
                  &error, "put");
        if (files > 0)
            flush(db);
    }
}

static void
fill(petal_db *db, struct subject *subject, unsigned files)
{
    fill_rows(db, subject, files, ROWS);
}

static void
fill_wide(petal_db *db, struct subject *subject, int64_t timestamp)
{
    petal_error error;

    for (uint64_t row = 0; row < WIDE_ROWS; row++)
        for (unsigned column = 0; column < WIDE_COLUMNS; column++)
            check(petal_put(subject->family, key_at(row), text(columns[column]), timestamp,
                            (petal_slice){value, 20}, NULL, &error),
                  &error, "put");
    flush(db);
}

/* ---- scenarios ---- */

/* Regions of the same size each, one and a hundred. */
static void
measure_regions(petal_db *db, petal_result *result)
{
    struct subject alone = {.result = result}, among = {.result = result};
    petal_error error;

    open_pairs(db, "alone", &alone);
    fill_rows(db, &alone, FILES, REGION_ROWS);
    measure("region/get/alone", get_pair_of_few, &alone, OPERATIONS, true);
    measure("region/get-absent/alone", get_absent_pair, &alone, OPERATIONS, true);
    measure("region/put/alone", put_pair, &alone, OPERATIONS, false);
    open_pairs(db, "among", &among);
    for (unsigned i = 1; i < REGIONS; i++) {
        char start[KEY_BYTES + 1];

        snprintf(start, sizeof start, "%016" PRIx64, UINT64_MAX / REGIONS * i);
        check(petal_table_split(among.table, text(start), 0, &error), &error, "split");
    }
    fill(db, &among, FILES);
    measure("region/get/among-100", get_pair_of_few, &among, OPERATIONS, true);
    measure("region/get-absent/among-100", get_absent_pair, &among, OPERATIONS, true);
    measure("region/put/among-100", put_pair, &among, OPERATIONS, false);
}

static void
measure_pairs(petal_db *db, petal_result *result)
{
    struct subject one = {.result = result}, several = {.result = result};
    struct subject memory = {.result = result};

    open_pairs(db, "one", &one);
    fill(db, &one, 1);
    measure("pair/get/one-file", get_pair, &one, OPERATIONS, true);
    measure("pair/get-absent/one-file", get_absent_pair, &one, OPERATIONS, true);
    measure("pair/get-absent-same/one-file", get_same_absent_pair, &one, OPERATIONS, true);
    measure("pair/get-outside/one-file", get_pair_outside, &one, OPERATIONS, true);
    measure_scan("pair/scan/one-file", &one, NULL, ROWS);
    measure_seeks("pair/seek+10/one-file", "pair/seek+10-new/one-file", &one);
    open_pairs(db, "several", &several);
    fill(db, &several, FILES);
    measure("pair/get/4-files", get_pair, &several, OPERATIONS, true);
    measure("pair/get-absent/4-files", get_absent_pair, &several, OPERATIONS, true);
    measure_scan("pair/scan/4-files", &several, NULL, ROWS);
    measure_seeks("pair/seek+10/4-files", "pair/seek+10-new/4-files", &several);
    open_pairs(db, "memory", &memory);
    fill(db, &memory, 0);
    measure("pair/get/memtable", get_pair, &memory, OPERATIONS, true);
    measure("pair/get-absent/memtable", get_absent_pair, &memory, OPERATIONS, true);
    measure_scan("pair/scan/memtable", &memory, NULL, ROWS);
    measure_seeks("pair/seek+10/memtable", "pair/seek+10-new/memtable", &memory);
    measure("pair/put", put_pair, &memory, OPERATIONS, false);
    flush(db);
    measure_regions(db, result);
}

static void
measure_columns(petal_db *db, petal_result *result)
{
    struct subject one = {.result = result}, several = {.result = result};
    struct subject by_column = {.result = result}, memory = {.result = result};

    open_columns(db, "columns_one", PETAL_BLOOM_ROW, &one);
    fill(db, &one, 1);
    measure("column/get/one-file", get_column, &one, OPERATIONS, true);
    measure("column/get-absent/one-file", get_absent_column, &one, OPERATIONS, true);
    open_columns(db, "columns_several", PETAL_BLOOM_ROW, &several);
    fill(db, &several, FILES);
    measure("column/get/4-files", get_column, &several, OPERATIONS, true);
    measure("column/get-absent/4-files", get_absent_column, &several, OPERATIONS, true);
    open_columns(db, "columns_rowcol", PETAL_BLOOM_ROWCOL, &by_column);
    fill(db, &by_column, FILES);
    measure("column/get/4-files-ROWCOL", get_column, &by_column, OPERATIONS, true);
    open_columns(db, "columns_memory", PETAL_BLOOM_ROW, &memory);
    measure("column/put", put_column, &memory, OPERATIONS, false);
    measure("column/get/memtable", get_column, &memory, OPERATIONS, true);
    flush(db);
}

static void
measure_wide_rows(petal_db *db, petal_result *result)
{
    struct subject wide = {.result = result};
    petal_column asked[WIDE_COLUMNS];
    petal_read_options read = {.columns = asked, .column_count = 3};

    open_columns(db, "wide", PETAL_BLOOM_ROW, &wide);
    fill_wide(db, &wide, 1);
    measure("wide/get-row/one-file", get_wide_row, &wide, FEW_OPERATIONS, true);
    measure_scan("wide/scan/one-file", &wide, NULL, WIDE_ROWS * WIDE_COLUMNS);
    for (unsigned i = 0; i < 3; i++)
        asked[i] = (petal_column){.family = wide.family, .qualifier = text(columns[30 * i + 5])};
    measure_scan("wide/scan-3-of-100/one-file", &wide, &read, WIDE_ROWS * 3);
    for (unsigned i = 0; i < WIDE_COLUMNS; i++)
        asked[i] =
            (petal_column){.family = wide.family, .qualifier = text(columns[WIDE_COLUMNS - 1 - i])};
    wide.read = (petal_read_options){.columns = asked, .column_count = WIDE_COLUMNS};
    measure("wide/get-all-downwards/one-file", get_wide_columns, &wide, FEW_OPERATIONS, true);
    wide.read = (petal_read_options){0};
    fill_wide(db, &wide, 2); /* hides what is there */
    measure("wide/get-row/2-files", get_wide_row, &wide, FEW_OPERATIONS, true);
    measure_scan("wide/scan/2-files", &wide, NULL, WIDE_ROWS * WIDE_COLUMNS);
}

/* Each row has a cell in each of two families. */
static void
measure_two_families(petal_db *db, petal_result *result)
{
    petal_family_options families[] = {{.name = text("a"), .block_bytes = 4096},
                                       {.name = text("b"), .block_bytes = 4096}};
    petal_table_options options = {
        .name = text("two_families"), .families = families, .family_count = 2};
    struct subject both = {.result = result};
    petal_error error;

    check(petal_table_create(db, &options, &both.table, &error), &error, "create");
    for (size_t i = 0; i < 2; i++) {
        both.family = petal_table_family_at(both.table, i);
        both.column = (petal_column){.family = both.family, .qualifier = text("q")};
        fill(db, &both, 1);
    }
    both.read = (petal_read_options){.columns = &both.column, .column_count = 1};
    measure("families/get-1-of-2", get_column, &both, OPERATIONS, true);
    measure_scan("families/scan-both", &both, NULL, (uint64_t)2 * ROWS);
}

#define GENERAL_COLUMNS  4
#define GENERAL_VERSIONS 6

/* Of each row four columns of six versions, every other one in the second file. */
static void
fill_general(petal_db *db, struct subject *subject)
{
    petal_family_options family = {
        .name = text("f"), .block_bytes = 4096, .versions = GENERAL_VERSIONS};
    petal_table_options options = {.name = text("general"), .families = &family, .family_count = 1};
    petal_error error;

    check(petal_table_create(db, &options, &subject->table, &error), &error, "create");
    subject->family = petal_table_family_at(subject->table, 0);
    for (int file = 0; file < 2; file++) {
        for (uint64_t i = 0; i < (uint64_t)GENERAL_ROWS * GENERAL_COLUMNS; i++)
            for (int64_t version = file + 1; version <= GENERAL_VERSIONS; version += 2)
                check(petal_put(subject->family, key_at(i / GENERAL_COLUMNS),
                                text(columns[i % GENERAL_COLUMNS]), version,
                                (petal_slice){value, 20}, NULL, &error),
                      &error, "put");
        flush(db);
    }
}

static void
delete_from_all(struct subject *subject, const char *qualifier, int64_t timestamp,
                enum petal_cell_type type)
{
    petal_error error;

    for (uint64_t row = 0; row < GENERAL_ROWS; row++)
        check(petal_delete(subject->family, key_at(row), text(qualifier), timestamp, type, NULL,
                           &error),
              &error, "delete");
}

static void
measure_general(const char *name, struct subject *subject, const petal_read_options *read,
                size_t cells)
{
    subject->read = *read;
    subject->cells = cells;
    measure(name, general_get, subject, FEW_OPERATIONS, true);
}

/* Gets that the fast get does not answer. */
static void
measure_general_gets(petal_db *db, petal_result *result)
{
    struct subject subject = {.result = result};
    petal_column asked[3];
    petal_read_options one = {.columns = asked, .column_count = 1};
    petal_read_options several = {.columns = asked, .column_count = 3};
    petal_read_options versions = {.columns = asked, .column_count = 1, .versions = 3};
    petal_read_options row = {.versions = 1}, row_versions = {.versions = 3};
    petal_read_options range = {
        .columns = asked, .column_count = 1, .has_time_range = true, .time_limit = 5};
    petal_receipt *receipt;
    petal_error error;

    fill_general(db, &subject);
    for (unsigned i = 0; i < 3; i++)
        asked[i] = (petal_column){.family = subject.family, .qualifier = text(columns[i])};
    measure_general("general/3-columns", &subject, &several, 3);
    measure_general("general/3-versions", &subject, &versions, 3);
    measure_general("general/row", &subject, &row, GENERAL_COLUMNS);
    measure_general("general/row-3-versions", &subject, &row_versions, (size_t)3 * GENERAL_COLUMNS);
    measure_general("general/time-range", &subject, &range, 1);
    check(petal_receipt_new(db, &receipt, &error), &error, "make a receipt");
    one.receipt = receipt;
    measure_general("general/receipt", &subject, &one, 1);
    one.receipt = NULL;
    petal_receipt_free(receipt);
    delete_from_all(&subject, columns[0], GENERAL_VERSIONS, PETAL_DELETE);
    delete_from_all(&subject, columns[1], 2, PETAL_DELETE_COLUMN);
    measure_general("general/marker-of-version", &subject, &one, 1);
    measure_general("general/3-columns-markers", &subject, &several, 3);
    delete_from_all(&subject, "", 2, PETAL_DELETE_FAMILY);
    delete_from_all(&subject, "", GENERAL_VERSIONS - 1, PETAL_DELETE_FAMILY_VERSION);
    measure_general("general/marker-of-family-version", &subject, &one, 1);
    measure_general("general/row-markers", &subject, &row, GENERAL_COLUMNS);
    measure_general("general/row-3-versions-markers", &subject, &row_versions,
                    (size_t)3 * GENERAL_COLUMNS - 1);
    flush(db);
    measure_general("general/row-markers-in-file", &subject, &row, GENERAL_COLUMNS);
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
    petal_options options = {.create = true,
                             .error_if_exists = true,
                             .no_compaction = true,
                             .cache_bytes = (size_t)64 << 20,
                             .memtable_bytes = (size_t)64 << 20,
                             .log_sync_interval_ms = PETAL_NEVER,
                             .env = &env};
    petal_result *result;
    petal_error error;
    petal_db *db;

    static const struct {
        const char *name;
        void (*measure)(petal_db *db, petal_result *result);
    } groups[] = {{"pairs", measure_pairs},
                  {"columns", measure_columns},
                  {"general", measure_general_gets},
                  {"wide", measure_wide_rows},
                  {"families", measure_two_families}};

    if (argc < 2 || argc > 3) {
        fputs("usage: cost DIRECTORY [GROUP]\n", stderr);
        return 2;
    }
    make_data();
    check(petal_open(argv[1], &options, &db, &error), &error, "open");
    check(petal_result_new(db, &result, &error), &error, "make a result");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (argc == 2 || strcmp(argv[2], groups[i].name) == 0)
            groups[i].measure(db, result);
    }
    petal_result_free(result);
    check(petal_close(db, &error), &error, "close");
    return 0;
}
