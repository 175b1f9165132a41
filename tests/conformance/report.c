/* report.c -- see tests/conformance/report.h. */
#include "tests/conformance/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_UNLISTED 3   /* differences of one case, unless verbose */
#define SHOWN_LISTED   1   /* the same */
#define SHOWN_LINES    3   /* of an answer, or cells that only one answer has */
#define SHOWN_BYTES    300 /* of a line */

/* ---- cases ---- */

void
report_begin_case(struct report *report, const char *path, const struct recorded_case *recorded)
{
    petal_slice group = recorded->group;
    char name[sizeof report->groups->name];

    snprintf(name, sizeof name, "%.*s", (int)(group.size < 70 ? group.size : 70),
             (const char *)group.data);
    for (report->at = 0; report->at < report->group_count; report->at++) {
        if (strcmp(report->groups[report->at].name, name) == 0)
            break;
    }
    if (report->at == report->group_count) {
        report->groups =
            test_reallocate(report->groups, (report->group_count + 1) * sizeof *report->groups);
        report->groups[report->at] = (struct group_count){.cases = 0};
        memcpy(report->groups[report->at].name, name, sizeof name);
        report->group_count++;
    }
    report->groups[report->at].cases++;
    report->path = path;
    report->recorded = recorded;
    report->case_listed = report->case_unlisted = 0;
}

void
report_end_case(struct report *report)
{
    uint64_t hidden = 0;

    if (!report->verbose && report->case_unlisted > SHOWN_UNLISTED)
        hidden = report->case_unlisted - SHOWN_UNLISTED;
    if (hidden > 0)
        printf("%s: case %.*s: %" PRIu64 " more differences (--verbose shows all)\n", report->path,
               (int)report->recorded->name.size, (const char *)report->recorded->name.data, hidden);
}

void
report_equal(struct report *report)
{
    report->groups[report->at].answers++;
}

/* ---- differences ---- */

struct rendered {
    char *text;
    size_t size;
};

/* A stream that fills `rendered`. */
static FILE *
open_rendered(struct rendered *rendered)
{
    FILE *out = open_memstream(&rendered->text, &rendered->size);

    if (out == NULL) {
        fprintf(stderr, "conformance: out of memory\n");
        abort();
    }
    return out;
}

static struct rendered
render(const struct answer *answer)
{
    struct rendered rendered = {NULL, 0};
    FILE *out = open_rendered(&rendered);

    answer_print(answer, out);
    fclose(out);
    return rendered;
}

static struct rendered
render_cell(const petal_cell *cell)
{
    struct rendered rendered = {NULL, 0};
    FILE *out = open_rendered(&rendered);

    answer_print_cell(cell, out);
    fclose(out);
    return rendered;
}

static void
print_cut(const char *line, size_t size)
{
    printf("%.*s%s\n", (int)(size < SHOWN_BYTES ? size : SHOWN_BYTES), line,
           size < SHOWN_BYTES ? "" : " ..");
}

/* Print `most` lines from `text` on, each after `label`. */
static void
print_lines(const char *label, const char *text, size_t most)
{
    for (size_t i = 0; i < most && *text != 0; i++) {
        size_t size = strcspn(text, "\n");

        printf("    %s ", label);
        print_cut(text, size);
        text += size + (text[size] == '\n');
    }
    if (*text != 0 && most > 1)
        printf("    %s ..\n", label);
}

/* Print the cells of `answer` that `other` lacks; returns how many there are. */
static size_t
print_own_cells(const char *label, const struct answer *answer, const struct answer *other)
{
    size_t count = 0;

    for (size_t i = 0; i < answer->result_count; i++) {
        for (size_t k = 0; k < answer->results[i].count; k++) {
            const petal_cell *cell = &answer->results[i].cells[k];
            struct rendered line;

            if (answer_has_cell(other, cell) || count++ >= SHOWN_LINES)
                continue;
            line = render_cell(cell);
            printf("    only %s ", label);
            print_cut(line.text, strcspn(line.text, "\n"));
            free(line.text);
        }
    }
    if (count > SHOWN_LINES)
        printf("    only %s %zu more cells\n", label, count - SHOWN_LINES);
    return count;
}

/* Both answers in full. */
static void
print_whole_answers(const struct answer *expected, const struct answer *actual)
{
    struct rendered a = render(expected), b = render(actual);

    print_lines("expected", a.text, SIZE_MAX);
    print_lines("actual  ", b.text, SIZE_MAX);
    free(a.text);
    free(b.text);
}

/* The first line that differs, and the cells that only one of the answers has; if there are none,
 * more lines. */
static void
print_answers(const struct answer *expected, const struct answer *actual)
{
    struct rendered a = render(expected), b = render(actual);
    size_t same = 0, line = 1;
    bool like = expected->kind == actual->kind;

    for (size_t i = 0; i < a.size && i < b.size && a.text[i] == b.text[i]; i++) {
        if (a.text[i] == '\n') {
            same = i + 1;
            line++;
        }
    }
    printf("    line %zu of the answer:\n", line);
    print_lines("expected", same < a.size ? a.text + same : "(nothing more)", 1);
    print_lines("actual  ", same < b.size ? b.text + same : "(nothing more)", 1);
    if (like && print_own_cells("expected", expected, actual) +
                        print_own_cells("actual  ", actual, expected) ==
                    0) {
        print_lines("expected", a.text + same, SHOWN_LINES);
        print_lines("actual  ", b.text + same, SHOWN_LINES);
    }
    free(a.text);
    free(b.text);
}

static void
print_place(const struct report *report, size_t line)
{
    printf("%s:%zu: case %.*s: ", report->path, line, (int)report->recorded->name.size,
           (const char *)report->recorded->name.data);
}

void
report_difference(struct report *report, const struct recorded_step *step,
                  const struct answer *actual, const struct listed_difference *entry)
{
    struct group_count *group = &report->groups[report->at];
    bool show = report->verbose;

    group->answers++;
    group->differences++;
    if (entry != NULL) {
        group->listed++;
        show = show || report->case_listed < SHOWN_LISTED;
        report->case_listed++;
    } else {
        show = show || report->case_unlisted < SHOWN_UNLISTED;
        report->case_unlisted++;
    }
    if (!show)
        return;
    print_place(report, step->operation.line);
    if (entry == NULL)
        printf("DIFFERENT\n    ");
    else
        printf("different, number %" PRId64 " on the list\n    ", entry->number);
    print_cut(step->operation.text.data, step->operation.text.size);
    if (report->verbose)
        print_whole_answers(&step->answer, actual);
    else
        print_answers(&step->answer, actual);
}

void
report_trouble(struct report *report, const char *what, const char *text)
{
    report->groups[report->at].differences++;
    report->case_unlisted++;
    print_place(report, report->recorded->line);
    printf("DIFFERENT\n    %s: %s\n", what, text);
}

void
report_step(const struct report *report, const struct recorded_step *step,
            const struct answer *actual)
{
    bool equal = answer_equal(&step->answer, actual);

    printf("%s:%zu: %.*s\n", report->path, step->operation.line, (int)step->operation.text.size,
           (const char *)step->operation.text.data);
    if (equal && actual->kind != ANSWER_ERROR) {
        struct rendered both = render(actual);

        print_lines("both    ", both.text, SIZE_MAX);
        free(both.text);
        return;
    }
    print_whole_answers(&step->answer, actual);
    printf("    %s\n", equal ? "(equal: both refuse)" : "DIFFERENT");
}

/* ---- the end ---- */

uint64_t
report_finish(struct report *report, bool only_parsed)
{
    struct group_count sum = {.cases = 0};

    printf("%-14s %8s %9s %12s %9s\n", "group", "cases", "answers", "differences", "unlisted");
    for (size_t i = 0; i < report->group_count; i++) {
        const struct group_count *group = &report->groups[i];

        printf("%-14s %8" PRIu64 " %9" PRIu64 " %12" PRIu64 " %9" PRIu64 "\n", group->name,
               group->cases, group->answers, group->differences,
               group->differences - group->listed);
        sum.cases += group->cases;
        sum.answers += group->answers;
        sum.differences += group->differences;
        sum.listed += group->listed;
    }
    printf("%" PRIu64 " cases, %" PRIu64 " answers", sum.cases, sum.answers);
    if (only_parsed)
        printf(" read, none run\n");
    else
        printf(", %" PRIu64 " differences: %" PRIu64 " deliberate ones, on the list, and %" PRIu64
               " others\n",
               sum.differences, sum.listed, sum.differences - sum.listed);
    return sum.differences - sum.listed;
}

void
report_fini(struct report *report)
{
    free(report->groups);
}
