/*
 * export_part.h -- a part of an export: the cells of one family in one region, as files that HBase
 * loads. Parts are independent of each other, so that threads write several at once.
 */
#ifndef PETAL_HFILE_EXCHANGE_EXPORT_PART_H
#define PETAL_HFILE_EXCHANGE_EXPORT_PART_H

#include "tools/hfile/exchange/export_work.h"

/* What is to be exported. */
struct export_plan {
    petal_db *db;
    petal_table *table;
    const char *directory;              /* of the families' folders */
    petal_hfile_export_options options; /* its split keys are where the regions begin */
    petal_hfile_write_options file;     /* of all families */
    const petal_snapshot *snapshot;
};

size_t export_part_count(const struct export_plan *plan);

/* Write part `number`, below the count, and give `work` what came of it. */
void export_part_write(const struct export_plan *plan, size_t number, struct export_work *work);

#endif
