/*
 * model.h -- the naive store that tests compare with: a table as a sorted array of cells, and
 * HBase's rules for what of it is seen and kept (engine/rules/visibility.h states them) in the
 * plainest code: every cell is held against every other. No skipping, no state between calls,
 * nothing shared with the engine but the public header.
 *
 * model.c              cells, writes that read, conditions
 * tests/model/visibility.c   which puts live; what flushes and compactions keep
 * tests/model/read.c         gets and scans
 * tests/model/filter.c       filters that are lists
 * tests/model/cursor.c       cursors that are moved to and fro
 * (tests/model/database.h: several tables, what becomes of whole ones, and a transaction)
 *
 * Nothing here fails: what the engine refuses the model refuses by its result.
 */
#ifndef PETAL_TESTS_MODEL_MODEL_H
#define PETAL_TESTS_MODEL_MODEL_H

#include "engine/petal.h"

#define MODEL_BYTES    40 /* of a row, qualifier or value */
#define MODEL_FAMILIES 3

struct model_bytes {
    uint8_t bytes[MODEL_BYTES];
    size_t size;
};

struct model_cell {
    unsigned family; /* index of the table's family */
    struct model_bytes row, qualifier, value;
    int64_t timestamp;
    uint64_t sequence;
    enum petal_cell_type type;
    bool has_ttl;
    int64_t ttl_ms;
    /* Of the files that hold it: the greatest sequence in them when they were written, or in those
     * that they were made of; so by age. 0: in memory. */
    uint64_t run;
};

struct model_family {
    bool absent; /* the table has no such family */
    uint32_t versions, min_versions;
    bool has_ttl;
    int64_t ttl_ms;
    enum petal_keep_deleted keep_deleted;
    bool new_version_behavior;
};

struct model {
    struct model_family families[MODEL_FAMILIES];
    struct model_cell *cells; /* by family, then in cell order (base/cell.h) */
    size_t count, capacity;
    uint64_t sequence; /* of the latest cell */
    uint64_t lowest;   /* no cell has a sequence below; 0: there is no room */
    int64_t now_ms;
    int64_t written_ms; /* the latest time of a write; what is written now is not stamped earlier */
    /* The greatest timestamp that the store gave, by its clock or next above one that it gave. */
    int64_t stamped[MODEL_FAMILIES];
    bool raised;    /* of the latest write: a timestamp is above the clock's for what the row has */
    int64_t moment; /* all writes are of that time (of a transaction); 0: of the clock's */
};

void model_init(struct model *model, const struct model_family families[MODEL_FAMILIES]);
void model_free(struct model *model);
void model_copy(struct model *to, const struct model *from);
void model_insert(struct model *model, const struct model_cell *cell);
petal_slice model_slice(const struct model_bytes *bytes);
struct model_bytes model_bytes_of(petal_slice slice);

/* Does the cell take the place of the other one, which stands in a row of the same name? */
bool model_replaces(const struct model_cell *cell, const struct model_cell *other);

/* ---- Writes ---- */

enum model_item_kind { MODEL_PUT, MODEL_DELETE, MODEL_APPEND, MODEL_INCREMENT };

/* One member of a batch. */
struct model_item {
    enum model_item_kind kind;
    enum petal_cell_type type; /* MODEL_DELETE */
    unsigned table, family;
    bool of_keys; /* of petal_kv_put and the like */
    struct model_bytes row, qualifier, value;
    int64_t timestamp; /* PETAL_LATEST: the store's; of puts and deletions */
    int64_t amount;    /* MODEL_INCREMENT */
    /* Of a transaction, which has looked at what is there: the store's timestamp is this one. */
    bool settled;
    int64_t given;
    /* The mutation that it begins, or goes on with. */
    bool begins_mutation;
    bool has_ttl;
    int64_t ttl_ms;
    bool has_time_range;
    int64_t time_min, time_limit;
    bool no_results;
};

#define MODEL_MOST_ITEMS 6

/* The new cells of appends and increments: by mutation, row, family, qualifier. */
struct model_results {
    struct model_cell cells[MODEL_MOST_ITEMS];
    size_t count;
};

enum model_outcome {
    MODEL_WRITTEN,
    MODEL_REFUSED, /* an increment of what is no number */
    /* a value would exceed MODEL_BYTES: nothing is written, and the engine should not be asked */
    MODEL_TOO_LARGE
};

/* Apply the items as one batch over the tables, whose sequences and times are equal; puts with
 * PETAL_LATEST get now or the timestamp of `judged`, whichever is later: of the cell that a
 * condition read, of the table of the first item; NULL: none. Sequences and times of tables that no
 * item is of stay after. */
enum model_outcome model_write(struct model *tables, const struct model_item *items, size_t count,
                               const struct model_cell *judged, struct model_results *results);

/*
 * Load the items, puts and deletions in cell order and none twice, in bulk into the one table that
 * they are of: files of one run for each family. Their sequences follow on the model's, or come
 * before all that it has; by kind: equal for all puts, and greater for markers.
 */
void model_load(struct model *model, const struct model_item *items, size_t count, bool below);

/* ---- What flushes and compactions keep ---- */

/* `read_point` is the oldest that a reader has, or model->sequence; `newest_snapshot` the newest
 * that is held, or 0. A compaction whose input holds cells above the former, or with cells in
 * memory that the latter sees, leaves the markers, as a flush does. */
void model_flush(struct model *model, uint64_t read_point);
void model_compact(struct model *model, unsigned family, uint64_t read_point,
                   uint64_t newest_snapshot);

/* The same with the `count` runs of the family from the one at `first` on, oldest first, as far as
 * there are any. With all of them it is a compaction of all files; else all markers stay, and what
 * is outside is not looked at. */
void model_compact_runs(struct model *model, unsigned family, size_t first, size_t count,
                        uint64_t read_point, uint64_t newest_snapshot);

/* ---- Reads ---- */

struct model_column {
    unsigned family;
    struct model_bytes qualifier;
    bool whole_family;
};

/* Filters whose rule does not depend on how a read comes to a cell. */
enum model_filter_kind {
    MODEL_FILTER_NONE,
    MODEL_FILTER_COLUMN_PREFIX, /* qualifiers that begin with `bytes` */
    MODEL_FILTER_FAMILY,        /* the family whose name `bytes` is */
    MODEL_FILTER_FIRST_KEY,     /* the first cell of each row */
    MODEL_FILTER_ROW_RANGES,    /* `bytes` alone, and the rows from `more` on */
    MODEL_FILTER_FUZZY_ROW,     /* rows whose second byte is the first one of `bytes` */
    MODEL_FILTER_SKIP,          /* rows without a cell whose qualifier is `bytes` */
    MODEL_FILTER_PAGE,          /* so many rows as `number` */
    MODEL_FILTER_LIST           /* of the leaves below */
};

/* A question to a cell; comparisons say how what is stored compares to `bytes`. */
enum model_leaf_kind {
    MODEL_LEAF_ROW,
    MODEL_LEAF_ROW_PREFIX,
    MODEL_LEAF_FAMILY,
    MODEL_LEAF_QUALIFIER,
    MODEL_LEAF_QUALIFIER_PREFIX, /* compared by its first bytes */
    MODEL_LEAF_COLUMN_PREFIX,
    MODEL_LEAF_COLUMN_RANGE, /* from `bytes` on, before `more`; both ends included if `flag` */
    MODEL_LEAF_VALUE,
    MODEL_LEAF_VALUE_PREFIX,   /* compared by its first bytes */
    MODEL_LEAF_VALUE_CONTAINS, /* EQUAL: `bytes` are in it, NOT_EQUAL: are not */
    MODEL_LEAF_TIMESTAMPS,     /* is `number` or the one after it */
    MODEL_LEAVES
};

struct model_leaf {
    enum model_leaf_kind kind;
    enum petal_compare compare;
    struct model_bytes bytes, more;
    bool flag;
    int64_t number;
};

#define MODEL_MOST_LEAVES 3

struct model_filter {
    enum model_filter_kind kind;
    struct model_bytes bytes, more;
    int64_t number;
    /* A list: all leaves or one of them must say yes. Around it SKIP: a cell that is refused takes
     * its row with it; WHILE, around leaves that ask for rows: the first one ends the read. */
    bool one_of, skip, while_match;
    bool by_text; /* in the filter language */
    struct model_leaf leaves[MODEL_MOST_LEAVES];
    size_t leaf_count;
};

/* Of a list. */
bool model_filter_passes(const struct model_filter *filter, const struct model_cell *cell);

struct model_read {
    struct model_filter filter;     /* of scans that are not raw */
    struct model_column columns[4]; /* none: all families */
    size_t column_count;
    bool has_time_range, has_family_range[MODEL_FAMILIES];
    int64_t time_min, time_limit;
    int64_t family_min[MODEL_FAMILIES], family_limit[MODEL_FAMILIES];
    int32_t versions; /* as petal_read_options has it: 0 is 1 */
    uint64_t family_cell_limit, family_cell_offset;
    uint64_t read_point; /* UINT64_MAX: as of now */
    bool raw;
    /* Between the files of the model: what a filter is shown, which is one version more of each
     * column than it lets pass, if there is one. */
    bool as_shown;
};

struct model_scan {
    struct model_bytes start_row, stop_row, prefix;
    bool start_exclusive, stop_inclusive, reversed;
    uint64_t row_limit;
};

bool model_scan_has(const struct model_scan *scan, petal_slice row); /* by its bounds */

/* Cells of an answer, in order; they live until the model changes. */
struct model_answer {
    const struct model_cell **cells;
    size_t count, capacity;
};

void model_answer_free(struct model_answer *answer);

/* Both append to the answer. */
void model_get(const struct model *model, const struct model_read *read, petal_slice row,
               struct model_answer *answer);
void model_scan(const struct model *model, const struct model_read *read,
                const struct model_scan *scan, struct model_answer *answer);

/* A place in a scan: its row's cells before the column do not count, and those of its family are
 * counted from there. */
struct model_place {
    struct model_bytes row, qualifier;
    bool in_row; /* else the row's beginning */
    unsigned family;
};

/* The same from a place on. */
void model_scan_from(const struct model *model, const struct model_read *read,
                     const struct model_scan *scan, const struct model_place *place,
                     struct model_answer *answer);

/* What a cursor gives that was opened when the model was as it is now. */
struct model_cursor {
    bool open;
    struct model model; /* a copy */
    struct model_read read;
    struct model_scan scan;
    struct model_answer answer; /* from the latest place on */
    size_t next;
    uint64_t rows; /* given since that place, the one at hand not counted */
    bool in_row, ended;
};

void model_cursor_open(struct model_cursor *cursor, const struct model *model,
                       const struct model_read *read, const struct model_scan *scan);
void model_cursor_close(struct model_cursor *cursor); /* one that is not open, too */

/* NULL at the end. */
const struct model_cell *model_cursor_next(struct model_cursor *cursor);

/* The rest of the row at hand or the next row, at most `batch` cells, 0 for all; they are the
 * `count` ones from the one returned on. */
const struct model_cell **model_cursor_next_row(struct model_cursor *cursor, uint64_t batch,
                                                size_t *count);
void model_cursor_seek(struct model_cursor *cursor, const struct model_place *place);

/* ---- Conditions ---- */

struct model_condition {
    struct model_filter filter; /* holds when the row that is read with it is not empty; or none: */
    unsigned family;
    struct model_bytes row, qualifier, value;
    bool absent;
    enum petal_compare compare;
    bool compare_empty;
    bool has_time_range;
    int64_t time_min, time_limit;
};

/* Whether it holds; *judged is the first cell that was read, NULL if there was none. */
bool model_condition_holds(const struct model *model, const struct model_condition *condition,
                           const struct model_cell **judged);

/* ---- Between the files of the model ---- */

/* The newest versions of a column, at most `most`, for writes that read; returns their number. */
size_t model_newest(const struct model *model, unsigned family, petal_slice row,
                    petal_slice qualifier, const struct model_read *read,
                    const struct model_cell **newest, size_t most);

/* A row of one family: cells [0, count) in cell order, and what decides of them. */
struct model_rules {
    const struct model_family *family;
    uint64_t read_point;
    int64_t now_ms;
    bool rewrite;                 /* a flush or compaction */
    int64_t time_min, time_limit; /* of reads */
};

#define MODEL_MOST_ROW_CELLS 4096

bool model_is_marker(const struct model_cell *cell);
bool model_is_family_marker(const struct model_cell *cell);
bool model_same_column(const struct model_cell *a, const struct model_cell *b);

/* The cell's own TTL is over. */
bool model_is_dead(const struct model_cell *cell, int64_t now_ms);

/* It is older than the family's TTL. */
bool model_is_expired(const struct model_rules *rules, const struct model_cell *cell);

/* Rules 1 and 2: it is there at all. */
bool model_exists(const struct model_rules *rules, const struct model_cell *cell);

/* Which cells are puts that no marker hides and no other put replaces, nor, under
 * NEW_VERSION_BEHAVIOR, are surplus. */
void model_find_living(const struct model_rules *rules, const struct model_cell *cells,
                       size_t count, bool *living);

/* Number of cells from `first` on that are of its family and row. */
size_t model_row_cells(const struct model *model, size_t first);

#endif
