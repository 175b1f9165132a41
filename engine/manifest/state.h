/*
 * state.h -- the durable state of a database but for its cells: tables, families, regions and store
 * files, where the log begins, and the counters that must not go back.
 *
 * Files are found by number, regions by id, tables by id and by name, each in a few steps however
 * many there are.
 *
 * Threads: the state is read and changed under one mutex of the engine.
 */
#ifndef PETAL_ENGINE_MANIFEST_STATE_H
#define PETAL_ENGINE_MANIFEST_STATE_H

#include "base/error.h"
#include "base/number_map.h"

struct manifest_file {
    uint64_t number;
    uint64_t identity; /* the store file's own, of its trailer */
    uint64_t run;      /* files of one run have disjoint row ranges */
    uint64_t file_bytes;
    uint64_t sequence_min, sequence_max;
    uint64_t cells;
    /* The sequences above, and those of the cells, are greater by this than those in the file
     * (sst_reader_shift_sequences). 0 but for files of a bulk (engine/table/bulk.c). */
    uint64_t sequence_shift;
    /* The store has its rows from this one on; empty: all. In a state the manifest's memory. */
    petal_slice first_row;
};

/* A family of one region. A file whose rows lie in several regions is named by the stores of each;
 * of its rows a store has those of its region, from its first_row there on. */
struct manifest_store {
    uint64_t flushed_sequence;   /* cells of this store at or below it are in store files */
    struct manifest_file *files; /* in no order */
    size_t file_count, file_capacity;
};

struct manifest_family {
    uint16_t id;                  /* unique in its table, never reused there */
    petal_family_options options; /* all filled in; name and attributes are the manifest's memory */
    int64_t ahead; /* the greatest timestamp that the store gave ahead of its clock; 0: none */
    struct manifest_store *stores; /* of the table's regions, in their order */
    size_t store_capacity;
};

/* The rows from its start up to the start of the region after it. */
struct manifest_region {
    /* Among tables and regions; never reused. The first region of a table has the table's. */
    uint32_t id;
    struct manifest_table *table;
    size_t place;      /* in table->regions */
    int64_t split_ms;  /* when the background made it of a larger one; 0: a call did */
    petal_slice start; /* empty for the first region alone; the manifest's memory */
};

/* Makes a table a snapshot: it is not read or written, it only keeps its store files. */
struct manifest_snapshot {
    petal_slice name; /* among snapshots; size 0: an ordinary table */
    int64_t created_ms;
    uint32_t ttl_seconds; /* 0: it stays until it is deleted */
};

struct manifest_table {
    uint32_t id;      /* never reused */
    petal_slice name; /* among ordinary tables; of a snapshot: that of the table it was taken of */
    struct manifest_snapshot snapshot;
    enum petal_durability durability;
    bool read_only;
    const petal_attribute *attributes; /* the manifest's memory */
    size_t attribute_count;
    /* A created family raises it. An id below that is not in `families` was dropped. */
    uint32_t next_family_id;
    struct manifest_family *families; /* in order of creation */
    size_t family_count, family_capacity;
    struct manifest_region **regions; /* by their starts; at least one */
    size_t region_count, region_capacity;
};

/* A promise about the log: the file of that number was synced up to `length`, and all before it
 * wholly. */
struct wal_promise {
    uint64_t log_number; /* 0: none */
    uint64_t length;
};

struct manifest_writer;

/* Pointers into it are good until the next commit. */
struct manifest {
    uint64_t number; /* of the state; each edit that changed it had a greater one */
    uint64_t database_identity;
    uint64_t salt; /* of the Bloom filters' hashes */
    /* Of logs and store files; at least 1; an added file raises it. */
    uint64_t next_file_number;
    /* Of tables and regions; at least 1; a created table raises it. An id below that is not in
     * `tables` was dropped, or is a region's. */
    uint32_t next_table_id;
    uint64_t last_sequence;
    int64_t last_timestamp; /* the greatest one that the store assigned; 0: none */
    uint64_t oldest_log;    /* logs below are obsolete */
    struct wal_promise promise;
    struct manifest_table **tables; /* by id */
    size_t table_count, table_capacity;
    struct number_map numbers; /* of the store files, with their places in each of their stores */
    struct number_map regions; /* ids of those that are not the first, with their addresses */
    struct number_map names;   /* hashes of the names of tables and of snapshots, with their ids */
    struct manifest_writer *writer; /* NULL in copies */
};

static inline bool
manifest_is_snapshot(const struct manifest_table *table)
{
    return table->snapshot.name.size > 0;
}

/* Of the stores of a table, family by family, that at `index`. */
static inline struct manifest_store *
manifest_store_at(const struct manifest_table *table, size_t index)
{
    return &table->families[index / table->region_count].stores[index % table->region_count];
}

/* NULL when there is none. */
struct manifest_table *manifest_find_table(const struct manifest *manifest, uint32_t id);
struct manifest_family *manifest_find_family(const struct manifest_table *table, uint16_t id);
struct manifest_region *manifest_find_region(const struct manifest *manifest, uint32_t id);
/* NULL when there is no such region, or no such family in its table. */
struct manifest_store *manifest_find_store(const struct manifest *manifest, uint32_t region,
                                           uint16_t family);
/* The place of the region that has the row. */
size_t manifest_region_of(const struct manifest_table *table, petal_slice row);
/* How many files the family names, those of several regions as often. */
size_t manifest_file_count(const struct manifest_table *table,
                           const struct manifest_family *family);
struct manifest_table *manifest_find_snapshot(const struct manifest *manifest, petal_slice name);
bool manifest_names_file(const struct manifest *manifest, uint64_t number);
/* Where the store has the file of that number; false: it has none. */
bool manifest_find_file(const struct manifest *manifest, const struct manifest_store *store,
                        uint64_t number, size_t *place);
/* Has a region of the family's before the one at that place the file, too? */
bool manifest_earlier_has_file(const struct manifest *manifest,
                               const struct manifest_family *family, size_t region,
                               uint64_t number);
/* Can a file of that number be one of this database? Others were put there by somebody else, and
 * are left alone and not counted, since numbers must not run out. */
bool manifest_number_possible(const struct manifest *manifest, uint64_t number);
/* From this number on none can be, as far as is known. */
uint64_t manifest_number_end(const struct manifest *manifest);
/* Did such a family of such a table ever exist? Both may have been dropped. */
bool manifest_has_known(const struct manifest *manifest, uint32_t table_id, uint16_t family_id);

/* Obsolete logs end with at most this sequence: their last cells are in store files, or were of a
 * dropped store, and then only the last sequence of all is known. */
uint64_t manifest_obsolete_sequence(const struct manifest *manifest);

/* Copies of the state, or of a table in it, with their own memory, without the writer. On
 * PETAL_NO_MEMORY the copy holds nothing. */
enum petal_status manifest_copy(struct manifest *copy, const struct manifest *manifest,
                                const petal_allocator *allocator);
enum petal_status manifest_copy_table(struct manifest_table *copy,
                                      const struct manifest_table *table,
                                      const petal_allocator *allocator);
/* A state that is this table alone. */
enum petal_status manifest_copy_alone(struct manifest *copy, struct manifest_table *table,
                                      const petal_allocator *allocator);
void manifest_copy_fini(struct manifest *copy, const petal_allocator *allocator);
void manifest_copy_table_fini(struct manifest_table *copy, const petal_allocator *allocator);
/* Of a copy: the store has no files. */
void manifest_store_forget_files(struct manifest_store *store, const petal_allocator *allocator);

/* ---- for those who change it: engine/manifest/ alone ---- */

/* The state of a fresh database. */
void manifest_state_init(struct manifest *manifest);
void manifest_state_fini(struct manifest *manifest, const petal_allocator *allocator);

/* Single tables and families own their names and attributes. */
bool manifest_copy_name(petal_slice *copy, petal_slice name, const petal_allocator *allocator);
void manifest_file_fini(const struct manifest_file *file, const petal_allocator *allocator);
void manifest_table_free(struct manifest_table *table, const petal_allocator *allocator);
void manifest_store_fini(struct manifest_store *store, const petal_allocator *allocator);
/* `region_count`: how many stores it has. */
void manifest_family_fini(struct manifest_family *family, size_t region_count,
                          const petal_allocator *allocator);
/* A region that is not the table's yet; NULL: no memory. */
struct manifest_region *manifest_region_new(struct manifest_table *table, uint32_t id,
                                            petal_slice start, const petal_allocator *allocator);
void manifest_region_free(struct manifest_region *region, const petal_allocator *allocator);

/* Copy the names and attributes that the options borrow. False: no memory; then they have none. */
bool manifest_own_options(petal_family_options *options, const petal_allocator *allocator);
void manifest_free_options(petal_family_options *options, const petal_allocator *allocator);

/* Where the table of that id stands, or would. */
size_t manifest_place_of(const struct manifest *manifest, uint32_t id);

/* The table that has this one's name, among tables or among snapshots; NULL: none. */
struct manifest_table *manifest_find_name(const struct manifest *manifest,
                                          const struct manifest_table *table);

/* Lookups. REQUIRES: there is room; a removed entry leaves its room. */
void manifest_name_add(struct manifest *manifest, const struct manifest_table *table);
void manifest_name_remove(struct manifest *manifest, const struct manifest_table *table);
void manifest_numbers_add(struct manifest *manifest, const struct manifest_store *store);
void manifest_numbers_remove(struct manifest *manifest, const struct manifest_store *store);

/* Put a file at `place`, with its first row; the one there moves to the end. REQUIRES: room, here
 * and in the lookup. */
void manifest_file_insert(struct manifest *manifest, struct manifest_store *store, size_t place,
                          const struct manifest_file *file);
/* Remove the file at `place`, whose first row is the caller's then; the last one takes its place.
 */
void manifest_file_remove(struct manifest *manifest, struct manifest_store *store, size_t place);

/* Put a region, with a store for each family of its table, at its place by its start; all of them
 * are the manifest's then. REQUIRES: room in the table, its families and the lookup. */
void manifest_region_insert(struct manifest *manifest, struct manifest_region *region,
                            const struct manifest_store *stores);
/* Take a region out, which is not the first; its stores go to `stores`, or NULL: are released. */
void manifest_region_remove(struct manifest *manifest, struct manifest_region *region,
                            struct manifest_store *stores, const petal_allocator *allocator);
/* Room for one more region. False: no memory. */
bool manifest_region_reserve(struct manifest *manifest, struct manifest_table *table,
                             const petal_allocator *allocator);
/* The lookups of a table that is put in or taken out: its regions and the numbers of its files.
 * REQUIRES: there is room. */
void manifest_table_enter(struct manifest *manifest, const struct manifest_table *table);
void manifest_table_leave(struct manifest *manifest, const struct manifest_table *table);

#endif
