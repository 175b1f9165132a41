/*
 * descriptor.h -- the part of a table or family that petal_table_alter can change: immutable,
 * replaced as a whole.
 *
 * The handles (struct petal_table, struct petal_family) point to their present descriptor
 * atomically; readers load the pointer and take no lock. A replaced descriptor stays until
 * petal_close, so pointers into it stay valid: for reads that began before, and for the caller of
 * petal_table_describe.
 */
#ifndef PETAL_ENGINE_STATE_DESCRIPTOR_H
#define PETAL_ENGINE_STATE_DESCRIPTOR_H

#include "engine/petal.h"

struct family_descriptor {
    struct family_descriptor *before; /* the one it replaced; freed with it */
    petal_family_options options; /* defaults filled in; name and attributes are its own memory */
    /* Only markers and newer versions hide a version: there is no TTL, and no
     * NEW_VERSION_BEHAVIOR. */
    bool plain;
};

struct table_descriptor {
    struct table_descriptor *before;
    petal_table_options options; /* attributes are its own memory; so is the array `families`, whose
                                    members point into the descriptors of the families */
    int64_t max_region_bytes;    /* MAX_FILESIZE; 0: the database's */
    bool keeps_regions;          /* SPLIT_ENABLED false */
    bool keeps_small_regions;    /* MERGE_ENABLED false, or SPLIT_ENABLED */
    size_t family_count;
    petal_family *families[]; /* by name, in the order of options.families */
};

/* A copy of options as family_options_resolve leaves them; NULL: no memory. */
struct family_descriptor *family_descriptor_new(const petal_family_options *options,
                                                const petal_allocator *allocator);

/* A copy of the table's own options (name borrowed, no families), with room for `family_count`
 * families, which the caller fills in, then sorts; NULL: no memory. */
struct table_descriptor *table_descriptor_new(const petal_table_options *options,
                                              size_t family_count,
                                              const petal_allocator *allocator);
void table_descriptor_set(struct table_descriptor *descriptor, size_t index, petal_family *family,
                          const petal_family_options *options);
void table_descriptor_sort(struct table_descriptor *descriptor);

/* With all that it replaced.  NULL: no-op. */
void family_descriptor_free(struct family_descriptor *descriptor, const petal_allocator *allocator);
void table_descriptor_free(struct table_descriptor *descriptor, const petal_allocator *allocator);

#endif
