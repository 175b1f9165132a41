/*
 * report.h -- what a run says: each difference with its place, the counts of each group, the sum.
 */
#ifndef PETAL_TESTS_CONFORMANCE_REPORT_H
#define PETAL_TESTS_CONFORMANCE_REPORT_H

#include "tests/conformance/list.h"

struct group_count {
    char name[80];
    uint64_t cases, answers, differences, listed; /* listed: of the differences */
};

struct report {
    bool verbose;
    struct group_count *groups; /* in the order they were seen */
    size_t group_count;
    size_t at; /* the group of the case at hand */
    const char *path;
    const struct recorded_case *recorded; /* the case at hand */
    uint64_t case_listed, case_unlisted;
};

void report_begin_case(struct report *report, const char *path,
                       const struct recorded_case *recorded);
void report_end_case(struct report *report);
void report_equal(struct report *report);

/* An answer differs; `entry` NULL: not on the list. */
void report_difference(struct report *report, const struct recorded_step *step,
                       const struct answer *actual, const struct listed_difference *entry);

/* The case could not be run as it should: counts as a difference that is not on the list. */
void report_trouble(struct report *report, const char *what, const char *text);

/* Print the operation and both answers. */
void report_step(const struct report *report, const struct recorded_step *step,
                 const struct answer *actual);

/* Print the groups and the sum; returns how many differences are not on the list. */
uint64_t report_finish(struct report *report, bool only_parsed);
void report_fini(struct report *report);

#endif
