/*
 * bulk.c -- sorted cells become store files directly, without log and memtables, and enter their
 * table by one commit: petal_bulk_begin, _add, _commit, _free.
 *
 * ONE SEQUENCE. The cells count as written at the commit, whose sequence is not known while the
 * files are written. So the files are written as if committed at the begin, with the sequences from
 * `first` on; the commit chooses sequences above all others, and each file and the manifest record
 * the difference (sequence_shift, engine/manifest/state.h). Earlier readers do not see cells above
 * their read point, and no cell is written twice. All puts share one sequence; a marker has a
 * greater one, by its kind: among cells of one bulk at one timestamp markers win, as in HBase.
 *
 * CHOSEN AHEAD. The files record their shift, and are synced, before the commit, so a file whose
 * manifest is lost still has its place in the order. No write waits for these syncs: the sequences
 * are chosen some way ahead of the last one, and again, further ahead, if other writes have passed
 * them by the time of the commit. If nothing was written since the begin, the files stay as they
 * are.
 *
 * PETAL_BULK_BELOW. The files are written with the first sequences of all. For each family the
 * commit takes the sequences just below the least one in its store, files and memory, and not above
 * any open read point. New databases leave room there (CELL_SEQUENCE_FIRST); compactions make some.
 *
 * MEMTABLES stay, though their sequences are lower than those of the new files: cells are judged
 * one by one wherever they are, and what decides by whole files checks for this
 * (engine/compact/job.c). The log is synced before the commit, so that no power cut loses writes
 * from before the bulk and keeps the bulk. A capture that waits for its flush
 * (engine/flush/capture.h) comes first.
 *
 * ALL OR NOTHING. Files and their names are synced before one edit of the manifest names all of
 * them. Files of a bulk that crashed earlier are removed by the next opening.
 *
 * THE EMPTY QUALIFIER. HBase sorts family markers among the cells of the empty qualifier, Petal
 * before all columns. So these cells are held back until the row is past its empty qualifier.
 *
 * MEMORY of bulks counts under memory_bytes. While all bulks have more than a quarter of it, the
 * one that continues writes out what its families have buffered, then its held cells. So a bulk
 * keeps beyond that a block and a filter chunk for each family, and LEAST_HELD_BYTES. Its files
 * take descriptors from the pool of those that are read.
 *
 * Threads: a bulk belongs to one thread at a time. Several may work on one table.
 */
#include "base/argument.h"
#include "engine/compact/compactor.h"
#include "engine/flush/flush.h"
#include "engine/options.h"
#include "engine/state/progress.h"
#include "engine/state/read_point.h"
#include "engine/store/change.h"
#include "engine/wal/wal.h"
#include "engine/write/cell.h"
#include "engine/write/pace.h"

#include <inttypes.h>
#include <stdio.h>

/* Most bytes of a row's cells that are held; more are written, and then no family marker of the
 * row may follow. */
#define MOST_HELD_BYTES ((size_t)64 << 20)
/* Held even when memory is short. */
#define LEAST_HELD_BYTES ((size_t)1 << 20)

/* A store's memory is counted again when its bytes have grown by this. */
#define COUNTING_STEP_BYTES ((uint64_t)64 << 10)

#define QUOTE_BYTES 80

/* The next cell of its group must sort after it. */
struct bulk_point {
    bool there;
    int64_t timestamp;
    enum petal_cell_type type;
};

/* A cell of the empty qualifier; its value is in the store's `values`. */
struct held_cell {
    struct cell cell;
    size_t value_at;
};

struct grown {
    uint8_t *bytes;
    size_t size, capacity;
};

/* The part of a bulk that is of one family. */
struct bulk_store {
    petal_family *family;
    struct output output;
    struct output_files files;
    /* The cell before. */
    bool in_row;
    struct grown row, qualifier;
    struct bulk_point column; /* of the row's column at hand */
    struct bulk_point marker; /* of its family markers */
    bool passed_empty;        /* cells of the empty qualifier were written */
    struct held_cell *held;
    size_t held_count, held_capacity;
    struct grown values;
    size_t charged;   /* to the database's memory */
    uint64_t counted; /* bytes held and in the open file, when last charged */
    bool is_chosen;
    uint64_t chosen; /* the least sequence of its cells, as the files say */
};

struct petal_bulk {
    petal_db *db;
    petal_table *table;
    enum petal_bulk_place place;
    uint64_t file_bytes;
    int64_t began_ms;
    uint64_t first; /* the least sequence in the files */
    uint64_t lead;  /* how far ahead of the last one the next is chosen */
    struct bulk_store **stores;
    size_t count, capacity;
    petal_error failure; /* PETAL_OK: none; else nothing is committed */
    bool committed;
    bool unknown; /* whether the manifest names the files */
};

/* How much greater a cell's sequence is than that of the bulk's puts: HBase's order of types. */
static uint64_t
rank(enum petal_cell_type type)
{
    return (uint64_t)(type - PETAL_PUT) / 2;
}

#define RANKS ((uint64_t)(PETAL_DELETE_FAMILY - PETAL_PUT) / 2 + 1)

/* Of cells in files of a bulk; those below it are for searches (sst_reader_shift_sequences). */
#define LEAST_SEQUENCE 1

/* How far ahead of the last sequence one is chosen, and how often as far when that was too near. */
#define FIRST_LEAD  ((uint64_t)1 << 12)
#define LEAD_FACTOR 16
#define MOST_LEAD   (FIRST_LEAD << 28)

/* ---- begin ---- */

enum petal_status
petal_bulk_begin(petal_table *table, const petal_bulk_options *given, petal_bulk **bulk,
                 petal_error *error)
{
    RETURN_IF_NULL(bulk, error);
    *bulk = NULL;
    RETURN_IF_NULL(table, error);

    petal_db *db = table->db;
    petal_bulk_options options;
    petal_bulk *made;
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = options_copy(&options, sizeof options, given, "petal_bulk_options", error);
    if (status == PETAL_OK && options.place > PETAL_BULK_BELOW)
        status = error_set(error, PETAL_INVALID, "place is %d; it must be 0 to %d",
                           (int)options.place, (int)PETAL_BULK_BELOW);
    if (status == PETAL_OK)
        status = db_check_writable(db, error);
    if (status == PETAL_OK)
        status = table_check_alive(table, error);
    if (status != PETAL_OK)
        return status;
    made = mem_zalloc(db->env.allocator, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    made->db = db;
    made->table = table;
    made->file_bytes = options.file_bytes != 0 ? options.file_bytes : db->compact_file_bytes;
    made->began_ms = env_clock_ms(&db->env);
    made->place = options.place;
    made->first = LEAST_SEQUENCE;
    made->lead = FIRST_LEAD;
    if (options.place == PETAL_BULK_ABOVE)
        made->first = atomic_load_explicit(&db->views.published_sequence, memory_order_acquire) + 1;
    atomic_fetch_add_explicit(&db->open.bulk, 1, memory_order_relaxed);
    *bulk = made;
    return PETAL_OK;
}

/* ---- add ---- */

static enum petal_status
make_store(petal_bulk *bulk, petal_family *family, struct bulk_store **store, petal_error *error)
{
    const petal_allocator *allocator = bulk->db->env.allocator;
    enum petal_status status;
    char name[QUOTE_BYTES], table[QUOTE_BYTES];

    if (family->table != bulk->table)
        return error_set(error, PETAL_INVALID, "family %s does not belong to table %s",
                         error_quote(family->name, name, sizeof name),
                         error_quote(bulk->table->name, table, sizeof table));
    status = family_check_writable(family, error);
    if (status != PETAL_OK)
        return status;
    if (!mem_grow_array(allocator, &bulk->stores, &bulk->capacity, bulk->count, bulk->count + 1,
                        sizeof(struct bulk_store *)))
        return error_no_memory(error);
    *store = mem_zalloc(allocator, sizeof **store);
    if (*store == NULL)
        return error_no_memory(error);
    (*store)->family = family;
    (*store)->chosen = bulk->first;
    store_output_init(&(*store)->output, family, FILE_ORIGIN_BULK, bulk->began_ms,
                      &(*store)->files);
    bulk->stores[bulk->count++] = *store;
    return PETAL_OK;
}

/* Made when its first cell comes. */
static enum petal_status
find_store(petal_bulk *bulk, petal_family *family, struct bulk_store **store, petal_error *error)
{
    for (size_t i = bulk->count; i-- > 0;) {
        *store = bulk->stores[i];
        if ((*store)->family == family)
            return PETAL_OK;
    }
    return make_store(bulk, family, store, error);
}

static bool
keep(const petal_bulk *bulk, struct grown *memory, petal_slice bytes)
{
    if (memory->capacity < bytes.size && !mem_grow_array(bulk->db->env.allocator, &memory->bytes,
                                                         &memory->capacity, 0, bytes.size, 1))
        return false;
    if (bytes.size > 0)
        memcpy(memory->bytes, bytes.data, bytes.size);
    memory->size = bytes.size;
    return true;
}

static petal_slice
kept(const struct grown *memory)
{
    return slice_make(memory->bytes, memory->size);
}

static enum petal_status
error_cell(const struct bulk_store *store, const petal_cell *cell, const char *what,
           petal_error *error)
{
    char family[QUOTE_BYTES], row[QUOTE_BYTES], qualifier[QUOTE_BYTES];

    return error_set(error, PETAL_INVALID,
                     "the cell of row %s, column %s:%s, timestamp %" PRId64 ", type %d %s",
                     error_quote(cell->row, row, sizeof row),
                     error_quote(store->family->name, family, sizeof family),
                     error_quote(cell->qualifier, qualifier, sizeof qualifier), cell->timestamp,
                     (int)cell->type, what);
}

static enum petal_status
error_order(const struct bulk_store *store, const petal_cell *cell, bool twice, petal_error *error)
{
    return error_cell(store, cell,
                      twice ? "came twice" : "does not come behind the cell before it in order",
                      error);
}

/* The cell sorts after the one before in its group: by timestamp, then by type, both descending. */
static enum petal_status
follow(const struct bulk_store *store, struct bulk_point *point, const petal_cell *cell,
       petal_error *error)
{
    bool same = point->there && point->timestamp == cell->timestamp;

    if (point->there && (point->timestamp < cell->timestamp || (same && point->type <= cell->type)))
        return error_order(store, cell, same && point->type == cell->type, error);
    *point = (struct bulk_point){true, cell->timestamp, cell->type};
    return PETAL_OK;
}

static struct cell
cell_of(const petal_bulk *bulk, const petal_cell *cell)
{
    return (struct cell){.row = cell->row,
                         .qualifier = cell->qualifier,
                         .value = cell->value,
                         .timestamp = cell->timestamp,
                         .sequence = bulk->first + rank(cell->type),
                         .type = cell->type,
                         .has_ttl = cell->has_ttl,
                         .ttl_ms = cell->ttl_ms};
}

/* Write the held cells. */
static enum petal_status
let_go(struct bulk_store *store, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < store->held_count; i++) {
        struct cell *cell = &store->held[i].cell;

        cell->row = kept(&store->row);
        cell->value = slice_make(store->values.bytes + store->held[i].value_at, cell->value.size);
        status = store_output_add(&store->output, cell, error);
    }
    store->passed_empty = store->passed_empty || store->held_count > 0;
    store->held_count = 0;
    store->values.size = 0;
    return status;
}

static size_t
held_bytes(const struct bulk_store *store)
{
    return store->values.size + store->held_count * sizeof *store->held;
}

static enum petal_status
hold(const petal_bulk *bulk, struct bulk_store *store, const petal_cell *cell, petal_error *error)
{
    const petal_allocator *allocator = bulk->db->env.allocator;
    struct grown *values = &store->values;
    struct cell own = cell_of(bulk, cell);

    if (store->passed_empty)
        return store_output_add(&store->output, &own, error);
    if (!mem_grow_array(allocator, &store->held, &store->held_capacity, store->held_count,
                        store->held_count + 1, sizeof *store->held) ||
        !mem_grow_array(allocator, &values->bytes, &values->capacity, values->size,
                        values->size + cell->value.size + 1, 1))
        return error_no_memory(error);
    own.qualifier = slice_make(NULL, 0);
    store->held[store->held_count++] = (struct held_cell){own, values->size};
    if (cell->value.size > 0)
        memcpy(values->bytes + values->size, cell->value.data, cell->value.size);
    values->size += cell->value.size;
    return held_bytes(store) > MOST_HELD_BYTES ? let_go(store, error) : PETAL_OK;
}

static enum petal_status
begin_row(const petal_bulk *bulk, struct bulk_store *store, petal_slice row, petal_error *error)
{
    enum petal_status status = let_go(store, error);

    if (status == PETAL_OK && store_output_bytes(&store->output) >= bulk->file_bytes)
        status = store_output_end_file(&store->output, error);
    if (status == PETAL_OK && !keep(bulk, &store->row, row))
        status = error_no_memory(error);
    store->in_row = true;
    store->column.there = store->marker.there = store->passed_empty = false;
    return status;
}

static enum petal_status
begin_column(const petal_bulk *bulk, struct bulk_store *store, petal_slice qualifier,
             petal_error *error)
{
    enum petal_status status = let_go(store, error);

    if (status == PETAL_OK && !keep(bulk, &store->qualifier, qualifier))
        status = error_no_memory(error);
    store->column.there = false;
    return status;
}

static enum petal_status
add_marker(const petal_bulk *bulk, struct bulk_store *store, const petal_cell *cell,
           petal_error *error)
{
    struct cell own = cell_of(bulk, cell);
    enum petal_status status;

    if (store->column.there && store->qualifier.size > 0)
        return error_order(store, cell, false, error);
    if (store->passed_empty)
        return error_cell(store, cell,
                          "comes behind more cells of the empty qualifier than are held (64 MiB, "
                          "or what a quarter of memory_bytes has room for): a row's family markers "
                          "may come before all of them",
                          error);
    status = follow(store, &store->marker, cell, error);
    return status == PETAL_OK ? store_output_add(&store->output, &own, error) : status;
}

static enum petal_status
add_to_column(const petal_bulk *bulk, struct bulk_store *store, const petal_cell *cell,
              petal_error *error)
{
    int order = store->column.there ? slice_compare(kept(&store->qualifier), cell->qualifier) : -1;
    enum petal_status status = PETAL_OK;
    struct cell own;

    if (order > 0)
        return error_order(store, cell, false, error);
    if (order < 0)
        status = begin_column(bulk, store, cell->qualifier, error);
    if (status == PETAL_OK)
        status = follow(store, &store->column, cell, error);
    if (status != PETAL_OK)
        return status;
    if (cell->qualifier.size == 0)
        return hold(bulk, store, cell, error);
    own = cell_of(bulk, cell);
    return store_output_add(&store->output, &own, error);
}

/* ---- memory ---- */

static void
charge(const petal_bulk *bulk, struct bulk_store *store)
{
    size_t bytes = sizeof *store + store->row.capacity + store->qualifier.capacity +
                   store->values.capacity + store->held_capacity * sizeof *store->held +
                   store_output_memory(&store->output);

    if (bytes != store->charged)
        memory_budget_bulks(&bulk->db->memory, (int64_t)bytes - (int64_t)store->charged);
    store->charged = bytes;
    store->counted = held_bytes(store) + store_output_bytes(&store->output);
}

static void
free_held(const petal_bulk *bulk, struct bulk_store *store)
{
    const petal_allocator *allocator = bulk->db->env.allocator;

    mem_free(allocator, store->values.bytes, store->values.capacity);
    mem_free(allocator, store->held, store->held_capacity * sizeof *store->held);
    store->values = (struct grown){.bytes = NULL};
    store->held = NULL;
    store->held_count = store->held_capacity = 0;
}

/* Write what is buffered, then held cells, until memory is no longer short. */
static enum petal_status
give_back(const petal_bulk *bulk, petal_error *error)
{
    const struct memory_budget *budget = &bulk->db->memory;
    enum petal_status status = PETAL_OK;

    for (unsigned held = 0; held < 2; held++) {
        for (size_t i = 0; status == PETAL_OK && i < bulk->count; i++) {
            struct bulk_store *store = bulk->stores[i];

            if (!memory_budget_bulks_are_over(budget))
                return PETAL_OK;
            if (held == 0) {
                status = store_output_spill(&store->output, error);
            } else if (held_bytes(store) > LEAST_HELD_BYTES || store->held_count == 0) {
                status = let_go(store, error);
                free_held(bulk, store);
            }
            charge(bulk, store);
        }
    }
    return status;
}

/* The store has grown: charge it, and write out if that is too much. */
static enum petal_status
count_memory(const petal_bulk *bulk, struct bulk_store *store, petal_error *error)
{
    uint64_t bytes = held_bytes(store) + store_output_bytes(&store->output);

    if (store->charged > 0 && bytes >= store->counted &&
        bytes - store->counted < COUNTING_STEP_BYTES)
        return PETAL_OK;
    charge(bulk, store);
    return memory_budget_bulks_are_over(&bulk->db->memory) ? give_back(bulk, error) : PETAL_OK;
}

/* ---- cells ---- */

static enum petal_status
check_cell(const petal_cell *cell, petal_error *error)
{
    enum petal_status status = write_cell_check(cell->row, cell->qualifier, cell->timestamp,
                                                cell->value, cell->type, error);

    if (status == PETAL_OK && cell->timestamp == PETAL_LATEST)
        status = error_set(error, PETAL_INVALID,
                           "a cell that is loaded in bulk needs a timestamp, not PETAL_LATEST");
    if (status == PETAL_OK && cell->type != PETAL_PUT && cell->value.size > 0)
        status =
            error_set(error, PETAL_INVALID,
                      "a deletion has a value of %zu bytes; it must have none", cell->value.size);
    if (status == PETAL_OK)
        status = options_check_ttl(cell->has_ttl, cell->ttl_ms, error);
    return status;
}

static enum petal_status
add(petal_bulk *bulk, petal_family *family, const petal_cell *cell, petal_error *error)
{
    struct bulk_store *store = NULL;
    enum petal_status status;
    int order;

    RETURN_IF_NULL(family, error);
    RETURN_IF_NULL(cell, error);
    status = check_cell(cell, error);
    if (status == PETAL_OK)
        status = find_store(bulk, family, &store, error);
    if (status != PETAL_OK)
        return status;
    order = store->in_row ? slice_compare(kept(&store->row), cell->row) : -1;
    if (order > 0)
        return error_order(store, cell, false, error);
    if (order < 0)
        status = begin_row(bulk, store, cell->row, error);
    if (status != PETAL_OK)
        return status;
    status = cell_is_family_marker(cell->type) ? add_marker(bulk, store, cell, error)
                                               : add_to_column(bulk, store, cell, error);
    return status == PETAL_OK ? count_memory(bulk, store, error) : status;
}

static enum petal_status
error_failed_before(const petal_bulk *bulk, petal_error *error)
{
    if (bulk->committed)
        return error_set(error, PETAL_INVALID, "the bulk is committed already");
    return error_set(error, bulk->failure.status, "the bulk has failed before: %s",
                     bulk->failure.text);
}

/* The first failure is the bulk's. */
static enum petal_status
fail(petal_bulk *bulk, const petal_error *cause, petal_error *error)
{
    bulk->failure = *cause;
    if (error != NULL)
        *error = *cause;
    return cause->status;
}

enum petal_status
petal_bulk_add(petal_bulk *bulk, petal_family *family, const petal_cell *cell, petal_error *error)
{
    RETURN_IF_NULL(bulk, error);

    petal_error cause;

    if (db_enter(bulk->db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (bulk->committed || bulk->failure.status != PETAL_OK)
        return error_failed_before(bulk, error);
    return add(bulk, family, cell, &cause) == PETAL_OK ? PETAL_OK : fail(bulk, &cause, error);
}

/* ---- commit ---- */

/* All files are complete, and so are their names. */
static enum petal_status
end_files(petal_bulk *bulk, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    bool some = false;

    for (size_t i = 0; status == PETAL_OK && i < bulk->count; i++) {
        struct bulk_store *store = bulk->stores[i];

        status = let_go(store, error);
        if (status == PETAL_OK)
            status = store_output_end_file(&store->output, error);
        charge(bulk, store);
        some = some || store->files.count > 0;
    }
    return status == PETAL_OK && some ? db_sync_directory(bulk->db, error) : status;
}

/* Like every writer, a bulk waits while compactions are far behind: its files are runs. */
static enum petal_status
wait_for_room(const petal_bulk *bulk, petal_error *error)
{
    const petal_allocator *allocator = bulk->db->env.allocator;
    struct pace_write pace = {.admitted = 0};
    struct write_cell *cells;
    enum petal_status status;

    if (bulk->count == 0)
        return PETAL_OK;
    cells = mem_zalloc(allocator, bulk->count * sizeof *cells);
    if (cells == NULL)
        return error_no_memory(error);
    for (size_t i = 0; i < bulk->count; i++)
        cells[i].family = bulk->stores[i]->family;
    status = pace_begin(&pace, cells, bulk->count, 0, 0, error);
    if (status == PETAL_OK && pace.admitted > 0)
        pace_end(&pace);
    mem_free(allocator, cells, bulk->count * sizeof *cells);
    return status;
}

static enum petal_status
check_stores(const petal_bulk *bulk, petal_error *error)
{
    enum petal_status status = db_check_writable(bulk->db, error);

    if (status == PETAL_OK)
        status = table_check_alive(bulk->table, error);
    for (size_t i = 0; status == PETAL_OK && i < bulk->count; i++)
        status = family_check_writable(bulk->stores[i]->family, error);
    return status;
}

/* The least sequence in the store, files and memory. */
static uint64_t
least_in_store(const struct store_view *store)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < store->memtable_count; i++) {
        uint64_t own =
            atomic_load_explicit(&store->memtables[i]->sequence_first, memory_order_relaxed);

        least = own != 0 && own < least ? own : least;
    }
    for (uint32_t i = 0; i < store->file_count; i++) {
        if (store->files[i].facts->sequence_min < least)
            least = store->files[i].facts->sequence_min;
    }
    return least;
}

/* The least of the family's stores, or the one after the oldest read point, if that is less: its
 * readers are to see the bulk. LEADER. */
static uint64_t
least_in_family(const petal_bulk *bulk, const petal_family *family)
{
    const struct view *view = atomic_load_explicit(&bulk->db->views.current, memory_order_relaxed);
    const struct region_list *list = view_regions(view, family);
    uint64_t least = read_point_oldest(bulk->db) + 1;

    assert_leads(bulk->db);
    assert_held(&bulk->db->views.mutex);
    for (uint32_t i = 0; i < list->count; i++) {
        uint64_t own = least_in_store(region_at(list, i)->view);

        least = own < least ? own : least;
    }
    return least;
}

/* Where the sequences of the family's cells begin: at least (ABOVE) or at most (BELOW). */
static enum petal_status
find_first(const petal_bulk *bulk, const petal_family *family, uint64_t *first, petal_error *error)
{
    char table[QUOTE_BYTES], name[QUOTE_BYTES];

    *first = bulk->db->writers.last_sequence + 1;
    if (bulk->place == PETAL_BULK_BELOW) {
        uint64_t least = least_in_family(bulk, family);

        if (least < LEAST_SEQUENCE + RANKS)
            return error_set(error, PETAL_INVALID,
                             "there is no room below the oldest cell of %s:%s, whose sequence is "
                             "%" PRIu64 "; petal_compact makes some",
                             error_quote(bulk->table->name, table, sizeof table),
                             error_quote(family->name, name, sizeof name), least);
        *first = least - RANKS;
    }
    return *first < CELL_SEQUENCE_END - RANKS - MOST_LEAD
               ? PETAL_OK
               : error_set(error, PETAL_INVALID, "the database has no sequences left");
}

/* May the family's cells have the sequences that its files record? If not, chooses others, which
 * the files have to record first, and sets *again. */
static enum petal_status
check_sequences(const petal_bulk *bulk, struct bulk_store *store, bool *again, petal_error *error)
{
    bool below = bulk->place == PETAL_BULK_BELOW;
    uint64_t first;
    enum petal_status status = find_first(bulk, store->family, &first, error);

    if (status != PETAL_OK)
        return status;
    /* The sequences in the files are below all, too, but lower than need be. */
    if (below ? store->is_chosen && store->chosen <= first : store->chosen >= first)
        return PETAL_OK;
    store->chosen = below ? first : first + bulk->lead;
    store->is_chosen = true;
    *again = true;
    return PETAL_OK;
}

/* Record the chosen sequences in the files. */
static enum petal_status
shift_files(petal_bulk *bulk, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < bulk->count; i++) {
        struct bulk_store *store = bulk->stores[i];

        status =
            store_output_shift(store->family, &store->files, store->chosen - bulk->first, error);
    }
    if (bulk->lead < MOST_LEAD)
        bulk->lead *= LEAD_FACTOR;
    return status;
}

/* Add the files to their stores. Readers load the view before the sequence, so they see all of the
 * bulk or nothing. *again: nothing was done, other sequences were chosen. LEADER. */
static enum petal_status
enter(petal_bulk *bulk, bool *again, petal_error *error)
{
    petal_db *db = bulk->db;
    /* BELOW takes a number, too: read-modify-writes under way have to read again. */
    uint64_t last = db->writers.last_sequence + RANKS;
    struct change change;
    enum petal_status status = PETAL_OK;

    assert_leads(db);
    assert_held(&db->schema.mutex);
    change_begin(&change, db, 0);
    for (size_t i = 0; status == PETAL_OK && i < bulk->count; i++)
        status = check_sequences(bulk, bulk->stores[i], again, error);
    if (status != PETAL_OK || *again) {
        change_end(&change);
        return status;
    }
    for (size_t i = 0; i < bulk->count; i++) {
        struct bulk_store *store = bulk->stores[i];

        if (bulk->place == PETAL_BULK_ABOVE)
            last = store->chosen + RANKS - 1;
        for (size_t k = 0; k < store->files.count; k++)
            family_note_given(store->family,
                              sst_reader_facts(store->files.files[k]->reader)->time_max);
        change_added(&change, store->family, &store->files);
    }
    /* An edit that lacks it for want of memory is refused. */
    manifest_edit_counters(&change.edit, 0, last, 0);
    status = change_commit(&change, error);
    bulk->unknown = change.unknown;
    if (status == PETAL_OK) {
        db->writers.last_sequence = last;
        if (bulk->place == PETAL_BULK_BELOW)
            atomic_store_explicit(&bulk->table->loaded_below, last, memory_order_relaxed);
        row_locks_note_all(&db->writers.row_locks, last);
        change_publish(&change);
        atomic_store_explicit(&db->views.published_sequence, last, memory_order_release);
    }
    change_end(&change);
    return status;
}

/* Take the lead and enter. Nothing is done if a capture has to be waited for first (*captures), or
 * if the files have to record other sequences (*again). */
static enum petal_status
try_to_enter(petal_bulk *bulk, bool *captures, bool *again, petal_error *error)
{
    petal_db *db = bulk->db;
    struct write_place place;
    /* Most of the log without the leadership. */
    enum petal_status status = wal_sync_all(db, error);

    if (status != PETAL_OK)
        return status;
    /* A commit that is on its way is waited for here, while others may write. */
    mutex_lock(&db->views.mutex);
    mutex_unlock(&db->views.mutex);
    write_lead_alone(&db->writers.queue, &place);
    mutex_lock(&db->schema.mutex);
    status = check_stores(bulk, error);
    if (status == PETAL_OK)
        status = flush_wait_for_captures(db, false, captures, error);
    if (status == PETAL_OK && !*captures)
        status = wal_sync_all(db, error);
    if (status == PETAL_OK && !*captures)
        status = enter(bulk, again, error);
    mutex_unlock(&db->schema.mutex);
    write_lead_end(&db->writers.queue, &place);
    return status;
}

static uint64_t
count_cells(const petal_bulk *bulk)
{
    uint64_t cells = 0;

    for (size_t i = 0; i < bulk->count; i++)
        cells += bulk->stores[i]->files.cells;
    return cells;
}

static void
report(const petal_bulk *bulk)
{
    char table[QUOTE_BYTES], name[QUOTE_BYTES];

    for (size_t i = 0; i < bulk->count; i++) {
        const struct bulk_store *store = bulk->stores[i];

        env_log(&bulk->db->env, PETAL_LOG_INFO,
                "bulk into %s:%s: %" PRIu64 " cells, %" PRIu64 " bytes in %zu files",
                error_quote(bulk->table->name, table, sizeof table),
                error_quote(store->family->name, name, sizeof name), store->files.cells,
                store->files.bytes, store->files.count);
    }
}

static enum petal_status
commit(petal_bulk *bulk, petal_error *error)
{
    bool again = true;
    enum petal_status status = end_files(bulk, error);

    if (status == PETAL_OK && count_cells(bulk) == 0)
        return check_stores(bulk, error);
    if (status == PETAL_OK)
        status = wait_for_room(bulk, error);
    while (status == PETAL_OK && again) {
        bool captures = false;

        again = false;
        status = try_to_enter(bulk, &captures, &again, error);
        if (status == PETAL_OK && again)
            status = shift_files(bulk, error);
        if (status == PETAL_OK && captures) {
            status = flush_wait_for_captures(bulk->db, true, &captures, error);
            again = true;
        }
    }
    if (status != PETAL_OK)
        return status;
    db_collect(bulk->db);
    compactor_wake(bulk->db);
    report(bulk);
    return PETAL_OK;
}

enum petal_status
petal_bulk_commit(petal_bulk *bulk, petal_error *error)
{
    RETURN_IF_NULL(bulk, error);

    petal_error cause;

    if (db_enter(bulk->db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (bulk->committed || bulk->failure.status != PETAL_OK)
        return error_failed_before(bulk, error);
    if (commit(bulk, &cause) != PETAL_OK)
        return fail(bulk, &cause, error);
    bulk->committed = true;
    return PETAL_OK;
}

/* ---- free ---- */

static void
free_store(const petal_bulk *bulk, struct bulk_store *store)
{
    const petal_allocator *allocator = bulk->db->env.allocator;

    store_output_fini(&store->output);
    store_output_files_fini(&store->files, allocator, !bulk->committed && !bulk->unknown);
    mem_free(allocator, store->row.bytes, store->row.capacity);
    mem_free(allocator, store->qualifier.bytes, store->qualifier.capacity);
    free_held(bulk, store);
    memory_budget_bulks(&bulk->db->memory, -(int64_t)store->charged);
    mem_free(allocator, store, sizeof *store);
}

void
petal_bulk_free(petal_bulk *bulk)
{
    petal_db *db;

    if (bulk == NULL || db_is_of_another_process(bulk->db))
        return; /* the files are the parent's */
    db = bulk->db;
    for (size_t i = 0; i < bulk->count; i++)
        free_store(bulk, bulk->stores[i]);
    mem_free(db->env.allocator, bulk->stores, bulk->capacity * sizeof(struct bulk_store *));
    mem_free(db->env.allocator, bulk, sizeof *bulk);
    atomic_fetch_sub_explicit(&db->open.bulk, 1, memory_order_release);
}
