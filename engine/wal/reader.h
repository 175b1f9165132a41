/*
 * reader.h -- reads one WAL: its header, its whole records in order, and promises after a bad
 * place.
 *
 * Trusts nothing in the file.  Memory: one frame, and one record, which is never longer than the
 * file. Threads: a reader belongs to one thread.
 */
#ifndef PETAL_ENGINE_WAL_READER_H
#define PETAL_ENGINE_WAL_READER_H

#include "engine/manifest/names.h"
#include "engine/wal/file_format.h"
#include "engine/wal/fragment.h"

struct wal_reader {
    const struct env *env;
    petal_file *file;
    uint64_t number;
    uint64_t seed;
    uint64_t size;  /* of the file */
    uint64_t limit; /* what lies at or after it is no part of the WAL; at most size */
    uint64_t start; /* of the records that are wanted; after the header */
    bool live;      /* its writer may go on, or have closed it by now: it may become shorter */
    uint8_t *frame; /* WAL_FRAME_BYTES */
    uint64_t frame_offset; /* of the frame in memory; UINT64_MAX: none */
    size_t frame_bytes;    /* those of it that are in the file below the limit */
    uint8_t *record;       /* put together from fragments */
    size_t record_bytes, record_capacity;
    char path[PETAL_PATH_BYTES];
};

/* Opens the file and learns its size.  After a failure there is nothing to close. */
enum petal_status wal_reader_open(struct wal_reader *reader, const struct directory *directory,
                                  uint64_t database_identity, uint64_t number, petal_error *error);
/* The same of a file with any name. */
enum petal_status wal_reader_open_path(struct wal_reader *reader, const struct directory *directory,
                                       const char *path, uint64_t database_identity,
                                       uint64_t number, petal_error *error);
void wal_reader_close(struct wal_reader *reader);

/* The records that are wanted begin there; what is in memory is read anew. */
void wal_reader_begin_at(struct wal_reader *reader, uint64_t offset);

/*
 * *whole false: the header is torn, or that of an older WAL of this database, which the medium
 * still shows where this WAL's was not written.  A whole header of another database or of another
 * version is refused with an error.
 */
enum petal_status wal_reader_header(struct wal_reader *reader, uint64_t database_identity,
                                    struct wal_identity *identity, bool *whole, petal_error *error);

/* Hand every whole record to `visit` (may be NULL).  *end: the first offset that does not begin a
 * whole record.  REQUIRES: the header is whole. */
enum petal_status wal_reader_records(struct wal_reader *reader, wal_visit *visit, void *argument,
                                     uint64_t *records, uint64_t *end, petal_error *error);

/* *at_end: nothing is stored at `offset`, where a record would begin: zeros follow up to the end of
 * the frame or of the file. */
enum petal_status wal_reader_is_at_end(struct wal_reader *reader, uint64_t offset, bool *at_end,
                                       petal_error *error);

/* *end: after the last byte of the file that is not zero, wherever the limit is; 0: there is none.
 * What follows was never stored. */
enum petal_status wal_reader_content_end(struct wal_reader *reader, uint64_t *end,
                                         petal_error *error);

/* *promise: some promise above `bad` made by a fragment at or after it; 0: there is none. */
enum petal_status wal_reader_find_promise(struct wal_reader *reader, uint64_t bad,
                                          uint64_t *promise, petal_error *error);

/* *records: the number of whole records that end after `bad`, as far as whole fragments tell; at
 * least, since a search of every byte is bounded to about a second. */
enum petal_status wal_reader_count_behind(struct wal_reader *reader, uint64_t bad,
                                          uint64_t *records, petal_error *error);

#endif
