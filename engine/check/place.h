/*
 * place.h -- the directory of a database that is examined, not opened: its files, its manifest as
 * far as it can be read, and the reporting of faults.
 *
 * Nothing is written there, not even a lock file; if there is one, a reader's lock is taken.
 *
 * Belongs to one thread.
 */
#ifndef PETAL_ENGINE_CHECK_PLACE_H
#define PETAL_ENGINE_CHECK_PLACE_H

#include "base/directory.h"
#include "engine/manifest/manifest.h"
#include "engine/manifest/names.h"
#include "sstable/block/file_pool.h"
#include "sstable/sst_reader.h"

/* A log or store file in the directory. */
struct place_file {
    uint64_t number, bytes;
    enum filename_kind kind;
    const struct manifest_file *named; /* store file: by the manifest; NULL: it is not */
    uint64_t identity;                 /* store file: as far as it is known; else 0 */
    int failed;                        /* errno for which `bytes` is not known; 0: it is */
    bool was_read, lost;               /* from its beginning to its end; and lacks cells, */
    uint64_t losses;                   /* these: the same number where links are damaged alike */
};

struct place {
    struct env env;
    petal_check_options options;
    petal_check_counts *counts; /* never NULL */
    petal_check_counts own_counts;
    petal_error first;  /* fault that is not harmless */
    petal_error unread; /* the first that is no word of the bytes; status OK: none is */
    struct directory directory;
    petal_file *lock;
    struct place_file *files; /* by kind, then number */
    size_t file_count, file_capacity;
    bool has_manifest, has_lock, failed; /* failed: no memory */
    struct manifest *manifest;           /* NULL: nothing of it can be read */
    bool manifest_whole;                 /* it can be read, and nothing disproves it */
    bool manifest_cut;                   /* the state is one that the database had earlier */
    struct file_pool pool;               /* of store files */
    bool has_pool;
    uint64_t done, total; /* bytes, for the watch */
};

/* PETAL_NOT_FOUND: no file of a database lies there. Reads the manifest, whose faults are told. On
 * failure, too, check_place_close is called. */
enum petal_status check_place_open(struct place *place, const char *path,
                                   const petal_check_options *options, petal_check_counts *counts,
                                   petal_error *error);
void check_place_close(struct place *place);

/* The error of one that wrote meanwhile, if it did. */
enum petal_status check_place_confirm(const struct place *place, petal_error *error);

/* The file of that kind and number; NULL: it is not there. */
struct place_file *check_place_find(const struct place *place, enum filename_kind kind,
                                    uint64_t number);

/* Count a fault and tell the caller. If its error says nothing about the bytes, it is marked as
 * unread, and not counted. */
void check_place_tell(struct place *place, const petal_fault *fault);
/* One that concerns no table. */
void check_place_tell_error(struct place *place, const petal_error *error, uint64_t bytes,
                            bool harmless);

/* A fault of a family of the table, or of the table's snapshot if that has a name. */
petal_fault check_place_fault_of(petal_slice table, const struct manifest_snapshot *snapshot,
                                 petal_slice family, const petal_error *error);

/* The rows that it concerns; NULL: none are known. */
void check_place_add_rows(petal_fault *fault, const struct sst_rows *rows);

/* Did a call fail for lack of descriptors or memory? That is no fault of the database: the whole
 * fails with *error. */
bool check_place_wants(const petal_error *cause, petal_error *error);

/* So many bytes more are done. False: it is to be given up. */
bool check_place_go_on(struct place *place, uint64_t bytes);
enum petal_status check_place_given_up(petal_error *error);

/* Whether a log or store file of that number can be one of the database. */
bool check_place_number_possible(const struct place *place, uint64_t number);

#endif
