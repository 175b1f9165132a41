/*
 * sources.h -- where the cells of a family come from: its store files, as far as they are whole,
 * other links of those that are not, and the log.
 *
 * Links are one file as long as the database is not copied by other means than links; then each
 * may be damaged elsewhere, or missing.
 *
 * Belongs to one thread.
 */
#ifndef PETAL_ENGINE_CHECK_SOURCES_H
#define PETAL_ENGINE_CHECK_SOURCES_H

#include "engine/check/whole_cells.h"

/*
 * Read each file of the plan once, and tell what is damaged. In place of a file that has lost cells
 * the plan then has a link that is whole; if there is none, all links, and the family has lost
 * cells.
 */
enum petal_status sources_choose(struct plan *plan, petal_error *error);

struct sources {
    const petal_allocator *allocator;
    struct whole_cells *files;
    struct cell_iter **list; /* all of them */
    size_t count, file_count, most;
    struct memtable_iter logged;
};

/* Of a family of the plan, as chosen. On failure, too, sources_close is called. */
enum petal_status sources_open(struct sources *sources, const struct plan *plan,
                               const struct plan_table *table, const struct plan_family *family,
                               petal_error *error);
void sources_close(struct sources *sources);

#endif
