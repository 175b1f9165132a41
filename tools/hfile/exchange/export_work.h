/*
 * export_work.h -- what the threads of an export share: the parts that nobody has begun, what was
 * made, how much is done, and the first failure, which ends them all. A part is a family between
 * two rows; its number is all that is known of it here.
 *
 * The caller of the export asks its watch, in its own thread, once for each time that a thread
 * says it is due.
 */
#ifndef PETAL_HFILE_EXCHANGE_EXPORT_WORK_H
#define PETAL_HFILE_EXCHANGE_EXPORT_WORK_H

#include "tools/hfile/exchange/watching.h"
#include "tools/hfile/format/buffer.h"

#include <pthread.h>

struct export_work {
    const char *directory;  /* the caller's */
    pthread_mutex_t mutex;  /* of all that follows */
    pthread_cond_t changed; /* the watch is due, or a thread has ended */
    size_t next_part, part_count;
    size_t threads;           /* that have not ended */
    uint64_t due;             /* times that the watch is still to be asked */
    enum petal_status status; /* the first failure, with its error */
    petal_error error;
    petal_hfile_export_counts counts;   /* cell_bytes of all parts, else of those that ended */
    struct hfile_buffer folders, files; /* that were made: their paths, each ended by 0 */
};

void export_work_init(struct export_work *work, const char *directory, size_t part_count);
void export_work_free(struct export_work *work);

/* ---- For the threads ------------------------------------------------------------------------- */

/* The next part; false: there is none, or something has failed. */
bool export_work_take(struct export_work *work, size_t *part);

/* Make a folder unless it is there. */
enum petal_status export_work_make_folder(struct export_work *work, const char *path,
                                          petal_error *error);

/* A file that is whole. On failure it is still the caller's to take away. */
enum petal_status export_work_add_file(struct export_work *work, const char *path,
                                       petal_error *error);

/* So many bytes of cells more are done, and the watch is due. false: end, something has failed. */
bool export_work_goes_on(struct export_work *work, uint64_t cell_bytes);

/* The thread has written a part, and the watch is due, since parts may be small. `counts` are the
 * part's; in cell_bytes what export_work_goes_on was not told. `error` belongs to `status`. */
void export_work_end_part(struct export_work *work, const petal_hfile_export_counts *counts,
                          enum petal_status status, const petal_error *error);

void export_work_end_thread(struct export_work *work);

/* ---- For the caller -------------------------------------------------------------------------- */

/* Ask the watch until all threads have ended, and once more at the end. Returns the first
 * failure; PETAL_BUSY: the watch did not want more. */
enum petal_status export_work_wait(struct export_work *work, const struct watching *watching,
                                   uint64_t total_bytes, petal_error *error);

/* REQUIRES: all threads have ended. The names in the folders are on the medium. */
enum petal_status export_work_sync(struct export_work *work, petal_error *error);

/* REQUIRES: all threads have ended. Take away what was made. */
void export_work_take_back(struct export_work *work);

#endif
