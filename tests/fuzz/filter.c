/*
 * filter.c -- any bytes as a filter in HBase's language: refused with a place inside of it, or a
 * filter that is then shown a few cells, forward and reversed. The last bytes of the input are
 * rows, qualifiers and values.
 */
#include "engine/filter/filter.h"
#include "base/slice.h"
#include "engine/state/db.h"

#include <stdlib.h>

#define TAIL_BYTES 24

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
show(struct filter_run *run, const petal_filter *filter, const uint8_t *tail)
{
    petal_slice row = slice_make(tail, tail[0] % 4 + 1u), next;
    petal_cell cells[4];
    struct filter_hint hint;
    enum filter_code code;
    petal_error error;
    size_t count = 0;
    bool none;

    if (filter_run_skips_row(run, row))
        filter_run_next_row(run, row, &next, &none);
    for (size_t i = 0; i < 4; i++) {
        petal_cell cell = {
            .row = row,
            .family = slice_make(i < 2 ? "f" : "g", 1),
            .qualifier = slice_make(tail + 4 + i, tail[8 + i] % 4),
            .value = slice_make(tail + 12, tail[4 + i] % 12),
            .timestamp = tail[8],
            .type = PETAL_PUT,
        };

        if (filter_run_cell(run, &cell, &code, &error) != PETAL_OK) {
            if (error.status != PETAL_INVALID || strstr(error.text, "given up") == NULL)
                abort();
            return;
        }
        if (code == FILTER_SEEK && filter_run_hint(run, &cell, &hint) &&
            (hint.row_only ? hint.row.size == 0 : !slice_equal(hint.row, row)))
            abort();
        if (code > FILTER_INCLUDE_AND_NEXT_ROW)
            continue;
        filter_run_transform(run, &cell);
        cells[count++] = cell;
    }
    if (count > 0 && filter_needs_rows(filter))
        filter_run_row_cells(run, cells, &count);
    if (count > 0)
        filter_run_drops_row(run);
    filter_run_reset(run);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static petal_db db; /* of which the parser uses the surroundings only */
    petal_filter *filter;
    petal_error error;
    const uint8_t *tail = bytes + size - TAIL_BYTES;

    if (size < TAIL_BYTES)
        return 0;
    env_init(&db.env, NULL);
    if (petal_filter_parse(&db, slice_make(bytes, size - TAIL_BYTES), &filter, &error) !=
        PETAL_OK) {
        if (filter != NULL || error.status != PETAL_INVALID || error.offset > size - TAIL_BYTES)
            abort();
        return 0;
    }
    for (int reversed = 0; reversed < 2; reversed++) {
        struct filter_run *run;
        petal_slice first;
        bool none;

        if (filter_run_new(&run, db.env.allocator, filter, reversed != 0) != PETAL_OK)
            abort();
        filter_run_first_row(run, &first, &none);
        show(run, filter, tail);
        show(run, filter, tail + 1 - reversed);
        filter_run_restart(run);
        show(run, filter, tail);
        filter_run_free(run);
    }
    petal_filter_free(filter);
    return 0;
}
