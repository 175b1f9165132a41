/*
 * gallery.h -- a small database that has something of everything which a file may hold, to be
 * damaged: data blocks of every encoding, indexes of one and of several levels, every type of Bloom
 * filter, markers of all kinds, times to live, a manifest with every kind of edit, a file of a
 * bulk, table snapshots, logs that still hold cells, a checkpoint. The process that made it has
 * died.
 *
 * Everything in it follows from the seed and the scale.
 */
#ifndef PETAL_TESTS_DAMAGE_GALLERY_H
#define PETAL_TESTS_DAMAGE_GALLERY_H

#include "tests/crash/ledger.h"

#define GALLERY_COPY "/copy" /* a checkpoint of FIXTURE_DIRECTORY */

#define GALLERY_FAMILIES 7

struct gallery_family {
    const char *table, *family;
    enum petal_bloom_type bloom;
    enum petal_compression compression;
    bool long_rows; /* so long that the index of a few of them has several levels */
    bool plain;     /* the family of petal_kv */
};

extern const struct gallery_family gallery_families[GALLERY_FAMILIES];

#define GALLERY_STAGES 12

struct gallery {
    struct memory_vfs *vfs;
    uint64_t seed;
    unsigned scale; /* 1: about 40 KiB of store files */
    /* The files as they were at earlier moments, oldest first. */
    struct memory_vfs *stages[GALLERY_STAGES];
    size_t stage_count;
};

void gallery_make(struct gallery *gallery, uint64_t seed, unsigned scale);
void gallery_free(struct gallery *gallery);

/* When it is read: later than all that was written, and some times to live are over. */
#define GALLERY_READ_MS 9000

/* How many rows a family may have; the name of each, good until the next call. */
unsigned gallery_row_count(const struct gallery *gallery, size_t family);
petal_slice gallery_row(size_t family, unsigned row);

/* The names of the directory's files, sorted, with their paths. */
struct gallery_files {
    char **paths;
    size_t count;
};

struct gallery_files gallery_files_of(struct memory_vfs *vfs, const char *directory);
void gallery_files_free(struct gallery_files *files);

enum file_kind { STORE_FILE, LOG_FILE, MANIFEST_FILE, OTHER_FILE, FILE_KINDS };

enum file_kind gallery_file_kind(const char *path);
const char *gallery_kind_text(enum file_kind kind);

#endif
