/*
 * answers.h -- all that a database says, asked in every way: recorded once of the files as they
 * should be, and compared with afterwards.
 *
 * A QUESTION is one call, or one walk: a get of some kind of one row, a scan of some kind, a
 * cursor's seeks, a verification. Its answer is recorded as the digests of the cells up to each
 * one, so that a walk which fails midway is compared up to where it failed: a wrong cell is noticed
 * when it is given.
 */
#ifndef PETAL_TESTS_DAMAGE_ANSWERS_H
#define PETAL_TESTS_DAMAGE_ANSWERS_H

#include "tests/damage/gallery.h"

/* An open gallery. */
#define VISIT_MOST_BYTES ((uint64_t)64 << 20)

struct visit {
    struct fixture fixture; /* its file layer is the caller's */
    const struct gallery *gallery;
    petal_table *tables[GALLERY_FAMILIES]; /* of each family */
    petal_family *families[GALLERY_FAMILIES];
    petal_kv *kv;
    petal_result *results[4];
    petal_receipt *receipt;
    petal_filter *filter;
    bool quiet; /* wrong answers are expected */
};

/* The surroundings of a visit to the files of `vfs`; visit->fixture.options may be changed then. */
void visit_init(struct visit *visit, const struct gallery *gallery, struct memory_vfs *vfs);

/* PETAL_OK, or why the database cannot be opened, or which table or family is not there. */
enum petal_status visit_open(struct visit *visit, const char *directory, petal_error *error);
enum petal_status visit_close(struct visit *visit, petal_error *error);

/* What is between the two, for a database that another one opens, of which only fixture.db counts:
 * `visit_end` also after a failure. */
enum petal_status visit_begin(struct visit *visit, petal_error *error);
void visit_end(struct visit *visit);

/* No memory has leaked; leaves the file layer, which other visits may use, to the caller. */
void visit_fini(struct visit *visit);

/* The ways to ask.  Those before WAY_OF_FAMILY ask for one row. */
enum way {
    WAY_GET_COLUMN,
    WAY_GET_FAMILY,
    WAY_GET_VERSIONS,
    WAY_GET_TIMES,
    WAY_GET_RECEIPT,
    WAY_GET_FILTERED,
    WAY_GET_ABSENT, /* a row that is not there, beside one that is */
    WAY_GET_PLAIN,  /* petal_kv_get */
    WAY_SEEK,
    WAY_SEEK_BACK,
    WAY_OF_FAMILY,
    WAY_MULTI_COLUMN = WAY_OF_FAMILY,
    WAY_MULTI_ROWS,
    WAY_SCAN,
    WAY_SCAN_MANY,
    WAY_SCAN_ROWS,
    WAY_SCAN_BACK,
    WAY_SCAN_RAW,
    WAY_SCAN_RAW_BACK,
    WAY_SCAN_COLUMN,
    WAY_SCAN_PREFIX,
    WAY_SCAN_FILTERED,
    WAY_SCAN_LIMITED,
    WAY_SEEKS,
    WAY_OF_TABLE,
    WAY_SCAN_TABLE = WAY_OF_TABLE,
    WAY_VERIFY,
    WAYS
};

struct question {
    enum way way;
    size_t family;
    unsigned row;
    /* What was read of files when it was recorded: ranges[first ..], `count` of them. */
    size_t first_range, range_count;
    uint64_t *digests; /* of the cells up to each one */
    size_t cells, capacity;
    bool failed; /* after these cells */
};

struct read_range {
    char path[40];
    uint64_t offset, end;
};

struct answers {
    struct question *questions;
    size_t count;
    struct read_range *ranges;
    size_t range_count;
};

/* Ask everything; what is read for each question is recorded, too. */
void answers_record(struct answers *answers, struct visit *visit);
/* The same of a database in which questions may fail. */
void answers_record_what_there_is(struct answers *answers, struct visit *visit);
void answers_free(struct answers *answers);

/* Was any byte of that part of the file read for the question? */
bool answers_reads(const struct answers *answers, const struct question *question, const char *path,
                   uint64_t offset, uint64_t end);

enum verdict { SAME, FAILED, WRONG };

/* FAILED: by *error, and all cells given before were right.  WRONG is printed unless
 * visit->quiet. */
enum verdict answers_compare(const struct question *question, struct visit *visit,
                             petal_error *error);

void question_print(const struct question *question);

#endif
