/*
 * petal.h -- the public interface of Petal, an embedded store with HBase's data model.
 *
 * Below the first steps stand the contents, then what holds for all calls; caveats come last, at
 * the end of this file.  "man petal" is the guide, by task; each call has a page, "man petal_put".
 *
 * FIRST STEPS.  A program that opens a database, puts, gets and closes; with keys and values alone
 * here, by petal_put and petal_get with rows, columns and versions.  PETAL_OK is 0:
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
 *     Databases                      petal_open, petal_close, petal_options
 *     Tables and families            petal_table_create, petal_family_options
 *     Snapshots of tables, on disk   petal_table_snapshot_create
 *     Results                        petal_result_new, petal_result_cell
 *     Writing                        petal_put, petal_delete, petal_write
 *     Loading in bulk                petal_bulk_begin
 *     Filters                        petal_filter_parse
 *     Changes of one row             petal_mutate_row
 *     Snapshots                      petal_snapshot_new: a read point
 *     Reading                        petal_get, petal_cursor_open
 *     Deleting many rows             petal_delete_rows
 *     The receipt of a read          petal_receipt_new
 *     Flush, statistics              petal_flush, petal_stats_get
 *     A database as files            petal_verify, petal_salvage
 *     Plain key -> value             petal_kv_open, petal_kv_put, petal_kv_get
 *     Caveats                        to be known, too
 *
 * THE MODEL.  A database is a directory.  It holds tables; a table has rows, ordered by
 * their bytes; a row has cells, each in a column (family, qualifier) at a timestamp.  The
 * families of a table are fixed by its schema, qualifiers are free.  A deletion is a cell
 * too (a marker), which hides older cells.  Every write goes to a log and to a table in
 * memory (memtable); a full memtable becomes an immutable, sorted store file.  A read asks
 * all of them and is fast because it can prove, from facts kept in memory and from a Bloom
 * filter in each store file, that most of them cannot hold its answer.
 *
 * PROCESSES.  A database belongs to the process that opened it.  In a child that was forked off,
 * all calls on it, its tables, cursors and so on return PETAL_INVALID; what is to be freed may be
 * freed there, petal_close too, which releases nothing that is shared with the parent and writes
 * nothing: memory goes with the child.  The lock stays with the parent and goes when that closes
 * the database or ends.  A child may open it when the parent has closed it.  (Children that are
 * made by bypassing fork() are not noticed.)
 *
 * THREADS.  A petal_db, its tables and families, filters and snapshots may be used by any number of
 * threads at once. A petal_batch, petal_bulk, petal_result, petal_receipt or petal_cursor belongs
 * to one thread at a time.
 *
 * ERRORS.  Every function that can fail returns enum petal_status and takes a petal_error, which
 * may be NULL and otherwise receives the details of this call.  On failure out pointers are NULL
 * and results are empty.  A row without cells is PETAL_OK with an empty result.
 * NULL: a pointer that is NULL where nothing says that it may be is PETAL_INVALID, and the text
 * names the argument; so is a slice that has a size, but no data.  Functions without a status do
 * nothing then, or return 0, false, NULL or an empty slice.
 *
 * NAMES.  A table's name has letters (of any language, in UTF-8), digits, '_', '-' and '.', and
 * does not begin with '-' or '.'.  A namespace of letters, digits and '_', and a colon, may stand
 * before it, but not "default:".  1 to 255 bytes in all.  A table snapshot's name is such a name
 * without a namespace.  A family's name has 1 to 127 bytes, any but ':', '/', '\\', and control
 * characters, and does not begin with '.'.  Another name is PETAL_INVALID.
 *
 * OPTIONS.  Option structs begin with their size: sizeof, or 0, which stands for the size that the
 * library knows.  So a program that leaves it 0 wants the library that it was compiled for: one
 * whose struct has grown would read past what the program has.  In every field 0 means the default;
 * a NULL options pointer means all defaults, but where there are none: a table needs a name and
 * families.  What cannot be meant is PETAL_INVALID, and the text names the field: a size that no
 * such struct has (not a multiple of sizeof(size_t)), a value without its flag (ttl_ms without
 * has_ttl, time_min or time_limit without has_time_range), a number that its enumeration lacks.
 */
#ifndef PETAL_H
#define PETAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Laid out by hand: what does not fit beside a field stands above it, no declaration is torn. */
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
 * Of this header. Programs of one PETAL_VERSION_MAJOR run with any library of it that is at least
 * as new; while it is 0, with those of the same PETAL_VERSION_MINOR only.
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
    X(TIMEOUT, 11, "the deadline has passed")

enum petal_status {
#define PETAL_STATUS_ENTRY(name, value, text) PETAL_##name = value,
    PETAL_STATUS_MAP(PETAL_STATUS_ENTRY)
#undef PETAL_STATUS_ENTRY
};

/* The fixed text of a status; "unknown status" for a number that is none.  Never NULL. */
PETAL_API const char *petal_status_text(enum petal_status status);

#define PETAL_ERROR_FILE_BYTES 256
#define PETAL_ERROR_TEXT_BYTES 384

/* Details of a failed call.  Held by the caller, written once where the failure arose.  Every
 * function takes NULL in its place: then the status is all that the caller learns. */
typedef struct petal_error {
    enum petal_status status;
    int os_error;    /* errno of the failed system call, 0 if none */
    uint64_t offset; /* byte offset in `file` where that makes sense, else 0 */
    /* Path concerned, "" if none; cut at the front when too long. */
    char file[PETAL_ERROR_FILE_BYTES];
    char text[PETAL_ERROR_TEXT_BYTES]; /* one line for people, without newline */
} petal_error;

/* ---- Bytes, cells, limits ------------------------------------------------------------------- */

/*
 * Bytes of someone else. As an argument: borrowed for the call. `data` may be NULL if size is 0.
 */
typedef struct petal_slice {
    const void *data;
    size_t size;
} petal_slice;

/* A slice of a literal, without the zero byte behind it, in C and in C++: PETAL_TEXT("users") */
#ifdef __cplusplus
#define PETAL_TEXT(literal) (petal_slice{"" literal, sizeof(literal) - 1})
#else
#define PETAL_TEXT(literal) ((petal_slice){"" literal, sizeof(literal) - 1})
#endif

/*
 * A slice of any text that ends with a zero byte, which is no part of it; of NULL an empty one. The
 * bytes stay the caller's, and must be there as long as the slice is used. Of a literal PETAL_TEXT
 * is the same without a call.
 */
PETAL_API petal_slice petal_text(const char *text);

/*
 * As the timestamp of a write, PETAL_LATEST: the store assigns it, when it writes. It is the
 * clock's (the greatest that the clock has given so far, should it have been set back), but never
 * below what the write is to replace. Increments and appends each get a later timestamp than the
 * version before, so more than one of them in a millisecond make those of a column run ahead of the
 * clock. What is written there meanwhile, be it a put, a marker, an increment, gets the least
 * timestamp above them: those of its column and of markers over it, and a marker of a whole row or
 * family above those of all columns. Only timestamps that the store gave count, as follows, so that
 * a caller's own in the future hide what comes later, as in HBase: all of the row up to the
 * greatest that the store has given in the family by its clock, next above one that counts, or by a
 * condition from one that counts in its family (petal_mutate_row). By petal_kv_put and the like all
 * of the key count. Only where the family has such timestamps ahead of the clock is anything read
 * for it: a little for a column; but a marker of a whole row or family then takes time in
 * proportion to the cells that the row has in the memtables and files with timestamps, of any row,
 * ahead of the clock.
 */
#define PETAL_LATEST              INT64_MAX
#define PETAL_MAX_ROW_BYTES       32767     /* as HBase; a row has at least 1 byte */
#define PETAL_MAX_FAMILY_BYTES    127       /* as HBase; at least 1 byte */
#define PETAL_MAX_QUALIFIER_BYTES (1u << 20)
#define PETAL_MAX_VALUE_BYTES     10485760u /* HBase's hbase.client.keyvalue.maxsize */
#define PETAL_MAX_BATCH_BYTES     (1u << 30)

/*
 * HBase's type codes. The marker's own timestamp T and sequence decide what it hides: kinds 12 and
 * 14 all puts at (timestamp, sequence) below its own, kinds 8 and 10 earlier writes at exactly T.
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
    int64_t timestamp; /* milliseconds since 1970, or what the writer gave */
    enum petal_cell_type type;
    /* The cell has a time to live of its own: it is dead when timestamp + ttl_ms < now. */
    bool has_ttl;
    int64_t ttl_ms;
} petal_cell;

/* ---- The surroundings: memory, files, clock, log -------------------------------------------- */

/*
 * Memory. Both functions are called from several threads. The default is aligned malloc and free.
 */
typedef struct petal_allocator {
    void *context;
    void *(*allocate)(void *context, size_t alignment, size_t size); /* NULL when there is none */
    void (*release)(void *context, void *memory, size_t size);       /* memory may be NULL */
} petal_allocator;

typedef struct petal_file petal_file;           /* defined by the file layer that opened it */
typedef struct petal_directory petal_directory; /* likewise */

enum petal_open_flags {
    PETAL_FILE_READ = 1,      /* must exist, unless CREATE is given too */
    PETAL_FILE_WRITE = 2,     /* read and write */
    PETAL_FILE_CREATE = 4,    /* create if absent, mode 0600 */
    PETAL_FILE_EXCLUSIVE = 8, /* with CREATE: EEXIST if present */
    PETAL_FILE_UNMAPPED = 16  /* log_store writes by calls only; see no_log_mapping */
};

/*
 * Every file and directory call of the library goes through one such table.  Functions return 0 or
 * an errno value. read_at reads until `size` bytes or the end of the file, write_at and log_store
 * write all bytes or fail.  A file or directory operation is durable only after the matching sync.
 * Called from several threads; one file may be read and written from several threads at once.
 *
 * A path is resolved once, by open_directory.  From then on files are found by their names in the
 * open directory, so that a database stays where it was opened when the process changes its working
 * directory, or when the directory is renamed.  A name is that of a directory's entry: it has no
 * '/', and a symbolic link there is not followed.
 */
typedef struct petal_vfs {
    void *context;
    /* `create`: make the last part of the path if it is absent, mode 0700.  ENOTDIR: it is
     * something else. */
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
     * may follow the last bytes stored, then the file is longer than these. One thread at a time
     * stores into a file, beside others that sync it.
     */
    int (*log_store)(void *context, petal_file *log, uint64_t offset, const void *bytes,
                     size_t size);
    int (*sync)(void *context, petal_file *file); /* fdatasync */
    int (*size)(void *context, petal_file *file, uint64_t *size);
    /*
     * Advisory lock, held until close; shared by any number of holders, or exclusive. EAGAIN:
     * another holder that does not share, this process included. A shared lock can be had on a file
     * that was opened for reading.
     */
    int (*lock)(void *context, petal_file *file, bool shared);
    int (*rename)(void *context, petal_directory *directory, const char *from,
                  const char *to); /* replaces `to` */
    /*
     * A second name of a file that is written and synced, in any directory; EEXIST if `to` is
     * there. EXDEV, EPERM, EMLINK, EOPNOTSUPP, ENOSYS: not possible here; the caller copies then.
     * NULL: never possible.
     */
    int (*link)(void *context, petal_directory *from_directory, const char *from,
                petal_directory *to_directory, const char *to);
    int (*remove)(void *context, petal_directory *directory, const char *name);
    /*
     * A hint: these bytes are soon going to be read, as far as the file has them. Begins to bring
     * them where read_at finds them quickly, and does not wait until they are there. NULL: no use.
     */
    void (*read_ahead)(void *context, petal_file *file, uint64_t offset, uint64_t size);
    /*
     * The first `size` bytes of a file that was opened for reading and is written no more, in
     * memory that is good until unmap, also after close.  An error: the caller reads the file by
     * read_at. NULL: never possible; unmap goes with it.
     */
    int (*map)(void *context, petal_file *file, uint64_t size, const void **memory);
    void (*unmap)(void *context, const void *memory, uint64_t size);
    /*
     * Whether `path` leads to the directory or into it, at any depth, over symbolic links too; of
     * what is not there yet, whether it would be made there. False if it leads nowhere. NULL: not
     * known; then petal_salvage relies on its caller for that.
     */
    int (*contains)(void *context, petal_directory *directory, const char *path, bool *contains);
} petal_vfs;

enum petal_log_level { PETAL_LOG_INFO = 1, PETAL_LOG_WARNING = 2, PETAL_LOG_ERROR = 3 };

/* What the library takes from outside.  A NULL member means the default.  Copied at petal_open. */
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
typedef struct petal_table petal_table;   /* owned by the database, valid until petal_close */
typedef struct petal_family petal_family; /* owned by the database, valid until petal_close */

/* HBase's durability levels, weakest first. */
enum petal_durability {
    PETAL_DURABILITY_DEFAULT = 0, /* of the table, then of the database, then SYNC_WAL */
    PETAL_SKIP_WAL = 1,           /* memory only; after a crash neither atomic nor in order */
    PETAL_ASYNC_WAL = 2, /* may be lost with the process, as in HBase; stored like SYNC_WAL */
    PETAL_SYNC_WAL = 3,  /* the kernel has it: survives the process */
    PETAL_FSYNC_WAL = 4  /* on the medium before the call returns */
};

#define PETAL_NO_CACHE SIZE_MAX   /* for cache_bytes: keep nothing between calls */
#define PETAL_NEVER    UINT32_MAX /* for an interval */

typedef struct petal_options {
    size_t size;
    bool create;          /* make the database if the directory has none */
    bool error_if_exists; /* with create */
    bool read_only;       /* write nothing at all; see petal_open */
    /*
     * Limit of memtables, block cache, what is kept of open store files, and what a petal_bulk
     * holds, together: what memtables do not take is the cache's, down to an eighth, and writers
     * wait before memtables take more than half. Default 64 MiB, which a guest in somebody's
     * process may take; or, where one of the next two is given, cache_bytes and four times
     * memtable_bytes. At least 1 MiB. Who has more to give raises this one: a database of 256 MiB
     * is filled and read faster (README.md says by how much). With the default allocator the
     * process takes at most a tenth more, for evicted blocks that readers still use and the cache's
     * table, and 24 MiB: code and stacks, the log's buffer, what flushes and compactions work with,
     * malloc's waste. On top come a single batch larger than an eighth of the limit, cursors that
     * keep memtables, about 12 KiB for each family (or table of one) beyond a few hundred, and what
     * values of more than 64 KiB take in compactions: as large as the largest block, which a large
     * value has to itself, two for each file that is merged and four for the output; two
     * compactions may run at once. With values of 10 MiB, ten files are 240 MiB.
     */
    size_t memory_bytes;
    /*
     * Most that the block cache takes of it; default all that is left, or beside memtable_bytes
     * without memory_bytes 32 MiB; at least 64 KiB, or PETAL_NO_CACHE.
     */
    size_t cache_bytes;
    /*
     * Of all memtables that take writes, before the largest are flushed, as few as hold half of
     * them: a family that is seldom written may stay in memory, also what is not logged, until
     * petal_flush, petal_close, or until more than 32 logs, or logs of more than four times
     * memtable_bytes, are kept; default an eighth of memory_bytes, at most 64 MiB, so 8 MiB when no
     * size is given; at least 64 KiB, at most 4 GiB and a quarter of memory_bytes.
     */
    size_t memtable_bytes;
    /*
     * Store files that are open at once, also while many threads read, those that bulks write
     * included; default 512, at least 8, and not more than half of the descriptors that the process
     * may have.
     */
    uint32_t open_files;
    /* Only petal_compact compacts; store files then gather, and writers wait for nobody. */
    bool no_compaction;
    /* Background sync of the log; default 1000. PETAL_NEVER: only FSYNC_WAL and flushes sync. */
    uint32_t log_sync_interval_ms;
    enum petal_durability durability; /* default PETAL_SYNC_WAL */
    const petal_env *env;
    /*
     * Write the log by write() alone. Otherwise, on Linux and on ext4, XFS and tmpfs, small records
     * are stored into the log through a shared mapping of it: a put takes half the time, and what
     * it stored survives the process all the same. But where write() fails with an error, a store
     * into a mapping is answered with the signal SIGBUS, which ends the process:
     * - when the file system goes off line, or turns read-only, because its medium has failed;
     * - when somebody cuts the log short while the database is open;
     * - when somebody copies the log by sharing its blocks (cp --reflink, on XFS) while it is open,
     *   and the disk is full.
     *
     * The syncs of the log keep that short: the record after a sync is always written, and tells of
     * such things with an error. With this set the process gets that error from every write.
     */
    bool no_log_mapping;
    /*
     * Read single data blocks of store files through read-only mappings of them: one that the block
     * cache lacks is then checked and decoded where the system has it, without a system call and a
     * copy, which halves the time of such a get.  For data that is larger than the block cache,
     * fits into memory, and lies on a local file system.  The process seems larger by what it
     * mapped and read. Where a file cannot be mapped (32-bit systems), it is read as without.
     *
     * What is an error without it (PETAL_IO, PETAL_CORRUPT) is the signal SIGBUS with it, which
     * ends the process: when the medium fails a read, and when somebody cuts a store file short
     * while the database is open.  A block's checksum is compared before it is decoded; if somebody
     * overwrites the block in place at that very moment, what is wrong may not be noticed, though
     * nothing outside of it is touched.
     */
    bool map_files;
} petal_options;

/*
 * Open the database in `directory`.  Recovers what was acknowledged before a crash, refuses
 * (PETAL_CORRUPT, file and offset in *error) when something is missing of manifest and logs that a
 * sync had promised, and leaves all files as they were then; of store files see DAMAGE.  PETAL_BUSY
 * while another opener has it, in this process or another, which the text names if the system lets
 * us see it; PETAL_NOT_FOUND if there is none and `create` is not set.
 *
 * The path is resolved once: the database stays in the directory that was opened when the process
 * changes its working directory, or when the directory is renamed.  Errors name files by the path
 * as it was given.
 *
 * READ-ONLY opening writes nothing, so it serves on media that cannot be written: what logs hold is
 * read into memory and stays there, whatever its size.  Any number of openers may read at once, in
 * any number of processes, but not beside a writing one: each is PETAL_BUSY for the other. `create`
 * and error_if_exists with it are PETAL_INVALID.  Writes, flushes, compactions and changes of the
 * schema are PETAL_READ_ONLY.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_open(const char *directory, const petal_options *options, petal_db **db, petal_error *error);

/* Flush what is in memory, then release everything, also when the flush failed (then its status is
 * returned and the log still holds the data).  PETAL_BUSY, and the database stays as it is:
 * cursors, snapshots or receipts are open; the text tells how many.  Results, batches and filters
 * may be freed afterwards.  No call may be running. NULL: no-op. */
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
 * What a filter is made of.  Values are stored.  Families take BLOCKED and RIBBON; filters by
 * themselves (petal_bloom.h) all of them.
 */
enum petal_bloom_kind {
    PETAL_BLOOM_KIND_DEFAULT = 0,  /* BLOCKED */
    PETAL_BLOOM_KIND_STANDARD = 1, /* one array of bits */
    PETAL_BLOOM_KIND_BLOCKED = 2,  /* a key's bits lie in one cache line */
    PETAL_BLOOM_KIND_COUNTING = 3, /* counts keys, so that they can be taken out */
    PETAL_BLOOM_KIND_GROWING = 4,  /* of keys whose number is not known before */
    PETAL_BLOOM_KIND_RIBBON = 5,   /* built once from all keys, near the fewest bits there can be */
    PETAL_BLOOM_KIND_FUSE = 6      /* built once from all keys, quick to build and to ask */
};

enum petal_compression {
    PETAL_COMPRESSION_DEFAULT = 0,
    PETAL_COMPRESSION_NONE = 1,
    PETAL_COMPRESSION_LZ4 = 2
};

/* What becomes of deleted cells and their markers at flush and compaction.  Values are stored. */
enum petal_keep_deleted {
    PETAL_KEEP_DELETED_DEFAULT = 0, /* FALSE */
    PETAL_KEEP_DELETED_FALSE = 1,
    /*
     * Cells are kept until VERSIONS or TTL drop them, markers until they hide nothing that is
     * stored in files: time ranges see behind deletions; see CAVEATS.
     */
    PETAL_KEEP_DELETED_TRUE = 2,
    PETAL_KEEP_DELETED_TTL = 3 /* as TRUE until the marker is older than TTL, then as FALSE */
};

/* Text that a table or family carries.  Names and values are HBase's. */
enum petal_attribute_kind {
    PETAL_METADATA = 1,      /* free */
    PETAL_CONFIGURATION = 2, /* free */
    /*
     * An attribute of HBase that Petal checks, keeps and shows, and, but for the three below, does
     * not act upon. Of families:
     * REPLICATION_SCOPE, DATA_BLOCK_ENCODING, INDEX_BLOCK_ENCODING, CACHE_DATA_ON_WRITE,
     * CACHE_INDEX_ON_WRITE, CACHE_BLOOMS_ON_WRITE, EVICT_BLOCKS_ON_CLOSE, PREFETCH_BLOCKS_ON_OPEN,
     * IN_MEMORY_COMPACTION, COMPRESS_TAGS, COMPRESSION (a codec that Petal has not: blocks are of
     * the family's `compression`), IS_MOB, MOB_THRESHOLD, DFS_REPLICATION, STORAGE_POLICY,
     * ENCRYPTION, ENCRYPTION_KEY; of tables: MAX_FILESIZE, MEMSTORE_FLUSHSIZE, COMPACTION_ENABLED,
     * SPLIT_ENABLED, MERGE_ENABLED, REGION_REPLICATION, PRIORITY, OWNER.
     *
     * Acted upon are COMPRESSION_COMPACT, for what compactions write, and in its place
     * COMPRESSION_COMPACT_MAJOR for compactions of all files, COMPRESSION_COMPACT_MINOR for those
     * of some: NONE, LZ4, or LZ4HC, a name that HBase has not: LZ4 that takes about five times
     * as long to write, saves from nothing to a third of the bytes, the more the larger blocks
     * are and the more text is in them, and reads as quickly. A kind with another codec, or not
     * given, is as COMPRESSION_COMPACT says; and that, likewise, as `compression`, by which
     * flushes write.
     */
    PETAL_KEPT_ATTRIBUTE = 3
};

typedef struct petal_attribute {
    enum petal_attribute_kind kind;
    petal_slice name, value;
} petal_attribute;

#define PETAL_FOREVER 2147483647u /* TTL */

/* A column family.  Names and defaults are HBase's, but for compression. */
typedef struct petal_family_options {
    size_t size;
    petal_slice name;      /* see NAMES */
    uint32_t versions;     /* VERSIONS; default 1 */
    /*
     * MIN_VERSIONS, 0..versions: so many outlive ttl_seconds. No flush or compaction counts a cell
     * with its own TTL among them, so that as many are left when it has died (HBase's do).
     */
    uint32_t min_versions;
    /*
     * TTL; default PETAL_FOREVER, at most that. It counts from a cell's timestamp: that of a column
     * which is incremented more than once a millisecond runs ahead of the clock (PETAL_LATEST).
     */
    uint32_t ttl_seconds;
    enum petal_keep_deleted keep_deleted_cells; /* KEEP_DELETED_CELLS; default FALSE */
    /*
     * NEW_VERSION_BEHAVIOR: markers hide, and versions count, in the order of writes. What a read
     * costs grows with versions times markers of a column.
     */
    bool new_version_behavior;
    uint32_t block_bytes; /* BLOCKSIZE before compression; default 65536, 1 KiB..16 MiB */
    enum petal_compression compression; /* default LZ4 */
    enum petal_bloom_type bloom;        /* BLOOMFILTER; default ROW */
    /* RowPrefixBloomFilter.prefix_length, 1..32767; for ROW_PREFIX only */
    uint32_t bloom_prefix_bytes;
    /*
     * io.storefile.bloom.error.rate; default 0.01, 0.0001..0.5: how many needless reads of files
     * one question to the filters may cost in the whole store, its files together, in the mean. A
     * get of a row asks one; with ROWCOL and ROW_ROWCOL a get that names columns asks one for each
     * of them, and of files that hold deletions of families one more. Holds while compactions keep
     * up (up to 24 runs), and from 0.0092 on: for less, filters would take more than 20 bits a key,
     * which they do not get.
     */
    double bloom_error_rate;
    bool bloom_rate_per_file; /* BLOOM_RATE_PER_FILE: the rate is that of each file, as in HBase */
    bool in_memory;           /* IN_MEMORY: its blocks enter the cache with the highest priority */
    bool no_block_cache;      /* BLOCKCACHE => false: data blocks are not kept */
    const petal_attribute *attributes; /* each (kind, name) once */
    size_t attribute_count;
    /*
     * BLOOMFILTER_KIND: BLOCKED, the default, or RIBBON, by which compactions of all files, whose
     * outputs hold most keys, write filters of the same rate in 25 to 32 per cent fewer bytes.
     * Building one takes about 0.1 us a key more and asking one about 15 ns; flushes and other
     * compactions write BLOCKED ones. Versions from before it do not open such a database.
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
} petal_table_options;

/*
 * Make a table. What the options say of limits is checked, and NAMES: PETAL_INVALID names
 * attribute, value and range. PETAL_EXISTS if the name is taken.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_create(petal_db *db, const petal_table_options *options, petal_table **table,
                   petal_error *error);

/*
 * Whether a table may have these options, without a database: what petal_table_create checks of
 * them. PETAL_INVALID names attribute, value and range.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status petal_table_check(const petal_table_options *options,
                                                               petal_error *error);

/* The table of that name; PETAL_NOT_FOUND if there is none. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_open(petal_db *db, petal_slice name, petal_table **table, petal_error *error);

/*
 * Drop the table with its data. Handles stay valid memory, about a kilobyte until petal_close;
 * calls on them return PETAL_NOT_FOUND.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_drop(petal_table *table, petal_error *error);

/* The table loses all its cells in one step; its name, attributes and families stay, also when it
 * is READONLY, and families that are damaged become usable. Handles to the table as it was behave
 * as after a drop: *truncated is the new one, NULL on failure, which changes nothing. Cursors that
 * are open go on with what was there; table snapshots stay. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_truncate(petal_table *table, petal_table **truncated, petal_error *error);

/*
 * Make the table what `options` says (its name stays and need not be given): families that are not
 * named go with their data, new ones come, the others get the attributes given. One atomic change.
 * BLOOMFILTER with its rate and kind, BLOCKSIZE and COMPRESSION concern new store files, IN_MEMORY
 * and BLOCKCACHE those opened afterwards; VERSIONS, MIN_VERSIONS, TTL, KEEP_DELETED_CELLS and
 * NEW_VERSION_BEHAVIOR every read, flush and compaction that begins afterwards.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_alter(petal_table *table, const petal_table_options *options, petal_error *error);

/* The table as it is, defaults filled in, families by name.  `options->size` says how much of
 * *options is filled (0: all of it), so set it, or PETAL_DEFAULTS, before.  What it points to lives
 * until petal_close. */
PETAL_API void petal_table_describe(const petal_table *table, petal_table_options *options);

/*
 * Call `visit` for each table, by namespace (none is "default"), then by name; it may call back
 * into the library. A visit that returns false ends it.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_list(petal_db *db, bool (*visit)(void *argument, petal_table *table), void *argument,
                 petal_error *error);

/* The table's name, durability and so on, as petal_table_describe gives them. The name lives until
 * petal_close. */
PETAL_API petal_slice petal_table_name(const petal_table *table);
PETAL_API enum petal_durability petal_table_durability(const petal_table *table);
PETAL_API size_t petal_table_family_count(const petal_table *table);

/* The family at `index` (0 .. count - 1), in order of their names. */
PETAL_API petal_family *petal_table_family_at(const petal_table *table, size_t index);

/* The family of that name; PETAL_NOT_FOUND if the table has none. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_family(petal_table *table, petal_slice name, petal_family **family, petal_error *error);

/* The family's attributes, defaults filled in; `options->size` as for petal_table_describe.  What
 * it points to lives until petal_close. */
PETAL_API void petal_family_describe(const petal_family *family, petal_family_options *options);

/* The family's name, which lives until petal_close. */
PETAL_API petal_slice petal_family_name(const petal_family *family);

/* What is known to be the matter with the family. PETAL_OK: nothing; PETAL_NOT_FOUND: it was
 * dropped; PETAL_CORRUPT: a store file of it is missing or damaged, see DAMAGE. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_family_check(petal_family *family, petal_error *error);

/* ---- Snapshots of tables, on disk ----------------------------------------------------------- */

/*
 * A table snapshot is what a table held at one moment, under a name of its own: attributes,
 * families and store files, which it shares with the table (hard links; copies where the file
 * system has none). It outlives its table, costs no memory, and space only when the table has moved
 * on. One whose time to live is over is no more there; its files go with
 * the next call about snapshots, or opening. (petal_snapshot is another thing: a read point.)
 */
typedef struct petal_table_snapshot_options {
    size_t size;
    bool skip_flush;      /* leave out what is in memory */
    uint32_t ttl_seconds; /* the snapshot goes that long after its creation; 0: never */
} petal_table_snapshot_options;

typedef struct petal_table_snapshot_info {
    petal_slice name, table;
    int64_t created_ms;
    uint32_t ttl_seconds; /* 0: none */
    uint64_t file_bytes;  /* of its store files, shared or not */
} petal_table_snapshot_info;

/*
 * Make a snapshot of the table. Writes go on meanwhile; the snapshot holds a state between two
 * batches. PETAL_EXISTS if the name is taken.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_snapshot_create(petal_table *table, petal_slice name,
                            const petal_table_snapshot_options *options, petal_error *error);

/*
 * Call `visit` for each table snapshot, by name; slices are good during the visit. A visit that
 * returns false ends it.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_snapshot_list(petal_db *db,
                          bool (*visit)(void *argument, const petal_table_snapshot_info *info),
                          void *argument, petal_error *error);

/*
 * Make a new table of the snapshot. PETAL_EXISTS if the table's name is taken, PETAL_NOT_FOUND if
 * there is no such snapshot. A read point (petal_snapshot) older than the new table sees of it what
 * had been written by then.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_snapshot_clone(petal_db *db, petal_slice snapshot, petal_slice table_name,
                           petal_table **table, petal_error *error);

/*
 * The table of which the snapshot was taken becomes what it was then, in one step; a dropped one
 * comes back. Handles to the table as it was behave as after a drop: *table is the new one.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_snapshot_restore(petal_db *db, petal_slice snapshot, petal_table **table,
                             petal_error *error);

/* The snapshot goes, and of its files those that no table has. PETAL_NOT_FOUND if there is none. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_snapshot_delete(petal_db *db, petal_slice snapshot, petal_error *error);

/* ---- Results -------------------------------------------------------------------------------- */

/* Cells that a call gives back: made once, reused, freed by the caller.  Its memory, which is not
 * counted by memory_bytes, stays what its largest answer took, and the largest block that a get
 * decoded past a full cache. */
typedef struct petal_result petal_result;

/* A result without cells, for any call on any table of the database. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_result_new(petal_db *db, petal_result **result, petal_error *error);
PETAL_API void petal_result_free(petal_result *result); /* NULL: no-op */

/* How many cells it has. */
PETAL_API size_t petal_result_count(const petal_result *result);

/*
 * Cells by row, family, qualifier, newest version first; good until the result's next use or free.
 * `index` < count.
 */
PETAL_API const petal_cell *petal_result_cell(const petal_result *result, size_t index);

/* ---- Writing -------------------------------------------------------------------------------- */

typedef struct petal_write_options {
    size_t size;
    enum petal_durability durability; /* default: of the table */
    /*
     * Of a single write: its cell dies when timestamp + ttl_ms < now. petal_write and
     * petal_mutate_row refuse it with PETAL_INVALID: in a batch each mutation has its own
     * (petal_mutation_options).
     */
    bool has_ttl;
    int64_t ttl_ms; /* may be negative, as in HBase; 0 without has_ttl */
    /*
     * Receives the new cells of appends and increments: by mutation, in one by row, family and
     * qualifier; NULL: they are not wanted.
     */
    petal_result *result;
    /* Milliseconds that the write may wait when flushes or compactions are behind: beyond them it
     * is refused with PETAL_TIMEOUT, and nothing is written. 0: as long as it takes; PETAL_NO_WAIT:
     * not at all. A sync, and writers to the same row, are waited for in any case. */
    uint32_t deadline_ms;
    /* PETAL_LATEST is later than all that the column has of what the store stamped, in the same
     * millisecond, too: so each such write is a version of its own, and where they come faster than
     * the clock, their timestamps run ahead of it. */
    bool new_version;
} petal_write_options;

#define PETAL_NO_WAIT UINT32_MAX

/*
 * Write one cell.  `timestamp` is >= 0 or PETAL_LATEST: the store assigns it (petal_conventions(3)
 * says how, under Timestamps).
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_put(petal_family *family, petal_slice row, petal_slice qualifier, int64_t timestamp,
          petal_slice value, const petal_write_options *options, petal_error *error);

/*
 * Write one deletion marker of `type` (not PETAL_PUT). `qualifier` is for the column kinds, and
 * empty for the family kinds. With PETAL_LATEST kinds 10, 12, 14 are stamped as puts are; kind 8
 * with the timestamp of the newest living version, or as they are if there is none, as in HBase.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_delete(petal_family *family, petal_slice row, petal_slice qualifier, int64_t timestamp,
             enum petal_cell_type type, const petal_write_options *options, petal_error *error);

/*
 * Delete a row, HBase's deleteall: a marker PETAL_DELETE_FAMILY in each family that the table has,
 * all or none. It does not matter whether the row is there. As with any marker, cells of the row
 * with a later timestamp stay. petal_delete_rows deletes many rows.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_delete_row(petal_table *table, petal_slice row, int64_t timestamp,
                 const petal_write_options *options, petal_error *error);

/*
 * Read-modify-write. Both read the newest version of the column and write a new one at now, or at
 * the old timestamp + 1 if that is later; the new cell takes over the old one's own TTL unless the
 * write brings one. No other write to the row comes between. Append adds `value` behind the old
 * value (a missing one is empty). Increment takes the old value as an 8-byte big-endian number (a
 * missing one is 0), adds `amount`, wrapping, and gives the sum in *sum (may be NULL);
 * PETAL_INVALID if the old value has another width.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_append(petal_family *family, petal_slice row, petal_slice qualifier, petal_slice value,
             const petal_write_options *options, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_increment(petal_family *family, petal_slice row, petal_slice qualifier, int64_t amount,
                const petal_write_options *options, int64_t *sum, petal_error *error);

/*
 * A batch gathers writes, then petal_write applies all or none: across rows, families and tables of
 * one database, also after a crash (at its durability: the strongest of its tables' when the
 * options name none). All that it reads (appends, increments, deletions of the newest version) is
 * read before any of it is written, and every PETAL_LATEST in it is of the same moment; as in
 * HBase, two increments of one column do not add up, the later one wins.
 */
typedef struct petal_batch petal_batch;

/* A batch without writes. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_batch_new(petal_db *db, petal_batch **batch, petal_error *error);
PETAL_API void petal_batch_free(petal_batch *batch); /* NULL: no-op */

/* Take all writes out, so that it can be filled anew. */
PETAL_API void petal_batch_clear(petal_batch *batch);

/* How many writes it has: puts, deletions, appends and increments, each for itself. */
PETAL_API size_t petal_batch_count(const petal_batch *batch);

/* What holds for the cells of one mutation of a batch. */
typedef struct petal_mutation_options {
    size_t size;
    bool has_ttl;   /* each cell dies when its timestamp + ttl_ms < now */
    int64_t ttl_ms; /* may be negative, as in HBase; 0 without has_ttl */
    /* Appends and increments read only versions with time_min <= timestamp < time_limit. */
    bool has_time_range;
    int64_t time_min, time_limit; /* 0 without has_time_range */
    bool no_results; /* its appends and increments give no cells to the result of the write */
} petal_mutation_options;

/*
 * Begin a mutation: what is added until the next one belongs to it (NULL: defaults, as for a batch
 * without this call). Of deletions of the newest version of one column in one mutation, the k-th
 * deletes the k-th newest. A mutation that is begun and gets no cell makes petal_write refuse the
 * batch, as HBase does.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_batch_mutation(petal_batch *batch, const petal_mutation_options *options, petal_error *error);

/* As petal_put, petal_delete, petal_append and petal_increment, when the batch is applied. Bytes
 * are copied. A refused cell leaves the batch as it was. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_batch_put(petal_batch *batch, petal_family *family, petal_slice row, petal_slice qualifier,
                int64_t timestamp, petal_slice value, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_batch_delete(petal_batch *batch, petal_family *family, petal_slice row, petal_slice qualifier,
                   int64_t timestamp, enum petal_cell_type type, petal_error *error);
/* As petal_delete_row: the markers of all families, or none when it fails. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_batch_delete_row(petal_batch *batch, petal_table *table, petal_slice row, int64_t timestamp,
                       petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_batch_append(petal_batch *batch, petal_family *family, petal_slice row, petal_slice qualifier,
                   petal_slice value, petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_batch_increment(petal_batch *batch, petal_family *family, petal_slice row,
                      petal_slice qualifier, int64_t amount, petal_error *error);

/* Apply the batch; it can be cleared and used again.  An empty batch succeeds. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_write(petal_db *db, petal_batch *batch, const petal_write_options *options,
            petal_error *error);

/* ---- Loading in bulk ------------------------------------------------------------------------ */

/*
 * Cells that come sorted become store files at once, past log and memtables, and enter a table by
 * one commit, all or none, also after a crash, and durably, with all that was written before:
 * HBase's bulk load. They keep their timestamps, types and times to live, and count as written by
 * the commit, above all that was written before: readers of before it do not see them (or below
 * all: see petal_bulk_place). Of one bulk's cells at one timestamp markers win over puts, as in
 * HBase. A bulk belongs to one thread at a time; several may be open, on one table too, beside
 * writers. Its memory counts under memory_bytes (file_memory of petal_stats) and is bounded: for
 * each family that it has cells of, up to about 3 MiB, and the cells of a row's empty qualifier, up
 * to 64 MiB: behind more of them a marker of the row's family is refused. When all bulks together
 * have more than a quarter of memory_bytes they write in smaller pieces, and of such cells hold no
 * more than 1 MiB. The files that it writes, and has written, count under open_files.
 */
typedef struct petal_bulk petal_bulk;

/* Where its cells are in the order of writes, which decides at equal timestamps and what a marker
 * hides there; and under NEW_VERSION_BEHAVIOR always. */
enum petal_bulk_place {
    PETAL_BULK_ABOVE = 0, /* as if they were written by the commit */
    /*
     * As if they had been written before all that is in the table, bulks that went below before
     * included. Snapshots (petal_snapshot) that were taken before see them after the commit, as
     * they see the table's other old cells; cursors that are open do not. What markers hid that a
     * compaction has put away since, nothing hides.
     */
    PETAL_BULK_BELOW = 1
};

typedef struct petal_bulk_options {
    size_t size;
    enum petal_bulk_place place;
    /* A store file is ended behind the row in which it passes so many bytes; default: as for
     * compactions (compact_file_bytes). */
    uint64_t file_bytes;
} petal_bulk_options;

PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bulk_begin(petal_table *table, const petal_bulk_options *options, petal_bulk **bulk,
                 petal_error *error);

/*
 * Add a cell to a family of the table; cell->family is not looked at, bytes are copied. The cells
 * of one family come in HBase's order: by row, qualifier, timestamp descending, type descending,
 * family markers beside the empty qualifier; or with the family markers of a row first. Families
 * may come one after the other or mixed. PETAL_INVALID, and the text says of which cell: out of
 * order, given twice, too large, a negative timestamp or PETAL_LATEST, a marker with a value, a
 * family of another table. PETAL_NOT_FOUND: the family was dropped. After a failure of any kind the
 * bulk has failed: it can only be freed.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bulk_add(petal_bulk *bulk, petal_family *family, const petal_cell *cell, petal_error *error);

/*
 * The bulk enters the table. One without cells succeeds. On failure nothing of it has entered, but
 * for a failed sync of the manifest, which is PETAL_IO and makes the database read-only: then the
 * whole of it may be there when the database is opened again. PETAL_NOT_FOUND: the table, or a
 * family that it has cells of, was dropped meanwhile. PETAL_INVALID: there is no room below a
 * family's oldest cell, which an early version wrote; petal_compact makes some. Waits, as writers
 * do, where compactions are far behind. Afterwards the bulk can only be freed.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_bulk_commit(petal_bulk *bulk, petal_error *error);

/* Without a commit all is taken back. NULL: no-op; before petal_close. */
PETAL_API void petal_bulk_free(petal_bulk *bulk);

/* ---- Filters -------------------------------------------------------------------------------- */

/*
 * What a read leaves out, decided inside it. Immutable; counted: a combination and an open cursor
 * keep what they use.
 */
typedef struct petal_filter petal_filter;

/*
 * Parse HBase's filter language. PETAL_INVALID: error->offset is the place of the mistake in
 * `text`, as the text says.
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
 * Make one filter by its name in HBase's filter language and the arguments it has there. Names
 * that the language lacks:
 *     FuzzyRowFilter       pairs of BYTES: pattern, mask of the same
 *                          length; mask byte 0: equal, 1: any
 *     MultiRowRangeFilter  for each range: start BYTES, inclusive BOOLEAN,
 *                          stop BYTES, inclusive BOOLEAN; empty: open end
 *     RandomRowFilter      BYTES: the chance as decimal text
 * and comparators beyond binary, binaryprefix, substring, regexstring, regexstringnocase: long:N,
 * null:, bitand:BYTES, bitor:BYTES, bitxor:BYTES. Regular expressions are those of
 * Java but for what engine/filter/regex.h names; the read ends with PETAL_INVALID when one takes
 * too many steps or too much memory on a text.
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

/* The i-th name that petal_filter_parse knows, in alphabetic order; NULL behind the last. */
PETAL_API const char *petal_filter_name(size_t index);

/* ---- Changes of one row --------------------------------------------------------------------- */

/* What a change of a row depends on, as HBase's checkAndMutate has it. */
typedef struct petal_condition {
    size_t size;
    /* Not NULL: holds when the row read with it is not empty; else by one column: */
    const petal_filter *filter;
    petal_family *family;
    petal_slice qualifier;
    /* Holds when the column has no version: one with an empty value is one. Neither `value` nor
     * `filter` may be given beside it. */
    bool absent;
    /*
     * Holds when a version exists and `value` compare stored value. An empty `value` means "none",
     * as in HBase: PETAL_NOT_EQUAL holds when there is a value that is not empty, the others when
     * there is none or an empty one. So PETAL_EQUAL with an empty value is HBase's ifNotExists. See
     * compare_empty.
     */
    enum petal_compare compare;
    petal_slice value;
    bool has_time_range;          /* of the read */
    int64_t time_min, time_limit; /* 0 without has_time_range */
    bool compare_empty;           /* an empty `value` is compared like any other */
} petal_condition;

/*
 * Apply the batch, all of whose cells must be of `table` and `row`, if the condition holds (NULL:
 * always). *applied (may be NULL) says whether it did. No other write to the row comes between. A
 * put with PETAL_LATEST gets the timestamp of the cell that the condition read, if that is later
 * than now.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_mutate_row(petal_table *table, petal_slice row, const petal_condition *condition,
                 petal_batch *batch, const petal_write_options *options, bool *applied,
                 petal_error *error);

/* ---- Snapshots ------------------------------------------------------------------------------ */

/*
 * A read point: reads that name it see what had been written when it was made, until it is freed.
 * Making one can wait for a sync of the manifest, when a compaction is just putting away markers.
 * A read as of it passes over all that was written to its cells since then, and takes as long.
 */
typedef struct petal_snapshot petal_snapshot;

PETAL_API PETAL_MUST_CHECK enum petal_status
petal_snapshot_new(petal_db *db, petal_snapshot **snapshot, petal_error *error);
PETAL_API void petal_snapshot_free(petal_snapshot *snapshot); /* NULL: no-op; before petal_close */

/* ---- Reading -------------------------------------------------------------------------------- */

/* Why a source was not read, in the order of the tests.  petal_skip_text gives the words. */
enum petal_skip {
    PETAL_SKIP_NONE = 0,    /* it was read */
    PETAL_SKIP_FOUND_NEWER, /* what was found before is newer than all it holds */
    PETAL_SKIP_ROW_RANGE,
    PETAL_SKIP_TIME_RANGE,
    PETAL_SKIP_EXPIRED, /* all it holds is older than the family's TTL */
    PETAL_SKIP_COLUMNS, /* none of its recorded qualifiers is asked for */
    PETAL_SKIP_BLOOM,
    PETAL_SKIP_COUNT
};
#define PETAL_WITHOUT(skip) (1u << (skip)) /* for petal_read_options.without */

/* The words for it, which live on; never NULL. */
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
    /* Data blocks that this read fetches do not enter the cache.  Without it those of a long scan
     * do as long as there is room for them: a scan does not drive out what other reads have
     * there. */
    bool keep_out_of_cache;
    unsigned without;       /* PETAL_WITHOUT bits: reasons not to be used; answers stay equal */
    petal_receipt *receipt; /* receives what the read did; costs time, NULL for none */
    /*
     * Newest versions of each column; default 1, PETAL_ALL_VERSIONS; VERSIONS of the family limits
     * it, except in a raw scan. Below 0: a get is refused, a scan finds nothing, as in HBase.
     */
    int32_t versions;
    const petal_family_time_range *family_time_ranges;
    size_t family_time_range_count;
    uint64_t family_cell_limit;  /* at most so many cells of each family in each row; 0: no limit */
    uint64_t family_cell_offset; /* and not the first so many */
    const petal_filter *filter;
    const petal_snapshot *snapshot; /* NULL: as of now */
    /*
     * Milliseconds that a call may take: beyond them it ends with PETAL_TIMEOUT. 0 and
     * PETAL_NO_WAIT: no limit, since a read waits for nobody. The clock is read once in a thousand
     * cells or so, with a filter once in sixteen, which a call looks at in any case: so each call
     * comes forward. A get, or a get of several rows, that ends so gives no part of its answer.
     * With a deadline a get looks at all sources that may have the row, as one with a filter does,
     * and takes the time of a short scan. A cursor counts each step anew
     * (opening and seeking have no limit), and the step after PETAL_TIMEOUT goes on where that one
     * ended, within a row, too: no cell is lost or given twice.
     */
    uint32_t deadline_ms;
} petal_read_options;

/*
 * Read one row: the newest versions of each asked column. Without filter, limits and
 * NEW_VERSION_BEHAVIOR it allocates nothing once `result` is warm.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_get(petal_table *table, petal_slice row, const petal_read_options *options,
          petal_result *result, petal_error *error);

/*
 * Read several rows, results[i] receiving rows[i], all as of one moment. Of one column, rows that
 * are in memory are searched some at a time, which is faster than one by one. The others are read
 * in the order of their bytes, so that with a block cache a block that holds several of them is
 * read once.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_multi_get(petal_table *table, const petal_slice *rows, size_t count,
                const petal_read_options *options, petal_result *const *results,
                petal_error *error);

typedef struct petal_scan_options {
    size_t size;
    petal_read_options read; /* what follows begins where its own size says that it ends */
    petal_slice start_row;   /* empty: from the first row; in a reversed scan from the last */
    petal_slice stop_row;    /* empty: to the end */
    uint64_t row_limit;      /* 0: none */
    bool start_exclusive;    /* the start row itself is left out */
    bool stop_inclusive;     /* the stop row itself is read, too */
    /*
     * Not empty: only rows that begin with it, start_row and stop_row are not used. In a reversed
     * scan, too; HBase's finds nothing there.
     */
    petal_slice prefix;
    /* Rows from high to low, start_row being the high end; the order inside a row stays. */
    bool reversed;
    bool raw; /* markers and deleted cells, too, as they are stored; takes no named columns */
    /*
     * At most so many cells in each result of petal_cursor_next_row; 0: whole rows. Refused with a
     * filter that needs whole rows.
     */
    uint64_t batch;
} petal_scan_options;

/*
 * Reads cells by row, family, qualifier; sees the database as it was at opening. Filters with a
 * memory (PageFilter, WHILE ..) remember from the cursor's beginning; petal_cursor_seek makes them
 * forget.
 */
typedef struct petal_cursor petal_cursor;

PETAL_API PETAL_MUST_CHECK enum petal_status
petal_cursor_open(petal_table *table, const petal_scan_options *options, petal_cursor **cursor,
                  petal_error *error);

/* Step to the next cell: *cell points to it until the next call, or is NULL at the end. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_cursor_next(petal_cursor *cursor, const petal_cell **cell, petal_error *error);

/*
 * Step over several cells at once: *cells points to the first of *count following ones, at least 1
 * and at most `most` of them, 0 at the end. They are those that petal_cursor_next would give by
 * *count calls, of one row or of many; how many come is as it suits the cursor, which fetches no
 * blocks for more but in long scans. Plain scans of one family (forward, whole, not raw, without
 * NEW_VERSION_BEHAVIOR, filter, limits of cells in a row and receipt) give runs of up to 128; of
 * several families runs end with the row's part of a family; others give one cell. The array and
 * all that its cells point to belong to the cursor and live until the next call on it. To be mixed
 * with the other steps and with seeks as one likes. PETAL_INVALID: `most` is 0. After a failure
 * *count is 0.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_cursor_next_many(petal_cursor *cursor, size_t most, const petal_cell **cells, size_t *count,
                       petal_error *error);

/*
 * Read the rest of the row at hand, or the next one, into `result`: at most options.batch cells;
 * empty at the end.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_cursor_next_row(petal_cursor *cursor, petal_result *result, petal_error *error);

/*
 * Go on, forward or back, so that the next cell is the first at or after (row, family, qualifier);
 * in a reversed scan of that row or of those below it. `family` NULL: the row's first cell. Bounds
 * and columns of the options stay; a row limit starts anew, and limits of cells in a row count from
 * that place; under a filter that decides about whole rows they count from the row's beginning.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_cursor_seek(petal_cursor *cursor, petal_slice row, const petal_family *family,
                  petal_slice qualifier, petal_error *error);
PETAL_API void petal_cursor_close(petal_cursor *cursor); /* NULL: no-op; before petal_close */

/* ---- Deleting many rows --------------------------------------------------------------------- */

/* What petal_delete_rows has done. */
typedef struct petal_deleted_rows {
    uint64_t rows; /* that were deleted */
    /* PETAL_OK: empty. Else all rows below it are done: what a call that goes on takes for `from`.
     * It points to next_bytes. Empty, too, for a `from` that no row can have, which is refused. */
    petal_slice next;
    unsigned char next_bytes[PETAL_MAX_ROW_BYTES];
} petal_deleted_rows;

typedef struct petal_delete_rows_options {
    size_t size;
    petal_slice prefix; /* not empty: of the rows only those that begin with it */
    /*
     * Of the table: only these are deleted, in the rows that have any of them: whole families by
     * PETAL_DELETE_FAMILY, columns by PETAL_DELETE_COLUMN. 0 columns: all families, as
     * petal_delete_row.
     */
    const petal_column *columns;
    size_t column_count;
    bool has_timestamp; /* of the markers; else each batch is stamped when it is written */
    int64_t timestamp;  /* 0 without has_timestamp */
    const petal_snapshot *snapshot;   /* the rows that it sees; NULL: those that are there now */
    enum petal_durability durability; /* default: of the table */
    uint32_t batch_rows; /* in one batch at most; default 1000. One of 1 MiB is not made larger. */
    /*
     * Milliseconds that the call may take: behind them it ends, between two batches, on its way
     * over many rows that are deleted already, or waiting for flushes and compactions, with
     * PETAL_TIMEOUT. It does not end within a row. 0: no limit; PETAL_NO_WAIT: none, but where it
     * would have to wait for these it ends.
     */
    uint32_t deadline_ms;
    void *argument;
    /* Told after each batch, and between rows that are deleted already every few thousand cells,
     * from this thread, what is done. When it returns false and the call has not seen that nothing
     * is left, it ends with PETAL_BUSY. */
    bool (*watch)(void *argument, const petal_deleted_rows *done);
} petal_delete_rows_options;

/*
 * Delete the rows with from <= row < to that are there (`from` empty: from the first; `to` empty:
 * to the last), one by one as petal_delete_row does, in batches: HBase's deleteall by
 * ROWPREFIXFILTER. *deleted (may be NULL) says what was done, also when the call fails. It takes
 * time and space in proportion to the rows, since each gets its markers, and bounded memory;
 * petal_table_truncate empties a table at once.
 *
 * It is not atomic: each row is, also in a crash, and so is each batch; who reads meanwhile sees
 * some rows deleted and others not yet. Which rows there are it sees as of its beginning (or as of
 * `snapshot`): rows whose cells are all deleted, or past their time to live, are none, and get no
 * markers and are not counted; rows that others add meanwhile stay. What others put into a row
 * before its batch is written goes with it, and what they put afterwards stays, unless its
 * timestamp is given and not above that of the marker. Cells with timestamps above the marker's
 * stay, as with petal_delete_row, and their row is counted nevertheless. Snapshots and cursors that
 * are there before a batch go on to see its rows, and as long as they are there, or the call runs,
 * the rows' space is not free.
 *
 * At PETAL_FSYNC_WAL that the rows are gone is on the medium when the call returns PETAL_OK, also
 * when it found none: then it syncs the log for what deleted them before.
 *
 * When a call has ended early (PETAL_TIMEOUT, PETAL_BUSY) or failed, it can be called again: with
 * deleted->next for `from` it goes on where it was. What a batch that failed wanted is not counted,
 * and done again.
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

/* One memtable or store file that a read considered. */
typedef struct petal_receipt_source {
    petal_slice family;
    uint64_t file_number; /* 0: a memtable */
    enum petal_skip skip;
    uint32_t filter_probes, filter_negatives; /* asked of its Bloom filter; answered "absent" */
    uint32_t filter_unasked;                  /* not asked: it would cost more than it saves */
    bool held_nothing;                        /* a file that a get read in vain */
    uint32_t seeks;                           /* positionings inside it */
    uint32_t seeks_saved;                     /* of a scan: not made because of the filter */
    uint32_t blocks_cached[PETAL_BLOCK_KINDS], blocks_fetched[PETAL_BLOCK_KINDS];
    uint64_t bytes_fetched;       /* from the file, as stored */
    uint64_t cells_read;          /* cells of it that were looked at */
    petal_slice row_min, row_max; /* facts of a file */
    int64_t time_min, time_max;
    uint64_t sequence_min, sequence_max;
    uint64_t cells;
} petal_receipt_source;

/* A receipt of nothing, for any read of the database. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_receipt_new(petal_db *db, petal_receipt **receipt, petal_error *error);
PETAL_API void petal_receipt_free(petal_receipt *receipt); /* NULL: no-op; before petal_close */

/*
 * Sources in the order they were considered, those not visited last; of the latest read, good until
 * the next. The receipt of a cursor is complete when the cursor is closed; it must outlive the
 * cursor, and no other read may use it meanwhile. That of a petal_multi_get tells of the row read
 * last.
 */
PETAL_API size_t petal_receipt_count(const petal_receipt *receipt);
PETAL_API const petal_receipt_source *petal_receipt_at(const petal_receipt *receipt, size_t index);
/* Of those looked at, by all that hides */
PETAL_API uint64_t petal_receipt_cells_hidden(const petal_receipt *receipt);

/* What hid a put that a read looked at. petal_hidden_text gives the words. */
enum petal_hidden {
    PETAL_HIDDEN_DELETE,                /* a marker of kind 8: of this version */
    PETAL_HIDDEN_DELETE_FAMILY_VERSION, /* of kind 10 */
    PETAL_HIDDEN_DELETE_COLUMN,         /* of kind 12 */
    PETAL_HIDDEN_DELETE_FAMILY,         /* of kind 14 */
    PETAL_HIDDEN_ENDED,    /* NEW_VERSION_BEHAVIOR: a marker, or a later write with its timestamp */
    PETAL_HIDDEN_REPLACED, /* a later write with its timestamp */
    PETAL_HIDDEN_VERSIONS, /* there are enough newer versions */
    PETAL_HIDDEN_TIME_RANGE, /* it is outside of it */
    PETAL_HIDDEN_EXPIRED,    /* it is past a time to live */
    PETAL_HIDDEN_LATER,      /* it was written behind the moment that is read */
    PETAL_HIDDEN_FILTER,     /* the filter, or a limit of cells in a row, left it out */
    PETAL_HIDDEN_COUNT
};
/* The words for it, which live on; never NULL. */
PETAL_API const char *petal_hidden_text(enum petal_hidden by);

/* How many puts it hid. */
PETAL_API uint64_t petal_receipt_hidden(const petal_receipt *receipt, enum petal_hidden by);

/* A hidden put.  A receipt names the first PETAL_HIDDEN_CELLS of them; the counts are of all. */
#define PETAL_HIDDEN_CELLS 100
typedef struct petal_hidden_cell {
    petal_slice row, family, qualifier;
    int64_t timestamp;
    enum petal_hidden by;
} petal_hidden_cell;

/* How many of the hidden puts are named, at most PETAL_HIDDEN_CELLS. */
PETAL_API size_t petal_receipt_hidden_count(const petal_receipt *receipt);

/* False behind the last. The slices are good until the next read. */
PETAL_API bool
petal_receipt_hidden_at(const petal_receipt *receipt, size_t index, petal_hidden_cell *cell);
/* Of the answer: rows, each once, qualifiers and values */
PETAL_API uint64_t petal_receipt_bytes_returned(const petal_receipt *receipt);

/* ---- Flush, statistics ---------------------------------------------------------------------- */

/*
 * Write the table's memtables (of all tables if NULL) to store files and wait for it. A full disk
 * is looked at anew by each call.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_flush(petal_db *db, petal_table *table, petal_error *error);

/*
 * Merge all store files of the family (NULL: of each family of the table) into one, and wait for
 * it: HBase's major compaction.  What no reader can see goes: hidden and surplus cells, expired
 * ones, and the markers whose work is done. What is in memory stays there; petal_flush comes first
 * where that is not wanted.  A family that is dropped meanwhile is PETAL_NOT_FOUND if it was named,
 * else passed over.  One that is damaged is PETAL_CORRUPT, after the others are done.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_compact(petal_table *table, petal_family *family, petal_error *error);

/*
 * Store files are merged in the background, too, when there are many or much of them is hidden: see
 * engine/compact/policy.h for the rules. Each job is told to the log callback: why it ran, what
 * went in, came out, and was dropped.
 */
enum petal_compaction_state { /* HBase's */
                              PETAL_COMPACTION_NONE = 0,
                              PETAL_COMPACTION_MINOR = 1, /* of some files */
                              PETAL_COMPACTION_MAJOR = 2, /* of all */
                              PETAL_COMPACTION_MAJOR_AND_MINOR = 3
};

/* What runs now for the table. */
PETAL_API enum petal_compaction_state petal_table_compaction_state(petal_table *table);

/*
 * Wait until no flush waits and no compaction is due or runs; a failed one ends the wait with its
 * error.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status petal_wait_idle(petal_db *db, petal_error *error);

/*
 * Make a copy of the database in `directory`, which must not exist or be empty (else PETAL_EXISTS),
 * as of one moment between two batches, all that is in memory and all table snapshots included.
 * Writes go on meanwhile; what changes of the schema meanwhile is in it or not. Store files are
 * shared by hard links, or copied where the file system has none; the copy is a database of its
 * own. A copy that was cut short has no manifest, and petal_open refuses it. One that failed leaves
 * an empty directory.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_checkpoint(petal_db *db, const char *directory, petal_error *error);

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
    /* The cache now, and since opening, by petal_block_kind. */
    uint64_t cache_capacity;
    uint64_t cache_bytes[PETAL_BLOCK_KINDS];
    uint64_t cache_blocks[PETAL_BLOCK_KINDS];
    uint64_t cache_inserted[PETAL_BLOCK_KINDS];
    uint64_t cache_evicted[PETAL_BLOCK_KINDS];
    /* Now. */
    uint64_t memory_limit;
    /* Of all memtables, those that are being flushed or that a cursor keeps included. */
    uint64_t memtable_memory;
    /* Index roots, facts, handles of open store files, where filters lie; and what bulks have. */
    uint64_t file_memory;
    uint64_t flushes_waiting, compactions_running;
    uint64_t compacting_cells,
        compacting_done; /* cells of the compactions that run, and those read */
    /* What failed last in the background, PETAL_OK if it was made good since, or a store file that
     * is known to be damaged.  With `read_only` the database takes no more writes. */
    bool read_only;
    petal_error background_error;
} petal_stats;

/* All of them as of about now. */
PETAL_API void petal_stats_get(petal_db *db, petal_stats *stats);

/* What is timed: name, and the rest of a sentence that begins with "how long". Always timed are the
 * first get with each petal_result, and the first seek of each cursor. */
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
    PETAL_LATENCY_KINDS /* how many there are */
};

/*
 * Within how many nanoseconds `percent` of 100 of them ended, of those that were timed since
 * petal_open: 50 for the median. It is the upper bound of a bucket of the histogram that
 * petal_stats_text shows, a power of two from 256 on: up to twice the time that it took, if that is
 * above 128. UINT64_MAX: more than 34 seconds; 0: none was timed. *timed (may be NULL): how many.
 */
PETAL_API uint64_t petal_stats_latency(petal_db *db, enum petal_latency_kind kind, double percent,
                                       uint64_t *timed);

enum petal_stats_form {
    PETAL_STATS_FORM_DEFAULT = 0, /* PROMETHEUS */
    /*
     * Prometheus' text exposition format 0.0.4: counters (petal_..._total), what there is now, by
     * table and family too, and histograms of how long things took, in seconds: gets (of each
     * result one of 256 is timed), multi-gets, seeks (one of 64), writes (one of 64), and each sync
     * of the log, flush, compaction and stop of writers. The _count of a histogram is of what was
     * timed. Names stay; new ones may come.
     */
    PETAL_PROMETHEUS = 1
};

/*
 * The statistics as text, which ends with a zero byte behind *size bytes (may be NULL). It is the
 * caller's, who releases it by petal_stats_text_free, also after petal_close.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_stats_text(petal_db *db, enum petal_stats_form form, char **text, size_t *size,
                 petal_error *error);
PETAL_API void petal_stats_text_free(char *text); /* NULL: no-op */

/* What is known of a store file without reading it. */
typedef struct petal_file_info {
    petal_slice family;
    uint64_t number;
    uint64_t file_bytes, data_bytes, raw_data_bytes, index_bytes, filter_bytes;
    uint64_t cells, rows, markers, data_blocks;
    petal_slice row_min, row_max;
    int64_t time_min, time_max;
    uint64_t sequence_min, sequence_max;
    enum petal_bloom_type bloom;
    double bloom_error_rate; /* what its filter was built for */
    uint64_t bloom_keys, bloom_chunks;
    uint64_t run; /* files of one run have disjoint row ranges: a row is in one of them at most */
    int64_t written_ms; /* when; 0: not known */
    enum petal_bloom_kind bloom_kind; /* of its filter; DEFAULT: none, or not known */
    bool of_all_files;                /* written by a compaction of all files of the family */
} petal_file_info;

/* Call `visit` for each store file of the table; slices are good during the visit.  PETAL_CORRUPT,
 * after all files that can be opened, where a family has lost one. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_files(petal_table *table, bool (*visit)(void *argument, const petal_file_info *file),
                  void *argument, petal_error *error);

/* Memory held by the table's memtables, in bytes. */
PETAL_API uint64_t petal_table_memtable_bytes(petal_table *table);

/* What a verification or salvage has found. Slices and error are good during the call. */
typedef struct petal_fault {
    const petal_error *error; /* file, offset, what is wrong */
    /* Concerned; empty: none, or not known. With `of_snapshot` the table is a table snapshot. */
    petal_slice table, family;
    bool of_snapshot;
    /* What a crash may leave, which the next opening for writing puts in order; or what who looks
     * should know. */
    bool harmless;
    /* No fault: for want of permission, memory or descriptors it could not be looked at. */
    bool unread;
    uint64_t bytes; /* damaged, from error->offset on; 0: what is wrong is no matter of bytes */
    /* Rows concerned, both ends included; an end that is not given is open. Without both it is not
     * known which, or none are. */
    bool has_row_from, has_row_to;
    petal_slice row_from, row_to;
} petal_fault;

typedef struct petal_check_options {
    size_t size;
    const petal_env *env;
    void *argument;
    /* Told of each fault, from this thread. */
    void (*fault)(void *argument, const petal_fault *fault);
    /* Told now and then how much of the whole is done, in bytes. When it returns false, the call
     * ends with PETAL_BUSY. */
    bool (*watch)(void *argument, uint64_t done, uint64_t total);
} petal_check_options;

/*
 * Read every block of every store file of the table: checksums, order, counts, and every key
 * through its filter. The first fault found is returned as PETAL_CORRUPT.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_verify(petal_table *table, petal_error *error);

/*
 * As petal_table_verify, with options, but `env`, which is the database's. With `fault` it goes on
 * past each fault, also of families that have lost a file, and at the end returns the first one:
 * PETAL_CORRUPT or PETAL_IO. Want of descriptors or memory ends it.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_table_verify_watched(petal_table *table, const petal_check_options *options,
                           petal_error *error);

/*
 * Take the blocks of the table's store files (of all tables if NULL) out of the block cache;
 * *blocks is how many went, less those that others read in meanwhile.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_cache_clear(petal_db *db, petal_table *table, uint64_t *blocks, petal_error *error);

/* ---- A database as files -------------------------------------------------------------------- */

/*
 * For a database that nobody has open. Nothing is written into it, and its logs stay as they are:
 * so both calls serve on media that cannot be written, and on what petal_open refuses. PETAL_BUSY
 * while somebody has it open for writing.
 */

/* What was looked at; of a salvage tables, families and cells are those that were written.
 * Snapshots are table snapshots. */
typedef struct petal_check_counts {
    uint64_t tables, snapshots, families, store_files, data_blocks, cells;
    uint64_t logs, log_records, log_cells;
    uint64_t bytes;            /* read */
    uint64_t faults, harmless; /* found */
} petal_check_counts;

/*
 * Look at all files of the database in `directory`: the manifest, record by record; each store
 * file, as petal_table_verify does, and against what the manifest says of it; each log, record by
 * record, and what logs and manifest promise of each other; files that are missing or that nothing
 * names. Goes on past each fault. PETAL_OK: none but harmless ones; PETAL_CORRUPT: *error is the
 * first; PETAL_NOT_FOUND: there is no file of a database; another status: it, or a file of it,
 * could not be looked at. Such files are passed over and told, with `unread`, and are no faults:
 * where there are faults, too, it is PETAL_CORRUPT. Want of descriptors or memory ends the call.
 * `counts` may be NULL.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_verify(const char *directory, const petal_check_options *options, petal_check_counts *counts,
             petal_error *error);

/*
 * Write all that can still be read of the database in `directory` into a new one in `destination`,
 * which must not exist or be empty (else PETAL_EXISTS), nor lie in `directory` (PETAL_INVALID):
 * tables and table snapshots with their attributes, cells as they are stored, with timestamps,
 * markers, times to live and order, those of the logs included. What cannot be read is passed over
 * and told as a fault, with the rows that it may have held. Where the manifest does not tell, store
 * files tell themselves to which table and family they belong, and a table gets VERSIONS without
 * limit; such as do not become tables of their own, salvaged-NUMBER, and so do log cells of tables
 * that no file tells of, salvaged-table-NUMBER. Of several tables that had one name, one after the
 * other, the latest that store files tell of keeps it; what is left of the others becomes
 * salvaged-table-NUMBER, too. Then table snapshots are lost, and cells that had been compacted away
 * can be there again; and files that earlier versions loaded in bulk are told by name, as their
 * cells may stand in the wrong order among others of the same column and timestamp. Of a log what
 * stands before a bad place is taken: what stands behind it would be a state that never was, and is
 * told, as harmless where no sync had promised it: a crash may leave the same, and an opening takes
 * no more. PETAL_OK: the new database is whole and can be opened, whatever was lost; another
 * status: there is none.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_salvage(const char *directory, const char *destination, const petal_check_options *options,
              petal_check_counts *counts, petal_error *error);

/* ---- Plain key -> value --------------------------------------------------------------------- */

/*
 * An ordered map of keys to values, as LevelDB and LMDB are: no families, qualifiers and versions
 * to think of. Keys have 1 to 32767 bytes, by which they are ordered; values up to 10 MiB, and may
 * be empty. What one looks for:
 *     one key              petal_kv_put, which also takes a time to live
 *                          and a durability, petal_kv_get, petal_kv_delete
 *     all or nothing       petal_kv_batch_put, petal_kv_batch_delete, then
 *                          petal_write, which also takes a durability
 *     only if unchanged    petal_kv_put_if_absent,
 *                          petal_kv_compare_and_swap
 *     many keys at once    petal_kv_multi_get
 *     keys in their order  petal_kv_cursor_open: by prefix or range,
 *                          forward and backward
 *     as of one moment     petal_snapshot_new, for the options of a
 *                          petal_kv_multi_get or cursor
 *     many keys away       petal_kv_delete_range
 *
 * It is a table of one family, whose cells have the empty qualifier. So all else goes by
 * petal_kv_table: its name and attributes, petal_table_truncate and petal_table_drop, flush and
 * compaction, snapshots on disk, loading in bulk, kv-shell; and by the family in it
 * (petal_table_family_at): petal_increment, petal_append. Cells with
 * other qualifiers, and rows that have nothing else, are none of its keys.
 *
 * A write takes the place of what the key had, whatever its timestamp: should the key have one
 * ahead of the clock, by increments, by petal_put with one of the caller's, or because the clock
 * was set back, the write gets the next.
 *
 * A petal_kv may be used by any number of threads at once, a petal_kv_cursor by one at a time.
 */
typedef struct petal_kv petal_kv; /* owned by the database, valid until petal_close */

/*
 * Open the key-value table `name`, which a table may have (see NAMES), making it if there is none.
 *
 * The options describe the table that is made (NULL: family defaults, 4 KiB blocks). Where the
 * table is there, it keeps its attributes, and the options are not compared with them:
 * petal_family_describe tells, and petal_table_alter changes them. Leave their `name` empty: the
 * family of a table that is made is "v". Where it is not empty and not the family's name, the call
 * is PETAL_INVALID and makes nothing.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_open(petal_db *db, petal_slice name, const petal_family_options *options, petal_kv **kv,
              petal_error *error);

/*
 * Put the value in place of what the key had. `options` as for petal_put, and may be NULL: with a
 * time to live (ttl_ms), after which the key is not there; a durability; a deadline.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_put(petal_kv *kv, petal_slice key, petal_slice value, const petal_write_options *options,
             petal_error *error);

/* *value points into `result`, good until its next use; *found says whether there is one. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_get(petal_kv *kv, petal_slice key, petal_result *result, bool *found, petal_slice *value,
             petal_error *error);

/* Delete the key, if it is there. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_delete(petal_kv *kv, petal_slice key, petal_error *error);

/* Into a batch of petal_batch_new, beside writes to other key-value tables, and to tables of any
 * kind, of the same database. Of several writes to one key the last one holds. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_batch_put(petal_batch *batch, petal_kv *kv, petal_slice key, petal_slice value,
                   petal_error *error);
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_batch_delete(petal_batch *batch, petal_kv *kv, petal_slice key, petal_error *error);

/*
 * Put the value unless the key is there, be it with an empty value; *put (may be NULL) says whether
 * it was put. Of threads that do so at once with one key, one puts.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_put_if_absent(petal_kv *kv, petal_slice key, petal_slice value, bool *put,
                       petal_error *error);

/*
 * Put the value if the key has the one that is expected, byte by byte. `value` NULL: delete the
 * key. `expected` NULL: the key is expected not to be there. *swapped (may be NULL) says whether it
 * was as expected. No other write to the key comes between.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_compare_and_swap(petal_kv *kv, petal_slice key, const petal_slice *expected,
                          const petal_slice *value, bool *swapped, petal_error *error);

/*
 * Get `count` keys as of one moment: found[i] says whether keys[i] is there, values[i] is its
 * value, empty if it is not; either array may be NULL. Values point into `result`, good until its
 * next use, and its memory serves the next call. As quick as petal_multi_get. `options` may be
 * NULL, and has no columns; with options.snapshot it reads as of that, which petal_kv_get does
 * not: for one key `count` is 1.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_multi_get(petal_kv *kv, const petal_slice *keys, size_t count,
                   const petal_read_options *options, petal_result *result, bool *found,
                   petal_slice *values, petal_error *error);

/* ---- Keys in their order ---- */

typedef struct petal_kv_cursor_options {
    size_t size;
    /* All three may be given, each may be empty: only keys with from <= key < to that begin with
     * `prefix`. Also in a reversed cursor `from` is the low end. */
    petal_slice from, to, prefix;
    bool reversed;                  /* keys from high to low */
    bool keep_out_of_cache;         /* as in petal_read_options */
    const petal_snapshot *snapshot; /* NULL: as of now */
    uint32_t deadline_ms;           /* of each step, as in petal_read_options */
} petal_kv_cursor_options;

/* Sees the keys as they were when it was opened, whatever is written meanwhile. */
typedef struct petal_kv_cursor petal_kv_cursor;

/* `options` NULL: all keys, low to high. The first step gives the first key. */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_cursor_open(petal_kv *kv, const petal_kv_cursor_options *options, petal_kv_cursor **cursor,
                     petal_error *error);

/*
 * Step to the next key: *key and *value (which may be NULL) are good until the next call on the
 * cursor; *found is false at the end. As quick as petal_cursor_next_many.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_cursor_next(petal_kv_cursor *cursor, bool *found, petal_slice *key, petal_slice *value,
                     petal_error *error);

/*
 * Go on, forward or back, so that the next step gives `key`, or the first one behind it in the
 * cursor's direction: the least above, in a reversed cursor the greatest below. The options' ends
 * stay. Also when the cursor was at its end.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_cursor_seek(petal_kv_cursor *cursor, petal_slice key, petal_error *error);
PETAL_API void
petal_kv_cursor_close(petal_kv_cursor *cursor); /* NULL: no-op; before petal_close */

/*
 * Delete the keys with from <= key < to that are there (`from` empty: from the first; `to` empty:
 * to the last), in batches, as petal_delete_rows does, which says what holds meanwhile. *deleted
 * (may be NULL) tells how many they were, and where a call that ended early goes on. `options` may
 * be NULL, and has no columns: with a prefix, a deadline, a way to stop it.
 */
PETAL_API PETAL_MUST_CHECK enum petal_status
petal_kv_delete_range(petal_kv *kv, petal_slice from, petal_slice to,
                      const petal_delete_rows_options *options, petal_deleted_rows *deleted,
                      petal_error *error);

/* Its table. In a petal_cursor of it each cell is a pair: row and value. */
PETAL_API petal_table *petal_kv_table(petal_kv *kv);

/* ---- Caveats --------------------------------------------------------------------------------- */

/*
 * To be known before the calls are relied upon:
 * - At equal timestamps the later write wins, deletion or put. (HBase lets the deletion win.)
 * - A timestamp that the store assigns (PETAL_LATEST) never goes back. Two puts of one column in
 *   one millisecond are two writes of one version: the later one is what readers see.
 * - A put with a timestamp in the future hides later ones with PETAL_LATEST until the clock has
 *   caught up, as in HBase. Timestamps that the store gave ahead of its clock do not: see
 *   PETAL_LATEST.
 * - Deleting one version (PETAL_DELETE) can bring an older version to light again, as long as no
 *   flush or compaction has dropped that as surplus. So they do, as in HBase, also with versions
 *   that a snapshot sees, if all snapshots were taken after them; and with KEEP_DELETED_CELLS
 *   deleted versions count: under VERSIONS 1 the deletion of version 20 shows version 10, until a
 *   flush drops it beside version 20, which it keeps.
 * - Compaction in the background decides, too, when that happens: with no_compaction answers depend
 *   on calls alone.
 * - A marker hides what is below it in time, whenever that is written, until a compaction of all
 *   files drops the marker: then a put that was written after it and lay below it in memory comes
 *   to light, as in HBase. Before a snapshot that sees such a put the marker stays. Flushes and
 *   compactions of some files keep every marker, but those that are past a time to live.
 * - Under NEW_VERSION_BEHAVIOR flushes and compactions change no answers but those of raw scans,
 *   and take versions past TTL that MIN_VERSIONS does not keep. With KEEP_DELETED_CELLS a
 *   compaction takes deleted versions, too, when VERSIONS newer ones are stored, deleted ones
 *   counted: a time range that lies behind the deletion finds them no longer, nor are they in the
 *   way of live ones there.
 * - PETAL_SYNC_WAL, the default, survives the death of the process, not a power cut: what a power
 *   cut can take is bounded by the background sync, about two seconds. PETAL_FSYNC_WAL survives
 *   both.
 * - A full disk is no damage: what finds it full returns PETAL_NO_SPACE and has changed nothing,
 *   reads go on, and writes succeed again when there is space. Nor does it keep a database from
 *   being opened for writing: what its logs hold waits in memory, as far as memory_bytes lets
 *   memtables grow, and tables can be dropped to make room. Flushes and compactions that fail at
 *   anything else, as memory, descriptors or their store files, are tried again as well. Every
 *   other failed write or sync of log or manifest makes the database read-only. Where files are
 *   copied on write (Btrfs) a write that finds the disk full may be PETAL_IO: should the process
 *   die before there is space, it may be there afterwards; those behind it are PETAL_NO_SPACE as
 *   above; and an opening that finds no room at all is PETAL_NO_SPACE, too, since what it goes by
 *   must be durable first. A failed sync is PETAL_IO, also where it is the sync that finds the disk
 *   full: the change that it was to make durable may be there when the database is opened again, or
 *   not.
 * - DAMAGE to a store file is its family's alone. A file that is missing, or that cannot be opened
 *   when the database is, makes all calls that read or write the family, compact or copy it return
 *   PETAL_CORRUPT with file, family and table; in a block that a read meets, that read. All else
 *   goes on: petal_open and petal_close succeed, logged cells of the family are kept, its files
 *   stay. It can be dropped (petal_table_drop, petal_table_alter), emptied (petal_table_truncate)
 *   or, where a file was lost, restored from a table snapshot (which has a damaged one in common
 *   with its table); with the file back in its place, and the database opened again, it is as it
 *   was. Compactions in the background try a damaged file once, then leave it and older ones of its
 *   family alone; petal_compact tries again. petal_family_check, petal_stats and the log callback
 *   tell of it.
 * - Slices that come from a result or a cursor live until its next use, no longer.
 */

#ifdef __cplusplus
}
#endif

#endif
