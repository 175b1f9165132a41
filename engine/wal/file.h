/*
 * file.h -- the write-ahead log, WAL: one file of it, written record by record, and its replay.
 *
 * A record is one write (a cell or a batch), encoded by engine/wal/record.h. Records are stored in
 * frames of WAL_FRAME_BYTES, cut into fragments where they cross a border, so that after a bad
 * place the next frame can be read.  Fragments carry promises: the file was synced up to that
 * offset when it was written (engine/wal/fragment.h). FORMAT.md describes every byte.
 *
 * A WAL is made ahead of its use as an empty file; the first wal_file_store writes its header,
 * together with the first records.
 *
 * Writing: wal_file_add for each write, wal_file_store to hand the buffer to the kernel,
 * wal_file_sync to bring it to the medium.  wal_file_add, its parts (wal_file_begin ..
 * wal_file_end) and wal_file_store are called by one thread at a time (the leader); wal_file_sync
 * may run at the same time in another thread.  After a failed store or sync the WAL is dead: every
 * later call returns the first error, nothing is retried.
 *
 * A full disk is the exception: it is no damage, and a store that failed for it may be tried again.
 * Such a store may have left whole records in the file, of writes that will be refused. So before
 * it returns PETAL_NO_SPACE they are overwritten with zeros, which takes no new space, and the file
 * is synced (which does not count as a sync of the WAL: the rules below say what must be synced
 * before one). The WAL then ends where it ended before, whatever happens next, and zeros follow its
 * end until later records take their place.  After a power cut there are those zeros or records,
 * never refused ones.  The buffer keeps its records until wal_file_forget takes them back.  If
 * overwriting or sync fails, the WAL is dead.
 *
 * On file systems that copy on write, overwriting takes space as well, and may find none.  Then it
 * is unknown whether the stored records are replayed if the process dies now: that store returns
 * PETAL_IO, and the WAL is not dead.  Each later store first tries again to take them back, and
 * returns PETAL_NO_SPACE, having stored nothing, as long as there is no space.  Nor is a WAL closed
 * before that (wal_file_decide): the header of the next one would say where it ends, but may never
 * be written.
 */
#ifndef PETAL_ENGINE_WAL_FILE_H
#define PETAL_ENGINE_WAL_FILE_H

#include "base/directory.h"
#include "base/slice.h"
#include "engine/manifest/state.h"

#define WAL_FRAME_BYTES 32768

/*
 * WALS THAT FOLLOW EACH OTHER.  A WAL may be followed by the next before it is synced.  Replay
 * relies on two rules that the caller keeps:
 *  1. wal_file_sync of a WAL is called only when all WALs before it are synced to their final
 *     lengths;
 *  2. nothing is stored in a WAL before its name is durable.
 */

/* The header of a WAL: its identity, and facts of the WAL before it. */
struct wal_identity {
    uint64_t database_identity;
    uint64_t number;
    uint64_t predecessor_number; /* 0: none that matters, then those below are 0 as well */
    uint64_t predecessor_length; /* its final length */
    uint64_t predecessor_synced; /* a promise: as far as this it was synced; at most its length */
    uint64_t predecessor_last_sequence; /* its greatest sequence */
};

struct write_cell;
struct wal_file;

/* Create the WAL's file at `path` in `directory` (it must not exist), empty; syncs neither file nor
 * directory. `unmapped`: it is written by calls only. */
enum petal_status wal_file_create(struct wal_file **wal, const struct directory *directory,
                                  const char *path, uint64_t number, bool unmapped,
                                  petal_error *error);

/* Buffer the WAL's header; once, before the first record.  REQUIRES: identity->number is the
 * WAL's. */
void wal_file_identify(struct wal_file *wal, const struct wal_identity *identity);

/* Close the file.  Buffered records that were not stored are lost.  NULL: no-op. */
void wal_file_close(struct wal_file *wal);

/* Room for a record of `size` bytes, to be filled before wal_file_end; NULL when there is no memory
 * (nothing changed).  A record that was begun but not ended is forgotten by the next call. */
uint8_t *wal_file_begin(struct wal_file *wal, size_t size);
/* Seal the record begun: it is buffered.  `last_sequence`: the greatest sequence in it. */
void wal_file_end(struct wal_file *wal, uint64_t last_sequence);
/* Buffer a write, whose sequences and timestamps are set, as the next record; false: there is no
 * memory, and nothing changed. */
bool wal_file_add(struct wal_file *wal, const struct write_cell *cells, size_t count);
/* Take back the records of a store whose outcome is unknown; PETAL_OK: there are none (left).
 * PETAL_NO_SPACE: as above.  Leader only. */
enum petal_status wal_file_decide(struct wal_file *wal, petal_error *error);
/* Hand buffered records to the kernel (vfs log_store), with one call.  PETAL_NO_SPACE: see above;
 * wal_file_is_dead tells whether the WAL goes on. */
enum petal_status wal_file_store(struct wal_file *wal, petal_error *error);
/* fdatasync what was stored before the call.  Any thread; callers that wait for each other share
 * one sync. */
enum petal_status wal_file_sync(struct wal_file *wal, petal_error *error);

/* The end of what is buffered; leader only. */
struct wal_file_mark {
    size_t used;
    uint64_t sequence;
};
struct wal_file_mark wal_file_mark(const struct wal_file *wal);
/* Take back the records buffered since the mark.  REQUIRES: no store has succeeded since; leader
 * only. */
void wal_file_forget(struct wal_file *wal, struct wal_file_mark mark);

bool wal_file_is_dead(const struct wal_file *wal); /* any thread */
/* The WAL dies of a failure outside of it, unless it is dead already.  Any thread. */
void wal_file_condemn(struct wal_file *wal, const petal_error *cause);

bool
wal_file_is_empty(const struct wal_file *wal); /* no record is stored or buffered; leader only */

uint64_t wal_file_number(const struct wal_file *wal);
uint64_t wal_file_length(const struct wal_file *wal);        /* stored bytes; any thread */
uint64_t wal_file_synced_length(const struct wal_file *wal); /* any thread */
uint64_t
wal_file_stored_sequence(const struct wal_file *wal); /* greatest sequence stored; any thread */
uint64_t
wal_file_synced_sequence(const struct wal_file *wal); /* greatest sequence synced; any thread */

/* A whole record, as stored. */
struct wal_record {
    petal_slice payload;
    bool first;       /* in its WAL */
    uint64_t number;  /* of the WAL */
    uint64_t offset;  /* where it begins there */
    const char *path; /* for messages */
};

typedef enum petal_status wal_visit(void *argument, const struct wal_record *record,
                                    petal_error *error);

/*
 * REPLAY.  WALs are read in order of their numbers.  The end of a WAL n is the length that its
 * successor's header gives, else the first offset b that does not hold a whole record.  X is the
 * greatest promise about n: in its own frames after b, in its successor's header (the synced
 * length; the final one is no promise), in the manifest.  If any later WAL was synced at all, n was
 * synced before that to its final length, and X is that length: a later WAL was synced if a frame
 * of it, the header of its successor or the manifest has a promise about it above 0.  X > b:
 * PETAL_CORRUPT, with file, offset and promise.  Otherwise the torn tail begins at b: all after it
 * is dropped.  A WAL whose header is torn has b = 0.  Then:
 *
 *  - WAL s continues n when its header names n as its predecessor.  It is replayed after n, and n
 *    only up to the length named there (what a failed store left behind that length never was part
 *    of n).
 *  - When n ends before that length, all later WALs are dropped whole, records and all: pages reach
 *    the disk in any order, and what comes back is a prefix of what was written.
 *  - A WAL that is missing and named by another one or by the manifest was needed: PETAL_CORRUPT,
 *    promised or not, since its name was durable before anything was stored in it, and the one that
 *    names it came later.
 *  - Zeros may follow the last record, and make the file longer than the WAL: room that was made
 *    and not stored into.
 *  - A WAL that holds no byte is one made ahead and never used: passed over.
 *  - A WAL that holds no record and is not continued was made in vain (by an opening or a switch
 *    that failed): passed over.
 *  - A WAL that continues an obsolete one which ended above obsolete_sequence is refused:
 *    PETAL_CORRUPT. That WAL was needed.
 *  - A WAL with records that does not continue the WAL replayed before it is refused:
 *    PETAL_CORRUPT.
 *
 * So a WAL without predecessor may hold records only when the manifest's oldest_log has made those
 * before it obsolete. A WAL of another database is refused.  One with the header of another WAL of
 * this database shows what the medium held before: its own was never written, so it is torn.
 */
struct wal_replay {
    const struct directory *directory;
    uint64_t database_identity;
    uint64_t oldest_log; /* WALs below are obsolete and not looked at */
    /* Nor are files with this number or a greater one: no WAL of this database; 0: all are. */
    uint64_t next_log;
    uint64_t obsolete_sequence; /* and end with this sequence or a lesser one */
    struct wal_promise promise; /* the manifest's */
    /* Begin there, where a record begins that was read before; WALs below are passed over.
     * log_number 0: begin with the oldest. */
    struct wal_promise from;
    /* A writer may go on meanwhile: what looks torn or damaged is read again, as long as that leads
     * further, up to the length that the file had; empty WALs may vanish, or be begun, and then
     * stay unread. */
    bool live;
    /* Called for each whole record in order.  May refuse with an error. */
    wal_visit *visit;
    /* Called after the records of each WAL that is not dropped or passed over; `length`: where it
     * ends. May refuse. NULL: not wanted. */
    enum petal_status (*ended)(void *argument, uint64_t number, uint64_t length,
                               petal_error *error);
    /* Told of what else ends a replay, as an error, and costs so many bytes, as far as that is
     * known; then all records that can be read are visited, also those that a replay would drop,
     * and what a crash may leave is told as harmless. Lack of memory or descriptors, and PETAL_BUSY
     * of `visit`, end it all the same. NULL: not wanted. */
    void (*fault)(void *argument, const petal_error *error, uint64_t bytes, bool harmless);
    void *argument;
    /* Results. */
    uint64_t greatest_log; /* greatest number of a WAL in the directory, replayed or not; 0: none */
    /* The last WAL replayed, not dropped, and where its last whole record ends; number 0: none. */
    struct wal_promise end;
    uint64_t records;
    /* Of torn tails and of WALs dropped or passed over, but for zeros at their ends. */
    uint64_t dropped_bytes;
};
enum petal_status wal_replay(struct wal_replay *replay, petal_error *error);

#endif
