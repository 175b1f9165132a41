/* memtable.c -- see memtable.h. */
#include "memtable/memtable.h"

#include "base/coding.h"
#include "base/error.h"
#include "base/inline.h"
#include "bloom/growing.h"
#include "memtable/arena.h"

#include <assert.h>

/* Class bytes and terminators of a key, in addition to escaped row and qualifier (base/cell.h). */
#define COLUMN_KEY_BYTES (4 + CELL_KEY_SUFFIX_BYTES)
#define FAMILY_KEY_BYTES (2 + CELL_KEY_SUFFIX_BYTES)

struct memtable {
    const petal_allocator *allocator;
    struct arena arena;
    struct cell_tree tree;
    struct bloom_growing rows;
    _Atomic(size_t) bloom_bytes; /* held by it */
    _Atomic(uint64_t) cells;
    _Atomic(int64_t) time_max;
    /* The writer's own: */
    uint64_t sequence_min, sequence_max;
    const struct cell_record *prepared; /* NULL: none */
    uint64_t prepared_sequence;
};

enum petal_status
memtable_new(struct memtable **memtable, const petal_allocator *allocator)
{
    struct memtable *made = mem_alloc(allocator, sizeof *made);

    *memtable = made;
    if (made == NULL)
        return PETAL_NO_MEMORY;
    made->allocator = allocator;
    arena_init(&made->arena, allocator);
    cell_tree_init(&made->tree, &made->arena);
    bloom_growing_init(&made->rows);
    atomic_init(&made->bloom_bytes, 0);
    atomic_init(&made->cells, 0);
    atomic_init(&made->time_max, INT64_MIN);
    made->sequence_min = UINT64_MAX;
    made->sequence_max = 0;
    made->prepared = NULL;
    return PETAL_OK;
}

void
memtable_free(struct memtable *memtable)
{
    void *segment;
    size_t bytes;

    if (memtable == NULL)
        return;
    while ((segment = bloom_growing_take_back(&memtable->rows, &bytes)) != NULL)
        mem_free(memtable->allocator, segment, bytes);
    arena_fini(&memtable->arena);
    mem_free(memtable->allocator, memtable, sizeof *memtable);
}

/*
 * Make sure of arena memory for records of together `bytes` bytes, each rounded up, and their
 * places in tree and Bloom filter.
 */
static bool
reserve(struct memtable *memtable, size_t cell_count, size_t bytes, bool *grown)
{
    size_t tree_bytes = cell_tree_insert_bytes(&memtable->tree, cell_count);
    size_t wanted = bloom_growing_wants(&memtable->rows, cell_count), replaced, held;
    void *segment;

    *grown = false;
    if (tree_bytes > SIZE_MAX / 2 || bytes > SIZE_MAX / 2 || wanted == SIZE_MAX)
        return false;
    if (!arena_has_room(&memtable->arena, tree_bytes + bytes)) {
        *grown = true;
        if (!arena_reserve(&memtable->arena, tree_bytes + bytes))
            return false;
    }
    if (wanted == 0)
        return true;
    *grown = true;
    segment = mem_alloc_aligned(memtable->allocator, BLOOM_GROWING_ALIGNMENT, wanted);
    if (segment == NULL)
        return false;
    segment = bloom_growing_give(&memtable->rows, segment, wanted, &replaced);
    mem_free(memtable->allocator, segment, replaced);
    held = atomic_load_explicit(&memtable->bloom_bytes, memory_order_relaxed);
    atomic_store_explicit(&memtable->bloom_bytes, held + wanted - replaced, memory_order_relaxed);
    return true;
}

static size_t
record_bytes(const struct cell_record *record)
{
    size_t extra = (record->flags & CELL_RECORD_HAS_TTL) != 0 ? CELL_RECORD_TTL_BYTES : 0;

    return sizeof *record + record->key_bytes + record->value_bytes + extra;
}

/* Drop the cell prepared for a write that then failed.  Otherwise each try on a full disk would
 * take memory. */
static void
give_up_prepared(struct memtable *memtable)
{
    cell_tree_turn_back(&memtable->tree);
    arena_return_record(&memtable->arena, memtable->prepared, record_bytes(memtable->prepared));
    memtable->prepared = NULL;
}

enum petal_status
memtable_reserve(struct memtable *memtable, size_t cell_count, size_t bytes, bool *grown)
{
    bool ignored;
    size_t overhead = sizeof(struct cell_record) + cell_key_bound(0, 0) + CELL_RECORD_TTL_BYTES +
                      ARENA_RECORD_ALIGNMENT;

    if (grown == NULL)
        grown = &ignored;
    *grown = false;
    if (memtable->prepared != NULL)
        give_up_prepared(memtable);
    if (cell_count > SIZE_MAX / 8 / overhead || bytes > SIZE_MAX / 8 ||
        !reserve(memtable, cell_count, cell_count * overhead + 2 * bytes, grown))
        return PETAL_NO_MEMORY;
    return PETAL_OK;
}

/* REQUIRES: reserved. */
static ALWAYS_INLINE const struct cell_record *
record_new(struct arena *arena, const struct cell *cell, size_t bound)
{
    struct cell_record *record = arena_take_record(arena, bound);
    bool family = cell_is_family_marker(cell->type);
    size_t plain =
        cell->row.size + (family ? FAMILY_KEY_BYTES : cell->qualifier.size + COLUMN_KEY_BYTES);
    size_t row_prefix, key_bytes = cell_key_encode(record->bytes, cell, &row_prefix);
    uint8_t *to = record->bytes + key_bytes;

    assert(row_prefix <= UINT16_MAX && key_bytes >= plain);
    record->key_bytes = (uint32_t)key_bytes;
    record->value_bytes = (uint32_t)cell->value.size;
    record->row_prefix = (uint16_t)row_prefix;
    record->type = (uint8_t)cell->type;
    record->flags = key_bytes != plain ? CELL_RECORD_ESCAPED : 0;
    if (cell->value.size > 0)
        memcpy(to, cell->value.data, cell->value.size);
    to += cell->value.size;
    if (cell->has_ttl) {
        record->flags |= CELL_RECORD_HAS_TTL;
        put_le64(to, (uint64_t)cell->ttl_ms);
        to += CELL_RECORD_TTL_BYTES;
    }
    arena_trim_record(arena, record, (size_t)(to - (uint8_t *)record));
    return record;
}

static size_t
record_bound(const struct cell *cell)
{
    assert(cell->row.size > 0 && cell->row.size <= PETAL_MAX_ROW_BYTES);
    assert(cell->qualifier.size <= PETAL_MAX_QUALIFIER_BYTES && cell->value.size <= UINT32_MAX);
    assert(cell_type_valid(cell->type));
    return sizeof(struct cell_record) + cell_key_bound(cell->row.size, cell->qualifier.size) +
           cell->value.size + (cell->has_ttl ? CELL_RECORD_TTL_BYTES : 0);
}

void
memtable_prepare(struct memtable *memtable, const struct cell *cell, uint64_t row_hash)
{
    assert(memtable->prepared == NULL);
    bloom_growing_prefetch(&memtable->rows, row_hash);
    memtable->prepared = record_new(&memtable->arena, cell, record_bound(cell));
    memtable->prepared_sequence = cell->sequence;
    cell_tree_approach(&memtable->tree, memtable->prepared);
}

/* Is there room for one more cell, with a record of up to `bound` bytes, where the current chunks
 * are? */
static inline bool
has_room(const struct memtable *memtable, size_t bound)
{
    return arena_has_room(&memtable->arena, cell_tree_insert_one_bytes(&memtable->tree) +
                                                arena_record_bytes(bound)) &&
           bloom_growing_has_room(&memtable->rows);
}

bool
memtable_has_room(const struct memtable *memtable, const struct cell *cell)
{
    return memtable->prepared == NULL && has_room(memtable, record_bound(cell));
}

/* A record for a cell that was not prepared; NULL: no memory. */
static NEVER_INLINE const struct cell_record *
record_unprepared(struct memtable *memtable, const struct cell *cell)
{
    size_t bound = record_bound(cell);
    bool grown;

    if (memtable->prepared != NULL)
        give_up_prepared(memtable);
    if (!has_room(memtable, bound) && !reserve(memtable, 1, arena_record_bytes(bound), &grown))
        return NULL;
    return record_new(&memtable->arena, cell, bound);
}

enum petal_status
memtable_add(struct memtable *memtable, const struct cell *cell, uint64_t row_hash)
{
    uint64_t cells = atomic_load_explicit(&memtable->cells, memory_order_relaxed);
    const struct cell_record *record = memtable->prepared;

    assert(cell->sequence > 0);
    if (record == NULL || memtable->prepared_sequence != cell->sequence) {
        record = record_unprepared(memtable, cell);
        if (record == NULL)
            return PETAL_NO_MEMORY;
    }
    memtable->prepared = NULL;
    bloom_growing_add(&memtable->rows, row_hash);
    cell_tree_insert(&memtable->tree, record);
    if (cell->sequence < memtable->sequence_min)
        memtable->sequence_min = cell->sequence;
    if (cell->sequence > memtable->sequence_max)
        memtable->sequence_max = cell->sequence;
    if (cell->timestamp > atomic_load_explicit(&memtable->time_max, memory_order_relaxed))
        atomic_store_explicit(&memtable->time_max, cell->timestamp, memory_order_relaxed);
    atomic_store_explicit(&memtable->cells, cells + 1, memory_order_relaxed);
    return PETAL_OK;
}

bool
memtable_may_contain_row(const struct memtable *memtable, uint64_t row_hash)
{
    return bloom_growing_may_contain(&memtable->rows, row_hash);
}

size_t
memtable_bytes(const struct memtable *memtable)
{
    return arena_bytes(&memtable->arena) +
           atomic_load_explicit(&memtable->bloom_bytes, memory_order_relaxed);
}

void
memtable_facts(const struct memtable *memtable, struct memtable_facts *facts)
{
    facts->cells = atomic_load_explicit(&memtable->cells, memory_order_relaxed);
    facts->sequence_min = memtable->sequence_min;
    facts->sequence_max = memtable->sequence_max;
    facts->time_max = memtable_time_max(memtable);
}

int64_t
memtable_time_max(const struct memtable *memtable)
{
    return atomic_load_explicit(&memtable->time_max, memory_order_relaxed);
}

uint64_t
memtable_count(const struct memtable *memtable)
{
    return atomic_load_explicit(&memtable->cells, memory_order_relaxed);
}

bool
memtable_is_empty(const struct memtable *memtable)
{
    return memtable_count(memtable) == 0;
}

/* ---- Iterator --------------------------------------------------------------------- */

static bool
scratch_reserve(struct memtable_iter *iter, size_t bytes)
{
    const petal_allocator *allocator = iter->memtable->allocator;
    uint8_t *scratch;

    if (iter->scratch_bytes >= bytes)
        return true;
    scratch = mem_alloc(allocator, bytes);
    if (scratch == NULL)
        return false;
    mem_free(allocator, iter->scratch, iter->scratch_bytes);
    iter->scratch = scratch;
    iter->scratch_bytes = bytes;
    return true;
}

/* Row and qualifier where they stand in the key. */
static void
take_plain_parts(const struct cell_record *record, struct cell *cell)
{
    size_t row_prefix = record->row_prefix;

    cell->row = slice_make(record->bytes, row_prefix - 1);
    if (cell_is_family_marker(cell->type))
        cell->qualifier = slice_make(NULL, 0);
    else
        cell->qualifier = slice_make(record->bytes + row_prefix + 1,
                                     record->key_bytes - (row_prefix - 1) - COLUMN_KEY_BYTES);
}

static bool
take_escaped_parts(struct memtable_iter *iter, const struct cell_record *record)
{
    struct cell_key key;
    bool parsed;

    if (!scratch_reserve(iter, record->key_bytes))
        return false;
    parsed = cell_key_parse(cell_record_key(record), iter->scratch, &key);
    assert(parsed); /* memtable_add made it */
    (void)parsed;
    iter->iter.cell.row = key.row;
    iter->iter.cell.qualifier = key.qualifier;
    return true;
}

/* What few cells have: bytes that were escaped, a time to live of their own. */
static bool
take_extras(struct memtable_iter *iter, const struct cell_record *record)
{
    struct cell *cell = &iter->iter.cell;

    cell->has_ttl = (record->flags & CELL_RECORD_HAS_TTL) != 0;
    cell->ttl_ms = cell->has_ttl
                       ? (int64_t)get_le64(record->bytes + record->key_bytes + record->value_bytes)
                       : 0;
    if ((record->flags & CELL_RECORD_ESCAPED) != 0)
        return take_escaped_parts(iter, record);
    take_plain_parts(record, cell);
    return true;
}

/* Show the cell at the position. */
static enum petal_status
show(struct memtable_iter *iter, petal_error *error)
{
    struct cell *cell = &iter->iter.cell;
    const struct cell_record *record;
    const uint8_t *suffix;

    iter->iter.valid = false;
    if (iter->position.leaf == NULL)
        return PETAL_OK;
    record = cell_tree_record(&iter->position);
    suffix = record->bytes + record->key_bytes - CELL_KEY_SUFFIX_BYTES;
    cell->type = (enum petal_cell_type)record->type;
    cell->timestamp = (int64_t)(~get_be64(suffix) ^ (uint64_t)1 << 63);
    cell->sequence = ~get_be64(suffix + 8);
    cell->value = slice_make(record->bytes + record->key_bytes, record->value_bytes);
    /* The second: to forget the time to live of the cell before. */
    if ((record->flags | cell->has_ttl) == 0)
        take_plain_parts(record, cell);
    else if (!take_extras(iter, record))
        return error_no_memory(error);
    iter->iter.valid = true;
    return PETAL_OK;
}

static enum petal_status
iter_seek(struct cell_iter *base, const struct cell_key *key, petal_error *error)
{
    struct memtable_iter *iter = (struct memtable_iter *)base;

    cell_tree_seek(&iter->memtable->tree, key->encoded, &iter->position);
    return show(iter, error);
}

static enum petal_status
iter_seek_first(struct cell_iter *base, petal_error *error)
{
    struct memtable_iter *iter = (struct memtable_iter *)base;

    cell_tree_seek_first(&iter->memtable->tree, &iter->position);
    return show(iter, error);
}

static enum petal_status
iter_seek_before(struct cell_iter *base, const struct cell_key *key, petal_error *error)
{
    struct memtable_iter *iter = (struct memtable_iter *)base;

    if (key != NULL)
        cell_tree_seek_before(&iter->memtable->tree, key->encoded, &iter->position);
    else
        cell_tree_seek_last(&iter->memtable->tree, &iter->position);
    return show(iter, error);
}

static enum petal_status
iter_next(struct cell_iter *base, petal_error *error)
{
    struct memtable_iter *iter = (struct memtable_iter *)base;

    assert(base->valid);
    cell_tree_next(&iter->position);
    return show(iter, error);
}

/* What has to be unescaped is left to iter_next: it may need memory, and takes that of the cell
 * before. */
static bool
iter_step(struct cell_iter *base)
{
    struct memtable_iter *iter = (struct memtable_iter *)base;
    struct cell_tree_position next = iter->position;

    assert(base->valid);
    cell_tree_next(&next);
    if (next.leaf == NULL || (cell_tree_record(&next)->flags & CELL_RECORD_ESCAPED) != 0)
        return false;
    iter->position = next;
    (void)show(iter, NULL); /* only unescaping can fail */
    return true;
}

/* ---- runs ---- */

/* So many versions of a column are passed over, before the rest is left to a seek. */
#define MOST_PASSED STEPS_BEFORE_SEEK

/* Do two keys share their first `bytes` bytes?  Those that differ mostly do so at the end. */
static inline bool
share_beginning(const struct cell_record *a, const struct cell_record *b, size_t bytes)
{
    if (bytes >= 8 && get_be64(a->bytes + bytes - 8) != get_be64(b->bytes + bytes - 8))
        return false;
    return memcmp(a->bytes, b->bytes, bytes) == 0;
}

static inline bool
same_column(const struct cell_record *a, const struct cell_record *b)
{
    return a->key_bytes == b->key_bytes &&
           share_beginning(a, b, a->key_bytes - CELL_KEY_SUFFIX_BYTES);
}

static inline bool
same_row(const struct cell_record *a, const struct cell_record *b)
{
    return a->row_prefix == b->row_prefix && share_beginning(a, b, a->row_prefix);
}

/* Give the record's cell, if it is one for the run. */
static inline bool
give_record(const struct cell_record *record, const struct cell_record *last,
            const struct cell_run *run, petal_cell *given)
{
    const uint8_t *suffix = record->bytes + record->key_bytes - CELL_KEY_SUFFIX_BYTES;
    int64_t timestamp = (int64_t)(~get_be64(suffix) ^ (uint64_t)1 << 63);
    size_t row_prefix = record->row_prefix;
    petal_slice row = slice_make(record->bytes, row_prefix - 1);

    if (timestamp < run->time_min || timestamp >= run->time_limit)
        return false;
    if (run->before.size > 0 && (last == NULL || !same_row(last, record)) &&
        slice_compare(row, run->before) >= 0)
        return false;
    given->family = run->family;
    given->row = row;
    given->qualifier = slice_make(record->bytes + row_prefix + 1,
                                  record->key_bytes - (row_prefix - 1) - COLUMN_KEY_BYTES);
    given->value = slice_make(record->bytes + record->key_bytes, record->value_bytes);
    given->timestamp = timestamp;
    given->type = PETAL_PUT;
    given->has_ttl = false;
    given->ttl_ms = 0;
    return true;
}

/* Cells above the read point are passed over, but not in front of the first. */
static size_t
iter_take_run(struct cell_iter *base, struct cell_run *run)
{
    struct memtable_iter *iter = (struct memtable_iter *)base;
    struct cell_tree_position at = iter->position;
    const struct cell_record *last = NULL;
    size_t count = 0;
    unsigned passed = 0;

    assert(base->valid);
    iter->run_start = at;
    run->row_changes = 0;
    for (; at.leaf != NULL && count < run->most; cell_tree_next(&at)) {
        const struct cell_record *record = cell_tree_record(&at);
        bool above = ~get_be64(record->bytes + record->key_bytes - 8) > run->read_point;

        if (above && last != NULL)
            continue;
        if (above || record->type != PETAL_PUT || record->flags != 0)
            break;
        if (last != NULL && same_column(last, record)) {
            if (!run->one_version || ++passed == MOST_PASSED)
                break;
            continue;
        }
        if (!give_record(record, last, run, &run->cells[count]))
            break;
        run->row_changes += last != NULL && !same_row(last, record);
        last = record;
        passed = 0;
        count++;
        iter->position = at;
    }
    if (count > 0)
        (void)show(iter, NULL); /* only unescaping can fail */
    return count;
}

static void
iter_go_back(struct cell_iter *base, size_t back, const petal_cell *cell)
{
    struct memtable_iter *iter = (struct memtable_iter *)base;
    struct cell_tree_position at = iter->run_start;
    const struct cell_record *record = cell_tree_record(&at);

    (void)back; /* cells may have come in between meanwhile */
    while (record->bytes + record->key_bytes != cell->value.data) {
        cell_tree_next(&at);
        record = cell_tree_record(&at);
    }
    iter->position = at;
    (void)show(iter, NULL);
}

static void
iter_close(struct cell_iter *base)
{
    struct memtable_iter *iter = (struct memtable_iter *)base;

    mem_free(iter->memtable->allocator, iter->scratch, iter->scratch_bytes);
    iter->scratch = NULL;
    iter->scratch_bytes = 0;
    base->valid = false;
}

void
memtable_iter_init(struct memtable_iter *iter, const struct memtable *memtable)
{
    static const struct cell_iter_ops ops = {
        .seek = iter_seek,
        .seek_first = iter_seek_first,
        .seek_before = iter_seek_before,
        .next = iter_next,
        .step = iter_step,
        .take_run = iter_take_run,
        .go_back = iter_go_back,
        .close = iter_close,
    };

    iter->iter.ops = &ops;
    iter->iter.valid = false;
    iter->iter.pending = false; /* always */
    iter->iter.cell.has_ttl = false;
    iter->iter.cell.ttl_ms = 0;
    iter->memtable = memtable;
    iter->position.leaf = NULL;
    iter->scratch = NULL;
    iter->scratch_bytes = 0;
}
