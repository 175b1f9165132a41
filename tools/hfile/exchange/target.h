/*
 * target.h -- the HFile that is meant by a link, or by a reference to half of a file.
 *
 * HBase looks in data/NAMESPACE/TABLE/REGION/FAMILY, and then in the same below archive/. So does
 * this, by where the name was found. Parts of names never lead out of these folders.
 */
#ifndef PETAL_HFILE_EXCHANGE_TARGET_H
#define PETAL_HFILE_EXCHANGE_TARGET_H

#include "tools/hfile/exchange/arena.h"
#include "tools/hfile/reader/name.h"

#define TARGET_MOST_ROOTS 3

/* Which cells of a file a region has. */
enum half {
    HALF_WHOLE = 0,
    HALF_BOTTOM = 1, /* rows before the split row */
    HALF_TOP = 2     /* rows from it on */
};

/* HBase's message Reference. The row is copied to `arena`. `file` stands in errors. */
enum petal_status reference_parse(petal_slice message, struct arena *arena, const char *file,
                                  enum half *half, petal_slice *split_row, petal_error *error);

/* Where a name stands: what is NULL, or "", is not known. */
struct target_place {
    const char *table_folder, *space_folder;
    const char *roots[TARGET_MOST_ROOTS]; /* folders that hold data/ or archive/data/ */
    const char *space, *table;            /* of names that do not say theirs */
    const char *family;
};

/* That of a file in a family's folder; `file` is its path. */
enum petal_status target_place_of(struct target_place *place, struct arena *arena, const char *file,
                                  petal_error *error);

/* The path of what `name`, no plain file, stands for. PETAL_NOT_FOUND names what is not there.
 * `file` stands in errors. */
enum petal_status target_find(const struct target_place *place, struct arena *arena,
                              const struct hfile_name *name, const char *file, const char **path,
                              petal_error *error);

#endif
