/*
 * logs.h -- the logs of an examined database: each one as far as it can be read, and whether logs
 * and manifest agree.
 */
#ifndef PETAL_ENGINE_CHECK_LOGS_H
#define PETAL_ENGINE_CHECK_LOGS_H

#include "engine/check/place.h"
#include "engine/wal/record.h"

/* A cell of a log, good during the call. */
typedef enum petal_status check_cell(void *argument, const struct record_cell *cell,
                                     petal_error *error);

/* Read all logs that count, in order, as a recovery does, and tell of faults. `visit` (may be NULL)
 * gets each readable cell, also those of logs after a damaged one. Fails for lack of memory or
 * descriptors, of which alone `visit` may fail, too, or if it is given up. */
enum petal_status check_logs(struct place *place, check_cell *visit, void *argument,
                             petal_error *error);

#endif
