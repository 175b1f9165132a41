/*
 * middle.h -- which region is to be split, and before which row.
 *
 * The row is chosen by the files of its largest family (engine/region/border.h): one with which a
 * file begins, or one in the middle, as the files' indexes tell. So a split looks at no data.
 *
 * Threads: from any thread, holding no lock.
 */
#ifndef PETAL_ENGINE_REGION_MIDDLE_H
#define PETAL_ENGINE_REGION_MIDDLE_H

#include "engine/state/db.h"

/* A row in the middle of the region at `place` in the view, if its largest family has more than
 * `least` bytes of it, shared files counted as their indexes tell. `row` has room for
 * PETAL_MAX_ROW_BYTES; *row_bytes 0: it has not, or its files know none. REQUIRES: the view
 * stays. */
enum petal_status region_middle(const petal_table *table, const struct view *view, uint32_t place,
                                uint64_t least, uint8_t *row, size_t *row_bytes,
                                petal_error *error);

#endif
