/* sst_walk.c -- see sst_walk.h. */
#include "sstable/sst_walk.h"

#include "base/coding.h"
#include "base/kept_cell.h"
#include "sstable/sst_reader_parts.h"

#include <assert.h>
#include <inttypes.h>

#define WINDOW_BYTES ((size_t)1 << 20)
#define CACHE_FACTOR 4    /* the cache may have so many times the window */
#define SECTOR_BYTES 4096 /* given up at once where reading fails */
/* The search for the next block may check so many bytes, and so many times those of the file. */
#define SEARCH_BYTES  ((uint64_t)256 << 20)
#define SEARCH_FACTOR 4

struct sst_walk {
    const struct env *env;
    struct epoch *epoch;
    struct cache *cache;
    struct sst_reader *reader; /* NULL: it cannot be opened, for that: */
    petal_error opening;
    struct pooled_file pooled;
    struct sst_file file;
    char *path;
    size_t path_bytes;
    uint64_t file_bytes;
    uint64_t stated_shift;
    uint64_t offset;           /* of the next step */
    uint64_t search_left;      /* bytes that may still be checked in search of a block */
    size_t window_bytes;       /* read at once; more where a block is longer */
    struct readahead window;   /* what was read */
    struct cache_block *block; /* the one that was found last; in no table */

    /* The index, whose entries come along with the data blocks. */
    struct index_cursor cursor;
    struct read_trace trace;
    bool has_index;
    petal_error fault;     /* of the index */
    petal_error left_over; /* status OK: there is none */
    petal_error stop;      /* want of something, which says nothing of the file; likewise */
    petal_error passed;    /* a read that failed and succeeded when it was tried again; likewise */
    struct kept_cell from, to; /* rows of entries */
    uint8_t *key;              /* memory for an entry's key, and its parts */
    size_t key_capacity;

    /* Without an index: the last row of the data block before, and damage that waits for the first
     * row of the one after. */
    struct data_block_cursor cells;
    struct kept_cell last;
    struct sst_walk_step damage; /* event END: none waits */
    struct sst_walk_step held;   /* the block that it was found before; event END: none */
};

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
window_read(struct sst_walk *walk, uint64_t offset, uint32_t size, petal_error *error)
{
    const struct block_source *source = &walk->file.source;
    struct readahead *window = &walk->window;
    struct block_handle bytes = {.offset = offset, .size = size};
    uint64_t wanted = size > walk->window_bytes ? size : walk->window_bytes;

    assert(offset <= source->limit && size <= source->limit - offset);
    if (!readahead_holds(window, bytes)) {
        if (wanted > source->limit - offset)
            wanted = source->limit - offset;
        if (readahead_fill(window, source, offset, offset + wanted, &walk->trace, error) !=
            PETAL_OK) {
            /* Perhaps what is asked for is readable alone. */
            stop_in_want(walk, error);
            walk->passed = *error;
            if (readahead_fill(window, source, offset, offset + size, &walk->trace, error) !=
                PETAL_OK) {
                stop_in_want(walk, error);
                return NULL;
            }
        }
    }
    return window->window + (offset - window->begin);
}

/* ---- one block ---- */

/* What seems to be a block at `offset`, its checksum not looked at.  Else *error says why there is
 * none, and handle->size is 0. */
static enum petal_status
find_block(struct sst_walk *walk, uint64_t offset, struct block_handle *handle,
           struct block_frame *frame, petal_error *error)
{
    const struct block_source *source = &walk->file.source;
    struct block_handle named = {.offset = offset};
    const uint8_t *from;
    enum petal_status status;

    *handle = named;
    assert(offset < source->limit);
    if (source->limit - offset <= BLOCK_FRAME_BYTES)
        return error_corrupt(error, source->path, offset,
                             "%" PRIu64 " bytes at offset %" PRIu64 " belong to no block",
                             source->limit - offset, offset);
    from = window_read(walk, offset, BLOCK_FRAME_BYTES, error);
    if (from == NULL)
        return error->status;
    if (!block_frame_decode(frame, from))
        return error_corrupt(error, source->path, offset, "no block begins at offset %" PRIu64,
                             offset);
    named.size = BLOCK_FRAME_BYTES + frame->stored_bytes;
    status = block_handle_check(source, named, frame->kind, error);
    if (status == PETAL_OK)
        *handle = named;
    return status;
}

static void
forget_block(struct sst_walk *walk)
{
    if (walk->block != NULL)
        cache_discard(walk->cache, walk->block);
    walk->block = NULL;
}

/* The block at `offset`: PETAL_OK and *step, or why there is none. *bytes: how long it seems to be;
 * 0: that is not known. */
static enum petal_status
take_block(struct sst_walk *walk, uint64_t offset, struct sst_walk_step *step, uint64_t *bytes,
           petal_error *error)
{
    struct block_handle handle;
    struct block_frame frame;
    const uint8_t *from = NULL;

    forget_block(walk);
    if (find_block(walk, offset, &handle, &frame, error) == PETAL_OK)
        from = window_read(walk, offset, handle.size, error);
    *bytes = handle.size;
    if (from != NULL)
        walk->block = sst_file_make_block(&walk->file, handle, frame.kind, from, error);
    if (walk->block == NULL)
        return error->status;
    *step = (struct sst_walk_step){
        .event = SST_WALK_BLOCK,
        .offset = offset,
        .bytes = handle.size,
        .kind = frame.kind,
        .codec = (uint8_t)frame.codec,
        .entries = frame.entries,
        .raw_bytes = frame.raw_bytes,
        .memory = walk->block->data,
    };
    return PETAL_OK;
}

/* ---- the search for the next block ---- */

/* Whether a block with a right checksum begins there; it may be malformed. */
static bool
begins_block(struct sst_walk *walk, uint64_t offset)
{
    struct block_handle handle;
    struct block_frame frame;
    struct block_image image;
    const uint8_t *from;
    petal_error ignored;

    if (find_block(walk, offset, &handle, &frame, &ignored) != PETAL_OK ||
        handle.size > walk->search_left)
        return false;
    walk->search_left -= handle.size;
    from = window_read(walk, offset, handle.size, &ignored);
    return from != NULL &&
           block_verify(&walk->file.source, handle, frame.kind, from, &image, NULL) == PETAL_OK;
}

/* Where the bytes that are no block, from the walk's offset on, end. `bytes`: how long the block
 * that stood there seems to be; 0: that is not known. */
static uint64_t
end_of_damage(struct sst_walk *walk, uint64_t bytes)
{
    uint64_t limit = walk->file.source.limit, at = walk->offset;

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
    petal_error error;
    enum petal_status status = index_cursor_next(&walk->cursor, &context, &error);

    if (status == PETAL_OK)
        status = check_levels(walk, &error);
    if (status != PETAL_OK)
        lose_index(walk, &error);
}

/* The entry's cell key, in memory for it; *found false: it is none. False: no memory. */
static bool
index_key(struct sst_walk *walk, struct cell_key *key, bool *found)
{
    if (!mem_grow_array(walk->env->allocator, &walk->key, &walk->key_capacity, 0,
                        2 * index_cursor_key_bytes(&walk->cursor), 1))
        return false;
    *found = index_cursor_key(&walk->cursor, walk->key, key);
    return true;
}

/* Keep the row of the entry's key, if it is a cell key. False: no memory. */
static bool
keep_entry_row(struct sst_walk *walk, struct kept_cell *kept)
{
    struct cell_key key;

    kept->is_kept = false;
    if (!index_key(walk, &key, &kept->is_kept))
        return false;
    return !kept->is_kept ||
           kept_cell_keep(kept, walk->env->allocator, &(struct cell){.row = key.row});
}

/* Which data blocks the damage has taken, by the index. False: no memory. */
static bool
ask_index(struct sst_walk *walk, struct sst_walk_step *step)
{
    step->data_blocks = 0;
    while (index_has_entry(walk) && index_handle(walk).offset < step->offset + step->bytes) {
        if (index_handle(walk).offset >= step->offset && step->data_blocks++ == 0 &&
            !keep_entry_row(walk, &walk->from))
            return false;
        index_step(walk);
    }
    if (step->data_blocks == 0)
        return true;
    step->rows.has_from = walk->from.is_kept;
    step->rows.from = walk->from.cell.row;
    if (index_has_entry(walk)) {
        if (!keep_entry_row(walk, &walk->to))
            return false;
        step->rows.has_to = walk->to.is_kept;
        step->rows.to = walk->to.cell.row;
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
name_block(struct sst_walk *walk, struct sst_walk_step *step, const struct cell *first)
{
    struct block_handle handle;
    struct cell_key key;
    bool found;

    step->index_fault = &walk->fault;
    step->named = SST_WALK_NO_INDEX;
    while (index_has_entry(walk) && index_handle(walk).offset < step->offset) {
        note_left_over(walk);
        index_step(walk);
    }
    if (!walk->has_index)
        return true;
    step->named = SST_WALK_NOT_NAMED;
    if (!index_has_entry(walk) || index_handle(walk).offset != step->offset)
        return true;
    handle = index_handle(walk);
    step->named = SST_WALK_NAMED;
    step->begins = handle.begins;
    if (!index_key(walk, &key, &found))
        return false;
    if (handle.size != step->bytes || !found || cell_compare_key(first, &key) != 0) {
        step->named = SST_WALK_MISNAMED;
        error_corrupt(&walk->fault, walk->path, step->offset,
                      "the data block at offset %" PRIu64
                      " does not begin with the cell that the index names",
                      step->offset);
    }
    index_step(walk);
    if (!walk->has_index)
        step->named = SST_WALK_NO_INDEX;
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
static void
put_off(struct sst_walk *walk, const struct sst_walk_step *step)
{
    struct sst_walk_step *damage = &walk->damage;

    if (damage->event == SST_WALK_DAMAGE) {
        damage->bytes = step->offset + step->bytes - damage->offset;
        damage->data_blocks++;
        return;
    }
    *damage = *step;
    damage->data_blocks = 1;
    damage->rows.has_from = walk->last.is_kept || walk->reader != NULL;
    if (damage->rows.has_from)
        damage->rows.from = walk->last.is_kept ? walk->last.cell.row : walk->reader->facts.row_min;
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
    put_off(walk, step);
    step->event = SST_WALK_END;
    return PETAL_OK;
}

/* A data block that is whole: the index comes along, its last row is kept. */
static enum petal_status
enter_data(struct sst_walk *walk, struct sst_walk_step *step, struct cell *cell, petal_error *error)
{
    if (data_block_cursor_attach(&walk->cells, step->memory, step->raw_bytes) != PETAL_OK)
        return error_no_memory(error);
    data_block_cursor_first(&walk->cells, cell);
    return name_block(walk, step, cell) ? PETAL_OK : error_no_memory(error);
}

static enum petal_status
keep_last_row(struct sst_walk *walk, petal_error *error)
{
    struct cell cell;

    data_block_cursor_last(&walk->cells, &cell);
    return kept_cell_keep(&walk->last, walk->env->allocator, &cell) ? PETAL_OK
                                                                    : error_no_memory(error);
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
        if (walk->offset >= walk->file.source.limit) {
            if (index_has_entry(walk))
                note_left_over(walk);
            step->left_over = walk->left_over.status != PETAL_OK ? &walk->left_over : NULL;
            step->passed = walk->passed.status != PETAL_OK ? &walk->passed : NULL;
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
        take_damage(walk, step, &cell.row);
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

/* ---- opening ---- */

/* Is what stands at the file's end no trailer any more, but was one?  Two of its fields tell. */
static bool
was_trailer(const struct sst_walk *walk, uint64_t identity)
{
    uint8_t bytes[TRAILER_BYTES];

    return walk->file_bytes >= TRAILER_BYTES &&
           block_source_read(&walk->file.source, walk->file_bytes - TRAILER_BYTES, bytes,
                             sizeof bytes, NULL) == PETAL_OK &&
           ((identity != 0 && get_le64(bytes + 8) == identity) ||
            get_le64(bytes + 16) == walk->file_bytes);
}

/* What checksums are made with, and where the blocks end: by the trailer, or as well as can be. */
static enum petal_status
find_limits(struct sst_walk *walk, uint64_t identity, petal_error *error)
{
    struct block_source *source = &walk->file.source;
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
    walk->file =
        (struct sst_file){.source = {.env = walk->env, .file = &walk->pooled, .path = walk->path},
                          .cache = walk->cache};
    status = block_source_size(&walk->file.source, &walk->file_bytes, error);
    if (status == PETAL_OK)
        status = find_limits(walk, options->file_identity, error);
    if (status == PETAL_OK)
        status = open_reader(walk, directory, options, error);
    walk->search_left = SEARCH_BYTES + SEARCH_FACTOR * walk->file.source.limit;
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
    if (walk->file.source.file != NULL)
        pooled_file_fini(&walk->pooled);
    data_block_cursor_fini(&walk->cells);
    readahead_fini(&walk->window, allocator);
    kept_cell_fini(&walk->from, allocator);
    kept_cell_fini(&walk->to, allocator);
    kept_cell_fini(&walk->last, allocator);
    mem_free(allocator, walk->key, walk->key_capacity);
    forget_block(walk);
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
    return walk->file.source.file_identity;
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
