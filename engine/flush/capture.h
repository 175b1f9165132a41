/*
 * capture.h -- what the database, or one table, held at one moment between two batches: its store
 * files, and what the manifest says of them.
 *
 * Flush jobs are committed in the order in which their memtables were frozen. So right after the
 * commit of a job that froze the memtables of all stores (of the table) at sequence S, store files
 * and manifest are just what had been written up to S: jobs frozen later come later, bulks wait for
 * captures (flush_wait_for_captures), and compactions change no answer. A capture rides on such a
 * job and is taken within its commit, under manifest_mutex and views.mutex: a copy in memory of the
 * manifest's state, and a reference on each store file. What is done with the files afterwards
 * needs no lock: compactions and drops take their names away only when the capture has been
 * released. The files of table snapshots have no references; capture_mutex keeps them.
 *
 * Tables are made, altered and dropped without regard to this: a change of the schema during the
 * flush may be in the capture or not.
 *
 * Threads: the caller and the flush thread share a capture until the job has ended.
 */
#ifndef PETAL_ENGINE_FLUSH_CAPTURE_H
#define PETAL_ENGINE_FLUSH_CAPTURE_H

#include "engine/state/db.h"

struct capture {
    _Atomic(uint32_t) references;
    petal_db *db;
    const petal_table *table; /* NULL: the whole database */
    /* Set by capture_take; good when `status` is PETAL_OK. */
    enum petal_status status;
    struct manifest state; /* of one table: nothing but that table, the only one */
    struct store_file **files;
    size_t file_count, file_capacity;
};

/* Nothing is taken yet; NULL: no memory. */
struct capture *capture_new(petal_db *db, const petal_table *table);

/* REQUIRES: manifest_mutex and views.mutex held. */
void capture_take(struct capture *capture);

/* False: nobody but the flush job has it, for whoever asked did not wait until a flush that failed
 * was made good. */
bool capture_is_wanted(const struct capture *capture);

struct capture *capture_ref(struct capture *capture);
void capture_unref(struct capture *capture); /* NULL: no-op */

#endif
