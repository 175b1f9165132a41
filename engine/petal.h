/*
 * petal.h -- the public interface of Petal, an embedded store with HBase's data model.
 *
 * Below the first steps stand the contents and the rules for all calls; the caveats end this file.
 * "man petal" is the guide, by task; each call has a page, such as "man petal_put".
 *
 * FIRST STEPS.  A program that opens a database, puts, gets and closes. It uses keys and values
 * only; petal_put and petal_get take rows, columns and versions.  PETAL_OK is 0:
 *
 *     #include <petal.h>
 *     #include <stdio.h>
 *     int main(void)
 *     {
 *         petal_options options = PETAL_DEFAULTS;
 *         petal_error error;
 *         petal_db *db;
 *         petal_kv *kv;
 *         petal_result *result;
 *         petal_slice value;
 *         bool found;
 *         options.create = true;
 *         if (petal_open("colours.db", &options, &db, &error) ||
 *             petal_kv_open(db, PETAL_TEXT("colours"), NULL, &kv, &error) ||
 *             petal_kv_put(kv, PETAL_TEXT("sky"), PETAL_TEXT("blue"),
 *                          NULL, &error) ||
 *             petal_result_new(db, &result, &error) ||
 *             petal_kv_get(kv, PETAL_TEXT("sky"), result, &found, &value,
 *                          &error))
 *             return fprintf(stderr, "%s\n", error.text), 1;
 *         if (found)
 *             printf("%.*s\n", (int)value.size, (const char *)value.data);
 *         petal_result_free(result);
 *         return petal_close(db, &error);
 *     }
 *
 * CONTENTS.  The sections, in their order:
 *
 *     Version                        of header and library; PETAL_DEFAULTS
 *     Status and errors              petal_error
 *     Bytes, cells, limits           petal_slice, PETAL_TEXT, petal_cell
 *     The surroundings               petal_env
 *     Databases                      petal_open, petal_refresh, petal_close
 *     Tables and families            petal_table_create, petal_family_options
 *     Snapshots of tables, on disk   petal_table_snapshot_create
 *     Results                        petal_result_new, petal_result_cell
 *     Writing                        petal_put, petal_delete, petal_write
 *     Loading in bulk                petal_bulk_begin
 *     Filters                        petal_filter_parse
 *     Changes of one row             petal_mutate_row
 *     Snapshots                      petal_snapshot_new: a read point
 *     Reading                        petal_get, petal_cursor_open
 *     Transactions                   petal_transaction_begin
 *     Deleting many rows             petal_delete_rows
 *     The receipt of a read          petal_receipt_new
 *     Flush, statistics              petal_flush, petal_stats_get
 *     A database as files            petal_verify, petal_salvage, petal_restore
 *     Plain key -> value             petal_kv_open, petal_kv_put, petal_kv_get
 *     Caveats                        differences from HBase, failures
 *
 * THE MODEL.  A database is a directory. It holds tables. A table has rows, ordered by their bytes.
 * A row has cells, each in a column (family, qualifier) at a timestamp. A table's schema fixes its
 * families; qualifiers are free. A deletion is a cell too: a marker, which hides older cells. Every
 * write goes to a log and to a table in memory (memtable); a full memtable becomes an immutable,
 * sorted store file. A read is fast because facts kept in memory and a Bloom filter in each store
 * file prove that most memtables and files cannot hold its answer.
 *
 * PROCESSES.  A database belongs to the process that opened it. In a forked child every call on it,
 * its tables, cursors and so on returns PETAL_INVALID. The child may free objects and call
 * petal_close, which writes nothing and releases nothing shared with the parent: the memory goes
 * when the child exits. The parent keeps the lock until it closes the database or ends. After the
 * parent has closed the database, a child may open it. (A child made without fork() is not
 * noticed.)
 *
 * THREADS.  Any number of threads may use a petal_db, its tables and families, filters and
 * snapshots at once. A petal_batch, petal_bulk, petal_result, petal_receipt or petal_cursor belongs
 * to one thread at a time, and so does a petal_transaction with its cursors.
 *
 * ERRORS.  Every function that can fail returns enum petal_status and takes a petal_error, which
 * may be NULL and otherwise receives the details of this call. On failure out pointers are NULL and
 * results are empty. A row without cells is PETAL_OK with an empty result. NULL: a NULL pointer is
 * PETAL_INVALID unless its description allows NULL, and the text names the argument; so is a slice
 * with a size but no data. In that case a function without a status does nothing, or returns 0,
 * false, NULL or an empty slice.
 *
 * NAMES.  A table's name has letters (of any language, in UTF-8), digits, '_', '-' and '.', and
 * does not begin with '-' or '.'. A namespace (letters, digits and '_') and a colon may precede it,
 * but not "default:". 1 to 255 bytes in all. A table snapshot's name is such a name without a
 * namespace. A family's name has 1 to 127 bytes, any but ':', '/', '\\', and control characters,
 * and does not begin with '.'. Any other name is PETAL_INVALID.
 *
 * OPTIONS.  An option struct begins with its size: sizeof, or 0, which means the size that the
 * library knows. A program that leaves it 0 needs the library it was compiled for: a library whose
 * struct has grown would read past the program's. In every field 0 means the default. A NULL
 * options pointer means all defaults, except where there are none: a table needs a name and
 * families. Values without a meaning are PETAL_INVALID, and the text names the field: a size that
 * no such struct has (not a multiple of sizeof(size_t)), a value without its flag (ttl_ms without
 * has_ttl, time_min or time_limit without has_time_range), a number outside its enumeration.
 */
#ifndef PETAL_H
#define PETAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Laid out by hand: a comment that does not fit next to its field is above it. */
/* clang-format off */

#if defined(__GNUC__)
#define PETAL_API        __attribute__((visibility("default")))
#define PETAL_MUST_CHECK __attribute__((warn_unused_result))
#else
#define PETAL_API
#define PETAL_MUST_CHECK
#endif

/* ---- Version -------------------------------------------------------------------------------- */

/*
 * The version of this header. A program runs with any library of the same PETAL_VERSION_MAJOR that
 * is at least as new; while that is 0, of the same PETAL_VERSION_MINOR only.
 */
#define PETAL_VERSION_MAJOR 0
#define PETAL_VERSION_MINOR 1
#define PETAL_VERSION_PATCH 0

/* The library's version, as "1.2.3".  Never NULL. */
PETAL_API const char *petal_version(void);

/* Initialiser of a struct of options, in C and in C++: petal_options options = PETAL_DEFAULTS; */
#ifdef __cplusplus
#define PETAL_DEFAULTS {}
#else
#define PETAL_DEFAULTS {0}
#endif

/* ---- Status and errors ---------------------------------------------------------------------- */

/* code, stored value, text.  Values are never renumbered. */
#define PETAL_STATUS_MAP(X)                                                                        \
    X(OK, 0, "ok")                                                                                 \
    X(IO, 1, "input/output error")                                                                 \
    X(CORRUPT, 2, "stored data is damaged")                                                        \
    X(NO_MEMORY, 3, "out of memory")                                                               \
    X(INVALID, 4, "invalid argument")                                                              \
    X(NOT_FOUND, 5, "no such database, table or column family")                                    \
    X(EXISTS, 6, "exists already")                                                                 \
    X(BUSY, 7, "in use, or given up")                                                              \
    X(UNSUPPORTED, 8, "written by a newer format version")                                         \
    X(READ_ONLY, 9, "database is read-only")                                                       \
    X(NO_SPACE, 10, "no space left on the device")                                                 \
    X(TIMEOUT, 11, "the deadline has passed")                                                      \
    X(CONFLICT, 12, "another write came between")

enum petal_status {
#define PETAL_STATUS_ENTRY(name, value, text) PETAL_##name = value,
    PETAL_STATUS_MAP(PETAL_STATUS_ENTRY)
#undef PETAL_STATUS_ENTRY
};

/* The fixed text of a status; "unknown status" for any other number.  Never NULL. */
PETAL_API const char *petal_status_text(enum petal_status status);

#define PETAL_ERROR_FILE_BYTES 256
#define PETAL_ERROR_TEXT_BYTES 384

/* Details of a failed call. The caller owns it; it is written once, where the failure arose. Every
 * function accepts NULL instead: then the caller learns only the status. */
typedef struct petal_error {
    enum petal_status status;
    int os_error;    /* errno of the failed system call, 0 if none */
    uint64_t offset; /* byte offset in `file` if that applies, else 0 */
    /* The file's path, "" if none; cut at the front when too long. */
    char file[PETAL_ERROR_FILE_BYTES];
    char text[PETAL_ERROR_TEXT_BYTES]; /* one line for people, without newline */
} petal_error;

/* ---- Bytes, cells, limits ------------------------------------------------------------------- */

/*
 * Bytes that the holder does not own. An argument is borrowed for the call. `data` may be NULL if
 * size is 0.
 */
typedef struct petal_slice {
    const void *data;
    size_t size;
} petal_slice;

/* A slice of a literal, without its final zero byte, in C and in C++: PETAL_TEXT("users") */
#ifdef __cplusplus
#define PETAL_TEXT(literal) (petal_slice{"" literal, sizeof(literal) - 1})
#else
#define PETAL_TEXT(literal) ((petal_slice){"" literal, sizeof(literal) - 1})
#endif

/*
 * A slice of a zero-terminated text, without the zero byte; of NULL an empty one. The bytes stay
 * the caller's and must outlive the slice. For a literal PETAL_TEXT does the same without a call.
 */
PETAL_API petal_slice petal_text(const char *text);

/*
 * As the timestamp of a write, PETAL_LATEST makes the store assign one when it writes: the clock's
 * time, or the latest time that the clock has given if it was set back, but never below the version
 * that the write replaces.
 *
 * An increment or append gets a later timestamp than the version before it, so several in one
 * millisecond make the timestamps of a column run ahead of the clock. Meanwhile any other write
 * there (a put, marker or increment) gets the least timestamp above them: in a column, above those
 * of the column and of the markers that cover it; a marker of a whole row or family, above those of
 * all columns.
 *
 * Only timestamps that the store assigned count here; a caller's own timestamp in the future hides
 * later writes, as in HBase. Those that count are all in the row up to the greatest that the store
 * has assigned in the family by its clock, as the next above one that counts, or by a condition
 * from one that counts in its family (petal_mutate_row). For petal_kv_put and the other key-value
 * calls all timestamps of the key count.
 *
 * The store reads for this only if the family has such timestamps ahead of the clock: a little for
 * a column. A marker of a whole row or family then takes time in proportion to the row's cells in
 * the memtables and files that hold timestamps, of any row, ahead of the clock.
 */
#define PETAL_LATEST              INT64_MAX
#define PETAL_MAX_ROW_BYTES       32767     /* as HBase; a row has at least 1 byte */
#define PETAL_MAX_FAMILY_BYTES    127       /* as HBase; at least 1 byte */
#define PETAL_MAX_QUALIFIER_BYTES (1u << 20)
#define PETAL_MAX_VALUE_BYTES     10485760u /* HBase's hbase.client.keyvalue.maxsize */
#define PETAL_MAX_BATCH_BYTES     (1u << 30)

/*
 * HBase's type codes. A marker at timestamp T hides: kinds 12 and 14, all puts whose (timestamp,
 * sequence) is below its own; kinds 8 and 10, earlier writes at exactly T.
 */
enum petal_cell_type {
    PETAL_PUT = 4,
    PETAL_DELETE = 8,                 /* one version of a column */
    PETAL_DELETE_FAMILY_VERSION = 10, /* all columns of the family at one timestamp */
    PETAL_DELETE_COLUMN = 12,         /* all versions of a column up to a timestamp */
    PETAL_DELETE_FAMILY = 14          /* all columns of the family up to a timestamp */
};

typedef struct petal_cell {
    petal_slice family;
    petal_slice row;
    petal_slice qualifier;
    petal_slice value;
    int64_t timestamp; /* milliseconds since 1970, or the writer's number */
    enum petal_cell_type type;
    /* The cell has its own time to live: it is dead when timestamp + ttl_ms < now. */
    bool has_ttl;
    int64_t ttl_ms;
} petal_cell;

/* ---- The surroundings: memory, files, clock, log -------------------------------------------- */

/* Memory. Several threads call both functions. The default is aligned malloc and free. */
typedef struct petal_allocator {
    void *context;
    void *(*allocate)(void *context, size_t alignment, size_t size); /* NULL when there is none */
    void (*release)(void *context, void *memory, size_t size);       /* memory may be NULL */
} petal_allocator;

typedef struct petal_file petal_file;           /* defined by the VFS that opened it */
typedef struct petal_directory petal_directory; /* likewise */

enum petal_open_flags {
    PETAL_FILE_READ = 1,      /* must exist, unless CREATE is given too */
    PETAL_FILE_WRITE = 2,     /* read and write */
    PETAL_FILE_CREATE = 4,    /* create if absent, mode 0600 */
    PETAL_FILE_EXCLUSIVE = 8, /* with CREATE: EEXIST if present */
    PETAL_FILE_UNMAPPED = 16  /* log_store uses calls only; see no_log_mapping */
};

enum petal_lock { PETAL_LOCK_SHARED = 1, PETAL_LOCK_EXCLUSIVE = 2, PETAL_LOCK_TEST = 3 };

/*
 * The file system: every file and directory call of the library goes through this table. Functions
 * return 0 or an errno value. read_at reads until `size` bytes or the end of the file; write_at and
 * log_store write all bytes or fail. A file or directory operation is durable only after the
 * matching sync. Several threads call these functions, also on one file at once.
 *
 * open_directory resolves a path once. Files are then found by name in the open directory, so a
 * database stays where it was opened when the process changes its working directory or the
 * directory is renamed. A name is a directory entry: it has no '/', and a symbolic link there is
 * not followed.
 */
typedef struct petal_vfs {
    void *context;
    /* `create`: make the last part of the path, mode 0700, if it is absent.  ENOTDIR: something
     * else has that name. */
    int (*open_directory)(void *context, const char *path, bool create,
                          petal_directory **directory);
    void (*close_directory)(void *context, petal_directory *directory);
    int (*sync_directory)(void *context, petal_directory *directory); /* the names in it */
    int (*sync_parent)(void *context, petal_directory *directory);    /* its own name */
    int (*list_directory)(void *context, petal_directory *directory,
                          void (*visit)(void *argument, const char *name), void *argument);
    int (*open)(void *context, petal_directory *directory, const char *name, unsigned flags,
                petal_file **file);
    int (*close)(void *context, petal_file *file);
    int (*read_at)(void *context, petal_file *file, uint64_t offset, void *buffer, size_t size,
                   size_t *read_bytes);
    int (*write_at)(void *context, petal_file *file, uint64_t offset, const void *bytes,
                    size_t size); /* all bytes or an error */
    /*
     * As write_at, for the write-ahead log: when it returns 0 the bytes survive the process. Zeros
     * may follow the last stored bytes, so the file may be longer than these. One thread at a time
     * stores into a file, while others may sync it.
     */
    int (*log_store)(void *context, petal_file *log, uint64_t offset, const void *bytes,
                     size_t size);
    int (*sync)(void *context, petal_file *file); /* fdatasync */
    int (*size)(void *context, petal_file *file, uint64_t *size);
    /*
     * Advisory lock on `size` bytes (0: all that follow) from `offset` on, whether or not the file
     * has them, held until close or the end of the process: shared by any number of open files, or
     * exclusive. EAGAIN: a conflicting lock is held through another open file, by this process or
     * another. A file opened for reading can take a shared lock. PETAL_LOCK_TEST takes none: EAGAIN
     * where an exclusive one could not be had. ENOSYS: only all of a file can be locked here.
     */
    int (*lock)(void *context, petal_file *file, uint64_t offset, uint64_t size,
                enum petal_lock how);
    int (*rename)(void *context, petal_directory *directory, const char *from,
                  const char *to); /* replaces `to` */
    /*
     * Give a written and synced file a second name, in any directory; EEXIST if `to` is present.
     * EXDEV, EPERM, EMLINK, EOPNOTSUPP, ENOSYS: not possible here; the caller copies instead. NULL:
     * never possible.
     */
    int (*link)(void *context, petal_directory *from_directory, const char *from,
                petal_directory *to_directory, const char *to);
    int (*remove)(void *context, petal_directory *directory, const char *name);
    /*
     * A hint that these bytes, as far as the file has them, will be read soon. Starts to fetch them
     * and does not wait. NULL: not supported.
     */
    void (*read_ahead)(void *context, petal_file *file, uint64_t offset, uint64_t size);
    /*
     * Map the first `size` bytes of a file that was opened for reading and is no longer written.
     * The memory is valid until unmap, also after close.  On an error the caller uses read_at.
     * NULL: never possible; then unmap is NULL too.
     */
    int (*map)(void *context, petal_file *file, uint64_t size, const void **memory);
    void (*unmap)(void *context, const void *memory, uint64_t size);
    /*
     * Whether `path` leads to the directory or into it, at any depth, also over symbolic links; if
     * it does not exist yet, whether it would be created there. False if it leads nowhere. NULL:
     * not known; then petal_salvage trusts its caller.
     */
    int (*contains)(void *context, petal_directory *directory, const char *path, bool *contains);
    /*
     * Bytes that the file system of the directory still has room for, for this process. Asked for
     * before a compaction writes. On an error, or NULL: not known; then compactions begin, and fail
     * where the disk is full.
     */
    int (*free_bytes)(void *context, petal_directory *directory, uint64_t *bytes);
} petal_vfs;

enum petal_log_level { PETAL_LOG_INFO = 1, PETAL_LOG_WARNING = 2, PETAL_LOG_ERROR = 3 };

/* The surroundings that the library uses.  A NULL member means the default.  Copied at
 * petal_open. */
typedef struct petal_env {
    size_t size;
    const petal_allocator *allocator; /* outlives the database */
    const petal_vfs *vfs;             /* outlives the database */
    void *clock_context;
    int64_t (*clock_ms)(void *context); /* wall clock, milliseconds since 1970 */
    void *random_context;
    uint64_t (*random)(void *context); /* identities and salts; default: the kernel's source */
    void *log_context;
    /* Events of background work, one line each; called from any thread.  Default: dropped. */
    void (*log)(void *context, enum petal_log_level level, const char *line);
} petal_env;

/* ---- Databases ------------------------------------------------------------------------------ */

typedef struct petal_db petal_db;
typedef struct petal_table petal_table;   /* a table; valid until petal_close */
typedef struct petal_family petal_family; /* a family; valid until petal_close */

/* HBase's durability levels, weakest first. */
enum petal_durability {
    PETAL_DURABILITY_DEFAULT = 0, /* the table's, then the database's, then SYNC_WAL */
    PETAL_SKIP_WAL = 1,           /* memory only; after a crash neither atomic nor in order */
    PETAL_ASYNC_WAL = 2, /* may be lost with the process, as in HBase; stored like SYNC_WAL */
    PETAL_SYNC_WAL = 3,  /* the kernel has it: survives the process */
    PETAL_FSYNC_WAL = 4  /* on the medium before the call returns */
};

#define PETAL_NO_CACHE SIZE_MAX   /* for cache_bytes: keep nothing between calls */
#define PETAL_NEVER    UINT32_MAX /* for an interval */

typedef struct petal_options {
    size_t size;
    bool create;          /* make a database if the directory has none */
    bool error_if_exists; /* with create */
    bool read_only;       /* change nothing; see petal_open */
    /*
     * Limit of memtables, block cache, metadata of open store files, and memory of petal_bulks,
     * together. The cache gets what memtables leave, at least an eighth; writers wait before
     * memtables take more than half. Default 64 MiB, modest for a guest in another program's
     * process; if cache_bytes or memtable_bytes is given, cache_bytes plus four times
     * memtable_bytes. At least 1 MiB. If you have more memory, raise this limit: with 256 MiB a
     * database is filled and read faster (engine/OPERATIONS.md has the figures).
     *
     * With the default allocator the process takes at most a tenth and 24 MiB more: the tenth for
     * evicted blocks that readers still use and for the cache's table; the 24 MiB for code and
     * stacks, the log's buffer, flushes and compactions at work, and malloc's overhead.
     *
     * Not counted are: a single batch larger than an eighth of the limit; cursors that keep
     * memtables; about 12 KiB for each family (or one-family table) beyond a few hundred; and
     * values of more than 64 KiB in compactions, which take the size of the largest block (a large
     * value has a block to itself) twice for each merged file and four times for the output. Two
     * compactions may run at once. With values of 10 MiB, ten files take 240 MiB.
     */
    size_t memory_bytes;
    /*
     * The block cache's part of memory_bytes. Default: all that is left, or 32 MiB if
     * memtable_bytes is given without memory_bytes. At least 64 KiB, or PETAL_NO_CACHE.
     */
    size_t cache_bytes;
    /*
     * Size of all active memtables at which the largest are flushed: as few as hold half of the
     * bytes. A family that is rarely written may therefore stay in memory, unlogged writes
     * included, until petal_flush, petal_close, or until more than 32 logs, or logs of more than
     * four times memtable_bytes, are kept. Default: an eighth of memory_bytes, at most 64 MiB, so 8
     * MiB when no size is given. At least 64 KiB, at most 4 GiB and a quarter of memory_bytes.
     */
    size_t memtable_bytes;
    /*
     * Store files open at once, including those that bulks write, however many threads read.
     * Default 512, at least 8; never more than half of the process's limit of descriptors.
     */
    uint32_t open_files;
    /* Only petal_compact compacts: store files accumulate, and writers do not wait for
     * compactions. */
    bool no_compaction;
    /* Background sync of the log; default 1000. PETAL_NEVER: only FSYNC_WAL and flushes sync. */
    uint32_t log_sync_interval_ms;
    enum petal_durability durability; /* default PETAL_SYNC_WAL */
    const petal_env *env;
    /*
     * Write the log by write() alone. Without this option, on Linux and on ext4, XFS and tmpfs,
     * small records are stored into the log through a shared mapping. That halves the time of a
     * put, and the record still survives the process. But where write() would fail with an error, a
     * store into a mapping raises SIGBUS, which ends the process:
     * - when the file system goes off line or turns read-only because its medium has failed;
     * - when somebody truncates the log while the database is open;
     * - when somebody copies the log by sharing its blocks (cp --reflink, on XFS) while it is open,
     *   and the disk is full.
     *
     * Syncs of the log keep that window short: the record after a sync is always written by
     * write(), which reports such faults as errors. With this option every write does.
     */
    bool no_log_mapping;
    /*
     * Read single data blocks of store files through read-only mappings. A block that the block
     * cache lacks is then checked and decoded in place, without a system call and a copy, which
     * halves the time of such a get.  Use it for data that is larger than the block cache, fits
     * into memory, and is on a local file system.  The process seems larger by the pages that it
     * mapped and read. A file that cannot be mapped (32-bit systems) is read as without the option.
     *
     * Errors that are PETAL_IO or PETAL_CORRUPT without this option raise SIGBUS, which ends the
     * process: when the medium fails a read, and when somebody truncates a store file while the
     * database is open. A block's checksum is compared before the block is decoded. If somebody
     * overwrites the block in place between the two, the wrong bytes may go unnoticed, but nothing
     * outside the block is touched.
     */
    bool map_files;
    /* With read_only: petal_snapshot_new begins with a petal_refresh. */
    bool refresh_at_snapshots;
    /*
     * Size of a family's store files in a region at which the region is split in two automatically
     * (petal_table_regions), unless the table says otherwise by MAX_FILESIZE or SPLIT_ENABLED.
     * Default 10 GiB (HBase's hbase.hregion.max.filesize), at least 64 KiB. A background job
     * rewrites at most one region, and needs as much free space. Not with no_compaction.
     */
    uint64_t max_region_bytes;
} petal_options;

/*
 * Open the database in `directory`.  Recovers what was acknowledged before a crash. If manifest or
 * logs lack anything that a sync had promised, refuses with PETAL_CORRUPT, file and offset in
 * *error, and leaves all files as they were; for store files see DAMAGE.  PETAL_BUSY: another
 * opener has it, in this process or another; the text names the process of a writer.
 * PETAL_NOT_FOUND: there is no database and `create` is not set.
 *
 * The path is resolved once: the database stays in the directory that was opened when the process
 * changes its working directory or the directory is renamed. Errors name files by the path as
 * given.
 *
 * READ-ONLY opening changes nothing, so it works on read-only media: the contents of the logs are
 * read into memory and stay there, whatever their size. Any number of openers, in any number of
 * processes, may read at once, and next to one that writes. Each sees the state that was committed
 * when it opened the database, or last called petal_refresh: whole batches, in the order in which
 * they were written, the last ones included that the kernel has (PETAL_SKIP_WAL: once flushed).
 * `create` and error_if_exists are then PETAL_INVALID. Writes, flushes, compactions and schema
 * changes are PETAL_READ_ONLY.
 *
 * A reader says in the file READERS, by one slot of it and a lock that ends with its process, which
 * state it reads. The writer waits for none: it keeps the store files of these states, and removes
 * them when the readers have gone on or have ended. So a reader that never refreshes costs the
 * space of what was merged since. One that may not write to READERS (another user) keeps all files
 * that go meanwhile. Where there is no READERS (the files were copied here without it) or the file
 * system cannot lock parts of files, readers exclude writers: each is PETAL_BUSY for the other.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_open(const char *directory, const petal_options *options, petal_db **db, petal_error *error);

/*
 * Of a database that was opened read-only: show what its writer has committed by now. Takes as long
 * as reading what was logged since the last time, and after a flush or compaction what the manifest
 * and the remaining logs hold. Reads that run, cursors and snapshots stay with the state that they
 * began with. Handles of tables that were dropped meanwhile behave as in the writer. After an error
 * the state is the one before. PETAL_BUSY: the writer replaces the manifest faster than it can be
 * read. PETAL_NOT_FOUND: another database, or the next backup, is in the directory by now; reads go
 * on with what was there, and an opening shows the other. Opened for writing: no-op. Any thread;
 * refreshes take turns.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status petal_refresh(petal_db *db, petal_error *error);

/* Flush the memtables, then release everything. If the flush fails, everything is released all the
 * same, its status is returned, and the log still holds the data. PETAL_BUSY: cursors, snapshots,
 * transactions, bulks or receipts are open; the text says how many, and the database stays open.
 * Results, batches and filters may be freed afterwards. No call may be running. NULL: no-op. */
PETAL_API enum petal_status petal_close(petal_db *db, petal_error *error);

/* ---- Tables and families -------------------------------------------------------------------- */

/* Which keys a store file's Bloom filter holds.  Values are stored. */
enum petal_bloom_type {
    PETAL_BLOOM_DEFAULT = 0, /* ROW */
    PETAL_BLOOM_NONE = 1,
    PETAL_BLOOM_ROW = 2,        /* rows: serves every get */
    PETAL_BLOOM_ROWCOL = 3,     /* columns: serves gets and scans that name columns */
    PETAL_BLOOM_ROW_ROWCOL = 4, /* both in one filter; not in HBase */
    /*
     * ROWPREFIX_FIXED_LENGTH: the first bloom_prefix_bytes of rows; serves gets, and scans whose
     * bounds share such a prefix.
     */
    PETAL_BLOOM_ROW_PREFIX = 5
};

/*
 * What a filter is made of.  Values are stored.  Families take BLOCKED and RIBBON; STANDARD is what
 * small filters within store files are. Standalone filters (petal_bloom.h) are of the others.
 */
enum petal_bloom_kind {
    PETAL_BLOOM_KIND_DEFAULT = 0,  /* BLOCKED */
    PETAL_BLOOM_KIND_STANDARD = 1, /* one array of bits */
    PETAL_BLOOM_KIND_BLOCKED = 2,  /* a key's bits lie in one cache line */
    PETAL_BLOOM_KIND_COUNTING = 3, /* counts keys, so that they can be taken out */
    PETAL_BLOOM_KIND_GROWING = 4,  /* of keys whose number is not known before */
    PETAL_BLOOM_KIND_RIBBON = 5    /* built once from all keys, near the fewest bits there can be */
};

enum petal_compression {
    PETAL_COMPRESSION_DEFAULT = 0,
    PETAL_COMPRESSION_NONE = 1,
    PETAL_COMPRESSION_LZ4 = 2
};

/* What flush and compaction do with deleted cells and their markers.  Values are stored. */
enum petal_keep_deleted {
    PETAL_KEEP_DELETED_DEFAULT = 0, /* FALSE */
    PETAL_KEEP_DELETED_FALSE = 1,
    /*
     * Cells are kept until VERSIONS or TTL drop them, markers until they hide nothing stored in
     * files. A time range before a deletion finds the deleted cells; see CAVEATS.
     */
    PETAL_KEEP_DELETED_TRUE = 2,
    PETAL_KEEP_DELETED_TTL = 3 /* as TRUE until the marker is older than TTL, then as FALSE */
};

/* Text attached to a table or family.  Names and values are HBase's. */
enum petal_attribute_kind {
    PETAL_METADATA = 1,      /* free */
    PETAL_CONFIGURATION = 2, /* free */
    /*
     * An HBase attribute that Petal checks, keeps and shows. It does not act on these of families:
     * REPLICATION_SCOPE, DATA_BLOCK_ENCODING, INDEX_BLOCK_ENCODING, CACHE_DATA_ON_WRITE,
     * CACHE_INDEX_ON_WRITE, CACHE_BLOOMS_ON_WRITE, EVICT_BLOCKS_ON_CLOSE, PREFETCH_BLOCKS_ON_OPEN,
     * IN_MEMORY_COMPACTION, COMPRESS_TAGS, COMPRESSION (a codec that Petal lacks: blocks use the
     * family's `compression`), IS_MOB, MOB_THRESHOLD, DFS_REPLICATION, STORAGE_POLICY, ENCRYPTION,
     * ENCRYPTION_KEY; and on these of tables: MEMSTORE_FLUSHSIZE, COMPACTION_ENABLED,
     * REGION_REPLICATION, PRIORITY, OWNER.
     *
     * It acts on these of families: COMPRESSION_COMPACT, the codec that compactions write;
     * COMPRESSION_COMPACT_MAJOR replaces it for compactions of all files, COMPRESSION_COMPACT_MINOR
     * for those of some. Each is NONE, LZ4 or LZ4HC, a name that HBase lacks: LZ4 that takes about
     * five times as long to write, saves from nothing to a third of the bytes (more with larger
     * blocks and more text), and reads as fast. If MAJOR or MINOR is absent or names another codec,
     * COMPRESSION_COMPACT applies; if that is absent or names another, the family's `compression`,
     * which flushes use.
     *
     * And on these of tables: MAX_FILESIZE, the bytes at which a region is split, in place of
     * petal_options.max_region_bytes; SPLIT_ENABLED, which with false keeps the background from
     * splitting and merging regions; MERGE_ENABLED, which with false keeps it from merging them.
     */
    PETAL_KEPT_ATTRIBUTE = 3
};

typedef struct petal_attribute {
    enum petal_attribute_kind kind;
    petal_slice name, value;
} petal_attribute;

#define PETAL_FOREVER 2147483647u /* TTL */

/* A column family.  Names and defaults are HBase's, except for compression. */
typedef struct petal_family_options {
    size_t size;
    petal_slice name;      /* see NAMES */
    uint32_t versions;     /* VERSIONS; default 1 */
    /*
     * MIN_VERSIONS, 0..versions: this many outlive ttl_seconds. A flush or compaction does not
     * count a cell with its own TTL, so the same number remains after it has died (HBase counts
     * it).
     */
    uint32_t min_versions;
    /*
     * TTL; at most PETAL_FOREVER, the default. It counts from a cell's timestamp, which runs ahead
     * of the clock in a column that is incremented more than once a millisecond (PETAL_LATEST).
     */
    uint32_t ttl_seconds;
    enum petal_keep_deleted keep_deleted_cells; /* KEEP_DELETED_CELLS; default FALSE */
    /*
     * NEW_VERSION_BEHAVIOR: markers hide, and versions count, in the order of writes. The cost of a
     * read grows with versions times markers of a column.
     */
    bool new_version_behavior;
    uint32_t block_bytes; /* BLOCKSIZE before compression; default 65536, 1 KiB..16 MiB */
    enum petal_compression compression; /* default LZ4 */
    enum petal_bloom_type bloom;        /* BLOOMFILTER; default ROW */
    /* RowPrefixBloomFilter.prefix_length, 1..32767; for ROW_PREFIX only */
    uint32_t bloom_prefix_bytes;
    /*
     * io.storefile.bloom.error.rate; default 0.01, 0.0001..0.5: how many needless file reads one
     * question to the filters may cost, on average and over all files of the store together. A get
     * of a row asks one question. With ROWCOL and ROW_ROWCOL a get that names columns asks one for
     * each column, and one more of files that hold deletions of families. The rate holds while
     * compactions keep up (up to 24 runs), and from 0.0092 on: a lower rate would need more than 20
     * bits a key, the limit of a filter.
     */
    double bloom_error_rate;
    bool bloom_rate_per_file; /* BLOOM_RATE_PER_FILE: the rate is that of each file, as in HBase */
    bool in_memory;           /* IN_MEMORY: its blocks enter the cache with the highest priority */
    bool no_block_cache;      /* BLOCKCACHE => false: the cache does not keep data blocks */
    const petal_attribute *attributes; /* each (kind, name) once */
    size_t attribute_count;
    /*
     * BLOOMFILTER_KIND: BLOCKED, the default, or RIBBON. With RIBBON compactions of all files,
     * whose outputs hold most keys, write filters of the same rate in 25 to 32 per cent fewer
     * bytes. A RIBBON filter takes about 0.1 us a key longer to build and about 15 ns longer to
     * ask. Flushes and other compactions write BLOCKED ones.
     */
    enum petal_bloom_kind bloom_kind;
} petal_family_options;

typedef struct petal_table_options {
    size_t size;
    petal_slice name; /* see NAMES */
    const petal_family_options *families; /* all of one size */
    size_t family_count;                  /* 1 to 4096 */
    enum petal_durability durability;
    bool read_only;                    /* READONLY: writes are refused with PETAL_READ_ONLY */
    const petal_attribute *attributes; /* each (kind, name) once */
    size_t attribute_count;
    /* For petal_table_create: the regions that the table has at first (petal_table_regions) begin
     * with these rows, and one before them, at the first row of all; in any order, each once. */
    const petal_slice *splits;
    size_t split_count; /* 0 to 65536 */
} petal_table_options;

/*
 * Make a table. Its limits and NAMES are checked: PETAL_INVALID names attribute, value and range.
 * PETAL_EXISTS: the name is taken.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_create(petal_db *db, const petal_table_options *options, petal_table **table,
                   petal_error *error);

/*
 * Check whether a table may have these options, without a database, as petal_table_create does.
 * PETAL_INVALID names attribute, value and range.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status petal_table_check(const petal_table_options *options,
                                                               petal_error *error);

/* Find the table of that name; PETAL_NOT_FOUND if there is none. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_open(petal_db *db, petal_slice name, petal_table **table, petal_error *error);

/*
 * Drop the table with its data. Handles stay valid memory, about a kilobyte until petal_close;
 * calls on them return PETAL_NOT_FOUND.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_drop(petal_table *table, petal_error *error);

/* Remove all cells of the table in one step. Its name, attributes, families and regions stay, these
 * under new ids, also if it is READONLY; damaged families become usable. Old handles behave as
 * after a drop: *truncated is the new table, NULL on failure, which changes nothing. Open cursors
 * still see the old contents; table snapshots stay. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_truncate(petal_table *table, petal_table **truncated, petal_error *error);

/* ---- regions ---- */

/*
 * A table is a list of regions, ranges of rows that cover all, the same for all its families. Each
 * has memtables and store files of its own for each family, which are flushed and compacted by
 * themselves; so what a compaction rewrites, and the space it needs, is bounded by a region,
 * however large the table is. What is read and written is the same whatever regions there are.
 *
 * A table begins with one region, or as petal_table_options.splits says. A region becomes two when
 * the store files of a family in it pass the limit (petal_options.max_region_bytes), in the middle
 * of the rows that they have, or by petal_table_split. A split stops writers for a commit of the
 * manifest, and rewrites nothing: until the background has rewritten the files that reach over the
 * border, both regions name them. Neighbours become one by petal_table_merge, or in the background
 * when the background split them more than three days ago and they have together at most a quarter
 * of the limit.
 */
typedef struct petal_region_info {
    size_t size;            /* of this struct */
    uint32_t id;            /* of the region; never used again in the database */
    petal_slice start, end; /* its rows: from `start` up to `end`, that not included; empty: open */
    uint64_t files;         /* store files of all families with rows of it */
    /* Of a file that several regions have, bytes and cells are its part for this one, as its index
     * tells, to half a block at either end: the parts add up to the file, but for rounding. If the
     * index is damaged, they are a guess. A memtable that was there before a split is counted for
     * both regions until it is flushed. */
    uint64_t file_bytes; /* of these files */
    uint64_t memtable_bytes;
    uint64_t cells; /* in files and memtables, about */
} petal_region_info;

/*
 * Call `visit` for each region in the order of rows, as of one moment, until it returns false. Of a
 * file that several regions have, a node of each level of its index is read for each end of each.
 * *info and its slices are valid during the call. Scans of these ranges give the table's rows, each
 * once, whatever is split meanwhile: with one snapshot, several threads may count or export a table
 * side by side.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_regions(petal_table *table,
                    bool (*visit)(void *argument, const petal_region_info *info), void *argument,
                    petal_error *error);

/*
 * Split the region that has `row` before that row; with an empty row the region `region`, which is
 * flushed before, near the middle of the bytes that its largest family has in store files (0: each
 * region that has a middle). PETAL_INVALID: the row is the first of a region already; the region's
 * files have no middle, as they have one row, or all in one block. PETAL_NOT_FOUND: no such region.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status petal_table_split(petal_table *table, petal_slice row,
                                                               uint32_t region, petal_error *error);

/*
 * Merge two regions that are neighbours, in any order, into one, which keeps the id of the first.
 * Flushes both, the last of it while writers wait; if only one of them has rewritten a file that
 * both had, it is compacted before. PETAL_INVALID: they are no neighbours. PETAL_NOT_FOUND.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_merge(petal_table *table, uint32_t region, uint32_t other, petal_error *error);

/*
 * Change the table to match `options` (its name stays and need not be given): families that are not
 * named are dropped with their data, new ones are added, the others get the attributes given. One
 * atomic change. BLOOMFILTER with its rate and kind, BLOCKSIZE and COMPRESSION apply to new store
 * files; IN_MEMORY and BLOCKCACHE to files opened afterwards; VERSIONS, MIN_VERSIONS, TTL,
 * KEEP_DELETED_CELLS and NEW_VERSION_BEHAVIOR to every read, flush and compaction that begins
 * afterwards. Regions that are too large by the MAX_FILESIZE or SPLIT_ENABLED given are split in
 * the background, as petal_wait_idle waits for.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_alter(petal_table *table, const petal_table_options *options, petal_error *error);

/* The table's description, with defaults filled in and families ordered by name.  `options->size`
 * says how much of *options to fill (0: all of it): set it, or use PETAL_DEFAULTS, first.  The
 * description points to memory that lives until petal_close. */
PETAL_API void petal_table_describe(const petal_table *table, petal_table_options *options);

/*
 * Call `visit` for each table, by namespace (none is "default"), then by name. It may call back
 * into the library. Returning false ends the list.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_list(petal_db *db, bool (*visit)(void *argument, petal_table *table), void *argument,
                 petal_error *error);

/* The table's name, durability and so on, as petal_table_describe gives them. The name lives until
 * petal_close. */
PETAL_API petal_slice petal_table_name(const petal_table *table);
PETAL_API enum petal_durability petal_table_durability(const petal_table *table);
PETAL_API size_t petal_table_family_count(const petal_table *table);

/* The family at `index` (0 .. count - 1), in order of names. */
PETAL_API petal_family *petal_table_family_at(const petal_table *table, size_t index);

/* Find the family of that name; PETAL_NOT_FOUND if the table has none. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_family(petal_table *table, petal_slice name, petal_family **family, petal_error *error);

/* The family's attributes, with defaults filled in; `options->size` as for petal_table_describe.
 * They point to memory that lives until petal_close. */
PETAL_API void petal_family_describe(const petal_family *family, petal_family_options *options);

/* The family's name, which lives until petal_close. */
PETAL_API petal_slice petal_family_name(const petal_family *family);

/* Report known damage of the family. PETAL_OK: none; PETAL_NOT_FOUND: the family was dropped;
 * PETAL_CORRUPT: one of its store files is missing or damaged, see DAMAGE. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_family_check(petal_family *family, petal_error *error);

/* ---- Snapshots of tables, on disk ----------------------------------------------------------- */

/*
 * The contents of a table at one moment, kept on disk under a name: attributes, families and store
 * files, which a table snapshot shares with the table (hard links, or copies where the file system
 * has none). It outlives its table, costs no memory, and costs space only when the table has
 * changed. A snapshot past its time to live no longer exists; its files are removed by the next
 * call on snapshots, or by the next opening. (petal_snapshot is something else: a read point.)
 */
typedef struct petal_table_snapshot_options {
    size_t size;
    bool skip_flush;      /* leave out the memtables */
    uint32_t ttl_seconds; /* lifetime from creation on; 0: no limit */
} petal_table_snapshot_options;

typedef struct petal_table_snapshot_info {
    petal_slice name, table;
    int64_t created_ms;
    uint32_t ttl_seconds; /* 0: none */
    uint64_t file_bytes;  /* of its store files, shared or not */
} petal_table_snapshot_info;

/*
 * Make a snapshot of the table, a state between two batches. Writes continue meanwhile.
 * PETAL_EXISTS: the name is taken.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_snapshot_create(petal_table *table, petal_slice name,
                            const petal_table_snapshot_options *options, petal_error *error);

/*
 * Call `visit` for each table snapshot, by name; slices are valid during the visit. Returning false
 * ends the list.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_snapshot_list(petal_db *db,
                          bool (*visit)(void *argument, const petal_table_snapshot_info *info),
                          void *argument, petal_error *error);

/*
 * Make a new table from the snapshot. PETAL_EXISTS: the table's name is taken; PETAL_NOT_FOUND:
 * there is no such snapshot. A read point (petal_snapshot) older than the new table sees the part
 * of it that had been written by then.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_snapshot_clone(petal_db *db, petal_slice snapshot, petal_slice table_name,
                           petal_table **table, petal_error *error);

/*
 * Return the snapshot's table to its state at the snapshot, in one step; a dropped table comes
 * back. Old handles behave as after a drop: *table is the new one.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_snapshot_restore(petal_db *db, petal_slice snapshot, petal_table **table,
                             petal_error *error);

/* Delete the snapshot, and those of its files that no table has. PETAL_NOT_FOUND if there is
 * none. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_snapshot_delete(petal_db *db, petal_slice snapshot, petal_error *error);

/* ---- Results -------------------------------------------------------------------------------- */

/* The cells that a call returns: made once, reused, freed by the caller. A result keeps the memory
 * of its largest answer and of the largest block that a get decoded past a full cache; memory_bytes
 * does not count it. */
typedef struct petal_result petal_result;

/* Make an empty result, for any call on any table of the database. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_result_new(petal_db *db, petal_result **result, petal_error *error);
PETAL_API void petal_result_free(petal_result *result); /* NULL: no-op */

/* The number of its cells. */
PETAL_API size_t petal_result_count(const petal_result *result);

/*
 * A cell of the result, in order of row, family, qualifier, newest version first; valid until the
 * result's next use or free. `index` < count.
 */
PETAL_API const petal_cell *petal_result_cell(const petal_result *result, size_t index);

/* ---- Writing -------------------------------------------------------------------------------- */

typedef struct petal_write_options {
    size_t size;
    enum petal_durability durability; /* default: the table's */
    /*
     * For a single write: its cell dies when timestamp + ttl_ms < now. petal_write and
     * petal_mutate_row refuse it with PETAL_INVALID: in a batch each mutation has its own
     * (petal_mutation_options).
     */
    bool has_ttl;
    int64_t ttl_ms; /* may be negative, as in HBase; 0 without has_ttl */
    /*
     * Receives the new cells of appends and increments, mutation by mutation, within one by row,
     * family and qualifier. NULL: none.
     */
    petal_result *result;
    /* Milliseconds that the write may wait for flushes or compactions that are behind; after that
     * it returns PETAL_TIMEOUT and nothing is written. 0: as long as it takes; PETAL_NO_WAIT: not
     * at all. A write always waits for a sync and for writers to the same row. */
    uint32_t deadline_ms;
    /* PETAL_LATEST is later than every timestamp that the store assigned in the column, also within
     * one millisecond. Each such write is then a separate version; if writes come faster than the
     * clock, their timestamps run ahead of it. */
    bool new_version;
} petal_write_options;

#define PETAL_NO_WAIT UINT32_MAX

/*
 * Write one cell.  `timestamp` is >= 0, or PETAL_LATEST: the store assigns it (see Timestamps in
 * petal_conventions(3)).
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_put(petal_family *family, petal_slice row, petal_slice qualifier, int64_t timestamp,
          petal_slice value, const petal_write_options *options, petal_error *error);

/*
 * Write one deletion marker of `type` (not PETAL_PUT). The column kinds take a `qualifier`; for the
 * family kinds it is empty. With PETAL_LATEST kinds 10, 12 and 14 are stamped as puts are; kind 8
 * gets the timestamp of the newest live version, or is stamped as a put if there is none, as in
 * HBase.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_delete(petal_family *family, petal_slice row, petal_slice qualifier, int64_t timestamp,
             enum petal_cell_type type, const petal_write_options *options, petal_error *error);

/*
 * Delete a row, HBase's deleteall: write a PETAL_DELETE_FAMILY marker in each family of the table,
 * all or none, whether or not the row exists. As with any marker, cells of the row with a later
 * timestamp stay. petal_delete_rows deletes many rows.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_delete_row(petal_table *table, petal_slice row, int64_t timestamp,
                 const petal_write_options *options, petal_error *error);

/*
 * Read-modify-write. Both read the newest version of the column and write a new one at now, or at
 * the old timestamp + 1 if that is later; the new cell inherits the old one's own TTL unless the
 * write gives one. No other write to the row comes between. Append adds `value` after the old value
 * (a missing one is empty). Increment reads the old value as an 8-byte big-endian number (a missing
 * one is 0), adds `amount`, wrapping, and returns the sum in *sum (may be NULL); PETAL_INVALID if
 * the old value has another width.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_append(petal_family *family, petal_slice row, petal_slice qualifier, petal_slice value,
             const petal_write_options *options, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_increment(petal_family *family, petal_slice row, petal_slice qualifier, int64_t amount,
                const petal_write_options *options, int64_t *sum, petal_error *error);

/*
 * A batch of writes, of which petal_write applies all or none, across rows, families and tables of
 * one database, also after a crash. Unless the options name a durability, it is the strongest of
 * the tables'. The batch reads everything it needs (appends, increments, deletions of the newest
 * version) before it writes, and every PETAL_LATEST in it is the same moment. As in HBase, two
 * increments of one column do not add up: the later one wins.
 */
typedef struct petal_batch petal_batch;

/* Make an empty batch. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_batch_new(petal_db *db, petal_batch **batch, petal_error *error);
PETAL_API void petal_batch_free(petal_batch *batch); /* NULL: no-op */

/* Remove all writes, to fill the batch anew. */
PETAL_API void petal_batch_clear(petal_batch *batch);

/* The number of its writes: each put, deletion, append and increment counts as one. */
PETAL_API size_t petal_batch_count(const petal_batch *batch);

/* Options for the cells of one mutation of a batch. */
typedef struct petal_mutation_options {
    size_t size;
    bool has_ttl;   /* each cell dies when its timestamp + ttl_ms < now */
    int64_t ttl_ms; /* may be negative, as in HBase; 0 without has_ttl */
    /* Appends and increments read only versions with time_min <= timestamp < time_limit. */
    bool has_time_range;
    int64_t time_min, time_limit; /* 0 without has_time_range */
    bool no_results; /* the write's result gets no cells of its appends and increments */
} petal_mutation_options;

/*
 * Begin a mutation, to which the following writes belong until the next one begins (NULL: defaults,
 * as for a batch without this call). If one mutation deletes the newest version of a column several
 * times, the k-th deletion deletes the k-th newest. A mutation without a cell makes petal_write
 * refuse the batch, as HBase does.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_batch_mutation(petal_batch *batch, const petal_mutation_options *options, petal_error *error);

/* As petal_put, petal_delete, petal_append and petal_increment, when the batch is applied. Bytes
 * are copied. A refused cell leaves the batch unchanged. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_batch_put(petal_batch *batch, petal_family *family, petal_slice row, petal_slice qualifier,
                int64_t timestamp, petal_slice value, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_batch_delete(petal_batch *batch, petal_family *family, petal_slice row, petal_slice qualifier,
                   int64_t timestamp, enum petal_cell_type type, petal_error *error);
/* As petal_delete_row: adds the markers of all families, or none if it fails. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_batch_delete_row(petal_batch *batch, petal_table *table, petal_slice row, int64_t timestamp,
                       petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_batch_append(petal_batch *batch, petal_family *family, petal_slice row, petal_slice qualifier,
                   petal_slice value, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_batch_increment(petal_batch *batch, petal_family *family, petal_slice row,
                      petal_slice qualifier, int64_t amount, petal_error *error);

/* Apply the batch, which can then be cleared and reused.  An empty batch succeeds. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_write(petal_db *db, petal_batch *batch, const petal_write_options *options,
            petal_error *error);

/* ---- Loading in bulk ------------------------------------------------------------------------ */

/*
 * A bulk load, as in HBase: sorted cells become store files directly, without log and memtables.
 * One commit adds them to a table, all or none, also after a crash, and makes them and everything
 * written before durable. The cells keep their timestamps, types and times to live. They count as
 * written by the commit, above everything written before, so earlier readers do not see them (or
 * below everything: see petal_bulk_place). Within a bulk, markers win over puts at the same
 * timestamp, as in HBase. A bulk belongs to one thread at a time. Several may be open at once, also
 * on one table and while others write to it.
 *
 * Its memory counts towards memory_bytes (file_memory of petal_stats) and is bounded: for each
 * family with cells up to about 3 MiB, and up to 64 MiB of cells of a row's empty qualifier; after
 * more of these a family marker of the row is refused. When all bulks together use more than a
 * quarter of memory_bytes, they write in smaller pieces and hold at most 1 MiB of such cells. The
 * files that a bulk writes or has written count towards open_files.
 */
typedef struct petal_bulk petal_bulk;

/* The place of a bulk's cells in the order of writes. It decides at equal timestamps, also which
 * cells a marker hides; under NEW_VERSION_BEHAVIOR always. */
enum petal_bulk_place {
    PETAL_BULK_ABOVE = 0, /* as if the commit wrote them */
    /*
     * As if they had been written before everything in the table, including earlier bulks below.
     * Earlier snapshots (petal_snapshot) see them after the commit, like the table's other old
     * cells; open cursors do not. Markers that a compaction has already dropped do not hide them.
     */
    PETAL_BULK_BELOW = 1
};

typedef struct petal_bulk_options {
    size_t size;
    enum petal_bulk_place place;
    /* End a store file after the row in which it exceeds this size; default: as for compactions
     * (compact_file_bytes). */
    uint64_t file_bytes;
} petal_bulk_options;

PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bulk_begin(petal_table *table, const petal_bulk_options *options, petal_bulk **bulk,
                 petal_error *error);

/*
 * Add a cell to a family of the table; cell->family is ignored, bytes are copied. The cells of one
 * family come in HBase's order: by row, qualifier, timestamp descending, type descending. Family
 * markers come with the empty qualifier, or before the other cells of the row. Families may come
 * one after the other or mixed. PETAL_INVALID, and the text says of which cell: out of order, given
 * twice, too large, a negative timestamp or PETAL_LATEST, a marker with a value, a family of
 * another table. PETAL_NOT_FOUND: the family was dropped. After any failure the bulk has failed and
 * can only be freed.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bulk_add(petal_bulk *bulk, petal_family *family, const petal_cell *cell, petal_error *error);

/*
 * Add the bulk's cells to the table. An empty bulk succeeds. On failure nothing has been added,
 * with one exception: a failed sync of the manifest is PETAL_IO and makes the database read-only,
 * and the whole bulk may be there when the database is opened again. PETAL_NOT_FOUND: the table, or
 * a family with cells in the bulk, was dropped meanwhile. PETAL_INVALID: there is no room below a
 * family's oldest cell; petal_compact makes room. Waits, as writers do, when compactions are far
 * behind. Afterwards the bulk can only be freed.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bulk_commit(petal_bulk *bulk, petal_error *error);

/* Free the bulk; without a commit, undo all of it. NULL: no-op; before petal_close. */
PETAL_API void petal_bulk_free(petal_bulk *bulk);

/* ---- Filters -------------------------------------------------------------------------------- */

/*
 * A test inside a read that leaves cells out. Immutable and reference-counted: a combination or an
 * open cursor keeps the filters it uses.
 */
typedef struct petal_filter petal_filter;

/*
 * Parse HBase's filter language. PETAL_INVALID: error->offset is the place of the mistake in
 * `text`; error->text says so too.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_filter_parse(petal_db *db, petal_slice text, petal_filter **filter, petal_error *error);

enum petal_compare {
    PETAL_LESS = 1,
    PETAL_LESS_OR_EQUAL = 2,
    PETAL_EQUAL = 3,
    PETAL_NOT_EQUAL = 4,
    PETAL_GREATER_OR_EQUAL = 5,
    PETAL_GREATER = 6
};

enum petal_filter_argument_kind {
    PETAL_FILTER_BYTES,   /* .bytes; also comparators: 'type:value' */
    PETAL_FILTER_NUMBER,  /* .number */
    PETAL_FILTER_BOOLEAN, /* .number is 0 or 1 */
    PETAL_FILTER_COMPARE, /* .number is an enum petal_compare */
    PETAL_FILTER_OPEN     /* the open end of a ColumnRangeFilter; empty BYTES are one, too */
};

typedef struct petal_filter_argument {
    enum petal_filter_argument_kind kind;
    int64_t number;
    petal_slice bytes; /* copied */
} petal_filter_argument;

/*
 * Make a filter from its name in HBase's filter language and the arguments it has there. These
 * names are not in the language:
 *     FuzzyRowFilter       pairs of BYTES: pattern, mask of the same
 *                          length; mask byte 0: equal, 1: any
 *     MultiRowRangeFilter  for each range: start BYTES, inclusive BOOLEAN,
 *                          stop BYTES, inclusive BOOLEAN; empty: open end
 *     RandomRowFilter      BYTES: the chance as decimal text
 * nor are these comparators: long:N, null:, bitand:BYTES, bitor:BYTES, bitxor:BYTES. The language
 * has binary, binaryprefix, substring, regexstring, regexstringnocase. Regular expressions are
 * Java's, except as engine/filter/regex.h says; one that takes too many steps or too much memory on
 * a text ends the read with PETAL_INVALID.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_filter_make(petal_db *db, const char *name, const petal_filter_argument *arguments,
                  size_t count, petal_filter **filter, petal_error *error);

enum petal_filter_operation {
    PETAL_FILTER_AND = 1,  /* FilterList MUST_PASS_ALL */
    PETAL_FILTER_OR = 2,   /* FilterList MUST_PASS_ONE */
    PETAL_FILTER_SKIP = 3, /* SkipFilter: a rejected cell rejects its row; one member */
    PETAL_FILTER_WHILE = 4 /* WhileMatchFilter: the first rejection ends the read; one member */
};

PETAL_API PETAL_MUST_CHECK enum petal_status
petal_filter_combine(petal_db *db, enum petal_filter_operation operation,
                     petal_filter *const *members, size_t count, petal_filter **filter,
                     petal_error *error);
PETAL_API void petal_filter_free(petal_filter *filter); /* NULL: no-op */

/* The i-th name that petal_filter_parse knows, in alphabetic order; NULL after the last. */
PETAL_API const char *petal_filter_name(size_t index);

/* ---- Changes of one row --------------------------------------------------------------------- */

/* The condition for a change of a row, as in HBase's checkAndMutate. */
typedef struct petal_condition {
    size_t size;
    /* Not NULL: true when the row read with it is not empty. NULL: one column decides: */
    const petal_filter *filter;
    petal_family *family;
    petal_slice qualifier;
    /* True when the column has no version; a version with an empty value counts. Excludes `value`
     * and `filter`. */
    bool absent;
    /*
     * True when a version exists and `value` compare stored value. An empty `value` means "none",
     * as in HBase: PETAL_NOT_EQUAL is true when there is a value that is not empty, the others when
     * there is none or an empty one. So PETAL_EQUAL with an empty value is HBase's ifNotExists. See
     * compare_empty.
     */
    enum petal_compare compare;
    petal_slice value;
    bool has_time_range;          /* of the read */
    int64_t time_min, time_limit; /* 0 without has_time_range */
    bool compare_empty;           /* compare an empty `value` like any other */
} petal_condition;

/*
 * Apply the batch, all of whose cells must belong to `table` and `row`, if the condition is true
 * (NULL: always). *applied (may be NULL) receives whether it was. No other write to the row comes
 * between. A put with PETAL_LATEST gets the timestamp of the cell that the condition read, if that
 * is later than now.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_mutate_row(petal_table *table, petal_slice row, const petal_condition *condition,
                 petal_batch *batch, const petal_write_options *options, bool *applied,
                 petal_error *error);

/* ---- Snapshots ------------------------------------------------------------------------------ */

/*
 * A read point: reads that name it see the database as it was when the snapshot was made, until it
 * is freed. Making one may wait for a sync of the manifest while a compaction is dropping markers.
 * A read at a snapshot skips everything written to its cells since, which takes time.
 */
typedef struct petal_snapshot petal_snapshot;

PETAL_API PETAL_MUST_CHECK enum petal_status
petal_snapshot_new(petal_db *db, petal_snapshot **snapshot, petal_error *error);
PETAL_API void petal_snapshot_free(petal_snapshot *snapshot); /* NULL: no-op; before petal_close */

/* ---- Reading -------------------------------------------------------------------------------- */

/* Why a source was not read, in the order of the tests; petal_skip_text gives the words. */
enum petal_skip {
    PETAL_SKIP_NONE = 0,    /* it was read */
    PETAL_SKIP_FOUND_NEWER, /* the newer cells already found decide the answer */
    PETAL_SKIP_ROW_RANGE,
    PETAL_SKIP_TIME_RANGE,
    PETAL_SKIP_EXPIRED, /* all its cells are older than the family's TTL */
    PETAL_SKIP_COLUMNS, /* the read asks for none of its recorded qualifiers */
    PETAL_SKIP_BLOOM,
    PETAL_SKIP_COUNT
};
#define PETAL_WITHOUT(skip) (1u << (skip)) /* for petal_read_options.without */

/* The words for a reason; static, never NULL. */
PETAL_API const char *petal_skip_text(enum petal_skip skip);

/* A column that a read names: one qualifier, or the whole family when `whole_family`. */
typedef struct petal_column {
    petal_family *family;
    petal_slice qualifier;
    bool whole_family;
} petal_column;

/* A time range for one family, instead of the read's. */
typedef struct petal_family_time_range {
    petal_family *family;
    int64_t time_min, time_limit;
} petal_family_time_range;

#define PETAL_ALL_VERSIONS INT32_MAX

typedef struct petal_receipt petal_receipt;

typedef struct petal_read_options {
    size_t size;
    const petal_column *columns; /* of the table read; 0 columns: all families */
    size_t column_count;
    bool has_time_range;          /* only cells with time_min <= timestamp < time_limit */
    int64_t time_min, time_limit; /* 0 without has_time_range */
    /* The blocks that this read fetches do not enter the cache.  Without this option those of a
     * long scan enter it while there is room: a scan does not evict the blocks of other reads. */
    bool keep_out_of_cache;
    unsigned without;       /* PETAL_WITHOUT bits: reasons not to use; the answer is the same */
    petal_receipt *receipt; /* receives an account of the read; costs time; NULL: none */
    /*
     * Newest versions of each column; default 1, PETAL_ALL_VERSIONS; the family's VERSIONS limits
     * it, except in a raw scan. Below 0 a get is refused and a scan finds nothing, as in HBase.
     */
    int32_t versions;
    const petal_family_time_range *family_time_ranges;
    size_t family_time_range_count;
    uint64_t family_cell_limit;  /* cells of each family in each row, at most; 0: no limit */
    uint64_t family_cell_offset; /* skip this many of them first */
    const petal_filter *filter;
    const petal_snapshot *snapshot; /* NULL: as of now */
    /*
     * Milliseconds that a call may take; then it ends with PETAL_TIMEOUT. 0 and PETAL_NO_WAIT: no
     * limit, since a read never waits. The clock is read about once in a thousand cells, with a
     * filter once in sixteen; every call looks at that many cells, so each makes progress. A get,
     * of one or of several rows, that times out returns no part of its answer. A get with a
     * deadline looks at all sources that may have the row, as one with a filter does, and takes the
     * time of a short scan. A cursor counts each step anew (opening and seeking have no limit). The
     * step after PETAL_TIMEOUT continues where that one ended, also within a row: no cell is lost
     * or repeated.
     */
    uint32_t deadline_ms;
} petal_read_options;

/*
 * Read one row: the newest versions of each requested column. Without filter, limits and
 * NEW_VERSION_BEHAVIOR it allocates nothing once `result` is warm.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_get(petal_table *table, petal_slice row, const petal_read_options *options,
          petal_result *result, petal_error *error);

/*
 * Read several rows as of one moment; results[i] receives rows[i]. For one column, rows in memory
 * are searched several at a time, which is faster than one by one. The other rows are read in byte
 * order: with a block cache, a block that holds several of them is read once.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_multi_get(petal_table *table, const petal_slice *rows, size_t count,
                const petal_read_options *options, petal_result *const *results,
                petal_error *error);

typedef struct petal_scan_options {
    size_t size;
    petal_read_options read; /* the next field begins where the size in it says that it ends */
    petal_slice start_row;   /* empty: from the first row, in a reversed scan the last */
    petal_slice stop_row;    /* empty: to the end */
    uint64_t row_limit;      /* 0: none */
    bool start_exclusive;    /* leave out the start row itself */
    bool stop_inclusive;     /* include the stop row itself */
    /*
     * Not empty: read only rows with this prefix; start_row and stop_row are ignored. This also
     * works in a reversed scan, where HBase finds nothing.
     */
    petal_slice prefix;
    /* Rows from high to low, start_row being the high end; the order inside a row stays. */
    bool reversed;
    bool raw; /* also markers and deleted cells, as stored; takes no named columns */
    /*
     * At most this many cells in each result of petal_cursor_next_row; 0: whole rows. Refused with
     * a filter that needs whole rows.
     */
    uint64_t batch;
} petal_scan_options;

/*
 * A scan in progress. It reads cells by row, family, qualifier, and sees the database as it was at
 * opening. Filters with state (PageFilter, WHILE ..) keep it from the cursor's beginning;
 * petal_cursor_seek resets it.
 */
typedef struct petal_cursor petal_cursor;

PETAL_API PETAL_MUST_CHECK enum petal_status
petal_cursor_open(petal_table *table, const petal_scan_options *options, petal_cursor **cursor,
                  petal_error *error);

/* Step to the next cell: *cell points to it until the next call, or is NULL at the end. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_cursor_next(petal_cursor *cursor, const petal_cell **cell, petal_error *error);

/*
 * Step over several cells at once: *cells points to the first of *count consecutive ones, at least
 * 1 and at most `most`; 0 at the end. They are the cells that *count calls of petal_cursor_next
 * would give, of one row or of many. The cursor chooses the count; only in long scans does it fetch
 * blocks for more. Plain scans of one family (forward, whole, not raw, without
 * NEW_VERSION_BEHAVIOR, filter, limits of cells in a row and receipt) give runs of up to 128. With
 * several families a run ends where the row's cells in a family end. Other scans give one cell. The
 * array and its cells belong to the cursor and are valid until the next call on it. This call mixes
 * freely with the other steps and with seeks. PETAL_INVALID: `most` is 0. After a failure *count is
 * 0.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_cursor_next_many(petal_cursor *cursor, size_t most, const petal_cell **cells, size_t *count,
                       petal_error *error);

/*
 * Read the rest of the current row, or the next row, into `result`: at most options.batch cells;
 * empty at the end.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_cursor_next_row(petal_cursor *cursor, petal_result *result, petal_error *error);

/*
 * Move, forward or back, so that the next cell is the first at or after (row, family, qualifier);
 * in a reversed scan the first of that row or of the rows below it. `family` NULL: the row's first
 * cell. Bounds and columns of the options stay. A row limit starts anew. Limits of cells in a row
 * count from that place, but under a filter that decides about whole rows from the row's beginning.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_cursor_seek(petal_cursor *cursor, petal_slice row, const petal_family *family,
                  petal_slice qualifier, petal_error *error);
PETAL_API void petal_cursor_close(petal_cursor *cursor); /* NULL: no-op; before petal_close */

/* ---- Transactions --------------------------------------------------------------------------- */

/*
 * Reads and writes of any rows and tables of a database that happen as one. HBase has none.
 * A transaction reads at one snapshot, taken when it begins, and sees its own writes: an answer is
 * what it would be if they had been made on the snapshot. Nobody else sees them before
 * petal_transaction_commit, which writes them as one batch, or refuses with PETAL_CONFLICT and
 * writes nothing: when a row that was read or written here was written to since the snapshot, in
 * any of its columns. The first to commit wins; the other begins anew.
 *
 * WHAT WAS READ is the row of a get, whether or not it exists, and the range of a scan, also where
 * it is empty: from the start to the row of the last cell given, and all of it once the scan has
 * ended. A scan that was moved by petal_cursor_seek, or that a filter ended, counts with all of its
 * bounds, without need. A transaction that has written nothing always commits: it saw one moment.
 * So transactions are serializable. Any write counts: of petal_put and the like, petal_delete_rows,
 * bulk loads. A table that was altered, dropped, truncated or restored from a snapshot since it was
 * first used here is a conflict, too; so is one into which a bulk was loaded PETAL_BULK_BELOW since
 * the transaction began. The one moment leaves these out: the transaction may see such a bulk, and
 * reads a table that took another's place as it is. (A cell with a time to live that came, expired
 * and was compacted away in between does not count.)
 *
 * Nothing is locked between calls: a transaction left lying hinders nobody, but keeps a snapshot,
 * and in memory its writes, twice, and which rows and ranges it read. It is no part of the
 * database's memory limit. petal_close returns PETAL_BUSY while one is there.
 *
 * TIME. Every PETAL_LATEST in a transaction is one moment, that of the commit, as in a batch; until
 * then its own reads see the moment of its beginning. It is that of the beginning for good when a
 * timestamp from there on was given here, or was there in a column written here: a version of that
 * very millisecond, or one that a caller dated ahead. Cells here whose timestamps must differ (of
 * several increments) have them in the same order after the commit. So but for the timestamps, what
 * is there then is what the last of its own reads saw. Times to live are judged as of each read.
 *
 * COST. Beginning waits for the write at hand, with its sync, and may wait as petal_snapshot_new
 * does. A get in a table that the transaction wrote to takes the time of a short scan; scans give
 * single cells. Committing searches each row that was read or written, and each range, for newer
 * cells: in memtables and in those files that have any, which takes time in proportion to the cells
 * of the range there. Nobody waits for that but the committer. While all writers wait it is done
 * once more for the writes that came meanwhile: a row that has none of them costs next to nothing,
 * but a range takes the same time again in each memtable and file that has any of them, inside the
 * range or not. What was read several times is searched once. A commit shares its sync with nobody.
 * Where there are no transactions none of this costs anything.
 */
typedef struct petal_transaction petal_transaction;

#define PETAL_MAX_TRANSACTION_CELLS (1u << 20) /* that it writes; also PETAL_MAX_BATCH_BYTES */

typedef struct petal_transaction_options {
    size_t size;
    enum petal_durability durability; /* of the commit; default: the strongest of the tables' */
    uint32_t deadline_ms;             /* of the commit, as in petal_write_options */
} petal_transaction_options;

/* Begin one. In a read-only database it can read. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_transaction_begin(petal_db *db, const petal_transaction_options *options,
                        petal_transaction **transaction, petal_error *error);

/*
 * As petal_get and petal_multi_get, with all their options but `snapshot`, which is refused. Rows
 * that were refused do not count as read.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_transaction_get(petal_transaction *transaction, petal_table *table, petal_slice row,
                      const petal_read_options *options, petal_result *result, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_transaction_multi_get(petal_transaction *transaction, petal_table *table,
                            const petal_slice *rows, size_t count,
                            const petal_read_options *options, petal_result *const *results,
                            petal_error *error);

/*
 * As petal_cursor_open, with all its options but `read.snapshot`. The cursor sees what was written
 * here before it was opened. Close it as any; when the transaction ends first the cursor goes on
 * giving its cells, which are no part of the transaction any more.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_transaction_scan(petal_transaction *transaction, petal_table *table,
                       const petal_scan_options *options, petal_cursor **cursor,
                       petal_error *error);

/*
 * As petal_put, petal_delete, petal_delete_row, petal_append and petal_increment, when the
 * transaction commits. Bytes are copied. The last two read here, and several of one column add up.
 * `options` (NULL: none) give a time to live. A refused write leaves the transaction unchanged.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_transaction_put(petal_transaction *transaction, petal_family *family, petal_slice row,
                      petal_slice qualifier, int64_t timestamp, petal_slice value,
                      const petal_mutation_options *options, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_transaction_delete(petal_transaction *transaction, petal_family *family, petal_slice row,
                         petal_slice qualifier, int64_t timestamp, enum petal_cell_type type,
                         petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_transaction_delete_row(petal_transaction *transaction, petal_table *table, petal_slice row,
                             int64_t timestamp, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_transaction_append(petal_transaction *transaction, petal_family *family, petal_slice row,
                         petal_slice qualifier, petal_slice value, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_transaction_increment(petal_transaction *transaction, petal_family *family, petal_slice row,
                            petal_slice qualifier, int64_t amount, int64_t *sum,
                            petal_error *error);

/*
 * Write all, or nothing: PETAL_CONFLICT, whose message names the table and the row. The transaction
 * is over and released, whatever the status is.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_transaction_commit(petal_transaction *transaction, petal_error *error);

/* Forget the writes and release the transaction. NULL: no-op; before petal_close. */
PETAL_API void petal_transaction_abort(petal_transaction *transaction);

/* ---- Deleting many rows --------------------------------------------------------------------- */

/* The progress of petal_delete_rows. */
typedef struct petal_deleted_rows {
    uint64_t rows; /* rows deleted */
    /* PETAL_OK: empty. Otherwise all rows below it are done: pass it as `from` to continue. Points
     * to next_bytes. Also empty for a `from` that no row can have, which is refused. */
    petal_slice next;
    unsigned char next_bytes[PETAL_MAX_ROW_BYTES];
} petal_deleted_rows;

typedef struct petal_delete_rows_options {
    size_t size;
    petal_slice prefix; /* not empty: delete only rows with this prefix */
    /*
     * Columns of the table: delete only these, in the rows that have any of them; whole families by
     * PETAL_DELETE_FAMILY, columns by PETAL_DELETE_COLUMN. 0 columns: all families, as
     * petal_delete_row.
     */
    const petal_column *columns;
    size_t column_count;
    bool has_timestamp; /* of the markers; else each batch is stamped when written */
    int64_t timestamp;  /* 0 without has_timestamp */
    const petal_snapshot *snapshot;   /* delete the rows that it sees; NULL: the rows present now */
    enum petal_durability durability; /* default: the table's */
    uint32_t batch_rows; /* per batch at most; default 1000. A batch of 1 MiB takes no more. */
    /*
     * Milliseconds that the call may take; then it ends with PETAL_TIMEOUT: between two batches,
     * while passing rows that are deleted already, or while waiting for flushes and compactions,
     * but not within a row. 0: no limit; PETAL_NO_WAIT: no limit either, but it ends instead of
     * waiting for these.
     */
    uint32_t deadline_ms;
    void *argument;
    /* Called after each batch, and every few thousand cells between rows that are deleted already,
     * on this thread, with the progress. If it returns false before the call knows that nothing is
     * left, the call ends with PETAL_BUSY. */
    bool (*watch)(void *argument, const petal_deleted_rows *done);
} petal_delete_rows_options;

/*
 * Delete the existing rows with from <= row < to (`from` empty: from the first; `to` empty: to the
 * last) in batches, each row as petal_delete_row does: HBase's deleteall by ROWPREFIXFILTER.
 * *deleted (may be NULL) receives the progress, also when the call fails. Time and disk space are
 * proportional to the rows, since each gets its markers; memory is bounded. To empty a table at
 * once, use petal_table_truncate.
 *
 * The call is not atomic. Each row and each batch is, also in a crash, but a reader meanwhile sees
 * some rows deleted and others not yet. The rows are those that exist when the call begins (or in
 * `snapshot`): a row whose cells are all deleted or past their time to live does not exist, gets no
 * markers and is not counted; rows that others add meanwhile stay. A cell that others put into a
 * row before its batch is written is deleted with it. A cell put afterwards stays, unless its
 * timestamp is given and not above the marker's. Cells with timestamps above the marker's stay, as
 * with petal_delete_row; their row is counted all the same. Snapshots and cursors older than a
 * batch still see its rows. The rows' space is not freed while these exist or the call runs.
 *
 * At PETAL_FSYNC_WAL the deletions are on the medium when the call returns PETAL_OK, also when it
 * found no rows: then it syncs the log for the writes that deleted them before.
 *
 * After the call has ended early (PETAL_TIMEOUT, PETAL_BUSY) or failed, call it again with
 * deleted->next as `from` to continue. A batch that failed is not counted and is repeated.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_delete_rows(petal_table *table, petal_slice from, petal_slice to,
                  const petal_delete_rows_options *options, petal_deleted_rows *deleted,
                  petal_error *error);

/* ---- The receipt of a read ------------------------------------------------------------------ */

enum petal_block_kind {
    PETAL_BLOCK_DATA,
    PETAL_BLOCK_INDEX,
    PETAL_BLOCK_FILTER,
    PETAL_BLOCK_KINDS
};

/* A memtable or store file that a read considered. */
typedef struct petal_receipt_source {
    petal_slice family;
    uint64_t file_number; /* 0: a memtable */
    enum petal_skip skip;
    uint32_t filter_probes, filter_negatives; /* questions to its Bloom filter; answers "absent" */
    uint32_t filter_unasked;                  /* not asked: asking costs more than it saves */
    bool held_nothing;                        /* a file that a get read in vain */
    uint32_t seeks;                           /* positionings inside it */
    uint32_t seeks_saved;                     /* of a scan: avoided because of the filter */
    uint32_t blocks_cached[PETAL_BLOCK_KINDS], blocks_fetched[PETAL_BLOCK_KINDS];
    uint64_t bytes_fetched;       /* from the file, as stored */
    uint64_t cells_read;          /* cells of it that the read looked at */
    petal_slice row_min, row_max; /* facts of a file */
    int64_t time_min, time_max;
    uint64_t sequence_min, sequence_max;
    uint64_t cells;
    uint32_t region; /* the id of the region that it is of (petal_table_regions) */
} petal_receipt_source;

/* Make an empty receipt, for any read of the database. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_receipt_new(petal_db *db, petal_receipt **receipt, petal_error *error);
PETAL_API void petal_receipt_free(petal_receipt *receipt); /* NULL: no-op; before petal_close */

/*
 * Sources in the order they were considered, those not visited last; of the latest read, valid
 * until the next. The receipt of a cursor is complete when the cursor is closed; it must outlive
 * the cursor, and no other read may use it meanwhile. The receipt of a petal_multi_get describes
 * the row read last.
 */
PETAL_API size_t petal_receipt_count(const petal_receipt *receipt);
PETAL_API const petal_receipt_source *petal_receipt_at(const petal_receipt *receipt, size_t index);
/* Cells looked at and hidden, for all reasons together */
PETAL_API uint64_t petal_receipt_cells_hidden(const petal_receipt *receipt);

/* Why a put that a read looked at was hidden; petal_hidden_text gives the words. */
enum petal_hidden {
    PETAL_HIDDEN_DELETE,                /* a marker of kind 8: of this version */
    PETAL_HIDDEN_DELETE_FAMILY_VERSION, /* of kind 10 */
    PETAL_HIDDEN_DELETE_COLUMN,         /* of kind 12 */
    PETAL_HIDDEN_DELETE_FAMILY,         /* of kind 14 */
    PETAL_HIDDEN_ENDED,    /* NEW_VERSION_BEHAVIOR: a marker, or a later write with its timestamp */
    PETAL_HIDDEN_REPLACED, /* a later write with its timestamp */
    PETAL_HIDDEN_VERSIONS, /* there are enough newer versions */
    PETAL_HIDDEN_TIME_RANGE, /* outside the time range */
    PETAL_HIDDEN_EXPIRED,    /* past a time to live */
    PETAL_HIDDEN_LATER,      /* written after the read point */
    PETAL_HIDDEN_FILTER,     /* left out by the filter or a limit of cells in a row */
    PETAL_HIDDEN_COUNT
};
/* The words for a reason; static, never NULL. */
PETAL_API const char *petal_hidden_text(enum petal_hidden by);

/* The number of puts hidden for this reason. */
PETAL_API uint64_t petal_receipt_hidden(const petal_receipt *receipt, enum petal_hidden by);

/* A hidden put.  A receipt names the first PETAL_HIDDEN_CELLS; the counts cover all. */
#define PETAL_HIDDEN_CELLS 100
typedef struct petal_hidden_cell {
    petal_slice row, family, qualifier;
    int64_t timestamp;
    enum petal_hidden by;
} petal_hidden_cell;

/* The number of hidden puts that are named, at most PETAL_HIDDEN_CELLS. */
PETAL_API size_t petal_receipt_hidden_count(const petal_receipt *receipt);

/* A hidden put by its index; false after the last. The slices are valid until the next read. */
PETAL_API bool
petal_receipt_hidden_at(const petal_receipt *receipt, size_t index, petal_hidden_cell *cell);
/* Bytes of the answer: rows, each once, qualifiers and values */
PETAL_API uint64_t petal_receipt_bytes_returned(const petal_receipt *receipt);

/* ---- Flush, statistics ---------------------------------------------------------------------- */

/*
 * Flush the table's memtables (NULL: those of all tables) to store files and wait until done. Each
 * call tries a full disk anew.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_flush(petal_db *db, petal_table *table, petal_error *error);

/*
 * Merge all store files of the family (NULL: of each family of the table) into one, and wait until
 * done: HBase's major compaction. It drops what no reader can see: hidden, surplus and expired
 * cells, and markers that hide nothing any more. Memtables stay in memory; to include them, call
 * petal_flush first. PETAL_NO_SPACE: the file system has no room for what may be written, beside
 * what stays for log and flushes; nothing was lost. A family dropped meanwhile is PETAL_NOT_FOUND
 * if it was named, else skipped. A damaged one is PETAL_CORRUPT, after the others are done.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_compact(petal_table *table, petal_family *family, petal_error *error);

/*
 * The state of background compaction. It merges store files when there are many or much of their
 * data is hidden; engine/compact/policy.h has the rules. The log callback hears of each job: its
 * reason, input, output, and what was dropped.
 */
enum petal_compaction_state { /* HBase's */
                              PETAL_COMPACTION_NONE = 0,
                              PETAL_COMPACTION_MINOR = 1, /* of some files */
                              PETAL_COMPACTION_MAJOR = 2, /* of all */
                              PETAL_COMPACTION_MAJOR_AND_MINOR = 3
};

/* The compaction that runs now for the table. */
PETAL_API enum petal_compaction_state petal_table_compaction_state(petal_table *table);

/*
 * Wait until no flush waits and no compaction is due or running; a failed one ends the wait with
 * its error.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status petal_wait_idle(petal_db *db, petal_error *error);

/*
 * Copy the database, as it is at one moment between two batches, to `directory`, which must not
 * exist or be empty (else PETAL_EXISTS). The copy includes memtables and all table snapshots.
 * Writes continue meanwhile; a schema change meanwhile is included or not. Store files are shared
 * by hard links, or copied where the file system has none; the copy is an independent database. A
 * copy that was cut short has no manifest, and petal_open refuses it, as the next checkpoint does:
 * remove it first. One that failed leaves an empty directory.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_checkpoint(petal_db *db, const char *directory, petal_error *error);

/* What a backup or restore did. */
typedef struct petal_backup_report {
    uint64_t files;        /* store files of the copy: the sum of the next four */
    uint64_t skipped;      /* that were there */
    uint64_t linked;       /* further names of files of the database or of an earlier backup */
    uint64_t copied;       /* byte by byte, and read back */
    uint64_t written;      /* with cells of the logs, of a database that is opened read-only */
    uint64_t bytes;        /* of all store files of the copy */
    uint64_t bytes_copied; /* of those that were copied or written */
    uint64_t removed;      /* files of what was there before that the copy does not have */
    uint64_t last_sequence; /* of the writes in it: those up to this one */
    /* Milliseconds since 1970: when the state was taken; of a restore, the greatest timestamp that
     * the store had assigned in it. */
    int64_t state_ms;
    uint64_t took_us;
} petal_backup_report;

typedef struct petal_backup_options {
    size_t size;
    /* Do not link to files of the database: for a backup that shall not share them, so that what
     * damages one spares the other. Files that are in the backup already stay as they are. */
    bool copy;
    /*
     * An earlier backup in another directory, or any copy of the database. Files that it has are
     * linked, not copied: so dated directories share the files that did not change. NULL, or no
     * backup is there, or it is the destination itself: none.
     */
    const char *previous;
    void *argument;
    /*
     * Called now and then with the progress in bytes, by the thread that called petal_backup. If it
     * returns false, the call ends with PETAL_BUSY. It may read and write the database, but of the
     * calls that wait for a backup each would wait for itself, and is PETAL_BUSY: petal_refresh, a
     * petal_snapshot_new that refreshes, petal_backup and petal_checkpoint, and those that create,
     * restore, clone or delete table snapshots. Nor may it close the database.
     */
    bool (*watch)(void *argument, uint64_t done, uint64_t total);
} petal_backup_options;

/*
 * Back up the database into the directory `destination`: its state between two batches, all that
 * was acknowledged before the call included (of a read-only opening: what it reads). Writes
 * continue meanwhile; a schema change is included or not; table snapshots wait. HBase's `backup
 * create`.
 *
 * The backup is a database in itself: petal_open reads it, petal_verify checks it, petal_restore
 * copies it. The directory does not exist, is empty, or holds an earlier backup of this database:
 * then store files that it has are skipped, and of an unchanged database no store file is read.
 * Others are linked to where possible, else copied; a copy is read back, and a damaged file
 * (PETAL_CORRUPT, *error names it) replaces nothing. Until the new manifest takes the place of the
 * old one the earlier backup stays as it was: whenever a call fails or dies, or the power goes, the
 * directory holds the one or the other, or of a first backup none; the next call completes it.
 *
 * PETAL_EXISTS: the directory holds something else, a backup of another database, or one that
 * somebody has opened to write since. PETAL_INVALID: it is the database's own, or in it.
 * PETAL_BUSY: somebody has it open to write. Whoever reads it goes on with what was there; its
 * files go with a later backup. `options` and `report` may be NULL.
 *
 * Works on a database that was opened read-only, too, in which it writes nothing.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_backup(petal_db *db, const char *destination, const petal_backup_options *options,
             petal_backup_report *report, petal_error *error);

/* Counters since petal_open: name, meaning.  A read counts when it ends. */
#define PETAL_STATS_MAP(X)                                                                         \
    X(gets, "gets of one row in one family")                                                       \
    X(memtables_considered, "memtables considered by gets")                                        \
    X(memtables_skipped, "memtables not walked because their filter said absent")                  \
    X(files_considered, "store files considered by gets")                                          \
    X(skipped_found_newer, "files skipped: found newer")                                           \
    X(skipped_row_range, "files skipped: row range")                                               \
    X(skipped_time_range, "files skipped: time range")                                             \
    X(skipped_expired, "files skipped: expired")                                                   \
    X(skipped_columns, "files skipped: columns")                                                   \
    X(skipped_bloom, "files skipped: Bloom filter")                                                \
    X(files_read, "files read by gets")                                                            \
    X(filter_probes, "Bloom filter probes")                                                        \
    X(filter_negatives, "Bloom filter probes that said absent")                                    \
    X(filter_unasked, "Bloom filter probes not made, since loading the chunk would not pay")       \
    X(filter_false_positives,                                                                      \
      "gets that read a file its filter let pass and that held nothing asked")                     \
    X(scan_seeks, "seeks of scans in store files")                                                 \
    X(scan_seeks_saved, "seeks of scans saved by filters")                                         \
    X(scan_cells, "cells returned by scans")                                                       \
    X(data_cached, "data blocks found in the cache")                                               \
    X(data_fetched, "data blocks read from files")                                                 \
    X(index_cached, "index blocks found in the cache")                                             \
    X(index_fetched, "index blocks read from files")                                               \
    X(filter_cached, "filter chunks found in the cache")                                           \
    X(filter_fetched, "filter chunks read from files")                                             \
    X(bytes_fetched, "bytes of the blocks read from files, as stored")                             \
    X(file_reads, "reads of store files, for one block or many")                                   \
    X(file_bytes_read, "bytes read from store files")                                              \
    X(cells_written, "cells written")                                                              \
    X(batches_written, "writes: single cells and batches")                                         \
    X(write_groups, "groups of writes that went to the log together")                              \
    X(log_bytes, "bytes stored to the log")                                                        \
    X(log_syncs, "syncs of the log")                                                               \
    X(flushes, "memtables flushed")                                                                \
    X(flush_cells, "cells written by flushes")                                                     \
    X(flush_bytes, "bytes written by flushes")                                                     \
    X(compactions, "compactions of a family")                                                      \
    X(compaction_cells_in, "cells read by compactions")                                            \
    X(compaction_cells_out, "cells written by compactions")                                        \
    X(compaction_bytes_in, "bytes of the files read by compactions")                               \
    X(compaction_bytes_out, "bytes written by compactions")                                        \
    X(dropped_masked, "cells dropped by flushes and compactions: hidden by a marker")              \
    X(dropped_superseded, "the same: another put with the timestamp was written later")            \
    X(dropped_surplus, "the same: more versions than VERSIONS")                                    \
    X(dropped_expired, "the same: past a time to live")                                            \
    X(dropped_markers, "the same: markers whose work is done")                                     \
    X(expired_files, "files dropped unread, since all they held was past TTL")                     \
    X(background_failures, "flushes and compactions that failed")                                  \
    X(delayed_writes, "writes that were slowed")                                                   \
    X(delay_us, "microseconds for which writes were slowed")                                       \
    X(stopped_writes, "writes that waited at the limit of memory or files")                        \
    X(stop_us, "microseconds for which writes waited at a limit")

typedef struct petal_stats {
#define PETAL_STATS_FIELD(name, meaning) uint64_t name;
    PETAL_STATS_MAP(PETAL_STATS_FIELD)
#undef PETAL_STATS_FIELD
    /* The cache, now and since opening, by petal_block_kind. */
    uint64_t cache_capacity;
    uint64_t cache_bytes[PETAL_BLOCK_KINDS];
    uint64_t cache_blocks[PETAL_BLOCK_KINDS];
    uint64_t cache_inserted[PETAL_BLOCK_KINDS];
    uint64_t cache_evicted[PETAL_BLOCK_KINDS];
    /* Now. */
    uint64_t memory_limit;
    /* Of all memtables, including those being flushed and those that a cursor keeps. */
    uint64_t memtable_memory;
    /* Index roots, facts, handles of open store files, positions of filters; and the memory of
     * bulks. */
    uint64_t file_memory;
    uint64_t flushes_waiting, compactions_running;
    uint64_t compacting_cells,
        compacting_done; /* cells of the running compactions, and those read */
    /* The latest failure in the background, PETAL_OK if it was repaired since, or a store file
     * known to be damaged.  With `read_only` the database accepts no more writes. */
    bool read_only;
    petal_error background_error;
} petal_stats;

/* Get all statistics, as of about now. */
PETAL_API void petal_stats_get(petal_db *db, petal_stats *stats);

/* The timed events: name, and the rest of a sentence that begins with "how long". The first get
 * with each petal_result and the first seek of each cursor are always timed. */
#define PETAL_LATENCY_MAP(X)                                                                       \
    X(GET, get, "gets of one row or key took; about one of 256 is timed")                          \
    X(MULTI_GET, multi_get, "gets of several rows took, each call as a whole; all are timed")      \
    X(CURSOR_SEEK, cursor_seek, "opening or seeking a cursor took; about one of 64 is timed")      \
    X(WRITE, write,                                                                                \
      "puts, deletes and batches took, with their waits for flushes and for syncs of the log; "    \
      "about one of 64 is timed")                                                                  \
    X(LOG_SYNC, log_sync, "syncs of the log took; all are timed")                                  \
    X(FLUSH, flush, "flushes took, from the first cell to the commit; all are timed")              \
    X(COMPACTION, compaction,                                                                      \
      "compactions of a family took, from the first cell to the commit; all are timed")            \
    X(WRITE_STOP, write_stop,                                                                      \
      "writers waited at the limit of memory or files; all waits are timed")

enum petal_latency_kind {
#define PETAL_LATENCY_KIND(kind, name, meaning) PETAL_LATENCY_##kind,
    PETAL_LATENCY_MAP(PETAL_LATENCY_KIND)
#undef PETAL_LATENCY_KIND
    PETAL_LATENCY_KINDS /* the number of kinds */
};

/*
 * Latency in nanoseconds: the time within which `percent` of 100 of the timed events since
 * petal_open ended: 50 for the median. It is the upper bound of a bucket of the histogram in
 * petal_stats_text, a power of two from 256 on: up to twice the real time, if that is above 128.
 * UINT64_MAX: more than 34 seconds; 0: none was timed. *timed (may be NULL) receives the number
 * timed.
 */
PETAL_API uint64_t petal_stats_latency(petal_db *db, enum petal_latency_kind kind, double percent,
                                       uint64_t *timed);

enum petal_stats_form {
    PETAL_STATS_FORM_DEFAULT = 0, /* PROMETHEUS */
    /*
     * Prometheus' text exposition format 0.0.4: counters (petal_..._total), current values, also by
     * table and family, and histograms of times in seconds: gets (one of 256 of each result),
     * multi-gets, seeks (one of 64), writes (one of 64), and each sync of the log, flush,
     * compaction and stop of writers. The _count of a histogram is the number timed. Names stay;
     * new ones may come.
     */
    PETAL_PROMETHEUS = 1
};

/*
 * Get the statistics as text, zero-terminated after *size bytes (may be NULL). The caller owns it
 * and releases it by petal_stats_text_free, also after petal_close.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_stats_text(petal_db *db, enum petal_stats_form form, char **text, size_t *size,
                 petal_error *error);
PETAL_API void petal_stats_text_free(char *text); /* NULL: no-op */

/* Facts about a store file that are known without reading it. */
typedef struct petal_file_info {
    petal_slice family;
    uint64_t number;
    uint64_t file_bytes, data_bytes, raw_data_bytes, index_bytes, filter_bytes;
    uint64_t cells, rows, markers, data_blocks;
    petal_slice row_min, row_max;
    int64_t time_min, time_max;
    uint64_t sequence_min, sequence_max;
    enum petal_bloom_type bloom;
    double bloom_error_rate; /* for which its filter was built */
    uint64_t bloom_keys, bloom_chunks;
    uint64_t run; /* files of one run have disjoint row ranges: a row is in at most one of them */
    int64_t written_ms; /* when; 0: not known */
    enum petal_bloom_kind bloom_kind; /* of its filter; DEFAULT: none, or not known */
    bool of_all_files;                /* written by a compaction of all files of the store */
    /* It has rows of other regions, too, and may be visited for each of these, or rows that a
     * compaction has rewritten, before row_min. Counts are of the whole file. */
    bool shared;
    uint32_t region; /* id of the region for which it is visited */
} petal_file_info;

/* Call `visit` for each store file of the table; slices are valid during the visit.  If a family
 * has lost a file: PETAL_CORRUPT, after all files that can be opened. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_files(petal_table *table, bool (*visit)(void *argument, const petal_file_info *file),
                  void *argument, petal_error *error);

/* Memory of the table's memtables, in bytes. */
PETAL_API uint64_t petal_table_memtable_bytes(petal_table *table);

/* A finding of a verification or salvage. Slices and error are valid during the call. */
typedef struct petal_fault {
    const petal_error *error; /* file, offset, what is wrong */
    /* Table and family concerned; empty: none, or not known. With `of_snapshot` the table is a
     * table snapshot. */
    petal_slice table, family;
    bool of_snapshot;
    /* A trace that a crash may leave, which the next opening for writing removes; or a note for the
     * reader. */
    bool harmless;
    /* Not a fault: it could not be read, for lack of permission, memory or descriptors. */
    bool unread;
    uint64_t bytes; /* damaged, from error->offset on; 0: no bytes are damaged */
    /* Rows concerned, both ends included; a missing end is open. Without both, the rows are not
     * known, or there are none. */
    bool has_row_from, has_row_to;
    petal_slice row_from, row_to;
} petal_fault;

typedef struct petal_check_options {
    size_t size;
    const petal_env *env;
    void *argument;
    /* Called for each fault, on this thread. */
    void (*fault)(void *argument, const petal_fault *fault);
    /* Called now and then with the progress in bytes. If it returns false, the call ends with
     * PETAL_BUSY. */
    bool (*watch)(void *argument, uint64_t done, uint64_t total);
} petal_check_options;

/*
 * Read every block of every store file of the table: check checksums, order and counts, and ask the
 * filter for every key. The first fault found is returned as PETAL_CORRUPT.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_verify(petal_table *table, petal_error *error);

/*
 * As petal_table_verify, with options (except `env`, which is the database's). With `fault` it
 * continues after each fault, also in families that have lost a file, and finally returns the
 * first: PETAL_CORRUPT or PETAL_IO. Lack of descriptors or memory ends it.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_verify_watched(petal_table *table, const petal_check_options *options,
                           petal_error *error);

/*
 * Drop the table's blocks (NULL: those of all tables) from the block cache; *blocks is the number
 * dropped, less those that others read in meanwhile.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_cache_clear(petal_db *db, petal_table *table, uint64_t *blocks, petal_error *error);

/* ---- A database as files -------------------------------------------------------------------- */

/*
 * For a database that nobody has open. Neither call writes into it, and its logs stay as they are,
 * so both work on read-only media and on a database that petal_open refuses. PETAL_BUSY while
 * somebody has it open for writing.
 */

/* Counts of the things looked at; for a salvage, the tables, families and cells written. Snapshots
 * are table snapshots. */
typedef struct petal_check_counts {
    uint64_t tables, snapshots, families, store_files, data_blocks, cells;
    uint64_t logs, log_records, log_cells;
    uint64_t bytes;            /* read */
    uint64_t faults, harmless; /* found */
} petal_check_counts;

/*
 * Check all files of the database in `directory`: the manifest, record by record; each store file,
 * as petal_table_verify does, and against its entry in the manifest; each log, record by record,
 * and that logs and manifest agree; missing files, and files that nothing names. Continues after
 * each fault. PETAL_OK: none, or harmless ones only; PETAL_CORRUPT: *error is the first;
 * PETAL_NOT_FOUND: there is no file of a database; another status: the database or a file of it
 * could not be read. Such files are reported with `unread` and skipped; they are not faults, and
 * with faults the status is PETAL_CORRUPT. Lack of descriptors or memory ends the call. `counts`
 * may be NULL.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_verify(const char *directory, const petal_check_options *options, petal_check_counts *counts,
             petal_error *error);

/*
 * Write everything still readable of the database in `directory` into a new one in `destination`,
 * which must not exist or be empty (else PETAL_EXISTS), and must not be in `directory`
 * (PETAL_INVALID): tables and table snapshots with their attributes, and cells as they are stored,
 * with timestamps, markers, times to live and order, those of the logs included. Data that cannot
 * be read is skipped and reported as a fault, with the rows that it may have held.
 *
 * If the manifest does not say to which table and family a store file belongs, the file itself
 * does; the table then gets VERSIONS without limit. A file that does not say so either becomes a
 * table salvaged-NUMBER; log cells of a table that no file names become salvaged-table-NUMBER. Of
 * several tables that successively had one name, the latest that store files name keeps it; the
 * remains of the others become salvaged-table-NUMBER too. In these cases table snapshots are lost,
 * and cells that had been compacted away may reappear.
 *
 * Of a log the part before a bad place is taken. The part after it would be a state that never
 * existed; it is reported, as harmless if no sync had promised it: a crash may leave the same, and
 * an opening takes no more. PETAL_OK: the new database is whole and can be opened, whatever was
 * lost; another status: there is none.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_salvage(const char *directory, const char *destination, const petal_check_options *options,
              petal_check_counts *counts, petal_error *error);

typedef struct petal_restore_options {
    size_t size;
    const petal_env *env;
    /* Replace the database that is in the directory. It keeps its identity, so that its backups go
     * on; it may be damaged, but nobody may have it open. */
    bool replace;
    void *argument;
    /* As in petal_backup_options. */
    bool (*watch)(void *argument, uint64_t done, uint64_t total);
} petal_restore_options;

/*
 * Make a database in `directory` of the backup in the directory `backup`, or of any copy of a
 * database. It must not exist or be empty (else PETAL_EXISTS), or hold a database, or what a
 * restore left that died, which options->replace allows to replace. Store files are copied, and
 * read back: a damaged one is PETAL_CORRUPT, and *error names it. Nothing is written into the
 * backup.
 *
 * What is replaced stays as it was until all files are there and the new manifest takes the place
 * of the old one. Whoever dies before leaves it, or a directory that petal_open refuses; `replace`
 * completes that. PETAL_BUSY: somebody has the database open, to write or to read; while it is
 * replaced petal_open is PETAL_BUSY, too. PETAL_INVALID: the directory is the backup, or in it, or
 * itself a backup.
 * `options` and `report` may be NULL.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_restore(const char *backup, const char *directory, const petal_restore_options *options,
              petal_backup_report *report, petal_error *error);

/* ---- Plain key -> value --------------------------------------------------------------------- */

/*
 * An ordered map of keys to values, as LevelDB and LMDB are, without families, qualifiers and
 * versions. Keys have 1 to 32767 bytes and are ordered by them; values have up to 10 MiB and may be
 * empty. The calls, by task:
 *     one key              petal_kv_put, which also takes a time to live
 *                          and a durability, petal_kv_get, petal_kv_delete
 *     all or nothing       petal_kv_batch_put, petal_kv_batch_delete, then
 *                          petal_write, which also takes a durability
 *     only if unchanged    petal_kv_put_if_absent,
 *                          petal_kv_compare_and_swap
 *     many keys at once    petal_kv_multi_get
 *     keys in order        petal_kv_cursor_open: by prefix or range,
 *                          forward and backward
 *     as of one moment     petal_snapshot_new, for the options of a
 *                          petal_kv_multi_get or cursor
 *     delete many keys     petal_kv_delete_range
 *
 * The map is a table of one family, whose cells have the empty qualifier. Everything else goes
 * through petal_kv_table: its name and attributes, petal_table_truncate and petal_table_drop, flush
 * and compaction, snapshots on disk, loading in bulk, kv-shell; or through the table's family
 * (petal_table_family_at): petal_increment, petal_append. Cells with other qualifiers, and rows
 * that have only such cells, are not keys of the map.
 *
 * A write replaces the key's value, whatever its timestamp. If that is ahead of the clock (by
 * increments, by a timestamp given to petal_put, or because the clock was set back), the write gets
 * the next one.
 *
 * Any number of threads may use a petal_kv at once; a petal_kv_cursor belongs to one thread at a
 * time.
 */
typedef struct petal_kv petal_kv; /* owned by the database, valid until petal_close */

/*
 * Open the key-value table `name`, a valid table name (see NAMES), and make it if there is none.
 *
 * The options describe a table that is made (NULL: family defaults, 4 KiB blocks). An existing
 * table keeps its attributes, and the options are not compared with them: petal_family_describe
 * returns them, petal_table_alter changes them. Leave `name` in the options empty: the family of a
 * new table is "v". A name that is neither empty nor the family's is PETAL_INVALID, and nothing is
 * made.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_open(petal_db *db, petal_slice name, const petal_family_options *options, petal_kv **kv,
              petal_error *error);

/*
 * Put the value in place of the key's old one. `options` as for petal_put, and may be NULL: a time
 * to live (ttl_ms), after which the key is absent; a durability; a deadline.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_put(petal_kv *kv, petal_slice key, petal_slice value, const petal_write_options *options,
             petal_error *error);

/* Get the value of a key: *value points into `result`, valid until its next use; *found says
 * whether the key is present. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_get(petal_kv *kv, petal_slice key, petal_result *result, bool *found, petal_slice *value,
             petal_error *error);

/* Delete the key, if present. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_delete(petal_kv *kv, petal_slice key, petal_error *error);

/* Add to a batch of petal_batch_new, along with writes to other key-value tables, and to tables of
 * any kind, of the same database. Of several writes to one key the last one counts. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_batch_put(petal_batch *batch, petal_kv *kv, petal_slice key, petal_slice value,
                   petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_batch_delete(petal_batch *batch, petal_kv *kv, petal_slice key, petal_error *error);

/*
 * Put the value unless the key is present, even with an empty value; *put (may be NULL) receives
 * whether it was put. Of several threads that do so at once with one key, one succeeds.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_put_if_absent(petal_kv *kv, petal_slice key, petal_slice value, bool *put,
                       petal_error *error);

/*
 * Put the value if the key's current value equals the expected one, byte by byte. `value` NULL:
 * delete the key. `expected` NULL: the key is expected to be absent. *swapped (may be NULL)
 * receives whether it was as expected. No other write to the key comes between.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_compare_and_swap(petal_kv *kv, petal_slice key, const petal_slice *expected,
                          const petal_slice *value, bool *swapped, petal_error *error);

/*
 * Get `count` keys as of one moment: found[i] says whether keys[i] is present, values[i] is its
 * value, empty if absent; either array may be NULL. Values point into `result`, valid until its
 * next use; the next call reuses its memory. As fast as petal_multi_get. `options` may be NULL, and
 * has no columns. options.snapshot makes it read at that snapshot; petal_kv_get cannot, so for one
 * key use a `count` of 1.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_multi_get(petal_kv *kv, const petal_slice *keys, size_t count,
                   const petal_read_options *options, petal_result *result, bool *found,
                   petal_slice *values, petal_error *error);

/* ---- Keys in their order ---- */

typedef struct petal_kv_cursor_options {
    size_t size;
    /* Each may be given or empty: only keys with from <= key < to that begin with `prefix`. In a
     * reversed cursor, too, `from` is the low end. */
    petal_slice from, to, prefix;
    bool reversed;                  /* keys from high to low */
    bool keep_out_of_cache;         /* as in petal_read_options */
    const petal_snapshot *snapshot; /* NULL: as of now */
    uint32_t deadline_ms;           /* for each step, as in petal_read_options */
} petal_kv_cursor_options;

/* A scan of the keys as they were when it was opened, whatever is written meanwhile. */
typedef struct petal_kv_cursor petal_kv_cursor;

/* Open a cursor; `options` NULL: all keys, low to high. The first step gives the first key. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_cursor_open(petal_kv *kv, const petal_kv_cursor_options *options, petal_kv_cursor **cursor,
                     petal_error *error);

/*
 * Step to the next key: *key and *value (which may be NULL) are valid until the next call on the
 * cursor; *found is false at the end. As fast as petal_cursor_next_many.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_cursor_next(petal_kv_cursor *cursor, bool *found, petal_slice *key, petal_slice *value,
                     petal_error *error);

/*
 * Move, forward or back, so that the next step gives `key`, or the next key in the cursor's
 * direction: the least above it, in a reversed cursor the greatest below. The options' ends stay.
 * Also works when the cursor was at its end.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_cursor_seek(petal_kv_cursor *cursor, petal_slice key, petal_error *error);
PETAL_API void
petal_kv_cursor_close(petal_kv_cursor *cursor); /* NULL: no-op; before petal_close */

/*
 * Delete the existing keys with from <= key < to (`from` empty: from the first; `to` empty: to the
 * last) in batches, as petal_delete_rows does, which describes what others see meanwhile. *deleted
 * (may be NULL) receives how many were deleted, and where to continue after a call that ended
 * early. `options` may be NULL, and has no columns: a prefix, a deadline, a way to stop it.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_delete_range(petal_kv *kv, petal_slice from, petal_slice to,
                      const petal_delete_rows_options *options, petal_deleted_rows *deleted,
                      petal_error *error);

/* The map's table. In a petal_cursor on it each cell is a pair: row and value. */
PETAL_API petal_table *petal_kv_table(petal_kv *kv);

/* ---- Caveats --------------------------------------------------------------------------------- */

/*
 * Read these before you rely on the calls:
 * - At equal timestamps the later write wins, deletion or put. (HBase lets the deletion win.)
 * - A timestamp that the store assigns (PETAL_LATEST) never goes back. Two puts of one column in
 *   one millisecond are two writes of one version: readers see the later one.
 * - A put with a timestamp in the future hides later ones with PETAL_LATEST until the clock has
 *   caught up, as in HBase. Timestamps that the store assigned ahead of its clock do not: see
 *   PETAL_LATEST.
 * - Deleting one version (PETAL_DELETE) can reveal an older version, until a flush or compaction
 *   drops that as surplus. As in HBase, they drop even versions that a snapshot sees, if all
 *   snapshots are newer than the versions. With KEEP_DELETED_CELLS deleted versions count: under
 *   VERSIONS 1 the deletion of version 20 reveals version 10, until a flush drops version 10 and
 *   keeps version 20.
 * - Background compaction also decides when that happens; with no_compaction answers depend on
 *   calls alone.
 * - A marker hides everything below it in time, whenever that is written, until a compaction of all
 *   files drops the marker. Then a put that was written after the marker, and was below it in
 *   memory, becomes visible, as in HBase. While a snapshot sees such a put the marker stays.
 *   Flushes and compactions of some files keep every marker that is not past a time to live.
 * - Under NEW_VERSION_BEHAVIOR flushes and compactions change the answers of raw scans only, and
 *   drop versions past TTL that MIN_VERSIONS does not keep. With KEEP_DELETED_CELLS a compaction
 *   also drops deleted versions once VERSIONS newer ones are stored, deleted ones included: a time
 *   range before the deletion no longer finds them, and they no longer displace live ones there.
 * - PETAL_SYNC_WAL, the default, survives the death of the process, not a power cut. A power cut
 *   loses at most what the background sync has not reached, about two seconds. PETAL_FSYNC_WAL
 *   survives both.
 * - A full disk is no damage. A write that finds the disk full returns PETAL_NO_SPACE and has
 *   changed nothing; reads continue, and writes succeed again when there is space. A database can
 *   be opened for writing on a full disk: the contents of its logs wait in memory, as far as
 *   memory_bytes lets memtables grow, and dropping tables makes room. A compaction does not begin
 *   where the file system tells that it has no room for it (free_bytes of petal_vfs): it fails as
 *   on a full disk, and in the background it is tried again. Flushes and compactions that fail for
 *   another reason, such as memory, descriptors or their store files, are retried as well. Any
 *   other failed write or sync of log or manifest makes the database read-only.
 * - On a copy-on-write file system (Btrfs) a write that finds the disk full may be PETAL_IO: if the
 *   process dies before there is space, the write may be there afterwards. The writes after it are
 *   PETAL_NO_SPACE as above. An opening that finds no room at all is PETAL_NO_SPACE too, since it
 *   must first make durable what it relies on. A failed sync is PETAL_IO, also if it is the sync
 *   that finds the disk full: the change that it should have made durable may or may not be there
 *   when the database is opened again.
 * - DAMAGE to a store file affects its family alone. If a file is missing, or cannot be opened when
 *   the database is, all calls that read, write, compact or copy the family return PETAL_CORRUPT
 *   with file, family and table; if a block is damaged, the reads that meet it do. All else works:
 *   petal_open and petal_close succeed, logged cells of the family are kept, its files stay. The
 *   family can be dropped (petal_table_drop, petal_table_alter), emptied (petal_table_truncate) or,
 *   where a file was lost, restored from a table snapshot (which shares a damaged file with its
 *   table). With the file back in its place and the database opened again, the family is as it was.
 *   Background compactions try a damaged file once, then leave it and older files of its family
 *   alone; petal_compact tries again. petal_family_check, petal_stats and the log callback report
 *   the damage.
 * - Slices from a result or a cursor are valid until its next use, no longer.
 */

#ifdef __cplusplus
}
#endif

#endif
