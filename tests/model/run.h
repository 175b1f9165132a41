/*
 * run.h -- run a list of operations against the model and against the engine, and compare what they
 * say, operation by operation.
 *
 * tests/model/expect.c        what the model says
 * tests/model/engine.c        what the engine says: handles, statuses
 * tests/model/engine_write.c  writes
 * tests/model/engine_read.c   reads
 * tests/model/engine_filter.c their filters
 * tests/model/tables.c        changes of tables, and all that the engine holds
 * tests/model/expect_transaction.c, tests/model/engine_transaction.c  transactions
 * tests/model/look.c          what it tells of itself; key-value tables
 * tests/model/long_value.c    values that are longer than the model's
 * tests/model/run.c           the rest, and whole lists
 *
 * The engine runs on the in-memory file layer, with a clock and a random source that are set by
 * hand: equal lists give equal runs.  Nothing is flushed on its own.
 */
#ifndef PETAL_TESTS_MODEL_RUN_H
#define PETAL_TESTS_MODEL_RUN_H

#include "tests/crash/ledger.h"
#include "tests/model/operation.h"
#include "tests/model/text.h"

/* How the engine stores: none of it may change an answer. */
struct run_settings {
    const char *name;
    enum petal_bloom_type bloom;
    uint32_t bloom_prefix_bytes;
    size_t cache_bytes;
    uint32_t block_bytes;
    enum petal_compression compression;
    bool choose_without; /* reads may not use some reasons, as the operation says */
    unsigned without;    /* reasons that no read may use */
    bool general_reads;  /* no read takes a fast path */
    uint32_t hasty;      /* cursors have a deadline, and are late after a few cells; 0: none */
    bool map_files;
    /* For calm lists: flushes and compactions by their threads, whenever there is much in memory,
     * to which end values are made longer where that shows nowhere. */
    bool background;
    bool regions;        /* for calm lists: regions are split and merged every few operations */
    bool log_windows;    /* logs are stored through mappings */
    bool links;          /* files of any size are linked, and outputs are small */
    bool change_options; /* each opening has others, as the operation says */
};

/* What the model says to each operation. */
struct run_answers {
    char **texts; /* NULL: the operation must be left out */
    size_t count;
};

void run_model(const struct operation_list *list, struct run_answers *answers);
void run_answers_free(struct run_answers *answers);

/* ---- The model's side, operation by operation ---- */

struct expectation {
    struct model_database database;
    struct model_cursor cursors[OPERATION_CURSORS];
    const struct operation *cursor_scans[OPERATION_CURSORS]; /* that opened them */
    struct model_answer answer;                              /* reused */
};

void expect_begin(struct expectation *expectation, const struct operation_list *list);
void expect_end(struct expectation *expectation);

/* Append what it says. False: the engine must not be asked. */
bool expect_operation(struct expectation *expectation, const struct operation *operation,
                      struct model_text *text);

/* Of those on key-value tables, and of deletions of whole rows. */
bool expect_key_value(struct expectation *expectation, const struct operation *operation,
                      struct model_text *text);
bool expect_deleted_rows(struct expectation *expectation, const struct operation *operation,
                         struct model_text *text);

/* Of those that begin or end a transaction, or are of one. */
bool expect_transaction(struct expectation *expectation, const struct operation *operation,
                        struct model_text *text);

/* What it says to a read of what is there, of which `content` has what it sees. False: it is
 * refused. */
bool expect_cells(const struct model *content, const struct operation *operation,
                  uint64_t read_point, struct model_answer *answer, struct model_text *text);
bool expect_is_there(const struct model_database *database, unsigned table,
                     const struct model_read *read);

/* What it says to an operation on a cursor, open or not; *scan is the one that opened it,
 * `read_point` that of one to be opened. */
void expect_cursor(const struct model *model, struct model_cursor *cursor,
                   const struct operation **scan, const struct operation *operation,
                   uint64_t read_point, struct model_text *text);

/* All tables with their attributes, and the names of table snapshots; versions; stored cells. */
enum dump_depth { DUMP_SCHEMA, DUMP_VERSIONS, DUMP_STORED };
void expect_dump(const struct model_database *database, enum dump_depth depth,
                 struct model_text *text);

/* ---- Model and engine ---- */

struct run_difference {
    size_t index;          /* of the operation; list->count: found when all files were verified */
    struct model_text got; /* what the engine said */
};

/* Whether the engine says the same; else *difference is filled in, to be released with
 * model_text_free. */
bool run_engine(const struct operation_list *list, const struct run_settings *settings,
                const struct run_answers *answers, struct run_difference *difference);

/* The schema and the settings as the engine's options. */
void run_family_options(const struct model_family *family, const struct run_settings *settings,
                        petal_family_options *options);

/* ---- The engine's side, operation by operation ---- */

/* Handles of a table. Those of what was dropped stay, until the database is opened again: calls on
 * them must say so. */
struct engine_table {
    petal_table *table;
    petal_family *families[MODEL_FAMILIES];
};

struct engine {
    petal_db *db;
    struct engine_table tables[MODEL_TABLES];
    petal_snapshot *snapshots[MODEL_READ_POINTS + 1]; /* by number */
    petal_transaction *transaction;
    petal_cursor *cursors[OPERATION_CURSORS]; /* held open */
    /* Of each, what opened it, and the families that its table had then, NULL for none. */
    const struct operation *cursor_scans[OPERATION_CURSORS];
    petal_family *cursor_families[OPERATION_CURSORS][MODEL_FAMILIES];
    petal_result *result, *more[OPERATION_ROWS - 1];
    petal_receipt *receipt;
    petal_stats stats; /* as they were looked at last */
    bool long_values;  /* put so, and shown without what makes them long */
};

/* Find the handles of what is there; those of the rest stay as they are. */
enum petal_status engine_attach(struct engine *engine, petal_error *error);

/* Release all but the database. */
void engine_detach(struct engine *engine);

/* Whether there are handles for all that the operation names, dropped or not. */
bool engine_knows(const struct engine *engine, const struct operation *operation);

/* A database of the list's tables on files in memory. */
struct run {
    const struct run_settings *settings;
    struct fixture fixture;
    struct engine engine;
    unsigned checkpoints; /* made so far */
    bool long_values;
};

enum petal_status run_begin(struct run *run, const struct operation_list *list,
                            const struct run_settings *settings, petal_error *error);

/* Closes the database if it is open. */
void run_end(struct run *run);

/* Append what the engine says to the operation. */
void run_operation(struct run *run, const struct operation *operation, struct model_text *text);

/* Open the database that was closed, or that died, and find the handles. */
enum petal_status run_open(struct run *run, petal_error *error);

/* The same as expect_dump. */
enum petal_status engine_dump(petal_db *db, enum dump_depth depth, struct model_text *text,
                              petal_error *error);

/* ---- Values that are longer here than in the model ---- */

#define ENGINE_FILLER_BYTES 1000
#define ENGINE_LONG_BYTES   (MODEL_BYTES + ENGINE_FILLER_BYTES)

/* Into `bytes` if values are long here; a number stays as it is. */
petal_slice engine_lengthen(const struct engine *engine, const struct model_bytes *value,
                            uint8_t bytes[ENGINE_LONG_BYTES]);

/* As model_text_add_cell; without what makes the value long. */
void engine_add_cell(struct model_text *text, const petal_cell *cell);
void engine_add_result(struct model_text *text, const petal_result *result);

/* ---- What the engine tells of itself ---- */

/* Append what is wrong with the receipt of the latest read; `result`: of a get, else NULL. */
void engine_check_receipt(const struct engine *engine, unsigned without, const petal_result *result,
                          struct model_text *text);

/* Ask for all that can be asked for, and append what is wrong with it. */
enum petal_status engine_look(struct engine *engine, struct model_text *text, petal_error *error);

/* NULL: none is wanted. */
enum petal_status engine_make_filter(petal_db *db, const struct model_filter *wanted,
                                     petal_filter **filter, petal_error *error);

/* All tables are verified. */
enum petal_status engine_verify(struct engine *engine, petal_error *error);

/* False: it is no change of tables. */
bool engine_change_tables(struct engine *engine, const struct operation *operation,
                          const struct run_settings *settings, struct model_text *text);

/* Append what the engine says to a write or a read. */
void engine_write(struct engine *engine, const struct operation *operation,
                  struct model_text *text);
void engine_use_key_value(struct engine *engine, const struct operation *operation,
                          struct model_text *text);
void engine_delete_rows(struct engine *engine, const struct operation *operation,
                        struct model_text *text);
void engine_use_transaction(struct engine *engine, const struct operation *operation,
                            struct model_text *text);
/* Its write of one item, or deletion of a row. */
enum petal_status engine_transaction_write(struct engine *engine, const struct operation *operation,
                                           petal_error *error);
void engine_get(struct engine *engine, const struct operation *operation, unsigned without,
                struct model_text *text);
void engine_get_rows(struct engine *engine, const struct operation *operation, unsigned without,
                     struct model_text *text);
void engine_scan(struct engine *engine, const struct operation *operation, unsigned without,
                 struct model_text *text);
void engine_open_cursor(struct engine *engine, const struct operation *operation, unsigned without,
                        struct model_text *text);
void engine_move_cursor(struct engine *engine, const struct operation *operation,
                        struct model_text *text);
void engine_close_cursor(struct engine *engine, const struct operation *operation,
                         struct model_text *text);

/* "ok", "refused", "not found" and the like; what should not be is told in full. */
void engine_add_status(struct model_text *text, enum petal_status status, const petal_error *error);

#endif
