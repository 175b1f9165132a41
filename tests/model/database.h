/*
 * database.h -- several tables of the naive store, and what is done to whole ones: they come,
 * change, go, are kept as table snapshots and come back. All write in one order; a read point holds
 * for all.
 *
 * What must be refused is refused by the status that the engine gives.
 */
#ifndef PETAL_TESTS_MODEL_DATABASE_H
#define PETAL_TESTS_MODEL_DATABASE_H

#include "tests/model/model.h"

#define MODEL_TABLES          3
#define MODEL_TABLE_SNAPSHOTS 2
#define MODEL_READ_POINTS     2                       /* held at once, by numbers from 1 on */
#define MODEL_HELD            (MODEL_READ_POINTS + 2) /* the last is the transaction's */

struct model_schema {
    struct model_family families[MODEL_FAMILIES]; /* one at least is not absent */
    bool read_only;
    enum petal_durability durability;
};

struct model_table {
    bool exists;
    bool read_only;
    enum petal_durability durability;
    struct model content;
};

struct model_table_snapshot {
    bool exists;
    unsigned table; /* of which it was taken */
    int64_t created_ms;
    uint32_t ttl_seconds; /* 0: it stays */
    struct model_table content;
};

#define MODEL_MOST_RANGES 32

/* Rows that a transaction has read. */
struct model_range {
    unsigned table;
    struct model_scan scan;
    bool is_cut; /* it went as far as `last` */
    struct model_bytes last;
    bool may_be_more; /* a filter may have gone on, or nothing was looked at */
};

struct model_transaction {
    bool open;
    enum petal_durability durability;
    uint64_t first, point; /* the sequences from `first` to `point` are its own */
    int64_t moment;
    bool keeps_moment;                         /* at its commit, too */
    struct model_item items[MODEL_MOST_ITEMS]; /* what its commit writes */
    struct model_cell cells[MODEL_MOST_ITEMS]; /* the same, as it sees them */
    size_t count;
    int64_t stamped[MODEL_TABLES][MODEL_FAMILIES]; /* as in struct model, with its own */
    struct model_range ranges[MODEL_MOST_RANGES];
    size_t range_count;
    bool loaded[MODEL_TABLES];   /* below all, since it began: seen or not */
    uint64_t used[MODEL_TABLES]; /* the tables' changes when they were used first, and 1 */
};

struct model_database {
    struct model_table tables[MODEL_TABLES];
    struct model_table_snapshot snapshots[MODEL_TABLE_SNAPSHOTS];
    bool held[MODEL_HELD];
    uint64_t points[MODEL_HELD];
    struct model_transaction transaction;
    uint64_t changes[MODEL_TABLES]; /* of what the table is */
    uint64_t sequence;
    int64_t now_ms;
    int64_t written_ms; /* the latest time of a write */
    int64_t stamped_ms; /* the same of those to which the store gave a timestamp */
    /* What the engine takes for the former is no less than this: equal, but after a restart, which
     * may remember the latter only. */
    int64_t remembered_ms;
};

/* Without tables. */
void model_database_init(struct model_database *database);
void model_database_free(struct model_database *database);
void model_database_copy(struct model_database *to, const struct model_database *from);

/* For all tables. */
void model_database_set_time(struct model_database *database, int64_t now_ms);

petal_slice model_table_name(unsigned table);
petal_slice model_table_snapshot_name(unsigned snapshot);

/* ---- Writes ---- */

/* As model_write. PETAL_NOT_FOUND: a table or family is not there; PETAL_READ_ONLY: a table is;
 * PETAL_INVALID: an increment of what is no number. *unsure: the engine should not be asked, for a
 * value would become too large, or a timestamp depends on what a reopening remembers. */
enum petal_status model_database_write(struct model_database *database,
                                       const struct model_item *items, size_t count,
                                       const struct model_cell *judged,
                                       struct model_results *results, bool *unsure);

/* Whether all that the items name is there. */
enum petal_status model_database_check_items(const struct model_database *database,
                                             const struct model_item *items, size_t count);

/* As model_load, into the table; the same statuses. */
enum petal_status model_database_load(struct model_database *database, unsigned table,
                                      const struct model_item *items, size_t count, bool below);

/* ---- Read points ---- */

void model_database_hold(struct model_database *database, unsigned number);
void model_database_let_go(struct model_database *database, unsigned number);

/* UINT64_MAX if it is not held. */
uint64_t model_database_read_point(const struct model_database *database, unsigned number);

/* The oldest that is held, or now; the newest that is held, or 0. */
uint64_t model_database_oldest(const struct model_database *database);
uint64_t model_database_newest(const struct model_database *database);

/* ---- A transaction (tests/model/transaction.c) ---- */

/* False: what it takes for now depends on what a reopening remembers. */
bool model_transaction_begin(struct model_database *database, enum petal_durability durability);
void model_transaction_abort(struct model_database *database); /* if one is open */

/* The tables as it sees them, with what it has written; to be freed. */
void model_transaction_see(const struct model_database *database, struct model seen[MODEL_TABLES]);

/* Note that the table was used. False: it is not what it was when it was used first, or what is
 * seen of it depends on more than the model knows. */
bool model_transaction_use(struct model_database *database, unsigned table);
/* Note that the range was read. False: there is no room for more. */
bool model_transaction_read(struct model_database *database, const struct model_range *range);

/* Write the items, one after the other. False: the engine should not be asked. */
bool model_transaction_write(struct model_database *database, const struct model_item *items,
                             size_t count, enum petal_status *status);

/* *unsure: it stays open. */
enum petal_status model_transaction_commit(struct model_database *database, bool *unsure);

/* ---- Flushes, restarts ---- */

/* MODEL_TABLES: of all. */
void model_database_flush(struct model_database *database, unsigned table);

/* What was in memory is written to files, by the closing or by the recovery; nobody reads. */
void model_database_restart(struct model_database *database);

/* ---- Tables ---- */

bool model_table_has_family(const struct model_database *database, unsigned table, unsigned family);
size_t model_table_family_count(const struct model_table *table);

enum petal_status model_database_create(struct model_database *database, unsigned table,
                                        const struct model_schema *schema);
enum petal_status model_database_drop(struct model_database *database, unsigned table);
enum petal_status model_database_truncate(struct model_database *database, unsigned table);
enum petal_status model_database_alter(struct model_database *database, unsigned table,
                                       const struct model_schema *schema);

/* ---- Table snapshots ---- */

/* Its time to live is not over. */
bool model_database_has_snapshot(const struct model_database *database, unsigned snapshot);

/* Those whose time is over go for good, also if the clock goes back later: by each call about
 * snapshots but deletion. */
void model_database_expire(struct model_database *database);

enum petal_status model_database_take(struct model_database *database, unsigned table,
                                      unsigned snapshot, bool skip_flush, uint32_t ttl_seconds);
enum petal_status model_database_clone(struct model_database *database, unsigned snapshot,
                                       unsigned table);
enum petal_status model_database_restore(struct model_database *database, unsigned snapshot);
enum petal_status model_database_forget(struct model_database *database, unsigned snapshot);

#endif
