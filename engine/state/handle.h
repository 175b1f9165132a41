/*
 * handle.h -- tables and families as users hold them, and as the rooms of the engine use them.
 *
 * A handle lives until the database is closed, dropped or not. The part of it that can change is a
 * descriptor (engine/state/descriptor.h).
 *
 * Threads: as the fields say; functions that read only from any thread.
 */
#ifndef PETAL_ENGINE_STATE_HANDLE_H
#define PETAL_ENGINE_STATE_HANDLE_H

#include <assert.h>

#include "base/number_map.h"
#include "engine/manifest/manifest.h"
#include "engine/state/descriptor.h"
#include "engine/state/view.h"

/* A family as keys and values; a part of it. */
struct petal_kv {
    petal_table *table;
    petal_family *family;
};

/* The stores of a family by the starts of their regions, for writers. */
struct store_map {
    struct store_place {
        uint64_t start_head; /* slice_head(store->start, 0) */
        struct store *store;
    } * places;
    size_t count, capacity;
};

struct petal_family {
    petal_table *table;
    petal_family *next; /* of all that the table has had in this opening; guarded by schema.mutex */
    uint16_t id;        /* unique in its table, never used again */
    size_t slot;        /* in views */
    struct store *all_stores; /* of regions that were merged as well; guarded by schema.mutex */
    struct store_map stores;  /* [leader] those not merged, as in the views */
    petal_slice name;
    _Atomic(const struct family_descriptor *) descriptor; /* replaced under schema.mutex */
    struct family_descriptor *next_descriptor; /* of table_follow, or NULL; under schema.mutex */
    _Atomic(bool) dropped;                     /* alone; see family_is_dropped */
    /* Has lost a file (engine/state/damage.h); does not change once the database is open. */
    bool unusable;
    /*
     * The greatest timestamp that the store has assigned to a cell of the family, by its clock or
     * ahead of it; and the greatest other one, of callers and in store files. The first is known
     * of earlier openings where it may still be ahead. Both only grow. Changed by the leader, or
     * while no other thread has the family.
     */
    _Atomic(int64_t) stamped, given;
    petal_kv key_values;
};

struct petal_table {
    petal_db *db;
    struct schema *schema; /* the database's */
    uint32_t id;
    petal_slice name;
    _Atomic(const struct table_descriptor *) descriptor; /* replaced under schema.mutex */
    struct table_descriptor *next_descriptor; /* of table_follow, or NULL; under schema.mutex */
    _Atomic(bool) dropped;
    /* The last sequence when a bulk was loaded below all that there is: its cells do not tell that
     * they are new. Set by the LEADER. */
    _Atomic(uint64_t) loaded_below;
    /* Cells that a cursor of the table returned after a seek, up to a few; 0: not known. A guess
     * for the next cursor. */
    _Atomic(uint32_t) likely_run;
    petal_family *all_families; /* dropped ones as well; guarded by schema.mutex */
    /* In db->schema.tables, or db->schema.dropped; `link` points to its place there. Guarded by
     * schema.mutex. */
    petal_table *next, **link;
};

/* The present attributes, which stay valid until petal_close. */
static inline const petal_family_options *
family_options(const petal_family *family)
{
    return &atomic_load_explicit(&family->descriptor, memory_order_acquire)->options;
}

/* The present families of the table, by name: load once, then walk. A family that is newer than
 * the reader's view, or was dropped before it, has no store there. */
static inline const struct table_descriptor *
table_descriptor(const petal_table *table)
{
    return atomic_load_explicit(&table->descriptor, memory_order_acquire);
}

static inline const petal_table_options *
table_options(const petal_table *table)
{
    return &table_descriptor(table)->options;
}

static inline bool
table_is_dropped(const petal_table *table)
{
    return atomic_load_explicit(&table->dropped, memory_order_acquire);
}

/* Dropped alone or with its table. Constant while manifest_mutex or the write leadership is
 * held. */
static inline bool
family_is_dropped(const petal_family *family)
{
    return atomic_load_explicit(&family->dropped, memory_order_acquire) ||
           table_is_dropped(family->table);
}

/* Its family was dropped, or its region was merged into another. Constant likewise. */
static inline bool
store_is_dropped(const struct store *store)
{
    return atomic_load_explicit(&store->merged, memory_order_acquire) ||
           family_is_dropped(store->family);
}

/* No row of the family has a greater timestamp, assigned by the store, or any. Any thread. */
static inline int64_t
family_newest(const petal_family *family, bool of_all)
{
    int64_t stamped = atomic_load_explicit(&family->stamped, memory_order_relaxed);
    int64_t given = of_all ? atomic_load_explicit(&family->given, memory_order_relaxed) : 0;

    return stamped > given ? stamped : given;
}

/* A cell has the timestamp, which the store has assigned, or has not. */
static inline void
family_note_stamped(petal_family *family, int64_t timestamp)
{
    if (timestamp > atomic_load_explicit(&family->stamped, memory_order_relaxed))
        atomic_store_explicit(&family->stamped, timestamp, memory_order_relaxed);
}

static inline void
family_note_given(petal_family *family, int64_t timestamp)
{
    if (timestamp > atomic_load_explicit(&family->given, memory_order_relaxed))
        atomic_store_explicit(&family->given, timestamp, memory_order_relaxed);
}

/* The active memtable holds a cell. LEADER. */
static inline void
store_note_written(struct store *store, struct store **list)
{
    assert(store->written_link == NULL);
    store->written_next = *list;
    store->written_link = list;
    if (*list != NULL)
        (*list)->written_link = &store->written_next;
    *list = store;
}

/* The active memtable is another one, or gone. LEADER. */
static inline void
store_forget_written(struct store *store)
{
    if (store->written_link == NULL)
        return;
    *store->written_link = store->written_next;
    if (store->written_next != NULL)
        store->written_next->written_link = store->written_link;
    store->written_next = NULL;
    store->written_link = NULL;
}

/* The tables there are. */
struct schema {
    /* Set when the database is opened: */
    petal_db *db;
    const struct env *env;
    const struct directory *directory;
    uint64_t salt; /* of the hashes of names */

    _Atomic(struct damage *) damage; /* the newest (engine/state/damage.h) */
    struct mutex mutex; /* one change of the schema at a time; guards the fields below */
    petal_table *tables;
    petal_table *dropped; /* which handles of the caller's may still name */
    /* Tables: those that live by hashes of their names, and all by their ids; values are
     * pointers. */
    struct number_map by_name, by_id;
    size_t slot_count; /* of families ever, in this opening */
};

/* The family's stores in a view; NULL when it was dropped or is newer than the view. */
static inline const struct region_list *
view_regions(const struct view *view, const petal_family *family)
{
    return view_at(view, family->slot);
}

/* The regions of a table in a view: all its families in the view have the same. NULL: none is in
 * it. */
static inline const struct region_list *
view_table_regions(const struct view *view, const struct table_descriptor *descriptor)
{
    const struct region_list *list = NULL;

    for (size_t i = 0; list == NULL && i < descriptor->family_count; i++)
        list = view_regions(view, descriptor->families[i]);
    return list;
}

/* The one that has the row, whose head is slice_head(row, 0); NULL likewise. */
static inline const struct region_store *
view_row_region(const struct view *view, const petal_family *family, uint64_t row_head,
                petal_slice row)
{
    const struct region_list *list = view_regions(view, family);

    return list != NULL ? region_of_row(list, row_head, row) : NULL;
}

/* The handles of a table of the manifest, linked into schema->tables, with empty store views to
 * come. REQUIRES: schema->mutex held. */
enum petal_status table_attach(struct schema *schema, const struct manifest_table *described,
                               petal_table **table);
void table_free(petal_table *table);

/* Prepare that the handles become as the manifest describes the table by now, in place of what was
 * prepared before: families are made, which no descriptor names yet. After PETAL_NO_MEMORY nothing
 * is prepared. REQUIRES: schema->mutex held. */
enum petal_status table_follow(petal_table *table, const struct manifest_table *described);

/* They become so: families are flagged as dropped, all are described anew. REQUIRES: the same. */
void table_show_next(petal_table *table);

/* A handle that nothing points to yet, at `slot` of views to come; NULL: no memory. */
petal_family *family_new(petal_table *table, uint16_t id, size_t slot,
                         const petal_family_options *options);
void family_free(petal_family *family); /* NULL: no-op */

/* The store that has the row. REQUIRES: there is one at least. */
struct store *store_map_search(const struct store_map *map, petal_slice row);

/* The family's store of the row. LEADER. REQUIRES: the family was not dropped. */
static inline struct store *
family_store_of_row(const petal_family *family, petal_slice row)
{
    return family->stores.count == 1 ? family->stores.places->store
                                     : store_map_search(&family->stores, row);
}

/* The first row after the region of the store at `place` in the map; empty: no end. LEADER. */
static inline petal_slice
family_store_end(const petal_family *family, size_t place)
{
    return place + 1 < family->stores.count ? family->stores.places[place + 1].store->start
                                            : slice_make(NULL, 0);
}

/* Make room in the map for `more` further stores; false: no memory. REQUIRES, as do the next
 * two: LEADER, or no other thread has the family. */
bool family_reserve_stores(petal_family *family, size_t more);
/* REQUIRES: there is room. */
void family_show_store(petal_family *family, struct store *store);
void family_hide_store(petal_family *family, const struct store *store);

/* Make a handle for the family's store of a region, in the family's list, still without a memtable
 * and in no view; NULL: no memory. REQUIRES: schema.mutex held, or only the caller knows the
 * family. */
struct store *store_new(petal_family *family, uint32_t region, int64_t split_ms, petal_slice start);

/* REQUIRES: the same; it is the newest of its family, and was never in a published view. */
void store_free_newest(struct store *store);

/* The family's store of the region, if that was not merged; NULL: there is none. REQUIRES: the
 * same. */
struct store *family_store(const petal_family *family, uint32_t region);

/* Replace the present descriptor, which is kept. REQUIRES: schema.mutex held. */
void family_describe(petal_family *family, struct family_descriptor *descriptor);
void table_describe(petal_table *table, struct table_descriptor *descriptor);

/* The table is dropped: lookups by name and walks over the tables no longer find it. REQUIRES:
 * schema.mutex held. */
void table_retire(petal_table *table);

/* A table that was attached with a provisional id, and its regions with those after it, unseen by
 * others, gets its own; or is detached. REQUIRES: the same. */
void table_change_id(petal_table *table, uint32_t id);
void table_detach(petal_table *table);

petal_table *table_by_id(const struct schema *schema, uint32_t id);
petal_table *table_by_name(const struct schema *schema,
                           petal_slice name); /* REQUIRES: schema->mutex held */
petal_family *table_family_by_id(petal_table *table, uint16_t id);

/* Check the families of a new table; the resolved ones are allocated (also on failure, family_count
 * of them), their names and attributes borrowed. */
enum petal_status table_resolve_families(const petal_allocator *allocator,
                                         const petal_table_options *options,
                                         petal_family_options **families, petal_error *error);

/* PETAL_NOT_FOUND if the table, the family was dropped. */
enum petal_status table_check_alive(const petal_table *table, petal_error *error);
enum petal_status family_check_alive(const petal_family *family, petal_error *error);
/* Likewise; PETAL_BUSY: its region was merged into another. */
enum petal_status store_check_alive(const struct store *store, petal_error *error);

#endif
