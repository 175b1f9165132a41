/* delete_rows.h -- what calls that delete many rows have in common. */
#ifndef PETAL_ENGINE_WRITE_DELETE_ROWS_H
#define PETAL_ENGINE_WRITE_DELETE_ROWS_H

#include "engine/petal.h"

/* Tell (`deleted` may be NULL) that nothing is done from `from` on, before anything can fail. What
 * is returned takes the place of `from`, which may lie in what is written to. */
petal_slice deleted_rows_begin(petal_deleted_rows *deleted, petal_slice from);

#endif
