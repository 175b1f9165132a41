/*
 * edit.h -- an edit of the manifest: a list of changes, gathered in memory and applied in the order
 * of the calls.
 *
 * The calls that add to it can only lack memory: then the edit has failed, and manifest_commit
 * refuses it. They do not look at the state: manifest_commit refuses an edit that does not fit it.
 */
#ifndef PETAL_ENGINE_MANIFEST_EDIT_H
#define PETAL_ENGINE_MANIFEST_EDIT_H

#include "engine/manifest/state.h"

struct manifest_edit {
    const petal_allocator *allocator;
    uint8_t *bytes; /* encoded items */
    size_t size, capacity;
    bool describes; /* it makes or alters tables or families */
    bool failed;
};

void manifest_edit_init(struct manifest_edit *edit, const petal_allocator *allocator);
void manifest_edit_fini(struct manifest_edit *edit);

/* Families as family_options_resolve leaves them; they get the ids 0, 1, 2 … `snapshot` with a
 * name: a snapshot of the table of the options' name, which shares ids with tables, and is dropped
 * as one. */
void manifest_edit_create_table(struct manifest_edit *edit, uint32_t table,
                                const petal_table_options *options,
                                const struct manifest_snapshot *snapshot);
void manifest_edit_drop_table(struct manifest_edit *edit, uint32_t table);

/* All of the table, its families, regions and files included, under this id and name; `snapshot`
 * with a name: as a snapshot. Its regions take the ids from this one on, unless it is the table's.
 */
void manifest_edit_table(struct manifest_edit *edit, const struct manifest_table *table,
                         uint32_t id, petal_slice name, const struct manifest_snapshot *snapshot);

/* All that makes the state of `manifest` from an empty one. */
void manifest_edit_snapshot(struct manifest_edit *edit, const struct manifest *manifest);

/* Replace the table's own attributes, all but the name; the options' families are not looked at. */
void manifest_edit_alter_table(struct manifest_edit *edit, uint32_t table,
                               const petal_table_options *options);

/* A new family's id is not below the table's next_family_id. Altering replaces all attributes
 * but the name. */
void manifest_edit_create_family(struct manifest_edit *edit, uint32_t table, uint16_t family,
                                 const petal_family_options *options);
void manifest_edit_alter_family(struct manifest_edit *edit, uint32_t table, uint16_t family,
                                const petal_family_options *options);

/* The family goes with its store files. The last one cannot. */
void manifest_edit_drop_family(struct manifest_edit *edit, uint32_t table, uint16_t family);

/* A region of the rows from `start` on, which were of the region before; it has no files yet. Its
 * rows go to that again when it is dropped, but its files go. */
void manifest_edit_create_region(struct manifest_edit *edit, uint32_t table, uint32_t region,
                                 int64_t split_ms, petal_slice start);
void manifest_edit_drop_region(struct manifest_edit *edit, uint32_t table, uint32_t region);

/* Of the family's store of the region. */
void manifest_edit_add_file(struct manifest_edit *edit, uint32_t region, uint16_t family,
                            const struct manifest_file *file);
void manifest_edit_remove_file(struct manifest_edit *edit, uint32_t region, uint16_t family,
                               uint64_t number);

/* These only grow: a value below the state's changes nothing. */
void manifest_edit_flushed(struct manifest_edit *edit, uint32_t region, uint16_t family,
                           uint64_t sequence);
void manifest_edit_ahead(struct manifest_edit *edit, uint32_t table, uint16_t family,
                         int64_t timestamp); /* 0: no-op */
void manifest_edit_counters(struct manifest_edit *edit, uint64_t next_file_number,
                            uint64_t last_sequence, int64_t last_timestamp);
void manifest_edit_state(struct manifest_edit *edit, uint64_t number); /* manifest_commit does */
void manifest_edit_oldest_log(struct manifest_edit *edit, uint64_t number);
void manifest_edit_wal_promise(struct manifest_edit *edit, struct wal_promise promise);

#endif
