/*
 * case.h -- one recorded case: its families, its operations and the answer to each.
 */
#ifndef PETAL_TESTS_CONFORMANCE_CASE_H
#define PETAL_TESTS_CONFORMANCE_CASE_H

#include "tests/conformance/answer.h"

struct recorded_step {
    struct recorded_operation operation;
    struct answer answer;
};

struct recorded_case {
    size_t line;
    petal_slice name;
    petal_slice group; /* the name before its last '-' */
    petal_family_options *families;
    size_t family_count;
    struct recorded_step *steps;
    size_t step_count;
};

/* Parse the next case into the reader's arena.  False at the end of the file or after a mistake. */
bool case_read(struct reader *reader, struct recorded_case *recorded);

#endif
