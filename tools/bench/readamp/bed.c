/* bed.c -- see tools/bench/readamp/bed.h. */
#include "tools/bench/readamp/bed.h"

#include "tools/bench/harness/directory.h"

#include <math.h>

#define VALUE_BYTES      40
#define FIRST_TIMESTAMP  1000
#define WIDE_BLOCK_BYTES 1024 /* the least; a value of as many bytes fills one */

static const char *const table_names[BED_TABLES] = {"narrow", "wide", "scan"};

/* ---- rows and columns ---- */

uint64_t
bed_row_count(const struct bed *bed, unsigned kind)
{
    if (kind == BED_ABSENT)
        return (uint64_t)1 << 40;
    return kind < BED_OWN ? bed->shape.rows / 4 : bed->shape.rows / 2;
}

/* The seed moves all of them. */
uint64_t
bed_row(const struct bed *bed, unsigned kind, uint64_t i)
{
    return bench_scramble(bed->shape.seed) + ((uint64_t)kind << 48) + i;
}

petal_slice
bed_narrow_key(char key[BENCH_KEY_BYTES + 1], uint64_t row)
{
    bench_key(key, row);
    return (petal_slice){key, BENCH_KEY_BYTES};
}

petal_slice
bed_wide_key(char key[BENCH_KEY_BYTES + 1], const struct bed *bed, uint64_t row)
{
    int length = snprintf(key, BENCH_KEY_BYTES + 1, "%05u-%05u", (unsigned)row,
                          (unsigned)(bench_scramble(bed->shape.seed + row) % 100000));

    return (petal_slice){key, (size_t)length};
}

/* Columns that a narrow row lacks stand after those it has: so it is always the row's block that
 * is read for them. */
static petal_slice
qualifier(char buffer[BED_MOST_COLUMN], const char *format, unsigned a, unsigned b)
{
    int length = snprintf(buffer, BED_MOST_COLUMN, format, a, b);

    return (petal_slice){buffer, (size_t)length};
}

petal_slice
bed_own_column(char buffer[BED_MOST_COLUMN], unsigned file, uint64_t row)
{
    return qualifier(buffer, "own%02u%03u", READAMP_MOST_FILES - file,
                     (unsigned)(bench_scramble(row + 99) % 1000));
}

petal_slice
bed_updated_column(void)
{
    return bench_text("updated");
}

petal_slice
bed_missing_column(char buffer[BED_MOST_COLUMN], uint64_t i)
{
    return qualifier(buffer, "p%04x%07x", (unsigned)(i >> 28) & 0xffff, (unsigned)i & 0xfffffff);
}

petal_slice
bed_wide_column(char buffer[BED_MOST_COLUMN], unsigned i)
{
    return qualifier(buffer, "c%03u", i, 0);
}

/* ---- filling ---- */

struct target {
    struct bed *bed;
    petal_family *family;
    size_t value_bytes;
    int64_t timestamp; /* of all cells of a file: so that blocks are the same ones, whatever the
                          filter */
    uint64_t values;   /* written so far: no two are alike */
};

static void
put(struct target *target, petal_slice row, petal_slice column)
{
    uint8_t value[WIDE_BLOCK_BYTES];

    bench_value(value, target->value_bytes, target->values++);
    BENCH_MUST("put", petal_put(target->family, row, column, target->timestamp,
                                (petal_slice){value, target->value_bytes}, NULL, &error));
}

static void
fill_narrow(struct target *target, unsigned file)
{
    const struct bed *bed = target->bed;
    const unsigned own = BED_OWN + file;
    char key[BENCH_KEY_BYTES + 1], column[BED_MOST_COLUMN];

    put(target, bench_text("!"), bed_own_column(column, file, 0));
    put(target, bench_text("~"), bed_own_column(column, file, 0));
    for (uint64_t i = 0; i < bed_row_count(bed, BED_SHARED); i++) {
        uint64_t row = bed_row(bed, BED_SHARED, i);

        put(target, bed_narrow_key(key, row), bed_own_column(column, file, row));
        put(target, bed_narrow_key(key, bed_row(bed, BED_UPDATED, i)), bed_updated_column());
    }
    for (uint64_t i = 0; i < bed_row_count(bed, own); i++) {
        uint64_t row = bed_row(bed, own, i);

        put(target, bed_narrow_key(key, row), bed_own_column(column, file, row));
    }
}

static void
fill_wide(struct target *target, unsigned file)
{
    char key[BENCH_KEY_BYTES + 1], column[BED_MOST_COLUMN];

    for (uint64_t row = 0; row < BED_WIDE_ROWS; row++) {
        petal_slice wide = bed_wide_key(key, target->bed, row);

        put(target, wide, bench_text("a"));
        for (unsigned i = 0; i < READAMP_COLUMNS; i++) {
            if (target->bed->shape.files - 1 - i % target->bed->shape.files == file)
                put(target, wide, bed_wide_column(column, i));
            put(target, wide, qualifier(column, "c%03u-%u", i, (unsigned)row));
        }
    }
}

static void
fill_scan(struct target *target, unsigned file)
{
    static const char others[] = {'a', 'f', 's', 'z'};
    char key[BENCH_KEY_BYTES + 1], column[BED_MOST_COLUMN];

    for (uint64_t row = 0; row < BED_SCAN_ROWS; row++) {
        petal_slice wide = bed_wide_key(key, target->bed, row);

        for (size_t i = 0; i < sizeof others; i++) {
            int length = snprintf(column, sizeof column, "%c%u", others[i], (unsigned)row);

            put(target, wide, (petal_slice){column, (size_t)length});
        }
        if (file == 0)
            put(target, wide, bench_text(BED_SCANNED));
    }
}

static uint32_t
block_bytes(const struct bed *bed, enum bed_table which)
{
    return which == BED_NARROW ? bed->shape.block_bytes : WIDE_BLOCK_BYTES;
}

static void
make_table(struct bed *bed, enum bed_table which)
{
    static void (*const fill[BED_TABLES])(struct target *, unsigned) = {fill_narrow, fill_wide,
                                                                        fill_scan};
    bool narrow = which == BED_NARROW;
    petal_family_options family = {.name = bench_text("f"),
                                   .block_bytes = block_bytes(bed, which),
                                   .bloom = bed->shape.filter,
                                   .bloom_error_rate = bed->shape.rate,
                                   .bloom_rate_per_file = bed->shape.rate_of == BED_RATE_PER_FILE};
    petal_table_options options = {
        .name = bench_text(table_names[which]), .families = &family, .family_count = 1};
    struct target target = {.bed = bed, .value_bytes = narrow ? VALUE_BYTES : WIDE_BLOCK_BYTES};
    bool compacts = bed->shape.rate_of == BED_RATE_OF_COMPACTION; /* the first two into one */

    BENCH_MUST("create", petal_table_create(bed->db, &options, &bed->tables[which], &error));
    target.family = petal_table_family_at(bed->tables[which], 0);
    for (unsigned file = 0; file < bed->shape.files + compacts; file++) {
        target.timestamp = FIRST_TIMESTAMP + file;
        fill[which](&target, file);
        BENCH_MUST("flush", petal_flush(bed->db, bed->tables[which], &error));
        if (compacts && file == 1)
            BENCH_MUST("compact", petal_compact(bed->tables[which], NULL, &error));
    }
}

/* ---- facts ---- */

struct gathering {
    struct bed_facts *facts;
    uint64_t sequences[READAMP_MOST_FILES];
    double cells;
};

/* Keeps the files in order, newest first. */
static bool
note_file(void *argument, const petal_file_info *file)
{
    struct gathering *gathering = argument;
    struct bed_facts *facts = gathering->facts;
    struct readamp_store *store = &facts->store;
    unsigned at = store->files++;

    if (at == READAMP_MOST_FILES)
        bench_fail("list files", "there are more than were flushed");
    for (; at > 0 && gathering->sequences[at - 1] < file->sequence_max; at--) {
        gathering->sequences[at] = gathering->sequences[at - 1];
        store->rate[at] = store->rate[at - 1];
        store->keys[at] = store->keys[at - 1];
    }
    gathering->sequences[at] = file->sequence_max;
    store->rate[at] = file->bloom == PETAL_BLOOM_NONE ? 0 : file->bloom_error_rate;
    store->keys[at] = (double)file->bloom_keys;
    facts->keys += (double)file->bloom_keys;
    facts->filter_bytes += (double)file->filter_bytes;
    facts->data_bytes += (double)file->data_bytes;
    facts->raw_data_bytes += (double)file->raw_data_bytes;
    facts->blocks += (double)file->data_blocks;
    facts->most_bits = fmax(facts->most_bits, 8 * (double)file->filter_bytes / store->keys[at]);
    gathering->cells += (double)file->cells;
    return true;
}

/* Which part of a filter's keys all files of a table have: rows half of them (shared and updated
 * ones), or all; columns a quarter (the updated ones), or those that nobody asks for. */
static double
common_keys(enum petal_bloom_type filter, enum bed_table which, unsigned files)
{
    double rows = 1, columns = 1, by_row = 1; /* `by_row`: columns of a row */

    if (which == BED_NARROW) {
        rows = 0.5;
        columns = 0.25;
    } else if (which == BED_WIDE) {
        by_row = READAMP_COLUMNS + 1 + (double)READAMP_COLUMNS / files;
        columns = (READAMP_COLUMNS + 1) / by_row;
    }
    switch (filter) {
    case PETAL_BLOOM_ROW:
        return rows;
    case PETAL_BLOOM_ROWCOL:
        return columns;
    default:
        return (rows + by_row * columns) / (1 + by_row);
    }
}

static void
gather_facts(struct bed *bed, enum bed_table which)
{
    struct bed_facts *facts = &bed->facts[which];
    struct gathering gathering = {.facts = facts};
    double rows = (double)(bed_row_count(bed, BED_SHARED) + bed_row_count(bed, BED_UPDATED) +
                           bed_row_count(bed, BED_OWN) * bed->shape.files);

    *facts = (struct bed_facts){.store.filter = bed->shape.filter};
    BENCH_MUST("list files", petal_table_files(bed->tables[which], note_file, &gathering, &error));
    if (facts->store.files != bed->shape.files)
        bench_fail("make a table", "it does not have the number of files wanted");
    facts->block_bytes = block_bytes(bed, which);
    facts->store.common = common_keys(bed->shape.filter, which, bed->shape.files);
    facts->store.blocks_per_row = facts->blocks / rows;
    facts->store.blocks_per_cell = facts->blocks / gathering.cells;
}

/* ---- life ---- */

/* Identities and salts that follow from the seed, so that a run can be repeated. */
static uint64_t
next_random(void *context)
{
    _Atomic(uint64_t) *state = context;

    return bench_scramble(atomic_fetch_add(state, 1));
}

static void
open_database(struct bed *bed, bool create, size_t cache_bytes)
{
    petal_env env = {.random_context = &bed->random, .random = next_random};
    petal_options options = {.create = create,
                             .no_compaction = true, /* the files are as many as the tables say */
                             .cache_bytes = cache_bytes,
                             .memtable_bytes = (size_t)256 << 20,
                             .durability = PETAL_SKIP_WAL,
                             .env = &env};

    BENCH_MUST("open", petal_open(bed->directory, &options, &bed->db, &error));
}

void
bed_make(struct bed *bed, const struct bed_shape *shape)
{
    *bed = (struct bed){.shape = *shape};
    atomic_init(&bed->random, bench_scramble(shape->seed) * 3);
    bench_make_directory(bed->directory, sizeof bed->directory);
    open_database(bed, true, PETAL_NO_CACHE);
    for (int which = 0; which < BED_TABLES; which++) {
        if (!shape->tables[which])
            continue;
        make_table(bed, (enum bed_table)which);
        gather_facts(bed, (enum bed_table)which);
    }
    bed_close(bed);
}

void
bed_open(struct bed *bed, size_t cache_bytes)
{
    open_database(bed, false, cache_bytes);
    for (int which = 0; which < BED_TABLES; which++) {
        if (bed->shape.tables[which])
            BENCH_MUST("open a table", petal_table_open(bed->db, bench_text(table_names[which]),
                                                        &bed->tables[which], &error));
    }
    BENCH_MUST("make a result", petal_result_new(bed->db, &bed->result, &error));
}

void
bed_close(struct bed *bed)
{
    petal_result_free(bed->result);
    bed->result = NULL;
    BENCH_MUST("close", petal_close(bed->db, &error));
    bed->db = NULL;
}

void
bed_remove(struct bed *bed)
{
    bench_remove_directory(bed->directory);
}
