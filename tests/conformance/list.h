/*
 * list.h -- the list of deliberate differences between Petal's answers and the recorded ones:
 * tests/conformance/DIFFERENCES, which describes its own format.
 */
#ifndef PETAL_TESTS_CONFORMANCE_LIST_H
#define PETAL_TESTS_CONFORMANCE_LIST_H

#include "tests/conformance/case.h"

/* What must hold for a difference beside the name of its case. */
enum difference_rule {
    RULE_EQUAL_TIMESTAMPS, /* equal-timestamps: ties_explain */
    RULE_EQUAL_INSIDE,     /* equal-timestamps-inside: the same, of ties inside one operation */
    RULE_BATCH_ERROR,      /* batch-error: the answer of a batch of which a member was refused */
    RULE_SKIP_RANGES,      /* skip-row-ranges: a filter with SKIP around a MultiRowRangeFilter */
    RULE_FAKE_START,   /* fake-start-row: a scan of named columns from the beginning under WHILE */
    RULE_WHILE_RANGES, /* while-row-ranges: a reversed scan with WHILE and MultiRowRangeFilter */
    RULE_DONE_BRANCH,  /* done-branch: a filter with OR and DependentColumnFilter */
    /* Those of history_explains. */
    RULE_KEPT_MARKER,
    RULE_DELETED_AGAIN,
    RULE_ORDER_OF_WRITES,
    RULE_NEXT_COLUMN,
    RULE_EXPIRED_LATEST,
    RULE_MIN_VERSIONS,
    RULES
};

struct listed_difference {
    int64_t number;
    const char *pattern; /* of a group or case, as of the shell */
    enum difference_rule rule;
};

struct difference_list {
    struct arena arena;
    struct listed_difference *entries;
    size_t count;
};

/* Read the file's text.  A mistake is told as "line N: what" in `error`. */
bool difference_list_read(struct difference_list *list, petal_slice text, char *error,
                          size_t error_bytes);
void difference_list_fini(struct difference_list *list);

/* The entry that allows differences by this rule in this case, NULL if there is none. */
const struct listed_difference *difference_list_find(const struct difference_list *list,
                                                     enum difference_rule rule,
                                                     const struct recorded_case *recorded);

#endif
