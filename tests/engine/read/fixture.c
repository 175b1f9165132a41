/* fixture.c -- see tests/engine/read/fixture.h. */
#include "tests/engine/read/fixture.h"

#include "tests/support/test.h"

#include <inttypes.h>
#include <stdlib.h>

void
reads_open(struct read_fixture *fixture, const char *letters, const petal_family_options *given)
{
    petal_family_options families[8];
    petal_table_options options = {
        .name = text("t"), .families = families, .family_count = strlen(letters)};

    for (size_t i = 0; i < options.family_count; i++) {
        families[i] = given != NULL ? *given : (petal_family_options){0};
        families[i].name = slice_make(letters + i, 1);
    }
    fixture_init(&fixture->base, 1);
    fixture->base.options.memtable_bytes = (size_t)64 << 20; /* tests flush when they want it */
    fixture_must_open(&fixture->base);
    MUST(petal_table_create(fixture->base.db, &options, &fixture->table, WHY));
}

petal_family *
reads_family(const struct read_fixture *fixture, const char *name)
{
    petal_family *family;

    MUST(petal_table_family(fixture->table, text(name), &family, WHY));
    return family;
}

/* ---- writing ---- */

void
reads_put(const struct read_fixture *fixture, const char *family, petal_slice row,
          petal_slice qualifier, int64_t timestamp, petal_slice value)
{
    MUST(petal_put(reads_family(fixture, family), row, qualifier, timestamp, value, NULL, WHY));
}

void
reads_delete(const struct read_fixture *fixture, const char *family, petal_slice row,
             petal_slice qualifier, int64_t timestamp, enum petal_cell_type type)
{
    MUST(petal_delete(reads_family(fixture, family), row, qualifier, timestamp, type, NULL, WHY));
}

void
reads_flush(const struct read_fixture *fixture)
{
    MUST(petal_flush(fixture->base.db, fixture->table, WHY));
}

void
reads_compact(const struct read_fixture *fixture)
{
    MUST(petal_compact(fixture->table, NULL, WHY));
}

/* ---- what is needed for reading ---- */

petal_filter *
reads_filter(const struct read_fixture *fixture, const char *language)
{
    petal_filter *filter;

    MUST(petal_filter_parse(fixture->base.db, text(language), &filter, WHY));
    return filter;
}

petal_cursor *
reads_cursor(const struct read_fixture *fixture, const petal_scan_options *options)
{
    petal_cursor *cursor;

    MUST(petal_cursor_open(fixture->table, options, &cursor, WHY));
    return cursor;
}

petal_result *
reads_result(const struct read_fixture *fixture)
{
    petal_result *result;

    MUST(petal_result_new(fixture->base.db, &result, WHY));
    return result;
}

/* ---- answers as text ---- */

#define ANSWERS      4
#define ANSWER_BYTES 16384

struct answer {
    char text[ANSWER_BYTES];
    size_t size;
};

static struct answer *
next_answer(void)
{
    static struct answer answers[ANSWERS];
    static unsigned turn;
    struct answer *answer = &answers[turn++ % ANSWERS];

    answer->size = 0;
    answer->text[0] = 0;
    return answer;
}

static void
add_text(struct answer *answer, const char *added)
{
    size_t size = strlen(added);

    assert_true(answer->size + size < ANSWER_BYTES);
    memcpy(answer->text + answer->size, added, size + 1);
    answer->size += size;
}

static void
add_bytes(struct answer *answer, petal_slice bytes)
{
    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t byte = slice_bytes(bytes)[i];
        char shown[4];

        snprintf(shown, sizeof shown, byte > 0x20 && byte < 0x7f ? "%c" : "\\%02x", byte);
        add_text(answer, shown);
    }
}

static void
add_cell(struct answer *answer, const petal_cell *cell)
{
    char number[40];

    add_bytes(answer, cell->row);
    add_text(answer, "/");
    add_bytes(answer, cell->family);
    add_text(answer, ":");
    add_bytes(answer, cell->qualifier);
    snprintf(number, sizeof number, "@%" PRId64 "%c", cell->timestamp,
             cell->type == PETAL_PUT ? '=' : '!');
    add_text(answer, number);
    if (cell->type == PETAL_PUT) {
        add_bytes(answer, cell->value);
    } else {
        snprintf(number, sizeof number, "%d", (int)cell->type);
        add_text(answer, number);
    }
    add_text(answer, " ");
}

static void
add_result(struct answer *answer, const petal_result *result)
{
    for (size_t i = 0; i < petal_result_count(result); i++)
        add_cell(answer, petal_result_cell(result, i));
}

const char *
reads_cell_text(const petal_cell *cell)
{
    struct answer *answer = next_answer();

    add_cell(answer, cell);
    return answer->text;
}

const char *
reads_result_text(const petal_result *result)
{
    struct answer *answer = next_answer();

    add_result(answer, result);
    return answer->text;
}

const char *
reads_get(const struct read_fixture *fixture, petal_slice row, const petal_read_options *options)
{
    petal_result *result = reads_result(fixture);
    const char *answer;

    MUST(petal_get(fixture->table, row, options, result, WHY));
    answer = reads_result_text(result);
    petal_result_free(result);
    return answer;
}

const char *
reads_next(petal_cursor *cursor)
{
    struct answer *answer = next_answer();
    const petal_cell *cell;

    MUST(petal_cursor_next(cursor, &cell, WHY));
    if (cell != NULL)
        add_cell(answer, cell);
    return answer->text;
}

const char *
reads_rest(petal_cursor *cursor)
{
    struct answer *answer = next_answer();
    const petal_cell *cell;

    for (;;) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        if (cell == NULL)
            return answer->text;
        add_cell(answer, cell);
    }
}

const char *
reads_rest_by_pieces(const struct read_fixture *fixture, petal_cursor *cursor)
{
    struct answer *answer = next_answer();
    petal_result *result = reads_result(fixture);

    for (;;) {
        MUST(petal_cursor_next_row(cursor, result, WHY));
        if (petal_result_count(result) == 0)
            break;
        add_result(answer, result);
        add_text(answer, "| ");
    }
    petal_result_free(result);
    return answer->text;
}

/* Leaves the bars out. */
static void
strip_bars(const char *from, char *to)
{
    for (; *from != 0; from++) {
        if (strncmp(from, "| ", 2) == 0)
            from++;
        else
            *to++ = *from;
    }
    *to = 0;
}

const char *
reads_scan(const struct read_fixture *fixture, const petal_scan_options *options)
{
    petal_cursor *cursor = reads_cursor(fixture, options);
    const char *by_cell = reads_rest(cursor), *by_piece;
    char *stripped = test_allocate(ANSWER_BYTES);

    petal_cursor_close(cursor);
    cursor = reads_cursor(fixture, options);
    by_piece = reads_rest_by_pieces(fixture, cursor);
    petal_cursor_close(cursor);
    strip_bars(by_piece, stripped);
    assert_string_equal(stripped, by_cell);
    free(stripped);
    return by_cell;
}

void
reads_seek(petal_cursor *cursor, petal_slice row, const petal_family *family, petal_slice qualifier)
{
    MUST(petal_cursor_seek(cursor, row, family, qualifier, WHY));
}
