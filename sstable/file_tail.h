/*
 * file_tail.h -- the end of a store file, which is read at once when the file is opened: there
 * stand trailer, facts and roots, and of a small file filter and index as well (FORMAT.md).
 *
 * What of it is longer than the guess is read by itself.  A tail that cannot be read is none, and
 * all is read by itself: so what is damaged there and not needed hurts nobody.
 *
 * Belongs to one thread; lives while the file is opened.
 */
#ifndef PETAL_SSTABLE_FILE_TAIL_H
#define PETAL_SSTABLE_FILE_TAIL_H

#include "sstable/block_io.h"

#define FILE_TAIL_LEAST_BYTES 4096
#define FILE_TAIL_MOST_BYTES  (96u << 10)
#define FILE_TAIL_SHARE       32 /* the guess is so many-th of the file, between these */

struct file_tail {
    uint64_t begin; /* in the file */
    size_t size;
    uint8_t *bytes; /* NULL: there is none */
};

/* Read the tail of a file of so many bytes.  Fails only with PETAL_NO_MEMORY. */
enum petal_status file_tail_read(struct file_tail *tail, const struct block_source *source,
                                 uint64_t file_bytes, petal_error *error);
void file_tail_free(struct file_tail *tail, const petal_allocator *allocator);

/* The bytes of the file from `offset` on, if the tail has `size` of them; else NULL. */
static inline const uint8_t *
file_tail_find(const struct file_tail *tail, uint64_t offset, size_t size)
{
    if (tail->bytes == NULL || offset < tail->begin || offset - tail->begin > tail->size ||
        size > tail->size - (size_t)(offset - tail->begin))
        return NULL;
    return tail->bytes + (offset - tail->begin);
}

#endif
