/*
 * plan.h -- what a salvage writes: tables, their families, and the store files and logged cells of
 * each.
 *
 * If the manifest is whole, the plan follows it. Otherwise it follows the readable part, and store
 * files that this does not name are assigned by their own facts; log cells of unknown tables get
 * new tables. Files that are links of one another count once in a family.
 *
 * Borrows from the place. Belongs to one thread.
 */
#ifndef PETAL_ENGINE_CHECK_PLAN_H
#define PETAL_ENGINE_CHECK_PLAN_H

#include "base/number_map.h"
#include "engine/check/place.h"
#include "memtable/arena.h"
#include "memtable/memtable.h"

/* A store file that is read for a family. */
struct plan_file {
    uint64_t number;
    uint64_t identity; /* 0: it is not known */
    uint64_t cells;    /* as the manifest tells; 0: it does not */
    uint64_t shift;    /* of its sequences, as the manifest tells (engine/manifest/state.h), or
                        * the file where the manifest does not name it */
    bool lost;         /* some of its cells cannot be read */
    uint64_t losses;   /* which, in one number */
    /* Its number in the manifest, or if it is a link that is read in place of another, that one's:
     * the rows of regions that name that number are taken. 0: it is not named; all rows are. */
    uint64_t named;
    const struct manifest_table *table;
    const struct manifest_family *family; /* of that table */
};

struct plan_family {
    petal_family_options options;
    uint16_t id;      /* as logs name it */
    uint64_t flushed; /* the greatest sequence up to which log cells of some region are in store
                       * files; 0: it is not known */
    int64_t ahead;    /* the greatest timestamp that the store gave ahead of its clock, as manifest
                       * and logs tell (engine/manifest/state.h); 0: none is known */
    struct plan_file *files;
    size_t file_count, file_capacity;
    bool lost;                /* files have lost cells that no link of them has */
    struct memtable *logged;  /* NULL: no cells */
    uint64_t logged_sequence; /* the greatest in it */
};

struct plan_table {
    petal_table_options options;       /* name and attributes; families lie in `families` */
    struct manifest_snapshot snapshot; /* name of size 0: it is none */
    uint32_t id;                       /* as logs name it; 0: none does */
    struct plan_family *families;
    size_t family_count, family_capacity;
};

struct plan {
    struct place *place;
    struct plan_table *tables; /* snapshots first; in the new database their ids are 1, 2, .. */
    size_t table_count, table_capacity;
    struct number_map by_id; /* tables by id, values are places in `tables`; no snapshots */
    struct arena names;      /* that nobody else owns */
};

static inline uint32_t
plan_new_id(const struct plan *plan, const struct plan_table *table)
{
    return (uint32_t)(table - plan->tables) + 1;
}

static inline bool
plan_is_snapshot(const struct plan_table *table)
{
    return table->snapshot.name.size > 0;
}

/* Is the row taken of the file, and with it those up to *end (empty: open)? */
bool plan_takes_row(const struct plan *plan, const struct plan_file *file, petal_slice row,
                    petal_slice *end);

/* False: no memory. */
bool plan_add_file(const struct plan *plan, struct plan_family *family, struct plan_file file);

/* A fault of the family. */
static inline petal_fault
plan_fault_of(const struct plan_table *table, const struct plan_family *family,
              const petal_error *error)
{
    return check_place_fault_of(table->options.name, &table->snapshot, family->options.name, error);
}

void plan_init(struct plan *plan, struct place *place); /* empty */
/* Tells of files that cannot be taken. */
enum petal_status plan_make(struct plan *plan, petal_error *error);
void plan_fini(struct plan *plan);

/* The family of a logged cell; NULL: its table or family was dropped. Fails only for lack of
 * memory. */
enum petal_status plan_find(struct plan *plan, uint32_t table_id, uint16_t family_id,
                            struct plan_family **family, petal_error *error);

/* Log cells of the row up to this sequence are in store files; 0: it is not known. */
uint64_t plan_flushed(const struct plan *plan, uint32_t table_id, uint16_t family_id,
                      petal_slice row);

/* Without a manifest several tables or families may have the same name. The latest, with the
 * greatest id, keeps it; the others get new names, which is told of tables. For who has called
 * plan_find; plan_make has done it. */
enum petal_status plan_settle_names(struct plan *plan, petal_error *error);

#endif
