/* answer.c -- see tests/conformance/answer.h. */
#include "tests/conformance/answer.h"

#include <inttypes.h>

static const struct {
    const char *name;
    enum petal_cell_type type;
} cell_types[] = {{"Put", PETAL_PUT},
                  {"Delete", PETAL_DELETE},
                  {"DeleteColumn", PETAL_DELETE_COLUMN},
                  {"DeleteFamily", PETAL_DELETE_FAMILY},
                  {"DeleteFamilyVersion", PETAL_DELETE_FAMILY_VERSION}};
#define CELL_TYPES (sizeof cell_types / sizeof *cell_types)

/* ---- building ---- */

void
answer_add_result(struct arena *arena, struct answer *answer)
{
    answer->results =
        arena_grow(arena, answer->results, answer->result_count, sizeof *answer->results);
    answer->results[answer->result_count++] = (struct answer_result){.count = 0};
}

static petal_cell *
new_cell(struct arena *arena, struct answer *answer)
{
    struct answer_result *result = &answer->results[answer->result_count - 1];

    result->cells = arena_grow(arena, result->cells, result->count, sizeof *result->cells);
    return &result->cells[result->count++];
}

void
answer_add_cell(struct arena *arena, struct answer *answer, const petal_cell *cell)
{
    *new_cell(arena, answer) = (petal_cell){.row = arena_copy(arena, cell->row),
                                            .family = arena_copy(arena, cell->family),
                                            .qualifier = arena_copy(arena, cell->qualifier),
                                            .value = arena_copy(arena, cell->value),
                                            .timestamp = cell->timestamp,
                                            .type = cell->type};
}

void
answer_add_member(struct arena *arena, struct answer *answer, petal_slice text)
{
    answer->members =
        arena_grow(arena, answer->members, answer->member_count, sizeof *answer->members);
    answer->members[answer->member_count++] = text;
}

/* ---- parsing ---- */

static bool
read_cell(struct reader *reader, struct answer *answer)
{
    petal_cell *cell;
    petal_slice type;
    size_t i = 0;

    if (!reader_at_word(reader, "-"))
        return reader_fail(reader, "a result has fewer cells than it says");
    cell = new_cell(reader->arena, answer);
    reader->token_next++;
    if (!reader_take_string(reader, "a row", &cell->row) ||
        !reader_take_string(reader, "a family", &cell->family) ||
        !reader_take_string(reader, "a qualifier", &cell->qualifier) ||
        !reader_take_number(reader, "a time stamp", &cell->timestamp) ||
        !reader_take_word(reader, "a type of cell", &type) ||
        !reader_take_string(reader, "a value", &cell->value) || !reader_take_end(reader))
        return false;
    while (i < CELL_TYPES && !slice_is(type, cell_types[i].name))
        i++;
    if (i == CELL_TYPES)
        return reader_fail(reader, "'%.*s' is no type of cell", (int)type.size,
                           (const char *)type.data);
    cell->type = cell_types[i].type;
    return true;
}

static bool
next_line(struct reader *reader)
{
    return reader_next_line(reader) || reader_fail(reader, "the file ends inside a case");
}

/* The number after `result` or `results`, then the end of the line. */
static bool
take_count(struct reader *reader, int64_t *count)
{
    if (!reader_take_number(reader, "a count", count) || !reader_take_end(reader))
        return false;
    if (*count < 0)
        return reader_fail(reader, "a count is negative");
    return next_line(reader);
}

/* `= result N`, of which `=` was taken, and its cells. */
static bool
read_result(struct reader *reader, struct answer *answer)
{
    petal_slice word;
    int64_t count;

    if (!reader_take_word(reader, "result", &word))
        return false;
    if (!slice_is(word, "result"))
        return reader_fail(reader, "there should be a result, not '%.*s'", (int)word.size,
                           (const char *)word.data);
    answer_add_result(reader->arena, answer);
    if (!take_count(reader, &count))
        return false;
    for (int64_t i = 0; i < count; i++) {
        if (!read_cell(reader, answer) || !next_line(reader))
            return false;
    }
    return true;
}

static bool
take_equal_sign(struct reader *reader, const char *missing)
{
    if (!reader_at_word(reader, "="))
        return reader_fail(reader, "%s", missing);
    reader->token_next++;
    return true;
}

static bool
read_results(struct reader *reader, struct answer *answer)
{
    int64_t count;

    answer->kind = ANSWER_RESULTS;
    reader->token_next++;
    if (!take_count(reader, &count))
        return false;
    for (int64_t i = 0; i < count; i++) {
        if (!take_equal_sign(reader, "a scan has fewer results than it says") ||
            !read_result(reader, answer))
            return false;
    }
    return true;
}

/* ok, true or false, then perhaps a result of cells if the operation can have one. */
static bool
read_outcome(struct reader *reader, enum answer_kind kind, bool may_have_result,
             struct answer *answer)
{
    answer->kind = kind;
    reader->token_next++;
    if (!reader_take_end(reader) || !next_line(reader))
        return false;
    if (!may_have_result || !reader_at_word(reader, "="))
        return true;
    reader->token_next++;
    if (!read_result(reader, answer))
        return false;
    if (answer->results[0].count == 0) /* the same as none */
        answer->result_count = 0;
    return true;
}

static bool
read_batch(struct reader *reader, const struct recorded_operation *operation, struct answer *answer)
{
    petal_slice word;

    answer->kind = ANSWER_BATCH;
    reader->token_next++;
    while (reader_peek(reader) != NULL) {
        if (!reader_take_word(reader, "ok or an error", &word))
            return false;
        answer_add_member(reader->arena, answer, word);
    }
    if (answer->member_count != operation->mutation_count)
        return reader_fail(reader, "the answer has %zu members, the batch %zu",
                           answer->member_count, operation->mutation_count);
    return next_line(reader);
}

static bool
read_error(struct reader *reader, struct answer *answer)
{
    answer->kind = ANSWER_ERROR;
    reader->token_next++;
    return reader_take_word(reader, "the name of an error", &answer->text) &&
           reader_take_end(reader) && next_line(reader);
}

bool
answer_read(struct reader *reader, const struct recorded_operation *operation,
            struct answer *answer)
{
    enum mutation_kind mutation =
        operation->kind == OPERATION_MUTATION ? operation->mutations[0].kind : MUTATION_PUT;
    bool gives_result = operation->kind == OPERATION_GET || mutation == MUTATION_APPEND ||
                        mutation == MUTATION_INCREMENT;
    bool check = operation->kind == OPERATION_CHECK;

    *answer = (struct answer){.line = reader->line};
    if (!take_equal_sign(reader, "the operation before has no answer"))
        return false;
    if (reader_at_word(reader, "error"))
        return read_error(reader, answer);
    if (gives_result) {
        answer->kind = ANSWER_RESULT;
        return read_result(reader, answer);
    }
    if (operation->kind == OPERATION_SCAN && reader_at_word(reader, "results"))
        return read_results(reader, answer);
    if (operation->kind == OPERATION_BATCH && reader_at_word(reader, "batch"))
        return read_batch(reader, operation, answer);
    if (check && reader_at_word(reader, "true"))
        return read_outcome(reader, ANSWER_TRUE, true, answer);
    if (check && reader_at_word(reader, "false"))
        return read_outcome(reader, ANSWER_FALSE, true, answer);
    if (!check && operation->kind != OPERATION_SCAN && operation->kind != OPERATION_BATCH &&
        reader_at_word(reader, "ok"))
        return read_outcome(reader, ANSWER_OK, operation->kind == OPERATION_ROW_MUTATIONS, answer);
    return reader_fail(reader, "this is no answer to the operation before");
}

/* ---- comparing ---- */

bool
cell_equal(const petal_cell *a, const petal_cell *b)
{
    return a->timestamp == b->timestamp && a->type == b->type && slice_equal(a->row, b->row) &&
           slice_equal(a->family, b->family) && slice_equal(a->qualifier, b->qualifier) &&
           slice_equal(a->value, b->value);
}

bool
answer_has_cell(const struct answer *answer, const petal_cell *cell)
{
    for (size_t i = 0; i < answer->result_count; i++) {
        for (size_t k = 0; k < answer->results[i].count; k++) {
            if (cell_equal(&answer->results[i].cells[k], cell))
                return true;
        }
    }
    return false;
}

static bool
results_equal(const struct answer *a, const struct answer *b)
{
    if (a->result_count != b->result_count)
        return false;
    for (size_t i = 0; i < a->result_count; i++) {
        if (a->results[i].count != b->results[i].count)
            return false;
        for (size_t k = 0; k < a->results[i].count; k++) {
            if (!cell_equal(&a->results[i].cells[k], &b->results[i].cells[k]))
                return false;
        }
    }
    return true;
}

bool
answer_equal(const struct answer *a, const struct answer *b)
{
    if (a->kind != b->kind || a->kind == ANSWER_FAILED || !results_equal(a, b) ||
        a->member_count != b->member_count)
        return false;
    for (size_t i = 0; i < a->member_count; i++) {
        if (slice_is(a->members[i], "ok") != slice_is(b->members[i], "ok"))
            return false;
    }
    return true;
}

bool
answer_lists_error(const struct answer *answer)
{
    for (size_t i = 0; i < answer->member_count; i++) {
        if (!slice_is(answer->members[i], "ok"))
            return true;
    }
    return false;
}

/* ---- printing ---- */

void
answer_print_string(petal_slice string, FILE *out)
{
    const unsigned char *bytes = string.data;

    fputc('"', out);
    for (size_t i = 0; i < string.size; i++) {
        if (bytes[i] < 0x20 || bytes[i] > 0x7E || bytes[i] == '"' || bytes[i] == '\\')
            fprintf(out, "\\x%02X", bytes[i]);
        else
            fputc(bytes[i], out);
    }
    fputc('"', out);
}

void
answer_print_cell(const petal_cell *cell, FILE *out)
{
    const char *type = "?";

    for (size_t i = 0; i < CELL_TYPES; i++) {
        if (cell_types[i].type == cell->type)
            type = cell_types[i].name;
    }
    fputs("- ", out);
    answer_print_string(cell->row, out);
    fputc(' ', out);
    answer_print_string(cell->family, out);
    fputc(' ', out);
    answer_print_string(cell->qualifier, out);
    fprintf(out, " %" PRId64 " %s ", cell->timestamp, type);
    answer_print_string(cell->value, out);
    fputc('\n', out);
}

static void
print_slice(petal_slice text, FILE *out)
{
    fwrite(text.data, 1, text.size, out);
}

void
answer_print(const struct answer *answer, FILE *out)
{
    static const char *const heads[] = {
        [ANSWER_OK] = "= ok\n",     [ANSWER_TRUE] = "= true\n",     [ANSWER_FALSE] = "= false\n",
        [ANSWER_BATCH] = "= batch", [ANSWER_ERROR] = "= error ",    [ANSWER_FAILED] = "= failed ",
        [ANSWER_RESULT] = "",       [ANSWER_RESULTS] = "= results "};

    fputs(heads[answer->kind], out);
    if (answer->kind == ANSWER_RESULTS)
        fprintf(out, "%zu\n", answer->result_count);
    for (size_t i = 0; i < answer->member_count; i++) {
        fputc(' ', out);
        print_slice(answer->members[i], out);
    }
    if (answer->kind == ANSWER_ERROR || answer->kind == ANSWER_FAILED)
        print_slice(answer->text, out);
    if (answer->kind == ANSWER_ERROR || answer->kind == ANSWER_FAILED ||
        answer->kind == ANSWER_BATCH)
        fputc('\n', out);
    for (size_t i = 0; i < answer->result_count; i++) {
        fprintf(out, "= result %zu\n", answer->results[i].count);
        for (size_t k = 0; k < answer->results[i].count; k++)
            answer_print_cell(&answer->results[i].cells[k], out);
    }
}
