/* sst_walk.c -- see sst_walk.h. */
#include "sstable/sst_walk.h"

#include "base/coding.h"
#include "bloom/bloom.h"
#include "sstable/sst_reader_parts.h"

#include <assert.h>
#include <inttypes.h>

#define WINDOW_BYTES ((size_t)1 << 20)
#define CACHE_FACTOR 4    /* the cache may have so many times the window */
#define SECTOR_BYTES 4096 /* given up at once where reading fails */
/* The search for the next block may check so many bytes, and so many times those of the file. */
#define SEARCH_BYTES  ((uint64_t)256 << 20)
#define SEARCH_FACTOR 4

/* Bytes of the walk's own. */
struct own_bytes {
    uint8_t *bytes;
    size_t size, capacity;
};

struct sst_walk {
    const struct env *env;
    struct epoch *epoch;
    struct cache *cache;
    struct sst_reader *reader; /* NULL: it cannot be opened, for that: */
    petal_error opening;
    struct pooled_file pooled;
    struct block_source source;
    char *path;
    size_t path_bytes;
    uint64_t file_bytes;
    uint64_t stated_shift;
    uint64_t offset;         /* of the next step */
    uint64_t search_left;    /* bytes that may still be checked in search of a block */
    size_t window_bytes;     /* read at once; more where a block is longer */
    struct own_bytes window; /* what was read, from window_offset on */
    uint64_t window_offset;
    struct own_bytes raw;

    /* The index, whose entries come along with the data blocks. */
    struct index_cursor cursor;
    struct read_trace trace;
    bool has_index;
    enum sst_walk_named named;
    uint32_t begins;
    petal_error fault;     /* of the index */
    petal_error left_over; /* status OK: there is none */
    petal_error stop;      /* want of something, which says nothing of the file; likewise */
    petal_error passed;    /* a read that failed and succeeded when it was tried again; likewise */
    struct own_bytes from, to;
    struct own_bytes key, key_scratch;

    /* Without an index: the last row of the data block before, and damage that waits for the first
     * row of the one after. */
    struct data_block_cursor cells;
    struct own_bytes last_row;
    bool has_last_row;
    struct sst_walk_step damage; /* event END: none waits */
    struct sst_walk_step held;   /* the block that it was found before; event END: none */
};

/* ---- memory ---- */

static bool
own_reserve(const struct sst_walk *walk, struct own_bytes *own, size_t size)
{
    return size <= own->capacity ||
           mem_grow_array(walk->env->allocator, &own->bytes, &own->capacity, own->size, size, 1);
}

static bool
own_copy(const struct sst_walk *walk, struct own_bytes *own, petal_slice bytes)
{
    own->size = 0;
    if (!own_reserve(walk, own, bytes.size + 1))
        return false;
    if (bytes.size > 0)
        memcpy(own->bytes, bytes.data, bytes.size);
    own->size = bytes.size;
    return true;
}

static void
own_free(const struct sst_walk *walk, struct own_bytes *own)
{
    mem_free(walk->env->allocator, own->bytes, own->capacity);
}

static petal_slice
own_slice(const struct own_bytes *own)
{
    return slice_make(own->bytes, own->size);
}

/* ---- reading ---- */

/* What could not be had for want of descriptors or memory may be whole: the walk ends. */
static void
stop_in_want(struct sst_walk *walk, const petal_error *error)
{
    if (error_passes(error))
        walk->stop = *error;
}

/* Have `size` bytes at `offset` in memory; NULL: they cannot be read, as *error says. */
static const uint8_t *
window_read(struct sst_walk *walk, uint64_t offset, size_t size, petal_error *error)
{
    struct own_bytes *window = &walk->window;
    size_t wanted = size > walk->window_bytes ? size : walk->window_bytes;

    assert(offset <= walk->source.limit && size <= walk->source.limit - offset);
    if (window->size > 0 && offset >= walk->window_offset &&
        offset - walk->window_offset <= window->size &&
        size <= window->size - (size_t)(offset - walk->window_offset))
        return window->bytes + (offset - walk->window_offset);
    if (wanted > walk->source.limit - offset)
        wanted = (size_t)(walk->source.limit - offset);
    window->size = 0;
    if (!own_reserve(walk, window, wanted + 1)) {
        error_no_memory(error);
        return NULL;
    }
    if (block_source_read(&walk->source, offset, window->bytes, wanted, error) != PETAL_OK) {
        /* Perhaps what is asked for is readable alone. */
        stop_in_want(walk, error);
        wanted = size;
        walk->passed = *error;
        if (block_source_read(&walk->source, offset, window->bytes, wanted, error) != PETAL_OK) {
            stop_in_want(walk, error);
            return NULL;
        }
    }
    window->size = wanted;
    walk->window_offset = offset;
    return window->bytes;
}

/* ---- one block ---- */

static bool
check_node(const struct sst_walk *walk, const struct block_frame *frame, bool *no_memory)
{
    size_t bytes = index_block_memory(walk->raw.bytes, frame->raw_bytes, frame->entries);
    struct index_block node;
    uint8_t *memory;
    bool whole;

    if (bytes == 0)
        return false;
    memory = mem_alloc_aligned(walk->env->allocator, CACHE_LINE_BYTES, bytes);
    *no_memory = memory == NULL;
    if (memory == NULL)
        return false;
    whole = index_block_make(&node, walk->raw.bytes, frame->raw_bytes, memory);
    mem_free(walk->env->allocator, memory, bytes);
    return whole;
}

static bool
check_facts(const struct sst_walk *walk, const struct block_frame *frame, bool *no_memory)
{
    struct file_facts facts;
    const char *what;
    enum petal_status status = facts_decode(&facts, slice_make(walk->raw.bytes, frame->raw_bytes),
                                            walk->env->allocator, &what);

    facts_fini(&facts, walk->env->allocator);
    *no_memory = status == PETAL_NO_MEMORY;
    return status == PETAL_OK;
}

/* Of decoded bytes, their whole structure. */
static bool
check_structure(const struct sst_walk *walk, const struct block_frame *frame, bool *no_memory)
{
    struct data_block data;
    struct bloom_filter filter;
    bool is_node = frame->kind == BLOCK_DATA_INDEX || frame->kind == BLOCK_BLOOM_INDEX;

    if (!is_node && frame->entries != 0)
        return false;
    switch (frame->kind) {
    case BLOCK_DATA:
        return data_block_check(&data, walk->raw.bytes, frame->raw_bytes);
    case BLOCK_BLOOM:
        return bloom_open(&filter, walk->raw.bytes, frame->raw_bytes);
    case BLOCK_FACTS:
        return check_facts(walk, frame, no_memory);
    default:
        return check_node(walk, frame, no_memory);
    }
}

/*
 * The block at `offset` with a right checksum: PETAL_OK, or why there is none; what it holds may be
 * malformed. handle->size: how long it is, as far as its frame says so; 0: that is none. `budget`
 * (may be NULL) are bytes that may be checked, fewer by those of this block then.
 */
static enum petal_status
read_image(struct sst_walk *walk, uint64_t offset, uint64_t *budget, struct block_handle *handle,
           struct block_image *image, petal_error *error)
{
    const struct block_source *source = &walk->source;
    struct block_handle named = {.offset = offset};
    struct block_frame frame;
    const uint8_t *from;
    petal_error cause;
    enum petal_status status;

    *handle = named;
    assert(offset < source->limit);
    if (source->limit - offset <= BLOCK_FRAME_BYTES)
        return error_corrupt(error, source->path, offset,
                             "%" PRIu64 " bytes at offset %" PRIu64 " belong to no block",
                             source->limit - offset, offset);
    from = window_read(walk, offset, BLOCK_FRAME_BYTES, &cause);
    if (from == NULL)
        return error_copy(error, &cause);
    if (!block_frame_decode(&frame, from))
        return error_corrupt(error, source->path, offset, "no block begins at offset %" PRIu64,
                             offset);
    named.size = BLOCK_FRAME_BYTES + frame.stored_bytes;
    status = block_handle_check(source, named, frame.kind, error);
    if (status != PETAL_OK)
        return status;
    if (budget != NULL && named.size > *budget)
        return PETAL_NOT_FOUND;
    if (budget != NULL)
        *budget -= named.size;
    *handle = named;
    from = window_read(walk, offset, named.size, &cause);
    return from != NULL ? block_verify(source, named, frame.kind, from, image, error)
                        : error_copy(error, &cause);
}

/* The block at `offset`: PETAL_OK and *step, or why there is none. *bytes: as handle->size of
 * read_image. */
static enum petal_status
take_block(struct sst_walk *walk, uint64_t offset, struct sst_walk_step *step, uint64_t *bytes,
           petal_error *error)
{
    const struct block_frame *frame;
    struct block_handle handle;
    struct block_image image;
    bool no_memory = false;
    enum petal_status status = read_image(walk, offset, NULL, &handle, &image, error);

    *bytes = handle.size;
    if (status != PETAL_OK)
        return status;
    frame = &image.frame;
    walk->raw.size = 0;
    if (!own_reserve(walk, &walk->raw, (size_t)frame->raw_bytes + 1))
        return error_no_memory(error);
    if (!block_image_decode(&image, walk->raw.bytes) || !check_structure(walk, frame, &no_memory))
        return no_memory ? error_no_memory(error)
                         : block_error_malformed(&walk->source, handle, frame->kind, error);
    *step = (struct sst_walk_step){
        .event = SST_WALK_BLOCK,
        .offset = offset,
        .bytes = handle.size,
        .kind = frame->kind,
        .codec = (uint8_t)frame->codec,
        .entries = frame->entries,
        .raw = walk->raw.bytes,
        .raw_bytes = frame->raw_bytes,
    };
    return PETAL_OK;
}

/* ---- the search for the next block ---- */

/* Whether a block with a right checksum begins there; it may be malformed. */
static bool
begins_block(struct sst_walk *walk, uint64_t offset)
{
    struct block_handle handle;
    struct block_image image;

    return read_image(walk, offset, &walk->search_left, &handle, &image, NULL) == PETAL_OK;
}

/* Where the bytes that are no block, from the walk's offset on, end. `bytes`: how long the block
 * that stood there seems to be; 0: that is not known. */
static uint64_t
end_of_damage(struct sst_walk *walk, uint64_t bytes)
{
    uint64_t limit = walk->source.limit, at = walk->offset;

    if (bytes > 0 && (at + bytes == limit || begins_block(walk, at + bytes)))
        return at + bytes;
    for (at++; at < limit; at++) {
        petal_error ignored;

        if (walk->search_left == 0 || limit - at <= BLOCK_FRAME_BYTES)
            return limit;
        if (window_read(walk, at, BLOCK_FRAME_BYTES, &ignored) == NULL) {
            at += SECTOR_BYTES - at % SECTOR_BYTES - 1;
            continue;
        }
        if (begins_block(walk, at))
            return at;
    }
    return limit;
}

/* ---- the index ---- */

/* From here on it cannot be used. */
static void
lose_index(struct sst_walk *walk, const petal_error *why)
{
    index_cursor_release(&walk->cursor);
    walk->has_index = false;
    walk->fault = *why;
    stop_in_want(walk, why);
}

/* Would a search come to the entry at hand, and believe of its block what the entry says? */
static enum petal_status
check_levels(const struct sst_walk *walk, petal_error *error)
{
    uint64_t offset;

    if (!index_cursor_valid(&walk->cursor) || index_cursor_levels_agree(&walk->cursor))
        return PETAL_OK;
    offset = index_cursor_place(&walk->cursor).handle.offset;
    return error_corrupt(error, walk->path, offset,
                         "the levels of the index disagree on the data block at offset %" PRIu64,
                         offset);
}

static void
index_begin(struct sst_walk *walk)
{
    struct read_context context = {.trace = &walk->trace};
    enum petal_status status;
    petal_error error;

    if (walk->reader == NULL)
        return;
    walk->has_index = true;
    index_cursor_init(&walk->cursor, &walk->reader->index, true);
    status = index_cursor_first(&walk->cursor, &context, &error);
    if (status == PETAL_OK)
        status = check_levels(walk, &error);
    if (status != PETAL_OK)
        lose_index(walk, &error);
}

static bool
index_has_entry(const struct sst_walk *walk)
{
    return walk->has_index && index_cursor_valid(&walk->cursor);
}

/* REQUIRES: there is an entry. */
static struct block_handle
index_handle(struct sst_walk *walk)
{
    return index_cursor_place(&walk->cursor).handle;
}

static void
index_step(struct sst_walk *walk)
{
    struct read_context context = {.trace = &walk->trace};
    struct block_handle before = index_handle(walk);
    petal_error error = {.status = PETAL_OK};
    enum petal_status status = index_cursor_next(&walk->cursor, &context, &error);

    if (status == PETAL_OK && index_cursor_valid(&walk->cursor)) {
        struct block_handle handle = index_cursor_place(&walk->cursor).handle;

        if (handle.offset < before.offset + before.size)
            status = error_corrupt(&error, walk->path, handle.offset,
                                   "the index names the data block at offset %" PRIu64
                                   " behind one that ends at %" PRIu64,
                                   handle.offset, before.offset + before.size);
        else
            status = check_levels(walk, &error);
    }
    if (status != PETAL_OK)
        lose_index(walk, &error);
}

/* The cell key of the entry. False: no memory. */
static bool
index_key(struct sst_walk *walk)
{
    const struct index_block *leaf = walk->cursor.leaf;
    uint32_t position = index_cursor_position(&walk->cursor);
    size_t bytes = index_block_key_bytes(leaf, position);

    walk->key.size = 0;
    if (!own_reserve(walk, &walk->key, bytes + 1))
        return false;
    index_block_key(leaf, position, walk->key.bytes);
    walk->key.size = bytes;
    return true;
}

/* The row of the entry's key; *found false: it is no cell key. False: no memory. */
static bool
index_row(struct sst_walk *walk, struct own_bytes *row, bool *found)
{
    struct cell_key key;

    *found = false;
    walk->key_scratch.size = 0;
    if (!index_key(walk) || !own_reserve(walk, &walk->key_scratch, walk->key.size + 1))
        return false;
    *found = cell_key_parse(own_slice(&walk->key), walk->key_scratch.bytes, &key);
    return !*found || own_copy(walk, row, key.row);
}

/* Which data blocks the damage has taken, by the index. False: no memory. */
static bool
ask_index(struct sst_walk *walk, struct sst_walk_step *step)
{
    bool found;

    step->data_blocks = 0;
    while (index_has_entry(walk) && index_handle(walk).offset < step->offset + step->bytes) {
        if (index_handle(walk).offset >= step->offset && step->data_blocks++ == 0 &&
            !index_row(walk, &walk->from, &step->rows.has_from))
            return false;
        index_step(walk);
    }
    if (step->data_blocks == 0)
        return true;
    step->rows.from = own_slice(&walk->from);
    if (index_has_entry(walk)) {
        if (!index_row(walk, &walk->to, &found))
            return false;
        step->rows.has_to = found;
        step->rows.to = own_slice(&walk->to);
    } else if (walk->has_index) {
        step->rows.has_to = true;
        step->rows.to = walk->reader->facts.row_max;
    }
    return true;
}

/* No data block was where the entry at hand names one. */
static void
note_left_over(struct sst_walk *walk)
{
    uint64_t offset = index_handle(walk).offset;

    if (walk->left_over.status == PETAL_OK)
        error_corrupt(&walk->left_over, walk->path, offset,
                      "the index names a data block at offset %" PRIu64 ", where none begins",
                      offset);
}

/* Hold the data block at hand against the entry for it. False: no memory. */
static bool
name_block(struct sst_walk *walk, const struct sst_walk_step *step, const struct cell *first)
{
    struct block_handle handle;
    size_t row_prefix;

    walk->named = SST_WALK_NO_INDEX;
    while (index_has_entry(walk) && index_handle(walk).offset < step->offset) {
        note_left_over(walk);
        index_step(walk);
    }
    if (!walk->has_index)
        return true;
    walk->named = SST_WALK_NOT_NAMED;
    if (!index_cursor_valid(&walk->cursor))
        return true;
    handle = index_handle(walk);
    if (handle.offset != step->offset)
        return true;
    walk->named = SST_WALK_NAMED;
    walk->begins = handle.begins;
    walk->key_scratch.size = 0;
    if (!index_key(walk) || !own_reserve(walk, &walk->key_scratch,
                                         cell_key_bound(first->row.size, first->qualifier.size)))
        return false;
    walk->key_scratch.size = cell_key_encode(walk->key_scratch.bytes, first, &row_prefix);
    if (handle.size != step->bytes ||
        !slice_equal(own_slice(&walk->key), own_slice(&walk->key_scratch))) {
        walk->named = SST_WALK_MISNAMED;
        error_corrupt(&walk->fault, walk->path, step->offset,
                      "the data block at offset %" PRIu64
                      " does not begin with the cell that the index names",
                      step->offset);
    }
    index_step(walk);
    if (!walk->has_index)
        walk->named = SST_WALK_NO_INDEX;
    return true;
}

/* ---- steps ---- */

/* By what stands there, may the damage have taken data? Not if it is one block of another kind. */
static bool
may_have_been_data(struct sst_walk *walk, const struct sst_walk_step *damage)
{
    petal_error ignored;
    const uint8_t *from;
    struct block_frame frame;

    if (damage->bytes <= BLOCK_FRAME_BYTES)
        return true;
    from = window_read(walk, damage->offset, BLOCK_FRAME_BYTES, &ignored);
    return from == NULL || !block_frame_decode(&frame, from) || frame.kind == BLOCK_DATA ||
           damage->bytes != (uint64_t)BLOCK_FRAME_BYTES + frame.stored_bytes;
}

/* Damage that waits grows by what is found before another data block. */
static bool
put_off(struct sst_walk *walk, const struct sst_walk_step *step)
{
    struct sst_walk_step *damage = &walk->damage;

    if (damage->event == SST_WALK_DAMAGE) {
        damage->bytes = step->offset + step->bytes - damage->offset;
        damage->data_blocks++;
        return true;
    }
    *damage = *step;
    damage->data_blocks = 1;
    damage->rows.has_from = walk->has_last_row;
    if (walk->has_last_row && !own_copy(walk, &walk->from, own_slice(&walk->last_row)))
        return false;
    if (!walk->has_last_row && walk->reader != NULL) {
        damage->rows.has_from = true;
        if (!own_copy(walk, &walk->from, walk->reader->facts.row_min))
            return false;
    }
    damage->rows.from = own_slice(&walk->from);
    return true;
}

static void
take_damage(struct sst_walk *walk, struct sst_walk_step *step, const petal_slice *first_row)
{
    *step = walk->damage;
    walk->damage.event = SST_WALK_END;
    if (first_row != NULL) {
        step->rows.has_to = true;
        step->rows.to = *first_row;
    } else if (walk->reader != NULL) {
        step->rows.has_to = true;
        step->rows.to = walk->reader->facts.row_max;
    }
}

/* Damage at the walk's offset; event END in *step: it waits for the rows after it. */
static enum petal_status
step_over_damage(struct sst_walk *walk, uint64_t bytes, struct sst_walk_step *step,
                 petal_error *error)
{
    uint64_t end = end_of_damage(walk, bytes);

    step->event = SST_WALK_DAMAGE;
    step->offset = walk->offset;
    step->bytes = end - walk->offset;
    step->rows = (struct sst_rows){.has_from = false};
    walk->offset = end;
    if (walk->has_index && !ask_index(walk, step))
        return error_no_memory(error);
    if (walk->has_index)
        return PETAL_OK;
    step->data_blocks = 0;
    step->rows = (struct sst_rows){.has_from = false};
    if (!may_have_been_data(walk, step))
        return PETAL_OK;
    if (!put_off(walk, step))
        return error_no_memory(error);
    step->event = SST_WALK_END;
    return PETAL_OK;
}

/* A data block that is whole: the index comes along, its last row is kept. */
static enum petal_status
enter_data(struct sst_walk *walk, const struct sst_walk_step *step, struct cell *cell,
           petal_error *error)
{
    if (data_block_cursor_attach(&walk->cells, step->raw, step->raw_bytes) != PETAL_OK)
        return error_no_memory(error);
    data_block_cursor_first(&walk->cells, cell);
    return name_block(walk, step, cell) ? PETAL_OK : error_no_memory(error);
}

static enum petal_status
keep_last_row(struct sst_walk *walk, petal_error *error)
{
    struct cell cell;

    data_block_cursor_last(&walk->cells, &cell);
    walk->has_last_row = true;
    return own_copy(walk, &walk->last_row, cell.row) ? PETAL_OK : error_no_memory(error);
}

static enum petal_status
stopped(const struct sst_walk *walk, petal_error *error)
{
    return error_copy(error, &walk->stop);
}

static enum petal_status
next_step(struct sst_walk *walk, struct sst_walk_step *step, petal_error *error)
{
    enum petal_status status;
    uint64_t bytes;
    struct cell cell;

    if (walk->held.event == SST_WALK_BLOCK) {
        *step = walk->held;
        walk->held.event = SST_WALK_END;
        return keep_last_row(walk, error);
    }
    for (;;) {
        *step = (struct sst_walk_step){.event = SST_WALK_END};
        if (walk->offset >= walk->source.limit) {
            if (index_has_entry(walk))
                note_left_over(walk);
            if (walk->damage.event == SST_WALK_DAMAGE)
                take_damage(walk, step, NULL);
            return PETAL_OK;
        }
        status = take_block(walk, walk->offset, step, &bytes, &step->cause);
        if (status == PETAL_NO_MEMORY)
            return error_no_memory(error);
        if (status != PETAL_OK) {
            status = step_over_damage(walk, bytes, step, error);
            if (status != PETAL_OK || step->event == SST_WALK_DAMAGE)
                return status;
            continue;
        }
        walk->offset += step->bytes;
        if (step->kind != BLOCK_DATA)
            return PETAL_OK;
        status = enter_data(walk, step, &cell, error);
        if (status != PETAL_OK || walk->damage.event != SST_WALK_DAMAGE)
            return status == PETAL_OK ? keep_last_row(walk, error) : status;
        walk->held = *step;
        if (!own_copy(walk, &walk->to, cell.row))
            return error_no_memory(error);
        take_damage(walk, step, &(petal_slice){walk->to.bytes, walk->to.size});
        return PETAL_OK;
    }
}

enum petal_status
sst_walk_next(struct sst_walk *walk, struct sst_walk_step *step, petal_error *error)
{
    unsigned slot = epoch_enter(walk->epoch); /* the walk's own: nobody waits for it */
    enum petal_status status = next_step(walk, step, error);

    epoch_leave(walk->epoch, slot);
    return walk->stop.status == PETAL_OK ? status : stopped(walk, error);
}

enum sst_walk_named
sst_walk_named(const struct sst_walk *walk)
{
    return walk->named;
}

const petal_error *
sst_walk_fault(const struct sst_walk *walk)
{
    return &walk->fault;
}

uint32_t
sst_walk_begins(const struct sst_walk *walk)
{
    assert(walk->named == SST_WALK_NAMED);
    return walk->begins;
}

const petal_error *
sst_walk_left_over(const struct sst_walk *walk)
{
    return walk->left_over.status != PETAL_OK ? &walk->left_over : NULL;
}

const petal_error *
sst_walk_passed(const struct sst_walk *walk)
{
    return walk->passed.status != PETAL_OK ? &walk->passed : NULL;
}

/* ---- opening ---- */

/* Is what stands at the file's end no trailer any more, but was one?  Two of its fields tell. */
static bool
was_trailer(const struct sst_walk *walk, uint64_t identity)
{
    uint8_t bytes[TRAILER_BYTES];

    return walk->file_bytes >= TRAILER_BYTES &&
           block_source_read(&walk->source, walk->file_bytes - TRAILER_BYTES, bytes, sizeof bytes,
                             NULL) == PETAL_OK &&
           ((identity != 0 && get_le64(bytes + 8) == identity) ||
            get_le64(bytes + 16) == walk->file_bytes);
}

/* What checksums are made with, and where the blocks end: by the trailer, or as well as can be. */
static enum petal_status
find_limits(struct sst_walk *walk, uint64_t identity, petal_error *error)
{
    struct block_source *source = &walk->source;
    struct trailer trailer;
    petal_error cause;
    enum petal_status status = trailer_read(&trailer, source, walk->file_bytes, &cause);

    source->limit = walk->file_bytes;
    if (status == PETAL_OK) {
        source->limit = walk->file_bytes - TRAILER_BYTES;
        source->file_identity = trailer.file_identity;
        walk->stated_shift = trailer.stated_shift;
        return trailer_check_identity(&trailer, identity, walk->path, error);
    }
    if (error_passes(&cause)) {
        stop_in_want(walk, &cause);
        return stopped(walk, error);
    }
    source->file_identity = identity;
    if (status == PETAL_CORRUPT && was_trailer(walk, identity))
        source->limit = walk->file_bytes - TRAILER_BYTES;
    if (status != PETAL_CORRUPT && status != PETAL_UNSUPPORTED) { /* it is there, for all we know */
        walk->passed = cause;
        source->limit = walk->file_bytes - TRAILER_BYTES;
    }
    if (identity != 0 && status != PETAL_UNSUPPORTED)
        return PETAL_OK;
    return error_copy(error, &cause);
}

/* Readers may refuse what can be walked. */
static enum petal_status
open_reader(struct sst_walk *walk, const struct directory *directory,
            const struct sst_walk_options *options, petal_error *error)
{
    struct sst_open_options open = {.file_number = 1,
                                    .file_identity = options->file_identity,
                                    .cache = walk->cache,
                                    .epoch = walk->epoch,
                                    .pool = options->pool};
    enum petal_status status =
        sst_reader_open(&walk->reader, directory, walk->path, &open, &walk->opening);

    if (status == PETAL_OK || (!error_passes(&walk->opening) && status != PETAL_UNSUPPORTED))
        return PETAL_OK;
    return error_copy(error, &walk->opening);
}

static enum petal_status
open_all(struct sst_walk *walk, const struct directory *directory, const char *path,
         const struct sst_walk_options *options, petal_error *error)
{
    const petal_allocator *allocator = walk->env->allocator;
    enum petal_status status;

    walk->path_bytes = strlen(path) + 1;
    walk->path = mem_alloc(allocator, walk->path_bytes);
    walk->epoch = mem_alloc_aligned(allocator, CACHE_LINE_BYTES, sizeof *walk->epoch);
    if (walk->epoch != NULL && epoch_init(walk->epoch) != PETAL_OK) {
        mem_free(allocator, walk->epoch, sizeof *walk->epoch);
        walk->epoch = NULL;
    }
    if (walk->path == NULL || walk->epoch == NULL ||
        cache_open(&walk->cache, allocator, walk->epoch, CACHE_FACTOR * walk->window_bytes, 1) !=
            PETAL_OK)
        return error_no_memory(error);
    memcpy(walk->path, path, walk->path_bytes);
    pooled_file_init(&walk->pooled, options->pool, directory, walk->path);
    walk->source =
        (struct block_source){.env = walk->env, .file = &walk->pooled, .path = walk->path};
    status = block_source_size(&walk->source, &walk->file_bytes, error);
    if (status == PETAL_OK)
        status = find_limits(walk, options->file_identity, error);
    if (status == PETAL_OK)
        status = open_reader(walk, directory, options, error);
    walk->search_left = SEARCH_BYTES + SEARCH_FACTOR * walk->source.limit;
    return status;
}

enum petal_status
sst_walk_open(struct sst_walk **walk, const struct directory *directory, const char *path,
              const struct sst_walk_options *options, petal_error *error)
{
    struct sst_walk *made = mem_zalloc(directory->env->allocator, sizeof *made);
    enum petal_status status;
    unsigned slot;

    *walk = NULL;
    if (made == NULL)
        return error_no_memory(error);
    made->env = directory->env;
    made->window_bytes = options->window_bytes > 0 ? options->window_bytes : WINDOW_BYTES;
    made->named = SST_WALK_NO_INDEX;
    made->damage.event = made->held.event = SST_WALK_END;
    data_block_cursor_init(&made->cells, made->env->allocator);
    status = open_all(made, directory, path, options, error);
    if (status != PETAL_OK) {
        sst_walk_close(made);
        return status;
    }
    slot = epoch_enter(made->epoch);
    index_begin(made);
    epoch_leave(made->epoch, slot);
    if (made->stop.status != PETAL_OK) {
        status = stopped(made, error);
        sst_walk_close(made);
        return status;
    }
    *walk = made;
    return PETAL_OK;
}

void
sst_walk_close(struct sst_walk *walk)
{
    const petal_allocator *allocator;

    if (walk == NULL)
        return;
    allocator = walk->env->allocator;
    if (walk->has_index)
        index_cursor_release(&walk->cursor);
    sst_reader_close(walk->reader);
    if (walk->source.file != NULL)
        pooled_file_fini(&walk->pooled);
    data_block_cursor_fini(&walk->cells);
    own_free(walk, &walk->window);
    own_free(walk, &walk->raw);
    own_free(walk, &walk->from);
    own_free(walk, &walk->to);
    own_free(walk, &walk->key);
    own_free(walk, &walk->key_scratch);
    own_free(walk, &walk->last_row);
    if (walk->epoch != NULL) {
        cache_close(walk->cache);
        epoch_fini(walk->epoch);
        mem_free(allocator, walk->epoch, sizeof *walk->epoch);
    }
    mem_free(allocator, walk->path, walk->path_bytes);
    mem_free(allocator, walk, sizeof *walk);
}

const struct sst_reader *
sst_walk_reader(const struct sst_walk *walk, petal_error *error)
{
    if (walk->reader == NULL)
        error_copy(error, &walk->opening);
    return walk->reader;
}

const struct file_facts *
sst_walk_facts(const struct sst_walk *walk)
{
    return walk->reader != NULL ? sst_reader_facts(walk->reader) : NULL;
}

struct epoch *
sst_walk_epoch(const struct sst_walk *walk)
{
    return walk->epoch;
}

const char *
sst_walk_path(const struct sst_walk *walk)
{
    return walk->path;
}

uint64_t
sst_walk_identity(const struct sst_walk *walk)
{
    return walk->source.file_identity;
}

uint64_t
sst_walk_stated_shift(const struct sst_walk *walk)
{
    return walk->stated_shift;
}

uint64_t
sst_walk_file_bytes(const struct sst_walk *walk)
{
    return walk->file_bytes;
}
