/*
 * sample.c -- see tools/shell/study/sample.h.
 *
 * A row at random: a store file, by the number of its rows; a place between its first row and its
 * last, as if rows were spread evenly over the 8 bytes after what the two have in common; the row
 * that follows the place.
 */
#include "tools/shell/study/sample.h"

#include "tools/shell/data/query.h"
#include "tools/shell/session/interrupt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_TO_CHOOSE_FROM = 32, HEAD = 8 };

/* SplitMix64, begun at the same place each time. */
static uint64_t
next_random(uint64_t *state)
{
    uint64_t number = *state += 0x9e3779b97f4a7c15u;

    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9u;
    number = (number ^ number >> 27) * 0x94d049bb133111ebu;
    return number ^ number >> 31;
}

static void
add(struct sample *sample, struct past_get *get)
{
    sample->gets =
        memory_room(sample->gets, sample->count, &sample->capacity, sizeof(*sample->gets));
    sample->gets[sample->count++] = get;
}

void
sample_past(struct session *session, const petal_table *table, struct sample *sample)
{
    const struct get_history *history = &session->history;

    *sample = (struct sample){.what = "the latest of this session"};
    for (size_t i = 0; i < HISTORY_GETS; i++)
        if (history->gets[i] != NULL && history->gets[i]->table == table)
            add(sample, history->gets[i]);
}

void
sample_free(struct sample *sample)
{
    for (size_t i = 0; i < sample->count && sample->owned; i++)
        free(sample->gets[i]);
    free(sample->gets);
}

enum shell_status
sample_read(struct session *session, petal_table *table, const char *path, struct sample *sample)
{
    FILE *file = fopen(path, "r");
    enum shell_status status = SHELL_FINE;
    size_t capacity = 0;
    char *line = NULL;
    ssize_t size;

    *sample = (struct sample){.owned = true, .what = "those of the file"};
    if (file == NULL)
        return session_fail(session, errno == ENOENT ? SHELL_NOT_FOUND : SHELL_DATA,
                            "cannot open %.400s: %s", path, strerror(errno));
    while (status == SHELL_FINE && (size = getline(&line, &capacity, file)) >= 0) {
        petal_column column = {.family = NULL};
        petal_read_options read = {.size = sizeof(read), .columns = &column};
        size_t end = (size_t)size - (size > 0 && line[size - 1] == '\n');
        const char *tab = memchr(line, '\t', end);
        petal_slice row = {line, tab != NULL ? (size_t)(tab - line) : end}, family;
        bool has_qualifier;

        if (tab != NULL) {
            column_part((petal_slice){tab + 1, end - row.size - 1}, &family, &column.qualifier,
                        &has_qualifier);
            column.whole_family = !has_qualifier;
            read.column_count = 1;
            status = session_family(session, table, family, &column.family);
        }
        if (status == SHELL_FINE && row.size > 0)
            add(sample, past_get_new(table, row, &read));
    }
    if (status == SHELL_FINE && ferror(file))
        status =
            session_fail(session, SHELL_DATA, "reading %.400s failed: %s", path, strerror(errno));
    free(line);
    (void)fclose(file);
    return status;
}

/* ---- Rows at random -------------------------------------------------------------------------- */

/* A row range by which to find rows. */
struct range {
    uint64_t rows_before;   /* of the ranges before it */
    size_t least, greatest; /* places of its first and last row in `names` */
    size_t least_size, greatest_size;
};

struct draw {
    struct session *session;
    petal_table *table;
    uint64_t state;
    struct range *ranges;
    size_t count, capacity;
    uint64_t rows;
    struct text names;
    struct text place; /* sought */
};

static bool
add_range(void *argument, const petal_file_info *file)
{
    struct draw *draw = argument;

    draw->ranges = memory_room(draw->ranges, draw->count, &draw->capacity, sizeof(*draw->ranges));
    draw->ranges[draw->count++] =
        (struct range){draw->rows, draw->names.size, draw->names.size + file->row_min.size,
                       file->row_min.size, file->row_max.size};
    text_add_slice(&draw->names, file->row_min);
    text_add_slice(&draw->names, file->row_max);
    draw->rows += file->rows;
    return true;
}

static uint64_t
head_behind(petal_slice row, size_t common)
{
    const unsigned char *bytes = row.data;
    uint64_t head = 0;

    for (size_t i = common; i < common + HEAD; i++)
        head = head << 8 | (i < row.size ? bytes[i] : 0u);
    return head;
}

/* Between the range's rows; the first of them if they are one. */
static void
choose_place(struct draw *draw)
{
    uint64_t number = next_random(&draw->state) % draw->rows, low, high;
    const struct range *range = draw->ranges;
    petal_slice least, greatest;
    size_t common = 0;

    while ((size_t)(range - draw->ranges) + 1 < draw->count && range[1].rows_before <= number)
        range++;
    least = (petal_slice){draw->names.bytes + range->least, range->least_size};
    greatest = (petal_slice){draw->names.bytes + range->greatest, range->greatest_size};
    while (common < least.size && common < greatest.size &&
           ((const char *)least.data)[common] == ((const char *)greatest.data)[common])
        common++;
    low = head_behind(least, common);
    high = head_behind(greatest, common);
    text_clear(&draw->place);
    if (high > low) {
        text_add(&draw->place, least.data, common);
        low += next_random(&draw->state) % (high - low);
        for (int shift = 8 * (HEAD - 1); shift >= 0; shift -= 8)
            text_add(&draw->place, &(char){(char)(low >> shift & 0xff)}, 1);
    } else {
        text_add_slice(&draw->place, least);
    }
}

static void
add_gets(struct draw *draw, struct sample *sample, const petal_cell *cell)
{
    petal_column column = {.qualifier = cell->qualifier};
    petal_read_options read = {.size = sizeof(read), .columns = &column, .column_count = 1};
    struct text absent = {0};

    if (petal_table_family(draw->table, cell->family, &column.family, NULL) != PETAL_OK)
        return;
    add(sample, past_get_new(draw->table, cell->row, &read));
    text_add_slice(&absent, cell->row);
    text_add(&absent, "\x00\x01\xfe", 3);
    if (absent.size <= PETAL_MAX_ROW_BYTES)
        add(sample, past_get_new(draw->table, text_slice(&absent), &read));
    read.column_count = 0;
    add(sample, past_get_new(draw->table, cell->row, &read));
    text_free(&absent);
}

/* One of the first cells of the row at or after the place. */
static enum petal_status
draw_row(struct draw *draw, struct sample *sample, petal_error *error)
{
    petal_scan_options scan = {.size = sizeof(scan), .row_limit = 1};
    petal_result *result = draw->session->result;
    petal_cursor *cursor;
    enum petal_status status;

    choose_place(draw);
    scan.start_row = text_slice(&draw->place);
    scan.read.size = sizeof(scan.read);
    scan.batch = CELLS_TO_CHOOSE_FROM;
    status = petal_cursor_open(draw->table, &scan, &cursor, error);
    if (status == PETAL_OK)
        status = petal_cursor_next_row(cursor, result, error);
    if (status == PETAL_OK && petal_result_count(result) > 0)
        add_gets(draw, sample,
                 petal_result_cell(result, next_random(&draw->state) % petal_result_count(result)));
    petal_cursor_close(cursor);
    return status;
}

enum shell_status
sample_draw(struct session *session, petal_table *table, uint64_t count, struct sample *sample)
{
    struct draw draw = {.session = session, .table = table};
    petal_error error;
    enum petal_status outcome = petal_table_files(table, add_range, &draw, &error);
    enum shell_status status = SHELL_FINE;

    *sample = (struct sample){
        .owned = true,
        .what = "of rows at random: a column, the whole row, a row that is not there"};
    for (uint64_t i = 0; i < count && draw.rows > 0 && outcome == PETAL_OK && status == SHELL_FINE;
         i++) {
        outcome = draw_row(&draw, sample, &error);
        if (outcome == PETAL_OK)
            status = interrupt_check(session);
    }
    free(draw.ranges);
    text_free(&draw.names);
    text_free(&draw.place);
    return outcome == PETAL_OK ? status : session_fail_petal(session, &error);
}
