/*
 * logs.h -- the logs of a database that is examined: each one as far as it can be read, and what
 * logs and manifest promise of each other.
 */
#ifndef PETAL_ENGINE_CHECK_LOGS_H
#define PETAL_ENGINE_CHECK_LOGS_H

#include "engine/check/place.h"
#include "engine/wal/record.h"

/* A cell of a log, good during the call. */
typedef enum petal_status check_cell(void *argument, const struct record_cell *cell,
                                     petal_error *error);

/*
 * Read all logs that count, in their order, and tell of faults. `visit` (may be NULL) is given each
 * cell that can be read; also those behind damage, of later logs. Fails where `visit` does, without
 * memory, or when it is given up.
 */
enum petal_status check_logs(struct place *place, check_cell *visit, void *argument,
                             petal_error *error);

#endif
