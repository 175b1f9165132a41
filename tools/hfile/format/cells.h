/*
 * cells.h -- the cells of one data block, decoded: what all encodings make. Their slices point into
 * the block's payload and, where an encoding takes keys apart, into `keys`.
 */
#ifndef PETAL_HFILE_FORMAT_CELLS_H
#define PETAL_HFILE_FORMAT_CELLS_H

#include "tools/hfile/format/tag_dictionary.h"
#include "tools/hfile/petal_hfile.h"

/* No block of HBase comes near, and what is stored in few bytes can claim to be many cells: they
 * and their keys take memory. */
#define HFILE_MOST_CELLS_OF_BLOCK     (1u << 20)
#define HFILE_MOST_KEY_BYTES_OF_BLOCK (64u << 20)

/* What FILE_INFO says is stored of each cell. */
struct hfile_cell_layout {
    bool has_tags, has_sequences;
    bool has_compressed_tags; /* tag_dictionary.h; with has_tags */
};

struct hfile_cells {
    const petal_allocator *allocator;
    petal_hfile_cell *cells;
    size_t count, capacity;
    struct hfile_buffer keys; /* of all cells or of none */
    bool has_tags_in_keys;    /* tags that are not empty stand there, too */
    struct hfile_tag_dictionary dictionary;
};

void hfile_cells_init(struct hfile_cells *cells, const petal_allocator *allocator);
void hfile_cells_free(struct hfile_cells *cells);

/* Without giving memory back. */
static inline void
hfile_cells_clear(struct hfile_cells *cells)
{
    cells->count = 0;
    cells->has_tags_in_keys = false;
    hfile_buffer_clear(&cells->keys);
    hfile_tag_dictionary_clear(&cells->dictionary);
}

/* The part of hfile_cells_reserve that allocates. */
enum petal_status hfile_cells_grow(struct hfile_cells *cells, const char **wrong);

/* Room for one more, at cells->cells[cells->count]. PETAL_NO_MEMORY, or PETAL_CORRUPT when there
 * are too many. */
static inline enum petal_status
hfile_cells_reserve(struct hfile_cells *cells, const char **wrong)
{
    return cells->count < cells->capacity ? PETAL_OK : hfile_cells_grow(cells, wrong);
}

/* The part of hfile_cells_reserve_key that allocates. */
bool hfile_cells_grow_keys(struct hfile_cells *cells, size_t size);

/* Room for so many bytes in `keys`, where it moves with the cells that point into it. */
static inline bool
hfile_cells_reserve_key(struct hfile_cells *cells, size_t size)
{
    return size <= cells->keys.capacity - cells->keys.size || hfile_cells_grow_keys(cells, size);
}

#endif
