/*
 * view.h -- an immutable snapshot of all sources of all stores: what a reader reads.
 *
 * A view covers the whole database, so that a batch over several tables is seen whole or not at
 * all. It has the regions of each family, sorted, so that a row's store is found without a lock:
 * HBase asks the table META. Stores that did not change are shared with the previous view. Each
 * level is counted: a view counts its lists of regions, these their store views, a store view its
 * memtables and files. The database holds one count on the current view, each cursor one on its
 * own.
 *
 * A memtable or file may be in the stores of several regions, which each have but their own rows of
 * it: so whoever reads a store for more than one row does not go beyond its region's ends.
 *
 * Point reads take no count: they load the current view inside the epoch (base/epoch.h). A replaced
 * view loses the database's count only when the readers that could have loaded it have left.
 *
 * Threads: views are immutable; callers of db_publish_view hold db->views.mutex.
 */
#ifndef PETAL_ENGINE_STATE_VIEW_H
#define PETAL_ENGINE_STATE_VIEW_H

#include <assert.h>

#include "base/epoch.h"
#include "base/inline.h"
#include "base/mutex.h"
#include "base/slice.h"
#include "engine/petal.h"
#include "engine/state/budget.h"
#include "engine/state/readers.h"
#include "engine/state/store.h"
#include "memtable/memtable.h"
#include "sstable/sst_reader.h"

/* The bit of a kind of marker. */
static inline uint32_t
marker_kind(enum petal_cell_type type)
{
    return UINT32_C(1) << type;
}

/* A memtable with its count and what the engine needs to know of it. */
struct store_memtable {
    _Atomic(uint32_t) references;
    const petal_allocator *allocator;
    struct memtable *memtable;
    struct memory_budget *budget; /* NULL: nothing is charged yet */
    size_t charged; /* to it; written by the write leader, given back with the last reference */
    _Atomic(uint64_t)
        sequence_first; /* of its first cell; 0 while empty; written by the write leader */
    /* Markers in it: readers skip work by them, so they are raised before the cell is
     * published. */
    _Atomic(uint32_t) marker_kinds; /* marker_kind() of each */
    _Atomic(uint32_t) ttl_cells;    /* cells with a TTL of their own, likewise */
};

/* A store file with its count. When `obsolete` is set the last reference removes the file.
 *
 * A PART is what a store has of a file when it is not all, or is in another run there than for
 * another store: the rows from one on, since a compaction has rewritten those before. It has facts
 * of its own, of which the least row is that one; its counts are the whole file's. It holds the
 * whole file, which alone is obsolete, bad or charged. */
struct store_file {
    _Atomic(uint32_t) references;
    const struct env *env;
    struct readers *readers; /* of other openings, which may need it */
    uint64_t born;           /* see readers_remove; 0: states of before this opening have it, too */
    struct cache *cache;
    struct sst_reader *reader;
    struct memory_budget *budget; /* NULL: nothing is charged */
    size_t charged;               /* to it, given back with the last reference */
    uint64_t number;
    uint64_t run;           /* when it was opened; the views say which it is now */
    struct file_part *part; /* NULL: it is a whole file */
    /* Of a whole file: */
    _Atomic(bool) obsolete;
    _Atomic(bool) bad; /* no compaction in the background reads it (engine/state/damage.h) */
};

/* Memory of the store_file. */
struct file_part {
    struct store_file *whole; /* referenced */
    struct file_facts facts;
    uint64_t bytes;        /* of the file, about, that are of its rows */
    struct cell_key first; /* it has no cell before that, of its least row */
    size_t key_bytes;      /* of memory behind this struct, which that key and row are in */
};

/* The facts by which a file is read or skipped, adjacent for all files of a store; those that most
 * gets need come first. */
struct file_entry {
    uint64_t row_min_head, row_max_head; /* slice_head(row, 0) */
    const struct bloom_rows *bloom;      /* the directory of its filter; NULL: it has none */
    uint32_t marker_kinds;               /* marker_kind() of those in it */
    uint32_t qualifier_count;            /* that are recorded; 0: they are not */
    petal_slice first_qualifier;         /* of those */
    int64_t time_max;
    uint64_t sequence_max;
    struct sst_reader *reader;
    const struct file_facts *facts;
    struct store_file *file;
    uint64_t run;   /* files of one run have disjoint row ranges */
    uint64_t bytes; /* of the file, about, that are of rows of the store's region */
    int64_t time_min;
    bool has_ttl; /* cells with a TTL of their own */
    bool shared;  /* it has rows that are not the store's, too */
};

struct store_view {
    _Atomic(uint32_t) references;
    const petal_allocator *allocator;
    size_t bytes;    /* of memory that begins with this struct */
    uint64_t number; /* of all store views of the process, from 1 on */
    uint32_t memtable_count;
    uint32_t file_count;
    uint32_t ttl_files;                /* files that hold cells with a TTL of their own */
    uint32_t column_blooms;            /* files whose Bloom filter answers for columns */
    bool one_qualifier;                /* all files have cells of one qualifier, the same in all */
    struct store_memtable **memtables; /* newest first; the first takes writes */
    struct file_entry *files; /* by (greatest timestamp, greatest sequence), newest first */
};

/* A store in a view. */
struct region_store {
    petal_slice start; /* the store's */
    struct store *store;
    struct store_view *view;
};

#define REGION_PAGE_STORES 64

struct region_page {
    _Atomic(uint32_t) references; /* of lists */
    uint32_t count, capacity;
    struct region_store stores[];
};

/* The stores of a family by the starts of their regions, of which the first is empty. A list shares
 * the pages in which no store differs with others: so a change of a store costs those of its page,
 * and eight bytes for each region. All pages but the last are full. */
struct region_list {
    _Atomic(uint32_t) references;
    uint32_t count, capacity; /* of stores; at least one */
    uint32_t half, rest;      /* of the greatest power of two up to `count`; `count` beyond it */
    struct region_page **pages;
    uint64_t heads[]; /* slice_head(start, 0) of each region */
};

static ALWAYS_INLINE const struct region_store *
region_at(const struct region_list *list, uint32_t place)
{
    return &list->pages[place / REGION_PAGE_STORES]->stores[place % REGION_PAGE_STORES];
}

/* Among several. */
uint32_t region_search(const struct region_list *list, uint64_t row_head, petal_slice row);

/* The store that has the row, whose head is slice_head(row, 0). */
static ALWAYS_INLINE const struct region_store *
region_of_row(const struct region_list *list, uint64_t row_head, petal_slice row)
{
    return list->count == 1 ? list->pages[0]->stores
                            : region_at(list, region_search(list, row_head, row));
}

static inline uint32_t
region_place(const struct region_list *list, petal_slice row)
{
    return list->count == 1 ? 0 : region_search(list, slice_head(row, 0), row);
}

/* The first row after those of the region at `place`; empty: there is none. */
static inline petal_slice
region_end(const struct region_list *list, uint32_t place)
{
    return place + 1 < list->count ? region_at(list, place + 1)->start : slice_make(NULL, 0);
}

struct views;

#define VIEW_PAGE_FAMILIES 64

/* Views share the pages in which no family differs: so a view costs a reference for each page and
 * its changes, not one for each family. */
struct view_page {
    _Atomic(uint32_t) references;                     /* of views */
    struct region_list *families[VIEW_PAGE_FAMILIES]; /* NULL: there is none */
};

struct view {
    struct epoch_item retire; /* first member */
    _Atomic(uint32_t) references;
    const petal_allocator *allocator;
    struct view_bin *bin;     /* where it goes when it is retired and unseen */
    struct view *next_in_bin; /* the bin's */
    /* How far its cells are published: the database's, which goes on, or `fixed`, the view's own
     * (engine/db/refresh.h). */
    const _Atomic(uint64_t) *sequence;
    _Atomic(uint64_t) fixed;
    size_t page_count;
    struct view_page *pages[]; /* of the families by petal_family.slot */
};

/* The stores of the family at a slot; NULL when it was dropped or is newer than the view. */
static inline const struct region_list *
view_at(const struct view *view, size_t slot)
{
    size_t page = slot / VIEW_PAGE_FAMILIES;

    return page < view->page_count ? view->pages[page]->families[slot % VIEW_PAGE_FAMILIES] : NULL;
}

/* The store's part of a view; NULL when it was dropped or is newer than the view. */
static inline const struct store_view *
view_store(const struct view *view, const struct store *store)
{
    const struct region_list *list = view_at(view, store->slot);
    const struct region_store *region =
        list != NULL ? region_of_row(list, slice_head(store->start, 0), store->start) : NULL;

    return region != NULL && region->store == store ? region->view : NULL;
}

enum petal_status store_memtable_new(struct store_memtable **memtable,
                                     const petal_allocator *allocator);
void store_memtable_unref(struct store_memtable *memtable);

/* Raise what readers skip work by, before the cell is added. */
static inline void
store_memtable_note_cell(struct store_memtable *memtable, const struct cell *cell)
{
    if (cell_is_marker(cell->type))
        atomic_fetch_or_explicit(&memtable->marker_kinds, marker_kind(cell->type),
                                 memory_order_relaxed);
    if (cell->has_ttl)
        atomic_fetch_add_explicit(&memtable->ttl_cells, 1, memory_order_relaxed);
}

/* Charge the memtable's present memory. *change: the growth. LEADER. */
void store_memtable_charge(struct store_memtable *memtable, struct memory_budget *budget,
                           size_t *change);

/* Takes over `reader`, also on failure. */
enum petal_status store_file_new(struct store_file **file, const struct env *env,
                                 struct readers *readers, struct cache *cache,
                                 struct sst_reader *reader, uint64_t number, uint64_t run);
/* The rows of `file`, itself whole or a part, from `first` on (empty: all that it has). Reads its
 * index where that cuts off some. */
enum petal_status store_file_part(struct store_file **part, struct store_file *file, uint64_t run,
                                  petal_slice first, petal_error *error);
static inline struct store_file *
store_file_whole(struct store_file *file)
{
    return file->part != NULL ? file->part->whole : file;
}

static inline bool
store_file_is_bad(struct store_file *file)
{
    return atomic_load_explicit(&store_file_whole(file)->bad, memory_order_relaxed);
}

static inline const struct file_facts *
store_file_facts(const struct store_file *file)
{
    return file->part != NULL ? &file->part->facts : sst_reader_facts(file->reader);
}

/* Has a compaction rewritten rows of it? */
static inline bool
store_file_is_cut(const struct store_file *file)
{
    return file->part != NULL &&
           !slice_equal(file->part->facts.row_min, sst_reader_facts(file->reader)->row_min);
}

/* sst_iter_init over what the file has: whoever reads the cells of a store's file begins so. */
static inline void
store_file_iter_init(struct sst_iter *iter, const struct store_file *file,
                     const struct read_context *context, bool borrow, bool lazy)
{
    sst_iter_init(iter, file->reader, context, borrow, lazy);
    iter->first = file->part != NULL ? &file->part->first : NULL;
}

/* Has it rows from `low` up to `high` (empty: open)? */
bool store_file_has_rows(const struct store_file *file, petal_slice low, petal_slice high);
void store_file_ref(struct store_file *file);
void store_file_unref(struct store_file *file);

/* A store view made from `base` (NULL: empty): with `add_memtable` in front, without
 * `remove_memtable` and `remove_files`, with `add_files`, with the parts `cut_files` in place of the
 * files of their numbers, and with `link_files` in the run `link_run`. The new view references what
 * is added. `low` and `high` are the ends of the region of the rows that added files have (empty:
 * open). REQUIRES: what is removed, cut or linked is in `base`. */
struct store_change {
    petal_slice low, high;
    struct store_memtable *add_memtable;
    struct store_memtable *remove_memtable;
    struct store_file *const *remove_files;
    size_t remove_file_count;
    struct store_file *const *add_files;
    size_t add_file_count;
    struct store_file *const *cut_files;
    size_t cut_file_count;
    struct store_file *const *link_files;
    size_t link_file_count;
    uint64_t link_run;
};
enum petal_status store_view_new(struct store_view **store_view, const petal_allocator *allocator,
                                 const struct store_view *base, const struct store_change *change);
void store_view_unref(struct store_view *store_view);

/* A store view of the region from `low` up to `high` (empty: open): `memtable` in front of the
 * frozen memtables of the bases, each once, and their files that have rows of it, each once.
 * REQUIRES: a file that two bases have is in the same run in both, and has all its rows of the
 * region in either. */
enum petal_status store_view_of_region(struct store_view **store_view,
                                       const petal_allocator *allocator, petal_slice low,
                                       petal_slice high, struct store_memtable *memtable,
                                       const struct store_view *const *bases, size_t base_count);

/* The first row that the store can have of the file, of a region that begins at `start`. */
static inline petal_slice
file_entry_low(const struct file_entry *file, petal_slice start)
{
    return slice_compare(start, file->facts->row_min) > 0 ? start : file->facts->row_min;
}

/* Bytes of its files, about, that are of rows of the region. */
uint64_t store_view_file_bytes(const struct store_view *store_view);

/* Bytes that its memtables hold. */
uint64_t store_view_memtable_bytes(const struct store_view *store_view);

bool store_view_has_memtable(const struct store_view *store_view,
                             const struct store_memtable *memtable);
/* NULL: it does not have the file. */
const struct file_entry *store_view_find_file(const struct store_view *store_view,
                                              const struct store_file *file);

static inline bool
store_view_has_file(const struct store_view *store_view, const struct store_file *file)
{
    return store_view_find_file(store_view, file) != NULL;
}

/* The greatest sequence of the runs with a bad file, 0: none. Background compactions use only runs
 * above it. */
uint64_t store_view_bad_sequence(const struct store_view *store);

/* The first row behind the store's region; empty: open. REQUIRES: the view has the store. */
static inline petal_slice
view_end(const struct view *view, const struct store *store)
{
    const struct region_list *list = view_at(view, store->slot);
    uint32_t place = region_place(list, store->start);

    assert(region_at(list, place)->store == store);
    return region_end(list, place);
}

/* A view with the stores of `base` (may be NULL), and room for `family_count` families at least,
 * published as far as `views` are. */
enum petal_status view_new(struct view **view, const petal_allocator *allocator,
                           const struct views *views, const struct view *base, size_t family_count);

/* The view has the stores of an unpublished one as of this sequence, whatever is published. */
void view_fix(struct view *view, uint64_t sequence);

/* Put `store_view` (reference taken over, also on failure; NULL: none) in an unpublished view, as
 * that of the store. REQUIRES: the view that it was made from, if any, is still the current one. */
enum petal_status view_set_store(struct view *view, struct store *store,
                                 struct store_view *store_view);

/* Take out all stores of the family at the slot, likewise. */
enum petal_status view_remove_family(struct view *view, size_t slot);
void view_ref(struct view *view);
void view_unref(struct view *view);

/* ---- views that nobody sees any more ---- */

/*
 * The bin holds views until a background thread releases them, with their memtables and the store
 * files that were compacted away, which costs system calls. The thread that finds that a view's
 * last reader has left, perhaps a reader in the middle of a get, only puts it here and says so.
 * Functions of the bin: from any thread.
 */
struct view_bin {
    _Atomic(struct view *) newest; /* linked by next_in_bin */
    struct mutex mutex;            /* held while views are released */
    void (*tell)(void *argument);  /* that there is something; must not wait */
    void *argument;
};

bool view_bin_init(struct view_bin *bin, void (*tell)(void *argument), void *argument);

/* REQUIRES: empty. */
void view_bin_fini(struct view_bin *bin);

/* Takes over a reference. */
void view_bin_put(struct view_bin *bin, struct view *view);
bool view_bin_is_empty(struct view_bin *bin);

/* Release its views; on return those that were in it before are gone, also if another thread has
 * taken them. REQUIRES: no lock held that readers or writers wait for. */
void view_bin_empty(struct view_bin *bin);

/* The current view, and how far it is to be read. */
struct views {
    struct mutex mutex; /* of who replaces `current` */
    _Atomic(struct view *) current;
    struct view_bin bin;                  /* those before it that nobody sees */
    _Atomic(uint64_t) published_sequence; /* readers see cells up to it; the leader's to change */
    _Atomic(int64_t) published_timestamp; /* the greatest assigned timestamp among them */
};

#endif
