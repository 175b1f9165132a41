/* judged_row.c -- see judged_row.h. */
#include "tests/engine/rules/judged_row.h"

#include "base/slice.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_CELLS 16

struct judged_cell {
    struct cell cell;
    char qualifier[8];
    char fate[16];
};

struct judged_row {
    struct judged_cell cells[MOST_CELLS];
    size_t count;
};

/* ---- rows from text ---- */

static enum petal_cell_type
type_of(char kind)
{
    switch (kind) {
    case 'D':
        return PETAL_DELETE;
    case 'V':
        return PETAL_DELETE_FAMILY_VERSION;
    case 'C':
        return PETAL_DELETE_COLUMN;
    case 'F':
        return PETAL_DELETE_FAMILY;
    default:
        assert_int_equal(kind, 'P');
        return PETAL_PUT;
    }
}

static const char *
parse_cell(const char *at, struct judged_cell *parsed)
{
    struct cell *cell = &parsed->cell;
    char *end;
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz");

    *parsed = (struct judged_cell){0};
    assert_in_range(length, 0, sizeof parsed->qualifier - 1);
    memcpy(parsed->qualifier, at, length);
    cell->row = slice_from_text("row");
    cell->qualifier = slice_make(parsed->qualifier, length);
    cell->timestamp = strtoll(at + length, &end, 10);
    assert_int_equal(*end, '.');
    cell->sequence = strtoull(end + 1, &end, 10);
    cell->type = type_of(*end++);
    if (*end == '~') {
        cell->has_ttl = true;
        cell->ttl_ms = strtoll(end + 1, &end, 10);
    }
    assert_int_equal(*end, '=');
    length = strcspn(++end, " ");
    assert_in_range(length, 1, sizeof parsed->fate - 1);
    memcpy(parsed->fate, end, length);
    return end + length;
}

static void
parse_row(const char *text, struct judged_row *row, bool raw)
{
    row->count = 0;
    while (*text != 0) {
        assert_true(row->count < MOST_CELLS);
        text = parse_cell(text, &row->cells[row->count]);
        /* The slices of a copy would point into the original. */
        row->cells[row->count].cell.qualifier.data = row->cells[row->count].qualifier;
        if (row->count > 0 && !raw)
            assert_true(
                cell_compare(&row->cells[row->count - 1].cell, &row->cells[row->count].cell) < 0);
        row->count++;
        text += strspn(text, " ");
    }
}

/* ---- judging ---- */

static void
name_fate(const struct visibility *visibility, enum visibility_verdict verdict, char fate[16])
{
    static const char *const names[VISIBILITY_REASONS] = {
        [VISIBILITY_MASKED] = "masked",   [VISIBILITY_SUPERSEDED] = "superseded",
        [VISIBILITY_SURPLUS] = "surplus", [VISIBILITY_EXPIRED] = "expired",
        [VISIBILITY_OUTSIDE] = "outside", [VISIBILITY_MARKER] = "marker"};

    snprintf(fate, 16, "%s%s", verdict == VISIBILITY_SHOW ? "shown" : names[visibility->reason],
             verdict == VISIBILITY_COLUMN_DONE ? "!" : "");
}

static void
judge_all(struct visibility *visibility, const struct judged_row *row, const char *text)
{
    for (size_t i = 0; i < row->count; i++) {
        enum visibility_verdict verdict;
        char fate[16];

        assert_int_equal(visibility_judge(visibility, &row->cells[i].cell, &verdict), PETAL_OK);
        name_fate(visibility, verdict, fate);
        if (strcmp(fate, row->cells[i].fate) != 0)
            fail_msg("cell %zu of \"%s\": %s", i + 1, text, fate);
    }
}

/* What is shown must be the same to a caller that leaves a column when it is done. */
static void
judge_leaving_columns(struct visibility *visibility, const struct judged_row *row, const char *text)
{
    const struct judged_cell *done = NULL;

    for (size_t i = 0; i < row->count; i++) {
        const struct judged_cell *at = &row->cells[i];
        enum visibility_verdict verdict = VISIBILITY_HIDE;

        if (done == NULL || !slice_equal(done->cell.qualifier, at->cell.qualifier)) {
            done = NULL;
            assert_int_equal(visibility_judge(visibility, &at->cell, &verdict), PETAL_OK);
            if (verdict == VISIBILITY_COLUMN_DONE)
                done = at;
        }
        if ((verdict == VISIBILITY_SHOW) != (strcmp(at->fate, "shown") == 0))
            fail_msg("cell %zu of \"%s\", leaving columns", i + 1, text);
    }
}

void
judged_row_check(const struct visibility_rules *rules, const char *text)
{
    struct test_allocator allocator;
    struct visibility visibility;
    struct judged_row row;

    test_allocator_init(&allocator);
    parse_row(text, &row, rules->purpose == VISIBILITY_RAW);
    visibility_init(&visibility, &allocator.table, rules);
    visibility_start_row(&visibility);
    judge_all(&visibility, &row, text);
    visibility_start_row(&visibility);
    judge_leaving_columns(&visibility, &row, text);
    visibility_start_row(&visibility); /* nothing of the row before is left */
    judge_all(&visibility, &row, text);
    visibility_fini(&visibility);
    assert_int_equal(test_allocator_live_blocks(&allocator), 0);
}

struct visibility_rules
judged_rules(enum visibility_purpose purpose, uint32_t versions)
{
    petal_family_options family = {.versions = versions,
                                   .keep_deleted_cells = PETAL_KEEP_DELETED_FALSE};
    struct visibility_rules rules;

    visibility_rules_of(&rules, &family, purpose, JUDGED_READ_POINT, 0);
    return rules;
}
