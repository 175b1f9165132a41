/*
 * cursor.h -- the inside of a cursor: a scan over the asked families of a table, region by region,
 * row by row, family by family in a row, from one view that it pins for its life.
 * engine/read/cursor_open.c opens and closes it, engine/read/cursor_regions.c brings it to a
 * region, engine/read/cursor.c and others there move it.
 *
 * STATES.  START: not positioned.  BETWEEN: the stores stand at their next rows.  IN_ROW: `row` is
 * being given; `store` gives its cells, or `buffer` when the filter had to see the whole row first.
 * ENDED.
 */
#ifndef PETAL_ENGINE_READ_CURSOR_H
#define PETAL_ENGINE_READ_CURSOR_H

#include "engine/filter/filter.h"
#include "engine/read/bounds.h"
#include "engine/read/scan.h"

enum cursor_state { CURSOR_START, CURSOR_BETWEEN, CURSOR_IN_ROW, CURSOR_ENDED };

/* What a buffer waits for: the families that the filter needs, then the others. */
enum cursor_fill { FILL_NEEDED, FILL_OTHERS, FILL_DONE };

/* Memory of a cursor's own, enough for the short and the few. */
#define CURSOR_ROW_BYTES 64
#define RUN_FEW_CELLS    16
#define RUN_FEW_BYTES    1024 /* of their keys */

struct cursor_room {
    uint8_t row[CURSOR_ROW_BYTES];
    uint8_t keys[RUN_FEW_BYTES];
    petal_cell cells[RUN_FEW_CELLS];
};

/* Cells that were found and are still to be given, before anything else: [next, end). They are in
 * `memory` or petal_cursor.room, or the one that is petal_cursor.cell. */
struct cursor_run {
    const petal_cell *next, *end;
    struct run_memory *memory; /* NULL until needed: for long runs */
    uint32_t size;             /* the next run is no longer */
    uint32_t given;            /* in runs since the last seek, up to what a run can have */
    const petal_cell *last;    /* of a run that has not been settled; NULL: all have */
    size_t row_changes;        /* in that run */
    uint32_t pause;            /* so many cells more come by steps */
    enum petal_status status;  /* what failed after the last of them */
};

struct petal_cursor {
    petal_table *table;
    uint32_t process;    /* the one that opened the database, as there */
    size_t memory_bytes; /* that begins with this struct: see cursor_open.c */
    struct cursor_room *room;
    bool counted;          /* in the database's `open`; those that gets use inside are not */
    struct own_cells *own; /* the cursor is in its list (engine/read/own.h); NULL: in none */
    petal_cursor *own_older, *own_newer;
    bool own_seeks;                            /* it was sought in, or had an unknown place */
    const struct table_descriptor *descriptor; /* of the table when the cursor was opened */
    struct view *view;                         /* referenced */
    petal_scan_options options;
    struct scan_bounds bounds;
    const struct region_list *regions; /* of the view, as all families have them; NULL: none */
    uint32_t region;                   /* at hand: of it are the stores' inputs */
    bool more_regions;                 /* the bounds reach into the next one, in their direction */
    struct scan_bounds region_bounds;  /* cut to the region */
    void *inputs_memory; /* of the stores' inputs: a part of the cursor's, or its own */
    size_t inputs_bytes;
    bool owns_inputs_memory;
    struct filter_run *filter; /* NULL: none */
    bool needs_rows, watches_excluded_rows;
    bool runs;     /* may take runs, see cursor_run.c */
    uint32_t turn; /* of seeks to be timed (engine/state/latency.h) */
    /* After so many cells that are not shown a step ends without one, at 0, and can go on: of
     * cursor_next_within, or of those between two looks at the clock. UINT64_MAX: no matter. */
    uint64_t patience;
    uint64_t deadline_us; /* of this call; CLOCK_NEVER: none, or the clock was not looked at yet */
    petal_result *kept;   /* a part of a row whose rest was not found in time; NULL: never needed */
    struct cursor_run run;
    /* Of a get: families that the filter does not need are read after the others. */
    bool reads_needed_first;
    struct store_scan *stores; /* of the asked families, by name */
    size_t store_count;
    enum cursor_state state;
    uint8_t *row; /* the row at hand, in `room` if it is short; the stores that are in it borrow
                     it */
    size_t row_bytes, row_capacity;
    uint8_t *sought; /* the qualifier of the latest seek */
    size_t sought_capacity;
    size_t store;      /* IN_ROW without a buffer: the first that is in the row and may have cells;
                     store_count: none */
    bool row_shown;    /* a cell of the row at hand was given */
    bool row_excluded; /* the row at hand is read for the filter, and not given */
    uint64_t rows;     /* given since the last seek */
    petal_result *buffer; /* NULL: cells go to the caller one by one */
    size_t buffer_next;
    enum cursor_fill fill; /* of the buffer, of the row at hand */
    petal_cell cell;
};

/* Of the row's stores go on to the next one, from the one at hand on, that may have cells. False:
 * none has. */
static inline bool
cursor_find_store(petal_cursor *cursor)
{
    while (cursor->store < cursor->store_count &&
           cursor->stores[cursor->store].place != SCAN_IN_ROW)
        cursor->store++;
    return cursor->store < cursor->store_count;
}

/* Give up the row at hand for one of so many bytes, which are more than there is room for. */
static inline bool
cursor_grow_row(petal_cursor *cursor, size_t bytes)
{
    const petal_allocator *allocator = cursor->table->db->env.allocator;
    size_t capacity = 2 * cursor->row_capacity > bytes ? 2 * cursor->row_capacity : bytes;
    uint8_t *row = mem_alloc(allocator, capacity);

    assert(bytes > cursor->row_capacity);
    if (row == NULL)
        return false;
    if (cursor->row != cursor->room->row)
        mem_free(allocator, cursor->row, cursor->row_capacity);
    cursor->row = row;
    cursor->row_capacity = capacity;
    return true;
}

/* Make `row`, which may be the one at hand or a part of it, the row at hand. */
static inline enum petal_status
cursor_copy_row(petal_cursor *cursor, petal_slice row)
{
    if (row.size > cursor->row_capacity && !cursor_grow_row(cursor, row.size))
        return PETAL_NO_MEMORY;
    memmove(cursor->row, row.data, row.size);
    cursor->row_bytes = row.size;
    return PETAL_OK;
}

/* The place of the region that has the row; empty: of the first, in the direction of the scan. */
uint32_t cursor_place_of(const struct region_list *list, petal_slice row, bool reversed);

/* Come to the region where the bounds start. */
void cursor_find_regions(petal_cursor *cursor);

/* The family's store of the region at hand; NULL: it has none. */
const struct region_store *cursor_store_at_hand(const petal_cursor *cursor,
                                                const petal_family *family);

/* Have the stores' inputs of the region at hand. */
enum petal_status cursor_enter_stores(petal_cursor *cursor, petal_error *error);

/* Have the stores' inputs of the region that has the row; without bytes, of the first region,
 * or if reversed, of the last. */
enum petal_status cursor_enter_region_of(petal_cursor *cursor, petal_slice row, petal_error *error);
/* .. of the one after that at hand, in the direction of the scan. REQUIRES: more_regions. */
enum petal_status cursor_enter_next_region(petal_cursor *cursor, petal_error *error);

/* May the cursor take runs? It is forward, without a receipt, and what its stores find visible is
 * shown, by the order of timestamps. */
bool cursor_run_fits(const petal_cursor *cursor);

/* The cursor begins, at a place that was sought or at the first: what was still to be given is not
 * wanted any more. */
void cursor_run_begin(petal_cursor *cursor);

/*
 * Take a run from the store at hand, from the cell on that its inputs stand at, which was not
 * judged. Without one, which is no failure, nothing has changed.
 */
enum petal_status cursor_take_run(petal_cursor *cursor, struct store_scan *store,
                                  petal_error *error);
/* A run was given: leave cursor, store and visibility as a step to its last cell does. */
enum petal_status cursor_run_settle(petal_cursor *cursor, petal_error *error);
/* What failed after the run that was given. */
enum petal_status cursor_run_failure(petal_cursor *cursor, petal_error *error);
/* The cursor is closed: remember what it gave, and release. */
void cursor_run_close(petal_cursor *cursor);

/* Is it worth trying to take a run? */
static inline bool
cursor_may_take_run(petal_cursor *cursor, const struct store_scan *store)
{
    if (cursor->run.pause > 0) {
        cursor->run.pause--;
        return false;
    }
    return cursor->runs && visibility_row_is_free(&store->visibility);
}

#endif
