/*
 * exhaustive_test.c -- all sequences of a few operations out of those below, on two rows,
 * two columns and two timestamps, each on a fresh table and checked by full reads against the naive
 * model: gets of rows and of columns, with all versions and in each half of time, scans both ways,
 * and a raw one. Gets are asked with and without leaving files out because newer cells were found.
 * Most families' sequences are flushed and compacted in the end, and read after each.
 *
 * PETAL_DEPTH says how many operations a sequence has at least; PETAL_LONG asks for one more. Of
 * the longest sequences of all operations every third is tried, which of them the seed says; with
 * PETAL_LONG all of them.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/model/run.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdlib.h>

#define DEPTH      3
#define SHARE      3
#define MOST_DEPTH 6
#define ROWS       2
#define COLUMNS    2

static const petal_slice rows[ROWS] = {{"a", 1}, {"b\xff", 2}};
static const petal_slice columns[COLUMNS] = {{"", 0}, {"q", 1}};

/* Row 0 gets everything, row 1 enough to be mistaken for it. */
struct step {
    enum operation_kind kind;
    enum petal_cell_type type;
    unsigned row, column;
    int64_t timestamp;
};

static const struct step steps[] = {
    {OPERATION_WRITE, PETAL_PUT, 0, 0, 10},
    {OPERATION_WRITE, PETAL_PUT, 0, 0, 20},
    {OPERATION_WRITE, PETAL_PUT, 0, 1, 10},
    {OPERATION_WRITE, PETAL_PUT, 0, 1, 20},
    {OPERATION_WRITE, PETAL_PUT, 1, 1, 10},
    {OPERATION_WRITE, PETAL_DELETE, 0, 1, 10},
    {OPERATION_WRITE, PETAL_DELETE, 0, 1, 20},
    {OPERATION_WRITE, PETAL_DELETE, 0, 1, PETAL_LATEST},
    {OPERATION_WRITE, PETAL_DELETE_COLUMN, 0, 0, 10},
    {OPERATION_WRITE, PETAL_DELETE_COLUMN, 0, 1, 10},
    {OPERATION_WRITE, PETAL_DELETE_COLUMN, 0, 1, 20},
    {OPERATION_WRITE, PETAL_DELETE_FAMILY, 0, 0, 10},
    {OPERATION_WRITE, PETAL_DELETE_FAMILY, 0, 0, 20},
    {OPERATION_WRITE, PETAL_DELETE_FAMILY, 1, 0, 20},
    {OPERATION_WRITE, PETAL_DELETE_FAMILY_VERSION, 0, 0, 10},
    {OPERATION_WRITE, PETAL_DELETE_FAMILY_VERSION, 0, 0, 20},
    {OPERATION_FLUSH, PETAL_PUT, 0, 0, 0},
    {OPERATION_COMPACT, PETAL_PUT, 0, 0, 0},
    {OPERATION_REOPEN, PETAL_PUT, 0, 0, 0},
    {OPERATION_CRASH, PETAL_PUT, 0, 0, 0},
};
#define STEPS (sizeof steps / sizeof *steps)

/* Markers of single versions in files of any order of timestamps: the other row's put lets a file
 * seem newer than it is to the first. */
static const struct step version_steps[] = {
    {OPERATION_WRITE, PETAL_PUT, 0, 1, 10},
    {OPERATION_WRITE, PETAL_PUT, 0, 1, 20},
    {OPERATION_WRITE, PETAL_PUT, 1, 1, 30},
    {OPERATION_WRITE, PETAL_DELETE, 0, 1, 20},
    {OPERATION_WRITE, PETAL_DELETE_FAMILY_VERSION, 0, 0, 20},
    {OPERATION_FLUSH, PETAL_PUT, 0, 0, 0},
};
#define VERSION_STEPS (sizeof version_steps / sizeof *version_steps)

/* After a sequence. */
static const struct step tidy_steps[] = {
    {OPERATION_FLUSH, PETAL_PUT, 0, 0, 0},
    {OPERATION_COMPACT, PETAL_PUT, 0, 0, 0},
};

struct exhaustive_fixture {
    struct fixture base;
    const struct step *steps;
    unsigned step_count;
    struct engine engine;
    struct run_settings settings;
    struct model_family family;
    uint64_t tables; /* made so far */
    uint64_t sequences, checks, passed_over;
    uint64_t share, turn; /* of the sequences those are tried whose number modulo share is turn */
    bool tidies_up;       /* flushes and compacts after each sequence */
    struct model_text model_text, engine_text;
    struct model_answer answer;
};

/* ---- a table for each sequence ---- */

static void
attach(struct exhaustive_fixture *fixture)
{
    char name[24];

    snprintf(name, sizeof name, "t%" PRIu64, fixture->tables);
    fixture->engine.db = fixture->base.db;
    MUST(petal_table_open(fixture->base.db, slice_from_text(name), &fixture->engine.tables[0].table,
                          WHY));
    fixture->engine.tables[0].families[0] =
        petal_table_family_at(fixture->engine.tables[0].table, 0);
    fixture->engine.tables[0].families[1] = fixture->engine.tables[0].families[0];
    MUST(petal_result_new(fixture->base.db, &fixture->engine.result, WHY));
}

static void
detach(struct exhaustive_fixture *fixture)
{
    petal_result_free(fixture->engine.result);
    fixture->engine.result = NULL;
}

static void
create(struct exhaustive_fixture *fixture)
{
    char name[24];
    petal_family_options family;
    petal_table_options options = {.families = &family, .family_count = 1};

    run_family_options(&fixture->family, &fixture->settings, &family);
    family.name = model_text_family_name(0);
    snprintf(name, sizeof name, "t%" PRIu64, ++fixture->tables);
    options.name = slice_from_text(name);
    MUST(petal_table_create(fixture->base.db, &options, &fixture->engine.tables[0].table, WHY));
    attach(fixture);
}

static void
drop(struct exhaustive_fixture *fixture)
{
    detach(fixture);
    MUST(petal_table_drop(fixture->engine.tables[0].table, WHY));
}

static void
restart(struct exhaustive_fixture *fixture, bool crash)
{
    detach(fixture);
    if (crash)
        fixture_die(&fixture->base);
    else
        fixture_must_close(&fixture->base);
    fixture_must_open(&fixture->base);
    attach(fixture);
}

/* ---- one step ---- */

static void
do_write(struct exhaustive_fixture *fixture, struct model *model, const struct step *step,
         unsigned place)
{
    struct operation operation = {.kind = OPERATION_WRITE, .single = true, .item_count = 1};
    struct model_item *item = operation.items;
    char value[2] = {'v', (char)('0' + place)};
    struct model_results results;

    *item = (struct model_item){.kind = step->type == PETAL_PUT ? MODEL_PUT : MODEL_DELETE,
                                .type = step->type,
                                .row = model_bytes_of(rows[step->row]),
                                .timestamp = step->timestamp,
                                .begins_mutation = true};
    if (step->type != PETAL_DELETE_FAMILY && step->type != PETAL_DELETE_FAMILY_VERSION)
        item->qualifier = model_bytes_of(columns[step->column]);
    if (step->type == PETAL_PUT)
        item->value = model_bytes_of(slice_make(value, 2));
    assert_int_equal(model_write(model, item, 1, NULL, &results), MODEL_WRITTEN);
    model_text_clear(&fixture->engine_text);
    engine_write(&fixture->engine, &operation, &fixture->engine_text);
    assert_string_equal(fixture->engine_text.bytes, "ok\n");
}

static void
do_step(struct exhaustive_fixture *fixture, struct model *model, const struct step *step,
        unsigned place)
{
    switch (step->kind) {
    case OPERATION_FLUSH:
        model_flush(model, model->sequence);
        MUST(petal_flush(fixture->base.db, fixture->engine.tables[0].table, WHY));
        break;
    case OPERATION_COMPACT:
        model_compact(model, 0, model->sequence, 0);
        MUST(petal_compact(fixture->engine.tables[0].table, NULL, WHY));
        break;
    case OPERATION_REOPEN:
    case OPERATION_CRASH:
        model_flush(model, model->sequence);
        restart(fixture, step->kind == OPERATION_CRASH);
        break;
    default:
        do_write(fixture, model, step, place);
        break;
    }
}

/* ---- reads ---- */

static void
print_sequence(const struct exhaustive_fixture *fixture, const unsigned *sequence, unsigned depth)
{
    static const char *const words[] = {[OPERATION_FLUSH] = "flush",
                                        [OPERATION_COMPACT] = "compact",
                                        [OPERATION_REOPEN] = "reopen",
                                        [OPERATION_CRASH] = "crash"};

    for (unsigned i = 0; i < depth; i++) {
        const struct step *step = &fixture->steps[sequence[i]];

        if (step->kind != OPERATION_WRITE)
            print_error("    %s\n", words[step->kind]);
        else
            print_error("    %s row %u column %u at %" PRId64 "\n", model_text_of_type(step->type),
                        step->row, step->column, step->timestamp);
    }
}

/* Ask both; `operation` is a get or a scan. */
static bool
agree_without(struct exhaustive_fixture *fixture, const struct model *model,
              const struct operation *operation, unsigned without)
{
    struct model_text *text = &fixture->model_text;

    model_text_clear(text);
    model_text_clear(&fixture->engine_text);
    fixture->answer.count = 0;
    if (operation->kind == OPERATION_GET) {
        model_text_add(text, "ok\n");
        model_get(model, &operation->read, model_slice(&operation->rows[0]), &fixture->answer);
        engine_get(&fixture->engine, operation, without, &fixture->engine_text);
    } else {
        model_scan(model, &operation->read, &operation->scan, &fixture->answer);
        engine_scan(&fixture->engine, operation, without, &fixture->engine_text);
    }
    for (size_t i = 0; i < fixture->answer.count; i++)
        model_text_add_model_cell(text, fixture->answer.cells[i]);
    if (operation->kind == OPERATION_SCAN)
        model_text_add(text, "ok\n");
    fixture->checks++;
    return strcmp(text->bytes, fixture->engine_text.bytes) == 0;
}

static bool
agree(struct exhaustive_fixture *fixture, const struct model *model,
      const struct operation *operation)
{
    return agree_without(fixture, model, operation, 0) &&
           (operation->kind != OPERATION_GET ||
            agree_without(fixture, model, operation, PETAL_WITHOUT(PETAL_SKIP_FOUND_NEWER)));
}

static bool
gets_agree(struct exhaustive_fixture *fixture, const struct model *model)
{
    struct operation get = {.kind = OPERATION_GET, .read.read_point = UINT64_MAX};
    struct model_column column = {.family = 0};
    bool same = true;

    for (unsigned row = 0; row < ROWS; row++) {
        get.rows[0] = model_bytes_of(rows[row]);
        get.read.column_count = 0;
        get.read.versions = 1;
        same = same && agree(fixture, model, &get);
        get.read.versions = PETAL_ALL_VERSIONS;
        same = same && agree(fixture, model, &get);
        for (unsigned i = 0; i < COLUMNS; i++) {
            column.qualifier = model_bytes_of(columns[i]);
            get.read.columns[0] = column;
            get.read.column_count = 1;
            for (int32_t versions = 1; versions <= 2; versions++) {
                get.read.versions = versions;
                same = same && agree(fixture, model, &get);
            }
        }
    }
    return same;
}

static bool
reads_agree(struct exhaustive_fixture *fixture, const struct model *model)
{
    struct operation scan = {.kind = OPERATION_SCAN, .read.read_point = UINT64_MAX};
    bool same = gets_agree(fixture, model) && agree(fixture, model, &scan);

    scan.scan.reversed = true;
    scan.read.versions = PETAL_ALL_VERSIONS;
    same = same && agree(fixture, model, &scan);
    scan.scan.reversed = false;
    for (int64_t from = 0; from <= 20;
         from += 15) { /* the lower and the upper of the two timestamps */
        scan.read.has_time_range = true;
        scan.read.time_min = from;
        scan.read.time_limit = from + 15;
        same = same && agree(fixture, model, &scan);
    }
    scan.read.has_time_range = false;
    scan.read.raw = true;
    return same && agree(fixture, model, &scan);
}

static void
check_reads(struct exhaustive_fixture *fixture, const struct model *model, const unsigned *sequence,
            unsigned depth, const char *more)
{
    if (reads_agree(fixture, model))
        return;
    print_error("after\n");
    print_sequence(fixture, sequence, depth);
    print_error("%smodel:\n%sengine:\n%s", more, fixture->model_text.bytes,
                fixture->engine_text.bytes);
    fail();
}

/* ---- all sequences ---- */

static void
try_sequence(struct exhaustive_fixture *fixture, const unsigned *sequence, unsigned depth)
{
    struct model_family families[MODEL_FAMILIES] = {fixture->family, fixture->family};
    struct model model;

    model_init(&model, families);
    model.now_ms = 1000;
    create(fixture);
    for (unsigned i = 0; i < depth; i++)
        do_step(fixture, &model, &fixture->steps[sequence[i]], i);
    check_reads(fixture, &model, sequence, depth, "");
    if (fixture->tidies_up) {
        do_step(fixture, &model, &tidy_steps[0], depth);
        check_reads(fixture, &model, sequence, depth, "    flush\n");
        do_step(fixture, &model, &tidy_steps[1], depth);
        check_reads(fixture, &model, sequence, depth, "    flush\n    compact\n");
    }
    drop(fixture);
    model_free(&model);
    fixture->sequences++;
}

static void
try_all(struct exhaustive_fixture *fixture, unsigned more)
{
    const char *text = getenv("PETAL_DEPTH");
    unsigned depth =
        more + (text != NULL && *text != '\0' ? (unsigned)atoi(text) : DEPTH) + test_long();
    unsigned sequence[MOST_DEPTH] = {0};
    unsigned place = 0;

    assert_in_range(depth, 1, MOST_DEPTH);
    for (uint64_t number = 0; place < depth; number++) {
        if (number % fixture->share == fixture->turn)
            try_sequence(fixture, sequence, depth);
        else
            fixture->passed_over++;
        for (place = 0; place < depth && ++sequence[place] == fixture->step_count; place++)
            sequence[place] = 0;
    }
}

static void
run_steps(const struct model_family *family, enum petal_bloom_type bloom, const struct step *which,
          size_t count, unsigned more, uint64_t share)
{
    struct exhaustive_fixture fixture = {.steps = which,
                                         .step_count = (unsigned)count,
                                         .family = *family,
                                         .settings = {.bloom = bloom},
                                         .share = share,
                                         .turn = share > 1 ? test_seed() % share : 0,
                                         .tidies_up = more == 0};

    fixture_init(&fixture.base, 1);
    fixture_must_open(&fixture.base);
    try_all(&fixture, more);
    test_counted("%" PRIu64 " sequences, %" PRIu64 " reads; %" PRIu64 " sequences passed over",
                 fixture.sequences, fixture.checks, fixture.passed_over);
    fixture_fini(&fixture.base);
    model_text_free(&fixture.model_text);
    model_text_free(&fixture.engine_text);
    model_answer_free(&fixture.answer);
}

static void
run(const struct model_family *family, enum petal_bloom_type bloom, unsigned more)
{
    run_steps(family, bloom, steps, STEPS, more, more > 0 && !test_long() ? SHARE : 1);
}

TEST(test_one_version)
{
    struct model_family family = {.versions = 1, .keep_deleted = PETAL_KEEP_DELETED_FALSE};

    run(&family, PETAL_BLOOM_ROWCOL, 1);
}

TEST(test_two_versions_deleted_cells_kept)
{
    struct model_family family = {.versions = 2, .keep_deleted = PETAL_KEEP_DELETED_TRUE};

    run(&family, PETAL_BLOOM_ROW_ROWCOL, 0);
}

TEST(test_order_of_writes)
{
    struct model_family family = {
        .versions = 1, .keep_deleted = PETAL_KEEP_DELETED_FALSE, .new_version_behavior = true};

    run(&family, PETAL_BLOOM_ROW, 0);
}

TEST(test_order_of_writes_deleted_cells_kept)
{
    struct model_family family = {
        .versions = 1, .keep_deleted = PETAL_KEEP_DELETED_TRUE, .new_version_behavior = true};

    run(&family, PETAL_BLOOM_NONE, 0);
}

TEST(test_markers_of_single_versions)
{
    struct model_family family = {.versions = 3, .keep_deleted = PETAL_KEEP_DELETED_FALSE};

    run_steps(&family, PETAL_BLOOM_ROW, version_steps, VERSION_STEPS, 3, 1);
}
