/*
 * probes_test.c -- no filter of a store file denies a key that the file holds: each type of filter,
 * in files of random shapes, is asked for every row, column and family marker in them by each way
 * that gets and scans have, through the reader. PETAL_PROBES says how many answers for each type;
 * 200,000, or 100 million under PETAL_LONG.
 */
#include "tests/sstable/fixture.h"

#include "base/coding.h"
#include "bloom/bloom.h"
#include "bloom/hash.h"
#include "sstable/sst_reader_parts.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdlib.h>

#define COMMON_BYTES 20
#define COUNT_BYTES  8
#define TAIL_BYTES   700
#define ROW_BYTES    (COMMON_BYTES + COUNT_BYTES + TAIL_BYTES)
#define COLUMN_BYTES (COUNT_BYTES + TAIL_BYTES)
#define CACHE_BYTES  ((size_t)8 << 20)

static uint64_t seed, wanted;

/* ---- cells ---- */

/* Cells in their order: what one of the same seed gives once more, so no list of them is kept. A
 * row is what all rows of the file begin with, a number that grows, and a tail. */
struct cells {
    struct test_random random;
    uint64_t row_steps; /* between the numbers of two rows, at most */
    unsigned columns;   /* of a row, at most */
    size_t common;
    uint64_t row_count, left; /* columns of the row at hand that are to come */
    uint32_t column_count;
    uint8_t row[ROW_BYTES], column[COLUMN_BYTES];
    struct cell cell;
};

/* Few are long, so that each way of hashing is taken. */
static size_t
random_tail(struct test_random *random, uint8_t *tail)
{
    size_t size =
        (size_t)test_random_below(random, test_random_below(random, 64) == 0 ? TAIL_BYTES : 24);

    test_random_bytes(random, tail, size);
    return size;
}

static void
begin_cells(struct cells *cells, uint64_t of)
{
    memset(cells, 0, sizeof *cells);
    test_random_init(&cells->random, of);
    cells->row_steps = UINT64_C(1) << test_random_below(&cells->random, 40);
    cells->columns = 1u << test_random_below(&cells->random, 5);
    cells->common = (size_t)test_random_below(&cells->random, COMMON_BYTES + 1);
    test_random_bytes(&cells->random, cells->row, cells->common);
}

static void
begin_row(struct cells *cells)
{
    uint8_t *to = cells->row + cells->common;

    cells->row_count += 1 + test_random_below(&cells->random, cells->row_steps);
    put_be64(to, cells->row_count);
    cells->left = 1 + test_random_below(&cells->random, cells->columns);
    cells->column_count = 0;
    cells->cell.row = slice_make(cells->row, cells->common + COUNT_BYTES +
                                                 random_tail(&cells->random, to + COUNT_BYTES));
}

static const struct cell *
next_cell(struct cells *cells)
{
    static const enum petal_cell_type kinds[] = {PETAL_PUT, PETAL_PUT, PETAL_DELETE,
                                                 PETAL_DELETE_COLUMN};
    struct cell *cell = &cells->cell;
    bool new_row = cells->left == 0;

    if (new_row)
        begin_row(cells);
    cell->timestamp = 1;
    cell->sequence++;
    cell->value = slice_make(cells->row, cell->row.size % 32);
    if (new_row && test_random_below(&cells->random, 4) == 0) {
        cell->type = PETAL_DELETE_FAMILY;
        cell->value = cell->qualifier = slice_make("", 0);
        return cell;
    }
    cells->left--;
    cells->column_count += 1 + (uint32_t)test_random_below(&cells->random, 1000);
    put_be64(cells->column, cells->column_count);
    cell->qualifier = slice_make(
        cells->column, COUNT_BYTES + random_tail(&cells->random, cells->column + COUNT_BYTES));
    cell->type = kinds[test_random_below(&cells->random, 4)];
    if (cell->type != PETAL_PUT)
        cell->value = slice_make("", 0);
    return cell;
}

/* ---- questions ---- */

struct asked {
    struct sst_fixture *fixture;
    const struct sst_reader *reader;
    uint64_t direct; /* answers that the trace does not count */
    uint64_t of;     /* of which cells */
};

static void
expect(const struct asked *asked, bool may_contain, const char *question, const struct cell *cell)
{
    if (!may_contain)
        fail_msg("the %s of cell %" PRIu64 " is denied, cells %" PRIu64 ", seed %" PRIu64, question,
                 cell->sequence, asked->of, seed);
}

/* As a fast get asks. */
static void
ask_directory(struct asked *asked, const struct cell *cell, uint64_t hash)
{
    const struct bloom_rows *rows = sst_reader_bloom_rows(asked->reader);
    struct bloom_rows_question question;
    struct bloom_rows_chunk *chunk;
    enum bloom_rows_answer answer;

    if (rows == NULL)
        return;
    bloom_rows_question_init(&question, cell->row, hash);
    chunk = bloom_rows_find(rows, &question);
    answer = bloom_rows_ask(rows, chunk, &question);
    asked->direct += answer == BLOOM_ROWS_MAYBE;
    expect(asked,
           answer == BLOOM_ROWS_MAYBE ||
               (answer == BLOOM_ROWS_UNKNOWN &&
                sst_reader_ask_chunk(asked->reader, chunk, hash, &asked->fixture->context)),
           "row in the directory", cell);
}

static void
ask_row(struct asked *asked, const struct cell *cell, uint64_t hash)
{
    const struct read_context *context = &asked->fixture->context;
    uint8_t buffer[2 * ROW_BYTES + 64];
    struct cell_key key;

    cell_key_make(&key, buffer, cell->row, slice_make("", 0), false, INT64_MAX, UINT64_MAX);
    expect(asked, sst_reader_may_contain_row(asked->reader, &key, hash, context), "row", cell);
    expect(asked, sst_reader_may_contain_prefix(asked->reader, cell->row, context), "prefix", cell);
    ask_directory(asked, cell, hash);
}

static void
ask_column(struct asked *asked, const struct cell *cell, uint64_t row_hash)
{
    const struct read_context *context = &asked->fixture->context;
    bool marker = cell_is_family_marker(cell->type);
    uint8_t buffer[2 * (ROW_BYTES + COLUMN_BYTES) + 64];
    struct cell_key key;
    bool may_contain;

    cell_key_make(&key, buffer, cell->row, cell->qualifier, marker, INT64_MAX, UINT64_MAX);
    if (marker)
        may_contain = sst_reader_may_contain_family_marker(
            asked->reader, &key, bloom_hash_family_marker(row_hash), READ_SAVES_BLOCK, context);
    else
        may_contain = sst_reader_may_contain_column(
            asked->reader, &key,
            bloom_hash_column(row_hash, cell->qualifier.data, cell->qualifier.size),
            READ_SAVES_BLOCK, context);
    expect(asked, may_contain, marker ? "marker" : "column", cell);
}

/* The file's account is kept full: else filters that deny nothing are asked no longer. */
static void
ask_everything(struct asked *asked, size_t count)
{
    struct bloom_account *account = asked->reader->bloom.account;
    uint64_t salt = sst_reader_facts(asked->reader)->salt, hash = 0, row_before = 0;
    unsigned slot = epoch_enter(asked->fixture->epoch);
    struct cells cells;

    begin_cells(&cells, asked->of);
    for (size_t i = 0; i < count; i++) {
        const struct cell *cell = next_cell(&cells);

        atomic_store_explicit(&account->balance, account->most, memory_order_relaxed);
        if (cells.row_count != row_before) {
            hash = bloom_hash_row(salt, cell->row.data, cell->row.size);
            ask_row(asked, cell, hash);
        }
        row_before = cells.row_count;
        if (sst_reader_facts(asked->reader)->bloom != PETAL_BLOOM_ROW)
            ask_column(asked, cell, hash);
        if (i % 256 == 255) {
            epoch_leave(asked->fixture->epoch, slot);
            slot = epoch_enter(asked->fixture->epoch);
        }
    }
    epoch_leave(asked->fixture->epoch, slot);
}

/* ---- files ---- */

static struct sst_options
random_options(enum petal_bloom_type type, struct test_random *random)
{
    static const double rates[] = {0.0001, 0.001, 0.01, 0.05, 0.3};
    static const enum bloom_layout layouts[] = {BLOOM_STANDARD, BLOOM_BLOCKED, BLOOM_RIBBON};
    struct sst_options options = sst_test_options();

    options.bloom = type;
    options.block_bytes = 1024u << test_random_below(random, 7);
    options.compression =
        test_random_chance(random, 25) ? PETAL_COMPRESSION_LZ4 : PETAL_COMPRESSION_NONE;
    options.bloom_error_rate = rates[test_random_below(random, 5)];
    options.bloom_layout = layouts[test_random_below(random, 3)];
    options.bloom_prefix_bytes =
        type == PETAL_BLOOM_ROW_PREFIX ? 1 + (uint32_t)test_random_below(random, 40) : 0;
    options.salt = test_random_next(random);
    return options;
}

static void
write_cells(struct sst_fixture *f, const struct sst_options *options, uint64_t of, size_t count)
{
    struct sst_writer *writer;
    petal_error error = {0};
    enum petal_status status = sst_writer_open(&writer, &f->directory, SST_PATH, options, &error);
    struct cells cells;

    begin_cells(&cells, of);
    for (size_t i = 0; status == PETAL_OK && i < count; i++)
        status = sst_writer_add(writer, next_cell(&cells), &error);
    if (status == PETAL_OK)
        status = sst_writer_finish(writer, NULL, &error);
    sst_writer_free(writer);
    if (status != PETAL_OK)
        fail_msg("%s", error.text);
}

/* A file of the type: how many of its filter's answers there were. */
static uint64_t
probe_file(enum petal_bloom_type type, struct test_random *random)
{
    size_t count =
        1 + (size_t)test_random_below(random, UINT64_C(1) << test_random_below(random, 17));
    struct sst_fixture *f = sst_fixture_new(CACHE_BYTES);
    struct sst_options options = random_options(type, random);
    struct asked asked = {.fixture = f, .of = test_random_next(random)};
    struct sst_reader *reader;
    uint64_t answers;

    write_cells(f, &options, asked.of, count);
    reader = sst_fixture_open(f);
    asked.reader = reader;
    ask_everything(&asked, count);
    assert_int_equal(f->trace.bloom_negatives, 0);
    assert_int_equal(f->trace.bloom_ignored, 0);
    assert_int_equal(f->trace.bloom_unasked, 0);
    answers = f->trace.bloom_probes + asked.direct;
    assert_true(answers > 0);
    sst_reader_close(reader);
    sst_fixture_free(f);
    return answers;
}

static void
probe_type(enum petal_bloom_type type, const char *name)
{
    struct test_random random;
    uint64_t probes = 0, files = 0;

    test_random_init(&random, seed + (uint64_t)type);
    while (probes < wanted) {
        probes += probe_file(type, &random);
        files++;
    }
    test_counted("%s: %" PRIu64 " answers of %" PRIu64 " files, none denies a key", name, probes,
                 files);
}

TEST(filters_of_rows_deny_no_key)
{
    probe_type(PETAL_BLOOM_ROW, "ROW");
}

TEST(filters_of_columns_deny_no_key)
{
    probe_type(PETAL_BLOOM_ROWCOL, "ROWCOL");
}

TEST(filters_of_rows_and_columns_deny_no_key)
{
    probe_type(PETAL_BLOOM_ROW_ROWCOL, "ROW_ROWCOL");
}

TEST(filters_of_prefixes_deny_no_key)
{
    probe_type(PETAL_BLOOM_ROW_PREFIX, "ROW_PREFIX");
}

int
main(void)
{
    const char *probes = getenv("PETAL_PROBES");

    seed = test_seed();
    wanted = probes != NULL ? strtoull(probes, NULL, 10)
             : test_long()  ? 100000000
             : test_short() ? 50000
                            : 200000;
    return test_run();
}
