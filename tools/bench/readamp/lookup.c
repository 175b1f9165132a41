/* lookup.c -- see tools/bench/readamp/lookup.h. */
#include "tools/bench/readamp/lookup.h"

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

enum bed_table
lookup_table(enum readamp_lookup lookup)
{
    switch (lookup) {
    case READAMP_COLUMNS_200:
        return BED_WIDE;
    case READAMP_SCAN_COLUMN:
        return BED_SCAN;
    default:
        return BED_NARROW;
    }
}

/* ---- what is asked ---- */

static uint64_t
row_asked(struct reader *reader)
{
    const struct bed *bed = reader->bed;
    uint64_t rows = bed->shape.rows;

    switch (reader->plan->lookup) {
    case READAMP_ABSENT_COLUMN:
    case READAMP_ABSENT_ROW:
    case READAMP_SCAN_SHORT:
        return bed_absent_row(bed, bench_random_below(&reader->random, (uint64_t)1 << 40));
    case READAMP_NEWEST:
        return bed_updated_row(bed, bench_random_below(&reader->random, rows / 4));
    case READAMP_ROW_IN_OLDEST:
        return bed_own_row(bed, 0, bench_random_below(&reader->random, rows / 2));
    default:
        return bed_shared_row(bed, bench_random_below(&reader->random, rows / 4));
    }
}

static petal_slice
column_asked(struct reader *reader, uint64_t row, char buffer[BED_MOST_COLUMN])
{
    switch (reader->plan->lookup) {
    case READAMP_ABSENT_COLUMN:
    case READAMP_COLUMN_IN_NONE:
        return bed_missing_column(buffer, bench_random_next(&reader->random));
    case READAMP_NEWEST:
        return bed_updated_column();
    default:
        return bed_own_column(buffer, 0, row);
    }
}

/* How many cells the answer has. */
static uint64_t
cells_of_answer(const struct reader *reader)
{
    switch (reader->plan->lookup) {
    case READAMP_ABSENT_COLUMN:
    case READAMP_ABSENT_ROW:
    case READAMP_COLUMN_IN_NONE:
        return 0;
    case READAMP_WHOLE_ROW:
        return reader->bed->shape.files;
    case READAMP_COLUMNS_200:
        return READAMP_COLUMNS;
    case READAMP_SCAN_COLUMN:
        return READAMP_SCAN_ROWS;
    default:
        return 1;
    }
}

/* How many different questions the class has, as far as filters and blocks can tell them apart. */
static double
population(const struct bed *bed, enum readamp_lookup lookup)
{
    double rows = (double)bed->shape.rows;

    switch (lookup) {
    case READAMP_ABSENT_COLUMN:
    case READAMP_ABSENT_ROW:
    case READAMP_COLUMN_IN_NONE:
        return (double)((uint64_t)1 << 40);
    case READAMP_SCAN_SHORT:
        return rows / 2 + rows / 2 * bed->shape.files;
    case READAMP_ROW_IN_OLDEST:
        return rows / 2;
    case READAMP_COLUMNS_200:
        return BED_WIDE_ROWS;
    case READAMP_SCAN_COLUMN:
        return (double)BED_SCAN_ROWS / READAMP_SCAN_ROWS;
    default:
        return rows / 4;
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
    if (count != cells_of_answer(reader))
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
    enum readamp_lookup lookup = reader->plan->lookup;
    char key[BENCH_KEY_BYTES + 1], buffer[BED_MOST_COLUMN];
    uint64_t row = row_asked(reader);
    petal_column column = {.family = reader->family};
    petal_read_options read = *options;

    if (lookup != READAMP_ABSENT_ROW && lookup != READAMP_WHOLE_ROW) {
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
