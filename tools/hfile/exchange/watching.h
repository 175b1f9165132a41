/* watching.h -- how often the caller of an import or export is told how far it is, and may end
 * it. */
#ifndef PETAL_HFILE_EXCHANGE_WATCHING_H
#define PETAL_HFILE_EXCHANGE_WATCHING_H

#include "tools/hfile/petal_hfile.h"

/* Between two looks at the watch: of cells, each with what it costs in addition to its bytes. */
#define WATCHING_BYTES      ((uint64_t)1 << 20)
#define WATCHING_CELL_BYTES 64

struct watching {
    petal_hfile_watch *watch; /* may be NULL */
    void *argument;
};

/* Of rows, families, qualifiers and values, and 12 for timestamp, type and what tells them
 * apart. */
static inline uint64_t
watching_bytes_of(const petal_hfile_cell *cell)
{
    return cell->row.size + cell->family.size + cell->qualifier.size + cell->value.size + 12;
}

/* Is it time for a look, after this cell? `bytes` is kept between the calls, and begins at 0. */
static inline bool
watching_is_due(uint64_t *bytes, const petal_hfile_cell *cell)
{
    *bytes += watching_bytes_of(cell) + WATCHING_CELL_BYTES;
    if (*bytes < WATCHING_BYTES)
        return false;
    *bytes = 0;
    return true;
}

/* false: the caller does not want more. */
static inline bool
watching_asks(const struct watching *watching, uint64_t done, uint64_t total)
{
    return watching->watch == NULL || watching->watch(watching->argument, done, total);
}

#endif
