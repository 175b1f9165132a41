/*
 * operation.h -- lists of operations on a database, made at random, for the model and the engine
 * alike; and the list as a script for kv-shell.
 *
 * Each operation carries the time at which it happens, and all it needs: so any of them can be
 * taken out of a list.
 */
#ifndef PETAL_TESTS_MODEL_OPERATION_H
#define PETAL_TESTS_MODEL_OPERATION_H

#include "tests/model/database.h"
#include "tests/support/test_support.h"

#include <stdio.h>

enum operation_kind {
    OPERATION_WRITE,
    OPERATION_PUT_VALUE,   /* or delete it: of a key-value table */
    OPERATION_DELETE_ROWS, /* one whole, or those of a range */
    OPERATION_FLUSH,
    OPERATION_COMPACT,
    OPERATION_REOPEN,
    OPERATION_CRASH,
    OPERATION_BEGIN, /* a transaction; one that is open is aborted */
    OPERATION_COMMIT,
    OPERATION_ABORT,
    OPERATION_TAKE_SNAPSHOT,
    OPERATION_FREE_SNAPSHOT,
    OPERATION_CREATE_TABLE,
    OPERATION_DROP_TABLE,
    OPERATION_TRUNCATE_TABLE,
    OPERATION_ALTER_TABLE,
    OPERATION_TAKE_TABLE_SNAPSHOT,
    OPERATION_CLONE_TABLE,
    OPERATION_RESTORE_TABLE,
    OPERATION_DELETE_TABLE_SNAPSHOT,
    OPERATION_CHECKPOINT, /* which is opened and read whole; read.raw: its stored cells, too */
    OPERATION_LOOK,       /* names, attributes, statistics, files, verification */
    OPERATION_GET_VALUE,
    OPERATION_GET_VALUES,  /* by petal_kv_multi_get */
    OPERATION_SCAN_VALUES, /* by petal_kv_cursor */
    OPERATION_GET,
    OPERATION_GET_ROWS, /* by petal_multi_get */
    OPERATION_SCAN,
    /* A scan, read to its end when the cursor is closed: what happens between must not show */
    OPERATION_OPEN_CURSOR,
    OPERATION_MOVE_CURSOR,
    OPERATION_CLOSE_CURSOR,
    OPERATION_KINDS
};

enum move_kind { MOVE_NEXT, MOVE_NEXT_ROW, MOVE_SEEK };

/* By which calls a value is put or deleted. */
enum value_way { WAY_PLAIN, WAY_BATCH, WAY_IF_ABSENT, WAY_SWAP, WAYS };

/* What is done with an open cursor. */
struct operation_move {
    enum move_kind kind;
    size_t times; /* of steps */
    struct model_place place;
};
#define OPERATION_MOVES 12

#define OPERATION_CURSORS 2
#define OPERATION_ROWS    3

/* The process dies, or the power fails, during a file call. */
#define OPERATION_RECOVERIES 2
struct operation_crash {
    unsigned calls; /* the n-th from the beginning of the operation; 0: none */
    bool dies;      /* it is the process */
    unsigned cut;   /* what a power cut leaves: of enum memory_cut, modulo its number */
    uint64_t seed;
    unsigned recovery_calls[OPERATION_RECOVERIES]; /* the same of the openings that follow */
    /* While it is opened and read the disk has room for so many bytes more; 0: no limit. */
    unsigned full_bytes;
};

struct operation {
    enum operation_kind kind;
    int64_t now_ms;
    unsigned table; /* of what is done to one table; of a restored one the snapshot knows */
    /* Writes: item_count 1 .. MODEL_MOST_ITEMS. */
    struct model_item items[MODEL_MOST_ITEMS];
    size_t item_count;
    enum petal_durability durability;
    /* A get, a scan, a single write or the deletion of a row is of the transaction; without one it
     * does nothing. */
    bool in_transaction;
    bool single;        /* by a call of its own, not a batch; one item */
    bool bulk;          /* loaded; items are of one table, in cell order, and none is twice */
    bool below;         /* with `bulk`: as if all were written before all that is there */
    bool changes_row;   /* by petal_mutate_row; all items are of one row */
    bool has_condition; /* of it */
    struct model_condition condition;
    enum value_way way; /* of a value; WAY_SWAP: if it is what the condition says */
    /* Deletions of rows: the one in rows[0], or those from that to rows[1] that begin with
     * scan.prefix, with the timestamp of the first item, `batch` rows in one batch; or the keys of
     * a key-value table. */
    bool one_row, of_keys;
    /* Compactions: the family, or all of them if MODEL_FAMILIES.  Flushes: of the table or of the
     * database. */
    unsigned family;
    bool whole_database;
    /* Compactions of one family: so many runs from the one at first_run on; 0: all files. */
    size_t first_run, run_count;
    /* Reads, and the snapshot taken, freed or read: 1 .. MODEL_READ_POINTS, 0 for none. */
    unsigned snapshot;
    struct model_schema schema; /* of a table that is made or altered */
    unsigned table_snapshot;    /* taken, restored, deleted: 0 .. MODEL_TABLE_SNAPSHOTS - 1 */
    bool skip_flush;
    uint32_t ttl_seconds;
    /* Of the options with which the database is opened again, or a table made. */
    unsigned variant;
    bool is_read_first; /* it is opened for reading before */
    struct model_read read;
    struct model_bytes rows[OPERATION_ROWS]; /* a get reads the first */
    struct model_scan scan;
    unsigned cursor; /* opened, moved or closed: 0 .. OPERATION_CURSORS - 1 */
    struct operation_move moves[OPERATION_MOVES];
    size_t move_count;
    bool by_rows; /* petal_cursor_next_row; then `batch` counts */
    uint64_t batch;
    /* tests/model/crash_test.c alone: a crash; a disk that has room for so many bytes more, for so
     * many operations. */
    struct operation_crash crash;
    unsigned full_bytes, full_operations;
    bool keep_out_of_cache, has_receipt;
    unsigned without; /* reasons for leaving files out that the read must not use */
};

/* What a list may hold; the rest is left out. */
enum operation_feature {
    FEATURE_VERSIONS = 1, /* more than one version, kept and asked for */
    FEATURE_TTL = 2,      /* of families and cells, MIN_VERSIONS */
    FEATURE_KEEP_DELETED = 4,
    FEATURE_NEW_VERSION_BEHAVIOR = 8,
    FEATURE_READ_MODIFY_WRITE = 16, /* append, increment, deletion of the newest version */
    FEATURE_CONDITIONS = 32,        /* petal_mutate_row */
    FEATURE_COMPACTION = 64,
    FEATURE_SNAPSHOTS = 128,
    FEATURE_RAW = 256,
    FEATURE_SCANS = 512,        /* reversed, prefix, inclusive and exclusive bounds, batches */
    FEATURE_CELL_LIMITS = 1024, /* per family, and time ranges per family */
    FEATURE_RESTARTS = 2048,
    FEATURE_CURSORS = 4096, /* held open */
    FEATURE_FILTERS = 8192, /* of scans */
    FEATURE_TABLES = 16384, /* several tables, batches over them */
    FEATURE_SCHEMA = 32768, /* tables come, change and go */
    FEATURE_TABLE_SNAPSHOTS = 65536,
    FEATURE_CHECKPOINTS = 131072,
    FEATURE_CLOCK = 262144, /* steps back */
    FEATURE_LOOKS = 524288, /* receipts, too */
    FEATURE_KEY_VALUE = 1048576,
    FEATURE_BULKS = 2097152,
    FEATURE_TRANSACTIONS = 4194304,
    FEATURE_ALL = 8388607,
    /* Beyond these, a restriction (tests/model/maker.h), and what only calm lists may hold. */
    FEATURE_CALM = 8388608,
    FEATURE_CRASHES = 16777216
};

struct operation_list {
    unsigned features;
    struct model_schema schemas[MODEL_TABLES]; /* of those that are there at the beginning: */
    unsigned table_count;
    struct operation *operations;
    size_t count;
};

void operation_list_make(struct operation_list *list, uint64_t seed, size_t count,
                         unsigned features);
void operation_list_free(struct operation_list *list);

const char *operation_kind_text(enum operation_kind kind);

/* Commands of kv-shell; what it has no command for becomes a comment. */
void operation_list_print(const struct operation_list *list, FILE *out);

#endif
