/*
 * sst_verify.c -- proves a store file sound from its bytes on disk; see sst_reader.h.
 *
 * Goes once over the blocks as they stand in the file (sst_walk.h), which leaves no byte out and
 * takes nothing from the shared cache.  The index comes along, the facts are gathered again and
 * compared at the end, and every key is asked of the filter.  What damage has taken is not held
 * against the facts again.
 */
#include "sstable/sst_reader.h"

#include "bloom/hash.h"
#include "sstable/filter/bloom_prefix.h"
#include "sstable/sst_reader_parts.h"
#include "sstable/sst_walk.h"

#include <assert.h>
#include <inttypes.h>

#define QUOTE_BYTES 80

struct verification {
    const struct env *env;
    const char *path;
    struct sst_walk *walk;
    const struct sst_reader *reader; /* NULL: the file does not open */
    const struct sst_watch *watch;   /* NULL: nobody */
    struct read_trace trace;
    bool is_damaged, lost_data; /* some bytes; of data blocks, perhaps */
    petal_error index_fault;    /* status OK: there is none that no damage explains */

    /* Found block by block. */
    uint64_t data_blocks, data_bytes, raw_data_bytes, index_bytes, bloom_chunks, bloom_bytes;
    uint64_t facts_blocks;

    /* Found cell by cell. */
    struct facts_gatherer gatherer;
    struct data_block_cursor cells;
    uint64_t block_offset; /* of the data block at hand */
    bool has_bloom;        /* one that this version knows */
    bool filter_told;      /* of it, about a key of the block at hand */
    uint64_t bloom_keys;
    uint8_t *key_memory;
    size_t key_capacity;
};

static enum petal_status
tell(const struct verification *v, uint64_t bytes, petal_error *error)
{
    if (v->watch == NULL || v->watch->go_on == NULL || v->watch->go_on(v->watch->argument, bytes))
        return PETAL_OK;
    return error_set(error, PETAL_BUSY, "the verification was given up");
}

/* ---- faults ---- */

/* One more was found: the verification goes on if somebody gathers them, else it is the error. */
static enum petal_status
report(const struct verification *v, const struct sst_fault *fault, petal_error *error)
{
    if (v->watch != NULL && v->watch->fault != NULL) {
        v->watch->fault(v->watch->argument, fault);
        return PETAL_OK;
    }
    return error_copy(error, fault->error);
}

static enum petal_status
report_fault(const struct verification *v, const petal_error *cause, petal_error *error)
{
    return report(v, &(struct sst_fault){.error = cause}, error);
}

/* A cell of the block at hand is not as it should be. */
static enum petal_status
report_cell(const struct verification *v, const struct cell *cell, const char *what,
            petal_error *error)
{
    char row[QUOTE_BYTES];
    petal_error cause;

    error_corrupt(&cause, v->path, v->block_offset, "data block at offset %" PRIu64 ", row %s: %s",
                  v->block_offset, error_quote(cell->row, row, sizeof row), what);
    return report(
        v, &(struct sst_fault){.error = &cause, .rows = {true, true, cell->row, cell->row}}, error);
}

/* ---- the facts ---- */

struct fact {
    const char *name;
    uint64_t stored, found;
};

static enum petal_status
compare_facts(const struct verification *v, const struct fact *facts, size_t count,
              petal_error *error)
{
    uint64_t offset = v->reader->trailer.facts.offset;
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < count; i++) {
        petal_error cause;

        if (facts[i].stored == facts[i].found)
            continue;
        error_corrupt(&cause, v->path, offset,
                      "facts block at offset %" PRIu64 " says %s %" PRIu64 ", found %" PRIu64,
                      offset, facts[i].name, facts[i].stored, facts[i].found);
        status = report_fault(v, &cause, error);
    }
    return status;
}

/* What the blocks are by number and size. */
static enum petal_status
verify_counts(const struct verification *v, petal_error *error)
{
    const struct file_facts *stored = &v->reader->facts;

    return compare_facts(v,
                         (const struct fact[]){
                             {"data blocks", stored->data_blocks, v->data_blocks},
                             {"data bytes", stored->data_bytes, v->data_bytes},
                             {"raw data bytes", stored->raw_data_bytes, v->raw_data_bytes},
                             {"index bytes", stored->index_bytes, v->index_bytes},
                             {"filter bytes", stored->bloom_bytes, v->bloom_bytes},
                             {"filter chunks", stored->bloom_chunks, v->bloom_chunks},
                             {"facts blocks", 1, v->facts_blocks},
                         },
                         7, error);
}

static bool
same_qualifiers(const struct file_facts *a, const struct file_facts *b)
{
    if (a->qualifiers_exact != b->qualifiers_exact || a->qualifier_count != b->qualifier_count)
        return false;
    for (uint32_t i = 0; i < a->qualifier_count; i++) {
        if (!slice_equal(a->qualifiers[i], b->qualifiers[i]))
            return false;
    }
    return true;
}

/* Of files that do not record it all times are right. */
static bool
same_deaths(const struct file_facts *stored, const struct file_facts *found)
{
    bool known = stored->death_min != INT64_MIN || stored->death_max != INT64_MAX;

    return !known ||
           (stored->death_min == found->death_min && stored->death_max == found->death_max);
}

static enum petal_status
verify_ranges(const struct verification *v, petal_error *error)
{
    const struct file_facts *stored = &v->reader->facts;
    const struct file_facts *found = &v->gatherer.facts;
    const struct {
        bool right;
        const char *name;
    } ranges[] = {
        {slice_equal(stored->row_min, found->row_min) &&
             slice_equal(stored->row_max, found->row_max),
         "row range"},
        {stored->time_min == found->time_min && stored->time_max == found->time_max, "time range"},
        {stored->put_time_min <= found->put_time_min, "least timestamp of a put"},
        {same_deaths(stored, found), "range of times of death"},
        {!stored->single_cells || found->single_cells, "claim of one cell per column"},
        {stored->sequence_min <= found->sequence_min && stored->sequence_max >= found->sequence_max,
         "sequence range"},
        {same_qualifiers(stored, found), "set of qualifiers"},
    };
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < sizeof ranges / sizeof *ranges; i++) {
        petal_error cause;

        if (ranges[i].right)
            continue;
        error_corrupt(&cause, v->path, v->reader->trailer.facts.offset,
                      "facts block at offset %" PRIu64 ": the %s is not that of the cells",
                      v->reader->trailer.facts.offset, ranges[i].name);
        status = report_fault(v, &cause, error);
    }
    return status;
}

static enum petal_status
verify_facts(struct verification *v, petal_error *error)
{
    const struct file_facts *stored = &v->reader->facts;
    const struct file_facts *found = &v->gatherer.facts;
    enum petal_status status;

    facts_gatherer_finish(&v->gatherer);
    status = compare_facts(v,
                           (const struct fact[]){
                               {"cells", stored->cells, found->cells},
                               {"rows", stored->rows, found->rows},
                               {"puts", stored->puts, found->puts},
                               {"deletes", stored->deletes, found->deletes},
                               {"family version deletes", stored->family_version_deletes,
                                found->family_version_deletes},
                               {"column deletes", stored->column_deletes, found->column_deletes},
                               {"family deletes", stored->family_deletes, found->family_deletes},
                               {"cells with a time to live", stored->ttl_cells, found->ttl_cells},
                           },
                           8, error);
    if (status == PETAL_OK)
        status = verify_ranges(v, error);
    if (status != PETAL_OK || !v->has_bloom)
        return status;
    return compare_facts(
        v, (const struct fact[]){{"filter keys", stored->bloom_keys, v->bloom_keys}}, 1, error);
}

/* ---- the filter ---- */

/* The filter must not deny the key whose place is `prefix`.  One that cannot be asked is damaged,
 * which the walk over its blocks tells. */
static enum petal_status
verify_key(struct verification *v, petal_slice prefix, uint64_t hash, const struct cell *cell,
           petal_error *error)
{
    struct read_context context = {.trace = &v->trace};
    struct epoch *epoch = sst_walk_epoch(v->walk);
    unsigned slot = epoch_enter(epoch);
    bool found = true;
    petal_error cause;
    enum petal_status status =
        bloom_reader_probe(&v->reader->bloom, prefix, hash, &context, &found, &cause);
    char row[QUOTE_BYTES];

    epoch_leave(epoch, slot);
    v->bloom_keys++;
    if (status == PETAL_NO_MEMORY)
        return error_no_memory(error);
    if (status != PETAL_OK && v->index_fault.status == PETAL_OK)
        v->index_fault = cause;
    if (status != PETAL_OK || found || v->filter_told)
        return PETAL_OK;
    v->filter_told = true;
    error_corrupt(&cause, v->path, v->reader->trailer.bloom_root.offset,
                  "the Bloom filter denies a key of row %s",
                  error_quote(cell->row, row, sizeof row));
    return report(
        v, &(struct sst_fault){.error = &cause, .rows = {true, true, cell->row, cell->row}}, error);
}

/* Would a search come to each entry of the filter's index? What it then finds the keys tell. */
static enum petal_status
check_filter_index(struct verification *v, struct index_cursor *cursor, petal_error *error)
{
    struct read_context context = {.trace = &v->trace};
    enum petal_status status = index_cursor_first(cursor, &context, error);

    while (status == PETAL_OK && index_cursor_valid(cursor)) {
        uint64_t offset = index_cursor_place(cursor).handle.offset;

        if (!index_cursor_levels_agree(cursor))
            return error_corrupt(error, v->path, offset,
                                 "the levels of the filter index disagree on the Bloom chunk at "
                                 "offset %" PRIu64,
                                 offset);
        status = index_cursor_next(cursor, &context, error);
    }
    return status;
}

static enum petal_status
verify_filter_index(struct verification *v, petal_error *error)
{
    struct epoch *epoch = sst_walk_epoch(v->walk);
    unsigned slot = epoch_enter(epoch);
    struct index_cursor cursor;
    petal_error cause;
    enum petal_status status;

    index_cursor_init(&cursor, &v->reader->bloom.tree, true);
    status = check_filter_index(v, &cursor, &cause);
    index_cursor_release(&cursor);
    epoch_leave(epoch, slot);
    if (status != PETAL_OK && error_passes(&cause)) /* says nothing of the file */
        return error_copy(error, &cause);
    return status == PETAL_OK ? PETAL_OK : report_fault(v, &cause, error);
}

/* Whether the cell, which begins a row, begins a prefix of rows. */
static bool
begins_prefix(const struct verification *v, const struct cell *cell)
{
    uint32_t bytes = v->reader->bloom.prefix_bytes;

    assert(bytes > 0);
    return v->gatherer.facts.cells == 0 ||
           !slice_equal(bloom_row_prefix(v->gatherer.last.cell.row, bytes),
                        bloom_row_prefix(cell->row, bytes));
}

/* Ask the filter for what the cell begins: a row, a prefix of rows, a column, a row's family
 * markers. */
static enum petal_status
verify_in_bloom(struct verification *v, const struct cell *cell, bool new_row, petal_error *error)
{
    const struct bloom_reader *bloom = &v->reader->bloom;
    uint64_t row_hash = bloom_hash_row(v->reader->facts.salt, cell->row.data, cell->row.size);
    uint64_t column_hash =
        cell_is_family_marker(cell->type)
            ? bloom_hash_family_marker(row_hash)
            : bloom_hash_column(row_hash, cell->qualifier.data, cell->qualifier.size);
    struct cell_key key;
    enum petal_status status = PETAL_OK;

    if (!mem_grow_array(v->env->allocator, &v->key_memory, &v->key_capacity, 0,
                        cell_key_bound(cell->row.size, cell->qualifier.size), 1))
        return error_no_memory(error);
    cell_key_of(&key, v->key_memory, cell);
    if (new_row && bloom->serves_rows)
        status = verify_key(v, slice_make(key.encoded.data, key.row_prefix), row_hash, cell, error);
    if (new_row && bloom->prefix_bytes > 0 && begins_prefix(v, cell)) {
        petal_slice prefix = bloom_row_prefix(cell->row, bloom->prefix_bytes);

        status = verify_key(v, bloom_prefix_place(&key, bloom->prefix_bytes),
                            bloom_hash_row(bloom->salt, prefix.data, prefix.size), cell, error);
    }
    if (status == PETAL_OK && bloom->serves_columns)
        status = verify_key(v, slice_make(key.encoded.data, key.column_prefix), column_hash, cell,
                            error);
    return status;
}

/* ---- cell by cell ---- */

/* Order, and what the block claims of its cells: NULL, or what is wrong. */
static const char *
what_is_wrong(const struct verification *v, const struct cell *cell, enum succession succession)
{
    if (succession == OUT_OF_ORDER)
        return "a cell is not in order behind the one before";
    if (data_block_is_plain(&v->cells.block) &&
        (succession == SAME_COLUMN || cell_is_marker(cell->type) || cell->has_ttl))
        return "the block is said to have no markers, no times to live and no column twice";
    if (cell->sequence > v->cells.block.sequence_max)
        return "a sequence is above the block's greatest";
    return NULL;
}

/* Does the block at hand, which begins with the cell, begin what the index claims? */
static bool
claims_of_index_hold(uint32_t begins, enum succession succession)
{
    return (succession == NEW_ROW || (begins & BLOCK_BEGINS_ROW) == 0) &&
           (succession != SAME_COLUMN || begins == 0);
}

/* `begun`: of the first cell of a block the step to it, else NULL.  *sound false: the rest of the
 * block is not looked at. */
static enum petal_status
visit_cell(struct verification *v, const struct cell *cell, const struct sst_walk_step *begun,
           bool *sound, petal_error *error)
{
    enum succession succession = facts_gatherer_succession(&v->gatherer, cell);
    const char *wrong = what_is_wrong(v, cell, succession);
    enum petal_status status = PETAL_OK;

    *sound = wrong == NULL;
    if (wrong != NULL) {
        v->lost_data = true;
        return report_cell(v, cell, wrong, error);
    }
    /* What damage has taken may have begun them. */
    if (begun != NULL && !v->lost_data && begun->named == SST_WALK_NAMED &&
        !claims_of_index_hold(begun->begins, succession))
        status =
            report_cell(v, cell, "the index claims that the block begins the row or column", error);
    if (status == PETAL_OK && succession != SAME_COLUMN && v->has_bloom)
        status = verify_in_bloom(v, cell, succession == NEW_ROW, error);
    if (status == PETAL_OK && facts_gatherer_add(&v->gatherer, cell, succession) != PETAL_OK)
        status = error_no_memory(error);
    return status;
}

/* ---- block by block ---- */

/* Does the index name the data block as it should? What no damage explains is kept for the end. */
static enum petal_status
verify_named(struct verification *v, const struct sst_walk_step *step, petal_error *error)
{
    petal_error cause;

    switch (step->named) {
    case SST_WALK_NAMED:
        return PETAL_OK;
    case SST_WALK_MISNAMED:
        return report_fault(v, step->index_fault, error);
    case SST_WALK_NOT_NAMED:
        error_corrupt(&cause, v->path, step->offset,
                      "the index does not name the data block at offset %" PRIu64, step->offset);
        return report_fault(v, &cause, error);
    default:
        if (v->index_fault.status == PETAL_OK && v->reader != NULL)
            v->index_fault = *step->index_fault;
        return PETAL_OK;
    }
}

static enum petal_status
verify_data(struct verification *v, const struct sst_walk_step *step, petal_error *error)
{
    const struct sst_walk_step *begun = step;
    struct cell cell;
    bool sound = true;
    enum petal_status status = verify_named(v, step, error);

    v->block_offset = step->offset;
    v->filter_told = false;
    if (status != PETAL_OK)
        return status;
    if (data_block_cursor_attach(&v->cells, step->memory, step->raw_bytes) != PETAL_OK)
        return error_no_memory(error);
    data_block_cursor_first(&v->cells, &cell);
    do {
        status = visit_cell(v, &cell, begun, &sound, error);
        begun = NULL;
    } while (status == PETAL_OK && sound && data_block_cursor_next(&v->cells, &cell));
    return status;
}

static void
count_block(struct verification *v, const struct sst_walk_step *step)
{
    switch (step->kind) {
    case BLOCK_DATA:
        v->data_blocks++;
        v->data_bytes += step->bytes;
        v->raw_data_bytes += step->raw_bytes;
        break;
    case BLOCK_DATA_INDEX:
    case BLOCK_BLOOM_INDEX:
        v->index_bytes += step->bytes;
        break;
    case BLOCK_BLOOM:
        v->bloom_chunks++;
        v->bloom_bytes += step->bytes;
        break;
    case BLOCK_FACTS:
        v->facts_blocks++;
        break;
    }
}

static enum petal_status
verify_damage(struct verification *v, const struct sst_walk_step *step, petal_error *error)
{
    v->is_damaged = true;
    v->lost_data = v->lost_data || step->data_blocks > 0;
    return report(v,
                  &(struct sst_fault){.error = &step->cause,
                                      .bytes = step->bytes,
                                      .data_blocks = step->data_blocks,
                                      .rows = step->rows},
                  error);
}

/* *step: the last one, at the end. */
static enum petal_status
verify_blocks(struct verification *v, struct sst_walk_step *step, petal_error *error)
{
    enum petal_status status;

    for (;;) {
        status = sst_walk_next(v->walk, step, error);
        if (status != PETAL_OK || step->event == SST_WALK_END)
            return status;
        if (step->event == SST_WALK_DAMAGE) {
            status = verify_damage(v, step, error);
        } else {
            count_block(v, step);
            if (step->kind == BLOCK_DATA)
                status = verify_data(v, step, error);
        }
        if (status == PETAL_OK)
            status = tell(v, step->bytes, error);
        if (status != PETAL_OK)
            return status;
    }
}

/* ---- all ---- */

/* Of a file that opens: what is to be said when all its blocks were seen. */
static enum petal_status
verify_whole(struct verification *v, const petal_error *left_over, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    petal_error cause;

    if (v->reader->bloom.damaged && !v->is_damaged) {
        error_corrupt(&cause, v->path, v->reader->trailer.bloom_root.offset,
                      "the root of the filter index is damaged");
        status = report_fault(v, &cause, error);
    }
    if (status == PETAL_OK && left_over != NULL && !v->is_damaged)
        status = report_fault(v, left_over, error);
    if (status == PETAL_OK && v->index_fault.status != PETAL_OK && !v->is_damaged)
        status = report_fault(v, &v->index_fault, error);
    if (status == PETAL_OK && v->has_bloom && !v->is_damaged)
        status = verify_filter_index(v, error);
    if (status == PETAL_OK && !v->is_damaged)
        status = verify_counts(v, error);
    if (status == PETAL_OK && !v->lost_data && v->gatherer.facts.cells > 0)
        status = verify_facts(v, error);
    return status;
}

static enum petal_status
verify_all(struct verification *v, petal_error *error)
{
    const petal_allocator *allocator = v->env->allocator;
    enum petal_status status = PETAL_OK;
    struct sst_walk_step end;
    petal_error opening;

    facts_gatherer_init(&v->gatherer, allocator);
    data_block_cursor_init(&v->cells, allocator);
    v->reader = sst_walk_reader(v->walk, &opening);
    if (v->reader == NULL)
        status = report_fault(v, &opening, error);
    else
        v->has_bloom = v->reader->facts.bloom != PETAL_BLOOM_NONE && !v->reader->bloom.unknown &&
                       !v->reader->bloom.damaged;
    if (v->reader != NULL && v->watch != NULL && v->watch->opened != NULL)
        v->watch->opened(v->watch->argument, &v->reader->facts);
    if (status == PETAL_OK)
        status = verify_blocks(v, &end, error);
    if (status == PETAL_OK && v->reader != NULL)
        status = verify_whole(v, end.left_over, error);
    if (status == PETAL_OK && !v->is_damaged && end.passed != NULL)
        status = report_fault(v, end.passed, error);
    facts_gatherer_fini(&v->gatherer);
    data_block_cursor_fini(&v->cells);
    mem_free(allocator, v->key_memory, v->key_capacity);
    return status;
}

enum petal_status
sst_verify(const struct directory *directory, const char *path,
           const struct sst_walk_options *options, const struct sst_watch *watch,
           petal_error *error)
{
    struct verification v = {.env = directory->env, .path = path, .watch = watch};
    petal_error cause;
    enum petal_status status = sst_walk_open(&v.walk, directory, path, options, &cause);

    if (status != PETAL_OK && error_passes(&cause)) /* says nothing of the file */
        return error_copy(error, &cause);
    if (status != PETAL_OK)
        return report_fault(&v, &cause, error);
    status = verify_all(&v, error);
    sst_walk_close(v.walk);
    return status;
}

enum petal_status
sst_reader_verify(const struct sst_reader *reader, const struct sst_watch *watch,
                  petal_error *error)
{
    const struct sst_walk_options options = {.file_identity = reader->trailer.file_identity,
                                             .pool = reader->pooled.pool};

    return sst_verify(reader->pooled.directory, reader->path, &options, watch, error);
}
