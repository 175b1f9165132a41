/*
 * filter.h -- the filter of a recorded read: HBase's filter language, kept as it is, or the
 * functional notation of filterx, parsed here:
 *
 *     expr := and(expr, ...) | or(expr, ...) | skip(expr) | while(expr) | Name (arg, ...)
 *     arg  := 'string' | number | true | false | null | operator        '' in a string is one quote
 *
 * Names and arguments are not checked here: that is for the library.
 */
#ifndef PETAL_TESTS_CONFORMANCE_FILTER_H
#define PETAL_TESTS_CONFORMANCE_FILTER_H

#include "tests/conformance/text.h"

struct filter_expression {
    const char *name; /* NULL: a combination */
    petal_filter_argument *arguments;
    size_t argument_count;
    enum petal_filter_operation operation;
    struct filter_expression **members;
    size_t member_count;
};

struct recorded_filter {
    bool given;
    petal_slice text;                           /* of filter= */
    const struct filter_expression *expression; /* of filterx=, else NULL */
};

/* Parse the text of a filterx; a mistake is the reader's. */
bool filter_expression_read(struct reader *reader, petal_slice text,
                            const struct filter_expression **expression);

/* Make the filter; *made is NULL when none is given. */
enum petal_status recorded_filter_make(petal_db *db, const struct recorded_filter *filter,
                                       petal_filter **made, petal_error *error);

/* < <= = != >= >; 0 if it is none of them. */
enum petal_compare compare_of(petal_slice word);

#endif
