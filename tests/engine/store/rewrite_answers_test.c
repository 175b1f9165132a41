/*
 * rewrite_answers_test.c -- flushes and compactions change no answer, on the naive model
 * (tests/model/model.h), which the engine is held against elsewhere: all histories of a few writes
 * with each way of flushing and merging after each of them, and longer ones at random, under every
 * kind of family.
 *
 * Before and after each rewrite the same reads are made: as of now and at a snapshot, of all time
 * and of parts of it, of all versions and the newest. What they show may differ in this only:
 *
 *     a put goes      that was surplus among what was rewritten, by VERSIONS or, past TTL,
 *                     MIN_VERSIONS; and in the order of writes only such as are past TTL, or for a
 *                     time range under KEEP_DELETED_CELLS; or, for a time range under
 *                     KEEP_DELETED_CELLS TTL, one that a marker past TTL hides from reads of all
 *                     time
 *     a put comes     that no marker hides, in place of one that goes (or in such a time range); or
 *                     one that was written after a marker that a compaction of all files has
 *                     dropped, and was not among its input
 *
 * Beside it all cells are kept as they were written, and never rewritten: what a marker hides there
 * no read may show, whatever happened since; but for what was not among the input of the compaction
 * that dropped the marker.
 *
 * PETAL_SEED chooses the seed of the random histories, PETAL_OPERATIONS their number.
 */

#include "base/slice.h"
#include "tests/model/model.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CELLS  24
#define MOST_STEPS  64
#define LONG_WRITES 9 /* of a random history */
#define HISTORIES   60000
#define START_MS    1000
#define TTL_MS      1000
#define CLOCK_STEP  15

/* ---- what happens ---- */

struct written {
    enum petal_cell_type type;
    const char *qualifier;
    int64_t timestamp;
    const char *name;
};

static const struct written writes[] = {
    {PETAL_PUT, "q", 10, "put 10"},
    {PETAL_PUT, "q", 20, "put 20"},
    {PETAL_PUT, "q", 30, "put 30"},
    {PETAL_DELETE, "q", 20, "delete version 20"},
    {PETAL_DELETE_COLUMN, "q", 10, "delete column 10"},
    {PETAL_DELETE_COLUMN, "q", 25, "delete column 25"},
    {PETAL_DELETE_FAMILY, "", 20, "delete family 20"},
    {PETAL_DELETE_FAMILY_VERSION, "", 20, "delete family version 20"},
    {PETAL_PUT, "", 20, "put '' 20"},
    {PETAL_DELETE, "q", 30, "delete version 30"},
    {PETAL_DELETE, "q", 10, "delete version 10"},
    {PETAL_DELETE_COLUMN, "q", 40, "delete column 40"},
    {PETAL_DELETE_FAMILY, "", 40, "delete family 40"},
    {PETAL_PUT, "", 10, "put '' 10"},
    {PETAL_DELETE_COLUMN, "", 20, "delete column '' 20"},
    {PETAL_PUT, "q", 5, "put 5"},
};
#define WRITES (sizeof writes / sizeof *writes)

/* After a write. Three runs and more are there before two are merged. */
enum upkeep {
    NOTHING,
    FLUSH,
    FLUSH_AND_MERGE_NEWEST,
    FLUSH_AND_MERGE_OLDEST,
    FLUSH_AND_COMPACT,
    COMPACT,
    SNAPSHOT, /* taken, or let go */
    CLOCK,    /* a step forward */
    UPKEEPS
};

static const char *const upkeep_names[UPKEEPS] = {
    "",
    "flush",
    "flush, merge the newest two",
    "flush, merge the oldest two",
    "flush, compact",
    "compact",
    "snapshot, or let go of it",
    "clock",
};

/* ---- the fixture ---- */

struct fixture {
    struct model model; /* what the engine does */
    struct model kept;  /* every cell, as it was written */
    /* By sequence: of a marker that was dropped, the first cell outside; 0: it was not. */
    uint64_t freed_from[MOST_CELLS + 1];
    uint64_t snapshot;             /* its read point, 0: none */
    const char *steps[MOST_STEPS]; /* for people */
    size_t step_count;
};

static uint64_t checks;

static void
fixture_copy(struct fixture *to, const struct fixture *from)
{
    *to = *from;
    model_copy(&to->model, &from->model);
    model_copy(&to->kept, &from->kept);
}

static void
fixture_free(struct fixture *fixture)
{
    model_free(&fixture->model);
    model_free(&fixture->kept);
}

static void
complain(const struct fixture *fixture, const struct model_read *read,
         const struct model_cell *cell, const char *what)
{
    const struct model_family *family = &fixture->model.families[0];

    print_error("%s\nVERSIONS %u, MIN_VERSIONS %u, TTL %d, KEEP_DELETED_CELLS %d, "
                "NEW_VERSION_BEHAVIOR %d\n",
                what, family->versions, family->min_versions, family->has_ttl, family->keep_deleted,
                family->new_version_behavior);
    for (size_t i = 0; i < fixture->step_count; i++)
        print_error("    %s\n", fixture->steps[i]);
    print_error("read up to %" PRIu64 ", [%" PRId64 ", %" PRId64 "), %d versions: '%.*s' @%" PRId64
                " sequence %" PRIu64 "\n",
                read->read_point, read->time_min, read->time_limit, read->versions,
                (int)cell->qualifier.size, (const char *)cell->qualifier.bytes, cell->timestamp,
                cell->sequence);
    fail();
}

/* ---- what hides ---- */

static struct model_rules
rules_of(const struct fixture *fixture, const struct model_read *read)
{
    return (struct model_rules){.family = &fixture->model.families[0],
                                .read_point = read->read_point,
                                .now_ms = fixture->model.now_ms,
                                .time_min = read->time_min,
                                .time_limit = read->time_limit};
}

/* Whether the marker hides the put from the read. */
static bool
masks(const struct model_rules *rules, const struct model_cell *marker,
      const struct model_cell *put)
{
    bool exact = marker->type == PETAL_DELETE || marker->type == PETAL_DELETE_FAMILY_VERSION;
    bool later = marker->sequence > put->sequence;

    if (!model_is_marker(marker) || !model_exists(rules, marker) ||
        (!model_is_family_marker(marker) && !model_same_column(marker, put)) ||
        (rules->family->keep_deleted != PETAL_KEEP_DELETED_FALSE &&
         marker->timestamp >= rules->time_limit))
        return false;
    if (exact || rules->family->new_version_behavior)
        return later &&
               (exact ? marker->timestamp == put->timestamp : marker->timestamp >= put->timestamp);
    return marker->timestamp > put->timestamp || (marker->timestamp == put->timestamp && later);
}

static const struct model_cell *
find_cell(const struct model_cell *const *cells, size_t count, uint64_t sequence)
{
    for (size_t i = 0; i < count; i++) {
        if (cells[i]->sequence == sequence)
            return cells[i];
    }
    return NULL;
}

static bool
is_stored(const struct model *model, uint64_t sequence)
{
    for (size_t i = 0; i < model->count; i++) {
        if (model->cells[i].sequence == sequence)
            return true;
    }
    return false;
}

/* ---- reads ---- */

#define READS 16

struct answers {
    struct model_read reads[READS];
    struct model_cell cells[READS][MOST_CELLS];
    size_t counts[READS];
    size_t read_count;
};

static void
ask_all(const struct fixture *fixture, struct answers *answers)
{
    static const int64_t limits[] = {INT64_MAX, 15, 25};
    struct model_answer answer = {0};

    answers->read_count = 0;
    for (int at_snapshot = 0; at_snapshot <= (fixture->snapshot != 0); at_snapshot++) {
        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
            for (int all = 0; all < 2; all++) {
                struct model_read *read = &answers->reads[answers->read_count];
                size_t *count = &answers->counts[answers->read_count];

                *read =
                    (struct model_read){.read_point = at_snapshot ? fixture->snapshot : UINT64_MAX,
                                        .has_time_range = true,
                                        .time_limit = limits[i],
                                        .versions = all ? PETAL_ALL_VERSIONS : 1};
                answer.count = 0;
                model_get(&fixture->model, read, slice_from_text("r"), &answer);
                *count = answer.count;
                for (size_t k = 0; k < answer.count; k++)
                    answers->cells[answers->read_count][k] = *answer.cells[k];
                answers->read_count++;
            }
        }
    }
    model_answer_free(&answer);
}

/* ---- what may go, and come ---- */

/* What was rewritten: cells up to `read_point` of runs least .. greatest. */
struct input {
    const struct model *before;
    uint64_t read_point, least, greatest;
};

static bool
is_in(const struct input *input, const struct model_cell *cell)
{
    return cell->family == 0 && cell->run >= input->least && cell->run <= input->greatest &&
           cell->sequence <= input->read_point;
}

/* Whether so many greater timestamps of the column are among the input that the put is surplus
 * there. */
static bool
is_surplus_in(const struct fixture *fixture, const struct input *input,
              const struct model_cell *put)
{
    const struct model_family *family = &fixture->model.families[0];
    const struct model_read all = {.read_point = input->read_point, .time_limit = INT64_MAX};
    const struct model_rules rules = rules_of(fixture, &all);
    uint32_t above = 0;
    int64_t last = -1;

    for (size_t i = 0; i < input->before->count; i++) {
        const struct model_cell *cell = &input->before->cells[i];
        bool hidden = false;

        if (!is_in(input, cell) || model_is_marker(cell) || !model_same_column(cell, put) ||
            cell->timestamp <= put->timestamp || cell->timestamp == last)
            continue;
        for (size_t k = 0; k < input->before->count; k++)
            hidden = hidden || (family->keep_deleted == PETAL_KEEP_DELETED_FALSE &&
                                is_in(input, &input->before->cells[k]) &&
                                masks(&rules, &input->before->cells[k], cell));
        if (hidden)
            continue;
        above++;
        last = cell->timestamp;
    }
    return above >= family->versions ||
           (model_is_expired(&rules, put) && above >= family->min_versions);
}

/* Whether a marker past TTL hides the put from reads of all time, as under KEEP_DELETED_CELLS
 * FALSE. */
static bool
is_expired_deletion(const struct fixture *fixture, const struct input *input,
                    const struct model_cell *put)
{
    const struct model_read all = {.read_point = input->read_point, .time_limit = INT64_MAX};
    const struct model_rules rules = rules_of(fixture, &all);

    for (size_t i = 0; i < input->before->count; i++) {
        const struct model_cell *marker = &input->before->cells[i];

        if (is_in(input, marker) && model_is_expired(&rules, marker) && masks(&rules, marker, put))
            return true;
    }
    return false;
}

static bool
may_go(const struct fixture *fixture, const struct input *input, const struct model_read *read,
       const struct model_cell *put)
{
    const struct model_family *family = &fixture->model.families[0];
    const struct model_rules rules = rules_of(fixture, read);

    if (!is_in(input, put))
        return false;
    if (family->keep_deleted == PETAL_KEEP_DELETED_TTL && read->time_limit < INT64_MAX &&
        is_expired_deletion(fixture, input, put))
        return true;
    if (!is_surplus_in(fixture, input, put))
        return false;
    return !family->new_version_behavior || model_is_expired(&rules, put) ||
           (family->keep_deleted != PETAL_KEEP_DELETED_FALSE && read->time_limit < INT64_MAX);
}

/* Not hidden by a marker before; or by such only as went, and was not among the input. */
static bool
may_come(const struct fixture *fixture, const struct input *input, const struct model_read *read,
         const struct model_cell *put, bool others_went)
{
    const struct model_family *family = &fixture->model.families[0];
    const struct model_rules rules = rules_of(fixture, read);
    bool masked = false;

    for (size_t i = 0; i < input->before->count; i++) {
        const struct model_cell *marker = &input->before->cells[i];

        if (!masks(&rules, marker, put))
            continue;
        masked = true;
        if (!is_in(input, marker) || is_stored(&fixture->model, marker->sequence) ||
            is_in(input, put) || input->least == 0)
            return false;
    }
    return masked || others_went ||
           (family->new_version_behavior && family->keep_deleted != PETAL_KEEP_DELETED_FALSE &&
            read->time_limit < INT64_MAX);
}

static void
compare(const struct fixture *fixture, const struct input *input, const struct answers *before,
        const struct answers *after)
{
    for (size_t i = 0; i < before->read_count; i++) {
        const struct model_read *read = &before->reads[i];
        const struct model_cell *was[MOST_CELLS], *is[MOST_CELLS];
        bool others_went = false;

        for (size_t k = 0; k < before->counts[i]; k++)
            was[k] = &before->cells[i][k];
        for (size_t k = 0; k < after->counts[i]; k++)
            is[k] = &after->cells[i][k];
        for (size_t k = 0; k < before->counts[i]; k++) {
            if (find_cell(is, after->counts[i], was[k]->sequence) != NULL)
                continue;
            others_went = true;
            /* Of the newest one only: that another has come before it is judged with that. */
            if (read->versions == PETAL_ALL_VERSIONS && !may_go(fixture, input, read, was[k]))
                complain(fixture, read, was[k], "a rewrite took what a read showed:");
        }
        for (size_t k = 0; k < after->counts[i]; k++) {
            if (find_cell(was, before->counts[i], is[k]->sequence) == NULL &&
                !may_come(fixture, input, read, is[k], others_went))
                complain(fixture, read, is[k], "a rewrite shows what no read showed:");
        }
        checks++;
    }
}

/* Nothing shows that a marker hides, were all of them there. */
static void
check_hidden(const struct fixture *fixture)
{
    struct answers answers;

    ask_all(fixture, &answers);
    for (size_t i = 0; i < answers.read_count; i++) {
        const struct model_rules rules = rules_of(fixture, &answers.reads[i]);

        for (size_t k = 0; k < answers.counts[i]; k++) {
            const struct model_cell *put = &answers.cells[i][k];

            for (size_t m = 0; m < fixture->kept.count; m++) {
                const struct model_cell *marker = &fixture->kept.cells[m];
                uint64_t from = fixture->freed_from[marker->sequence];

                if (masks(&rules, marker, put) && (from == 0 || put->sequence < from))
                    complain(fixture, &answers.reads[i], put, "what is deleted came back:");
            }
        }
    }
}

/* ---- steps ---- */

static void
note_step(struct fixture *fixture, const char *step)
{
    assert_true(fixture->step_count < MOST_STEPS);
    fixture->steps[fixture->step_count++] = step;
}

static void
do_write(struct fixture *fixture, const struct written *write)
{
    struct model_item item = {.kind = write->type == PETAL_PUT ? MODEL_PUT : MODEL_DELETE,
                              .type = write->type,
                              .row = model_bytes_of(slice_from_text("r")),
                              .qualifier = model_bytes_of(slice_from_text(write->qualifier)),
                              .timestamp = write->timestamp,
                              .begins_mutation = true};
    struct model_results results;

    assert_int_equal(model_write(&fixture->model, &item, 1, NULL, &results), MODEL_WRITTEN);
    assert_int_equal(model_write(&fixture->kept, &item, 1, NULL, &results), MODEL_WRITTEN);
    note_step(fixture, write->name);
    check_hidden(fixture);
}

static uint64_t
oldest_read_point(const struct fixture *fixture)
{
    return fixture->snapshot != 0 ? fixture->snapshot : fixture->model.sequence;
}

static void
note_freed(struct fixture *fixture, const struct model *before)
{
    uint64_t first = 0;

    for (size_t i = 0; i < before->count; i++) {
        if (before->cells[i].run > 0 && before->cells[i].sequence >= first)
            first = before->cells[i].sequence + 1;
    }
    for (size_t i = 0; i < before->count; i++) {
        uint64_t sequence = before->cells[i].sequence;

        if (model_is_marker(&before->cells[i]) && !is_stored(&fixture->model, sequence))
            fixture->freed_from[sequence] = first;
    }
}

/* The numbers of the family's runs, oldest first; returns how many there are. */
static size_t
list_runs(const struct model *model, uint64_t runs[MOST_CELLS])
{
    size_t count = 0;

    for (uint64_t run = 1; run <= model->sequence; run++) {
        bool has_cells = false;

        for (size_t i = 0; i < model->count; i++)
            has_cells = has_cells || (model->cells[i].family == 0 && model->cells[i].run == run);
        if (has_cells)
            runs[count++] = run;
    }
    return count;
}

static bool
has_memory(const struct model *model)
{
    for (size_t i = 0; i < model->count; i++) {
        if (model->cells[i].family == 0 && model->cells[i].run == 0)
            return true;
    }
    return false;
}

/* Flush, or merge two neighbours of three and more runs, or all of them. */
static void
do_rewrite(struct fixture *fixture, enum upkeep kind)
{
    uint64_t runs[MOST_CELLS];
    size_t count = list_runs(&fixture->model, runs);
    size_t first = kind == FLUSH_AND_MERGE_NEWEST ? count - 2 : 0;
    struct model before;
    struct answers was, is;
    struct input input = {.before = &before, .read_point = oldest_read_point(fixture)};

    model_copy(&before, &fixture->model);
    ask_all(fixture, &was);
    if (kind == FLUSH) {
        model_flush(&fixture->model, input.read_point);
    } else if (kind == COMPACT) {
        input.least = 1;
        input.greatest = fixture->model.sequence;
        model_compact(&fixture->model, 0, input.read_point, fixture->snapshot);
        note_freed(fixture, &before);
    } else {
        input.least = runs[first];
        input.greatest = runs[first + 1];
        model_compact_runs(&fixture->model, 0, first, 2, input.read_point, fixture->snapshot);
    }
    ask_all(fixture, &is);
    compare(fixture, &input, &was, &is);
    check_hidden(fixture);
    model_free(&before);
}

/* False: there is nothing to do. */
static bool
do_upkeep(struct fixture *fixture, enum upkeep kind)
{
    uint64_t runs[MOST_CELLS];
    bool flushes = kind >= FLUSH && kind <= FLUSH_AND_COMPACT;

    if (kind == NOTHING)
        return true;
    if (flushes && !has_memory(&fixture->model))
        return false;
    note_step(fixture, upkeep_names[kind]);
    if (flushes)
        do_rewrite(fixture, FLUSH);
    if (kind == FLUSH_AND_MERGE_NEWEST || kind == FLUSH_AND_MERGE_OLDEST) {
        if (list_runs(&fixture->model, runs) < 3)
            return false;
        do_rewrite(fixture, kind);
    } else if (kind == FLUSH_AND_COMPACT || kind == COMPACT) {
        if (list_runs(&fixture->model, runs) == 0)
            return false;
        do_rewrite(fixture, COMPACT);
    } else if (kind == SNAPSHOT) {
        fixture->snapshot = fixture->snapshot == 0 ? fixture->model.sequence : 0;
    } else if (kind == CLOCK) {
        if (!fixture->model.families[0].has_ttl)
            return false;
        fixture->model.now_ms += CLOCK_STEP;
        fixture->kept.now_ms = fixture->model.now_ms;
        check_hidden(fixture);
    }
    return true;
}

/* ---- histories ---- */

static void
begin(struct fixture *fixture, const struct model_family *family)
{
    const struct model_family families[MODEL_FAMILIES] = {*family, *family};

    *fixture = (struct fixture){.step_count = 0};
    model_init(&fixture->model, families);
    model_init(&fixture->kept, families);
    fixture->model.now_ms = fixture->kept.now_ms = START_MS;
}

/* All ways to go on with so many of the first writes. */
static void
go_on(const struct fixture *fixture, unsigned left, size_t alphabet)
{
    for (size_t i = 0; i < alphabet; i++) {
        struct fixture written;

        fixture_copy(&written, fixture);
        do_write(&written, &writes[i]);
        for (enum upkeep kind = 0; kind < UPKEEPS; kind++) {
            struct fixture kept;

            fixture_copy(&kept, &written);
            if (do_upkeep(&kept, kind) && left > 1)
                go_on(&kept, left - 1, alphabet);
            fixture_free(&kept);
        }
        fixture_free(&written);
    }
}

typedef void try_family(const struct model_family *family);

static void
for_each_family(try_family *try)
{
    static const enum petal_keep_deleted keep[] = {PETAL_KEEP_DELETED_FALSE,
                                                   PETAL_KEEP_DELETED_TRUE, PETAL_KEEP_DELETED_TTL};

    for (unsigned i = 0; i < 3 * 2 * 2 * 3; i++) {
        struct model_family family = {.keep_deleted = keep[i % 3],
                                      .new_version_behavior = i / 3 % 2 == 1,
                                      .versions = 1 + i / 6 % 2,
                                      .has_ttl = i / 12 > 0,
                                      .ttl_ms = i / 12 > 0 ? TTL_MS : 0,
                                      .min_versions = i / 12 == 2};

        /* Without TTL the last of KEEP_DELETED_CELLS is as TRUE. */
        if (family.has_ttl || family.keep_deleted != PETAL_KEEP_DELETED_TTL)
            try(&family);
    }
}

static void
try_all(const struct model_family *family)
{
    struct fixture fixture;

    begin(&fixture, family);
    go_on(&fixture, test_long() ? 4 : 3, 8);
    fixture_free(&fixture);
}

static struct test_random random_state;

static void
try_random(const struct model_family *family)
{
    const char *text = getenv("PETAL_OPERATIONS");
    uint64_t histories =
        (text != NULL && *text != '\0' ? strtoull(text, NULL, 0)
                                       : (test_long() ? 20 * HISTORIES : HISTORIES)) /
        32;

    for (uint64_t i = 0; i <= histories; i++) {
        struct fixture fixture;

        begin(&fixture, family);
        for (unsigned k = 0; k < LONG_WRITES; k++) {
            do_write(&fixture, &writes[test_random_below(&random_state, WRITES)]);
            do_upkeep(&fixture, (enum upkeep)test_random_below(&random_state, UPKEEPS));
        }
        fixture_free(&fixture);
    }
}

TEST(test_all_short_histories)
{
    checks = 0;
    for_each_family(try_all);
    print_message("%" PRIu64 " reads before and after\n", checks);
}

TEST(test_random_histories)
{
    checks = 0;
    test_random_init(&random_state, test_seed());
    for_each_family(try_random);
    print_message("%" PRIu64 " reads before and after\n", checks);
}
