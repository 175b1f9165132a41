/*
 * answer.h -- an answer: recorded, or given by the library; and how both are compared and shown.
 */
#ifndef PETAL_TESTS_CONFORMANCE_ANSWER_H
#define PETAL_TESTS_CONFORMANCE_ANSWER_H

#include "tests/conformance/operation.h"

#include <stdio.h>

enum answer_kind {
    ANSWER_OK,
    ANSWER_RESULT,  /* one result, perhaps empty */
    ANSWER_RESULTS, /* any number */
    ANSWER_TRUE,
    ANSWER_FALSE,
    ANSWER_BATCH,
    ANSWER_ERROR, /* refused */
    ANSWER_FAILED /* the library could not: damage, no memory ..; equal to nothing */
};

struct answer_result {
    petal_cell *cells;
    size_t count;
};

struct answer {
    enum answer_kind kind;
    size_t line;                   /* of a recorded one: its first */
    struct answer_result *results; /* also of OK, TRUE and FALSE: none or one that is not empty */
    size_t result_count;
    petal_slice *members; /* of a batch: "ok" or the name of an error */
    size_t member_count;
    petal_slice text; /* of ERROR and FAILED: what is wrong */
};

/* Parse the answer to `operation`, whose first line is at hand; the line after it is at hand
 * afterwards. */
bool answer_read(struct reader *reader, const struct recorded_operation *operation,
                 struct answer *answer);

/* One more result, and one more cell in the last result; a cell's bytes are copied. */
void answer_add_result(struct arena *arena, struct answer *answer);
void answer_add_cell(struct arena *arena, struct answer *answer, const petal_cell *cell);
void answer_add_member(struct arena *arena, struct answer *answer, petal_slice text);

/* Names of errors do not count: only whether both refuse. */
bool answer_equal(const struct answer *a, const struct answer *b);

/* Whether it is of a batch and names an error. */
bool answer_lists_error(const struct answer *answer);

bool cell_equal(const petal_cell *a, const petal_cell *b);
bool answer_has_cell(const struct answer *answer, const petal_cell *cell);

/* Write the lines of the answer as they stand in a file. */
void answer_print(const struct answer *answer, FILE *out);
void answer_print_cell(const petal_cell *cell, FILE *out);
void answer_print_string(petal_slice string, FILE *out);

#endif
