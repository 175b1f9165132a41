/*
 * run.h -- run a list of operations against the model and against the engine, and compare what they
 * say, operation by operation.
 *
 * The engine runs on the in-memory file layer, with a clock and a random source that are set by
 * hand: equal lists give equal runs.  Nothing is flushed on its own.
 */
#ifndef PETAL_TESTS_MODEL_RUN_H
#define PETAL_TESTS_MODEL_RUN_H

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
    bool general_reads;  /* no read goes a straight way */
    bool map_files;
};

/* What the model says to each operation. */
struct run_answers {
    char **texts; /* NULL: the operation must be left out */
    size_t count;
};

void run_model(const struct operation_list *list, struct run_answers *answers);
void run_answers_free(struct run_answers *answers);

/* What the model says to an operation on a cursor, open or not; *scan is the one that opened it,
 * `read_point` that of one to be opened. */
void run_model_cursor(const struct model *model, struct model_cursor *cursor,
                      const struct operation **scan, const struct operation *operation,
                      uint64_t read_point, struct model_text *text);

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

/* ---- One operation against an open table ---- */

struct engine {
    petal_db *db;
    petal_table *table;
    petal_family *families[MODEL_FAMILIES];
    petal_snapshot *snapshots[OPERATION_SNAPSHOTS + 1];      /* by number */
    petal_cursor *cursors[OPERATION_CURSORS];                /* held open */
    const struct operation *cursor_scans[OPERATION_CURSORS]; /* that opened them */
    petal_result *result, *more[OPERATION_ROWS - 1];
};

/* Append what the engine says to a write or a read. */
void engine_write(struct engine *engine, const struct operation *operation,
                  struct model_text *text);
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

/* "ok", "refused", or the error in full. */
void engine_add_status(struct model_text *text, enum petal_status status, const petal_error *error);

#endif
