/* lookup.c -- see tools/bench/readamp/lookup.h. */
#include "tools/bench/readamp/lookup.h"

#include <limits.h>
#include <string.h>

#define WIDE_GETS_BY 200 /* a get of 200 columns stands for so many */
#define SCANS_BY     20  /* a scan for so many gets */
#define LEAST_READS  20

struct reader {
    struct bed *bed;
    const struct lookup_plan *plan;
    petal_table *table;
    petal_family *family;
    struct bench_random random;
    uint64_t number; /* of the read */
    double bytes_returned;
};

/* ---- what is asked ---- */

enum asked_column { ALL_COLUMNS, MISSING_COLUMN, UPDATED_COLUMN, OWN_COLUMN };

#define CELLS_OF_FILES UINT_MAX /* one of each */

static const struct question {
    enum bed_table table;
    unsigned rows; /* of the narrow table: their kind */
    enum asked_column column;
    unsigned cells; /* of the answer */
} questions[READAMP_LOOKUPS] = {
    [READAMP_ABSENT_COLUMN] = {BED_NARROW, BED_ABSENT, MISSING_COLUMN, 0},
    [READAMP_ABSENT_ROW] = {BED_NARROW, BED_ABSENT, ALL_COLUMNS, 0},
    [READAMP_COLUMN_IN_NONE] = {BED_NARROW, BED_SHARED, MISSING_COLUMN, 0},
    [READAMP_NEWEST] = {BED_NARROW, BED_UPDATED, UPDATED_COLUMN, 1},
    [READAMP_ROW_IN_OLDEST] = {BED_NARROW, BED_OWN, OWN_COLUMN, 1},
    [READAMP_COLUMN_IN_OLDEST] = {BED_NARROW, BED_SHARED, OWN_COLUMN, 1},
    [READAMP_WHOLE_ROW] = {BED_NARROW, BED_SHARED, ALL_COLUMNS, CELLS_OF_FILES},
    [READAMP_COLUMNS_200] = {.table = BED_WIDE, .cells = READAMP_COLUMNS},
    [READAMP_SCAN_COLUMN] = {.table = BED_SCAN, .cells = READAMP_SCAN_ROWS},
    [READAMP_SCAN_SHORT] = {BED_NARROW, BED_ABSENT, ALL_COLUMNS, 0},
};

enum bed_table
lookup_table(enum readamp_lookup lookup)
{
    return questions[lookup].table;
}

static uint64_t
row_asked(struct reader *reader)
{
    unsigned kind = questions[reader->plan->lookup].rows;

    return bed_row(reader->bed, kind,
                   bench_random_below(&reader->random, bed_row_count(reader->bed, kind)));
}

static petal_slice
column_asked(struct reader *reader, uint64_t row, char buffer[BED_MOST_COLUMN])
{
    enum asked_column column = questions[reader->plan->lookup].column;

    if (column == MISSING_COLUMN)
        return bed_missing_column(buffer, bench_random_next(&reader->random));
    return column == UPDATED_COLUMN ? bed_updated_column() : bed_own_column(buffer, 0, row);
}

/* How many different questions the class has, as far as filters and blocks can tell them apart. */
static double
population(const struct bed *bed, enum readamp_lookup lookup)
{
    switch (lookup) {
    case READAMP_SCAN_SHORT:
        return (double)(bed_row_count(bed, BED_OWN) * (1 + bed->shape.files));
    case READAMP_COLUMNS_200:
        return BED_WIDE_ROWS;
    case READAMP_SCAN_COLUMN:
        return (double)BED_SCAN_ROWS / READAMP_SCAN_ROWS;
    default: /* columns that are missing are as many as rows */
        return (double)bed_row_count(
            bed, questions[lookup].column == MISSING_COLUMN ? BED_ABSENT : questions[lookup].rows);
    }
}

static uint64_t
reads_of(const struct lookup_plan *plan)
{
    uint64_t reads = plan->gets;

    if (plan->lookup == READAMP_COLUMNS_200)
        reads /= WIDE_GETS_BY;
    else if (plan->lookup == READAMP_SCAN_COLUMN || plan->lookup == READAMP_SCAN_SHORT)
        reads /= SCANS_BY;
    reads = reads / LEAST_READS * LEAST_READS; /* each wide row as often as the others */
    return reads > 0 ? reads : LEAST_READS;
}

/* ---- reading ---- */

static void
check_count(const struct reader *reader, uint64_t count)
{
    unsigned cells = questions[reader->plan->lookup].cells;

    if (count != (cells == CELLS_OF_FILES ? reader->bed->shape.files : cells))
        bench_fail("read", "the answer is not what was put");
}

/* Get the row, check and count the answer; a row's bytes count once. */
static void
get_row(struct reader *reader, petal_slice row, const petal_read_options *read)
{
    const petal_result *result = reader->bed->result;

    BENCH_MUST("get", petal_get(reader->table, row, read, reader->bed->result, &error));
    check_count(reader, petal_result_count(result));
    for (size_t i = 0; i < petal_result_count(result); i++) {
        const petal_cell *cell = petal_result_cell(result, i);

        reader->bytes_returned +=
            (double)((i == 0 ? cell->row.size : 0) + cell->qualifier.size + cell->value.size);
    }
}

static void
get_narrow(struct reader *reader, const petal_read_options *options)
{
    char key[BENCH_KEY_BYTES + 1], buffer[BED_MOST_COLUMN];
    uint64_t row = row_asked(reader);
    petal_column column = {.family = reader->family};
    petal_read_options read = *options;

    if (questions[reader->plan->lookup].column != ALL_COLUMNS) {
        column.qualifier = column_asked(reader, row, buffer);
        read.columns = &column;
        read.column_count = 1;
    }
    get_row(reader, bed_narrow_key(key, row), &read);
}

/* The rows in turn. */
static void
get_wide(struct reader *reader, const petal_read_options *options)
{
    char key[BENCH_KEY_BYTES + 1];
    static char names[READAMP_COLUMNS][BED_MOST_COLUMN];
    petal_column columns[READAMP_COLUMNS];
    petal_read_options read = *options;

    for (unsigned i = 0; i < READAMP_COLUMNS; i++)
        columns[i] =
            (petal_column){.family = reader->family, .qualifier = bed_wide_column(names[i], i)};
    read.columns = columns;
    read.column_count = READAMP_COLUMNS;
    get_row(reader, bed_wide_key(key, reader->bed, reader->number % BED_WIDE_ROWS), &read);
}

static uint64_t
scan_rows(struct reader *reader, const petal_scan_options *options)
{
    petal_cursor *cursor;
    const petal_cell *cell;
    uint64_t cells = 0;

    BENCH_MUST("scan", petal_cursor_open(reader->table, options, &cursor, &error));
    for (;;) {
        BENCH_MUST("scan", petal_cursor_next(cursor, &cell, &error));
        if (cell == NULL)
            break;
        reader->bytes_returned += /* cells of different rows, or of few files */
            (double)(cell->row.size + cell->qualifier.size + cell->value.size);
        cells++;
    }
    petal_cursor_close(cursor);
    return cells;
}

static void
scan_for_column(struct reader *reader, const petal_read_options *read)
{
    uint64_t first = reader->number % (BED_SCAN_ROWS / READAMP_SCAN_ROWS) * READAMP_SCAN_ROWS;
    petal_column column = {.family = reader->family, .qualifier = bench_text(BED_SCANNED)};
    petal_scan_options options = {
        .size = sizeof options, .read = *read, .row_limit = READAMP_SCAN_ROWS};
    char key[BENCH_KEY_BYTES + 1], stop[BENCH_KEY_BYTES + 1];

    options.read.columns = &column;
    options.read.column_count = 1;
    options.start_row = bed_wide_key(key, reader->bed, first);
    options.stop_row = bed_wide_key(stop, reader->bed, first + READAMP_SCAN_ROWS);
    check_count(reader, scan_rows(reader, &options));
}

static void
scan_short(struct reader *reader, const petal_read_options *read)
{
    petal_scan_options options = {
        .size = sizeof options, .read = *read, .row_limit = READAMP_SCAN_ROWS};
    char key[BENCH_KEY_BYTES + 1];

    options.start_row = bed_narrow_key(key, row_asked(reader));
    (void)scan_rows(reader, &options);
}

static void
read_many(struct reader *reader, uint64_t reads, uint64_t seed)
{
    petal_read_options options = {.size = sizeof options,
                                  .keep_out_of_cache = reader->plan->keep_out_of_cache};

    reader->random = (struct bench_random){bench_scramble(seed)};
    reader->bytes_returned = 0;
    for (reader->number = 0; reader->number < reads; reader->number++) {
        if (reader->plan->lookup == READAMP_COLUMNS_200)
            get_wide(reader, &options);
        else if (reader->plan->lookup == READAMP_SCAN_COLUMN)
            scan_for_column(reader, &options);
        else if (reader->plan->lookup == READAMP_SCAN_SHORT)
            scan_short(reader, &options);
        else
            get_narrow(reader, &options);
    }
}

void
lookup_run(struct bed *bed, const struct lookup_plan *plan, struct lookup_counts *counts)
{
    struct reader reader = {.bed = bed, .plan = plan};
    uint64_t reads = reads_of(plan);
    uint64_t seed = bed->shape.seed * 1000003 + (uint64_t)plan->lookup * 101 + bed->shape.files;

    reader.table = bed->tables[lookup_table(plan->lookup)];
    reader.family = petal_table_family_at(reader.table, 0);
    read_many(&reader, reads, plan->warms_otherwise ? seed + 7 : seed);
    petal_stats_get(bed->db, &counts->before);
    read_many(&reader, reads, seed);
    petal_stats_get(bed->db, &counts->after);
    counts->gets = (double)reads;
    counts->population = population(bed, plan->lookup);
    counts->bytes_returned = reader.bytes_returned;
}
