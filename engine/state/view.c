/* view.c -- see view.h. */
#include "engine/state/view.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Counts are taken with relaxed order: whoever takes one holds the object already. The last drop
 * must see all uses by the others before freeing, hence acquire and release. */
static void
take(_Atomic(uint32_t) *references)
{
    uint32_t before = atomic_fetch_add_explicit(references, 1, memory_order_relaxed);

    assert(before > 0);
    (void)before;
}

static bool
drop_is_last(_Atomic(uint32_t) *references)
{
    uint32_t before = atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel);

    assert(before > 0);
    return before == 1;
}

enum petal_status
store_memtable_new(struct store_memtable **memtable, const petal_allocator *allocator)
{
    struct store_memtable *made = mem_zalloc(allocator, sizeof *made);
    enum petal_status status;

    *memtable = NULL;
    if (made == NULL)
        return PETAL_NO_MEMORY;
    status = memtable_new(&made->memtable, allocator);
    if (status != PETAL_OK) {
        mem_free(allocator, made, sizeof *made);
        return status;
    }
    atomic_init(&made->references, 1);
    atomic_init(&made->sequence_first, 0);
    atomic_init(&made->marker_kinds, 0);
    atomic_init(&made->ttl_cells, 0);
    made->allocator = allocator;
    *memtable = made;
    return PETAL_OK;
}

void
store_memtable_unref(struct store_memtable *memtable)
{
    if (memtable == NULL || !drop_is_last(&memtable->references))
        return;
    memtable_free(memtable->memtable);
    if (memtable->budget != NULL)
        memory_budget_memtables(memtable->budget, -(int64_t)memtable->charged);
    mem_free(memtable->allocator, memtable, sizeof *memtable);
}

void
store_memtable_charge(struct store_memtable *memtable, struct memory_budget *budget, size_t *change)
{
    size_t bytes = sizeof *memtable + memtable_bytes(memtable->memtable);

    /* It grows by whole chunks, which grow with the memtable: so this is rare. It never shrinks. */
    *change = bytes - memtable->charged;
    if (*change == 0)
        return;
    memtable->budget = budget;
    memtable->charged = bytes;
    memory_budget_memtables(budget, (int64_t)*change);
}

/* NULL: no memory. */
static struct store_file *
make_file(const struct env *env, struct readers *readers, struct cache *cache,
          struct sst_reader *reader, uint64_t number, uint64_t run)
{
    struct store_file *made = mem_zalloc(env->allocator, sizeof *made);

    if (made == NULL)
        return NULL;
    atomic_init(&made->references, 1);
    atomic_init(&made->obsolete, false);
    atomic_init(&made->bad, false);
    made->env = env;
    made->readers = readers;
    made->cache = cache;
    made->reader = reader;
    made->number = number;
    made->run = run;
    return made;
}

enum petal_status
store_file_new(struct store_file **file, const struct env *env, struct readers *readers,
               struct cache *cache, struct sst_reader *reader, uint64_t number, uint64_t run)
{
    *file = make_file(env, readers, cache, reader, number, run);
    if (*file != NULL)
        return PETAL_OK;
    sst_reader_close(reader);
    return PETAL_NO_MEMORY;
}

/* What `file` has from `first` on; NULL: no memory. */
static struct file_part *
make_part(struct store_file *file, petal_slice first)
{
    size_t key_bytes = first.size + cell_key_bound(first.size, 0);
    struct file_part *part = mem_alloc(file->env->allocator, sizeof *part + key_bytes);
    uint8_t *row = (uint8_t *)(part + 1);

    if (part == NULL)
        return NULL;
    part->whole = store_file_whole(file);
    part->facts = *store_file_facts(file);
    part->bytes = file->part != NULL ? file->part->bytes : part->facts.file_bytes;
    part->key_bytes = key_bytes;
    memcpy(row, first.data, first.size);
    cell_key_make(&part->first, row + first.size, slice_make(row, first.size), slice_make(NULL, 0),
                  true, INT64_MAX, CELL_SEQUENCE_MAX);
    part->facts.row_min = part->first.row; /* that of the file may be in another part's memory */
    take(&part->whole->references);
    return part;
}

enum petal_status
store_file_part(struct store_file **part, struct store_file *file, uint64_t run, petal_slice first,
                petal_error *error)
{
    petal_slice row_min = store_file_facts(file)->row_min;
    struct store_file *made =
        make_file(file->env, file->readers, file->cache, file->reader, file->number, run);
    enum petal_status status = PETAL_OK;

    *part = NULL;
    if (made == NULL)
        return error_no_memory(error);
    if (slice_compare(first, row_min) < 0)
        first = row_min;
    made->born = file->born;
    made->part = make_part(file, first);
    if (made->part == NULL) {
        mem_free(file->env->allocator, made, sizeof *made);
        return error_no_memory(error);
    }
    if (!slice_equal(first, row_min))
        status =
            sst_reader_part(file->reader, first, slice_make(NULL, 0), &made->part->bytes, error);
    if (status == PETAL_OK)
        *part = made;
    else
        store_file_unref(made);
    return status;
}

bool
store_file_has_rows(const struct store_file *file, petal_slice low, petal_slice high)
{
    const struct file_facts *facts = store_file_facts(file);

    return slice_compare(facts->row_max, low) >= 0 &&
           (high.size == 0 || slice_compare(facts->row_min, high) < 0);
}

void
store_file_ref(struct store_file *file)
{
    take(&file->references);
}

static void
free_part(struct store_file *file)
{
    const petal_allocator *allocator = file->env->allocator;
    struct store_file *whole = file->part->whole;

    assert(!atomic_load_explicit(&file->obsolete, memory_order_relaxed));
    mem_free(allocator, file->part, sizeof *file->part + file->part->key_bytes);
    mem_free(allocator, file, sizeof *file);
    store_file_unref(whole);
}

void
store_file_unref(struct store_file *file)
{
    if (file == NULL || !drop_is_last(&file->references))
        return;
    if (file->part != NULL) {
        free_part(file);
        return;
    }
    if (atomic_load_explicit(&file->obsolete, memory_order_relaxed)) {
        readers_remove(file->readers, FILENAME_STORE_FILE, file->number, file->born);
        cache_erase_file(file->cache, file->number);
    }
    sst_reader_close(file->reader);
    if (file->budget != NULL)
        memory_budget_files(file->budget, -(int64_t)file->charged);
    mem_free(file->env->allocator, file, sizeof *file);
}

static uint64_t
next_number(void)
{
    static _Atomic(uint64_t) last;

    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

static size_t
store_view_bytes(size_t memtable_count, size_t file_count)
{
    return sizeof(struct store_view) + memtable_count * sizeof(struct store_memtable *) +
           file_count * sizeof(struct file_entry);
}

static uint32_t
marker_kinds(const struct file_facts *facts)
{
    return (facts->deletes > 0 ? marker_kind(PETAL_DELETE) : 0) |
           (facts->family_version_deletes > 0 ? marker_kind(PETAL_DELETE_FAMILY_VERSION) : 0) |
           (facts->column_deletes > 0 ? marker_kind(PETAL_DELETE_COLUMN) : 0) |
           (facts->family_deletes > 0 ? marker_kind(PETAL_DELETE_FAMILY) : 0);
}

/* Tell how much of the file is of the region from `low` up to `high`: about a half, of a file that
 * reaches beyond one end. */
static void
bound_entry(struct file_entry *entry, petal_slice low, petal_slice high)
{
    const struct file_part *part = entry->file->part;
    bool below = slice_compare(entry->facts->row_min, low) < 0;
    bool above = high.size > 0 && slice_compare(entry->facts->row_max, high) >= 0;
    uint64_t bytes = part != NULL ? part->bytes : entry->facts->file_bytes;

    entry->shared = below || above || store_file_is_cut(entry->file);
    entry->bytes = bytes >> (below + above);
}

static struct file_entry
file_entry_of(struct store_file *file, petal_slice low, petal_slice high)
{
    const struct file_facts *facts = store_file_facts(file);
    struct file_entry entry = {
        .row_min_head = slice_head(facts->row_min, 0),
        .row_max_head = slice_head(facts->row_max, 0),
        .bloom = sst_reader_bloom_rows(file->reader),
        .marker_kinds = marker_kinds(facts),
        .qualifier_count = facts->qualifiers_exact ? facts->qualifier_count : 0,
        .first_qualifier = facts->qualifiers_exact && facts->qualifier_count > 0
                               ? facts->qualifiers[0]
                               : slice_make(NULL, 0),
        .time_max = facts->time_max,
        .sequence_max = facts->sequence_max,
        .reader = file->reader,
        .facts = facts,
        .file = file,
        .run = file->run,
        .time_min = facts->time_min,
        .has_ttl = facts->ttl_cells > 0,
    };

    bound_entry(&entry, low, high);
    return entry;
}

/* `more` 1: one more view has the file; UINT32_MAX, which is -1: one less. */
static void
count_file(struct store_view *store_view, const struct file_facts *facts, uint32_t more)
{
    if (facts_has_column_bloom(facts))
        store_view->column_blooms += more;
    if (facts->ttl_cells > 0)
        store_view->ttl_files += more;
}

/* By (greatest timestamp, greatest sequence), newest first; where both are the same, which files of
 * one run bring about, by number. */
static int
compare_entries(const void *left, const void *right)
{
    const struct file_entry *a = left, *b = right;

    if (a->time_max != b->time_max)
        return a->time_max > b->time_max ? -1 : 1;
    if (a->sequence_max != b->sequence_max)
        return a->sequence_max > b->sequence_max ? -1 : 1;
    return (a->file->number > b->file->number) - (a->file->number < b->file->number);
}

static void
add_memtable(struct store_view *store_view, struct store_memtable *memtable)
{
    take(&memtable->references);
    store_view->memtables[store_view->memtable_count++] = memtable;
}

static bool
is_among(struct store_file *const *files, size_t count, const struct store_file *file)
{
    for (size_t i = 0; i < count; i++) {
        if (files[i] == file)
            return true;
    }
    return false;
}

static bool
is_removed(const struct store_change *change, const struct store_file *file)
{
    return is_among(change->remove_files, change->remove_file_count, file);
}

static size_t
kept_memtables(const struct store_view *base, const struct store_change *change)
{
    size_t there = base != NULL ? base->memtable_count : 0, kept = 0;

    for (size_t i = 0; i < there; i++)
        kept += base->memtables[i] != change->remove_memtable;
    assert(there - kept == (change->remove_memtable != NULL));
    return kept;
}

static size_t
kept_files(const struct store_view *base, const struct store_change *change)
{
    size_t there = base != NULL ? base->file_count : 0, kept = 0;

    for (size_t i = 0; i < there; i++)
        kept += !is_removed(change, base->files[i].file);
    assert(there - kept == change->remove_file_count);
    return kept;
}

/* The files are in place: take references, and tell what all have in common. */
static void
settle_files(struct store_view *made)
{
    made->one_qualifier = made->file_count > 0;
    for (uint32_t i = 0; i < made->file_count; i++) {
        take(&made->files[i].file->references);
        made->one_qualifier =
            made->one_qualifier && made->files[i].qualifier_count == 1 &&
            slice_equal(made->files[i].first_qualifier, made->files[0].first_qualifier);
    }
}

/* If the file is cut, the part takes its place, which is that of the same sequences and times, and
 * its run. */
static void
cut_entry(struct file_entry *entry, const struct store_change *change)
{
    uint64_t run = entry->run;

    for (size_t i = 0; i < change->cut_file_count; i++) {
        if (change->cut_files[i]->number != entry->file->number)
            continue;
        *entry = file_entry_of(change->cut_files[i], change->low, change->high);
        entry->run = run;
        return;
    }
}

/* The files of a new view: those of `base` that stay, which are sorted, and the added ones, which
 * are sorted at the end of the array and then take their places among them. */
static void
merge_files(struct store_view *made, const struct store_view *base,
            const struct store_change *change)
{
    struct file_entry *added = made->files + (made->file_count - change->add_file_count);
    const struct file_entry *end = made->files + made->file_count;
    uint32_t at = 0;

    if (base != NULL) {
        made->ttl_files = base->ttl_files;
        made->column_blooms = base->column_blooms;
    }
    for (size_t i = 0; i < change->add_file_count; i++) {
        added[i] = file_entry_of(change->add_files[i], change->low, change->high);
        count_file(made, added[i].facts, 1);
    }
    if (change->add_file_count > 1)
        qsort(added, change->add_file_count, sizeof *added, compare_entries);
    for (uint32_t i = 0; base != NULL && i < base->file_count; i++) {
        const struct file_entry *present = &base->files[i];

        if (is_removed(change, present->file)) {
            count_file(made, present->facts, UINT32_MAX);
            continue;
        }
        while (added < end && compare_entries(added, present) < 0)
            made->files[at++] = *added++;
        made->files[at] = *present;
        cut_entry(&made->files[at], change);
        if (is_among(change->link_files, change->link_file_count, present->file))
            made->files[at].run = change->link_run;
        at++;
    }
    assert(made->files + at == added); /* the rest of them are in their places */
    settle_files(made);
}

enum petal_status
store_view_new(struct store_view **store_view, const petal_allocator *allocator,
               const struct store_view *base, const struct store_change *change)
{
    size_t memtables = kept_memtables(base, change) + (change->add_memtable != NULL);
    size_t files = kept_files(base, change) + change->add_file_count;
    struct store_view *made = mem_alloc(allocator, store_view_bytes(memtables, files));

    *store_view = made;
    if (made == NULL)
        return PETAL_NO_MEMORY;
    *made = (struct store_view){.allocator = allocator,
                                .bytes = store_view_bytes(memtables, files),
                                .number = next_number(),
                                .file_count = (uint32_t)files};
    atomic_init(&made->references, 1);
    made->files = (struct file_entry *)(made + 1);
    made->memtables = (struct store_memtable **)(made->files + files);
    if (change->add_memtable != NULL)
        add_memtable(made, change->add_memtable);
    for (uint32_t i = 0; base != NULL && i < base->memtable_count; i++) {
        if (base->memtables[i] != change->remove_memtable)
            add_memtable(made, base->memtables[i]);
    }
    merge_files(made, base, change);
    return PETAL_OK;
}

bool
store_view_has_memtable(const struct store_view *store_view, const struct store_memtable *memtable)
{
    for (uint32_t i = 0; i < store_view->memtable_count; i++) {
        if (store_view->memtables[i] == memtable)
            return true;
    }
    return false;
}

uint64_t
store_view_file_bytes(const struct store_view *store_view)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < store_view->file_count; i++)
        bytes += store_view->files[i].bytes;
    return bytes;
}

uint64_t
store_view_memtable_bytes(const struct store_view *store_view)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < store_view->memtable_count; i++)
        bytes += memtable_bytes(store_view->memtables[i]->memtable);
    return bytes;
}

const struct file_entry *
store_view_find_file(const struct store_view *store_view, const struct store_file *file)
{
    for (uint32_t i = 0; i < store_view->file_count; i++) {
        if (store_view->files[i].file == file)
            return &store_view->files[i];
    }
    return NULL;
}

/* Take of a base what is of the region, and not there. */
static void
take_base(struct store_view *made, const struct store_view *base, petal_slice low, petal_slice high)
{
    for (uint32_t i = 1; i < base->memtable_count; i++) {
        if (!store_view_has_memtable(made, base->memtables[i]))
            add_memtable(made, base->memtables[i]);
    }
    for (uint32_t i = 0; i < base->file_count; i++) {
        struct file_entry entry = base->files[i];

        if (!store_file_has_rows(entry.file, low, high) || store_view_has_file(made, entry.file))
            continue;
        bound_entry(&entry, low, high);
        count_file(made, entry.facts, 1);
        made->files[made->file_count++] = entry;
    }
}

enum petal_status
store_view_of_region(struct store_view **store_view, const petal_allocator *allocator,
                     petal_slice low, petal_slice high, struct store_memtable *memtable,
                     const struct store_view *const *bases, size_t base_count)
{
    size_t memtables = 1, files = 0;
    struct store_view *made;

    for (size_t i = 0; i < base_count; i++) {
        memtables += bases[i]->memtable_count;
        files += bases[i]->file_count;
    }
    made = mem_alloc(allocator, store_view_bytes(memtables, files));
    *store_view = made;
    if (made == NULL)
        return PETAL_NO_MEMORY;
    *made = (struct store_view){.allocator = allocator,
                                .bytes = store_view_bytes(memtables, files),
                                .number = next_number()};
    atomic_init(&made->references, 1);
    made->files = (struct file_entry *)(made + 1);
    made->memtables = (struct store_memtable **)(made->files + files);
    add_memtable(made, memtable);
    for (size_t i = 0; i < base_count; i++)
        take_base(made, bases[i], low, high);
    if (made->file_count > 1)
        qsort(made->files, made->file_count, sizeof *made->files, compare_entries);
    settle_files(made);
    return PETAL_OK;
}

void
store_view_unref(struct store_view *store_view)
{

    if (store_view == NULL || !drop_is_last(&store_view->references))
        return;
    for (uint32_t i = 0; i < store_view->memtable_count; i++)
        store_memtable_unref(store_view->memtables[i]);
    for (uint32_t i = 0; i < store_view->file_count; i++)
        store_file_unref(store_view->files[i].file);
    mem_free(store_view->allocator, store_view, store_view->bytes);
}

static size_t
view_bytes(size_t page_count)
{
    return sizeof(struct view) + page_count * sizeof(struct view_page *);
}

static void
release_retired(struct epoch_item *item)
{
    struct view *view = (struct view *)item;

    view_bin_put(view->bin, view);
}

uint64_t
store_view_bad_sequence(const struct store_view *store)
{
    uint64_t greatest = 0;

    for (uint32_t i = 0; i < store->file_count; i++) {
        if (!store_file_is_bad(store->files[i].file))
            continue;
        for (uint32_t k = 0; k < store->file_count; k++) {
            if (store->files[k].run == store->files[i].run &&
                store->files[k].sequence_max > greatest)
                greatest = store->files[k].sequence_max;
        }
    }
    return greatest;
}

/* With the stores of `base`, NULL: none, and room for `capacity`. */
static struct region_page *
region_page_new(const struct region_page *base, uint32_t capacity, const petal_allocator *allocator)
{
    struct region_page *made =
        mem_alloc(allocator, sizeof *made + capacity * sizeof(struct region_store));

    if (made == NULL)
        return NULL;
    atomic_init(&made->references, 1);
    made->capacity = capacity;
    made->count = base != NULL ? base->count : 0;
    assert(made->count <= capacity);
    for (uint32_t i = 0; i < made->count; i++) {
        made->stores[i] = base->stores[i];
        take(&made->stores[i].view->references);
    }
    return made;
}

static void
region_page_unref(struct region_page *page, const petal_allocator *allocator)
{
    if (!drop_is_last(&page->references))
        return;
    for (uint32_t i = 0; i < page->count; i++)
        store_view_unref(page->stores[i].view);
    mem_free(allocator, page, sizeof *page + page->capacity * sizeof(struct region_store));
}

static uint32_t
pages_of(uint32_t stores)
{
    return (stores + REGION_PAGE_STORES - 1) / REGION_PAGE_STORES;
}

static size_t
list_bytes(uint32_t capacity)
{
    return sizeof(struct region_list) + capacity * sizeof(uint64_t) +
           pages_of(capacity) * sizeof(struct region_page *);
}

static void
set_count(struct region_list *list, uint32_t count)
{
    assert(count <= list->capacity);
    list->count = count;
    list->half = count > 1 ? UINT32_C(1) << (30 - __builtin_clz(count)) : 0;
    list->rest = count > 1 ? count - 2 * list->half : 0;
}

/* With the stores of `base`, NULL: none, and room for `more`. */
static struct region_list *
list_new(const struct region_list *base, uint32_t more, const petal_allocator *allocator)
{
    uint32_t count = base != NULL ? base->count : 0;
    struct region_list *made = mem_alloc(allocator, list_bytes(count + more));

    if (made == NULL)
        return NULL;
    atomic_init(&made->references, 1);
    made->capacity = count + more;
    made->pages = (struct region_page **)(made->heads + made->capacity);
    set_count(made, count);
    if (count > 0)
        memcpy(made->heads, base->heads, count * sizeof made->heads[0]);
    for (uint32_t i = 0; i < pages_of(count); i++) {
        made->pages[i] = base->pages[i];
        take(&made->pages[i]->references);
    }
    return made;
}

static void
list_unref(struct region_list *list, const petal_allocator *allocator)
{
    if (list == NULL || !drop_is_last(&list->references))
        return;
    for (uint32_t i = 0; i < pages_of(list->count); i++)
        region_page_unref(list->pages[i], allocator);
    mem_free(allocator, list, list_bytes(list->capacity));
}

/* With the families of `base`; NULL: with none. */
static struct view_page *
page_new(const struct view_page *base, const petal_allocator *allocator)
{
    struct view_page *made = mem_zalloc(allocator, sizeof *made);

    if (made == NULL)
        return NULL;
    atomic_init(&made->references, 1);
    for (size_t i = 0; base != NULL && i < VIEW_PAGE_FAMILIES; i++) {
        made->families[i] = base->families[i];
        if (made->families[i] != NULL)
            take(&made->families[i]->references);
    }
    return made;
}

static void
page_unref(struct view_page *page, const petal_allocator *allocator)
{
    if (!drop_is_last(&page->references))
        return;
    for (size_t i = 0; i < VIEW_PAGE_FAMILIES; i++)
        list_unref(page->families[i], allocator);
    mem_free(allocator, page, sizeof *page);
}

enum petal_status
view_new(struct view **view, const petal_allocator *allocator, const struct views *views,
         const struct view *base, size_t family_count)
{
    size_t shared = base != NULL ? base->page_count : 0;
    size_t wanted = (family_count + VIEW_PAGE_FAMILIES - 1) / VIEW_PAGE_FAMILIES;
    size_t page_count = wanted > shared ? wanted : shared;
    struct view *made = mem_zalloc(allocator, view_bytes(page_count));

    *view = made;
    if (made == NULL)
        return PETAL_NO_MEMORY;
    made->retire.release = release_retired;
    atomic_init(&made->references, 1);
    made->allocator = allocator;
    made->sequence = &views->published_sequence;
    made->page_count = page_count;
    for (size_t i = 0; i < page_count; i++) {
        if (i < shared) {
            made->pages[i] = base->pages[i];
            take(&made->pages[i]->references);
            continue;
        }
        made->pages[i] = page_new(NULL, allocator);
        if (made->pages[i] == NULL) {
            view_unref(made);
            *view = NULL;
            return PETAL_NO_MEMORY;
        }
    }
    return PETAL_OK;
}

void
view_fix(struct view *view, uint64_t sequence)
{
    atomic_store_explicit(&view->fixed, sequence, memory_order_relaxed);
    view->sequence = &view->fixed;
}

/* Where heads are equal, as with rows that begin alike, the whole starts decide. */
static NEVER_INLINE uint32_t
search_by_rows(const struct region_list *list, uint64_t row_head, petal_slice row)
{
    uint32_t place = 0;

    for (uint32_t count = list->count; count > 1;) {
        uint32_t half = count / 2;
        uint64_t head = list->heads[place + half];

        if (head < row_head ||
            (head == row_head && slice_compare(region_at(list, place + half)->start, row) <= 0))
            place += half;
        count -= half;
    }
    return place;
}

NEVER_INLINE uint32_t
region_search(const struct region_list *list, uint64_t row_head, petal_slice row)
{
    const uint64_t *head = list->heads;

    /* Windows of a power of two, the first from the beginning or up to the end; without a branch on
     * what the heads are, which cannot be predicted. */
    head = head[list->rest] <= row_head ? head + list->rest : head;
    for (size_t half = list->half; half > 0; half /= 2)
        head = head[half] <= row_head ? head + half : head;
    return *head == row_head ? search_by_rows(list, row_head, row) : (uint32_t)(head - list->heads);
}

/* The place of the family's list in a page that is the view's own; NULL: no memory. */
static struct region_list **
own_place(struct view *view, size_t slot)
{
    struct view_page **page = &view->pages[slot / VIEW_PAGE_FAMILIES];

    assert(slot / VIEW_PAGE_FAMILIES < view->page_count);
    /* The current view holds its pages, so one that is held once is this view's own. */
    if (atomic_load_explicit(&(*page)->references, memory_order_acquire) > 1) {
        struct view_page *own = page_new(*page, view->allocator);

        if (own == NULL)
            return NULL;
        page_unref(*page, view->allocator);
        *page = own;
    }
    return &(*page)->families[slot % VIEW_PAGE_FAMILIES];
}

/* A list that is the view's own, with room for one store more if `grows`. */
static struct region_list *
own_list(struct view *view, size_t slot, bool grows)
{
    struct region_list **place = own_place(view, slot);
    struct region_list *list = place != NULL ? *place : NULL, *own;

    if (place == NULL)
        return NULL;
    if (list != NULL && atomic_load_explicit(&list->references, memory_order_acquire) == 1 &&
        list->count + grows <= list->capacity)
        return list;
    own = list_new(list, grows ? 1 + (list != NULL ? list->count / 2 : 0) : 0, view->allocator);
    if (own == NULL)
        return NULL;
    list_unref(list, view->allocator);
    *place = own;
    return own;
}

/* A page of the view's own list that is its own, with room for so many stores; NULL: no memory. */
static struct region_page *
own_region_page(struct region_list *list, uint32_t index, uint32_t stores,
                const petal_allocator *allocator)
{
    struct region_page *page = list->pages[index], *own;
    uint32_t capacity = page->capacity;

    if (capacity >= stores && atomic_load_explicit(&page->references, memory_order_acquire) == 1)
        return page;
    while (capacity < stores)
        capacity = capacity < REGION_PAGE_STORES / 4 ? 4 * capacity : REGION_PAGE_STORES;
    own = region_page_new(page, capacity, allocator);
    if (own == NULL)
        return NULL;
    region_page_unref(page, allocator);
    list->pages[index] = own;
    return own;
}

/* The pages from that of `place` on, for that many stores in all. */
static bool
own_region_pages(struct region_list *list, uint32_t place, uint32_t stores,
                 const petal_allocator *allocator)
{
    uint32_t have = pages_of(list->count);

    for (uint32_t i = place / REGION_PAGE_STORES; i < pages_of(stores); i++) {
        uint32_t wanted = stores - i * REGION_PAGE_STORES;

        if (i < have) {
            if (own_region_page(list, i, wanted < REGION_PAGE_STORES ? wanted : REGION_PAGE_STORES,
                                allocator) == NULL)
                return false;
            continue;
        }
        /* The last one, of the store that is added. */
        list->pages[i] = region_page_new(NULL, 1, allocator);
        if (list->pages[i] == NULL)
            return false;
    }
    return true;
}

static struct region_store *
own_store(struct region_list *list, uint32_t place)
{
    return &list->pages[place / REGION_PAGE_STORES]->stores[place % REGION_PAGE_STORES];
}

/* The pages are as long as the list says. */
static void
count_stores(struct region_list *list, uint32_t from)
{
    for (uint32_t i = from / REGION_PAGE_STORES; i < pages_of(list->count); i++) {
        uint32_t rest = list->count - i * REGION_PAGE_STORES;

        list->pages[i]->count = rest < REGION_PAGE_STORES ? rest : REGION_PAGE_STORES;
    }
}

/* Put the store in its place by the region's start. False: no memory. */
static bool
insert_store(struct region_list *list, struct store *store, struct store_view *store_view,
             const petal_allocator *allocator)
{
    uint32_t place = list->count;

    assert(list->count < list->capacity);
    while (place > 0 && slice_compare(region_at(list, place - 1)->start, store->start) > 0)
        place--;
    if (!own_region_pages(list, place, list->count + 1, allocator))
        return false;
    for (uint32_t i = list->count; i > place; i--)
        *own_store(list, i) = *own_store(list, i - 1);
    memmove(&list->heads[place + 1], &list->heads[place],
            (list->count - place) * sizeof list->heads[0]);
    *own_store(list, place) =
        (struct region_store){.start = store->start, .store = store, .view = store_view};
    list->heads[place] = slice_head(store->start, 0);
    set_count(list, list->count + 1);
    count_stores(list, place);
    return true;
}

static bool
remove_store(struct region_list *list, uint32_t place, const petal_allocator *allocator)
{
    uint32_t last = list->count - 1;

    assert(place < list->count && list->count > 1);
    if (!own_region_pages(list, place, list->count, allocator))
        return false;
    store_view_unref(own_store(list, place)->view);
    for (uint32_t i = place; i < last; i++)
        *own_store(list, i) = *own_store(list, i + 1);
    memmove(&list->heads[place], &list->heads[place + 1], (last - place) * sizeof list->heads[0]);
    if (last % REGION_PAGE_STORES == 0) {
        list->pages[last / REGION_PAGE_STORES]->count = 0;
        region_page_unref(list->pages[last / REGION_PAGE_STORES], allocator);
    }
    set_count(list, last);
    count_stores(list, place);
    return true;
}

static bool
replace_store(struct region_list *list, uint32_t place, struct store_view *store_view,
              const petal_allocator *allocator)
{
    struct region_page *page = own_region_page(list, place / REGION_PAGE_STORES, 1, allocator);
    struct region_store *own = page != NULL ? &page->stores[place % REGION_PAGE_STORES] : NULL;

    if (own == NULL)
        return false;
    store_view_unref(own->view);
    own->view = store_view;
    return true;
}

enum petal_status
view_set_store(struct view *view, struct store *store, struct store_view *store_view)
{
    const petal_allocator *allocator = view->allocator;
    bool is_there = view_store(view, store) != NULL, done = false;
    struct region_list *list = own_list(view, store->slot, !is_there);
    uint32_t place = 0;

    assert(is_there || store_view != NULL);
    if (list != NULL && is_there) {
        place = region_place(list, store->start);
        assert(region_at(list, place)->store == store);
        done = store_view != NULL ? replace_store(list, place, store_view, allocator)
                                  : remove_store(list, place, allocator);
    } else if (list != NULL) {
        done = insert_store(list, store, store_view, allocator);
    }
    if (done)
        return PETAL_OK;
    store_view_unref(store_view);
    return PETAL_NO_MEMORY;
}

enum petal_status
view_remove_family(struct view *view, size_t slot)
{
    struct region_list **place = own_place(view, slot);

    if (place == NULL)
        return PETAL_NO_MEMORY;
    list_unref(*place, view->allocator);
    *place = NULL;
    return PETAL_OK;
}

void
view_ref(struct view *view)
{
    assert(view != NULL);
    take(&view->references);
}

void
view_unref(struct view *view)
{
    if (view == NULL || !drop_is_last(&view->references))
        return;
    for (size_t i = 0; i < view->page_count && view->pages[i] != NULL; i++)
        page_unref(view->pages[i], view->allocator);
    mem_free(view->allocator, view, view_bytes(view->page_count));
}

/* ---- views that nobody sees any more ---- */

bool
view_bin_init(struct view_bin *bin, void (*tell)(void *argument), void *argument)
{
    atomic_init(&bin->newest, NULL);
    bin->tell = tell;
    bin->argument = argument;
    return mutex_init(&bin->mutex);
}

void
view_bin_fini(struct view_bin *bin)
{
    mutex_fini(&bin->mutex);
}

void
view_bin_put(struct view_bin *bin, struct view *view)
{
    struct view *newest = atomic_load_explicit(&bin->newest, memory_order_relaxed);

    do {
        view->next_in_bin = newest;
    } while (!atomic_compare_exchange_weak_explicit(&bin->newest, &newest, view,
                                                    memory_order_release, memory_order_relaxed));
    bin->tell(bin->argument);
}

bool
view_bin_is_empty(struct view_bin *bin)
{
    return atomic_load_explicit(&bin->newest, memory_order_acquire) == NULL;
}

void
view_bin_empty(struct view_bin *bin)
{
    struct view *view;

    mutex_lock(&bin->mutex);
    view = atomic_exchange_explicit(&bin->newest, NULL, memory_order_acquire);
    while (view != NULL) {
        struct view *next = view->next_in_bin;

        view_unref(view);
        view = next;
    }
    mutex_unlock(&bin->mutex);
}
