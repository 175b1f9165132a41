/*
 * operation.h -- one operation of a recorded case, parsed.
 *
 * The cells of an append or increment are brought into the order in which HBase works on them, and
 * answers: by family and qualifier; those of one column keep their order.  Items of a delete all
 * count, in the order written: the answers were recorded without the forgetting that HBase's
 * Delete.addFamily does.
 */
#ifndef PETAL_TESTS_CONFORMANCE_OPERATION_H
#define PETAL_TESTS_CONFORMANCE_OPERATION_H

#include "tests/conformance/read.h"

enum mutation_kind { MUTATION_PUT, MUTATION_DELETE, MUTATION_APPEND, MUTATION_INCREMENT };

enum item_kind {
    ITEM_PUT,
    ITEM_APPEND,
    ITEM_INCREMENT,
    ITEM_VERSION,
    ITEM_LATEST,
    ITEM_COLUMN,
    ITEM_FAMILY,
    ITEM_FAMILY_VERSION,
    ITEM_ROW /* a DeleteFamily in every family of the table */
};

struct recorded_item {
    enum item_kind kind;
    petal_slice family, qualifier, value;
    int64_t timestamp; /* PETAL_LATEST: now */
    int64_t amount;
};

struct recorded_mutation {
    enum mutation_kind kind;
    petal_slice row;
    petal_mutation_options options;
    struct recorded_item *items;
    size_t item_count;
};

enum condition_kind { CONDITION_VALUE, CONDITION_FILTER };

struct recorded_condition {
    enum condition_kind kind;
    petal_slice family, qualifier, value;
    enum petal_compare compare;
    struct recorded_filter filter;
    struct time_range time_range;
};

enum operation_kind {
    OPERATION_CLOCK,
    OPERATION_FLUSH,
    OPERATION_COMPACT,
    OPERATION_MINOR,
    OPERATION_REOPEN,
    OPERATION_MUTATION,
    OPERATION_ROW_MUTATIONS,
    OPERATION_BATCH,
    OPERATION_ATOMIC,
    OPERATION_CHECK,
    OPERATION_GET,
    OPERATION_SCAN
};

struct recorded_operation {
    enum operation_kind kind;
    size_t line;
    petal_slice text; /* the line */
    int64_t clock_ms;
    size_t files;    /* of minor: how many of each family are merged, the newest */
    petal_slice row; /* of row mutations, check and mutate, get */
    struct recorded_condition condition;
    struct recorded_mutation *mutations; /* one, for a mutation */
    size_t mutation_count;
    bool action_is_row_mutations; /* of a check; `action_row` is theirs */
    petal_slice action_row;
    struct recorded_read read;
};

/* Parse the line at hand. */
bool operation_read(struct reader *reader, struct recorded_operation *operation);

#endif
